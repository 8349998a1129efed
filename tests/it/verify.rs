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
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use urepo::collection::{Collection, Names, Subsystem};
use urepo::digest::Digest;
use urepo::disk::{Operation, Watch, Watcher};
use urepo::identity::{Instant, RepositoryName, SECOND};
use urepo::interrupt::Interrupt;
use urepo::item::{Content, Entry, PayloadPath, State, Totals};
use urepo::progress::NoProgress;
use urepo::sidecar::{Metadata, Sidecar};
use urepo::verify::{
    Code, Depth, Finding, ItemReport, Options, ProofError, Report, Scope, Severity, Summary,
    compare, verify, verify_item,
};

use crate::support::{Faults, Mode, System};

mod reporting;
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
        let scratch = tempfile::tempdir().unwrap();
        let subsystem = Subsystem::new("mtc-m18.sid.inpe.br".parse().unwrap());
        let watcher = Watcher::default().without_sync();
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
        let mut sidecar = Sidecar {
            state: State::Original,
            created: found.instant(),
            timestamp: found.instant(),
            repository: found,
            ibip: None,
            target: None,
            transferable: true,
            metadata: Metadata::default(),
            relations: toml::Table::new(),
            origin: toml::Table::new(),
            handover: None,
            removal: None,
            payload: Totals::of(&files),
            files: files.into(),
        };
        change(&mut sidecar);
        fs::write(self.path(name).join("item.toml"), sidecar.to_text()).unwrap();
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
    let mut pending = vec![root.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                pending.push(path.clone());
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
    // No inventory is kept in git either.
    let expected = [Code::AttributesDiffer, Code::InventoryMissing];
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

/// The fault, and what is found of it at either depth.
mod faults {
    use super::*;

    type Edit<'a> = &'a dyn Fn(String) -> String;
    type Plant<'a> = &'a dyn Fn(&Path);

    #[test]
    fn u101_sidecar_missing() {
        let world = World::with_item();
        fs::remove_file(world.in_item("item.toml")).unwrap();
        assert_eq!(world.codes(), found([(Code::SidecarMissing, "item.toml")]));
        assert!(world.run(Depth::Quick).summary.is_damage());
    }

    #[test]
    fn u102_sidecar_unreadable() {
        let newer = |text: String| text.replacen("format = 1", "format = 2", 1);
        let cases: [(&str, Edit<'_>); 12] = [
            ("it has format 2; this urepo reads up to format 1", &newer),
            ("`format`: expected 1, found 0", &|it| it.replacen("format = 1", "format = 0", 1)),
            ("`path`: `../x` is not a path below the payload", &|it| {
                it.replace("\"report.pdf\"", "\"../x\"")
            }),
            ("`path`: `/etc/passwd` is not a path below the payload", &|it| {
                it.replace("path = \"report.pdf\"", "path = \"/etc/passwd\"")
            }),
            ("`target`: `a/../../b` is not a path below the payload", &|it| {
                it.replacen("format = 1", "format = 1\ntarget = \"a/../../b\"", 1)
            }),
            ("`path`: `report.pdf` stands twice", &|it| {
                it.replace("\"sub/map.tif\"", "\"report.pdf\"")
            }),
            ("duplicate key", &|it| it.replacen("[payload]", "[payload]\nfiles = 1", 1)),
            ("duplicate key", &|it| format!("{it}[payload]\nfiles = 1\n")),
            ("missing field `state`", &|it| it.replacen("state", "estate", 1)),
            ("expected a SHA-256 digest", &|it| it.replacen("sha256 = \"", "sha256 = \"0", 1)),
            ("`mode`: `77777` is not like", &|it| it.replace("\"0644\"", "\"77777\"")),
            ("line 1, column", &|_| "not [toml\n".to_owned()),
        ];
        for (detail, edit) in cases {
            let world = World::with_item();
            world.edit(edit);
            assert_eq!(world.codes(), found([(Code::SidecarUnreadable, "item.toml")]), "{detail}");
            let told = world.run(Depth::Quick);
            assert!(told.details()[0].contains(detail), "{detail:?}: {:?}", told.details());
        }
    }

    #[test]
    fn u102_sidecar_that_is_hostile_as_a_text() {
        let deep = format!("x = {}1{}\n", "[".repeat(200_000), "]".repeat(200_000));
        let deep_keys = format!("{}z = 1\n", "a.".repeat(200_000));
        let deep_table = format!("[{}z]\n", "a.".repeat(200_000));
        let texts = [b"\xff\xfe".to_vec(), deep.into(), deep_keys.into(), deep_table.into()];
        for text in texts {
            let world = World::with_item();
            fs::write(world.in_item("item.toml"), text).unwrap();
            assert_eq!(world.codes(), found([(Code::SidecarUnreadable, "item.toml")]));
        }
        let world = World::with_item();
        let huge = fs::File::create(world.in_item("item.toml")).unwrap();
        huge.set_len(1 << 40).unwrap();
        assert_eq!(world.codes(), found([(Code::SidecarUnreadable, "item.toml")]));
    }

    #[test]
    fn u103_seal_broken() {
        let world = World::with_item();
        let path = world.in_item("item.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("transferable = true", "transferable = false", 1)).unwrap();
        assert_eq!(world.codes(), found([(Code::SealBroken, "item.toml")]));
    }

    #[test]
    fn u104_seal_missing() {
        let world = World::with_item();
        let path = world.in_item("item.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.rsplit_once("[seal]").unwrap().0).unwrap();
        assert_eq!(world.codes(), found([(Code::SealMissing, "item.toml")]));
    }

    /// Whatever bit of a sidecar rots, it does not go unnoticed.
    #[test]
    fn every_byte_of_a_sidecar_is_guarded() {
        let world = World::with_item();
        let path = world.in_item("item.toml");
        let whole = fs::read(&path).unwrap();
        let collection = world.open(&Watcher::default());
        let item = collection.item(&NAME.parse().unwrap()).unwrap();
        for at in 0..whole.len() {
            let mut rotten = whole.clone();
            rotten[at] ^= 1;
            fs::write(&path, &rotten).unwrap();
            let report =
                verify_item(&item, Depth::Quick, &NoProgress, &Interrupt::default()).unwrap();
            assert!(report.findings.is_damage(), "byte {at}");
        }
    }

    #[test]
    fn u105_sidecar_of_another_item() {
        let world = World::with_item();
        world.edit(|text| text.replacen("02.16.17.46\"", "02.16.17.47\"", 1));
        assert_eq!(world.codes(), found([(Code::OtherItem, "item.toml")]));
    }

    #[test]
    fn u106_item_asked_for_is_missing() {
        let world = World::with_item();
        let names =
            ["sid.inpe.br/mtc-m18/2011/01.01.00.00", "SID.inpe.br/MTC-m18/2009/02.16.17.46"];
        let names: Vec<RepositoryName> = names.iter().map(|it| it.parse().unwrap()).collect();
        let collection = world.open(&Watcher::default());
        let options = Options { depth: Depth::Full, jobs: 1 };
        let told = run(&collection, Scope::Items(Box::new(names.into_iter())), options);
        assert_eq!(told.codes(), found([(Code::ItemMissing, "")]));
        assert_eq!(told.items[1].name.as_str(), NAME, "the spelling on disk");
        assert!(told.summary.is_damage());
    }

    /// An item that is removed between being listed and being looked at.
    #[test]
    fn u107_item_gone() {
        let world = World::with_item();
        let name = world.path(NAME);
        let vanish = on(Operation::Open, &name.clone(), move || {
            let _ = fs::remove_dir_all(&name);
            Ok(())
        });
        let collection = world.open(&vanish);
        let options = Options { depth: Depth::Full, jobs: 1 };
        let told = run(&collection, Scope::All(&Names::default()), options);
        assert_eq!(told.codes(), found([(Code::ItemGone, "")]));
        assert!(!told.summary.is_damage());
    }

    #[test]
    fn u201_file_missing() {
        let world = World::with_item();
        fs::remove_file(world.in_item("doc/report.pdf")).unwrap();
        assert_eq!(world.codes(), found([(Code::FileMissing, "doc/report.pdf")]));
        // With its directory.
        fs::remove_dir_all(world.in_item("doc/sub")).unwrap();
        let both = [(Code::FileMissing, "doc/report.pdf"), (Code::FileMissing, "doc/sub/map.tif")];
        assert_eq!(world.codes(), found(both));
    }

    #[test]
    fn u202_file_added() {
        let world = World::with_item();
        fs::write(world.in_item("doc/sub/new"), "x").unwrap();
        fs::create_dir_all(world.in_item("doc/tree/below")).unwrap();
        fs::write(world.in_item("doc/tree/below/file"), "x").unwrap();
        fifo(&world.in_item("doc/pipe"));
        let added = ["doc/pipe", "doc/sub/new", "doc/tree"];
        assert_eq!(world.codes(), found(added.map(|path| (Code::Added, path))));
        // An empty directory is an entry of its own, and so is what is put into it.
        let world = World::with_item();
        let time = fs::metadata(world.in_item("doc/empty")).unwrap().modified().unwrap();
        fs::write(world.in_item("doc/empty/file"), "x").unwrap();
        fs::File::open(world.in_item("doc/empty")).unwrap().set_modified(time).unwrap();
        assert_eq!(world.codes(), found([(Code::Added, "doc/empty/file")]));
    }

    #[test]
    fn u203_size_differs() {
        let world = World::with_item();
        let path = world.in_item("doc/sub/map.tif");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_len(1000).unwrap();
        file.set_modified(time).unwrap();
        assert_eq!(world.codes(), found([(Code::SizeDiffers, "doc/sub/map.tif")]));
        assert_eq!(world.run(Depth::Quick).details(), ["1000 bytes, in the sidecar 300000"]);
    }

    #[test]
    fn u204_digest_differs() {
        for at in [0, 150_000, 299_999] {
            let world = World::with_item();
            flip(&world.in_item("doc/sub/map.tif"), at);
            assert_eq!(world.run(Depth::Quick).codes(), []);
            let told = world.run(Depth::Full);
            assert_eq!(told.codes(), found([(Code::DigestDiffers, "doc/sub/map.tif")]));
            assert_eq!(told.summary.damaged_items, 1);
        }
    }

    #[test]
    fn u205_link_missing_or_different() {
        let world = World::with_item();
        fs::remove_file(world.in_item("doc/link")).unwrap();
        assert_eq!(world.codes(), found([(Code::LinkDiffers, "doc/link")]));
        symlink("sub/map.tif", world.in_item("doc/link")).unwrap();
        assert_eq!(world.codes(), found([(Code::LinkDiffers, "doc/link")]));
    }

    #[test]
    fn u206_empty_directory_missing() {
        let world = World::with_item();
        fs::remove_dir(world.in_item("doc/empty")).unwrap();
        assert_eq!(world.codes(), found([(Code::EmptyDirectoryMissing, "doc/empty")]));
    }

    #[test]
    fn u207_kind_differs() {
        let changes: [(&str, Plant<'_>); 5] = [
            ("a FIFO where a file belongs", &|path| fifo(path)),
            ("a directory where a file belongs", &|path| fs::create_dir(path).unwrap()),
            ("a symbolic link where a file belongs", &|path| symlink("/etc/passwd", path).unwrap()),
            ("a symbolic link where a file belongs", &|path| symlink("/dev/zero", path).unwrap()),
            ("a socket where a file belongs", &|path| {
                drop(std::os::unix::net::UnixListener::bind(path).unwrap());
            }),
        ];
        for (detail, change) in changes {
            let world = World::with_item();
            let path = world.in_item("doc/report.pdf");
            fs::remove_file(&path).unwrap();
            change(&path);
            assert_eq!(world.codes(), found([(Code::KindDiffers, "doc/report.pdf")]));
            assert_eq!(world.run(Depth::Full).details(), [detail]);
        }
    }

    #[test]
    fn u207_directory_became_a_link_or_a_file() {
        let world = World::with_item();
        let outside = world.scratch.path().join("outside");
        fs::rename(world.in_item("doc/sub"), &outside).unwrap();
        symlink(&outside, world.in_item("doc/sub")).unwrap();
        let codes = [(Code::KindDiffers, "doc/sub"), (Code::FileMissing, "doc/sub/map.tif")];
        assert_eq!(world.codes(), found(codes), "the whole file behind the link is not read");
        // `doc` and the sidecar themselves.
        let world = World::with_item();
        fs::remove_dir_all(world.in_item("doc")).unwrap();
        fs::write(world.in_item("doc"), "").unwrap();
        assert_eq!(world.codes(), found([(Code::KindDiffers, "doc")]));
        fs::remove_file(world.in_item("item.toml")).unwrap();
        fifo(&world.in_item("item.toml"));
        assert_eq!(world.codes(), found([(Code::KindDiffers, "item.toml")]));
    }

    #[test]
    fn u208_unreadable() {
        for (operation, path, found_at) in [
            (Operation::Read, "doc/report.pdf", "doc/report.pdf"),
            (Operation::Open, "doc/report.pdf", "doc/report.pdf"),
            (Operation::Inspect, "doc/report.pdf", "doc/report.pdf"),
            (Operation::Inspect, "doc/link", "doc/link"),
            (Operation::Open, "doc/sub", "doc/sub"),
            (Operation::List, "doc/sub", "doc/sub"),
            (Operation::Open, "doc", "doc"),
            (Operation::List, "doc", "doc"),
            (Operation::Inspect, "doc", "doc"),
            (Operation::Open, "item.toml", "item.toml"),
            (Operation::Read, "item.toml", "item.toml"),
            (Operation::Inspect, "item.toml", "item.toml"),
            (Operation::List, "", ""),
            (Operation::Open, "", ""),
        ] {
            let world = World::with_item();
            let target = if path.is_empty() { world.path(NAME) } else { world.in_item(path) };
            let failing = on(operation, &target, || {
                Err(io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error()))
            });
            let told = world.run_watched(Depth::Full, &failing);
            let expected = found([(Code::Unreadable, found_at)]);
            assert_eq!(told.codes(), expected, "{operation:?} {path}");
            assert!(told.details()[0].contains("Input/output error"), "{:?}", told.details());
            assert!(told.summary.is_damage());
        }
    }

    /// What lies beside and after it is verified all the same.
    #[test]
    fn u208_level_that_can_not_be_listed() {
        let world = World::with_item();
        for name in ["mtc-m18/2010/01.01.00.00", "mtc-m18/2011/01.01.00.00", "zzz/2009/01.01.00.00"]
        {
            world.item(&format!("sid.inpe.br/{name}"));
        }
        world.item("zzz.br/zzz/2009/01.01.00.00");
        for (operation, level, items) in [
            (Operation::List, "sid.inpe.br/mtc-m18/2010", 4),
            (Operation::Open, "sid.inpe.br/mtc-m18/2010", 4),
            (Operation::List, "sid.inpe.br/mtc-m18", 2),
            (Operation::Open, "sid.inpe.br/mtc-m18", 2),
            (Operation::List, "sid.inpe.br", 1),
            (Operation::Open, "sid.inpe.br", 1),
            (Operation::List, "", 0),
        ] {
            let path = if level.is_empty() { world.root() } else { world.path(level) };
            let failing = on(operation, &path, || Err(io::ErrorKind::PermissionDenied.into()));
            let told = world.run_watched(Depth::Full, &failing);
            let expected = found([(Code::Unreadable, level)]);
            assert_eq!(told.codes(), expected, "{operation:?} {level}");
            assert!(told.details()[0].ends_with("; the items in it were not verified"));
            assert_eq!((told.summary.items, told.summary.unlisted), (items, true), "{level}");
            assert!(told.summary.is_damage() && !told.summary.interrupted);
        }
    }

    #[test]
    fn u209_totals_differ() {
        let edits: [Edit<'_>; 4] = [
            &|text| text.replacen("files = 2", "files = 3", 1),
            &|text| text.replacen("bytes = 300008", "bytes = 300007", 1),
            &|text| {
                let (before, after) = text.split_once("[payload]").unwrap();
                let (totals, after) = after.split_once("sha256 = \"").unwrap();
                format!("{before}[payload]{totals}sha256 = \"{:064}{}", 0, &after[64..])
            },
            // Sizes that do not add up to a number.
            &|text| text.replace("bytes = 8\n", &format!("bytes = {}\n", i64::MAX)),
        ];
        for edit in &edits[..3] {
            let world = World::with_item();
            world.edit(edit);
            assert_eq!(world.codes(), found([(Code::TotalsDiffer, "item.toml")]));
        }
        let world = World::with_item();
        for name in ["a", "b"] {
            fs::write(world.in_item("doc").join(name), "8 bytes.").unwrap();
        }
        world.seal(NAME, |_| {});
        world.edit(edits[3]);
        assert_eq!(world.codes()[0], (Code::TotalsDiffer, "item.toml".to_owned()));
    }

    #[test]
    fn u210_target_missing() {
        for (target, is_there) in [("sub/map.tif", true), ("link", true), ("sub", false)] {
            let world = World::with_item();
            let target = PayloadPath::from_text(target).unwrap();
            world.seal(NAME, |sidecar| sidecar.target = Some(target));
            let expected = [(Code::TargetMissing, "item.toml".to_owned())];
            assert_eq!(world.codes(), if is_there { &expected[..0] } else { &expected });
        }
    }

    #[test]
    fn u211_payload_missing() {
        let world = World::with_item();
        fs::remove_dir_all(world.in_item("doc")).unwrap();
        assert_eq!(world.codes(), found([(Code::PayloadMissing, "doc")]));
    }

    #[test]
    fn u212_deleted_item_with_a_payload() {
        let world = World::with_item();
        world.seal(NAME, |sidecar| sidecar.state = State::Deleted);
        assert_eq!(world.codes(), found([(Code::PayloadLeft, "doc")]));
        assert!(!world.run(Depth::Full).summary.is_damage());
        fs::remove_dir_all(world.in_item("doc")).unwrap();
        assert_eq!(world.codes(), [], "a tombstone");
        assert_eq!(world.run(Depth::Full).items[0].state, Some(State::Deleted));
    }

    #[test]
    fn u301_strays() {
        let world = World::with_item();
        let strays = [
            "sid.inpe.br/notes.txt",
            "sid.inpe.br/mtc-m18/backup",
            "sid.inpe.br/mtc-m18/2009/.DS_Store",
            "sid.inpe.br/mtc-m18/2009/02.30.00.00",
            "sid.inpe.br/mtc-m18/2009/03.01.00.00",
        ];
        for stray in strays {
            fs::write(world.path(stray), "x").unwrap();
        }
        fs::write(world.in_item("item.toml.new"), "x").unwrap();
        let mut expected = found(strays.map(|path| (Code::Stray, path)));
        expected.extend(found([(Code::Stray, "item.toml.new")]));
        assert_eq!(world.codes(), expected);
        assert_eq!(world.run(Depth::Quick).summary.warnings, 6);
    }

    #[test]
    fn u302_two_spellings() {
        let world = World::with_item();
        let other = "sid.inpe.br/MTC-m18/2009/02.16.17.46";
        world.item(other);
        world.item("SID.inpe.br/mtc-m18/2009/02.16.17.47");
        let told = world.run(Depth::Full);
        assert_eq!(told.codes(), found([(Code::TwoSpellings, ""), (Code::TwoSpellings, "")]));
        let mut details = told.details();
        details.sort_unstable();
        let detail = |name: &str| format!("it is also there as `{name}`");
        assert_eq!(details, [detail(other), detail(NAME)]);
        assert_eq!(told.summary.items, 3);
        // With a trailing dot, which is read and never written.
        let world = World::with_item();
        world.item("sid.inpe.br./mtc-m18/2009/02.16.17.46");
        flip(&world.path("sid.inpe.br./mtc-m18/2009/02.16.17.46/doc/report.pdf"), 0);
        let codes = world.run(Depth::Full).codes();
        assert_eq!(codes.iter().filter(|(code, _)| *code == Code::TwoSpellings).count(), 2);
        assert!(codes.contains(&(Code::DigestDiffers, "doc/report.pdf".to_owned())), "{codes:?}");
    }

    #[test]
    fn u303_odd_name() {
        let world = World::new();
        world.item("sid.inpe.br/ma_ria/2009/02.16.17.46");
        world.item("sid.inpe.br/ma_ria/2009/02.16.17.47");
        assert_eq!(world.codes(), found([(Code::OddName, "sid.inpe.br/ma_ria")]));
        assert_eq!(world.run(Depth::Quick).summary.notices, 1);
    }

    #[test]
    fn u304_twins() {
        let world = World::with_item();
        fs::write(world.in_item("doc/REPORT.pdf"), "x").unwrap();
        world.seal(NAME, |_| {});
        assert_eq!(world.codes(), found([(Code::Twins, "")]));
        assert!(!world.run(Depth::Quick).summary.is_damage());
    }

    #[test]
    fn u305_attributes_differ() {
        let world = World::with_item();
        let path = world.in_item("doc/report.pdf");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4600)).unwrap();
        let file = fs::File::open(world.in_item("doc/empty")).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        let expected =
            [(Code::AttributesDiffer, "doc/empty"), (Code::AttributesDiffer, "doc/report.pdf")];
        assert_eq!(world.codes(), found(expected));
        let told = world.run(Depth::Quick);
        assert!(told.details()[1].starts_with("mode 4600, in the sidecar 06"));
        assert!(!told.summary.is_damage());
        // FAT has no modes that could differ.
        let fat = Faults::new(&world.root(), usize::MAX, Mode::Killed).on(System::Mounted(0x4d44));
        let told = world.run_watched(Depth::Quick, &Watcher::new(Arc::new(fat)));
        assert_eq!(told.codes(), found([(Code::AttributesDiffer, "doc/empty")]));
    }

    #[test]
    fn u306_link_on_the_way() {
        for level in [
            "sid.inpe.br",
            "sid.inpe.br/mtc-m18",
            "sid.inpe.br/mtc-m18/2009",
            "sid.inpe.br/mtc-m18/2009/02.16.17.46",
        ] {
            let world = World::with_item();
            let outside = world.scratch.path().join("outside");
            fs::rename(world.path(level), &outside).unwrap();
            symlink(&outside, world.path(level)).unwrap();
            assert_eq!(world.codes(), found([(Code::LinkOnTheWay, level)]));
            let told = world.run(Depth::Full);
            assert_eq!(told.items.len(), 0, "what is behind the link is not read");
            assert!(told.summary.is_damage());
        }
        for inner in ["doc", "item.toml"] {
            let world = World::with_item();
            let outside = world.scratch.path().join("outside");
            fs::rename(world.in_item(inner), &outside).unwrap();
            symlink(&outside, world.in_item(inner)).unwrap();
            assert_eq!(world.codes(), found([(Code::LinkOnTheWay, inner)]));
        }
    }
}

mod hostile {
    use super::*;

    #[test]
    fn names_of_any_bytes_are_compared_losslessly() {
        let world = World::with_item();
        for name in [&b"caf\xe9"[..], b"back\\slash", b"new\nline", b"\x1b[2J", b"-rf"] {
            let name = std::ffi::OsStr::from_bytes(name);
            fs::write(world.in_item("doc").join(name), "x").unwrap();
        }
        world.seal(NAME, |_| {});
        assert_eq!(world.codes(), []);
        let odd = world.in_item("doc").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
        flip(&odd, 0);
        let told = world.run(Depth::Full);
        let place = told.items[0].findings.as_slice()[0].place.to_path();
        assert_eq!(place.as_os_str().as_bytes(), b"doc/caf\xe9");
    }

    /// A file and something below it: no tree can be both.
    #[test]
    fn entries_that_contradict_each_other() {
        let world = World::with_item();
        world.seal(NAME, |sidecar| {
            let mut below = sidecar.files[3].clone();
            assert_eq!(below.path.to_text(), "sub/map.tif");
            below.path = PayloadPath::from_text("report.pdf/below").unwrap();
            sidecar.files.insert(3, below);
            sidecar.payload = Totals::of(&sidecar.files);
        });
        assert_eq!(world.codes(), found([(Code::FileMissing, "doc/report.pdf/below")]));
    }

    #[test]
    fn deep_trees_neither_overflow_nor_open_many_descriptors() {
        let world = World::with_item();
        let mut path = world.in_item("doc");
        // As deep as a path can name it.
        while path.as_os_str().len() < 4000 {
            path.push("d");
            fs::create_dir(&path).unwrap();
        }
        assert!(path.components().count() > 1900);
        assert_eq!(world.codes(), found([(Code::Added, "doc/d")]));
        fs::write(path.join("f"), "deep").unwrap();
        world.seal(NAME, |_| {});
        assert_eq!(world.codes(), []);
    }

    #[test]
    fn a_flood_of_files_is_counted_and_does_not_hide_damage() {
        let world = World::with_item();
        for number in 0..3000 {
            fs::write(world.in_item(&format!("doc/{number}")), "").unwrap();
        }
        for number in 0..1500 {
            fs::write(world.in_item(&format!("stray-{number}")), "").unwrap();
        }
        let told = world.run(Depth::Full);
        let findings = &told.items[0].findings;
        assert_eq!(findings.as_slice().len(), 2000);
        assert_eq!(findings.omitted(), 2500);
        assert_eq!(findings.count(Severity::Damage), 3000);
    }

    #[test]
    fn a_prefix_that_was_asked_for_is_all_that_is_looked_at() {
        let world = World::with_item();
        world.item("sid.inpe.br/mtc-m19/2009/02.16.17.46");
        flip(&world.path("sid.inpe.br/mtc-m19/2009/02.16.17.46/doc/report.pdf"), 0);
        let name: RepositoryName = NAME.parse().unwrap();
        let names = Names { prefix: Some(name.prefix()) };
        let collection = world.open(&Watcher::default());
        let options = Options { depth: Depth::Full, jobs: 2 };
        let told = run(&collection, Scope::All(&names), options);
        assert_eq!((told.codes(), told.summary.items), (vec![], 1));
    }
}

mod running {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("{NAME}.{:02}.{at:09}", at % 60)).collect()
    }

    fn many(count: usize) -> (World, Vec<String>) {
        let world = World::new();
        let mut names = names(count);
        for name in &names {
            world.small_item(name);
        }
        names.sort();
        (world, names)
    }

    #[test]
    fn reports_come_in_the_order_of_names_whatever_the_threads_do() {
        let (world, names) = many(700);
        // One large item in the middle takes longer than those around it.
        let large = world.path(&names[300]).join("doc/large");
        fs::write(&large, vec![1; 8 << 20]).unwrap();
        world.seal(&names[300], |_| {});
        let collection = world.open(&Watcher::default());
        for jobs in [1, 2, 8] {
            let options = Options { depth: Depth::Full, jobs };
            let told = run(&collection, Scope::All(&Names::default()), options);
            assert_eq!(told.codes(), []);
            let found: Vec<_> = told.items.iter().map(|item| item.name.as_str()).collect();
            assert_eq!(found, names);
        }
    }

    /// Far more items than may be under way, so that every channel is full when the end comes.
    #[test]
    fn it_ends_whoever_goes_away() {
        let (world, _) = many(1000);
        let collection = world.open(&Watcher::default());
        let options = Options { depth: Depth::Full, jobs: 2 };
        let interrupt = Interrupt::default();
        let mut count = 0;
        let names = Names::default();
        let summary =
            verify(&collection, Scope::All(&names), options, &NoProgress, &interrupt, |_| {
                count += 1;
                if count == 20 {
                    interrupt.request();
                }
                ControlFlow::Continue(())
            });
        let summary = summary.unwrap();
        assert!(summary.interrupted && (20..1000).contains(&count), "{count}");
        assert_eq!(summary.items, count, "what was reported is what was counted");

        let go_on = Interrupt::default();
        let scope = Scope::All(&names);
        let summary =
            verify(&collection, scope, options, &NoProgress, &go_on, |_| ControlFlow::Break(()));
        assert_eq!((summary.unwrap().items, go_on.requested()), (1, false));

        let panicking = panics(|| {
            let scope = Scope::All(&names);
            verify(&collection, scope, options, &NoProgress, &go_on, |_| panic!("nobody listens"))
                .unwrap();
        });
        assert!(panicking);
    }

    #[test]
    fn a_panic_of_a_worker_is_passed_on() {
        let (world, names) = many(1000);
        let fatal = world.path(&names[100]).join("doc/report.pdf");
        let watcher = on(Operation::Read, &fatal, || panic!("a bug in a worker"));
        let collection = world.open(&watcher);
        let outcome = panics(|| {
            let options = Options { depth: Depth::Full, jobs: 2 };
            run(&collection, Scope::All(&Names::default()), options);
        });
        assert!(outcome);
    }

    fn panics(act: impl FnOnce()) -> bool {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)).is_err()
    }

    /// What `delete` does, between the reading of the sidecar and that of the payload.
    #[test]
    fn an_item_deleted_meanwhile_is_looked_at_again() {
        let world = World::with_item();
        let tombstone = {
            let other = World::with_item();
            other.seal(NAME, |sidecar| sidecar.state = State::Deleted);
            fs::read(other.in_item("item.toml")).unwrap()
        };
        let (doc, staged) = (world.in_item("doc"), world.in_item("item.toml.new"));
        let sidecar = world.in_item("item.toml");
        let delete = on(Operation::Inspect, &doc.clone(), move || {
            if doc.exists() {
                fs::write(&staged, &tombstone).unwrap();
                fs::rename(&staged, &sidecar).unwrap();
                fs::remove_dir_all(&doc).unwrap();
            }
            Ok(())
        });
        let collection = world.open(&delete);
        let options = Options { depth: Depth::Full, jobs: 1 };
        let told = run(&collection, Scope::All(&Names::default()), options);
        assert_eq!(told.codes(), []);
        assert_eq!(told.items[0].state, Some(State::Deleted));
    }

    #[test]
    fn an_interrupted_item_has_no_report() {
        let world = World::with_item();
        let collection = world.open(&Watcher::default());
        let item = collection.item(&NAME.parse().unwrap()).unwrap();
        let interrupt = Interrupt::default();
        let report = verify_item(&item, Depth::Full, &NoProgress, &interrupt).unwrap();
        assert_eq!((report.files, report.bytes), (2, 300_008));
        interrupt.request();
        assert!(verify_item(&item, Depth::Full, &NoProgress, &interrupt).is_none());
    }
}

struct On<F> {
    operation: Operation,
    path: PathBuf,
    act: F,
}

impl<F: Fn() -> io::Result<()> + Send + Sync> Watch for On<F> {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == self.operation && path == self.path { (self.act)() } else { Ok(()) }
    }
}

/// Does `act` in place of `operation` on `path`, or before it.
fn on(
    operation: Operation,
    path: &Path,
    act: impl Fn() -> io::Result<()> + Send + Sync + 'static,
) -> Watcher {
    Watcher::new(Arc::new(On { operation, path: path.to_path_buf(), act }))
}
