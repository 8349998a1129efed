//! Servers of HTTP: connections within limits, and the parts of requests and answers that every service needs.
//!
//! TLS and HTTP/2 are those of a server in front. Here is HTTP/1.1 in clear text, with a limit on everything that a
//! stranger can send, keep open or leave unread.
//!
//! | file | subject |
//! |---|---|
//! | `listen` | accepting connections, their limits, and the end |
//! | `idle` | connections that make room for others |
//! | `stalling` | a connection whose reader stops is cut |
//! | `head` | heads of requests: host, client, framing |
//! | `target` | paths and queries, and persistent URLs in them |
//! | `front` | what all services answer in one way |
//! | `conditions` | conditions and ranges [RFC 9110, 13 and 14] |
//! | `accept` | the media types that a client accepts |
//! | `alert` | why something cannot be shown |
//! | `answer` | answers, and the headers that all of them have |
//! | `ask` | requests to another server |
//! | `announcement` | an archive asks a resolver to be included or excluded |
//! | `private_file` | files of secrets that only their owner can read |
//! | `page` | pages for people, in their language |

pub mod accept;
pub mod alert;
pub mod announcement;
pub mod answer;
pub mod ask;
#[cfg(feature = "serve")]
pub mod conditions;
pub mod front;
pub mod head;
mod idle;
pub mod listen;
pub mod page;
pub mod private_file;
mod stalling;
pub mod target;
