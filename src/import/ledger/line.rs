//! One line of the ledger: which source became which item.

use crate::digest::Digest;
use crate::identity::RepositoryName;
use crate::item::{escape, unescape};

/// Why a line is in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// The source became an item with a new name.
    Item,
    /// The source became an item with a given name.
    Kept,
    /// The source is the same as an existing item.
    Existing,
    /// Every name of the prefix up to this one has been checked.
    Seen,
}

impl LineKind {
    const ALL: [(LineKind, &str); 4] = [
        (LineKind::Item, "item"),
        (LineKind::Kept, "kept"),
        (LineKind::Existing, "same"),
        (LineKind::Seen, "seen"),
    ];
}

/// The entry in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub kind: LineKind,
    /// The item.
    pub name: RepositoryName,
    /// The shape of the source, without reading it.
    pub shape: Digest,
    /// The digest of its [`content`](crate::item::content).
    pub content: Digest,
    /// The bytes of all files.
    pub bytes: u64,
    /// The absolute path of the source.
    pub source: Vec<u8>,
}

/// One line each, whatever the name of the source.
fn one_line(source: &[u8]) -> String {
    escape(source).replace('\t', "\\x09").replace('\n', "\\x0a")
}

fn checked(text: &str) -> String {
    let check = Digest::of(text.as_bytes()).to_string();
    format!("{text}\t{}\n", &check[..CHECK_DIGITS])
}

/// The text of a complete line.
fn whole(line: &[u8]) -> Option<&str> {
    let (text, check) = std::str::from_utf8(line).ok()?.rsplit_once('\t')?;
    (Digest::of(text.as_bytes()).to_string().get(..CHECK_DIGITS) == Some(check)).then_some(text)
}

/// Digits of the digest that distinguishes a complete line from a torn one.
const CHECK_DIGITS: usize = 16;

impl Entry {
    /// The line, with its end.
    pub(crate) fn to_line(&self) -> String {
        let kind = LineKind::ALL.iter().find(|(kind, _)| *kind == self.kind).map_or("", |it| it.1);
        let Entry { name, shape, content, bytes, .. } = self;
        let source = one_line(&self.source);
        checked(&format!("{kind}\t{name}\t{shape}\t{content}\t{bytes}\t{source}"))
    }

    /// Parses a line without its end; `None` if it is torn or of an unknown kind.
    pub(crate) fn read(line: &[u8]) -> Option<Entry> {
        let mut fields = whole(line)?.split('\t');
        let kind = fields.next()?;
        let kind = LineKind::ALL.iter().find(|(_, text)| *text == kind)?.0;
        let name = RepositoryName::parse_as_found(fields.next()?).ok()?.0;
        let shape = fields.next()?.parse().ok()?;
        let content = fields.next()?.parse().ok()?;
        let bytes = fields.next()?.parse().ok()?;
        let source = unescape(fields.next()?)?;
        Some(Entry { kind, name, shape, content, bytes, source })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_says_what_was_written_or_nothing() {
        let entry = Entry {
            kind: LineKind::Item,
            name: "example.org/archive/2026/11.21.02.13".parse().unwrap(),
            shape: Digest::of(b"shape"),
            content: Digest::of(b"content"),
            bytes: 7,
            source: b"/srv/a\tb\n\\c\xff\r".to_vec(),
        };
        let line = entry.to_line();
        let text = line.strip_suffix('\n').unwrap();
        assert_eq!(Entry::read(text.as_bytes()), Some(entry));
        assert!(!text.contains('\n'));
        for end in 0..text.len() {
            assert_eq!(Entry::read(&text.as_bytes()[..end]), None, "{end}");
        }
        assert_eq!(Entry::read(text.replace("\t7\t", "\t8\t").as_bytes()), None);
    }

    proptest! {
        #[test]
        fn every_source_comes_back_on_one_line(
            source in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\\'), Just(b'\n')], 0..64),
            kind in prop::sample::select(LineKind::ALL.map(|(kind, _)| kind).to_vec()),
            bytes: u64,
            shape: [u8; 4],
        ) {
            let name = "example.org/archive/2026/11.21.02.13".parse().unwrap();
            let (shape, content) = (Digest::of(&shape), Digest::of(&source));
            let entry = Entry { kind, name, shape, content, bytes, source };
            let line = entry.to_line();
            prop_assert_eq!(line.find('\n'), Some(line.len() - 1));
            prop_assert_eq!(Entry::read(line.trim_end_matches('\n').as_bytes()), Some(entry));
        }
    }
}
