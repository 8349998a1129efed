//! The index: a database of all items of a collection, derived from the sidecars and the tree. It may be
//! deleted at any time.
//!
//! This module knows tables, not the tree. [`Index`] holds a `Record` for each item, by its directory and
//! name; a [`Query`] selects some of them. `collection` logs every change and takes its result in,
//! `catalog` synchronises an index with the tree and answers from it.
//!
//! # Freshness
//!
//! A row of an item has the `Version` of the sidecar it was made from, a row of a directory the version at
//! which the directory was last listed. Synchronising compares versions only: a directory of another version
//! is listed again, and the sidecars in it are compared; a sidecar of another version is read again. An
//! answer compares the sidecar of each hit. A database that was restored from a backup or copied with a
//! collection is recognised by the inode of its file, and a lost log by its absence: both are rebuilt. A
//! database that another `SQLite` program closed cleanly has no log either; it is kept, and every sidecar is
//! compared. So a stale index costs time and never a wrong answer, with two exceptions that only a full
//! comparison finds: sidecars that other programs edit in place, and entries that other programs add to a
//! directory during a short change by urepo there.
//!
//! A writer logs its intent to change items, and clears it in the transaction that takes the change in. The
//! next user of the index reads again the items of a killed writer.
//!
//! # Hostile files
//!
//! A collection may come from an untrusted source, with its index. An index is used only if it has the
//! recorded inode and exactly the schema of this version, and no link is followed to it.

mod count;
mod directories;
mod error;
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
pub(crate) use directories::{DirectoryId, DirectoryState};
pub(crate) use error::has_no_place;
pub use error::{IndexError, Invalid, QueryError};
pub(crate) use open::{JournalMode, LogState, OpenOptions};
pub use query::Query;
pub(crate) use record::{Record, has_sidecar, is_sidecar_current};
pub(crate) use rows::{ItemRow, RecordedVersion};
pub(crate) use search::{Position, Which};
pub(crate) use tables::Tables;

/// An index, opened.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
}
