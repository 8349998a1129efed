//! Verification: each code has exactly its fault, hostile items are survived, nothing is written.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "faults are planted with the tools of the standard library; these are tests"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use urepo::collection::{Collection, Names, Subsystem};
use urepo::custody::{Custody, CustodyId};
use urepo::digest::Digest;
use urepo::disk::{Operation, Watcher};
use urepo::identity::{Instant, RepositoryName, SECOND};
use urepo::interrupt::Interrupt;
use urepo::item::{Content, Entry, PayloadPath, State, Totals};
use urepo::progress::NoProgress;
use urepo::sidecar::Sidecar;
use urepo::verify::{
    Code, Depth, Finding, ItemReport, Options, ProofError, Report, Scope, Severity, Summary,
    compare, verify, verify_item,
};

use crate::support::{Faults, Mode, mounted, on, original, record, scratch};

mod faults;
mod hostile;
mod reporting;
mod running;
mod shortage;
mod unasked;

const NAME: &str = "sid.inpe.br/mtc-m18/2009/02.16.17.46";

/// A collection in a scratch directory, and what its tree is made with.
struct World {
    scratch: tempfile::TempDir,
}

/// All that a run told.
struct Told {
    items: Vec<ItemReport>,
    tree: Vec<Finding>,
    summary: Summary,
}

impl World {
    fn new() -> World {
        let scratch = scratch();
        let subsystem = Subsystem::new("mtc-m18.sid.inpe.br".parse().unwrap());
        let watcher = Watcher::default();
        crate::support::init(&scratch.path().join("root"), "test", subsystem, &watcher).unwrap();
        World { scratch }
    }

    /// A collection with one item of two files, one in a directory, a link and an empty directory.
    fn with_item() -> World {
        let world = World::new();
        world.item(NAME);
        world
    }

    fn root(&self) -> PathBuf {
        self.scratch.path().join("root")
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    /// A path in the item [`NAME`].
    fn in_item(&self, relative: &str) -> PathBuf {
        self.path(NAME).join(relative)
    }

    fn item(&self, name: &str) {
        let doc = self.path(name).join("doc");
        fs::create_dir_all(doc.join("sub")).unwrap();
        fs::create_dir(doc.join("empty")).unwrap();
        fs::write(doc.join("report.pdf"), b"a report").unwrap();
        fs::write(doc.join("sub/map.tif"), vec![7; 300_000]).unwrap();
        symlink("report.pdf", doc.join("link")).unwrap();
        self.seal(name, |_| {});
    }

    /// An item of one small file.
    fn small_item(&self, name: &str) {
        fs::create_dir_all(self.path(name).join("doc")).unwrap();
        fs::write(self.path(name).join("doc/report.pdf"), b"a report").unwrap();
        self.seal(name, |_| {});
    }

    /// Writes the sidecar of what is below `doc/`, changed by `change`.
    fn seal(&self, name: &str, change: impl FnOnce(&mut Sidecar)) {
        let doc = self.path(name).join("doc");
        let files = entries(&doc);
        let (found, _) = RepositoryName::parse_as_found(name).unwrap();
        let mut sidecar = original(found, files);
        let own = self.open(&Watcher::default()).id().to_owned();
        sidecar.custody = Custody::first(CustodyId::from([1; 8]), &own);
        change(&mut sidecar);
        fs::write(self.path(name).join("item.toml"), sidecar.to_text()).unwrap();
        record(&self.root(), name, &sidecar);
    }

    /// Rewrites the sidecar's text, and seals it anew.
    fn edit(&self, edit: impl FnOnce(String) -> String) {
        let path = self.in_item("item.toml");
        let text = fs::read_to_string(&path).unwrap();
        let (text, _) = text.rsplit_once("[seal]\n").unwrap();
        let text = edit(text.to_owned());
        let seal = Digest::of(text.as_bytes());
        fs::write(&path, format!("{text}[seal]\nsha256 = \"{seal}\"\n")).unwrap();
    }

    fn open(&self, watcher: &Watcher) -> Collection {
        Collection::open(&self.root(), watcher).unwrap()
    }

    fn run(&self, depth: Depth) -> Told {
        self.run_watched(depth, &Watcher::default())
    }

    /// Verifies everything; a run that changes anything fails the test.
    fn run_watched(&self, depth: Depth, watcher: &Watcher) -> Told {
        let before = snapshot(&self.root());
        let collection = self.open(watcher);
        let told = run(&collection, Scope::All(&Names::default()), Options { depth, jobs: 2 });
        assert_eq!(before, snapshot(&self.root()), "verifying has changed something");
        told
    }

    /// What both depths find, which has to be the same.
    fn codes(&self) -> Vec<(Code, String)> {
        let quick = self.run(Depth::Quick).codes();
        assert_eq!(quick, self.run(Depth::Full).codes(), "quick and full differ");
        quick
    }
}

fn run(collection: &Collection, scope: Scope<'_>, options: Options) -> Told {
    let (mut items, mut tree) = (Vec::new(), Vec::new());
    let interrupt = Interrupt::default();
    let summary = verify(collection, scope, options, &NoProgress, &interrupt, |report| {
        match report {
            Report::Item(item) => items.push(item),
            Report::Tree(finding) => tree.push(finding),
        }
        ControlFlow::Continue(())
    });
    Told { items, tree, summary: summary.unwrap() }
}

impl Told {
    /// Every finding as its code and path.
    fn codes(&self) -> Vec<(Code, String)> {
        let of_items = self.items.iter().flat_map(|item| item.findings.as_slice());
        let all = self.tree.iter().chain(of_items);
        all.map(|found| (found.code, found.place.to_path().display().to_string())).collect()
    }

    fn details(&self) -> Vec<&str> {
        let of_items = self.items.iter().flat_map(|item| item.findings.as_slice());
        self.tree.iter().chain(of_items).map(|found| found.detail.as_str()).collect()
    }
}

/// The entries of what is below `doc`, sorted.
fn entries(doc: &Path) -> Vec<Entry> {
    let mut found = Vec::new();
    for (path, metadata) in below(doc) {
        let modified = Instant::from_nanoseconds(
            i128::from(metadata.mtime()) * SECOND + i128::from(metadata.mtime_nsec()),
        );
        let mode = metadata.mode() & 0o777;
        let content = if metadata.is_symlink() {
            let target = fs::read_link(&path).unwrap().into_os_string().into_vec();
            Content::Link { target }
        } else if !metadata.is_dir() {
            let digest = Digest::of(&fs::read(&path).unwrap());
            Content::File { bytes: metadata.len(), digest, modified, mode }
        } else if fs::read_dir(&path).unwrap().next().is_none() {
            Content::EmptyDirectory { modified, mode }
        } else {
            continue;
        };
        let path = PayloadPath::new(path.strip_prefix(doc).unwrap()).unwrap();
        found.push(Entry { path, content });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Everything below `root`, however deep.
fn below(root: &Path) -> BTreeMap<PathBuf, fs::Metadata> {
    let mut found = BTreeMap::new();
    // From one directory to the next: to walk down from the root again for each name takes seconds in a deep tree.
    let opened = |directory: &Path| Rc::new(fs::File::open(directory).unwrap());
    let within =
        |directory: &fs::File| PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    let mut pending = vec![(root.to_path_buf(), opened(&root.join("..")), root.to_path_buf())];
    while let Some((path, above, name)) = pending.pop() {
        let directory = opened(&within(&above).join(name));
        drop(above);
        for entry in fs::read_dir(within(&directory)).unwrap() {
            let entry = entry.unwrap();
            let (path, metadata) = (path.join(entry.file_name()), entry.metadata().unwrap());
            if metadata.is_dir() {
                pending.push((path.clone(), Rc::clone(&directory), entry.file_name().into()));
            }
            found.insert(path, metadata);
        }
    }
    found
}

/// Everything below `root` with all that a write would change: not the times of access.
fn snapshot(root: &Path) -> Vec<(PathBuf, String)> {
    let all = below(root).into_iter();
    all.map(|(path, it)| {
        let modified = (it.mtime(), it.mtime_nsec());
        let changed = (it.ctime(), it.ctime_nsec());
        (path, format!("{} {} {:o} {modified:?} {changed:?}", it.ino(), it.len(), it.mode()))
    })
    .collect()
}

/// Changes the bytes of a file and keeps its size, mode and time.
fn flip(path: &Path, at: usize) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

fn found<const N: usize>(codes: [(Code, &str); N]) -> Vec<(Code, String)> {
    codes.map(|(code, path)| (code, path.to_owned())).to_vec()
}

#[test]
fn a_whole_collection_has_no_findings() {
    let world = World::with_item();
    world.item("sid.inpe.br/mtc-m18/2009/02.16.17.46.01");
    world.item("sid.inpe.br/mtc-m18@80/2010/01.01.00.00");
    fs::write(world.path("README"), "people's own").unwrap();
    symlink("/etc", world.path("their-link")).unwrap();
    for depth in [Depth::Quick, Depth::Full] {
        let told = world.run(depth);
        assert_eq!(told.codes(), []);
        let names: Vec<_> = told.items.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(names[..2], [NAME, "sid.inpe.br/mtc-m18/2009/02.16.17.46.01"]);
        let expected = Summary { items: 3, files: 6, bytes: 3 * 300_008, ..Summary::default() };
        assert_eq!(told.summary, expected);
        assert!(!told.summary.is_damage());
    }
}

/// A collection as format 1 has been written since its first day. Git keeps no times.
#[test]
fn a_collection_from_long_ago_is_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/collections/small");
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    let options = Options { depth: Depth::Full, jobs: 1 };
    let told = run(&collection, Scope::All(&Names::default()), options);
    // No ledger is kept in git either.
    let expected = [Code::AttributesDiffer, Code::LedgerMissing];
    assert!(told.codes().iter().all(|(code, _)| expected.contains(code)));
    let states: Vec<_> = told.items.iter().map(|item| item.state).collect();
    assert_eq!(states, [Some(State::Original), Some(State::Deleted)]);
    assert_eq!((told.summary.files, told.summary.bytes), (2, 16));
}

#[test]
fn codes_are_numbered_in_order_and_explained() {
    let numbers: Vec<_> = Code::all().iter().map(|code| code.number()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    for code in Code::all() {
        assert_eq!(code.to_string(), format!("U{}", code.number()));
        assert!(!code.meaning().is_empty() && !code.meaning().ends_with('.'), "{code}");
    }
    assert!(Severity::Damage > Severity::Warning && Severity::Warning > Severity::Notice);
}
