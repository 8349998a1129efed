//! Copying bytes with their digest taken on the way: each byte is read once.

use std::cell::Cell;

use super::PathError;
use super::file::StoredFile;
use super::holes::HoleWriter;
use super::page_cache::WriteBack;
use crate::digest::{Digest, Hasher};
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Bytes read at a time: large enough for few calls, small enough to stay in the CPU's cache.
pub const BUFFER_BYTES: usize = 128 * 1024;

/// The result of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Number of bytes.
    pub bytes: u64,
    /// Their digest.
    pub digest: Digest,
}

/// Why bytes were not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// Reading or writing went wrong.
    #[error(transparent)]
    Disk(#[from] PathError),
    /// A stop was requested.
    #[error("interrupted")]
    Interrupted,
}

impl CopyError {
    /// The same for a caller with another error of an `interrupted` run.
    pub(crate) fn or<E: From<PathError>>(self, interrupted: E) -> E {
        match self {
            CopyError::Disk(error) => error.into(),
            CopyError::Interrupted => interrupted,
        }
    }
}

/// Copies `from` to `to`, up to its end or a little past `expected` bytes.
///
/// Without a limit, a growing file could be read forever; one byte too many is enough to notice.
pub fn copy_and_digest(
    from: &mut StoredFile,
    to: &mut StoredFile,
    expected: u64,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Measured, CopyError> {
    let copying = Copying { expected, progress, interrupt };
    copying.copy(from, to, |_| ())
}

/// Options of copying.
#[derive(Clone, Copy)]
pub(crate) struct Copying<'a> {
    /// Number of bytes expected; little more is read.
    pub expected: u64,
    /// Receives each piece.
    pub progress: &'a dyn Progress,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

impl Copying<'_> {
    /// Copies `from` to `to` as [`copy_and_digest`] does, with holes for zeros, and passes each piece to `see`.
    pub(crate) fn copy(
        self,
        from: &mut StoredFile,
        to: &mut StoredFile,
        mut see: impl FnMut(&[u8]),
    ) -> Result<Measured, CopyError> {
        let Copying { expected, progress, interrupt } = self;
        let mut write_back = WriteBack::default();
        let mut holes = HoleWriter::default();
        let measured = read_and_digest(expected, from, progress, interrupt, |bytes, end| {
            see(bytes);
            holes.write(to, bytes)?;
            write_back.has(to, end);
            Ok::<_, CopyError>(())
        })?;
        holes.end(to)?;
        write_back.ends(to, measured.bytes);
        Ok(measured)
    }
}

/// Reads `from` up to its end.
pub fn digest(
    from: &mut StoredFile,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Measured, CopyError> {
    digest_up_to(from, u64::MAX, progress, interrupt)
}

/// Reads `from` up to its end, or a little past `expected` bytes if it is longer.
pub fn digest_up_to(
    from: &mut StoredFile,
    expected: u64,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Measured, CopyError> {
    read_and_digest(expected, from, progress, interrupt, |_, _| Ok(()))
}

/// Reads `from` up to its end or a little past `expected` bytes, passing the bytes to `each`, with their
/// number so far.
pub fn read_and_digest<E: From<CopyError>>(
    expected: u64,
    from: &mut StoredFile,
    progress: &dyn Progress,
    interrupt: &Interrupt,
    mut each: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<Measured, E> {
    let mut hasher = Hasher::default();
    let mut total = 0;
    let mut buffer = Buffer::take();
    progress.advance(from.path(), 0);
    loop {
        if interrupt.requested() {
            return Err(CopyError::Interrupted.into());
        }
        let length = from.read_some(&mut buffer.0).map_err(CopyError::from)?;
        if length == 0 || total > expected {
            return Ok(Measured { bytes: total, digest: hasher.finish() });
        }
        let bytes = &buffer.0[..length];
        hasher.update(bytes);
        total += length as u64;
        each(bytes, total)?;
        progress.advance(from.path(), length as u64);
    }
}

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The buffer of this thread, made once.
struct Buffer(Vec<u8>);

impl Buffer {
    fn take() -> Buffer {
        let mut buffer = BUFFER.take();
        buffer.resize(BUFFER_BYTES, 0);
        Buffer(buffer)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        BUFFER.set(std::mem::take(&mut self.0));
    }
}
