//! Resolving persistent URLs: from an identifier and a list of verbs to an item, its metadata, its files.
//!
//! [`walk()`] applies verbs to [`Items`], whatever their storage, and is pure. [`Holders`] makes the items of
//! several collections [`Items`], by the reader rule of [`holdings`](crate::holdings). [`resolve`] answers a
//! persistent URL from them. [`answer`] answers as an Archive does, with a list of pairs [resolution, 7],
//! from anything that is an [`Archive`]. Nothing is ever written.
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `record` | what is known of an item, and where verbs lead; pure |
//! | `walk` | editions, translations and metadata, one verb after the other; pure |
//! | `pairs` | lists of pairs: reader and writer; pure |
//! | `request` | requests to an Archive, and Algorithm 1; pure |
//! | `list` | Algorithm 2 and the filter; pure |
//! | `holders` | the items of several collections |
//! | `target` | what a persistent URL leads to in them |
//! | `local` | a collection as an Archive |
//!
//! # Decisions where the standard leaves room
//!
//! - A language without a country also leads to a translation with one: `+(pt)` to `pt-BR`.
//! - Translations are looked for in the item and in the item that it is a translation of.
//! - A deleted edition ends a chain: a later one is not looked for behind it, nor an earlier one returned.
//! - Metadata is the file of the metadata item, unless that is a program: then, and in every format with a
//!   name, it is the description in the sidecar.

mod holders;
mod list;
mod local;
mod pairs;
mod record;
mod request;
mod target;
mod walk;

pub use holders::{Alert, HeldItem, Holders};
pub use list::{Archive, Part, filter, list_of_urls};
pub use local::{Announced, LocalArchive, UrlKey};
pub use pairs::Pairs;
pub use record::{Destination, DestinationKind, Forms, ItemRecord, Items};
#[cfg(feature = "web")]
pub(crate) use request::{ADDRESS, decoded};
pub use request::{Request, RequestError, UrlRequest, addresses, answer};
pub use target::{ResolveError, Resolved, Target, resolve};
pub use walk::{Unresolved, walk};
