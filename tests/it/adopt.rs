//! Adopting: trees as the archives left them become collections, in place, and nothing else changes.

mod faults;
mod program;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use urepo::adopt::{AdoptError, Adopter, Mode, Note, Outcome, Plan, Summary};
use urepo::collection::{Collection, CollectionError, init_without_names};
use urepo::disk::{Operation, Watch, Watcher};
use urepo::holdings::OriginalError;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::progress::NoProgress;
use urepo::sidecar::{Seal, Sidecar};

use crate::support::{
    PATIENCE, TestClock, agent, append, inventory_file, inventory_line, scratch, waiter,
    whole_items,
};

const REPORT: &str = "dpi.inpe.br/banon/1995/08.08.00.00";
const UPPER: &str = "sid.inpe.br/MTC-m13@80/2005/07.20.00.37.33";
const UNDERSCORE: &str = "sid.inpe.br/john_doe/2006/01.02.03.04";
const PAPER: &str = "sid.inpe.br/mtc-m18@80/2009/02.16.17.46";
const PAPER_METADATA: &str = "sid.inpe.br/mtc-m18@80/2009/02.16.17.46.01";

/// A tree shaped like the collection of an archive.
fn urlib(root: &Path) {
    let write = |path: &str, bytes: &[u8]| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    for name in [REPORT, UPPER, UNDERSCORE, PAPER, PAPER_METADATA] {
        write(&format!("{name}/.reserved/permission"), b"owner banon\n");
    }
    write(&format!("{REPORT}/doc/index.html"), b"<a href=../../../../../x>");
    write(&format!("{REPORT}/doc/empty"), b"");
    write(
        &format!("{REPORT}/doc/@reference.bib"),
        b"@TechReport{Banon:1995:BiDi, author = {Banon, Gerald Jean Francis}, year = 1995,\n\
          title = {Biblioteca digital: constru{\\c c}{\\~a}o}, ibi = {83LX3pFwXQZeBBx/65ij},\n\
          targetfile = {index.html}, language = {pt}}\n",
    );
    let latin = root.join(UPPER).join("doc").join(OsStr::from_bytes(b"caf\xe9.txt"));
    std::fs::create_dir_all(latin.parent().unwrap()).unwrap();
    std::fs::write(latin, "coffee").unwrap();
    write(&format!("{UNDERSCORE}/doc/a/data.bin"), &vec![7; 300_000]);
    write(&format!("{UNDERSCORE}/not_sent/draft.tex"), b"draft");
    symlink("a/data.bin", root.join(UNDERSCORE).join("doc/link")).unwrap();
    std::fs::create_dir(root.join(UNDERSCORE).join("doc/hollow")).unwrap();
    write(&format!("{PAPER}/doc/paper.pdf"), b"%PDF");
    // An older file, in Latin-1, beside the payload.
    write(
        &format!("{PAPER}/@reference.bib"),
        &[
            b"@string{inpe = \"INPE\"}\n@InProceedings{k, title = \"Identifica\xe7\xe3o\",\n".as_slice(),
            format!(
                "author = \"Banon, Lise and Ribeiro, Marcos\", publisher = inpe, repository = {{{PAPER}}},\n\
                 ibip = {{8JMKD3MGP8W/34PGRBS}}, metadatarepository = {{{PAPER_METADATA}}},\n\
                 lastupdate = {{2017:05.17.17.45.29 (UTC) banon}}, pages = \"1--7\"}}\n"
            )
            .as_bytes(),
        ]
        .concat(),
    );
    write(&format!("{PAPER_METADATA}/doc/metadata.cgi"), b"#!/bin/sh\n");
    write("sid.inpe.br/mtc-m18@80/2009/readme.txt", b"what lies around");
    write("index.html", b"the front page");
}

struct World {
    scratch: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        World { scratch: scratch() }
    }

    fn urlib() -> World {
        let world = World::new();
        urlib(&world.root());
        world
    }

    fn root(&self) -> PathBuf {
        self.scratch.path().join("col")
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn sidecar(&self, name: &str) -> Sidecar {
        let text = std::fs::read(self.root().join(name).join("item.toml")).unwrap();
        let (sidecar, seal) = Sidecar::read(&text).unwrap();
        assert_eq!(seal, Seal::Intact);
        sidecar
    }

    /// The collection, made if it is missing.
    fn collection(&self, watcher: &Watcher) -> Collection {
        if !self.root().join("urepo.toml").exists() {
            init_without_names(&self.root(), "col", &Watcher::default()).unwrap();
        }
        Collection::open(&self.root(), watcher).unwrap()
    }

    fn adopt(&self) -> Told {
        self.adopt_watched(&Watcher::default())
    }

    fn adopt_watched(&self, watcher: &Watcher) -> Told {
        adopt(&self.collection(watcher), None, 1)
    }
}

/// What a run told.
struct Told {
    taken: BTreeMap<String, Plan>,
    there: Vec<String>,
    strays: Vec<String>,
    refused: BTreeMap<String, AdoptError>,
    summary: Summary,
}

fn adopt(collection: &Collection, state: Option<State>, jobs: usize) -> Told {
    let agent = agent();
    let mode = Mode::Act { collection, agent: &agent, wait: PATIENCE };
    run(mode, state, jobs, |_| ())
}

fn run(mode: Mode<'_>, state: Option<State>, jobs: usize, mut each: impl FnMut(&Outcome)) -> Told {
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let interrupt = Interrupt::default();
    let adopter =
        Adopter { mode, state, jobs, clock: &clock, progress: &NoProgress, interrupt: &interrupt };
    let (mut taken, mut there, mut strays, mut refused) =
        (BTreeMap::new(), Vec::new(), Vec::new(), BTreeMap::new());
    let summary = adopter.run(|outcomes| {
        for outcome in outcomes {
            each(&outcome);
            match outcome {
                Outcome::Taken(plan) => drop(taken.insert(plan.name.to_string(), *plan)),
                Outcome::There(name) => there.push(name.to_string()),
                Outcome::Stray { path, .. } => strays.push(path.display().to_string()),
                Outcome::Refused { path, error } => drop(refused.insert(path, error)),
            }
        }
        Ok(())
    });
    Told { taken, there, strays, refused, summary }
}

/// Bytes or target, mode, and time of modification.
type Seen = (Vec<u8>, u32, (i64, i64));

/// Everything in a tree: bytes or target, mode, and time of modification.
fn everything(root: &Path) -> BTreeMap<PathBuf, Seen> {
    let mut found = BTreeMap::new();
    for entry in walkdir::WalkDir::new(root) {
        let entry = entry.unwrap();
        let metadata = entry.path().symlink_metadata().unwrap();
        let bytes = match entry.file_type() {
            kind if kind.is_file() => std::fs::read(entry.path()).unwrap(),
            kind if kind.is_symlink() => {
                std::fs::read_link(entry.path()).unwrap().as_os_str().as_bytes().to_vec()
            }
            _ => Vec::new(),
        };
        let path = entry.path().strip_prefix(root).unwrap().to_path_buf();
        let time = (metadata.mtime(), metadata.mtime_nsec());
        found.insert(path, (bytes, metadata.mode(), time));
    }
    found
}

#[test]
fn a_tree_of_an_archive_is_taken_in() {
    let world = World::urlib();
    let told = world.adopt();
    assert!(told.summary.fatal.is_none());
    assert_eq!(told.refused.len(), 0, "{:?}", told.refused);
    assert_eq!(told.strays, ["sid.inpe.br/mtc-m18@80/2009/readme.txt"]);
    let names: Vec<_> = told.taken.keys().map(String::as_str).collect();
    assert_eq!(names, [REPORT, UPPER, UNDERSCORE, PAPER, PAPER_METADATA]);
    let collection = world.collection(&Watcher::default());
    assert_eq!(whole_items(&collection).len(), 5);

    let report = world.sidecar(REPORT);
    assert_eq!(report.state, State::Original);
    assert_eq!(report.created.to_string(), "1995-08-08T00:00:00Z");
    assert_eq!(report.ibip, None);
    assert_eq!(report.target.as_ref().unwrap().to_text(), "index.html");
    assert_eq!(report.metadata.title(), Some("Biblioteca digital: construção"));
    let newest = std::fs::metadata(world.root().join(REPORT).join("doc/@reference.bib")).unwrap();
    assert_eq!(report.timestamp.seconds(), i128::from(newest.mtime()));
    assert_eq!(report.payload.files, 3);
    for text in ["08.08.00.00", "83LX3pFwXQZeBBx/65ij"] {
        assert_eq!(collection.find(text).unwrap().name().as_str(), REPORT, "{text}");
    }

    let paper = world.sidecar(PAPER);
    assert_eq!(paper.ibip, Some("8JMKD3MGP8W/34PGRBS".parse().unwrap()));
    assert_eq!(paper.timestamp.to_string(), "2017-05-17T17:45:29Z");
    assert_eq!(paper.metadata.title(), Some("Identificação"));
    let table = paper.metadata.table();
    assert_eq!(table["publisher"].as_str(), Some("INPE"));
    assert_eq!(table["x"]["pages"].as_str(), Some("1–7"));
    assert_eq!(paper.relations["metadata"].as_str(), Some(PAPER_METADATA));
    assert_eq!(paper.target.as_ref().unwrap().to_text(), "paper.pdf");
    assert_eq!(told.taken[PAPER].notes, [Note::Latin1]);
    let beside = [".reserved", "@reference.bib"].map(PathBuf::from);
    assert_eq!(told.taken[PAPER].beside, beside);

    assert_eq!(world.sidecar(UPPER).repository.as_str(), UPPER);
    assert_eq!(told.taken[UPPER].notes, [Note::OddFileNames(1)]);
    assert!(matches!(told.taken[UNDERSCORE].notes[..], [Note::OddName(_)]));
    let kinds: Vec<_> =
        world.sidecar(UNDERSCORE).files.iter().map(|entry| entry.path.to_string()).collect();
    assert_eq!(kinds, ["a/data.bin", "hollow", "link"]);
}

#[test]
fn nothing_that_was_there_changes() {
    let world = World::urlib();
    let before = everything(&world.root());
    world.adopt();
    let after = everything(&world.root());
    let items = [REPORT, UPPER, UNDERSCORE, PAPER, PAPER_METADATA].map(Path::new);
    for (path, was) in &before {
        // What got a sidecar, or the settings, has another time.
        let gained = items.contains(&path.as_path()) || path.as_os_str().is_empty();
        let is = &after[path];
        assert_eq!((&was.0, was.1), (&is.0, is.1), "{}", path.display());
        assert!(gained || was.2 == is.2, "{}", path.display());
    }
    for path in after.keys().filter(|path| !before.contains_key(*path)) {
        let is_sidecar = items.iter().any(|item| *path == item.join("item.toml"));
        let is_own = path.starts_with(".urepo")
            || ["urepo.toml", "README"].iter().any(|own| path.as_os_str() == *own);
        assert!(is_sidecar || is_own, "{}", path.display());
    }
}

#[test]
fn a_rerun_changes_nothing_and_adds_only_what_is_new() {
    let world = World::urlib();
    world.adopt();
    let before = everything(&world.root());
    let told = world.adopt();
    assert_eq!((told.taken.len(), told.there.len()), (0, 5));
    assert_eq!(everything(&world.root()), before);
    world.write("example.org/new/2024/01.02.03.04/doc/a", "a");
    let told = world.adopt();
    assert_eq!((told.taken.len(), told.there.len()), (1, 5));
    let mut after = everything(&world.root());
    for (path, was) in before.iter().filter(|(path, _)| !path.as_os_str().is_empty()) {
        let is = after.remove(path).unwrap();
        assert!(is == *was || path.starts_with(".urepo"), "{}", path.display());
    }
}

#[test]
fn a_plan_writes_nothing_and_says_what_the_run_says() {
    let world = World::urlib();
    world.write("example.org/hand/2024/01.02.03.04/a", "not in doc");
    let before = everything(&world.root());
    let dir = urepo::disk::Dir::open(&world.root(), Watcher::default()).unwrap();
    let mut planned = Vec::new();
    run(Mode::Plan { root: &dir, collection: None }, None, 2, |outcome| {
        planned.push(format!("{outcome:?}"));
    });
    assert_eq!(everything(&world.root()), before);
    let collection = world.collection(&Watcher::default());
    let agent = agent();
    let mut done = Vec::new();
    let mode = Mode::Act { collection: &collection, agent: &agent, wait: PATIENCE };
    run(mode, None, 2, |outcome| done.push(format!("{outcome:?}")));
    assert_eq!(planned, done);
}

#[test]
fn several_files_at_a_time_give_the_same() {
    let (one, many) = (World::new(), World::new());
    for world in [&one, &many] {
        for file in 0..200 {
            world.write(&format!("{REPORT}/doc/{}/{file}", file % 7), vec![1; file * 1000]);
        }
    }
    adopt(&one.collection(&Watcher::default()), None, 1);
    adopt(&many.collection(&Watcher::default()), None, 4);
    assert_eq!(one.sidecar(REPORT).payload, many.sidecar(REPORT).payload);
    assert_eq!(whole_items(&many.collection(&Watcher::default())), [REPORT]);
}

#[test]
fn the_state_is_as_said_or_as_the_tree_says() {
    for (said, told, expected) in [
        (None, None, State::Original),
        (None, Some("Copy"), State::Copy),
        (Some(State::Copy), None, State::Copy),
        (Some(State::Original), Some("copy"), State::Original),
    ] {
        let world = World::new();
        world.write(&format!("{REPORT}/doc/a"), "a");
        if let Some(told) = told {
            let bib = format!("@misc{{k, original-or-copy = {{{told}}}}}");
            world.write(&format!("{REPORT}/doc/@reference.bib"), bib);
        }
        adopt(&world.collection(&Watcher::default()), said, 1);
        assert_eq!(world.sidecar(REPORT).state, expected, "{said:?} {told:?}");
    }
}

/// Refused, with the reason; all the rest of the tree is taken in.
#[test]
fn what_is_not_in_order_is_refused_and_left_alone() {
    type Plant = fn(&World);
    let cases: [(&str, Plant); 9] = [
        ("NoPayload", |world| drop(world.write(&format!("{PAPER}/a.txt"), "a"))),
        ("NotADirectory", |world| drop(world.write(&format!("{PAPER}/doc"), "a"))),
        ("NotADirectory", |world| {
            std::fs::create_dir_all(world.root().join(PAPER)).unwrap();
            symlink("../08.08.00.00/doc", world.root().join(PAPER).join("doc")).unwrap();
        }),
        ("LinkLeaves", |world| {
            let doc = world.write(&format!("{PAPER}/doc/a"), "a");
            symlink("/etc/passwd", doc.with_file_name("out")).unwrap();
        }),
        ("LinkLeaves", |world| {
            let doc = world.write(&format!("{PAPER}/doc/a"), "a");
            symlink("../../up", doc.with_file_name("out")).unwrap();
        }),
        ("Special", |world| {
            let doc = world.write(&format!("{PAPER}/doc/a"), "a");
            let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
            rustix::fs::mknodat(rustix::fs::CWD, doc.with_file_name("f"), kind, mode, 0).unwrap();
        }),
        ("OtherFile", |world| {
            world.write(&format!("{PAPER}/doc/a"), "a");
            world.write(&format!("{PAPER}/item.toml"), "made by hand");
        }),
        ("OtherFile", |world| {
            world.write(&format!("{PAPER}/doc/a"), "a");
            std::fs::create_dir(world.root().join(PAPER).join("item.toml")).unwrap();
        }),
        ("TwoSpellings", |world| {
            world.write(&format!("{PAPER}/doc/a"), "a");
            world.write("SID.inpe.br/MTC-m18@80/2009/02.16.17.46/doc/a", "a");
        }),
    ];
    for (expected, plant) in cases {
        let world = World::new();
        world.write(&format!("{REPORT}/doc/a"), "a");
        plant(&world);
        let before = everything(&world.root());
        let told = world.adopt();
        let names: Vec<_> = told.taken.keys().map(String::as_str).collect();
        assert_eq!(names, [REPORT], "{expected}");
        let error = format!("{:?}", told.refused[PAPER]);
        assert!(error.starts_with(expected), "{expected}: {error}");
        let count = if expected == "TwoSpellings" { 2 } else { 1 };
        assert_eq!((told.refused.len(), told.summary.refused), (count, count as u64));
        let after = everything(&world.root().join(PAPER));
        for (path, is) in after {
            assert_eq!(is, before[&Path::new(PAPER).join(path)], "{expected}");
        }
    }
}

#[test]
fn what_is_no_item_is_told_and_left_alone() {
    let world = World::new();
    world.write(&format!("{REPORT}/doc/a"), "a");
    world.write("dpi.inpe.br/banon/1995/08.08.00.01", "a file");
    world.write("dpi.inpe.br/banon/1995/02.30.00.01/doc/a", "no such day");
    world.write("dpi.inpe.br/banon/papers/a", "no year");
    let year = world.root().join("dpi.inpe.br/banon/1995");
    std::fs::create_dir_all(year.join("08.08.00.02/.reserved")).unwrap();
    symlink("08.08.00.00", year.join("08.08.00.03")).unwrap();
    let mut told = world.adopt();
    told.strays.sort();
    let expected = [
        "dpi.inpe.br/banon/1995/02.30.00.01",
        "dpi.inpe.br/banon/1995/08.08.00.01",
        "dpi.inpe.br/banon/1995/08.08.00.02",
        "dpi.inpe.br/banon/1995/08.08.00.03",
        "dpi.inpe.br/banon/papers",
    ];
    assert_eq!(told.strays, expected);
    assert_eq!((told.summary.strays, told.taken.len(), told.refused.len()), (5, 1, 0));
}

#[test]
fn what_is_odd_is_told_and_kept() {
    let world = World::new();
    let a = world.write(&format!("{REPORT}/doc/a"), "a");
    world.write(&format!("{REPORT}/doc/A"), "A");
    std::fs::set_permissions(&a, std::fs::Permissions::from_mode(0o4755)).unwrap();
    world.write(&format!("{REPORT}/doc/@reference.bib"), "@misc{k, target = {gone.pdf}}");
    std::fs::create_dir_all(world.root().join(PAPER).join("doc")).unwrap();
    world.write(&format!("{UPPER}/doc/@reference.bib"), vec![b' '; (1 << 20) + 1]);
    world.write(&format!("{UNDERSCORE}/doc/@reference.bib"), "@misc{k, title {never} closed");
    let told = world.adopt();
    assert_eq!(told.refused.len(), 0, "{:?}", told.refused);
    let notes = |name: &str| format!("{:?}", told.taken[name].notes);
    for expected in ["SpecialModes(1)", "Twins", "NoTarget(\"gone.pdf\")"] {
        assert!(notes(REPORT).contains(expected), "{expected}: {}", notes(REPORT));
    }
    assert_eq!(told.taken[PAPER].notes, [Note::Empty]);
    assert!(notes(UPPER).contains("larger than 1 MiB"), "{}", notes(UPPER));
    assert!(notes(UNDERSCORE).contains("NotUnderstood"), "{}", notes(UNDERSCORE));
    let raw = world.sidecar(UNDERSCORE).metadata.table()["x"]["bibtex"].clone();
    assert_eq!(raw.as_str(), Some("title {never} closed"));
    assert_eq!(whole_items(&world.collection(&Watcher::default())).len(), 4);
}

/// Changes a file each time it is read, so often.
struct Meddler {
    path: PathBuf,
    left: AtomicUsize,
}

impl Watch for Meddler {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let is_it = operation == Operation::Read && path == self.path;
        if is_it && self.left.load(Ordering::SeqCst) > 0 {
            let left = self.left.fetch_sub(1, Ordering::SeqCst);
            std::fs::write(&self.path, vec![0; 10 + left])?;
        }
        Ok(())
    }
}

#[test]
fn a_file_that_changes_is_read_again_three_times_in_all() {
    for (changes, taken) in [(1, true), (2, true), (1000, false)] {
        let world = World::new();
        let path = world.write(&format!("{REPORT}/doc/a"), "a");
        let collection = world.collection(&Watcher::default());
        drop(collection);
        let left = AtomicUsize::new(changes);
        let watcher = Watcher::new(Arc::new(Meddler { path, left }));
        let told = world.adopt_watched(&watcher);
        assert_eq!(told.taken.len(), usize::from(taken), "{changes}");
        if taken {
            whole_items(&world.collection(&Watcher::default()));
        } else {
            let error = &told.refused[REPORT];
            assert!(matches!(error, AdoptError::Changing { attempts: 3, .. }), "{error:?}");
            assert!(!world.root().join(REPORT).join("item.toml").exists());
        }
    }
}

/// Puts a file where a sidecar is about to be put.
struct Rival {
    text: Vec<u8>,
}

impl Watch for Rival {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Rename && path.ends_with("item.toml") {
            std::fs::write(path, &self.text)?;
        }
        Ok(())
    }
}

#[test]
fn a_file_that_comes_first_is_not_overwritten() {
    let world = World::new();
    world.write(&format!("{REPORT}/doc/a"), "a");
    let rival = |text: Vec<u8>| Watcher::new(Arc::new(Rival { text }));
    let told = world.adopt_watched(&rival(b"mine".to_vec()));
    assert!(matches!(told.refused[REPORT], AdoptError::OtherFile { .. }), "{:?}", told.refused);
    let sidecar = world.root().join(REPORT).join("item.toml");
    assert_eq!(std::fs::read(&sidecar).unwrap(), b"mine");
    // Another run that did the same is as good.
    std::fs::remove_file(&sidecar).unwrap();
    let twin = World::new();
    twin.write(&format!("{REPORT}/doc/a"), "a");
    twin.adopt();
    let text = std::fs::read(twin.root().join(REPORT).join("item.toml")).unwrap();
    let told = world.adopt_watched(&rival(text));
    assert_eq!((told.taken.len(), told.there.len(), told.refused.len()), (0, 1, 0));
}

#[test]
fn while_another_recovers_nothing_is_written_and_it_is_told_once() {
    use urepo::disk::{Dir, Lock, LockMode};
    let world = World::urlib();
    let collection = world.collection(&Watcher::default());
    let own = Dir::open(&world.root().join(".urepo"), Watcher::default()).unwrap();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let (agent, wait) = (agent(), std::time::Duration::ZERO);
    let holder = agent.holder(&clock);
    let lock = Lock::take(&own, "lock", LockMode::Exclusive, &holder, &waiter(&clock)).unwrap();
    let mode = Mode::Act { collection: &collection, agent: &agent, wait };
    let told = run(mode, None, 2, |_| ());
    let fatal = told.summary.fatal.unwrap().to_string();
    assert_eq!(fatal, "the collection `col` is locked");
    assert_eq!((told.taken.len(), told.there.len()), (0, 0));
    let is_quiet =
        |error: &AdoptError| matches!(error, AdoptError::GroupFailed | AdoptError::Interrupted);
    assert!(told.refused.values().all(is_quiet), "{:?}", told.refused);
    assert!(!world.root().join(REPORT).join("item.toml").exists());
    drop(lock);
    assert_eq!(world.adopt().taken.len(), 5);
}

/// Asks for a stop while a file is read.
struct Stopper(Interrupt);

impl Watch for Stopper {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Read && path.ends_with("data.bin") {
            self.0.request();
        }
        Ok(())
    }
}

#[test]
fn a_stop_leaves_nothing_half_done_and_a_rerun_goes_on() {
    let world = World::urlib();
    let interrupt = Interrupt::default();
    let watcher = Watcher::new(Arc::new(Stopper(interrupt.clone())));
    let collection = world.collection(&watcher);
    let (agent, clock) = (agent(), TestClock::at("2026-11-21T02:13:00Z"));
    let adopter = Adopter {
        mode: Mode::Act { collection: &collection, agent: &agent, wait: PATIENCE },
        state: None,
        jobs: 1,
        clock: &clock,
        progress: &NoProgress,
        interrupt: &interrupt,
    };
    let summary = adopter.run(|_| Ok(()));
    assert!(summary.taken < 5, "{summary:?}");
    let told = world.adopt();
    assert_eq!(told.taken.len() + told.there.len(), 5);
    assert_eq!(told.there.len() as u64, summary.taken);
    assert_eq!(whole_items(&world.collection(&Watcher::default())).len(), 5);
}

/// Without its sidecar it would come back as a second Original, or as whole whatever it has lost.
#[test]
fn what_the_collection_has_held_before_is_not_taken_in() {
    let world = World::urlib();
    world.adopt();
    for name in [REPORT, PAPER] {
        std::fs::remove_file(world.root().join(name).join("item.toml")).unwrap();
    }
    let collection = world.collection(&Watcher::default());
    let line =
        inventory_line("2026-11-23T10:00:00Z", &format!("left {REPORT} migrated 60cb73fd mirror"));
    append(&inventory_file(&world.root(), REPORT), &line);
    let before = everything(&world.root());
    let agent = agent();
    let modes = [
        Mode::Plan { root: collection.root(), collection: Some(&collection) },
        Mode::Act { collection: &collection, agent: &agent, wait: PATIENCE },
    ];
    for mode in modes {
        let told = run(mode, None, 1, |_| ());
        assert_eq!(told.taken.len(), 0);
        assert!(matches!(
            told.refused[REPORT],
            AdoptError::Collection(CollectionError::Left { .. })
        ));
        assert!(matches!(told.refused[PAPER], AdoptError::SidecarLost { .. }));
    }
    assert_eq!(everything(&world.root()), before);
}

/// Its directory was put back by hand, perhaps from a backup: the Original is where it went.
#[test]
fn an_original_that_left_is_not_passed_over() {
    let world = World::urlib();
    world.adopt();
    let collection = world.collection(&Watcher::default());
    let line =
        inventory_line("2026-11-23T10:00:00Z", &format!("left {REPORT} migrated 60cb73fd mirror"));
    append(&inventory_file(&world.root(), REPORT), &line);
    let mode = Mode::Plan { root: collection.root(), collection: Some(&collection) };
    let told = run(mode, None, 1, |_| ());
    assert!(matches!(told.refused[REPORT], AdoptError::Original(OriginalError::Departed { .. })));
    assert_eq!((told.refused.len(), told.there.len()), (1, 4));
}
