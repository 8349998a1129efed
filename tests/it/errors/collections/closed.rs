//! Collections that are locked, read-only or in part elsewhere.

use super::*;

#[test]
fn with_a_link_for_their_own_directory() {
    let world = world_with_file();
    std::fs::remove_dir_all(world.path("archive/.urepo")).unwrap();
    symlink("../elsewhere", world.path("archive/.urepo")).unwrap();
    world.write("elsewhere/file", "");
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/.urepo`
caused by: Not a directory (os error 20)

"#]]);
}

#[test]
fn locked() {
    let (agent, clock) = (agent(), TestClock::at("2026-11-21T02:13:00Z"));
    let holder = agent.holder(&clock);
    let take = |world: &World, dir: &str, name: &str| {
        let dir = Dir::open(&world.path(dir), Watcher::default()).unwrap();
        Lock::take(
            &dir,
            name,
            LockMode::Exclusive,
            &holder,
            // A process that another test is just starting may have a lock that was let go here for
            // a moment longer.
            &waiter(&SystemClock).up_to(Duration::from_secs(30)),
        )
        .unwrap()
    };
    // Each lock in a world of its own, for the same reason.
    let world = world_with_file();
    let _lock = take(&world, "archive/.urepo", "lock");
    refuses(&world, "UREPO_LOCK_WAIT=0 -c archive new a.txt", 11).tells(str![[r#"
error: the collection `archive` is locked
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `UREPO_LOCK_WAIT=5m`; the lock ends with that process

"#]]);
    let world = world_with_file();
    let _lock = take(&world, "archive/.urepo/memory", "example.org+archive");
    refuses(&world, "UREPO_LOCK_WAIT=0 -c archive new a.txt", 11).tells(str![[r#"
error: `[WORLD]/archive/.urepo/memory/example.org+archive` is locked
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `UREPO_LOCK_WAIT=5m`; the lock ends with that process

"#]]);
    refuses(&world, "UREPO_LOCK_WAIT=1ms -c archive mint", 11).tells(str![[r#"
error: `[WORLD]/archive/.urepo/memory/example.org+archive` is locked
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `UREPO_LOCK_WAIT=5m`; the lock ends with that process

"#]]);
    assert_eq!(world.run("-c archive status --machine").code, 0, "looking needs no lock");
    // A lock held by a program that does not say who it is.
    let world = world_with_file();
    let lock = File::open(world.path("archive/.urepo/lock")).unwrap();
    lock.lock().unwrap();
    refuses(&world, "UREPO_LOCK_WAIT=0 -c archive new a.txt", 11).tells(str![[r#"
error: the collection `archive` is locked
caused by: held by another process
hint: repeat with `UREPO_LOCK_WAIT=5m`; the lock ends with that process

"#]]);
    // Writers share the lock; recovery needs it alone.
    let world = world_with_file();
    let collection = open(&world);
    let writer = collection.writer(&agent, &waiter(&SystemClock).up_to(PATIENT)).unwrap();
    refuses(&world, "UREPO_LOCK_WAIT=0 -c archive recover", 11).tells(str![[r#"
error: the collection `archive` is locked
caused by: held by `urepo new` since [..] (process 4312 on vault)
hint: repeat with `UREPO_LOCK_WAIT=5m`; the lock ends with that process

"#]]);
    drop(writer);
    assert_eq!(world.run("UREPO_LOCK_WAIT=10s -c archive recover").code, 0);
}

#[test]
fn with_a_year_on_another_file_system() {
    let script = "
            for root in archive mirror; do
                $UREPO -q init mount/$root --host $root.example.org
            done
            name=$($UREPO -c mount/archive new a.txt)
            year=mount/mirror/${name%/*}; mkdir -p $year; mount -t tmpfs tmpfs $year
            # Of what is refused before it is read nobody finds out that it is damaged.
            echo 1 > mount/archive/$name/doc/a.txt
            for how in copy migrate 'migrate --dry-run'; do
                code=0; $UREPO -c mount/archive $how $name --to mount/mirror 2>told || code=$?
                tell $code
            done
            year=mount/archive/${name%/*}; mv $year held; mkdir $year; mount -t tmpfs tmpfs $year
            mv held/* $year
            code=0; $UREPO -c mount/archive new --dry-run a.txt 2>told || code=$?; tell $code
            echo unread | {
                code=0; $UREPO -c mount/archive new - 2>told || code=$?; tell $code; cat
            }
            # Another subsystem gives names that can be put in place.
            printf '[[subsystem]]\\nhost = \"second.example.org\"\\n' >>mount/archive/urepo.toml
            $UREPO -q -c mount/archive new --subsystem example.org/second a.txt >given
            umount mount/mirror/${name%/*}
            code=0; $UREPO -c mount/archive migrate $name --to mount/mirror 2>told || code=$?
            tell $code";
    let Some(told) = with_mounts(&World::new(), script) else { return };
    same(
        &told,
        str![[r#"
exit 1
error: cannot put in place `[WORLD]/mount/mirror/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/mirror/example.org/archive/[..]` shows what is mounted in it
exit 1
error: cannot put in place `[WORLD]/mount/mirror/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/mirror/example.org/archive/[..]` shows what is mounted in it
exit 1
error: cannot put in place `[WORLD]/mount/mirror/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/mirror/example.org/archive/[..]` shows what is mounted in it
exit 1
error: cannot put in place `[WORLD]/mount/archive/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/archive/example.org/archive/[..]` shows what is mounted in it
exit 1
error: cannot put in place `[WORLD]/mount/archive/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/archive/example.org/archive/[..]` shows what is mounted in it
unread
exit 1
error: cannot put in place `[WORLD]/mount/archive/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/archive/example.org/archive/[..]` shows what is mounted in it

"#]],
    );
}

#[test]
fn read_only() {
    let script = "
            mount -t tmpfs tmpfs mount
            $UREPO init mount/archive --host archive.example.org 2>told
            mount -o remount,bind,ro mount
            code=0; $UREPO -c mount/archive new a.txt 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive mint 2>told || code=$?; tell $code
            code=0; $UREPO init mount/maps --host maps.example.org 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive list 2>told || code=$?; tell $code
            find mount ! -path '*/reserve/*' | sort";
    let Some(told) = with_mounts(&World::new(), script) else { return };
    same(
        &told,
        str![[r#"
exit 1
error: cannot open `[WORLD]/mount/archive/.urepo/lock`
caused by: Read-only file system (os error 30)
hint: the file system is mounted read-only; `findmnt -T [WORLD]/mount/archive` shows it
exit 1
error: cannot open `[WORLD]/mount/archive/.urepo/lock`
caused by: Read-only file system (os error 30)
hint: the file system is mounted read-only; `findmnt -T [WORLD]/mount/archive` shows it
exit 1
error: cannot make the directory `[WORLD]/mount/maps`
caused by: Read-only file system (os error 30)
hint: the file system is mounted read-only; `findmnt -T [WORLD]/mount` shows it
exit 0
mount
mount/archive
mount/archive/.urepo
mount/archive/.urepo/change.lock
mount/archive/.urepo/ledger
mount/archive/.urepo/ledger/000001.jsonl
mount/archive/.urepo/lock
mount/archive/.urepo/memory
mount/archive/.urepo/memory/example.org+archive
mount/archive/.urepo/reserve
mount/archive/.urepo/staging
mount/archive/README
mount/archive/urepo.toml

"#]],
    );
}
