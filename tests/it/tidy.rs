//! The rules of the house that the compiler does not keep: which module uses which, which may touch the
//! file system and the terminal, how long a file may be, and that no test is forgotten.
//!
//! Each rule is a function over one file, and a test shows what it finds.

mod modules;
mod prose;
mod size;

use std::path::{Path, PathBuf};

/// What only some files may name, why, and which: folders end in `/`.
const RESERVED: &[(&str, &[&str], &[&str])] = &[
    (
        "the file system is `disk`'s, so that every error names its path",
        &["std::fs", "rustix::fs", "walkdir::"],
        // It looks for `urepo.toml` above and below a directory that need not exist.
        &["src/disk/", "src/collection/setup/discover.rs"],
    ),
    (
        "environment, arguments, input and exit are the command line's",
        &["std::env", "env::var", "io::stdin", "process::exit", "process::id"],
        &["src/cli/"],
    ),
    (
        "one writer knows what to do when nobody reads",
        &["println!", "eprintln!", "print!", "eprint!", "io::stdout", "io::stderr"],
        &["src/cli/printer.rs"],
    ),
    (
        "the time comes from a `Clock` that is handed in",
        &["SystemTime::now", "Instant::now", "thread::sleep"],
        &["src/clock.rs", "src/cli/"],
    ),
    (
        "a panic is our bug: `expect` says why it can not be",
        &["todo!", "unimplemented!", "dbg!", ".unwrap()"],
        &[],
    ),
    ("an expectation is stated with `expect(…, reason = …)`", &["#[allow(", "#![allow("], &[]),
    (
        "an item is read by the methods of `StoredItem` and changed by those of `LockedItem`",
        &[".dir()", "StoredItem::at("],
        &[
            "src/collection/",
            "src/adopt/",
            "src/repair/",
            "src/verify/",
            "src/removal/remains.rs",
            // Their stages.
            "src/export/directory.rs",
            "src/export/place.rs",
        ],
    ),
    (
        "the root of a collection is that of `collection`, which has a method for what is asked of it",
        &[".root()."],
        &[
            "src/collection/",
            "src/verify/",
            // The roots of their sources.
            "src/deposit/plan/mod.rs",
            "src/deposit/stage.rs",
        ],
    ),
    (
        "dates are compared by `Sidecar::changed` and moved by the events of a sidecar, with the custody id",
        &[
            ".timestamp <",
            ".timestamp >",
            ".timestamp.max(",
            ".timestamp.cmp(",
            "it.timestamp)",
            ".timestamp = ",
            ".described = ",
            "custody.amended(",
            ".passed_to(",
            ".promoted(",
            ".ceded_to(",
            ".withdrawn(",
            ".kept_above(",
        ],
        &["src/sidecar/", "src/custody/"],
    ),
    (
        "every change of an item sees the neighbours; a holding that is brought into line follows the one that a person named",
        &["Sight::alone("],
        &["src/cli/command/recover/migrations.rs"],
    ),
    ("nothing is unsafe", &["unsafe {", "unsafe fn", "unsafe impl"], &[]),
];

/// A longer file has more than one subject.
const LONGEST: usize = 600;

/// A source file as the rules see it: without comments and without its unit tests.
struct Source {
    /// Relative to the package, `/`-separated.
    path: String,
    code: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Source {
        // Unit tests are the last thing in a file.
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let is_comment = |line: &&str| line.trim_start().starts_with("//");
        let code = code.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n");
        Source { path: path.to_owned(), code }
    }
}

/// The first names of paths that begin with `root`: `a` of `root::a::b`, both of `root::{a, b::c}`.
fn roots_of(code: &str, root: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(root) {
        // `urepo::crate::` is no path of ours, nor is the `super::` in `super::super::`.
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        match code[at + root.len()..].strip_prefix('{') {
            Some(group) => names.extend(first_names(group)),
            None => names.extend(name_at(&code[at + root.len()..])),
        }
    }
    names.retain(|name| name != "super");
    names
}

/// The first name of each path in a group, up to its closing brace.
fn first_names(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                names.extend(name_at(group[start..at].trim_start()));
                start = at + 1;
                if character == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

fn name_at(code: &str) -> Option<String> {
    let name: String = code.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    // Only modules: macros and types of the root are nobody's part.
    name.starts_with(|c: char| c.is_lowercase()).then_some(name)
}

/// What a file names that is reserved for others.
fn trespasses(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for (reason, words, places) in RESERVED {
        if places.iter().any(|place| source.path.starts_with(place)) {
            continue;
        }
        let named = words.iter().filter(|word| names(&source.code, word));
        found.extend(named.map(|word| format!("{}: `{word}`, but {reason}", source.path)));
    }
    found
}

/// Whether `word` stands in `code`, and not as a part of a longer one: `print!` is in `eprint!`.
/// A group counts as what is in it: `std::{fs, io}` names `std::fs`.
fn names(code: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |at: usize| {
        let goes_back = word.starts_with(in_word) && code[..at].ends_with(in_word);
        let goes_on = word.ends_with(in_word) && code[at + word.len()..].starts_with(in_word);
        !goes_back && !goes_on
    };
    let grouped = word.split_once("::").is_some_and(|(root, rest)| {
        !rest.is_empty() && roots_of(code, &format!("{root}::")).iter().any(|name| name == rest)
    });
    grouped || code.match_indices(word).any(|(at, _)| is_whole(at))
}

/// Whether a file is too long, its unit tests counted.
fn too_long(path: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > LONGEST).then(|| format!("{path}: {lines} lines, more than {LONGEST}"))
}

/// The files of `names` that `parent` does not make modules.
fn forgotten<'a>(parent: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let is_module = |name: &str| {
        let module = format!("mod {name};");
        parent.lines().any(|line| line.trim_start_matches("pub ").trim() == module)
    };
    names.into_iter().filter(|name| !is_module(name)).collect()
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Rust files below a folder of the package, with their text.
fn files(folder: &str) -> Vec<(String, String)> {
    let found =
        walkdir::WalkDir::new(package().join(folder)).follow_links(true).sort_by_file_name();
    let mut files = Vec::new();
    for entry in found {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let relative = path.strip_prefix(package()).unwrap().to_str().unwrap().to_owned();
            files.push((relative, std::fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(!files.is_empty(), "nothing in {folder}");
    files
}

#[track_caller]
fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn everyone_keeps_to_their_own() {
    let sources = files("src").into_iter().map(|(path, text)| Source::new(&path, &text));
    none(&sources.flat_map(|source| trespasses(&source)).collect::<Vec<_>>());
}

#[test]
fn every_exception_is_still_one() {
    for (_, words, places) in RESERVED {
        for place in *places {
            let used = files("src").into_iter().filter(|(path, _)| path.starts_with(place)).any(
                |(path, text)| {
                    let source = Source::new(&path, &text);
                    words.iter().any(|word| names(&source.code, word))
                },
            );
            assert!(used, "{place} needs no exception any more");
        }
    }
}

#[test]
fn no_file_is_too_long() {
    let files = ["src", "tests/it"].into_iter().flat_map(files);
    none(&files.filter_map(|(path, text)| too_long(&path, &text)).collect::<Vec<_>>());
}

#[test]
fn no_test_is_forgotten() {
    let tests = files("tests/it");
    let mut forgotten_files = Vec::new();
    for (parent, text) in &tests {
        // What lies beside `main.rs` or a `mod.rs`, or in the folder of the same name.
        let folder: PathBuf = match parent.strip_suffix("main.rs").or(parent.strip_suffix("mod.rs"))
        {
            Some(folder) => folder.trim_end_matches('/').into(),
            None => parent.trim_end_matches(".rs").into(),
        };
        let children = tests.iter().filter_map(|(path, _)| {
            let path = Path::new(path);
            let name = path.file_stem()?.to_str()?;
            let name = match (name, path.parent()?) {
                ("main", _) => return None,
                ("mod", own) if own.parent() == Some(&folder) => own.file_name()?.to_str()?,
                (name, own) if name != "mod" && own == folder => name,
                _ => return None,
            };
            Some(name)
        });
        let missing = forgotten(text, children);
        forgotten_files.extend(missing.iter().map(|name| format!("{parent}: no `mod {name};`")));
    }
    none(&forgotten_files);
}

/// The rules find what they are for.
mod rules {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::new(path, text)
    }

    #[test]
    fn trespassers_are_found() {
        for (path, text) in [
            ("src/collection/setup/init.rs", "use std::fs;"),
            ("src/collection/setup/init.rs", "use std::{fs, io};"),
            ("src/collection/setup/init.rs", "std::fs::read(path)"),
            ("src/disk/lock.rs", "std::env::var(name)"),
            ("src/disk/lock.rs", "    eprintln!(\"waiting\");"),
            ("src/deposit/mod.rs", "print!(\"name\")"),
            ("src/deposit/mod.rs", "std::io::stdout().lock()"),
            ("src/distributor/mod.rs", "SystemTime::now()"),
            ("src/cli/mod.rs", "todo!()"),
            ("src/cli/mod.rs", "dbg!(args)"),
            ("src/item/path.rs", "text.parse().unwrap()"),
            ("src/item/path.rs", "#[allow(dead_code)]"),
            ("src/amend/group.rs", "item.dir().sync()"),
            ("src/removal/intent.rs", "StoredItem::at(name, dir)"),
            ("src/amend/group.rs", "self.collection.root().stat(path)"),
        ] {
            assert!(!trespasses(&source(path, text)).is_empty(), "{path}: {text}");
        }
    }

    #[test]
    fn owners_are_left_alone() {
        for (path, text) in [
            ("src/disk/file.rs", "use std::fs::File;"),
            ("src/cli/printer.rs", "eprintln!(\"{}\", std::env::var(name));"),
            ("src/clock.rs", "SystemTime::now()"),
            ("src/item/path.rs", "// std::fs is not for us\ntext.parse().unwrap_or_default()"),
            ("src/item/path.rs", "\n#[cfg(test)]\nmod tests {\n    text.unwrap();\n}"),
            ("src/item/path.rs", "blueprint!(x); self.thread::sleepers"),
        ] {
            let found = trespasses(&source(path, text));
            let expected: &[&str] = &[];
            assert_eq!(found, expected, "{path}: {text}");
        }
    }

    #[test]
    fn long_files_are_found() {
        let tests = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n";
        assert!(too_long("src/a.rs", &"line\n".repeat(601)).is_some());
        assert!(too_long("src/a.rs", &"line\n".repeat(600)).is_none());
        assert!(too_long("src/a.rs", &format!("{}{tests}", "line\n".repeat(596))).is_some());
    }

    #[test]
    fn forgotten_files_are_found() {
        let main = "mod deposit;\npub mod verify;\n// mod cli;\nmod errors_of_old;\n";
        assert_eq!(forgotten(main, ["deposit", "verify", "cli", "errors"]), ["cli", "errors"]);
    }
}
