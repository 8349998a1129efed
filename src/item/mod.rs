//! The parts of an item as values: entries of the payload, their paths, and the state.
//!
//! [`PayloadPath`] is a path below `doc/`; [`Entry`] one file, link or empty directory there; [`manifest`]
//! the text that lists all files; [`State`] Original, Copy or Deleted; [`Shape`] shows whether files are
//! unchanged without reading them; [`twins`] finds names that are the same name on some file systems;
//! [`bagit`] writes and reads paths as the manifests of bags have them.

pub mod bagit;
mod directories;
pub mod manifest;
mod path;
mod shape;
mod state;
pub mod twins;

use crate::digest::Digest;
use crate::identity::Instant;

pub use directories::position;
pub(crate) use directories::{directories, empty_directory, implies};
pub(crate) use path::unescape;
pub use path::{LinkedPath, PathTextError, PayloadPath, escape};
pub use shape::{Shape, content};
pub use state::{State, States, UnknownState, UnknownStates};

/// One entry of a payload: a table `[[file]]` of the sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is, relative to `doc/`.
    pub path: PayloadPath,
    /// Its content.
    pub content: Content,
}

/// The content of an entry.
///
/// A directory with something in it has no entry: the paths in it imply it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A regular file.
    File {
        /// Size in bytes.
        bytes: u64,
        /// SHA-256 of the bytes.
        digest: Digest,
        /// Modification time.
        modified: Instant,
        /// Permission bits, nine of them.
        mode: u32,
    },
    /// A symbolic link, not followed.
    Link {
        /// Its target: bytes, as names are.
        target: Vec<u8>,
    },
    /// A directory with nothing in it.
    EmptyDirectory {
        /// Modification time.
        modified: Instant,
        /// Permission bits, nine of them.
        mode: u32,
    },
}

impl Content {
    /// Modification time and permission bits; a link has none.
    pub fn attributes(&self) -> Option<(Instant, u32)> {
        match *self {
            Content::File { modified, mode, .. } | Content::EmptyDirectory { modified, mode } => {
                Some((modified, mode))
            }
            Content::Link { .. } => None,
        }
    }
}

/// Counts over a payload: the sidecar's `[payload]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Number of regular files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// SHA-256 of the manifest text.
    pub digest: Digest,
}

impl Totals {
    /// The totals of `entries`, which are sorted by path.
    pub fn of(entries: &[Entry]) -> Totals {
        let (mut files, mut bytes) = (0, 0);
        for entry in entries {
            if let Content::File { bytes: size, .. } = entry.content {
                files += 1;
                // A hostile sidecar may give any size; the true sum never comes near the limit.
                bytes = u64::saturating_add(bytes, size);
            }
        }
        Totals { files, bytes, digest: manifest::digest(entries) }
    }
}
