//! The index file of a collection: opening it, and keeping it current.

pub(super) mod file;
pub(super) mod update;
