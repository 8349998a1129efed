//! The bytes of a file on their way to a reader.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::task::JoinHandle;

use super::archive::Archive;
use super::proof::{Proof, ProofReading, Version};
use crate::digest::Digest;
use crate::disk::StoredFile;

/// Bytes that are read at a time.
const PIECE: u64 = 64 * 1024;
/// The most bytes that are read at a time where they are hashed on another thread: each change of threads takes as long as
/// 100 KiB.
const LARGEST_PIECE: u64 = 2 * 1024 * 1024;
/// The bytes of all such pieces together.
const ALL_PIECES: u64 = 32 * 1024 * 1024;

/// A part of a file as the body of an answer.
///
/// A file that ends early, or whose digest is found to differ, ends the connection: with a Content-Length no client takes
/// that for the whole.
pub(super) struct FileBody {
    file: Arc<StoredFile>,
    rest: Range<u64>,
    check: Option<Box<Check>>,
    /// The next piece, if it is not in the page cache, or has to be hashed.
    reading: Option<JoinHandle<io::Result<Piece>>>,
}

/// A piece that was read, and the check after it.
type Piece = (Vec<u8>, Option<Box<Check>>);

/// The proof of a whole file while it is sent. The last piece is held back until the digest agrees.
pub(super) struct Check {
    archive: Arc<Archive>,
    version: Version,
    digest: Digest,
    reading: ProofReading,
}

impl Check {
    pub(super) fn new(archive: &Arc<Archive>, version: Version, digest: Digest) -> Box<Check> {
        archive.proofs.checks.fetch_add(1, Ordering::Relaxed);
        let (archive, reading) = (Arc::clone(archive), ProofReading::default());
        Box::new(Check { archive, version, digest, reading })
    }

    /// The most bytes of a piece.
    fn piece(&self) -> u64 {
        let checks = self.archive.proofs.checks.load(Ordering::Relaxed);
        (ALL_PIECES / checks.max(1)).clamp(PIECE, LARGEST_PIECE)
    }

    /// Takes the next bytes; they are the last ones if `is_end`.
    fn take(&mut self, piece: &[u8], is_end: bool, file: &StoredFile) -> io::Result<()> {
        self.reading.take(piece);
        if !is_end {
            return Ok(());
        }
        let proof = std::mem::take(&mut self.reading).end(self.digest);
        self.archive.proofs.note(self.version, proof);
        if proof == Proof::Damaged {
            tracing::error!(path = ?file.path(), "damage: the digest differs");
            return Err(io::Error::other("the file is damaged"));
        }
        Ok(())
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        self.archive.proofs.checks.fetch_sub(1, Ordering::Relaxed);
    }
}

impl FileBody {
    /// The bytes `range` of `file`; with `check`, the whole file.
    pub(super) fn new(
        file: Arc<StoredFile>,
        range: Range<u64>,
        check: Option<Box<Check>>,
    ) -> FileBody {
        FileBody { file, rest: range, check, reading: None }
    }

    /// The length of the next piece of at most `most` bytes: the first one is what is left over, so that the last one is
    /// large.
    fn next_piece(&self, most: u64) -> u64 {
        let length = self.rest.end - self.rest.start;
        match length % most {
            0 => most.min(length),
            odd => odd,
        }
    }

    /// Reads the next piece on another thread, and hashes it there if there is a check.
    fn begin_piece(&mut self) -> JoinHandle<io::Result<Piece>> {
        let mut check = self.check.take();
        let wanted = self.next_piece(check.as_ref().map_or(PIECE, |check| check.piece()));
        let (file, at) = (Arc::clone(&self.file), self.rest.start);
        let is_end = at + wanted == self.rest.end;
        tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; usize::try_from(wanted).unwrap_or(0)];
            let length = file.read_at(&mut piece, at).map_err(io::Error::other)?;
            if length < piece.len() {
                let shorter = "the file has become shorter";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, shorter));
            }
            if let Some(check) = &mut check {
                check.take(&piece, is_end, &file)?;
            }
            Ok((piece, check))
        })
    }

    /// The next piece. While a checked one is sent, the one after it is hashed.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        if self.reading.is_none() && self.check.is_none() {
            let wanted = self.next_piece(PIECE);
            if let Some(piece) = self.file.read_cached(wanted, self.rest.start) {
                self.rest.start += wanted;
                return Poll::Ready(Ok(piece.into()));
            }
        }
        let mut reading = self.reading.take().unwrap_or_else(|| self.begin_piece());
        let Poll::Ready(read) = Pin::new(&mut reading).poll(context) else {
            self.reading = Some(reading);
            return Poll::Pending;
        };
        let (piece, check) = read.unwrap_or_else(|error| Err(io::Error::other(error)))?;
        self.rest.start += piece.len() as u64;
        self.check = check;
        if self.check.is_some() && !self.rest.is_empty() {
            self.reading = Some(self.begin_piece());
        }
        Poll::Ready(Ok(piece.into()))
    }
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let Poll::Ready(piece) = self.poll_piece(context) else { return Poll::Pending };
        if let Err(error) = &piece {
            tracing::warn!(path = ?self.file.path(), %error, "a download was cut");
            self.rest = 0..0;
        }
        Poll::Ready(Some(piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.end - self.rest.start)
    }
}
