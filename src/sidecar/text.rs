//! The texts of sidecars; long ones are not kept in memory.

use toml::{Table, Value};

use super::{Files, MAX_BYTES, Sidecar, SidecarError};
use crate::digest::{Digest, Hasher};

/// A longer text is not kept, and is read only in the form that urepo writes: the reader of all TOML takes up
/// to a hundred times the size of the text.
pub(super) const LONGEST_HELD: usize = 4 * 1024 * 1024;

/// The text of a sidecar, or its digest: enough to compare it with another text, and to change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SidecarText {
    /// The text.
    Held(Vec<u8>),
    /// The digest of a long one.
    Digested(Digest),
}

/// The text of a sidecar that is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NewText {
    Held(Vec<u8>),
    /// The printed text of this sidecar.
    Printed(Box<Sidecar>),
}

impl SidecarText {
    /// Reads a text of about `size` bytes from `more`, which returns 0 at the end.
    pub(crate) fn read_pieces<E>(
        size: u64,
        mut more: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<SidecarText, E> {
        let start = start(size, &mut more)?;
        if start.len() <= LONGEST_HELD {
            return Ok(SidecarText::Held(start));
        }
        let mut hasher = Hasher::default();
        hasher.update(&start);
        let mut piece = start;
        piece.truncate(256 * 1024);
        loop {
            match more(&mut piece)? {
                0 => return Ok(SidecarText::Digested(hasher.finish())),
                length => hasher.update(&piece[..length]),
            }
        }
    }

    /// The digest of the text.
    pub(crate) fn digest(&self) -> Digest {
        match self {
            SidecarText::Held(text) => Digest::of(text),
            SidecarText::Digested(digest) => *digest,
        }
    }
}

/// The whole text, of `size` bytes as its file says, or the beginning of a long one.
pub(super) fn start<E>(
    size: u64,
    more: &mut impl FnMut(&mut [u8]) -> Result<usize, E>,
) -> Result<Vec<u8>, E> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    // One byte more than expected: a read that gives no more than the size has met the end.
    let mut text = vec![0; size.min(LONGEST_HELD) + 1];
    let mut length = 0;
    loop {
        let taken = more(&mut text[length..])?;
        length += taken;
        if taken == 0 || length == size || length > LONGEST_HELD {
            text.truncate(length);
            return Ok(text);
        }
        if length == text.len() {
            text.resize((2 * length).min(LONGEST_HELD + 1), 0);
        }
    }
}

/// The keys of a sidecar that are read with all their contents.
const READ: [&str; 15] = [
    "format",
    "state",
    "repository",
    "ibip",
    "created",
    "timestamp",
    "described",
    "target",
    "transferable",
    "custody",
    "metadata",
    "relations",
    "origin",
    "removal",
    "seal",
];

/// The keys of tables that are read.
const READ_IN: [(&str, &[&str]); 3] = [
    ("access", &["level", "allow"]),
    ("payload", &["files", "bytes", "sha256"]),
    ("file", &["path", "kind", "bytes", "sha256", "modified", "mode", "target"]),
];

impl SidecarText {
    /// Unknown keys of the text, which a [`Sidecar`] does not have; none if the text is not kept.
    pub(crate) fn added(&self) -> Option<Table> {
        let SidecarText::Held(text) = self else { return None };
        let mut table: Table = std::str::from_utf8(text).ok()?.parse().ok()?;
        table.retain(|key, _| !READ.contains(&key));
        for (key, read) in READ_IN {
            let is_read = |table: &mut Table| {
                table.retain(|key, _| !read.contains(&key));
                table.is_empty()
            };
            let is_empty = match table.get_mut(key) {
                Some(Value::Table(table)) => is_read(table),
                // Each table of the list, for unknown keys in the others.
                Some(Value::Array(tables)) => {
                    let tables = tables.iter_mut().filter_map(Value::as_table_mut);
                    tables.map(is_read).filter(|is_empty| !is_empty).count() == 0
                }
                _ => false,
            };
            if is_empty {
                table.remove(key);
            }
        }
        Some(table)
    }
}

impl NewText {
    /// Hands the text to `sink`, piece by piece.
    pub(crate) fn write<E>(&self, mut sink: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            NewText::Held(text) => sink(text),
            NewText::Printed(sidecar) => sidecar.write(sink),
        }
    }
}

impl Sidecar {
    /// The text of this sidecar in place of `before`, which was read with `text`: see
    /// [`Sidecar::rewrite`].
    ///
    /// A long text that is not exactly in the form that urepo prints is refused, because unknown keys would
    /// be lost.
    pub(crate) fn rewritten(
        &self,
        text: &SidecarText,
        before: &Sidecar,
    ) -> Result<NewText, SidecarError> {
        match text {
            SidecarText::Held(text) => {
                self.rewrite(text, before).map(|text| NewText::Held(text.into_bytes()))
            }
            SidecarText::Digested(digest) if before.printed().1 == *digest => {
                self.check_writable(self.printed().0)?;
                Ok(NewText::Printed(Box::new(self.clone())))
            }
            SidecarText::Digested(_) => {
                let reason =
                    "of more than 4 MiB and edited by hand, it cannot be changed without loss";
                Err(SidecarError::value("sidecar", reason))
            }
        }
    }

    /// Whether its text, of `bytes` bytes, could be read again.
    pub(crate) fn check_writable(&self, bytes: u64) -> Result<(), SidecarError> {
        self.custody.check()?;
        if bytes > MAX_BYTES {
            return Err(SidecarError::value("size", format!("more than {MAX_BYTES} bytes")));
        }
        if bytes > LONGEST_HELD as u64 {
            let mut origin = self.origin.clone();
            origin.remove(super::source_digests::DIGESTS);
            let described = Sidecar { origin, files: Files::default(), ..self.clone() };
            if described.head().len() > super::lines::LONGEST {
                let reason = "more than 1 MiB before the payload, in a text of more than 4 MiB";
                return Err(SidecarError::value("metadata", reason));
            }
        }
        Ok(())
    }

    /// Rebuilds the text from which this sidecar was read.
    pub(crate) fn unchanged(&self, text: &SidecarText) -> Result<NewText, SidecarError> {
        match text {
            SidecarText::Held(text) => Ok(NewText::Held(text.clone())),
            long @ SidecarText::Digested(_) => self.rewritten(long, self),
        }
    }

    /// The length and the digest of its printed text.
    fn printed(&self) -> (u64, Digest) {
        let (mut bytes, mut hasher) = (0, Hasher::default());
        let printed = self.write(|piece| {
            bytes += piece.len() as u64;
            hasher.update(piece);
            Ok::<_, std::convert::Infallible>(())
        });
        match printed {
            Ok(()) => (bytes, hasher.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Instant;
    use crate::item::{Content, Entry, PayloadPath, State, Totals};
    use crate::sidecar::Seal;

    /// A sidecar whose text is not kept.
    fn long() -> Sidecar {
        let entry = |at: u32| Entry {
            path: PayloadPath::from_text(&format!("some/directory/file-{at:08}")).unwrap(),
            content: Content::File {
                bytes: at.into(),
                digest: Digest::of(&at.to_be_bytes()),
                modified: Instant::from_seconds(at.into()),
                mode: 0o644,
            },
        };
        let files: Vec<_> = (0..25_000).map(entry).collect();
        let payload = Totals::of(&files);
        let text = format!(
            "format = 1\nstate = \"Original\"\nrepository = \"example.org/a/2026/11.21.02.13\"\n\
             created = 2026-11-21T02:13:00Z\ntimestamp = 2026-11-21T02:13:05Z\n\n\
             [custody]\nepoch = 1\nid = \"00000000000000aa\"\nholder = \"60cb\"\n\n[payload]\n\
             files = {}\nbytes = {}\nsha256 = \"{}\"\n",
            payload.files, payload.bytes, payload.digest
        );
        let (sidecar, _) = Sidecar::read(text.as_bytes()).unwrap();
        Sidecar { files: files.into(), ..sidecar }
    }

    fn read(mut text: &[u8]) -> Result<(Sidecar, Seal, SidecarText), SidecarError> {
        Sidecar::read_pieces(text.len() as u64, |piece| {
            Ok(std::io::Read::read(&mut text, piece).unwrap())
        })
    }

    #[test]
    fn a_long_one_is_read_and_changed_without_its_text() {
        let before = long();
        let text = before.to_text();
        let (sidecar, seal, kept) = read(text.as_bytes()).unwrap();
        assert_eq!((&sidecar, seal), (&before, Seal::Intact));
        assert_eq!(kept, SidecarText::Digested(Digest::of(text.as_bytes())));
        let after = Sidecar { state: State::Copy, ..sidecar.clone() };
        let mut written = Vec::new();
        let new = after.rewritten(&kept, &sidecar).unwrap();
        let sink = |piece: &[u8]| {
            written.extend_from_slice(piece);
            Ok::<_, ()>(())
        };
        new.write(sink).unwrap();
        assert_eq!(written, after.to_text().into_bytes());
        let broken = text.replacen("mode = \"0644\"", "mode = \"0600\"", 1);
        assert!(matches!(read(broken.as_bytes()), Ok((_, Seal::Broken { .. }, _))));
    }

    #[test]
    fn what_others_have_added_to_a_long_one_is_not_lost() {
        let text = long().to_text().replacen("mode = ", "scanned = true # by hand\nmode = ", 1);
        let (sidecar, _, kept) = read(text.as_bytes()).unwrap();
        let error = Sidecar { transferable: false, ..sidecar.clone() }.rewritten(&kept, &sidecar);
        assert!(error.unwrap_err().to_string().contains("cannot be changed without loss"));
    }

    #[test]
    fn a_long_one_of_another_form_is_refused_before_it_is_parsed() {
        let numbers = "1,".repeat(LONGEST_HELD);
        let text = long().to_text();
        for hostile in [
            text.replacen("\n[payload]", &format!("\n[metadata.x]\na = [{numbers}]\n[payload]"), 1),
            text.replacen("mode = ", &format!("a = [{numbers}]\nmode = "), 1),
            text.replacen("[seal]", "[other]", 1),
            text.replacen("\n[payload]", &format!("{}\n[payload]", "#\n".repeat(1_000_000)), 1),
        ] {
            assert!(matches!(read(hostile.as_bytes()), Err(SidecarError::TooLong { .. })));
        }
    }
}
