//! The archive service: collections on the web, as archives of the resolution standard [resolution, 7].
//!
//! Each collection is an archive with its own address, and the field Host of a request chooses it. An archive answers
//! the resolver with lists of pairs, people with pages, and everybody with the files that the sidecars list, by exact bytes:
//! nothing else in a collection is reachable. Scripts are never run. A file that is found damaged is never given out whole,
//! and has no URL until it is repaired, so that a Copy elsewhere answers.
//!
//! | file | subject |
//! |---|---|
//! | `route` | what a path means; pure |
//! | `archive` | a collection with its address and service |
//! | `service_item` | the item that the service is |
//! | `service`, `acknowledgment` | the archive service: lists of pairs, and the acknowledgments of resolvers |
//! | `key` | keys of URLs |
//! | `access` | access statistics |
//! | `item` | persistent URLs: where they lead |
//! | `pages`, `alerts` | lists, descriptions, and why there is nothing |
//! | `file`, `payload_file`, `stream` | files, and their bytes on the way |
//! | `announce` | inclusion and exclusion at a resolver, and registration |
//! | `labels`, `token` | labels for other machines, and who may have them |
//! | `public` | what is public of an item: pages, texts and formats are made of it |
//! | `proof` | which files were read and found whole |
//! | `sidecars` | sidecars that stay in memory |
//! | `file_cache` | small files that stay open |
//! | `fault_log` | the log of damage and failures |
//! | `media` | media types by the endings of names |
//! | `server` | from a request to its answer |

mod access;
mod acknowledgment;
mod alerts;
mod announce;
mod archive;
mod fault_log;
mod file;
mod file_cache;
mod item;
mod key;
mod labels;
mod media;
mod pages;
mod payload_file;
mod proof;
mod public;
mod route;
mod server;
mod service;
mod service_item;
mod sidecars;
mod stream;
mod token;

pub use access::{AccessLine, Accesses, access_lines};
pub use announce::{ResolverService, Status};
pub use archive::{Archive, Exposure};
pub use labels::LabelServer;
pub use route::{Route, route};
pub use server::Server;
pub use service_item::{ServiceError, ServiceItem, ensure_service, service_of};
pub use token::{TOKENS, TOKENS_HEADER, Token, TokenError, Tokens, TokensFile};
