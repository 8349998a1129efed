//! `--dry-run` says what would be done, and leaves every byte as it was.

use super::{bytes_below, leaf, world_with_item};
use crate::support::{World, change_item};

/// Runs a line with `--dry-run`, before and after the command, and compares every byte.
#[track_caller]
fn changes_nothing(world: &World, line: &str, code: i32) {
    for line in [format!("--dry-run {line}"), format!("{line} -n")] {
        let before = bytes_below(&world.path(""));
        let ran = world.run(&line);
        assert_eq!(ran.code, code, "{line}: {}{}", ran.stdout, ran.stderr);
        assert!(bytes_below(&world.path("")) == before, "{line} changed something");
    }
}

#[test]
fn of_every_command() {
    let (world, name) = world_with_item();
    world.write("dir/sub/b.txt", "beta");
    let item = leaf(&name);
    changes_nothing(&world, "init maps --host maps.example.org", 0);
    for line in [
        "new a.txt".to_owned(),
        "new --remove-source a.txt".to_owned(),
        "new --remove-source --each a.txt dir".to_owned(),
        "new a.txt --init --host archive.example.org".to_owned(),
        "recover".to_owned(),
        "list".to_owned(),
        format!("show {item}"),
        format!("show --path {item}"),
        format!("cat {item}"),
        format!("show --as manifest {item}"),
        format!("meta set {item} next_edition=example.org/archive/2020/01.01.00.00"),
        format!("resolve --explain {name}"),
        "status --settings".to_owned(),
        "verify".to_owned(),
        "status".to_owned(),
        format!("status {item}"),
        "repair".to_owned(),
        format!("repair {item}"),
        "generate completions .".to_owned(),
        "generate man .".to_owned(),
        format!("delete --force last {item}"),
        "purge".to_owned(),
    ] {
        changes_nothing(&world, &format!("-c archive {line}"), 0);
    }
    changes_nothing(&world, "-c elsewhere new a.txt --init --host maps.example.org", 0);
}

/// Looking at a memory must not write who looked.
#[test]
fn of_commands_that_look_at_memories() {
    let (world, _) = world_with_item();
    for line in ["mint", "mint --count 100", "status --machine"] {
        changes_nothing(&world, &format!("-c archive {line}"), 0);
    }
    let world = World::with_collection();
    changes_nothing(&world, "-c archive mint", 0);
}

/// What would be refused is refused, with the same code.
#[test]
fn refuses_what_would_be_refused() {
    let (world, name) = world_with_item();
    changes_nothing(&world, "-c nowhere new a.txt", 10);
    changes_nothing(&world, "-c archive new --each missing.txt a.txt", 3);
    changes_nothing(&world, "-c archive new archive", 1);
    changes_nothing(&world, "-c archive new a.txt --init --host maps.example.org", 23);
    changes_nothing(&world, "init archive --host localhost", 1);
    changes_nothing(&world, &format!("-c archive delete {name}"), 23);
    changes_nothing(&world, &format!("-c archive restore {name}"), 0);
}

#[test]
fn tells_the_plan() {
    let (world, _) = world_with_item();
    world.write("dir/sub/b.txt", "beta");
    let ran = world.run("-c archive new -n --each a.txt dir");
    let plan = "would deposit a.txt: 1 file, 5 B\nwould deposit dir: 1 file, 4 B\n";
    assert_eq!(ran.succeeded(), plan);
    let ran = world.run("-c archive new -n a.txt dir -v");
    assert_eq!(ran.succeeded(), "would deposit a.txt and 1 more: 2 files, 9 B\n");
    assert_eq!(ran.stderr, "  doc/a.txt\n  doc/dir\n  doc/dir/sub\n  doc/dir/sub/b.txt\n");
}

/// The trash is told, and stays as it is.
#[test]
fn of_the_trash() {
    let (world, name) = world_with_item();
    world.run(&format!("-c archive delete --force last {name}")).succeeded();
    for line in ["purge", "purge --older-than 30d", "purge -y"] {
        changes_nothing(&world, &format!("-c archive {line}"), 0);
    }
    changes_nothing(&world, &format!("-c archive restore {name}"), 0);
    changes_nothing(&world, &format!("-c archive delete --force last {name}"), 22);
}

/// Neither of two collections is touched, in whatever state its items are.
#[test]
fn of_transfers() {
    let (world, name) = world_with_item();
    let other = world.run("-c archive new a.txt").line();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run(&format!("-c archive copy {other} --to mirror")).succeeded();
    change_item(&world.path("archive"), &other, |sidecar| {
        sidecar.timestamp = sidecar.timestamp.checked_add(urepo::identity::SECOND).unwrap();
        let id = urepo::custody::CustodyId::from(*b"amended!");
        sidecar.custody = sidecar.custody.amended(id);
    });
    for (line, code) in [
        ("-c archive copy --all --to mirror".to_owned(), 0),
        (format!("-c archive copy {name} --to mirror"), 0),
        (format!("-c mirror copy {other} --to archive"), 23),
        ("-c archive copy nonsense --to mirror".to_owned(), 21),
        ("-c archive migrate --all --to mirror".to_owned(), 0),
        ("-c archive migrate --all --leave-copy --to mirror".to_owned(), 0),
        ("-c mirror migrate --all --to archive".to_owned(), 0),
        (format!("-c mirror migrate {other} --to archive"), 23),
        ("-c mirror copy --all --from archive".to_owned(), 0),
        (format!("-c mirror copy --from archive {name}"), 0),
        ("-c archive copy --all --to nowhere".to_owned(), 10),
    ] {
        changes_nothing(&world, &line, code);
    }
    let ran = world.run("-c archive migrate -n --all --to mirror");
    let plan = format!("would migrate {name} (1 file, 5 B)\nwould migrate {other} (1 file, 5 B)\n");
    assert_eq!(ran.succeeded(), plan);
    assert_eq!(ran.stderr, "would migrate 2 items, 2 files, 10 B; nothing was changed\n");
}

/// What killed runs left is told and stays.
#[test]
fn of_recovery() {
    let (world, _) = world_with_item();
    world.write("archive/.urepo/staging/7-0123456789abcdef/holder", "`urepo new` of yesterday");
    world.write("archive/.urepo/staging/7-0123456789abcdef/0-0/0/doc/a.txt", "al");
    changes_nothing(&world, "-c archive recover", 0);
    let told = world.run("-c archive recover -n");
    let expected = "would remove [WORLD]/archive/.urepo/staging/7-0123456789abcdef, \
                    of `urepo new` of yesterday\n";
    assert_eq!(told.succeeded(), expected);
}

/// The lock of a stage tells whether its run is at work.
#[test]
fn of_recovery_beside_a_run() {
    let (world, _) = world_with_item();
    let collection = urepo::collection::Collection::open(
        &world.path("archive"),
        &urepo::disk::Watcher::default(),
    )
    .unwrap();
    let clock = crate::support::TestClock::at("2026-11-21T02:14:00Z");
    let (agent, waiter) = (crate::support::agent(), crate::support::waiter(&clock));
    let writer = collection.writer(&agent, &waiter).unwrap();
    let stage = writer.stage_path().file_name().unwrap().to_str().unwrap().to_owned();
    let told = world.run("-c archive recover -n");
    let expected = format!("would not remove [WORLD]/archive/.urepo/staging/{stage}, of ");
    assert!(told.succeeded().starts_with(&expected), "{}", told.stdout);
    assert!(told.stdout.ends_with(": that run is at work\n"), "{}", told.stdout);
    let told = world.run("-c archive recover -n --json");
    let told: serde_json::Value = serde_json::from_str(told.succeeded()).unwrap();
    assert_eq!(told["counts"]["removed"], 0);
}

/// A collection that can not be made is refused dry as well.
#[test]
fn refuses_what_would_be_refused_by_init() {
    let (world, _) = world_with_item();
    changes_nothing(&world, "init archive --host archive.example.org", 23);
    changes_nothing(&world, "init archive/maps --host maps.example.org", 23);
}

#[test]
fn says_what_comes_besides_the_items() {
    let world = World::with_collection();
    world.write("drop/a.txt", "a");
    let would = |line: &str| world.run(&format!("-c archive -n {line}")).succeeded().to_owned();
    let a_txt = "would import [WORLD]/drop/a.txt: 1 file, 1 B";
    assert_eq!(would("import drop"), format!("{a_txt}\n"));
    assert_eq!(would("import drop --remove-source"), format!("{a_txt}, and remove it\n"));
    world.run("init mirror --host mirror.example.org").succeeded();
    assert_eq!(
        would("recover --with mirror"),
        "would raise the memories to the newest identifiers in `[WORLD]/mirror`, unless they are later\n"
    );
}
