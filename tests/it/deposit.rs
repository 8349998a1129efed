//! What a deposit keeps, refuses and leaves behind.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use urepo::collection::Collection;
use urepo::deposit::{CollisionRule, DepositError, Deposited, Options, Source, SourceRule};
use urepo::disk::{FileFault, Links, Operation, Watch, Watcher};
use urepo::item::PayloadPath;

use crate::support::{
    TestClock, deposit, make_collection, options, request, scratch, staged, tree, whole_items,
};

mod attributes;
mod leaving_out;
mod links;
mod moving;
mod streams;

struct Place {
    scratch: tempfile::TempDir,
    collection: Collection,
    clock: TestClock,
}

impl Place {
    fn new() -> Place {
        let scratch = scratch();
        let collection = make_collection(&scratch.path().join("archive"));
        Place { scratch, collection, clock: TestClock::at("2026-11-21T02:13:00Z") }
    }

    fn source(&self, name: &str) -> PathBuf {
        let path = self.scratch.path().join("sources").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn deposit_with(&self, path: &Path, options: Options) -> Result<Deposited, DepositError> {
        self.request(vec![request(path)], options)
    }

    fn request(
        &self,
        requests: Vec<urepo::deposit::Request>,
        options: Options,
    ) -> Result<Deposited, DepositError> {
        let (mut outcomes, summary) =
            deposit(&self.collection, requests, options, &self.clock, |_| ())?;
        assert_eq!(staged(self.collection.path()), [""; 0]);
        if let Some(error) = summary.fatal {
            return Err(error);
        }
        outcomes.remove(0).result
    }

    fn deposit(&self, path: &Path) -> Result<Deposited, DepositError> {
        self.deposit_with(path, options())
    }

    fn payload(&self, deposited: &Deposited) -> PathBuf {
        self.collection.item(&deposited.label.name).unwrap().payload_path()
    }

    #[track_caller]
    fn refuses(&self, path: &Path, expected: &str) {
        let error = self.deposit(path).unwrap_err().to_string();
        let error = error.replace(&self.scratch.path().display().to_string(), "");
        assert_eq!(error, expected);
        assert_eq!(whole_items(&self.collection), [""; 0]);
    }
}

#[test]
fn keeps_bytes_names_modes_times_links_and_empty_directories() {
    let place = Place::new();
    let source = place.source("dir");
    std::fs::create_dir_all(source.join("sub/empty")).unwrap();
    std::fs::create_dir_all(source.join("locked")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"odd \xff\n'\\ name");
    std::fs::write(source.join(odd), "odd").unwrap();
    std::fs::write(source.join("sub/zero"), "").unwrap();
    std::fs::write(source.join("locked/f"), vec![1; 400_000]).unwrap();
    symlink("../sub/zero", source.join("locked/link")).unwrap();
    symlink("nowhere", source.join("dangling")).unwrap();
    let set = |path: &Path, mode: u32, seconds: u64| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, 123_456_789);
        std::fs::File::open(path).unwrap().set_modified(time).unwrap();
    };
    set(&source.join("locked/f"), 0o640, 1_000_000_000);
    set(&source.join("sub/zero"), 0o444, 1);
    set(&source.join("sub/empty"), 0o711, 2_000_000_000);
    set(&source.join("sub"), 0o750, 1_500_000_000);
    set(&source.join("locked"), 0o555, 1_600_000_000);
    set(&source, 0o755, 1_700_000_000);

    let deposited = place.deposit(&source).unwrap();
    let payload = place.payload(&deposited);
    assert_eq!(tree(&payload), tree(&source));
    for path in ["", "sub", "sub/zero", "sub/empty", "locked", "locked/f"] {
        let [kept, original] =
            [&payload, &source].map(|root| std::fs::symlink_metadata(root.join(path)).unwrap());
        assert_eq!(kept.mode(), original.mode(), "{path}");
        assert_eq!(kept.modified().unwrap(), original.modified().unwrap(), "{path}");
    }
    assert_eq!(whole_items(&place.collection).len(), 1);
    assert_eq!(deposited.payload.files, 3);
    let (sidecar, _) = place.collection.item(&deposited.label.name).unwrap().sidecar().unwrap();
    let paths: Vec<_> = sidecar.files.iter().map(|entry| entry.path.to_string()).collect();
    let expected =
        ["dangling", "locked/f", "locked/link", "odd \\xff\n'\\\\ name", "sub/empty", "sub/zero"];
    assert_eq!(paths, expected);
}

#[test]
fn several_paths_lie_side_by_side_under_their_names() {
    let place = Place::new();
    std::fs::create_dir_all(place.source("dir/inner")).unwrap();
    std::fs::write(place.source("dir/inner/a"), "a").unwrap();
    std::fs::write(place.source("b.txt"), "b").unwrap();
    let paths = vec![place.source("dir"), place.source("b.txt")];
    let mut together = request("");
    together.source = Source::Together(paths);
    together.target = Some(PayloadPath::from_text("dir/inner/a").unwrap());
    let deposited = place.request(vec![together], options()).unwrap();
    let payload = place.payload(&deposited);
    assert_eq!(tree(&payload), ["b.txt 1", "dir/", "dir/inner/", "dir/inner/a 1"]);
    let (sidecar, _) = place.collection.item(&deposited.label.name).unwrap().sidecar().unwrap();
    assert_eq!(sidecar.target.unwrap().to_string(), "dir/inner/a");
}

#[test]
fn links_out_of_the_payload_are_refused_or_followed() {
    let place = Place::new();
    std::fs::write(place.source("secret"), "secret").unwrap();
    std::fs::create_dir_all(place.source("dir/sub")).unwrap();
    symlink("../../secret", place.source("dir/sub/link")).unwrap();
    place.refuses(
        &place.source("dir"),
        "the link `/sources/dir/sub/link` leads out of the item, to `../../secret`",
    );
    let follow = Options { links: Links::Follow, ..options() };
    let deposited = place.deposit_with(&place.source("dir"), follow).unwrap();
    assert_eq!(tree(&place.payload(&deposited)), ["sub/", "sub/link 6"]);
}

#[test]
fn a_source_that_is_a_link_is_refused_or_followed() {
    let place = Place::new();
    std::fs::write(place.source("file"), "1").unwrap();
    symlink("file", place.source("link")).unwrap();
    place.refuses(&place.source("link"), "`/sources/link` is a symbolic link");
    let follow = Options { links: Links::Follow, ..options() };
    place.deposit_with(&place.source("link"), follow).unwrap();
    let refuse = Options { links: Links::Refuse, ..options() };
    std::fs::create_dir(place.source("dir")).unwrap();
    symlink("b", place.source("dir/a")).unwrap();
    let error = place.deposit_with(&place.source("dir"), refuse).unwrap_err();
    assert!(matches!(&error, DepositError::Links(links) if links.count == 1), "{error}");
}

/// A link that leads back up is a loop when links are followed, and is told as one.
#[test]
fn a_loop_of_links_is_told() {
    let place = Place::new();
    std::fs::create_dir_all(place.source("dir/sub")).unwrap();
    symlink("..", place.source("dir/sub/up")).unwrap();
    let follow = Options { links: Links::Follow, ..options() };
    let error = place.deposit_with(&place.source("dir"), follow).unwrap_err();
    assert!(error.to_string().ends_with("sub/up` leads in a circle, by `..`"), "{error}");
}

#[test]
fn what_is_no_file_is_refused_by_name() {
    let place = Place::new();
    std::fs::create_dir_all(place.source("dir")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.source("dir/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let told = "`/sources/dir/pipe` is a FIFO, which cannot be deposited";
    place.refuses(&place.source("dir"), told);
    place.refuses(&place.source("dir/pipe"), told);
    let _socket = std::os::unix::net::UnixListener::bind(place.source("socket")).unwrap();
    place.refuses(
        &place.source("socket"),
        "`/sources/socket` is a socket, which cannot be deposited",
    );
    place.refuses(
        Path::new("/dev/null"),
        "`/dev/null` is a character device, which cannot be deposited",
    );
}

#[test]
fn twins_are_refused_unless_wanted() {
    let place = Place::new();
    std::fs::create_dir_all(place.source("dir")).unwrap();
    std::fs::write(place.source("dir/Readme"), "1").unwrap();
    std::fs::write(place.source("dir/README"), "2").unwrap();
    place.refuses(
        &place.source("dir"),
        "`README` and `Readme` in `/sources/dir` are one name on some file systems",
    );
    let keep = Options { twins: CollisionRule::Keep, ..options() };
    place.deposit_with(&place.source("dir"), keep).unwrap();
}

#[test]
fn source_and_collection_must_lie_apart() {
    let place = Place::new();
    let inside = place.collection.path().join("a");
    std::fs::write(&inside, "1").unwrap();
    place.refuses(&inside, "`/archive/a` lies in the collection `/archive`, but is not an item");
    std::fs::remove_file(&inside).unwrap();
    let error = place.deposit(place.scratch.path()).unwrap_err();
    assert!(matches!(error, DepositError::HoldsCollection { .. }), "{error}");
}

#[test]
fn special_modes_are_dropped_and_counted() {
    let place = Place::new();
    std::fs::create_dir_all(place.source("dir")).unwrap();
    std::fs::write(place.source("dir/run"), "#!").unwrap();
    std::fs::set_permissions(place.source("dir/run"), PermissionsExt::from_mode(0o4755)).unwrap();
    let deposited = place.deposit(&place.source("dir")).unwrap();
    assert_eq!(deposited.lost.special_modes, 1);
    let kept = std::fs::metadata(place.payload(&deposited).join("run")).unwrap();
    assert_eq!(kept.mode() & 0o7777, 0o755);
}

/// Changes a file each time it is read, up to so many times.
struct Meddler {
    path: PathBuf,
    times: AtomicUsize,
    change: fn(&Path),
}

impl Watch for Meddler {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let left = |left: usize| left.checked_sub(1);
        if operation == Operation::Read
            && path == self.path
            && self.times.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok()
        {
            (self.change)(path);
        }
        Ok(())
    }
}

fn deposit_meddled(times: usize, change: fn(&Path)) -> (Place, Result<Deposited, DepositError>) {
    let mut place = Place::new();
    let path = place.source("file");
    std::fs::write(&path, vec![5; 300_000]).unwrap();
    let meddler = Meddler { path: path.clone(), times: AtomicUsize::new(times), change };
    let watcher = Watcher::new(Arc::new(meddler));
    place.collection = Collection::open(place.collection.path(), &watcher).unwrap();
    let result = place.deposit(&path);
    (place, result)
}

fn truncate(path: &Path) {
    std::fs::File::options().write(true).open(path).unwrap().set_len(100).unwrap();
}

fn append(path: &Path) {
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, b"more").unwrap();
}

#[test]
fn a_file_that_changes_once_is_read_again() {
    for change in [truncate, append] {
        let (place, result) = deposit_meddled(1, change);
        let deposited = result.unwrap();
        assert_eq!(whole_items(&place.collection).len(), 1);
        let source = std::fs::read(place.source("file")).unwrap();
        assert_eq!(std::fs::read(place.payload(&deposited).join("file")).unwrap(), source);
    }
}

#[test]
fn a_file_that_keeps_changing_is_refused() {
    let (place, result) = deposit_meddled(usize::MAX, append);
    let error = result.unwrap_err();
    assert!(matches!(error, DepositError::File(FileFault::Changing(_))), "{error}");
    assert_eq!(whole_items(&place.collection), [""; 0]);
}

#[test]
fn moving_removes_the_source_once_the_item_is_proven() {
    let place = Place::new();
    std::fs::create_dir_all(place.source("dir/sub/empty")).unwrap();
    std::fs::write(place.source("dir/sub/a"), "a").unwrap();
    symlink("sub/a", place.source("dir/l")).unwrap();
    let remove = Options { sources: SourceRule::Remove, ..options() };
    let deposited = place.deposit_with(&place.source("dir"), remove).unwrap();
    assert_eq!(deposited.left, [""; 0]);
    assert!(!place.source("dir").exists());
    assert_eq!(whole_items(&place.collection).len(), 1);
}

/// Damages every file that is put into the collection, behind urepo's back, once it is synced.
struct Rot {
    root: PathBuf,
}

impl Watch for Rot {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::SyncDirectory && path.starts_with(self.root.join("example.org"))
        {
            for entry in walkdir::WalkDir::new(path) {
                let entry = entry.unwrap();
                if entry.file_name() == "a" {
                    std::fs::write(entry.path(), "b").unwrap();
                }
            }
        }
        Ok(())
    }
}

#[test]
fn a_source_is_not_removed_when_the_item_does_not_read_back() {
    let mut place = Place::new();
    std::fs::write(place.source("a"), "a").unwrap();
    let root = place.collection.path().to_path_buf();
    let watcher = Watcher::new(Arc::new(Rot { root: root.clone() }));
    place.collection = Collection::open(&root, &watcher).unwrap();
    let remove = Options { sources: SourceRule::Remove, ..options() };
    let deposited = place.deposit_with(&place.source("a"), remove).unwrap();
    assert_eq!(
        deposited.left,
        ["the item does not read back as it was written: bytes are not those deposited, `doc/a`"]
    );
    assert_eq!(std::fs::read(place.source("a")).unwrap(), b"a");
}

#[test]
fn many_items_keep_their_order_and_share_few_syncs() {
    let place = Place::new();
    let paths: Vec<_> = (0..300).map(|at| place.source(&format!("{at:03}"))).collect();
    for path in &paths {
        std::fs::write(path, path.as_os_str().as_bytes()).unwrap();
    }
    let requests = paths.iter().map(request).collect();
    let options = Options { jobs: 2, ..options() };
    let (outcomes, summary) =
        deposit(&place.collection, requests, options, &place.clock, |_| ()).unwrap();
    assert!(summary.fatal.is_none());
    let mut last = None;
    for (outcome, path) in outcomes.iter().zip(&paths) {
        assert_eq!(outcome.source, path.display().to_string());
        let name = &outcome.result.as_ref().unwrap().label.name;
        assert!(last.as_ref() < Some(name), "names in the order of their sources");
        last = Some(name.clone());
    }
    assert_eq!(whole_items(&place.collection).len(), 300);
}

#[test]
fn a_failed_item_does_not_stop_the_others_unless_asked() {
    let place = Place::new();
    for name in ["a", "c"] {
        std::fs::write(place.source(name), name).unwrap();
    }
    let requests =
        || ["a", "b", "c"].map(|name| request(place.source(name))).into_iter().collect::<Vec<_>>();
    let (outcomes, summary) =
        deposit(&place.collection, requests(), options(), &place.clock, |_| ()).unwrap();
    let well: Vec<_> = outcomes.iter().map(|outcome| outcome.result.is_ok()).collect();
    assert_eq!((well, summary.deposited, summary.failed), (vec![true, false, true], 2, 1));
}

/// A link planted where the item is to go is not followed.
#[test]
fn a_link_at_the_destination_is_refused() {
    for planted in ["example.org", "example.org/archive", "example.org/archive/2026"] {
        let place = Place::new();
        std::fs::write(place.source("a"), "a").unwrap();
        let elsewhere = place.scratch.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let link = place.collection.path().join(planted);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&elsewhere, &link).unwrap();
        assert!(place.deposit(&place.source("a")).is_err(), "{planted}");
        assert_eq!(tree(&elsewhere), [""; 0], "{planted}");
    }
}
