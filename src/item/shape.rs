//! Whether files are unchanged, as far as it shows without reading them.

use super::{Content, Entry, PayloadPath, Totals};
use crate::digest::{Digest, Hasher};
use crate::identity::Instant;

/// The digest of the content of an item. For a single file it is the digest of the file, whatever its name;
/// for any other payload it is the digest of the manifest.
pub fn content(entries: &[Entry], payload: &Totals) -> Digest {
    match entries {
        [Entry { content: Content::File { digest, .. }, .. }] => *digest,
        _ => payload.digest,
    }
}

/// Digests everything about entries, sorted by path, that shows without reading them: paths, sizes,
/// modification times, and targets of links.
///
/// A source has a shape before it is read, and a sidecar afterwards. Modes are left out: they are not
/// content, and a source whose modes changed is not deposited again.
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

    /// Adds an empty directory.
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
        // No path has this byte, so adjacent fields cannot be confused.
        self.0.update(&[0]);
    }
}
