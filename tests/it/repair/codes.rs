//! Each code of verification that can be mended: found, mended, and then nothing is found any more.

mod plans;

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use urepo::disk::{Operation, Watch, Watcher};
use urepo::repair::{EntrySource, Options, Outcome, RepairError, Repairer};
use urepo::verify::Code;

use super::{Pair, digests_below, flip, mended};
use crate::support::{mounted, waiter};

/// Plants a fault in the item in `a`, which has to be found as `code`, and mends it.
#[track_caller]
fn mends(code: Code, plant: impl FnOnce(&Path)) -> Pair {
    let pair = Pair::new();
    let before = pair.sidecar("a");
    plant(&pair.item("a"));
    assert!(pair.codes().contains(&code), "{code}: {:?}", pair.codes());
    let plan = pair.plan(&["b"]).expect("a plan");
    assert_eq!(mended(pair.repair(&["b"])), plan);
    assert_eq!(pair.codes(), [], "{code}");
    assert_eq!(crate::support::staged(&pair.root("a")), [""; 0], "{code}");
    // The title is the item's own, whatever became of the sidecar.
    let after = pair.sidecar("a");
    assert_eq!((after.state, &after.files), (before.state, &before.files), "{code}");
    assert_eq!(after.origin, before.origin, "{code}");
    assert_eq!(pair.repair(&["b"]).unwrap(), Outcome::Sound, "{code}");
    pair
}

#[test]
fn u101_sidecar_missing() {
    mends(Code::SidecarMissing, |item| fs::remove_file(item.join("item.toml")).unwrap());
}

#[test]
fn u102_sidecar_unreadable() {
    mends(Code::SidecarUnreadable, |item| fs::write(item.join("item.toml"), "rot\n").unwrap());
    mends(Code::SidecarUnreadable, |item| {
        fs::write(item.join("item.toml"), [0xff; 4096]).unwrap();
    });
}

#[test]
fn u103_seal_broken() {
    let pair = mends(Code::SealBroken, |item| {
        let path = item.join("item.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("# by hand\n{}", text.replace("A report", "My report"))).unwrap();
    });
    assert_eq!(pair.sidecar("a").metadata.title(), Some("A report"));
}

#[test]
fn u104_seal_missing() {
    mends(Code::SealMissing, |item| {
        let path = item.join("item.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.split("[seal]").next().unwrap()).unwrap();
    });
}

#[test]
fn u105_other_item() {
    mends(Code::OtherItem, |item| {
        let path = item.join("item.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace("/11.21.02.13\"", "/11.21.02.14\"")).unwrap();
    });
}

#[test]
fn u201_file_missing() {
    let pair = mends(Code::FileMissing, |item| fs::remove_file(item.join("doc/a.txt")).unwrap());
    assert_eq!(fs::read(pair.item("a").join("doc/a.txt")).unwrap(), b"alpha");
    mends(Code::FileMissing, |item| fs::remove_dir_all(item.join("doc/sub")).unwrap());
}

#[test]
fn u202_added() {
    let pair = mends(Code::Added, |item| {
        fs::write(item.join("doc/added"), "not to be lost").unwrap();
        fs::create_dir(item.join("doc/more")).unwrap();
        fs::write(item.join("doc/more/deep"), "nor this").unwrap();
    });
    for lost in ["not to be lost", "nor this"] {
        assert!(pair.trashed().contains(&urepo::digest::Digest::of(lost.as_bytes())), "{lost}");
    }
    // Recovery is no purge.
    let clock = crate::support::TestClock::at("2026-11-22T00:00:00Z");
    let before = pair.trashed();
    let (agent, wait) = (crate::support::agent(), crate::support::PATIENCE);
    urepo::collection::recover(&pair.open("a"), &agent, &waiter(&clock).up_to(wait)).unwrap();
    assert_eq!(pair.trashed(), before);
    assert_eq!(pair.codes(), []);
}

#[test]
fn u203_size_differs() {
    mends(Code::SizeDiffers, |item| fs::write(item.join("doc/a.txt"), "").unwrap());
}

#[test]
fn u204_digest_differs() {
    let pair = mends(Code::DigestDiffers, |item| flip(&item.join("doc/sub/b.bin")));
    // What it had become is looked at by whoever wants to know why.
    assert_eq!(digests_below(&pair.root("a").join(".urepo/trash"), |_| true).len(), 4);
}

#[test]
fn u205_link_differs() {
    mends(Code::LinkDiffers, |item| fs::remove_file(item.join("doc/link")).unwrap());
    mends(Code::LinkDiffers, |item| {
        fs::remove_file(item.join("doc/link")).unwrap();
        symlink("/etc/passwd", item.join("doc/link")).unwrap();
    });
}

#[test]
fn u206_empty_directory_missing() {
    mends(Code::EmptyDirectoryMissing, |item| fs::remove_dir(item.join("doc/sub/empty")).unwrap());
}

#[test]
fn u207_kind_differs() {
    mends(Code::KindDiffers, |item| {
        fs::remove_file(item.join("doc/a.txt")).unwrap();
        fs::create_dir(item.join("doc/a.txt")).unwrap();
        fs::write(item.join("doc/a.txt/inside"), "?").unwrap();
    });
    mends(Code::KindDiffers, |item| {
        fs::remove_dir_all(item.join("doc/sub")).unwrap();
        fs::write(item.join("doc/sub"), "a file").unwrap();
    });
    mends(Code::KindDiffers, |item| {
        fs::remove_dir_all(item.join("doc")).unwrap();
        fs::write(item.join("doc"), "a file").unwrap();
    });
    mends(Code::KindDiffers, |item| {
        fs::remove_file(item.join("doc/a.txt")).unwrap();
        symlink("c.txt", item.join("doc/a.txt")).unwrap();
    });
    mends(Code::KindDiffers, |item| {
        fs::remove_file(item.join("doc/a.txt")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, item.join("doc/a.txt"), fifo, mode, 0).unwrap();
    });
}

/// Refuses to read one file, as a disk with a bad sector does.
struct BadSector(PathBuf);

impl Watch for BadSector {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::Read && path == self.0 {
            return Err(rustix::io::Errno::IO.into());
        }
        Ok(())
    }
}

#[test]
fn u208_unreadable() {
    for (file, code) in [("doc/sub/b.bin", Code::Unreadable), ("item.toml", Code::Unreadable)] {
        let pair = Pair::new();
        let before = pair.sidecar("a");
        let bad = BadSector(pair.item("a").join(file));
        let watcher = Watcher::new(Arc::new(bad));
        assert!(pair.codes_with(&watcher).contains(&code));
        // The bad sector goes with the old file; the path of the new one is another disk's.
        let outcome = pair.repair_with(&["b"], Options::default(), &watcher);
        if file == "item.toml" {
            // Its name is the same in its place, where it is looked at once more.
            assert!(super::faults::is_told(&outcome), "{outcome:?}");
        } else {
            assert_eq!(mended(outcome).count(EntrySource::Donor(0)), 1);
        }
        assert_eq!(pair.codes(), []);
        assert_eq!(pair.sidecar("a"), before);
    }
}

#[test]
fn u209_totals_differ() {
    let pair = Pair::new();
    let before = pair.sidecar("a");
    pair.change("a", |sidecar| sidecar.payload.bytes += 1);
    assert_eq!(pair.codes(), [Code::TotalsDiffer]);
    mended(pair.repair(&["b"]));
    assert_eq!((pair.codes(), pair.sidecar("a")), (vec![], before));
}

#[test]
fn u210_target_missing() {
    let pair = Pair::new();
    let before = pair.sidecar("a");
    let missing = urepo::item::PayloadPath::from_text("missing").unwrap();
    pair.change("a", |sidecar| sidecar.target = Some(missing));
    assert_eq!(pair.codes(), [Code::TargetMissing]);
    mended(pair.repair(&["b"]));
    assert_eq!((pair.codes(), pair.sidecar("a")), (vec![], before));
}

#[test]
fn u211_payload_missing() {
    mends(Code::PayloadMissing, |item| fs::remove_dir_all(item.join("doc")).unwrap());
}

#[test]
fn u301_stray() {
    let pair = mends(Code::Stray, |item| fs::write(item.join("notes"), "a stray").unwrap());
    assert!(pair.trashed().contains(&urepo::digest::Digest::of(b"a stray")));
}

#[test]
fn u305_attributes_differ() {
    mends(Code::AttributesDiffer, |item| {
        let mode = fs::Permissions::from_mode(0o600);
        fs::set_permissions(item.join("doc/a.txt"), mode).unwrap();
        let file = fs::File::open(item.join("doc/sub/b.bin")).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        fs::File::open(item.join("doc/sub/empty"))
            .unwrap()
            .set_modified(std::time::UNIX_EPOCH)
            .unwrap();
    });
}

/// What a file system rounds is not repaired again and again.
#[test]
fn u305_is_not_repaired_where_a_file_system_does_not_keep_it() {
    let pair = Pair::new();
    for path in ["doc/a.txt", "doc/sub/b.bin", "doc/sub/empty"] {
        let file = fs::File::open(pair.item("a").join(path)).unwrap();
        let since = file.metadata().unwrap().modified().unwrap();
        let seconds = since.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let whole = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        file.set_modified(whole).unwrap();
    }
    let plan = |magic| {
        let examine = |repairer: &Repairer<'_>| repairer.examine(&pair.name);
        pair.with_repairer(&["b"], Options::default(), &mounted(magic), examine).unwrap()
    };
    let steps = plan(0xef53).unwrap().steps;
    assert!(steps.iter().all(|step| step.source == EntrySource::OwnAttributes), "{steps:?}");
    for magic in [0x2011_bab0, 0x6573_5546] {
        assert_eq!(plan(magic), None, "{magic:#x}");
    }
}

#[test]
fn u306_link_on_the_way() {
    let outside = crate::support::scratch();
    fs::write(outside.path().join("a.txt"), "not ours").unwrap();
    mends(Code::LinkOnTheWay, |item| {
        fs::remove_dir_all(item.join("doc")).unwrap();
        symlink(outside.path(), item.join("doc")).unwrap();
    });
    mends(Code::LinkOnTheWay, |item| {
        fs::rename(item.join("item.toml"), item.join("doc/c.toml")).unwrap();
        symlink("doc/c.toml", item.join("item.toml")).unwrap();
    });
    assert_eq!(fs::read(outside.path().join("a.txt")).unwrap(), b"not ours");
}

/// Looks at the item before each operation, as a reader at any moment would find it.
struct Reader {
    item: PathBuf,
    seen: Mutex<Vec<(Vec<u8>, bool)>>,
}

impl Watch for Reader {
    fn before(&self, _: Operation, _: &Path) -> io::Result<()> {
        let text = fs::read(self.item.join("doc/a.txt")).unwrap();
        let found = (text, self.item.join("doc/sub/b.bin").exists());
        let mut seen = self.seen.lock().unwrap();
        if seen.last() != Some(&found) {
            seen.push(found);
        }
        Ok(())
    }
}

#[test]
fn a_reader_finds_the_old_item_or_the_new_one() {
    let pair = Pair::new();
    let doc = pair.item("a").join("doc");
    fs::write(doc.join("a.txt"), "old").unwrap();
    fs::remove_file(doc.join("sub/b.bin")).unwrap();
    let reader = Arc::new(Reader { item: pair.item("a"), seen: Mutex::default() });
    let watcher = Watcher::new(Arc::clone(&reader) as _);
    mended(pair.repair_with(&["b"], Options::default(), &watcher));
    let seen = reader.seen.lock().unwrap();
    assert_eq!(*seen, [(b"old".to_vec(), false), (b"alpha".to_vec(), true)]);
}
