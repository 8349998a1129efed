//! When one collection was last seen beside another, and how many Originals of that one lacked a Copy in it: a disk that lies
//! on a shelf is no fault each night.

use std::path::Path;

use urepo::clock::Clock as _;
use urepo::collection::Collection;
use urepo::digest::Digest;
use urepo::disk::{Dir, Watcher};
use urepo::identity::{Instant, SECOND};

use super::context::Context;

/// What is noted in the host state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastSeen {
    pub(crate) date: Instant,
    pub(crate) lacking: u64,
}

/// The file about the collection at `path` beside `original`. While it is away, only its path is known.
fn file_name(original: &Collection, path: &Path) -> String {
    let digest = Digest::of(path.as_os_str().as_encoded_bytes()).to_string();
    format!("seen-{}-{}", original.id(), &digest[..32])
}

impl Context {
    /// Notes that `lacking` Originals of `original` have no current Copy in the collection at `path`. A user without
    /// host state goes on.
    pub(crate) fn note_seen(&self, original: &Collection, path: &Path, lacking: u64) {
        let date = self.clock.now().floor(SECOND);
        let text = format!("urepo-seen 1 {date} {lacking:020}\n");
        let dir = Dir::open(&self.state_dir(), Watcher::default());
        let _ = dir.and_then(|dir| {
            dir.open_lock_file(file_name(original, path))?.write_all_at(text.as_bytes(), 0)
        });
    }

    /// What was noted last.
    pub(crate) fn last_seen(&self, original: &Collection, path: &Path) -> Option<LastSeen> {
        let dir = Dir::open(&self.state_dir(), Watcher::default()).ok()?;
        let mut file = dir.open_file_if_there(file_name(original, path)).ok()??;
        let text = String::from_utf8(file.read_all(1024).ok()?).ok()?;
        let ["urepo-seen", "1", date, lacking] = *text.split_whitespace().collect::<Vec<_>>()
        else {
            return None;
        };
        Some(LastSeen { date: date.parse().ok()?, lacking: lacking.parse().ok()? })
    }
}
