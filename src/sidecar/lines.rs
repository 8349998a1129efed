//! The lines of a text, without holding the whole text, and the digest of the lines read.

use std::borrow::Cow;
use std::convert::Infallible;

use super::plain::line_length;
use crate::digest::{Digest, Hasher};

/// Size of the first piece read: the totals of a payload are often in it.
const FIRST_PIECE_BYTES: usize = 8 * 1024;

/// Limit on a piece.
const PIECE_BYTES: usize = 256 * 1024;

/// Limit on a line or table that is read by itself.
pub(super) const LONGEST: usize = 1024 * 1024;

/// Why the lines of a text end too early.
#[derive(Debug)]
pub(super) enum Stop<E> {
    /// It is not in the form that urepo writes; only the reader of all TOML can read it.
    Unusual,
    /// It cannot be read.
    Failed(E),
}

/// A text, line by line.
pub(super) struct SidecarLines<'a, R> {
    /// Reads the bytes after `buffer`.
    more: R,
    /// The end of the text has been read.
    is_whole: bool,
    buffer: Cow<'a, [u8]>,
    /// The offset of the next line.
    at: usize,
    /// The bytes before this offset have been digested.
    digested: usize,
    hasher: Hasher,
    /// The number of the next line, from 1.
    pub number: usize,
}

impl<'a> SidecarLines<'a, fn(&mut [u8]) -> Result<usize, Infallible>> {
    /// The lines of the whole `text`.
    pub(super) fn of(text: &'a [u8]) -> Self {
        SidecarLines { is_whole: true, ..SidecarLines::new(text.into(), |_| Ok(0)) }
    }
}

impl<'a, R, E> SidecarLines<'a, R>
where
    R: FnMut(&mut [u8]) -> Result<usize, E>,
{
    /// The lines of a text that begins with `buffer`; `more` reads the rest, and returns 0 at the end.
    pub(super) fn new(buffer: Cow<'a, [u8]>, more: R) -> SidecarLines<'a, R> {
        let hasher = Hasher::default();
        SidecarLines { more, is_whole: false, buffer, at: 0, digested: 0, hasher, number: 1 }
    }

    /// The next line, without consuming it; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<&str>, Stop<E>> {
        let Some(length) = self.length_at(0)? else { return Ok(None) };
        let line = &self.buffer[self.at..self.at + length];
        std::str::from_utf8(line).map(Some).map_err(|_| Stop::Unusual)
    }

    /// Consumes the next line, without its end; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&str>, Stop<E>> {
        let Some(length) = self.length_at(0)? else { return Ok(None) };
        let start = self.at;
        self.at += length + 1;
        self.number += 1;
        let line = &self.buffer[start..start + length];
        std::str::from_utf8(line).map(Some).map_err(|_| Stop::Unusual)
    }

    /// Consumes the lines before the next one that `ends`, or all remaining lines.
    pub(super) fn until(&mut self, ends: impl Fn(&[u8]) -> bool) -> Result<&str, Stop<E>> {
        let mut length = 0;
        while let Some(next) = self.length_at(length)? {
            let start = self.at + length;
            if ends(&self.buffer[start..start + next]) {
                break;
            }
            length += next + 1;
            self.number += 1;
            if length > LONGEST {
                return Err(Stop::Unusual);
            }
        }
        let start = self.at;
        self.at += length;
        std::str::from_utf8(&self.buffer[start..self.at]).map_err(|_| Stop::Unusual)
    }

    /// The digest of all lines so far.
    pub(super) fn digest(&mut self) -> Digest {
        self.hasher.update(&self.buffer[self.digested..self.at]);
        self.digested = self.at;
        self.hasher.clone().finish()
    }

    /// The length of the line that begins `beyond` bytes after the next one; it is in the buffer then.
    fn length_at(&mut self, beyond: usize) -> Result<Option<usize>, Stop<E>> {
        let mut looked_at = 0;
        loop {
            let rest = &self.buffer[self.at + beyond..];
            if let Some(length) = line_length(&rest[looked_at..]) {
                return Ok(Some(looked_at + length));
            }
            looked_at = rest.len();
            if looked_at > LONGEST {
                return Err(Stop::Unusual);
            }
            if !self.fill().map_err(Stop::Failed)? {
                // A last line without an end is cut off.
                return if looked_at == 0 { Ok(None) } else { Err(Stop::Unusual) };
            }
        }
    }

    /// Reads the next piece, in place of the consumed lines; `false` at the end.
    fn fill(&mut self) -> Result<bool, E> {
        self.hasher.update(&self.buffer[self.digested..self.at]);
        self.digested = self.at;
        if self.is_whole {
            return Ok(false);
        }
        let mut piece = vec![0; (2 * self.buffer.len()).clamp(FIRST_PIECE_BYTES, PIECE_BYTES)];
        let length = (self.more)(&mut piece)?;
        if length == 0 {
            self.is_whole = true;
            return Ok(false);
        }
        let rest = self.buffer.len() - self.at;
        if self.buffer.len() > 2 * PIECE_BYTES && rest <= PIECE_BYTES {
            // The first piece is larger than the later ones.
            self.buffer = Cow::Owned(self.buffer[self.at..].to_vec());
        } else {
            self.buffer.to_mut().drain(..self.at);
        }
        (self.at, self.digested) = (0, 0);
        self.buffer.to_mut().extend_from_slice(&piece[..length]);
        Ok(true)
    }
}
