//! Texts of Copies that differ from the text of their source only in the state.
//!
//! Most items of a repeated copy exist already. Comparing two texts takes less time than parsing both, and
//! shows that they mean the same.

use super::SidecarText;
use super::read::SEAL_LINE;
use crate::digest::Digest;

/// Length of a seal.
const SEAL_BYTES: usize = SEAL_LINE.len() + "sha256 = \"\"\n".len() + 64;

/// How urepo begins the sidecar of a Copy, and those of its sources.
const COPY: &str = "format = 1\nstate = \"Copy\"\n";
const SOURCES: [&str; 2] = ["format = 1\nstate = \"Original\"\n", COPY];

impl SidecarText {
    /// Whether this is the sealed text of a Copy made of the item with the sidecar `source`, which is valid, sealed and
    /// not ceded: apart from the seals, they differ only in the state.
    ///
    /// `false` is inconclusive: the sidecar must then be parsed.
    pub(crate) fn is_copy_of(&self, source: &SidecarText) -> bool {
        let (SidecarText::Held(copy), SidecarText::Held(source)) = (self, source) else {
            return false;
        };
        is_sealed_copy(copy, source).unwrap_or(false)
    }
}

fn is_sealed_copy(copy: &[u8], source: &[u8]) -> Option<bool> {
    let (copy, source) = (std::str::from_utf8(copy).ok()?, std::str::from_utf8(source).ok()?);
    let ((copied, seal), (original, _)) = (split(copy)?, split(source)?);
    let shared = SOURCES.iter().find_map(|start| original.strip_prefix(start))?;
    Some(copied.strip_prefix(COPY)? == shared && Digest::of(copied.as_bytes()) == seal)
}

/// The text that the seal covers, and its digest.
fn split(text: &str) -> Option<(&str, Digest)> {
    let (covered, seal) = text.split_at_checked(text.len().checked_sub(SEAL_BYTES)?)?;
    let digest = seal.strip_prefix(SEAL_LINE)?.strip_prefix("sha256 = \"")?.strip_suffix("\"\n")?;
    covered.ends_with('\n').then_some((covered, digest.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::State;
    use crate::sidecar::{NewText, Sidecar};

    const HEAD: &str = r#"format = 1
state = "Original"
repository = "example.org/archive/2026/11.21.02.13"
created = 2026-11-21T02:13:00Z
timestamp = 2026-11-21T02:13:05Z
target = "report.pdf"
transferable = true

[custody]
epoch = 1
id = "00000000000000aa"
holder = "60cb"

[metadata]
title = "Rainfall"
creator = ["A. Author", "B. Author"]

[payload]
files = 1
bytes = 3
sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

[[file]]
path = "report.pdf"
bytes = 3
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
modified = 2026-11-20T18:02:11Z
mode = "0644"

"#;

    fn sealed(text: &str) -> SidecarText {
        let text = format!("{text}{SEAL_LINE}sha256 = \"{}\"\n", Digest::of(text.as_bytes()));
        assert!(Sidecar::read(text.as_bytes()).is_ok(), "{text}");
        SidecarText::Held(text.into_bytes())
    }

    fn copy(original: &str) -> String {
        original.replacen("\"Original\"", "\"Copy\"", 1)
    }

    #[test]
    fn copying_writes_the_same_text() {
        let (before, _) = Sidecar::read(HEAD.as_bytes()).unwrap();
        let original = sealed(HEAD);
        let after = Sidecar { state: State::Copy, ..before.clone() };
        let NewText::Held(copy) = after.rewritten(&original, &before).unwrap() else {
            unreachable!("because it is short")
        };
        let copy = SidecarText::Held(copy);
        assert!(copy.is_copy_of(&original) && copy.is_copy_of(&copy));
        assert!(!original.is_copy_of(&original), "two Originals");
    }

    #[test]
    fn no_bit_of_a_copy_may_be_another() {
        let original = sealed(HEAD);
        let SidecarText::Held(text) = sealed(&copy(HEAD)) else {
            unreachable!("because it is short")
        };
        let read = Sidecar::read(&text);
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut rotten = text.clone();
                rotten[at] ^= 1 << bit;
                // A seal in capitals is the same seal.
                let is_same = Sidecar::read(&rotten) == read;
                let rotten = SidecarText::Held(rotten);
                assert_eq!(rotten.is_copy_of(&original), is_same, "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn the_state_within_a_value_is_not_that_of_the_item() {
        let with = |value: &str| {
            let added = format!("k = [\"\"\"]\n{value}\n\"\"\"]\nrepository");
            HEAD.replacen("repository", &added, 1)
        };
        let original = with("state = \"Original\"");
        let other = with("state = \"Copy\"");
        assert!(!sealed(&other).is_copy_of(&sealed(&original)));
    }
}
