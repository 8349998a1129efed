//! Deleting and purging on a disk with no free block and no free inode.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;
use snapbox::str;
use urepo::disk::{Operation, Watch};

use super::*;
use crate::errors::with_mounts;

/// On a file system without a free block and inode: `fill` takes all that there is.
const FILL: &str = r#"
    mount -t tmpfs -o size=32m,nr_inodes=1200 tmpfs mount
    fill() {
        full=mount/full$(date +%N); mkdir -p $full || :
        dd if=/dev/zero of=$full/big bs=64k 2>/dev/null || :
        dd if=/dev/zero of=$full/small bs=4k 2>/dev/null || :
        number=0
        while (: >$full/$number) 2>/dev/null; do number=$((number + 1)); done
        if (: >mount/more) 2>/dev/null; then echo "NOT FULL"; fi
    }
    run() { code=0; $UREPO -c mount/archive "$@" 2>told || code=$?; tell $code; }
    $UREPO init mount/archive --host archive.example.org 2>told
    a=$($UREPO -c mount/archive new a.txt); b=$($UREPO -c mount/archive new a.txt)
    c=$($UREPO -c mount/archive new a.txt)
"#;

#[test]
fn what_is_deleted_and_purged_there() {
    let script = r#"
        fill
        run delete --force last "$a"
        fill
        run purge --yes
        test -z "$(ls mount/archive/.urepo/trash)"
        # The purge has made room, and part of it is reserved again.
        test -n "$(ls mount/archive/.urepo/reserve)"
        rm -r mount/full*
        run verify"#;
    let Some(told) = with_mounts(&crate::support::World::new(), &format!("{FILL}{script}")) else {
        return;
    };
    snapbox::assert_data_eq!(
        told,
        str![[r#"
deleted example.org/archive/[..]; its files are in the trash until `urepo -c mount/archive purge`
exit 0
exit 0
purged 1 item, [..]; [..] freed
exit 0
verified 3 items, 2 files, 2 B: no damage

"#]]
    );
}

/// Without the reserve: nothing has to be made for a purge.
#[test]
fn what_is_purged_without_a_reserve() {
    let script = r#"
        run delete --force last --yes "$a" "$b"
        rm -r mount/archive/.urepo/reserve
        fill
        run delete --force last "$c"
        run purge --yes
        test -z "$(ls mount/archive/.urepo/trash)"
        run verify"#;
    let Some(told) = with_mounts(&crate::support::World::new(), &format!("{FILL}{script}")) else {
        return;
    };
    snapbox::assert_data_eq!(
        told,
        str![[r#"
deleted example.org/archive/[..]; its files are in the trash until `urepo -c mount/archive purge`
deleted example.org/archive/[..]; its files are in the trash until `urepo -c mount/archive purge`
exit 0
deleted 2 items, 2 files, 2 B
exit 1
error: cannot make the directory `[WORLD]/mount/archive/.urepo/staging/[..]`
caused by: No space left on device (os error 28)
hint: make room, `df -h [WORLD]/mount/archive` shows how much there is, and repeat the command
exit 0
purged 2 items, [..]; [..] freed
exit 0
verified 3 items, 1 file, 1 B: no damage

"#]]
    );
}

#[test]
fn a_copy_is_deleted_there_though_the_ledger_is_lost() {
    let script = r#"
        $UREPO init other --host other.example.org 2>told
        $UREPO -c mount/archive migrate "$a" --to other --leave-copy 2>told
        rm -r mount/archive/.urepo/ledger
        dd if=/dev/zero of=mount/full bs=4k 2>/dev/null || :
        run delete --with other "$a"
        run purge --yes
        rm mount/full
        run show "$a"
    "#;
    let Some(told) = with_mounts(&crate::support::World::new(), &format!("{FILL}{script}")) else {
        return;
    };
    snapbox::assert_data_eq!(
        told,
        str![[r#"
deleted the Copy of example.org/archive/[..]; its files are in the trash until `urepo -c mount/archive purge`
exit 0
warning: `[WORLD]/mount/archive/.urepo/ledger` was missing and has been rebuilt; the ledger lists the 3 items found, and no item lost before
exit 0
purged 1 item, [..]; [..] freed
example.org/archive/[..]
link       http://urlib.net/example.org/archive/[..]
deposited  [..] UTC
moved      to a collection not in sight, id [..]… on [..]
exit 0
warning: `.urepo/ledger` of `[WORLD]/mount/archive` was cut or put back, so that changes of its items may be missing
hint: .urepo/ledger was cut or put back: urepo -c mount/archive recover --restored

"#]]
    );
}

/// A disk with no room for a ledger, and with room for everything else.
struct NoInventory;

impl Watch for NoInventory {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let is_ledger = path.to_string_lossy().contains("ledger.new");
        if operation == Operation::Write && is_ledger {
            return Err(Errno::NOSPC.into());
        }
        Ok(())
    }
}

#[test]
fn a_ledger_for_which_there_is_no_room() {
    let world = World::with_copy();
    for site in ["archive", "other"] {
        let root = world.root(site);
        std::fs::remove_dir_all(root.join(".urepo/ledger")).unwrap();
        let collection =
            Collection::open(&root, &Watcher::new(Arc::new(NoInventory) as _)).unwrap();
        delete(&collection, &world.name, &forced()).unwrap();
        assert!(!root.join(".urepo/ledger.new").exists());
    }
}

/// A disk on which nothing can be made or written from the n-th time on, until as many files are removed as
/// make room.
struct Full {
    at: usize,
    makes_room: usize,
    seen: AtomicUsize,
    removed: AtomicUsize,
}

impl Full {
    fn from(at: usize, makes_room: usize) -> Arc<Full> {
        let (seen, removed) = (AtomicUsize::default(), AtomicUsize::default());
        Arc::new(Full { at, makes_room, seen, removed })
    }

    /// Whether anything found the disk full.
    fn was_met(&self) -> bool {
        self.seen.load(Ordering::Relaxed) > self.at
    }
}

impl Watch for Full {
    fn before(&self, operation: Operation, _: &Path) -> io::Result<()> {
        use Operation::{CreateFile, MakeDirectory, MakeLink, Remove, Write};
        if operation == Remove {
            self.removed.fetch_add(1, Ordering::Relaxed);
        }
        let takes_room = [CreateFile, MakeDirectory, MakeLink, Write].contains(&operation);
        if takes_room
            && self.seen.fetch_add(1, Ordering::Relaxed) >= self.at
            && self.removed.load(Ordering::Relaxed) < self.makes_room
        {
            return Err(Errno::NOSPC.into());
        }
        Ok(())
    }
}

/// Deletes the item of `collection` while the disk is full, and returns whether it was.
fn delete_while(full: &Arc<Full>, world: &World, collection: &str) -> bool {
    let watcher = Watcher::new(Arc::clone(full) as _);
    let collection = Collection::open(&world.root(collection), &watcher).unwrap();
    let (agent, interrupt, clock) = (agent(), Interrupt::default(), later());
    let writer = collection.writer_to_delete(&agent, &waiter(&clock)).unwrap();
    let remover =
        Remover { collection: &collection, writer, caller: caller(&agent, &clock, &interrupt) };
    let order = forced();
    delete_one(&remover, &world.name, &order).unwrap();
    remover.finish().unwrap();
    assert_eq!(tree(&collection.path().join(".urepo/reserve")).len(), 12, "at {}", full.at);
    full.was_met()
}

/// Wherever the disk becomes full, the reserve is enough.
#[test]
fn a_disk_that_becomes_full_anywhere() {
    for at in 0.. {
        let world = World::new();
        let was_full = delete_while(&Full::from(at, 1), &world, "archive");
        assert_eq!(world.sidecar("archive").state, State::Deleted, "at {at}");
        assert_eq!(world.trash(), [TrashContents::Item], "at {at}");
        if !was_full {
            assert!(at > 10, "room was needed {at} times only");
            break;
        }
    }
}

/// What a full disk or a crash left of the reserve is made whole by the next deletion.
#[test]
fn a_reserve_that_is_short_is_refilled() {
    let world = World::new();
    let file = |name: &str| world.root("archive/.urepo/reserve").join(name);
    for (name, bytes) in [("0", 0), ("3", 100)] {
        let file = std::fs::File::options().write(true).open(file(name)).unwrap();
        file.set_len(bytes).unwrap();
    }
    std::fs::remove_file(file("7")).unwrap();
    world.delete("archive", &forced()).unwrap();
    for number in 0..12 {
        let bytes = std::fs::metadata(file(&number.to_string())).unwrap().len();
        assert_eq!(bytes, 16 * 1024, "{number}");
    }
}

#[test]
fn an_event_that_is_not_in_the_log_is_counted() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let full =
        Collection::open(&world.root("archive"), &Watcher::new(Full::from(0, usize::MAX) as _))
            .unwrap();
    let entries = purgeable(&full, &Wanted::default()).unwrap().entries;
    let unlogged = purge_entries(&full, &entries).unwrap().1.unwrap();
    let is_full = matches!(&unlogged.cause, CollectionError::Disk(error) if error.is_full());
    assert!(unlogged.events == 1 && is_full, "{unlogged:?}");
}
