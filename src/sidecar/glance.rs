//! A first look at a sidecar that is as urepo writes it: a few lines at known places, without parsing.
//!
//! A rerun over a million items that are there already spends most of its time on parsing what it has
//! seen before. What is not as expected has no glance, and is read in full.

use super::Seal;
use super::read::SEAL_LINE;
use crate::item::State;

/// What a sealed sidecar says in its first lines, and the text of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glance<'a> {
    pub state: State,
    /// The value as it is written.
    pub repository: &'a str,
    /// The value as it is written.
    pub timestamp: &'a str,
    pub transferable: bool,
    /// How many files, and their bytes.
    pub files: u64,
    pub bytes: u64,
    /// Everything about the payload.
    pub payload: &'a str,
}

impl<'a> Glance<'a> {
    /// Looks at `text`, whatever its seal says.
    ///
    /// There is none for a sidecar with a hand-over under way: it needs a closer look.
    pub(crate) fn of(text: &'a [u8]) -> Option<Glance<'a>> {
        let text = std::str::from_utf8(text).ok()?;
        let (head, rest) = text.split_at(text.find("\n[payload]\n")?);
        let (first, tables) = head.split_once("\n\n").unwrap_or((head, ""));
        if tables.starts_with("[handover]") || tables.contains("\n[handover]") {
            return None;
        }
        let mut lines = first.lines();
        if lines.next() != Some("format = 1") {
            return None;
        }
        let state = quoted(lines.next()?, "state")?.parse().ok()?;
        let repository = quoted(lines.next()?, "repository")?;
        let timestamp = lines.find_map(|line| line.strip_prefix("timestamp = "))?;
        let transferable = lines.find_map(|line| line.strip_prefix("transferable = "))?;
        let transferable = transferable.parse().ok()?;
        let (payload, _) = rest.rsplit_once(SEAL_LINE)?;
        let mut numbers = payload.lines().skip(2);
        let mut number = |key| numbers.next()?.strip_prefix(key)?.parse().ok();
        let (files, bytes) = (number("files = ")?, number("bytes = ")?);
        Some(Glance { state, repository, timestamp, transferable, files, bytes, payload })
    }

    /// The same for a text whose seal is intact.
    pub(crate) fn of_sealed(text: &'a [u8]) -> Option<Glance<'a>> {
        let glance = Glance::of(text)?;
        let seal = Seal::of(std::str::from_utf8(text).ok()?);
        (seal == Seal::Intact).then_some(glance)
    }
}

/// The value of a line `key = "value"` without escapes.
fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let value = line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')?;
    (!value.contains(['"', '\\'])).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sidecar::{Handover, Party, Sidecar};

    fn sidecar() -> Sidecar {
        let text = "format = 1\nstate = \"Copy\"\nrepository = \"example.org/a/2026/11.21.02.13\"\n\
            created = 2026-11-21T02:13:00Z\ntimestamp = 2026-11-21T02:13:05Z\n[metadata]\n\
            description = \"two\\nlines\"\n[payload]\nfiles = 2\nbytes = 3\n\
            sha256 = \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n";
        Sidecar::read(text.as_bytes()).unwrap().0
    }

    #[test]
    fn says_what_reading_says() {
        let text = sidecar().to_text();
        let glance = Glance::of_sealed(text.as_bytes()).unwrap();
        assert_eq!((glance.state, glance.files, glance.bytes), (State::Copy, 2, 3));
        assert_eq!(glance.repository, "example.org/a/2026/11.21.02.13");
        assert_eq!(glance.timestamp, "2026-11-21T02:13:05Z");
        assert!(glance.payload.starts_with("\n[payload]\nfiles = 2\n"));
        let broken = text.replace("files = 2", "files = 9");
        assert!(Glance::of_sealed(broken.as_bytes()).is_none());
    }

    #[test]
    fn there_is_none_of_what_needs_a_closer_look() {
        let party = Party::To("ab".into());
        let handover = Some(Handover { token: "0".into(), party });
        let mut described = sidecar();
        described.metadata.add("rights", "all\n[payload]\nfiles = 7\n").unwrap();
        assert!(Glance::of(described.to_text().as_bytes()).is_none(), "{}", described.to_text());
        let marked = Sidecar { handover, ..sidecar() }.to_text();
        assert!(Glance::of(marked.as_bytes()).is_none());
        for other in ["", "format = 1\n", "# by hand\n", "format = 1\nstate = 'Copy'\n"] {
            let text = format!("{other}{}", &sidecar().to_text()["format = 1\n".len()..]);
            assert!(other == "format = 1\n" || Glance::of(text.as_bytes()).is_none(), "{other}");
        }
    }
}
