//! Input named by a person: a file, a pipe, or `-` for standard input.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use urepo::disk::{FileStat, Kind, Links, PathError, StoredFile, Stream, stat_of};
use urepo::wait::Interrupted;

use super::context::Context;
use super::exit::Exit;
use super::failure::Failure;

/// Whether `path` stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of a list in messages.
pub(crate) fn name_of(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// The failure of reading; after a requested stop, with its exit code.
pub(crate) fn unreadable(error: &io::Error, message: String) -> Failure {
    if was_interrupted(error) {
        return Failure::new(Exit::Interrupted, Interrupted.to_string());
    }
    Failure::new(Exit::Failure, message).caused_by(error.to_string())
}

/// Whether reading ended because a stop was requested.
pub(crate) fn was_interrupted(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.downcast_ref::<Interrupted>().is_some())
}

/// A document that is read more than once: a regular file as long as it does not change, even if it is moved
/// or removed; anything else from memory.
pub(crate) enum Document {
    File(Arc<StoredFile>, FileStat),
    Bytes(Arc<[u8]>),
}

/// Reads a document that others read, too.
struct DocumentReader {
    file: Arc<StoredFile>,
    offset: u64,
}

/// So much of a list is read before its form is known.
const HEAD_BYTES: usize = 8 * 1024;

/// Limit on a document that is not a regular file.
const MAX_DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;

impl Document {
    /// The document from its beginning, line by line.
    pub(crate) fn lines(&self) -> Result<Box<dyn BufRead + Send>, Failure> {
        let (file, before) = match self {
            Document::Bytes(bytes) => return Ok(Box::new(Cursor::new(Arc::clone(bytes)))),
            Document::File(file, before) => (file, before),
        };
        let now = file.stat()?;
        if (now.bytes, now.modified) != (before.bytes, before.modified) {
            let message = format!("`{}` was changed while it was read", file.path().display());
            return Err(Failure::new(Exit::Failure, message));
        }
        Ok(Box::new(BufReader::new(DocumentReader { file: Arc::clone(file), offset: 0 })))
    }
}

impl Read for DocumentReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(buffer, self.offset).map_err(io::Error::other)?;
        self.offset += length as u64;
        Ok(length)
    }
}

impl Context {
    /// The document `path`, or standard input, which is read here unless it is a regular file.
    pub(crate) fn document(&self, path: &Path) -> Result<Document, Failure> {
        let stat = if is_stdin(path) { None } else { Some(stat_of(path, Links::Follow)?) };
        Ok(match stat {
            Some(stat) if stat.kind == Kind::File => {
                let file = StoredFile::open(path, self.watcher())?;
                let stat = file.stat()?;
                Document::File(Arc::new(file), stat)
            }
            Some(_) => Document::Bytes(self.read_file(path, MAX_DOCUMENT_BYTES)?.into()),
            None => {
                let bytes = self.read_whole(self.stdin()?, path, MAX_DOCUMENT_BYTES)?;
                Document::Bytes(bytes.into())
            }
        })
    }

    /// Standard input. Ctrl-C ends the wait for its next bytes.
    pub(crate) fn stdin(&self) -> Result<Stream, Failure> {
        let copied = std::io::stdin().as_fd().try_clone_to_owned();
        let fd = copied.map_err(|error| PathError::new("read from", "stdin", error))?;
        Ok(Stream::of(fd, &self.interrupt))
    }

    /// The file or pipe `path`, or standard input, line by line.
    pub(crate) fn lines_of(&self, path: &Path) -> Result<Box<dyn BufRead + Send>, Failure> {
        if is_stdin(path) {
            return Ok(Box::new(BufReader::new(self.stdin()?)));
        }
        Ok(Box::new(BufReader::new(Stream::open(path, &self.interrupt)?)))
    }

    /// Standard input as a list, and the byte that ends each of its lines: NUL, if one is among the first bytes, or else a line
    /// break. A path has no more than 4 KiB, so a list with NUL shows one early.
    pub(crate) fn list(&self) -> Result<(Box<dyn BufRead + Send>, u8), Failure> {
        let (mut stream, mut head) = (self.stdin()?, Vec::new());
        let mut buffer = vec![0; HEAD_BYTES];
        while head.len() < HEAD_BYTES && !head.contains(&0) {
            let wanted = HEAD_BYTES - head.len();
            match stream.read(&mut buffer[..wanted]) {
                Ok(0) => break,
                Ok(length) => {
                    head.extend_from_slice(&buffer[..length]);
                    // A program that writes line by line is not kept waiting.
                    if head.ends_with(b"\n") {
                        break;
                    }
                }
                Err(error) => {
                    return Err(unreadable(&error, "cannot read standard input".to_owned()));
                }
            }
        }
        let end = if head.contains(&0) { b'\0' } else { b'\n' };
        Ok((Box::new(BufReader::new(Cursor::new(head).chain(stream))), end))
    }

    /// All bytes of a file or pipe of up to `limit`.
    pub(crate) fn read_file(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
        self.read_whole(Stream::open(path, &self.interrupt)?, path, limit)
    }

    fn read_whole(&self, stream: Stream, path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
        let failure =
            |error: io::Error| unreadable(&error, format!("cannot read `{}`", name_of(path)));
        let mut bytes = Vec::new();
        stream.take(limit + 1).read_to_end(&mut bytes).map_err(failure)?;
        if bytes.len() as u64 > limit {
            return Err(failure(io::Error::other(format!("it is larger than {limit} bytes"))));
        }
        Ok(bytes)
    }
}
