//! The root of a collection: how it is created and found, its settings, and urepo's own directory in it.

pub(super) mod archive;
pub mod discover;
pub(super) mod id;
pub(super) mod init;
pub(super) mod own;
#[cfg(feature = "serve")]
mod serving;
pub(super) mod settings;

/// Limit on the size of the settings.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;
