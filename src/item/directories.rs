//! Looking up paths among entries. A directory of a payload has no entry of its own unless it is empty.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Content, Entry};
use crate::identity::Instant;

/// Every directory below `doc/` that `entries` name or imply, parents first.
pub(crate) fn directories(entries: &[Entry]) -> BTreeSet<&Path> {
    let mut found = BTreeSet::new();
    for Entry { path, content } in entries {
        if let Content::EmptyDirectory { .. } = content {
            found.insert(path.as_path());
        }
        for above in path.parents() {
            // Its parents have been added, too.
            if !found.insert(above) {
                break;
            }
        }
    }
    found
}

/// The position of the entry at `path` in `entries`, which are sorted.
pub fn position(entries: &[Entry], path: &Path) -> Option<usize> {
    let path = path.as_os_str().as_bytes();
    entries.binary_search_by(|entry| entry.path.as_bytes().cmp(path)).ok()
}

/// Whether any of `entries`, which are sorted, lies below `path`.
pub(crate) fn implies(entries: &[Entry], path: &Path) -> bool {
    let below = [path.as_os_str().as_bytes(), b"/"].concat();
    let first = entries.partition_point(|entry| entry.path.as_bytes() < &below[..]);
    entries.get(first).is_some_and(|entry| entry.path.as_bytes().starts_with(&below))
}

/// The time and mode of the directory at `path`, if `entries`, which are sorted, have it as an empty one.
pub(crate) fn empty_directory(entries: &[Entry], path: &Path) -> Option<(Instant, u32)> {
    match &entries[position(entries, path)?].content {
        Content::EmptyDirectory { modified, mode } => Some((*modified, *mode)),
        Content::File { .. } | Content::Link { .. } => None,
    }
}
