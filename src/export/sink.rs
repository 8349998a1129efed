//! Destinations of an export: a tree in a stage, or a tar stream.

use std::path::Path;

use super::ExportError;
use crate::digest::{Digest, Hasher};
use crate::disk::{FileStat, Kind};
use crate::identity::Instant;
use crate::sidecar::NewText;

/// Takes the parts of an item. Paths are relative; each directory comes before its entries.
///
/// Of the stamps only size, mode and modification time count.
pub(super) trait Sink {
    /// A directory.
    fn directory(&mut self, path: &Path, stamp: &FileStat) -> Result<(), ExportError>;

    /// A symbolic link.
    fn link(&mut self, path: &Path, target: &[u8], stamp: &FileStat) -> Result<(), ExportError>;

    /// Begins a file, whose size is in the stamp.
    fn begin(&mut self, path: &Path, stamp: &FileStat) -> Result<(), ExportError>;

    /// The next bytes of the file.
    fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError>;

    /// All bytes of the file were written, and their digest is right.
    fn end(&mut self) -> Result<(), ExportError>;

    /// The item is complete.
    fn finish(&mut self) -> Result<(), ExportError>;
}

/// A stamp for additional entries.
pub(super) fn stat_of(kind: Kind, bytes: u64, mode: u32, modified: Instant) -> FileStat {
    FileStat { kind, bytes, mode, modified, changed: modified, identity: (0, 0), owner: 0 }
}

/// A generated text; a long one is not kept in memory.
pub(super) trait Text {
    /// Passes the text to `sink`, piece by piece; each call gives the same text.
    fn write(&self, sink: &mut Take<'_>) -> Result<(), ExportError>;
}

/// Takes the next piece of a text.
pub(super) type Take<'a> = dyn FnMut(&[u8]) -> Result<(), ExportError> + 'a;

impl Text for NewText {
    fn write(&self, sink: &mut Take<'_>) -> Result<(), ExportError> {
        NewText::write(self, sink)
    }
}

impl Text for Vec<u8> {
    fn write(&self, sink: &mut Take<'_>) -> Result<(), ExportError> {
        sink(self)
    }
}

/// The length and the digest of a text.
pub(super) fn measure(text: &dyn Text) -> Result<(u64, Digest), ExportError> {
    let (mut bytes, mut hasher) = (0, Hasher::default());
    text.write(&mut |piece| {
        bytes += piece.len() as u64;
        hasher.update(piece);
        Ok(())
    })?;
    Ok((bytes, hasher.finish()))
}

/// Writes a file of `text`.
pub(super) fn write_text(
    sink: &mut dyn Sink,
    path: &Path,
    text: &dyn Text,
    modified: Instant,
) -> Result<(), ExportError> {
    sink.begin(path, &stat_of(Kind::File, measure(text)?.0, 0o644, modified))?;
    text.write(&mut |piece| sink.write(piece))?;
    sink.end()
}
