//! The limit on open files and directories, and its use.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit on open files, divided by this number, is the share of one part of the program.
const SHARE: usize = 8;

/// The limit that the program asks for: enough for the largest groups of items. Programs that it starts inherit
/// the limit, and some of them close every number below it.
const WANTED: u64 = 8192;

/// Raises the limit on open files, which many systems set to 1024, as far as it is useful and allowed: larger
/// groups of items need fewer syncs.
pub fn raise_descriptor_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(WANTED, |maximum| maximum.min(WANTED));
    if current.is_some_and(|current| current < wanted) {
        // If this fails, groups are smaller.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

/// Limit on the files that this process may have open at once.
pub(crate) fn descriptor_limit() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// Limit on the files or directories that one part of the program may hold open: its share of the limit on open
/// files, from 1 to `most`.
pub(crate) fn open_at_most(most: usize) -> usize {
    (descriptor_limit() / SHARE).clamp(1, most)
}
