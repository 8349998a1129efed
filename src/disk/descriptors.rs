//! The limit on open files and directories, and its use.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// One part of the program may hold this fraction of the files that the process may have open.
const SHARE: usize = 16;

/// The limit that the program asks for: enough for the largest groups of items. Programs that it starts inherit
/// the limit, and some of them close every number below it.
const WANTED: u64 = 8192;

/// Raises the limit on open files, which many systems set to 1024, as far as it is useful and allowed: larger
/// groups of items need fewer syncs.
pub fn raise_descriptor_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(WANTED, |maximum| maximum.min(WANTED));
    if current.is_some_and(|current| current < wanted) {
        // Without it, groups are smaller.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

/// Files that this process may have open at once.
pub(crate) fn descriptor_limit() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// How many files or directories one part of the program may hold open: `most`, and no more than its share of
/// the limit on open files.
pub(crate) fn open_at_most(most: usize) -> usize {
    (descriptor_limit() / SHARE).clamp(1, most)
}
