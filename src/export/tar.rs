//! An item in a tar stream.
//!
//! Headers are those of GNU: a name or target of more than 100 bytes is in an entry of its own before the
//! file, where any bytes are allowed; sizes may be of any length. A time with a fraction, or before 1970, is
//! also in a POSIX header (`mtime` of pax). Owners are left out, because they depend on the machine. GNU tar,
//! bsdtar, busybox and Python read the result; the same item gives the same bytes.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tar::{EntryType, Header};

use super::ExportError;
use super::sink::Sink;
use crate::disk::copy::BUFFER_BYTES;
use crate::disk::{FileStat, StoredFile, WriteBack};
use crate::identity::{Instant, SECOND};

const BLOCK_BYTES: usize = 512;

/// The name of an entry that describes the next entry.
const LONG_NAME: &[u8] = b"././@LongLink";

/// The name of an entry that announces a byte and has none, so that a reader complains.
const CUT_SHORT: &[u8] = b"this-export-was-cut-short";

/// Takes the bytes of a stream.
pub(super) trait Output {
    fn put(&mut self, bytes: &[u8]) -> Result<(), ExportError>;
}

/// A tar file in the stage. Headers and small files are buffered: a system call for each would take most of
/// the time.
pub(super) struct TarFile {
    file: StoredFile,
    gathered: Vec<u8>,
    written: u64,
    write_back: WriteBack,
}

impl TarFile {
    pub(super) fn new(file: StoredFile) -> TarFile {
        let gathered = Vec::with_capacity(BUFFER_BYTES);
        TarFile { file, gathered, written: 0, write_back: WriteBack::default() }
    }

    fn write_gathered(&mut self) -> Result<(), ExportError> {
        self.file.write_all(&self.gathered)?;
        self.written += self.gathered.len() as u64;
        self.gathered.clear();
        self.write_back.has(&self.file, self.written);
        Ok(())
    }

    /// Writes the buffer. For a failed item the buffer is dropped instead.
    pub(super) fn end(mut self) -> Result<(), ExportError> {
        self.write_gathered()?;
        self.write_back.ends(&self.file, self.written);
        Ok(())
    }
}

impl Output for TarFile {
    fn put(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= BUFFER_BYTES { self.write_gathered() } else { Ok(()) }
    }
}

/// An open stream of the caller.
pub(super) struct Stream<'a>(pub &'a mut dyn Write);

impl Output for Stream<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.0.write_all(bytes).map_err(ExportError::Stream)
    }
}

/// Writes entries of a tar stream.
pub(super) struct Tar<'a> {
    output: &'a mut dyn Output,
    /// The size of the present file, and the number of its bytes so far.
    bytes: u64,
    taken: u64,
    /// Its last bytes, which are written only after the digest was found right, so that a damaged file never
    /// looks complete.
    held: Vec<u8>,
    is_in_file: bool,
    /// Whether anything was written: then a failure cannot be taken back.
    pub has_begun: bool,
}

impl<'a> Tar<'a> {
    pub(super) fn new(output: &'a mut dyn Output) -> Tar<'a> {
        Tar { output, bytes: 0, taken: 0, held: Vec::new(), is_in_file: false, has_begun: false }
    }

    fn entry(
        &mut self,
        kind: EntryType,
        path: &[u8],
        target: &[u8],
        stamp: &FileStat,
    ) -> Result<(), ExportError> {
        self.has_begun = true;
        let modified = stamp.modified;
        let seconds = u64::try_from(modified.seconds());
        if modified.subsecond() != 0 || seconds.is_err() {
            let record = pax_record("mtime", &decimal(modified));
            self.extension(EntryType::XHeader, b"pax", record.as_bytes())?;
        }
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(stamp.permission_bits());
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(seconds.unwrap_or(0));
        header.set_size(if kind == EntryType::Regular { stamp.bytes } else { 0 });
        if !fill(&mut header.as_old_mut().name, path) {
            self.long(EntryType::GNULongName, path)?;
        }
        if !fill(&mut header.as_old_mut().linkname, target) {
            self.long(EntryType::GNULongLink, target)?;
        }
        header.set_cksum();
        self.output.put(header.as_bytes())
    }

    /// An entry with the name or target of the next entry.
    fn long(&mut self, kind: EntryType, text: &[u8]) -> Result<(), ExportError> {
        self.extension(kind, LONG_NAME, &[text, b"\0"].concat())
    }

    fn extension(&mut self, kind: EntryType, name: &[u8], text: &[u8]) -> Result<(), ExportError> {
        let header = match kind {
            EntryType::XHeader => Header::new_ustar(),
            _ => Header::new_gnu(),
        };
        let header = own_header(header, kind, name, text.len() as u64);
        self.output.put(header.as_bytes())?;
        self.output.put(text)?;
        self.pad(text.len() as u64)
    }

    /// Fills the last block after a number of bytes.
    fn pad(&mut self, bytes: u64) -> Result<(), ExportError> {
        const ZEROS: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];
        let over = usize::try_from(bytes % BLOCK_BYTES as u64).unwrap_or(0);
        if over == 0 { Ok(()) } else { self.output.put(&ZEROS[over..]) }
    }

    /// The end of the stream, which shows a reader that it is complete.
    pub(super) fn close(self) -> Result<(), ExportError> {
        self.output.put(&[0; 2 * BLOCK_BYTES])
    }

    /// The end of an incomplete stream. It makes every reader notice: a stream without an end would count as
    /// complete.
    pub(super) fn cut(self) -> Result<(), ExportError> {
        if self.is_in_file && self.bytes > 0 {
            return Ok(());
        }
        let header = own_header(Header::new_gnu(), EntryType::Regular, CUT_SHORT, 1);
        self.output.put(header.as_bytes())
    }
}

impl Sink for Tar<'_> {
    fn directory(&mut self, path: &Path, stamp: &FileStat) -> Result<(), ExportError> {
        let path = [path.as_os_str().as_bytes(), b"/"].concat();
        self.entry(EntryType::Directory, &path, b"", stamp)
    }

    fn link(&mut self, path: &Path, target: &[u8], stamp: &FileStat) -> Result<(), ExportError> {
        self.entry(EntryType::Symlink, path.as_os_str().as_bytes(), target, stamp)
    }

    fn begin(&mut self, path: &Path, stamp: &FileStat) -> Result<(), ExportError> {
        (self.bytes, self.taken, self.is_in_file) = (stamp.bytes, 0, true);
        self.entry(EntryType::Regular, path.as_os_str().as_bytes(), b"", stamp)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.taken += bytes.len() as u64;
        if self.taken < self.bytes {
            return self.output.put(bytes);
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self) -> Result<(), ExportError> {
        self.output.put(&self.held)?;
        self.held.clear();
        self.is_in_file = false;
        self.pad(self.bytes)
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        Ok(())
    }
}

/// The header of an entry that no item has.
fn own_header(mut header: Header, kind: EntryType, name: &[u8], bytes: u64) -> Header {
    header.set_entry_type(kind);
    fill(&mut header.as_old_mut().name, name);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(bytes);
    header.set_cksum();
    header
}

/// Writes `text` into a field, truncated; `false` if it was too long.
fn fill(field: &mut [u8], text: &[u8]) -> bool {
    let length = text.len().min(field.len());
    field[..length].copy_from_slice(&text[..length]);
    length == text.len()
}

/// One record of a pax header, which begins with its own length.
fn pax_record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    loop {
        let digits = length.to_string().len();
        if rest.len() + digits == length {
            return format!("{length}{rest}");
        }
        length = rest.len() + digits;
    }
}

/// Seconds since 1970 with their fraction: `-1.5` is a second and a half before.
fn decimal(instant: Instant) -> String {
    let nanoseconds = instant.nanoseconds();
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let (seconds, rest) = (nanoseconds.abs() / SECOND, nanoseconds.abs() % SECOND);
    let text = format!("{sign}{seconds}.{rest:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_record_counts_itself() {
        assert_eq!(pax_record("mtime", "1.5"), "13 mtime=1.5\n");
        for length in 0..1000 {
            let record = pax_record("k", &"v".repeat(length));
            let (said, _) = record.split_once(' ').unwrap();
            assert_eq!(said.parse(), Ok(record.len()));
        }
    }

    #[test]
    fn times_have_their_fractions() {
        for (nanoseconds, text) in [
            (0, "0"),
            (1_500_000_000, "1.5"),
            (-1_500_000_000, "-1.5"),
            (10_000_000_001, "10.000000001"),
        ] {
            assert_eq!(decimal(Instant::from_nanoseconds(nanoseconds)), text);
        }
    }
}
