//! Adopting: trees as the archives left them become collections, in place, and nothing else changes.

mod archive;
mod faults;
mod linked;
mod meanwhile;
mod program;
mod refusals;
mod states;

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
use urepo::holdings::Peers;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::progress::NoProgress;
use urepo::sidecar::{Seal, Sidecar};

use crate::support::{PATIENCE, TestClock, agent, scratch, tree, waiter, whole_items};

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

const NOW: &str = "2126-11-21T02:13:00Z";

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

fn adopt(collection: &Collection, copies_of: Option<&str>, jobs: usize) -> Told {
    let agent = agent();
    let mode = Mode::Act { collection, agent: &agent, wait: PATIENCE };
    run(mode, copies_of, jobs, |_| ())
}

fn run(
    mode: Mode<'_>,
    copies_of: Option<&str>,
    jobs: usize,
    mut each: impl FnMut(&Outcome),
) -> Told {
    // After the files that the tests write.
    let clock = TestClock::at(NOW);
    let interrupt = Interrupt::default();
    let (peers, progress) = (Peers::default(), &NoProgress);
    let interrupt = &interrupt;
    let adopter = Adopter { mode, copies_of, peers, jobs, clock: &clock, progress, interrupt };
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
    assert_eq!(table["pages"].as_str(), Some("1-7"));
    assert_eq!(paper.relations.table()["metadata"].as_str(), Some(PAPER_METADATA));
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
fn a_date_in_the_future_is_a_note() {
    let world = World::new();
    let write = |name: &str, date| {
        let path = world.write(&format!("{name}/doc/a.txt"), "alpha");
        let date = std::time::UNIX_EPOCH + std::time::Duration::from_secs(date);
        std::fs::File::options().append(true).open(path).unwrap().set_modified(date).unwrap();
    };
    let now: urepo::identity::Instant = NOW.parse().unwrap();
    let now = u64::try_from(now.seconds()).unwrap();
    write(REPORT, now + 86_300);
    write(PAPER, now + 86_500);
    let told = world.adopt();
    assert_eq!(told.taken[REPORT].notes, []);
    let date = world.sidecar(PAPER).timestamp;
    assert_eq!(told.taken[PAPER].notes, [Note::FutureDate(date)]);
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
