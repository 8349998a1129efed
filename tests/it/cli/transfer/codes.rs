//! Each exit code of a transfer, and both ways of migrating.

use std::time::Duration;

use urepo::clock::SystemClock;
use urepo::collection::{Collection, lock_changes};
use urepo::custody::CustodyId;
use urepo::disk::Watcher;
use urepo::item::State;
use urepo::sidecar::Sidecar;

use super::super::records;
use super::{archive_and_mirror, is_clean, states, update};
use crate::support::{World, agent, change_item, copy_item, forget, tree, waiter};

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
    // A newer one, an Original, a tombstone, and nothing.
    let newer = |sidecar: &mut Sidecar| {
        sidecar.custody = sidecar.custody.amended(CustodyId::from(*b"amended!"));
    };
    copy_item(&archive, &mirror, name, newer);
    both(&world, 23);
    change_item(&mirror, name, |sidecar| sidecar.state = State::Original);
    both(&world, 23);
    change_item(&mirror, name, |sidecar| sidecar.state = State::Deleted);
    both(&world, 23);
    std::fs::remove_dir_all(mirror.join("example.org")).unwrap();
    forget(&mirror, name);
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
    for held in [&archive, &mirror] {
        let wait = Duration::from_secs(10);
        let lock = lock_changes([held], &agent(), &waiter(&SystemClock).up_to(wait)).unwrap();
        let line = format!("UREPO_LOCK_WAIT=0 -c archive migrate {} --to mirror", names[0]);
        ends(&world, &line, 11);
        drop(lock);
    }
    let wait = Duration::from_secs(10);
    let lock = lock_changes([&mirror], &agent(), &waiter(&SystemClock).up_to(wait)).unwrap();
    let line = format!("UREPO_LOCK_WAIT=0 -c archive copy {} --to mirror", names[0]);
    ends(&world, &line, 11);
    ends(&world, "UREPO_LOCK_WAIT=0 -c mirror copy --all --from archive", 11);
    drop(lock);
    world.run("-c mirror copy --all --from archive").succeeded();
    is_clean(&world);
}
