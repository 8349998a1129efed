//! The bytes of a file on their way to a reader.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::task::JoinHandle;

use super::archive::Archive;
use super::proof::{Proof, Version};
use crate::digest::{Digest, Hasher};
use crate::disk::StoredFile;

/// Bytes that are read at a time.
const PIECE: u64 = 64 * 1024;

/// A part of a file as the body of an answer.
///
/// A file that ends early, or whose digest is found to differ, ends the connection: with a Content-Length no client takes
/// that for the whole.
pub(super) struct FileBody {
    file: Arc<StoredFile>,
    rest: Range<u64>,
    check: Option<Check>,
    /// A piece that is not in the page cache.
    reading: Option<JoinHandle<io::Result<Vec<u8>>>>,
}

/// The proof of a whole file while it is sent. The last piece is held back until the digest agrees.
pub(super) struct Check {
    pub(super) archive: Arc<Archive>,
    pub(super) version: Version,
    pub(super) digest: Digest,
    pub(super) hasher: Hasher,
}

impl FileBody {
    /// The bytes `range` of `file`; with `check`, the whole file.
    pub(super) fn new(file: Arc<StoredFile>, range: Range<u64>, check: Option<Check>) -> FileBody {
        FileBody { file, rest: range, check, reading: None }
    }

    /// The length of the next piece: the first one is what is left over, so that the last one is large.
    fn next_piece(&self) -> u64 {
        let length = self.rest.end - self.rest.start;
        match length % PIECE {
            0 => PIECE.min(length),
            odd => odd,
        }
    }

    /// Takes a piece that was read.
    fn take(&mut self, piece: Vec<u8>, wanted: u64) -> io::Result<Bytes> {
        if piece.len() as u64 != wanted {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file has become shorter",
            ));
        }
        self.rest.start += wanted;
        if let Some(check) = &mut self.check {
            check.hasher.update(&piece);
            if self.rest.is_empty() {
                let is_whole = std::mem::take(&mut check.hasher).finish() == check.digest;
                let proof = if is_whole { Proof::Whole } else { Proof::Damaged };
                check.archive.proofs.note(check.version, proof);
                if !is_whole {
                    tracing::error!(path = ?self.file.path(), "damage: the digest differs");
                    return Err(io::Error::other("the file is damaged"));
                }
            }
        }
        Ok(piece.into())
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
        let (wanted, at) = (self.next_piece(), self.rest.start);
        let cached = match &self.reading {
            None => self.file.read_cached(wanted, at).map(Ok),
            Some(_) => None,
        };
        let read = if let Some(cached) = cached {
            cached
        } else {
            let file = Arc::clone(&self.file);
            let reading = self.reading.get_or_insert_with(|| {
                tokio::task::spawn_blocking(move || {
                    let mut piece = vec![0; usize::try_from(wanted).unwrap_or(0)];
                    let length = file.read_at(&mut piece, at).map_err(io::Error::other)?;
                    piece.truncate(length);
                    Ok(piece)
                })
            });
            let Poll::Ready(read) = Pin::new(reading).poll(context) else { return Poll::Pending };
            self.reading = None;
            read.unwrap_or_else(|error| Err(io::Error::other(error)))
        };
        let piece = read.and_then(|piece| self.take(piece, wanted));
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
