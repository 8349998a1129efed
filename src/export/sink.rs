//! Where an item goes: a tree in a stage, or a tar stream.

use std::path::Path;

use super::ExportError;
use crate::disk::{Kind, Stamp};
use crate::identity::Instant;
use crate::sidecar::NewText;

/// Takes what an item consists of. Paths are relative; each directory comes before what is in it.
///
/// Of the stamps only size, mode and modification time count.
pub(super) trait Sink {
    /// A directory.
    fn directory(&mut self, path: &Path, stamp: &Stamp) -> Result<(), ExportError>;

    /// A symbolic link.
    fn link(&mut self, path: &Path, target: &[u8], stamp: &Stamp) -> Result<(), ExportError>;

    /// A file begins, of the size that its stamp says.
    fn begin(&mut self, path: &Path, stamp: &Stamp) -> Result<(), ExportError>;

    /// The next bytes of the file.
    fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError>;

    /// All bytes of the file were written, and are those that they should be.
    fn end(&mut self) -> Result<(), ExportError>;

    /// The item is complete.
    fn finish(&mut self) -> Result<(), ExportError>;
}

/// A stamp for what is made here.
pub(super) fn stamp(kind: Kind, bytes: u64, mode: u32, modified: Instant) -> Stamp {
    Stamp { kind, bytes, mode, modified, changed: modified, identity: (0, 0) }
}

/// Writes a whole small file.
pub(super) fn write_text(
    sink: &mut dyn Sink,
    path: &Path,
    text: &NewText,
    modified: Instant,
) -> Result<(), ExportError> {
    sink.begin(path, &stamp(Kind::File, text.measure().0, 0o644, modified))?;
    text.write(|piece| sink.write(piece))?;
    sink.end()
}
