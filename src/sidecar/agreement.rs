//! Both readers read the same sidecar from every text, whatever its contents and however it is split.

use std::collections::BTreeMap;
use std::convert::Infallible;

use proptest::prelude::*;
use toml::{Table, Value};

use super::lines::SidecarLines;
use super::{Access, Conditions, Metadata, Relations, Removal, Seal, Sidecar, canonical};
use crate::custody::{Custody, CustodyId, Leaves};
use crate::digest::{Digest, Hasher};
use crate::identity::Instant;
use crate::item::{Content, Entry, PayloadPath, State, Totals};

/// Fragments that might be misread within a value, or between lines.
const FRAGMENTS: [&str; 30] = [
    "\n",
    "\n\n",
    "\r",
    "\t",
    " ",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "\\",
    "\\n",
    "#",
    "=",
    " = ",
    ",",
    "{",
    "}",
    "[",
    "]",
    "\n[payload]\n",
    "\n[[file]]\n",
    "\n[removal]\nby = \"0\"\nwas = \"Copy\"\n",
    "\n[seal]\n",
    "\n[origin.digests.md5]\n\"a\" = \"00\"\n\n",
    "\n[origin.digests]\n",
    "\npayload.files = 7\n",
    "files = 7\nbytes = 800000000\n",
    "x = \"\"\"\n",
    "x = [\n[1],\n]\n",
    "format = 1\n",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(&FRAGMENTS[..]).prop_map(str::to_owned),
        4 => "[a-z ]{1,8}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        8 => text().prop_map(Value::String),
        1 => any::<i64>().prop_map(Value::Integer),
        1 => (-1e300_f64..1e300).prop_map(Value::Float),
        1 => any::<bool>().prop_map(Value::Boolean),
        1 => Just("2026-11-21T02:13:00Z".parse().map(Value::Datetime).expect("because it is valid")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|table| Value::Table(table.into_iter().collect())),
        ]
    })
}

fn table() -> impl Strategy<Value = Table> {
    let key = prop_oneof![text(), Just("title".to_owned())];
    prop::collection::btree_map(key, value(), 0..4).prop_map(|table| table.into_iter().collect())
}

fn access(kind: u8) -> Access {
    let mut conditions = Conditions::default();
    if kind == 1 {
        conditions.set("access", &["closed"]).expect("because it is a level");
        conditions.set("access.allow", &["192.0.2.0/24"]).expect("because it is a range");
    }
    conditions.access
}

fn custody(kind: u8, holder: &str) -> Custody {
    let id = |number: u8| CustodyId::from([number; 8]);
    let first = Custody::first(id(1), holder);
    match kind {
        0 => first,
        1 => first.amended(id(2)).amended(id(3)),
        2 => first.passed_to("60cb", id(2)),
        _ => first.ceded_to(&first.passed_to("60cb", id(2)), Leaves::Copy),
    }
}

/// Where an item came from, with checksums of its files for some algorithms.
fn origin() -> impl Strategy<Value = Table> {
    let checksums = prop::collection::btree_map(text(), "[0-9a-f]{8}", 0..3);
    let digests = prop::collection::btree_map("[a-z0-9]{1,6}", checksums, 0..3);
    (table(), prop::option::of(digests)).prop_map(|(mut origin, digests)| {
        if let Some(digests) = digests {
            let table = |table: BTreeMap<String, String>| -> Value {
                Value::Table(table.into_iter().map(|(key, text)| (key, text.into())).collect())
            };
            let digests = digests.into_iter().map(|(key, checksums)| (key, table(checksums)));
            origin.insert("digests".to_owned(), Value::Table(digests.collect()));
        }
        origin
    })
}

fn path() -> impl Strategy<Value = PayloadPath> {
    use std::os::unix::ffi::OsStrExt;
    let name = prop_oneof![
        text().prop_map(String::into_bytes),
        prop::collection::vec(1_u8..=255, 1..12),
        "[a-z]{1,8}/[a-z.]{1,8}".prop_map(String::into_bytes),
    ];
    name.prop_filter_map("a path below the payload", |bytes| {
        PayloadPath::new(std::path::Path::new(std::ffi::OsStr::from_bytes(&bytes))).ok()
    })
}

fn content() -> impl Strategy<Value = Content> {
    let modified = prop_oneof![
        (-3_000_000_000..5_000_000_000_i64).prop_map(Instant::from_seconds),
        any::<i64>().prop_map(|nanoseconds| Instant::from_nanoseconds(nanoseconds.into())),
        Just(Instant::from_seconds(400_000_000_000)),
    ];
    (0_u8..6, any::<i64>(), modified, 0_u32..0o1000, text()).prop_map(
        |(kind, bytes, modified, mode, target)| match kind {
            0 => Content::Link { target: target.into_bytes() },
            1 => Content::EmptyDirectory { modified, mode },
            _ => {
                let digest = Digest::of(&bytes.to_be_bytes());
                Content::File { bytes: bytes.unsigned_abs() >> 1, digest, modified, mode }
            }
        },
    )
}

fn sidecar() -> impl Strategy<Value = Sidecar> {
    let files = prop::collection::btree_map(path(), content(), 0..5);
    let marks = (0_u8..4, text(), prop::option::of(text()));
    (files, table(), table(), origin(), marks).prop_map(
        |(files, metadata, relations, origin, marks)| {
            let entry = |(path, content)| Entry { path, content };
            let files: Vec<_> = files.into_iter().map(entry).collect();
            let (kind, by, reason) = marks;
            Sidecar {
                state: if kind == 2 { State::Deleted } else { State::Copy },
                repository: "example.org/a/2026/11.21.02.13".parse().expect("because it is valid"),
                ibip: (kind == 3)
                    .then(|| "8JMKD3MGP8W/34PGRBS".parse().expect("because it is valid")),
                created: Instant::from_seconds(1_795_227_180),
                timestamp: Instant::from_seconds(1_795_227_185),
                described: (kind == 2).then(|| Instant::from_seconds(1_795_227_190)),
                target: files.first().map(|entry| entry.path.clone()),
                transferable: kind != 3,
                access: access(kind),
                custody: custody(kind, &by),
                metadata: Metadata::as_found(metadata),
                relations: Relations::as_found(relations),
                origin,
                removal: (kind == 2).then_some(Removal {
                    by,
                    reason,
                    was: State::Original,
                    updated: None,
                }),
                payload: Totals::of(&files),
                files: files.into(),
            }
        },
    )
}

/// The result of the reader of tables for `text`, which it gets in pieces of at most `length` bytes; `None`
/// if it leaves the text to the other reader.
fn in_pieces(text: &[u8], length: usize) -> Option<(Sidecar, Seal)> {
    let mut rest = text;
    let mut lines = SidecarLines::new(Vec::new().into(), |piece: &mut [u8]| {
        let (now, later) = rest.split_at(length.min(rest.len()).min(piece.len()));
        piece[..now.len()].copy_from_slice(now);
        rest = later;
        Ok::<_, Infallible>(now.len())
    });
    canonical::read(&mut lines, text.len()).ok()
}

/// An edit of a text: at a place, in thousandths, a number of bytes is replaced by a fragment.
type Edit = (usize, usize, usize);

fn edited(text: &str, edits: &[Edit], seals: bool) -> String {
    let mut text = text.to_owned();
    for (at, gone, fragment) in edits {
        let boundary =
            |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let start = boundary(text.len() * at / 1000).unwrap_or(0);
        let end = boundary(start + gone).unwrap_or(start).max(start);
        text.replace_range(start..end, FRAGMENTS[*fragment]);
    }
    if seals && let Some((sealed, _)) = text.rsplit_once("[seal]\n") {
        let mut hasher = Hasher::default();
        hasher.update(sealed.as_bytes());
        text = format!("{sealed}[seal]\nsha256 = \"{}\"\n", hasher.finish());
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// A sidecar that urepo wrote is read table by table, with the values that were written.
    #[test]
    fn what_is_written_is_read_table_by_table(sidecar in sidecar(), length in 1_usize..40) {
        let text = sidecar.to_text();
        let expected = (sidecar, Seal::Intact);
        prop_assert_eq!(Sidecar::read_any(text.as_bytes()), Ok(expected.clone()), "{}", text);
        prop_assert_eq!(in_pieces(text.as_bytes(), usize::MAX), Some(expected.clone()), "{}", text);
        prop_assert_eq!(in_pieces(text.as_bytes(), length), Some(expected), "{}", text);
    }

    /// However a text is edited: if it is read table by table, both readers agree.
    #[test]
    fn both_readers_agree_on_edited_texts(
        sidecar in sidecar(),
        edits in prop::collection::vec((0_usize..1000, 0_usize..30, 0..FRAGMENTS.len()), 1..4),
        seals in any::<bool>(),
    ) {
        let text = edited(&sidecar.to_text(), &edits, seals);
        if let Some(read) = in_pieces(text.as_bytes(), usize::MAX) {
            prop_assert_eq!(Ok(read), Sidecar::read_any(text.as_bytes()), "{}", text);
        }
    }
}

/// The removal is found behind a description that looks like the end of the head.
#[test]
fn no_description_hides_a_removal() {
    let text = "format = 1\nstate = \"Copy\"\nrepository = \"example.org/a/2026/11.21.02.13\"\n\
        created = 2026-11-21T02:13:00Z\ntimestamp = 2026-11-21T02:13:05Z\n\n\
        [custody]\nepoch = 1\nid = \"00000000000000aa\"\nholder = \"60cb\"\n\n[metadata]\n\
        description = \"\"\"x\n\n[payload]\nfiles = 7\nbytes = 800000000\nsha256 = \"0\"\n\"\"\"\n\n\
        [removal]\nby = \"ann\"\nwas = \"Copy\"\n\n[payload]\nfiles = 0\nbytes = 0\n\
        sha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\n";
    let (read, _) = Sidecar::read(text.as_bytes()).expect("because it is valid");
    assert_eq!((read.payload.files, read.payload.bytes), (0, 0));
    assert!(read.removal.is_some());
    // In the present form, every value is on a line of its own.
    let text = read.to_text();
    assert!(!text.lines().any(|line| line == "files = 7"), "{text}");
    assert_eq!(Sidecar::read(text.as_bytes()), Ok((read, Seal::Intact)));
}
