//! `refresh`, and the rules that are given to `copy`.

use urepo::item::State;

use super::super::{records, run_with_input};
use super::{archive_and_mirror, is_clean, make, settle, sidecar, states, tells, update};
use crate::support::World;
use crate::transfer::edit;

/// Copies of all items are at `mirror`; the Original of the first is updated then.
fn stale(items: usize) -> (World, Vec<String>) {
    let (world, names) = archive_and_mirror(items);
    world.run("-c archive copy --all --to mirror").succeeded();
    let archive = super::super::open(&world);
    edit(&archive, &names[0].parse().unwrap(), "0.txt", b"updated");
    (world, names)
}

#[test]
fn from_a_collection_that_is_given() {
    let (world, names) = stale(2);
    let line = "-c mirror refresh --from archive";
    let plan = format!("would refresh {} (1 file, 7 B)\n", names[0]);
    let closing = "would refresh 1 item, 1 file, 7 B; 1 Copy up to date\n";
    tells(&world.run(&format!("{line} -n")), 0, &plan, closing);
    tells(&world.run(line), 0, "", "refreshed 1 item, 1 file, 7 B; 1 Copy up to date\n");
    assert_eq!(world.run(&format!("-c mirror cat {}", names[0])).stdout, "updated");
    tells(&world.run(line), 0, "", "nothing to refresh; 2 Copies up to date\n");
    tells(&world.run(&format!("{line} -q")), 0, "", "");
    is_clean(&world);
}

/// Each Copy has its Original in another of the collections that the settings name; one of them can
/// not be reached.
#[test]
fn from_the_collections_of_the_settings() {
    let (world, names) = stale(1);
    make(&world, "third");
    world.write("maps.txt", "maps");
    let other = world.run("-c third new maps.txt").line();
    world.run(&format!("-c third copy {other} --to mirror")).succeeded();
    update(&world, "third", &other);
    settle(&world, &["archive", "gone", "mirror", "third"]);
    let typed = format!("{} {other}", names[0]);
    let ends = typed.replace("example.org/", "");
    for selected in ["", &typed, &ends] {
        let ran = world.run(&format!("-c mirror refresh -n {selected}"));
        assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2), "{selected}: {}", ran.stderr);
        assert!(ran.stderr.contains("warning: the collection `gone`"), "{}", ran.stderr);
    }
    // A list can be read once; both collections hear of all of it.
    let list = format!("{}\n{other}\n", names[0]);
    let ran = run_with_input(&world, "-c mirror refresh --items-from -", list.as_bytes());
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.ends_with("refreshed 2 items, 2 files, 11 B\n"), "{}", ran.stderr);
    is_clean(&world);
}

/// What was asked for by name and can not be done is never a success.
#[test]
fn of_what_has_no_original_within_reach() {
    let (world, names) = stale(1);
    make(&world, "third");
    let line = format!("-c mirror refresh --from third {}", names[0]);
    let message = format!("no known collection has the Original of `{}`", names[0]);
    let hint = "name the one that has it with `--from PATH`";
    tells(&world.run(&line), 21, "", &format!("error: {message}\nhint: {hint}\n"));
    let told = records(&world.run(&format!("{line} --json")));
    assert_eq!((&told[0]["outcome"], &told[1]["exit_code"]), (&"failed".into(), &21.into()));
    // Not asked for by name, it is left.
    tells(&world.run("-c mirror refresh --from third"), 0, "", "nothing to refresh\n");
    let line = "-c mirror refresh --from archive 2009/02.16.17.46";
    assert_eq!(world.run(line).code, 21);
    let line = "-c mirror refresh --from archive example.org/archive/2009/02.16.17.46";
    assert_eq!(world.run(line).code, 21);
    world.run(&format!("-c archive delete --force last {}", names[0])).succeeded();
    let line = format!("-c mirror refresh --from archive {}", names[0]);
    assert_eq!(world.run(&line).code, 22);
    assert_eq!(world.run("-c mirror refresh").code, 1, "nothing to look in");
    assert_eq!(world.run("-c mirror refresh --from nowhere").code, 10);
}

#[test]
fn of_copies_that_copy_finds_stale() {
    let (world, names) = stale(2);
    let line = "-c archive copy --all --to mirror";
    let ran = world.run(line);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("older than its Original"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\n1 there already\n"), "{}", ran.stderr);
    let ran = world.run(&format!("{line} --refresh"));
    tells(&ran, 0, "", "copied 1 item, 1 file, 7 B; 1 there already\n");
    assert_eq!(sidecar(&world, "mirror", &names[0]).unwrap().state, State::Copy);
    is_clean(&world);
}

/// What is there already is believed: `verify` reads it.
#[test]
fn of_copies_that_are_damaged() {
    let (world, names) = archive_and_mirror(2);
    let line = "-c archive copy --all --to mirror";
    world.run(line).succeeded();
    world.write(&format!("mirror/{}/doc/0.txt", names[0]), "fiLe 0");
    tells(&world.run(line), 0, "", "nothing to copy; 2 there already\n");
    assert_eq!(world.run("verify archive mirror").code, 20);
}

#[test]
fn of_what_was_deleted_there() {
    let (world, names) = archive_and_mirror(1);
    let copy = format!("-c archive copy {} --to mirror", names[0]);
    world.run(&format!("-c archive migrate --leave-copy {} --to mirror", names[0])).succeeded();
    world.run(&format!("-c mirror delete --force last {}", names[0])).succeeded();
    assert_eq!(world.run(&copy).code, 23);
    assert_eq!(states(&world, &names[0]), [Some(State::Copy), Some(State::Deleted)]);
    let told = world.run(&format!("{copy} --revive -v"));
    assert_eq!(told.succeeded(), format!("revived {} (1 file, 6 B)\n", names[0]));
    // Where the Original was deleted, it comes back as the Original.
    assert_eq!(states(&world, &names[0]), [Some(State::Copy), Some(State::Original)]);
    is_clean(&world);
}
