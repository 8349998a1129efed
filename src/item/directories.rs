//! The directories of a payload, which stand in no entry of their own unless they are empty.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Content, Entry};
use crate::identity::Instant;

/// Every directory below `doc/` that `entries` name or imply, each after the one it is in.
pub(crate) fn directories(entries: &[Entry]) -> BTreeSet<&Path> {
    let mut found = BTreeSet::new();
    for Entry { path, content } in entries {
        if let Content::EmptyDirectory { .. } = content {
            found.insert(path.as_path());
        }
        for above in path.parents() {
            // Those above it are there as well then.
            if !found.insert(above) {
                break;
            }
        }
    }
    found
}

/// The time and mode of the directory at `path`, if `entries`, which are sorted, have it as an empty one.
pub(crate) fn empty_directory(entries: &[Entry], path: &Path) -> Option<(Instant, u32)> {
    let bytes = path.as_os_str().as_bytes();
    let at = entries.binary_search_by(|entry| entry.path.as_bytes().cmp(bytes)).ok()?;
    match &entries[at].content {
        Content::EmptyDirectory { modified, mode } => Some((*modified, *mode)),
        Content::File { .. } | Content::Link { .. } => None,
    }
}
