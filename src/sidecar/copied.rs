//! Texts of Copies that differ from the text of the Original only in the keys that copying changes.
//!
//! Most items of a repeated copy exist already. Comparing two texts takes less time than parsing both, and
//! shows that they mean the same.

use super::SidecarText;
use super::plain::{instant, is_bare, string};
use super::read::SEAL_LINE;
use crate::digest::Digest;

const PAYLOAD_LINE: &str = "\n[payload]\n";
/// Length of a seal.
const SEAL_BYTES: usize = SEAL_LINE.len() + "sha256 = \"\"\n".len() + 64;
const ORIGIN_LINE: &str = "[origin]";

/// Before the payload, a sidecar without a hand-over has no other tables.
const TABLES: [&str; 3] = ["[metadata]", "[relations]", ORIGIN_LINE];

/// The keys that copying adds to `[origin]`.
const ADDED_KEYS: [&str; 2] = ["collection", "copied"];

impl SidecarText {
    /// Whether this is the sealed text of a Copy of the Original with the sidecar `original`, which is valid
    /// and sealed, in the collection `holder`: apart from the seals, they differ only in the state, and in
    /// the date and place of the copying.
    ///
    /// `false` is inconclusive: the sidecar must then be parsed.
    pub(crate) fn is_copy_of(&self, original: &SidecarText, holder: &str) -> bool {
        let (SidecarText::Held(copy), SidecarText::Held(original)) = (self, original) else {
            return false;
        };
        let (Ok(copy), Ok(original)) = (std::str::from_utf8(copy), std::str::from_utf8(original))
        else {
            return false;
        };
        is_sealed_copy(copy, original, holder).unwrap_or(false)
    }
}

fn is_sealed_copy(copy: &str, original: &str, holder: &str) -> Option<bool> {
    let ((copy, seal), (original, _)) = (split(copy)?, split(original)?);
    Some(is_copy(copy, original, holder)? && Digest::of(copy.as_bytes()) == seal)
}

/// The text that the seal covers, and its digest.
fn split(text: &str) -> Option<(&str, Digest)> {
    let (covered, seal) = text.split_at_checked(text.len().checked_sub(SEAL_BYTES)?)?;
    let digest = seal.strip_prefix(SEAL_LINE)?.strip_prefix("sha256 = \"")?.strip_suffix("\"\n")?;
    covered.ends_with('\n').then_some((covered, digest.parse().ok()?))
}

fn is_copy(copy: &str, original: &str, holder: &str) -> Option<bool> {
    let (copied, payload) = copy.split_once(PAYLOAD_LINE)?;
    let (head, original_payload) = original.split_once(PAYLOAD_LINE)?;
    if payload != original_payload {
        return Some(false);
    }
    let mut lines = copied.split('\n');
    let (mut table, mut is_state_seen) = ("", false);
    let mut added = Vec::new();
    for line in head.split('\n') {
        let mut theirs = lines.next()?;
        while table == ORIGIN_LINE
            && let Some(key) = added_key(theirs, holder).filter(|key| !added.contains(key))
        {
            added.push(key);
            theirs = lines.next()?;
        }
        match (line, theirs) {
            ("state = \"Original\"", "state = \"Copy\"") if table.is_empty() && !is_state_seen => {
                is_state_seen = true;
            }
            _ if line != theirs || !is_complete(line) => return Some(false),
            // With the added one, the Copy would have the key twice.
            _ if table == ORIGIN_LINE && ADDED_KEYS.iter().any(|key| has_key(line, key)) => {
                return Some(false);
            }
            _ if line.starts_with('[') => table = line,
            _ => {}
        }
    }
    Some(is_state_seen && lines.next().is_none())
}

fn has_key(line: &str, key: &str) -> bool {
    line.split_once(" = ").is_some_and(|(found, _)| found == key)
}

/// The key of a line that copying adds to `[origin]`.
fn added_key<'a>(line: &'a str, holder: &str) -> Option<&'a str> {
    let (key, value) = line.split_once(" = ")?;
    let is_added = match key {
        "collection" => string(value).is_some_and(|id| id == holder),
        "copied" => instant(value).is_some(),
        _ => false,
    };
    is_added.then_some(key)
}

/// Whether a line of a valid text leaves no value open behind it, if none was open before it.
fn is_complete(line: &str) -> bool {
    if line.starts_with('[') {
        return TABLES.contains(&line);
    }
    let Some((key, value)) = line.split_once(" = ") else { return line.is_empty() };
    let opens_lines = value.contains("\"\"\"") || value.contains("'''");
    is_bare(key)
        && !opens_lines
        && match value.as_bytes() {
            [b'[', rest @ .., b']'] => !rest.contains(&b'[') && !rest.contains(&b'#'),
            [b'[' | b'{', ..] => false,
            _ => true,
        }
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

[metadata]
title = "Rainfall"
creator = ["A. Author", "B. Author"]

[origin]
source = "/data/report.pdf"

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

    const ADDED: &str = "[origin]\ncollection = \"0a1b\"\ncopied = 2026-11-22T10:00:00Z\n";

    fn sealed(text: &str) -> SidecarText {
        let text = format!("{text}{SEAL_LINE}sha256 = \"{}\"\n", Digest::of(text.as_bytes()));
        assert!(Sidecar::read(text.as_bytes()).is_ok(), "{text}");
        SidecarText::Held(text.into_bytes())
    }

    fn copy(original: &str) -> String {
        original.replacen("\"Original\"", "\"Copy\"", 1).replacen("[origin]\n", ADDED, 1)
    }

    #[test]
    fn what_copying_writes_is_one() {
        let (before, _) = Sidecar::read(HEAD.as_bytes()).unwrap();
        let mut after = Sidecar { state: State::Copy, ..before.clone() };
        after.origin.insert("collection".to_owned(), "0a1b".into());
        let date = "2026-11-22T10:00:00Z".parse().unwrap();
        after.origin.insert("copied".to_owned(), toml::Value::Datetime(date));
        let original = sealed(HEAD);
        let NewText::Held(copy) = after.rewritten(&original, &before).unwrap() else {
            unreachable!("because it is short")
        };
        assert!(SidecarText::Held(copy).is_copy_of(&original, "0a1b"));
    }

    #[test]
    fn a_copy_is_one_of_the_same_original_only() {
        let original = sealed(HEAD);
        let same = sealed(&copy(HEAD));
        assert!(same.is_copy_of(&original, "0a1b"));
        assert!(!original.is_copy_of(&original, "0a1b"), "two Originals");
        assert!(!same.is_copy_of(&same, "0a1b"));
        assert!(!same.is_copy_of(&original, "0a1c"), "it has migrated");
        for (old, new) in [
            ("Rainfall", "Rain"),
            ("timestamp = 2026-11-21T02:13:05Z", "timestamp = 2026-11-21T02:13:06Z"),
            ("transferable = true", "transferable = false"),
            ("mode = \"0644\"", "mode = \"0600\""),
            ("bytes = 3\nsha256 = \"b", "bytes = 4\nsha256 = \"b"),
            ("source = ", "removed = true\nsource = "),
            ("\n[payload]", "\n[handover]\ntoken = \"7\"\nfrom = \"0a1b\"\n\n[payload]"),
            ("title = ", "copied = 2026-11-22T10:00:00Z\ntitle = "),
        ] {
            let other = HEAD.replacen(old, new, 1);
            assert_ne!(other, HEAD);
            assert!(!sealed(&copy(&other)).is_copy_of(&original, "0a1b"), "{new}");
            assert!(!same.is_copy_of(&sealed(&other), "0a1b"), "{new}");
            let is_usual = !new.contains("handover");
            let is_copy = sealed(&copy(&other)).is_copy_of(&sealed(&other), "0a1b");
            assert_eq!(is_copy, is_usual, "{new}");
        }
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
                assert_eq!(rotten.is_copy_of(&original, "0a1b"), is_same, "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn what_stands_within_a_value_is_no_line_of_the_origin() {
        for value in [
            "\"\"\"\n[origin]\n{}source = 1\n\"\"\"",
            "'''\n[origin]\n{}\n'''",
            "[\"\"\"A]\n[origin]\n{}B\"\"\"]",
            "['''A]\n[origin]\n{}B''']",
        ] {
            let with = |added: &str| {
                let value = value.replacen("{}", added, 1);
                // A title is a single string; creators are a list.
                let is_list = value.starts_with('[');
                let old = if is_list { "[\"A. Author\", \"B. Author\"]" } else { "\"Rainfall\"" };
                HEAD.replacen(old, &value, 1)
            };
            let original = with("");
            let other = with("collection = \"0a1b\"\n").replacen("\"Original\"", "\"Copy\"", 1);
            assert!(!sealed(&other).is_copy_of(&sealed(&original), "0a1b"), "{value}");
        }
    }

    #[test]
    fn the_state_within_a_value_is_not_that_of_the_item() {
        let with = |value: &str| {
            let added = format!("k = [\"\"\"]\n{value}\n\"\"\"]\nrepository");
            HEAD.replacen("repository", &added, 1)
        };
        let original = with("state = \"Original\"");
        let other = with("state = \"Copy\"").replacen("[origin]\n", ADDED, 1);
        assert!(!sealed(&other).is_copy_of(&sealed(&original), "0a1b"));
    }

    /// TOML has no key twice, though its seal may be right.
    #[test]
    fn an_original_that_came_from_elsewhere_is_compared_by_reading() {
        let original = HEAD.replacen("[origin]\n", "[origin]\ncollection = \"0a1b\"\n", 1);
        let text = copy(&original);
        let text = format!("{text}{SEAL_LINE}sha256 = \"{}\"\n", Digest::of(text.as_bytes()));
        assert!(!SidecarText::Held(text.into_bytes()).is_copy_of(&sealed(&original), "0a1b"));
    }
}
