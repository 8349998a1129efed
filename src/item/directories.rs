//! The directories of a payload, which stand in no entry of their own unless they are empty.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Content, Entry};

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
