//! The moment between the making of a shared file and its opening to the group: others wait for its end, and
//! the owner makes up for one that never ended.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use rustix::process::geteuid;
use urepo::clock::SystemClock;
use urepo::collection::Collection;
use urepo::disk::{Dir, Operation, PathError, Watch, Watcher};

use super::{Shared, closed_to_group};
use crate::support::{
    ANNA, BEN, Faults, GROUP, Mode, become_user, deposit, options, request, scratch,
};

/// Tells of the second time that something is opened, and lets it go on when it is answered.
struct SecondLook {
    path: PathBuf,
    seen: AtomicUsize,
    channels: Mutex<(Sender<()>, Receiver<()>)>,
}

impl Watch for SecondLook {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::Open
            && path == self.path
            && self.seen.fetch_add(1, Ordering::SeqCst) == 1
        {
            let channels = self.channels.lock().unwrap();
            channels.0.send(()).unwrap();
            channels.1.recv().unwrap();
        }
        Ok(())
    }
}

/// What Ben gets of `act` on what Anna has just made, and opens to the group as soon as he looks again.
fn met_in_the_moment(
    make: impl Fn(&Path),
    opened: u32,
    act: fn(&Dir) -> Result<(), PathError>,
) -> Option<Result<(), PathError>> {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can become other users");
        return None;
    }
    let scratch = scratch();
    let root = scratch.path().join("shared");
    fs::create_dir(&root).unwrap();
    chown(&root, Some(ANNA), Some(GROUP)).unwrap();
    fs::set_permissions(&root, Permissions::from_mode(0o2775)).unwrap();
    let path = root.join("new");
    make(&path);
    chown(&path, Some(ANNA), Some(GROUP)).unwrap();
    let (looks, looked) = channel();
    let (answer, answered) = channel();
    let (seen, channels) = (AtomicUsize::new(0), Mutex::new((looks, answered)));
    let watch = SecondLook { path: path.clone(), seen, channels };
    let dir = Dir::open(&root, Watcher::new(Arc::new(watch))).unwrap().shared().unwrap();
    std::thread::scope(|threads| {
        let ben = threads.spawn(move || {
            become_user(BEN);
            act(&dir)
        });
        // Never, where he does not look again.
        if looked.recv().is_ok() {
            fs::set_permissions(&path, Permissions::from_mode(opened)).unwrap();
            answer.send(()).unwrap();
        }
        Some(ben.join().unwrap())
    })
}

#[test]
fn a_lock_file_is_waited_for() {
    let make = |path: &Path| {
        fs::write(path, "").unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    };
    let met = met_in_the_moment(make, 0o664, |dir| dir.open_lock_file("new").map(drop));
    met.into_iter().for_each(Result::unwrap);
}

#[test]
fn a_directory_is_waited_for() {
    // With either umask that is usual: it can be opened, but not written to, or not even that.
    for mode in [0o2755, 0o2700] {
        let make = |path: &Path| {
            fs::create_dir(path).unwrap();
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        let act = |dir: &Dir| dir.ensure_dir("new")?.open_lock_file("lock").map(drop);
        met_in_the_moment(make, 0o2775, act).into_iter().for_each(Result::unwrap);
    }
}

/// A finished year, say.
#[test]
fn a_directory_with_entries_that_was_closed_stays_closed() {
    let scratch = crate::support::scratch();
    let mode_of = |name: &str| fs::metadata(scratch.path().join(name)).unwrap().mode() & 0o7777;
    let close = |name: &str, mode| {
        fs::set_permissions(scratch.path().join(name), Permissions::from_mode(mode)).unwrap();
    };
    close("", 0o2775);
    let dir = Dir::open(scratch.path(), Watcher::default()).unwrap().shared().unwrap();
    for year in ["2025", "2026"] {
        dir.ensure_dir(year).unwrap();
        assert_eq!(mode_of(year) & 0o2070, 0o2070);
    }
    fs::create_dir(scratch.path().join("2025/11.21.02.13")).unwrap();
    for year in ["2025", "2026"] {
        close(year, 0o2755);
        dir.ensure_dir(year).unwrap();
    }
    assert_eq!((mode_of("2025"), mode_of("2026") & 0o2070), (0o2755, 0o2070));
}

#[test]
fn what_a_killed_process_left_closed_its_owner_opens() {
    let Some(shared) = Shared::new() else { return };
    let archive = shared.0.path("archive");
    let deposit_as_root = |watcher: &Watcher| {
        let collection = Collection::open(&archive, watcher).unwrap();
        let requests = vec![request(shared.0.path("a.txt"))];
        deposit(&collection, requests, options(), &SystemClock, |_| ()).map(drop)
    };
    let mut closed = 0;
    for at in 1.. {
        // Everything is made again.
        fs::remove_dir_all(archive.join(".urepo")).unwrap();
        let faults = Arc::new(Faults::new(&archive, at, Mode::Killed).of(Operation::SetAttributes));
        let _ = deposit_as_root(&Watcher::new(Arc::clone(&faults) as _));
        if faults.struck().is_none() {
            break;
        }
        closed += closed_to_group(&archive).len();
        deposit_as_root(&Watcher::default()).unwrap();
        assert_eq!(closed_to_group(&archive), [""; 0], "{:?}", faults.struck());
        assert_eq!(fs::metadata(archive.join(".urepo")).unwrap().uid(), 0);
        shared.deposit(BEN, "a.txt");
    }
    assert!(closed > 5, "only {closed} were left closed");
}
