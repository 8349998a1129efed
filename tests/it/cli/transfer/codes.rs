//! Each exit code of a transfer, and both ways of migrating.

use std::time::Duration;

use urepo::clock::SystemClock;
use urepo::collection::{Collection, lock_items};
use urepo::disk::Watcher;
use urepo::item::State;

use super::super::records;
use super::{archive_and_mirror, is_clean, make, sidecar, states, tells, update};
use crate::support::{World, agent, change_item, copy_item, tree, waiter};

/// Runs a line that has to end with `code`, in words and with records, and to change no item.
#[track_caller]
fn ends(world: &World, line: &str, code: i32) {
    let items = || -> Vec<_> {
        tree(&world.path("")).into_iter().filter(|line| !line.contains(".urepo/")).collect()
    };
    let before = items();
    let ran = world.run(line);
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{line}: {}", ran.stderr);
    let ran = world.run(&format!("{line} --json"));
    assert_eq!(ran.code, code, "{line} --json: {}", ran.stderr);
    let last = records(&ran).pop().unwrap();
    assert_eq!((&last["type"], &last["exit_code"]), (&"summary".into(), &code.into()), "{line}");
    assert_eq!(items(), before, "{line} changed something");
}

#[test]
fn of_states_that_do_not_go_together() {
    let (world, names) = archive_and_mirror(1);
    let name = &names[0];
    let both = |world: &World, code: i32| {
        for verb in ["copy", "migrate"] {
            ends(world, &format!("-c archive {verb} {name} --to mirror"), code);
        }
    };
    let (archive, mirror) = (world.path("archive"), world.path("mirror"));
    // Two Originals.
    copy_item(&archive, &mirror, name, |sidecar| sidecar.state = State::Original);
    both(&world, 23);
    // A Copy that goes to where its Original is.
    change_item(&archive, name, |sidecar| sidecar.state = State::Copy);
    ends(&world, &format!("-c archive migrate {name} --to mirror"), 23);
    // One Copy behind another.
    change_item(&mirror, name, |sidecar| sidecar.state = State::Copy);
    update(&world, "archive", name);
    both(&world, 23);
    // Other content under the name.
    change_item(&mirror, name, |sidecar| {
        sidecar.timestamp = "2050-01-01T00:00:00Z".parse().unwrap();
        sidecar.files.clear();
    });
    both(&world, 23);
    // A tombstone.
    change_item(&mirror, name, |sidecar| sidecar.state = State::Deleted);
    both(&world, 23);
    std::fs::remove_dir_all(mirror.join("example.org")).unwrap();
    // An Original that stays where it is.
    change_item(&archive, name, |sidecar| {
        sidecar.state = State::Original;
        sidecar.transferable = false;
    });
    ends(&world, &format!("-c archive migrate {name} --to mirror"), 23);
    // A source that is deleted, and one that is not there.
    change_item(&archive, name, |sidecar| sidecar.transferable = true);
    world.run(&format!("-c archive delete --force last {name}")).succeeded();
    both(&world, 22);
    std::fs::remove_dir_all(archive.join("example.org")).unwrap();
    both(&world, 21);
}

#[test]
fn of_collections_that_do_not_go_together() {
    let (world, names) = archive_and_mirror(1);
    for verb in ["copy", "migrate"] {
        let run = |line: &str| world.run(&format!("-c archive {verb} {} {line}", names[0])).code;
        assert_eq!(run("--to nowhere"), 10);
        assert_eq!(run("--to archive"), 23);
        let text = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
        world.write("clone/urepo.toml", text);
        std::fs::create_dir_all(world.path("clone/.urepo")).unwrap();
        assert_eq!(run("--to clone"), 23);
    }
    assert_eq!(world.run("-c nowhere copy --all --to mirror").code, 10);
}

#[test]
fn of_damage_at_the_source() {
    let (world, names) = archive_and_mirror(2);
    world.write(&format!("archive/{}/doc/0.txt", names[0]), "fiLe 0");
    for line in ["copy", "migrate --leave-copy"] {
        ends(&world, &format!("-c archive {line} {} --to mirror", names[0]), 20);
    }
    // The sidecar, by rot, by hand, and gone.
    let path = format!("archive/{}/item.toml", names[0]);
    let text = std::fs::read_to_string(world.path(&path)).unwrap();
    for damaged in [text.replace("0.txt", "1.txt"), "format = ?".to_owned()] {
        world.write(&path, damaged);
        for verb in ["copy", "migrate"] {
            ends(&world, &format!("-c archive {verb} {} --to mirror", names[0]), 20);
        }
    }
    let ran = world.run("-c archive copy --all --to mirror");
    assert_eq!((ran.code, states(&world, &names[1])[1]), (3, Some(State::Copy)));
}

#[test]
fn of_locks_of_others() {
    let (world, names) = archive_and_mirror(2);
    world.run("-c archive copy --all --to mirror").succeeded();
    for name in &names {
        update(&world, "archive", name);
    }
    let open = |root: &str| Collection::open(&world.path(root), &Watcher::default()).unwrap();
    let (archive, mirror) = (open("archive"), open("mirror"));
    let name = names[0].parse().unwrap();
    for held in [&archive, &mirror] {
        let wait = Duration::from_secs(10);
        let lock =
            lock_items([(held, &name)], &agent(), &waiter(&SystemClock).up_to(wait)).unwrap();
        let line = format!("--lock-wait 0 -c archive migrate {} --to mirror", names[0]);
        ends(&world, &line, 11);
        drop(lock);
    }
    let wait = Duration::from_secs(10);
    let lock = lock_items([(&mirror, &name)], &agent(), &waiter(&SystemClock).up_to(wait)).unwrap();
    let line = format!("--lock-wait 0 -c archive copy --refresh {} --to mirror", names[0]);
    ends(&world, &line, 11);
    // The others do not wait for it.
    let ran = world.run("--lock-wait 0 -c mirror refresh --from archive");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("\nrefreshed 1 item, 1 file, 6 B\n"), "{}", ran.stderr);
    drop(lock);
    world.run("-c mirror refresh --from archive").succeeded();
    is_clean(&world);
}

/// Items that are moved as they are, in one group: only the locked one stays.
#[test]
fn of_a_lock_on_one_of_many() {
    let (world, names) = archive_and_mirror(3);
    let archive = super::super::open(&world);
    let name = names[1].parse().unwrap();
    let wait = Duration::from_secs(10);
    for rest in ["", "--leave-copy"] {
        let lock =
            lock_items([(&archive, &name)], &agent(), &waiter(&SystemClock).up_to(wait)).unwrap();
        let ran = world.run(&format!("--lock-wait 0 -c archive migrate --all {rest} --to mirror"));
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("error: `{}`: ", names[1])), "{}", ran.stderr);
        drop(lock);
        assert_eq!(states(&world, &names[1]), [Some(State::Original), None]);
        assert_eq!(states(&world, &names[2])[1], Some(State::Original));
        let back = world.run("-c mirror migrate --all --to archive");
        assert_eq!(back.code, 0, "{}", back.stderr);
    }
    is_clean(&world);
}

/// One file system moves an item as it is; two copy it, prove it, and hand it over.
#[test]
fn of_migrations_within_a_file_system_and_across() {
    use std::os::unix::fs::MetadataExt;
    let (world, names) = archive_and_mirror(2);
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::remove_dir_all(world.path("mirror")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("mirror"), world.path("mirror")).unwrap();
    let far = make_at(&elsewhere.path().join("mirror"));
    make(&world, "near");
    let inode = |root: &str, name: &str| {
        std::fs::metadata(world.path(root).join(name).join("doc")).unwrap().ino()
    };
    let before = inode("archive", &names[0]);
    let ran = world.run(&format!("-c archive migrate {} --to near", names[0]));
    tells(&ran, 0, "", "migrated 1 item, 1 file, 6 B\n");
    assert_eq!(inode("near", &names[0]), before);
    assert!(sidecar(&world, "near", &names[0]).unwrap().handover.is_none());
    for name in &names {
        let from = if *name == names[0] { "near" } else { "archive" };
        let ran = world.run(&format!("-c {from} migrate {name} --to mirror"));
        tells(&ran, 0, "", "migrated 1 item, 1 file, 6 B\n");
        let there = far.item(&name.parse().unwrap()).unwrap().sidecar().unwrap().0;
        assert_eq!((there.state, there.handover), (State::Original, None));
        assert_eq!(sidecar(&world, from, name), None);
    }
    is_clean(&world);
}

fn make_at(root: &std::path::Path) -> Collection {
    let host = "mirror.example.org".parse().unwrap();
    let subsystem = urepo::collection::Subsystem::new(host);
    crate::support::init(root, "mirror", subsystem, &Watcher::default()).unwrap()
}
