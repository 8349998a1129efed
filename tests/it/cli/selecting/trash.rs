//! Selecting among what was deleted, and what is damaged.

use std::fs;

use crate::support::{Ran, World};

/// Three items, and a mirror that has Copies of them.
fn three() -> (World, [String; 3]) {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    let names = ["a.txt", "b.txt", "c.txt"].map(|file| {
        world.write(file, file);
        world.run(&format!("-c archive new {file}")).line()
    });
    world.run("-c archive copy --all --to mirror").succeeded();
    (world, names)
}

/// The same, deleted.
fn deleted() -> (World, [String; 3]) {
    let (world, names) = three();
    world.run("-c archive delete --all --with mirror --yes").succeeded();
    world.write("empty", "");
    world.write("second", format!("{}\n", names[1]));
    (world, names)
}

/// How many items have files in the trash.
fn in_trash(world: &World) -> usize {
    fs::read_dir(world.path("archive/.urepo/trash")).unwrap().count()
}

#[track_caller]
fn answers(ran: &Ran, code: i32, last: &str) {
    assert_eq!((ran.code, ran.stderr.lines().last()), (code, Some(last)), "{}", ran.stderr);
}

#[test]
fn an_empty_selection_purges_and_restores_nothing() {
    let (world, _) = deleted();
    for flags in ["--since 9999-12-31", "--until 1995", "--prefix example.org/other"] {
        let ran = world.run(&format!("-c archive purge {flags} --yes"));
        answers(&ran, 0, "nothing to purge");
        let ran = world.run(&format!("-c archive restore {flags}"));
        answers(&ran, 0, "nothing to restore");
    }
    for command in ["purge", "restore"] {
        let ran = world.run(&format!("-c archive {command} - < empty"));
        answers(&ran, 0, &format!("nothing to {command}"));
        assert!(ran.stderr.starts_with("the list of items is empty\n"), "{}", ran.stderr);
    }
    assert_eq!(in_trash(&world), 3);
    assert_eq!(world.run("-c archive list --state Original").stdout, "");
    assert_eq!(world.run("-c archive restore").code, 2);
}

#[test]
fn what_is_deleted_is_shown_first() {
    let (world, names) = three();
    let ran = world.run("-c archive delete --all --with mirror");
    let shown = names.each_ref().map(|name| format!("to be deleted: {name}\n")).concat();
    assert!(ran.code == 2 && ran.stderr.starts_with(&shown), "{}", ran.stderr);
    let ran = world.run("-c archive delete --until 1995 --yes");
    answers(&ran, 0, "nothing to delete");
    assert_eq!(world.run("-c archive list --state Original").stdout.lines().count(), 3);
}

#[test]
fn what_is_restored_is_told_in_a_dry_run() {
    let (world, names) = deleted();
    let ran = world.run("-c archive --dry-run restore - < second");
    assert!(ran.stdout.starts_with(&format!("would restore {} as Original", names[1])));
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    let ran = world.run("-c archive --dry-run restore --since 1d");
    assert_eq!(ran.stdout.lines().count(), 3, "{}", ran.stdout);
    assert_eq!(in_trash(&world), 3);
    world.run("-c archive restore --from mirror - < second").succeeded();
    assert_eq!(world.run("-c archive list --state Original").line(), names[1]);
    world.run("-c archive restore --from mirror --all").succeeded();
    assert_eq!(world.run("-c archive list --state Original").stdout.lines().count(), 3);
    // Here again, they are no longer among those that can be restored.
    answers(&world.run("-c archive restore --all"), 0, "nothing to restore");
}

#[test]
fn what_is_purged_is_shown_first() {
    let (world, names) = deleted();
    let ran = world.run("-c archive purge - < second");
    assert!(ran.stderr.starts_with(&format!("to be purged: {}:", names[1])), "{}", ran.stderr);
    assert_eq!((ran.code, in_trash(&world)), (2, 3));
    world.run("-c archive purge - --yes < second").succeeded();
    assert_eq!(in_trash(&world), 2);
    let ran = world.run("-c archive --dry-run purge --since 1d");
    assert!(!ran.stdout.contains(&format!("{}:", names[1])), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    world.run("-c archive purge --prefix example.org/archive --yes").succeeded();
    assert_eq!(in_trash(&world), 0);
}

#[test]
fn repairs_can_be_narrowed() {
    let (world, names) = three();
    world.write("second", format!("{}\n", names[1]));
    world.write("empty", "");
    let damaged =
        |at: usize| world.path(format!("archive/{}/doc/{}.txt", names[at], ["a", "b"][at]));
    for at in [0, 1] {
        fs::write(damaged(at), "X.txt").unwrap();
    }
    let run = |flags: &str| world.run(&format!("-c archive repair --from mirror {flags}"));
    for flags in ["--since 9999-12-31", "--until 1995", "- < empty"] {
        answers(&run(flags), 0, "nothing to repair in 0 items");
    }
    assert_eq!(run("--quick - < second").code, 2);
    run("- < second").succeeded();
    assert_eq!(fs::read(damaged(0)).unwrap(), b"X.txt");
    assert_eq!(fs::read(damaged(1)).unwrap(), b"b.txt");
    let ran = run("--dry-run --since 1d");
    assert!(ran.stdout.starts_with(&format!("would repair {}:", names[0])), "{}", ran.stdout);
    run("--all").succeeded();
    assert_eq!(fs::read(damaged(0)).unwrap(), b"a.txt");
}
