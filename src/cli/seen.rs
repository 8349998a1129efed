//! When one collection was last seen beside another, and how many Originals of that one lacked a Copy in it: a disk that lies
//! on a shelf is no fault each night. A collection that `verify` has read whole is noted beside itself.

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

impl LastSeen {
    fn parse(text: &[u8]) -> Option<LastSeen> {
        let text = std::str::from_utf8(text).ok()?;
        let ["urepo-seen", "1", date, lacking] = *text.split_whitespace().collect::<Vec<_>>()
        else {
            return None;
        };
        Some(LastSeen { date: date.parse().ok()?, lacking: lacking.parse().ok()? })
    }
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
            let file = dir.open_lock_file(file_name(original, path))?;
            file.write_all_at(text.as_bytes(), 0)?;
            // The note that was there may be damaged.
            file.truncate(text.len() as u64)
        });
    }

    /// When this user last read all of `collection`, for people.
    pub(crate) fn last_read(&self, collection: &Collection) -> String {
        let Some(seen) = self.last_seen(collection, collection.path()) else {
            return "never read".to_owned();
        };
        if !self.printer.stdout_is_terminal() {
            return format!("read {}", seen.date);
        }
        let age = self.clock.now().duration_since(seen.date).unwrap_or_default();
        match age.as_secs() / 86_400 {
            0 => "read today".to_owned(),
            1 => "read yesterday".to_owned(),
            days => format!("read {days} days ago"),
        }
    }

    /// The last note. A warning names a note that cannot be read.
    pub(crate) fn last_seen(&self, original: &Collection, path: &Path) -> Option<LastSeen> {
        let dir = Dir::open(&self.state_dir(), Watcher::default()).ok()?;
        let name = file_name(original, path);
        let mut file = match dir.open_file_if_there(&name) {
            Ok(file) => file?,
            Err(error) => return self.unread_note(error.path()),
        };
        let read = file.read_all(1024).ok().and_then(|bytes| LastSeen::parse(&bytes));
        read.or_else(|| self.unread_note(&dir.path_of(&name)))
    }

    fn unread_note(&self, note: &Path) -> Option<LastSeen> {
        if self.is_first_warning_of(note) {
            self.printer.warning(&format!(
                "`{}` is damaged: when the collection was last seen is not known; the next `urepo status` that \
                 sees it writes it again",
                note.display()
            ));
        }
        None
    }
}
