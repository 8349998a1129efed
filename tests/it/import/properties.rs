//! Leaves that hold for all imports: of any tree, cut short anywhere, of any text in a manifest.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use proptest::prelude::*;
use urepo::item::Content;

use super::*;
use crate::support::{Faults, Mode, make_collection, scratch, staged, waiter};

/// Files of a tree by their paths. No two names are one to any file system.
fn files() -> impl Strategy<Value = BTreeMap<PathBuf, Vec<u8>>> {
    let names: [&[u8]; 10] = [
        b"a",
        b"b c",
        b"%0A",
        b"new\nline",
        b"\x1b[1m",
        b"-r",
        b"back\\x5c",
        "ü".as_bytes(),
        b"\xff",
        b".d",
    ];
    let name = prop::sample::select(names.to_vec());
    let name = name.prop_map(|name| OsString::from_vec(name.to_vec()));
    let path = prop::collection::vec(name, 1..4).prop_map(PathBuf::from_iter);
    // Few different contents, so that some are the same.
    let bytes = (0..4_u8, 0..3_usize).prop_map(|(byte, length)| vec![byte; length * 700]);
    prop::collection::btree_map(path, bytes, 1..9).prop_map(|all| {
        let mut files = BTreeMap::new();
        for (path, bytes) in all {
            // What would have to be a file and a directory is one of them.
            let is_above = |other: &PathBuf| path.starts_with(other) || other.starts_with(&path);
            if !files.keys().any(is_above) {
                files.insert(path, bytes);
            }
        }
        files
    })
}

/// What cuts an import short.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// It is killed, or fails, at this operation.
    At(usize, Mode),
    /// Nobody listens any more.
    Deaf,
    /// Only so many sources are come to.
    After(usize),
}

fn cuts() -> impl Strategy<Value = Vec<Cut>> {
    let mode = prop::sample::select(vec![
        Mode::Killed,
        Mode::Once(rustix::io::Errno::IO),
        Mode::Once(rustix::io::Errno::NOSPC),
    ]);
    let cut = prop_oneof![
        4 => (1..150_usize, mode).prop_map(|(at, mode)| Cut::At(at, mode)),
        1 => Just(Cut::Deaf),
        1 => (0..4_usize).prop_map(Cut::After),
    ];
    prop::collection::vec(cut, 0..4)
}

fn run_until(root: &Path, sources: &Path, units: Units, cut: Cut) {
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let (watcher, most) = match cut {
        Cut::At(at, mode) => (Watcher::new(Arc::new(Faults::new(root, at, mode)) as _), usize::MAX),
        Cut::Deaf => (Watcher::default(), usize::MAX),
        Cut::After(most) => (Watcher::default(), most),
    };
    let Ok(collection) = Collection::open(root, &watcher) else { return };
    let found: Candidates = Box::new(tree(sources, units).take(most));
    if !matches!(cut, Cut::Deaf) {
        let _ = import(&collection, found, import_options(), &clock);
        return;
    }
    let (agent, interrupt) = (agent(), Interrupt::default());
    let importer = Importer {
        known: KnownSources::open(&collection, Some(&agent)).unwrap(),
        issuer: Issuer::new(&collection, &agent, &clock, &issue_options()).unwrap(),
        writer: collection.writer(&agent, &waiter(&clock)).unwrap(),
        options: import_options(),
        peers: Peers::default(),
        clock: &clock,
        progress: &NoProgress,
        interrupt: &interrupt,
    };
    let mut tell = |_: Vec<Event>| {
        let source = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        Err(ImportError::Read { name: "nobody listens".to_owned(), source })
    };
    let (summary, _) = importer.run(found, &mut tell);
    assert!(summary.fatal.is_some());
}

/// The files that all items have, by where they came from, with their digests.
fn imported_files(collection: &Collection) -> Vec<(PathBuf, Digest)> {
    let mut files = Vec::new();
    for (source, sidecar) in origins(collection) {
        let source = urepo::item::PayloadPath::from_text(source.trim_start_matches('/')).unwrap();
        let source = Path::new("/").join(source.as_path());
        for entry in &sidecar.files {
            let Content::File { digest, .. } = entry.content else { panic!("{entry:?}") };
            let path =
                if source.is_dir() { source.join(entry.path.as_path()) } else { source.clone() };
            files.push((path, digest));
        }
    }
    files.sort();
    files
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn each_file_is_in_one_item_whatever_cut_the_runs_short(
        files in files(),
        is_each_file in any::<bool>(),
        cuts in cuts(),
    ) {
        let scratch = scratch();
        let root = scratch.path().join("archive");
        make_collection(&root);
        let sources = resolved(scratch.path()).unwrap().join("sources");
        for (path, bytes) in &files {
            let path = sources.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let units = if is_each_file { Units::EachFile } else { Units::Entries };
        for cut in cuts {
            run_until(&root, &sources, units, cut);
        }
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        // What a plan finds after what was cut short is what the run then does.
        let found = || tree(&sources, units);
        let (expected, _) = planned(&collection, found(), import_options(), &clock);
        let (events, summary) = import(&collection, found(), import_options(), &clock).unwrap();
        prop_assert_eq!(summary.failed, 0, "{:?}", words(&events));
        prop_assert!(summary.fatal.is_none());
        prop_assert_eq!(words(&expected), words(&events));

        let of_files = |(path, bytes): (&PathBuf, &Vec<u8>)| (sources.join(path), Digest::of(bytes));
        let mut expected: Vec<_> = files.iter().map(of_files).collect();
        expected.sort();
        prop_assert_eq!(imported_files(&collection), expected);
        let items = whole_items(&collection).len();

        // Then there is nothing to do: by the plan, by a run, and by a run that has lost its ledger.
        let before = crate::support::tree(&root);
        let (events, plan) = planned(&collection, found(), import_options(), &clock);
        prop_assert_eq!(plan.imported, 0, "{:?}", words(&events));
        prop_assert_eq!(plan.there, items as u64);
        let is_there = |summary: &Summary| (summary.imported, summary.there) == (0, items as u64);
        prop_assert!(is_there(&import(&collection, found(), import_options(), &clock).unwrap().1));
        prop_assert_eq!(crate::support::tree(&root), before);
        prop_assert_eq!(staged(&root), [""; 0]);
        std::fs::remove_dir_all(root.join(".urepo/ledger")).unwrap();
        prop_assert!(is_there(&import(&collection, found(), import_options(), &clock).unwrap().1));
        prop_assert!(is_there(&import(&collection, found(), import_options(), &clock).unwrap().1));
    }
}

/// A text that makes trouble in tables.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "Z",
        "\"",
        "\"\"",
        ",",
        "\t",
        ";",
        "\n",
        "\n\n",
        " ",
        "'",
        "#",
        "\\",
        "=",
        "é",
        "e\u{301}",
        "日本",
        "\u{1f600}",
        "\u{202e}",
        "\u{feff}",
        "0",
        "{",
        "[item]",
        "\u{2028}",
        "\u{a0}",
    ];
    let pieces = prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..8);
    let text = pieces.prop_map(|pieces| pieces.concat());
    text.prop_filter("a formula, one that is guarded, or nothing", |text| {
        let text = text.trim();
        !text.is_empty() && !text.trim_start_matches('\'').trim_start().starts_with('=')
    })
}

/// A row: a title that comes back, or a text that is refused.
#[derive(Clone, Debug)]
enum Row {
    Good { path: String, title: String },
    Bad(&'static [u8]),
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let bad: [&[u8]; 4] = [b"alone", b"a,b,c,d,e\tb\tc\td\te", b"x,\xff\ty\tz", b"../up,up\tup"];
    let row = prop_oneof![
        5 => (text(), text()).prop_map(|(path, title)| Row::Good { path, title }),
        1 => prop::sample::select(bad.to_vec()).prop_map(Row::Bad),
    ];
    prop::collection::vec(row, 0..8).prop_map(|mut rows| {
        for (at, row) in rows.iter_mut().enumerate() {
            // No path stands twice; none begins with what means nothing or climbs.
            if let Row::Good { path, .. } = row {
                *path = format!("{at}{path}{at}");
            }
        }
        rows
    })
}

fn quoted(text: &str, delimiter: char, always: bool) -> String {
    if always || text.contains(['"', '\n', delimiter]) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The text of a manifest, and on which line each row begins.
fn manifest_of(rows: &[Row], format: Format, always: bool, end: &str) -> (Vec<u8>, Vec<u64>) {
    let delimiter = if format == Format::Tsv { '\t' } else { ',' };
    let mut text = match format {
        Format::Jsonl => Vec::new(),
        _ => format!("path{delimiter}title{end}").into_bytes(),
    };
    let mut lines = Vec::new();
    for row in rows {
        lines.push(1 + text.iter().filter(|byte| **byte == b'\n').count() as u64);
        match row {
            Row::Good { path, title } if format == Format::Jsonl => {
                let row = serde_json::json!({ "path": path, "title": title });
                text.extend_from_slice(row.to_string().as_bytes());
            }
            Row::Good { path, title } => {
                let values = [path, title].map(|text| quoted(text, delimiter, always));
                text.extend_from_slice(values.join(&delimiter.to_string()).as_bytes());
            }
            Row::Bad(bytes) => text.extend_from_slice(bytes),
        }
        text.extend_from_slice(end.as_bytes());
    }
    (text, lines)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn a_manifest_says_what_was_written_into_it(
        rows in rows(),
        format in prop::sample::select(vec![Format::Csv, Format::Tsv, Format::Jsonl]),
        always in any::<bool>(),
        end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let scratch = scratch();
        let (text, lines) = manifest_of(&rows, format, always, end);
        write(scratch.path(), "list", &text);
        let found = manifests::read(scratch.path(), "list", format, Columns::default()).unwrap();
        let found: Vec<_> = found.collect();
        prop_assert_eq!(found.len(), rows.len());
        for ((found, row), line) in found.into_iter().zip(&rows).zip(lines) {
            match (row, found) {
                (Row::Good { path, title }, Ok(candidate)) => {
                    prop_assert_eq!(candidate.metadata.title(), Some(title.trim()));
                    let found = candidate.place.path();
                    let found = found.strip_prefix(resolved(scratch.path()).unwrap()).unwrap();
                    prop_assert_eq!(found.as_os_str().as_bytes(), path.as_bytes());
                    prop_assert_eq!(candidate.row.unwrap().line, line);
                }
                (Row::Bad(_), Err(refused)) => prop_assert_eq!(refused.row.unwrap().line, line),
                (row, Ok(_)) => prop_assert!(false, "{row:?} was read"),
                (row, Err(refused)) => prop_assert!(false, "{row:?}: {}", refused.error),
            }
        }
    }
}
