//! The names of items on disk: listing them, and finding one.

pub(super) mod find;
pub(super) mod list;
pub(super) mod lookup;
pub(super) mod tree;
pub(super) mod window;
pub(super) mod year_dir_cache;
