//! The root of a collection: how it is created and found, its settings, and urepo's own directory in it.

pub mod discover;
pub(super) mod init;
pub(super) mod own;
pub(super) mod settings;
