//! The sidecar as text: what is written is read back, whatever names and values come from outside.

use proptest::prelude::*;
use urepo::digest::Digest;
use urepo::identity::Instant;
use urepo::item::{Content, Entry, PayloadPath};
use urepo::sidecar::{Metadata, Seal, Sidecar, SidecarError};

use crate::support::original;

fn sidecar(files: Vec<Entry>, title: &str) -> Sidecar {
    let mut metadata = Metadata::default();
    metadata.add("title", title).unwrap();
    metadata.add("creator", "One").unwrap();
    metadata.add("x.shelf", "17").unwrap();
    let name = "sid.inpe.br/mtc-m18/2026/11.21.02.13".parse().unwrap();
    Sidecar {
        ibip: Some("8JMKD3MGP8W/34PGRBS".parse().unwrap()),
        timestamp: "2026-11-21T02:13:05.25Z".parse().unwrap(),
        target: files.first().map(|entry| entry.path.clone()),
        metadata,
        origin: "source = 'a \"b\" c'".parse().unwrap(),
        ..original(name, files)
    }
}

fn file(path: &[u8], modified: i128) -> Entry {
    use std::os::unix::ffi::OsStrExt;
    Entry {
        path: PayloadPath::new(std::path::Path::new(std::ffi::OsStr::from_bytes(path))).unwrap(),
        content: Content::File {
            bytes: 3,
            digest: Digest::of(path),
            modified: Instant::from_nanoseconds(modified),
            mode: 0o640,
        },
    }
}

#[test]
fn the_text_is_as_the_design_shows_it() {
    let text = sidecar(vec![file(b"report.pdf", 1_763_661_731_123_456_789)], "A title").to_text();
    snapbox::assert_data_eq!(
        text,
        snapbox::str![[r#"
format = 1
state = "Original"
repository = "sid.inpe.br/mtc-m18/2026/11.21.02.13"
ibip = "8JMKD3MGP8W/34PGRBS"
created = 2026-11-21T02:13:00Z
timestamp = 2026-11-21T02:13:05.25Z
target = "report.pdf"
transferable = true

[custody]
epoch = 1
id = "0101010101010101"
holder = "60cb"

[metadata]
creator = ["One"]
title = "A title"

[metadata.x]
shelf = "17"

[origin]
source = 'a "b" c'

[payload]
files = 1
bytes = 3
sha256 = "[..]"

[[file]]
path = "report.pdf"
bytes = 3
sha256 = "[..]"
modified = 2025-11-20T18:02:11.123456789Z
mode = "0640"

[seal]
sha256 = "[..]"

"#]]
    );
}

/// Names of directory entries: any bytes but NUL and the slash.
fn name() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(1_u8..=255, 1..20).prop_filter("a name of an entry", |name| {
        !name.contains(&b'/') && name != b"." && name != b".."
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_was_written_is_read_back(
        mut names in prop::collection::btree_set(name(), 0..6),
        link in prop::option::of((name(), name())),
        title in "[^\\p{Cc}]{0,20}[a-z]",
        modified in prop::collection::vec(-62_135_596_800_000_000_000_i128..300_000_000_000_000_000_000, 6),
    ) {
        if let Some((path, _)) = &link {
            names.remove(path);
        }
        let mut files: Vec<_> =
            names.iter().zip(&modified).map(|(name, modified)| file(name, *modified)).collect();
        if let Some((path, target)) = link {
            let Entry { path, .. } = file(&path, 0);
            files.push(Entry { path, content: Content::Link { target } });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let written = sidecar(files, &title);
        let (read, seal) = Sidecar::read(written.to_text().as_bytes()).unwrap();
        prop_assert_eq!(read, written);
        prop_assert_eq!(seal, Seal::Intact);
    }

    /// Whatever bytes are in a sidecar, reading it ends in a sidecar or an error.
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Sidecar::read(&bytes);
    }

    /// Any change of the sealed text is noticed, wherever it is.
    #[test]
    fn a_changed_byte_breaks_the_seal(at in 0_usize..600, to in b' '..b'~') {
        let text = sidecar(vec![file(b"a", 0)], "T").to_text();
        let mut bytes = text.clone().into_bytes();
        let at = at % (bytes.len() - 1);
        // The seal itself may be written in capitals.
        let is_same = if at < text.find("[seal]").unwrap() {
            bytes[at] == to
        } else {
            bytes[at].eq_ignore_ascii_case(&to)
        };
        prop_assume!(!is_same);
        bytes[at] = to;
        if let Ok((_, seal)) = Sidecar::read(&bytes) { prop_assert_ne!(seal, Seal::Intact) }
    }
}

#[test]
fn hostile_sidecars_are_refused() {
    let good = sidecar(vec![file(b"a", 0)], "T").to_text();
    let nested = format!("x = {}{}\n{good}", "[".repeat(100_000), "]".repeat(100_000));
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replace(from, to)
    };
    let twice = {
        let at = good.find("[[file]]").unwrap();
        let end = good.find("[seal]").unwrap();
        format!("{}{}{}", &good[..end], &good[at..end], &good[end..])
    };
    for (text, expected) in [
        (changed("path = \"a\"", "path = \"../a\""), "`path`: `../a` is not a path below"),
        (changed("path = \"a\"", "path = \"/etc/passwd\""), "`path`: `/etc/passwd` is not"),
        (changed("path = \"a\"", "path = \"\\\\x2e\\\\x2e\""), "`path`: `..` is not a path below"),
        (changed("target = \"a\"", "target = \"../b\""), "`target`: `../b` is not"),
        (changed("mode = \"0640\"", "mode = \"4755\""), "`mode`: `4755` is not like `0644`"),
        (changed("state = \"Original\"", "state = \"Lost\""), "`state`: `Lost` is not a state"),
        (changed("format = 1", "format = 2"), "it has format 2; this urepo reads up to format 1"),
        (changed("bytes = 3", "bytes = -3"), "line "),
        (
            changed("created = 2026-11-21T02:13:00Z", "created = \"last spring\""),
            "found \"last spring\"",
        ),
        (twice, "`path`: `a` stands twice"),
        (nested, "line 1"),
        (format!("{good}\n[payload]\nfiles = 1\n"), "line "),
        (String::new(), "line 1, column 1: missing field"),
    ] {
        let error = Sidecar::read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} does not say {expected:?}");
    }
    let error = Sidecar::read(b"format = 1\nstate = \"\xff\"").unwrap_err();
    assert_eq!(error, SidecarError::NotUtf8 { offset: 20 });
}

/// Keys that a later version adds are passed over, not refused.
#[test]
fn unknown_keys_are_no_error() {
    let good = sidecar(vec![file(b"a", 0)], "T").to_text();
    let text =
        good.replace("transferable = true\n", "transferable = true\nlater = 1\n[new]\nk = 2\n");
    let (read, seal) = Sidecar::read(text.as_bytes()).unwrap();
    assert_eq!(read.files.len(), 1);
    assert_ne!(seal, Seal::Intact);
}
