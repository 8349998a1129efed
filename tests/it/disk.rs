//! Operations on directories: nothing passes a link, however it came there, on whatever system.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use urepo::disk::{Dir, Operation, PathError, Watch, Watcher};

use crate::support::{Faults, Mode, System, Trace, scratch, tree};

/// The directory at `path` on `system`.
fn open(path: &Path, system: System) -> Dir {
    let faults = Faults::new(path, usize::MAX, Mode::Killed).on(system);
    Dir::open(path, Watcher::new(Arc::new(faults))).unwrap()
}

const SYSTEMS: [System; 4] = [System::Own, System::Network, System::Old, System::Many];

type Act = fn(&Dir, &Path) -> Result<(), PathError>;

/// Each operation, on a path that passes the link.
const OPERATIONS: &[(&str, Act)] = &[
    ("open_dir", |dir, link| dir.open_dir(link.join("sub")).map(drop)),
    ("open_file", |dir, link| dir.open_file(link.join("file")).map(drop)),
    ("open_lock_file", |dir, link| dir.open_lock_file(link.join("lock")).map(drop)),
    ("create_file", |dir, link| dir.create_file(link.join("new")).map(drop)),
    ("make_dir", |dir, link| dir.make_dir(link.join("new"))),
    ("make_private_dir", |dir, link| dir.make_private_dir(link.join("new"))),
    ("make_link", |dir, link| dir.make_link(OsStr::new("x"), &link.join("new"))),
    ("read_link", |dir, link| dir.read_link(&link.join("link")).map(drop)),
    ("stamp", |dir, link| dir.stat(link.join("file")).map(drop)),
    ("set_attributes_at", |dir, link| {
        dir.set_attributes_at(&link.join("sub"), dir.own_stat()?.attributes())
    }),
    ("set_attributes_at the link", |dir, link| {
        dir.set_attributes_at(link, dir.own_stat()?.attributes())
    }),
    ("set_link_time", |dir, link| dir.set_link_time(&link.join("link"), dir.own_stat()?.modified)),
    ("remove_file", |dir, link| dir.remove_file(&link.join("file"))),
    ("remove_dir", |dir, link| dir.remove_dir(&link.join("empty"))),
    ("remove_tree", |dir, link| dir.remove_tree(&link.join("sub"))),
    ("rename_new from", |dir, link| dir.rename_new(&link.join("file"), dir, Path::new("new"))),
    ("rename_new to", |dir, link| dir.rename_new(Path::new("own"), dir, &link.join("new"))),
    ("rename_over from", |dir, link| dir.rename_over(&link.join("file"), dir, Path::new("own"))),
    ("rename_over to", |dir, link| dir.rename_over(Path::new("own"), dir, &link.join("file"))),
    ("exchange", |dir, link| dir.exchange(Path::new("own"), dir, &link.join("file")).map(drop)),
    ("link_file from", |dir, link| {
        dir.link_file(&link.join("file"), dir, Path::new("new")).map(drop)
    }),
    ("link_file to", |dir, link| dir.link_file(Path::new("own"), dir, &link.join("new")).map(drop)),
];

#[test]
fn no_operation_passes_a_link() {
    let scratch = scratch();
    let (root, outside) = (scratch.path().join("root"), scratch.path().join("outside"));
    fs::create_dir_all(root.join("way")).unwrap();
    fs::write(root.join("own"), "own").unwrap();
    fs::create_dir_all(outside.join("sub/below")).unwrap();
    fs::create_dir(outside.join("empty")).unwrap();
    fs::write(outside.join("file"), "outside").unwrap();
    symlink("file", outside.join("link")).unwrap();
    symlink("../../outside", root.join("way/link")).unwrap();
    let state = || (tree(&root), tree(&outside), fs::metadata(outside.join("sub")).unwrap());
    let (inside, away, sub) = state();
    for system in SYSTEMS {
        for (name, act) in OPERATIONS {
            let outcome = act(&open(&root, system), Path::new("way/link"));
            assert!(outcome.is_err(), "{name} on {system:?} passed the link");
            let (inside_now, away_now, sub_now) = state();
            assert_eq!((&inside_now, &away_now), (&inside, &away), "{name} on {system:?}");
            assert_eq!(sub_now.modified().unwrap(), sub.modified().unwrap(), "{name}");
            assert_eq!(sub_now.permissions(), sub.permissions(), "{name}");
        }
    }
}

/// The same operations do what they are for where there is no link, with a path of as many levels.
#[test]
fn every_operation_works_below_directories() {
    for system in SYSTEMS {
        for (name, act) in OPERATIONS {
            let scratch = scratch();
            let root = scratch.path().join("root");
            fs::create_dir_all(root.join("way/level/sub/below")).unwrap();
            fs::create_dir(root.join("way/level/empty")).unwrap();
            fs::write(root.join("way/level/file"), "inside").unwrap();
            symlink("file", root.join("way/level/link")).unwrap();
            fs::write(root.join("own"), "own").unwrap();
            act(&open(&root, system), Path::new("way/level"))
                .unwrap_or_else(|error| panic!("{name} on {system:?}: {error:?}"));
        }
    }
}

/// What somebody does to the tree before the n-th operation.
struct Meddler<F> {
    at: usize,
    seen: AtomicUsize,
    meddle: F,
}

impl<F: Fn() + Send + Sync> Watch for Meddler<F> {
    fn before(&self, _: Operation, _: &Path) -> io::Result<()> {
        if self.seen.fetch_add(1, Ordering::SeqCst) + 1 == self.at {
            (self.meddle)();
        }
        Ok(())
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Removes a tree, of open directories and of closed ones, while `meddle` is done before the n-th operation,
/// for every n: nothing that lies outside goes, or is opened up.
fn removed_while(meddle: fn(&Path)) {
    for closed in [0o755, 0o577, 0o000] {
        removed_with(closed, meddle);
    }
}

/// The same with directories of this mode.
fn removed_with(closed: u32, meddle: fn(&Path)) {
    for at in 1.. {
        let scratch = scratch();
        let base = scratch.path().to_path_buf();
        for place in ["root/tree/a/b/c", "outside/b/c", "outside/c", "beside/a/b/c"] {
            fs::create_dir_all(base.join(place)).unwrap();
        }
        let victims = ["outside/f", "outside/b/f", "outside/b/c/f", "outside/c/f", "beside/a/b/f"];
        for file in ["root/tree/f", "root/tree/a/f", "root/tree/a/b/f", "root/tree/a/b/c/f"] {
            fs::write(base.join(file), "").unwrap();
        }
        for file in victims {
            fs::write(base.join(file), "").unwrap();
        }
        symlink(base.join("outside"), base.join("link")).unwrap();
        // Wherever the removal goes astray, it opens up what it finds.
        let outside =
            ["outside/b/c", "outside/b", "outside/c", "outside", "beside/a/b", "beside/a"];
        for dir in outside {
            set_mode(&base.join(dir), 0o577);
        }
        for dir in ["root/tree/a/b/c", "root/tree/a/b", "root/tree/a", "root/tree"] {
            set_mode(&base.join(dir), closed);
        }
        let (seen, place) = (AtomicUsize::new(0), base.clone());
        let meddler = Arc::new(Meddler { at, seen, meddle: move || meddle(&place) });
        let root = Dir::open(&base.join("root"), Watcher::new(Arc::clone(&meddler) as _)).unwrap();
        let removed = root.remove_tree(Path::new("tree"));
        for victim in victims {
            assert!(base.join(victim).exists(), "{victim} has gone, meddled with at {at}");
        }
        for dir in outside {
            assert_eq!(mode(&base.join(dir)), 0o577, "{dir}, meddled with at {at}, {closed:o}");
        }
        // The scratch directory is to go, whoever runs this.
        for entry in walkdir::WalkDir::new(&base).into_iter().filter_map(Result::ok) {
            if entry.file_type().is_dir() {
                set_mode(entry.path(), 0o700);
            }
        }
        if meddler.seen.load(Ordering::SeqCst) < at {
            removed.unwrap();
            assert_eq!(tree(&base.join("root")), [""; 0]);
            assert!(at > 15, "{at}");
            break;
        }
    }
}

fn exchange(base: &Path, one: &str, other: &str) {
    let (one, other) = (base.join(one), base.join(other));
    let _ = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
}

#[test]
fn a_directory_exchanged_for_a_link_while_its_tree_is_removed() {
    removed_while(|base| exchange(base, "root/tree", "link"));
    removed_while(|base| exchange(base, "root/tree/a", "link"));
    removed_while(|base| exchange(base, "root/tree/a/b", "link"));
}

#[test]
fn a_directory_moved_away_while_its_tree_is_removed() {
    removed_while(|base| {
        let _ = fs::rename(base.join("root/tree/a/b"), base.join("beside/moved"));
    });
    removed_while(|base| {
        let _ = fs::rename(base.join("root/tree/a/b/c"), base.join("outside/moved"));
    });
}

/// Deeper than a path may be long, and than files may be open.
#[test]
fn a_tree_of_any_depth_is_removed() {
    let scratch = scratch();
    let root = Dir::open(scratch.path(), Watcher::default()).unwrap();
    let mut dir = root.try_clone().unwrap();
    for _ in 0..3000 {
        dir.make_dir("d").unwrap();
        dir.create_file("file").unwrap();
        dir = dir.open_dir("d").unwrap();
    }
    drop(dir);
    root.remove_tree(Path::new("d")).unwrap();
    assert_eq!(tree(scratch.path()), ["file 0"]);
    root.remove_tree(Path::new("file")).unwrap();
    root.remove_tree(Path::new("absent")).unwrap();
    root.remove_tree(Path::new("absent/too")).unwrap();
}

/// More files than one call lists, at each level: what the first pass leaves, the second one removes.
#[test]
fn a_tree_of_many_files_is_removed() {
    let scratch = scratch();
    let root = Dir::open(scratch.path(), Watcher::default()).unwrap();
    for above in ["a", "a/b", "a/b/c"] {
        root.make_dir(above).unwrap();
        for number in 0..1500 {
            root.create_file(format!("{above}/a-file-with-a-long-name-{number}")).unwrap();
        }
    }
    root.remove_tree(Path::new("a")).unwrap();
    assert_eq!(tree(scratch.path()), [""; 0]);
}

/// What has the name already stays, whether the system refuses in the same step or not.
#[test]
fn a_name_in_use_is_never_replaced() {
    for system in SYSTEMS {
        let scratch = scratch();
        let base = scratch.path();
        fs::write(base.join("old"), "old").unwrap();
        fs::write(base.join("new"), "new").unwrap();
        symlink("new", base.join("link")).unwrap();
        fs::create_dir(base.join("empty")).unwrap();
        fs::create_dir(base.join("full")).unwrap();
        fs::write(base.join("full/file"), "").unwrap();
        let dir = open(base, system);
        let before = tree(base);
        for from in ["new", "link", "full"] {
            for to in ["old", "empty", "full", "link"] {
                let refused = dir.rename_new(Path::new(from), &dir, Path::new(to)).unwrap_err();
                assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists, "{from} {to} {system:?}");
                assert_eq!(tree(base), before, "{from} {to} {system:?}");
            }
        }
        for (from, to) in [("new", "new.2"), ("link", "link.2"), ("full", "full.2")] {
            dir.rename_new(Path::new(from), &dir, Path::new(to)).unwrap();
            assert!(!base.join(from).exists() && base.join(to).symlink_metadata().is_ok());
        }
        assert_eq!(fs::read(base.join("new.2")).unwrap(), b"new");
        assert_eq!(fs::read_link(base.join("link.2")).unwrap(), PathBuf::from("new"));
    }
}

/// Makes the directory before anybody else does, and records what follows.
#[derive(Default)]
struct Faster(std::sync::Mutex<Vec<Operation>>);

impl Watch for Faster {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::MakeDirectory {
            fs::create_dir(path)?;
        }
        self.0.lock().unwrap().push(operation);
        Ok(())
    }
}

/// Another process that made it a moment ago may not have synced its name yet.
#[test]
fn a_directory_that_another_process_has_just_made_is_synced() {
    let scratch = scratch();
    let faster = Arc::new(Faster::default());
    let dir = Dir::open(scratch.path(), Watcher::new(Arc::clone(&faster) as _)).unwrap();
    dir.ensure_dir("new").unwrap();
    let done = faster.0.lock().unwrap();
    let made = done.iter().position(|it| *it == Operation::MakeDirectory).unwrap();
    assert!(done[made..].contains(&Operation::SyncDirectory), "{done:?}");
}

/// Other handles on the directory that was locked, such as those beneath it, may stay open for longer.
/// The syncs of `sync` on ext4, by what is synced below `base`.
fn syncs(base: &Path, sync: impl Fn(&Dir) -> Result<(), PathError>) -> Vec<(Operation, PathBuf)> {
    let trace = Arc::new(Trace::on(System::Mounted(0xef53)));
    let dir = Dir::open(base, Watcher::new(Arc::clone(&trace) as _)).unwrap();
    sync(&dir).unwrap();
    let done = std::mem::take(&mut *trace.0.lock().unwrap()).into_iter();
    let done = done.filter(|(operation, _)| {
        use Operation::{SyncDirectory, SyncFile, SyncFileSystem};
        matches!(operation, SyncDirectory | SyncFile | SyncFileSystem)
    });
    done.map(|(done, path)| (done, path.strip_prefix(base).unwrap().to_path_buf())).collect()
}

/// One sync of a file system waits for what all programs write there.
#[test]
fn few_small_files_are_synced_one_by_one_and_many_or_large_ones_at_once() {
    let scratch = scratch();
    let base = scratch.path();
    let at_once = [(Operation::SyncFileSystem, PathBuf::new())];
    // With the directories above them, the second are one too many.
    for (tree, files) in [("few/tree", 13), ("many/tree", 14)] {
        fs::create_dir_all(base.join(tree)).unwrap();
        for number in 0..files {
            fs::write(base.join(tree).join(number.to_string()), "bytes").unwrap();
        }
    }
    let few = syncs(base, |dir| dir.sync_trees(["few/tree"]));
    let (files, directories) = few.split_at(13);
    assert!(files.iter().all(|(done, _)| *done == Operation::SyncFile), "{few:?}");
    let above = ["few/tree", "few", ""].map(|path| (Operation::SyncDirectory, PathBuf::from(path)));
    assert_eq!(directories, above);
    assert_eq!(syncs(base, |dir| dir.sync_trees(["many/tree"])), at_once);
    assert_eq!(syncs(base, |dir| dir.sync_trees(["few/tree", "many/tree/0"])), at_once);

    let (small, large) = (base.join("small"), base.join("large"));
    for (file, bytes) in [(&small, 8 << 20), (&large, (8 << 20) + 1)] {
        fs::File::create(file).unwrap().set_len(bytes).unwrap();
    }
    assert_eq!(syncs(base, |dir| dir.sync_trees(["small"])).len(), 2);
    assert_eq!(syncs(base, |dir| dir.sync_trees(["large"])), at_once);

    let names = |count: usize| (0..count).map(|number| format!("few/none{number}"));
    assert_eq!(syncs(base, |dir| dir.sync_names(names(3))), above[1..]);
    assert_eq!(syncs(base, |dir| dir.sync_names(names(15))), at_once);
    let opened: Vec<_> = (0..17).map(|_| open(base, System::Own)).collect();
    assert!(syncs(base, |dir| dir.sync_dirs(&opened[..16])).is_empty(), "of other watchers");
    assert_eq!(syncs(base, |dir| dir.sync_dirs(&opened)), at_once);
}

#[test]
fn a_lock_on_a_directory_ends_with_its_guard() {
    let scratch = scratch();
    let open = || Dir::open(scratch.path(), Watcher::default()).unwrap();
    let (dir, other) = (open(), open());
    let lock = dir.try_lock().unwrap();
    assert!(lock.is_some() && other.try_lock().unwrap().is_none());
    drop(lock);
    assert!(other.try_lock().unwrap().is_some());
    drop(dir);
}
