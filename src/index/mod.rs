//! The index: what is known of many items without reading their sidecars. One `SQLite` file, derived
//! from the sidecars and the tree, that may be deleted at any time.
//!
//! This part knows tables, not directories: `Record` is what is kept of an item, [`Index`] holds
//! records by the directory and name of the item, [`Query`] asks for some of them. `collection`
//! announces what is going to change and takes in what has, `catalog` brings an index up to the tree
//! and answers from it.
//!
//! # What makes an answer true
//!
//! A record carries the `Mark` of the sidecar it was made from, a place (a directory above items)
//! that of the directory when it was last listed. Whoever answers compares the marks with the disk: a
//! record whose mark is another is read anew, a place whose mark is another is listed anew, and the
//! marks of all items in it are compared. An index that came out of a backup, or with a copied
//! collection, is told by the inode of its file, one that has lost its log by that: these are of no use,
//! and made anew. So they cost time and never truth.
//!
//! Two things are not noticed before a full look: sidecars that others edit in place, and what others
//! add to a directory in the very moment of a short change by urepo there, whose mark is carried over.
//!
//! A writer announces the items it is about to change, and forgets the announcement in the same
//! transaction that takes the change in. What a killed writer announced is read anew by who comes next.
//!
//! # Hostile files
//!
//! A collection may come from anybody, with its index: that is not the file that it was made as, and not
//! used. What is used has the very tables that are made here, and nothing else, and no links are
//! followed to it.

mod count;
mod error;
mod mark;
mod open;
mod places;
mod query;
mod record;
mod rows;
mod schema;
mod search;
mod tables;
mod words;

use rusqlite::Connection;

pub use count::{Count, Counts};
pub(crate) use error::has_no_place;
pub use error::{IndexError, QueryError, Uselessness};
pub(crate) use mark::Mark;
pub(crate) use open::{Footing, Opening};
pub(crate) use places::{Place, Seen};
pub use query::Query;
pub(crate) use record::Record;
pub(crate) use rows::{Kept, Known};
pub(crate) use search::{Position, Which};
pub(crate) use tables::Tables;

/// An index, opened.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
}
