//! The index: a private cache of one user, a database of all items of a collection, derived from the sidecars. It may be
//! deleted at any time.
//!
//! This module knows tables, not the tree. [`Index`] holds a `Record` for each item, by its directory and
//! name; a [`Query`] selects some of them. `catalog` lets an index follow the ledger and answers from it.
//!
//! The file is beside no other data of a collection and has no lock of its own: `SQLite` lets one process write and
//! the others wait. A change of many items is one transaction, so that an index is complete or was never there.

mod count;
mod directories;
mod error;
mod fold;
mod keys;
mod open;
mod query;
mod record;
mod rows;
mod schema;
mod search;
mod tables;
mod words;

use rusqlite::Connection;

pub use count::{Count, Counts};
pub use error::{IndexError, QueryError};
pub use keys::relations_of;
pub use query::Query;
pub(crate) use record::{Record, is_sidecar_current};
pub(crate) use rows::ItemRow;
pub(crate) use search::{Position, Which};
pub(crate) use tables::Tables;
pub use words::{Form, Word};

/// An index, opened.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
}
