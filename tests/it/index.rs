//! The index has what is in the collection, whatever was done, by whom, and however it ended.
//!
//! Most tests do something to a collection that has an index, and compare what the index then has with all sidecars
//! ([`support::agrees`]).

mod support;

mod behind;
mod faults;
mod files;
mod operations;
mod program;
mod property;
mod questions;
mod sharing;

pub(crate) use support::{index_file, open, try_catalog, with_index};
