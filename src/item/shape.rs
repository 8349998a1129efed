//! Whether files are still the same, as far as can be told without reading them.

use super::{Content, Entry, PayloadPath, Totals};
use crate::digest::{Digest, Hasher};
use crate::identity::Instant;

/// The digest of what an item holds, whatever a single file is called: of that file its own, of anything
/// else that of the manifest.
pub fn content(entries: &[Entry], payload: &Totals) -> Digest {
    match entries {
        [Entry { content: Content::File { digest, .. }, .. }] => *digest,
        _ => payload.digest,
    }
}

/// Takes entries, sorted by path, and gives a digest of all that is seen of them without reading:
/// paths, sizes, modification times, and what links say.
///
/// A source gives it before it is read, and a sidecar afterwards. Modes are left out: they are not the
/// content, and a change of them is no reason to deposit it again.
#[derive(Default)]
pub struct Shape(Hasher);

impl Shape {
    /// The shape of the entries of an item, which are sorted by path.
    pub fn of(entries: &[Entry]) -> Digest {
        let mut shape = Shape::default();
        for Entry { path, content } in entries {
            match content {
                Content::File { bytes, modified, .. } => shape.add_file(path, *bytes, *modified),
                Content::Link { target } => shape.add_link(path, target),
                Content::EmptyDirectory { .. } => shape.add_empty_directory(path),
            }
        }
        shape.finish()
    }

    /// Adds a file.
    pub fn add_file(&mut self, path: &PayloadPath, bytes: u64, modified: Instant) {
        self.add(b'f', path);
        self.0.update(&bytes.to_be_bytes());
        self.0.update(&modified.nanoseconds().to_be_bytes());
    }

    /// Adds a link.
    pub fn add_link(&mut self, path: &PayloadPath, target: &[u8]) {
        self.add(b'l', path);
        self.0.update(target);
        self.0.update(&[0]);
    }

    /// Adds a directory with nothing in it.
    pub fn add_empty_directory(&mut self, path: &PayloadPath) {
        self.add(b'd', path);
    }

    /// The digest of all that was added.
    pub fn finish(self) -> Digest {
        self.0.finish()
    }

    fn add(&mut self, kind: u8, path: &PayloadPath) {
        self.0.update(&[kind]);
        self.0.update(path.as_bytes());
        // No path has this byte, so that nothing runs into what follows.
        self.0.update(&[0]);
    }
}
