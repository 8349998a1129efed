//! `urepo recover --inventory`: after a restore the inventory agrees with the items again.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::Collection;
use urepo::disk::Watcher;

use super::{Told, told};
use crate::support::{
    Faults, Mode, System, TestClock, World, agent, append, between_users, first_user,
    inventory_file, inventory_line, recovered_whole, share, waiter,
};

/// An archive whose inventory is that of another day: the names of an item that is gone, of one that is
/// not recorded, of one in another state, and of one that is as it was.
fn restored() -> (World, [String; 4]) {
    let world = World::new();
    std::fs::create_dir(world.path("archive")).unwrap();
    share(&world.path("archive"));
    world.run("init archive --host archive.example.org").succeeded();
    let names = ["gone", "new", "deleted", "kept"].map(|file| {
        world.write(file, file);
        world.run(&format!("-c archive new {file}")).line()
    });
    let [gone, new, deleted, _] = &names;
    let inventory = world.path("archive/.urepo/inventory");
    let file = std::fs::read_dir(&inventory).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    let mut old = String::new();
    for line in text.split_inclusive('\n').filter(|line| !line.contains(&format!(" {new} "))) {
        old += line;
    }
    world.run(&format!("-c archive delete {deleted} --force last --yes")).succeeded();
    std::fs::remove_dir_all(world.path("archive").join(gone)).unwrap();
    std::fs::write(&file, old).unwrap();
    (world, names)
}

#[test]
fn every_correction_is_a_line() {
    let (world, [gone, new, deleted, kept]) = restored();
    let damaged = |world: &World| world.run("-c archive verify").code == 20;
    let lines = |would: &str| {
        format!(
            "{would}given up: {gone}, was Original\n{would}changed: {deleted}, was Original, is \
             Deleted\n{would}taken in: {new}, Original\n"
        )
    };
    let before = told(&world.path("archive"));
    let ran = world.run("-c archive recover --inventory --dry-run");
    assert_eq!(ran.succeeded(), lines("would be "));
    assert_eq!(told(&world.path("archive")), before);
    // Nobody can be asked here, and nothing is given up unasked.
    let ran = world.run("-c archive recover --inventory");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(
        ran.stderr.contains(&format!("to be given up: {gone}, was Original")),
        "{}",
        ran.stderr
    );
    assert_eq!(told(&world.path("archive")), before);
    let ran = world.run("-c archive recover --inventory --yes");
    assert_eq!(ran.succeeded(), lines(""));
    assert!(ran.stderr.contains("corrected the inventory for 3 items"), "{}", ran.stderr);
    assert!(!damaged(&world));
    assert_eq!(told(&world.path("archive")), Told::default());
    let ran = world.run("-c archive recover --inventory");
    assert_eq!(ran.succeeded(), "", "nothing is asked if nothing is given up");
    assert!(ran.stderr.contains("the inventory agrees with the items"), "{}", ran.stderr);
    let shown = world.run(&format!("-c archive show {gone}"));
    assert_ne!(shown.code, 0);
    assert!(shown.stderr.contains("given up as lost"), "{}", shown.stderr);
    world.run(&format!("-c archive show {kept}")).succeeded();
}

#[test]
fn every_correction_is_a_record() {
    let (world, [gone, new, deleted, _]) = restored();
    for (dry, option) in [(true, "--dry-run"), (false, "--yes")] {
        let ran = world.run(&format!("-c archive recover --inventory --json {option}"));
        let mut records: Vec<serde_json::Value> =
            ran.succeeded().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let summary = records.pop().unwrap();
        assert_eq!(summary["type"], "summary");
        assert_eq!(
            summary["counts"]["corrected"],
            if dry { serde_json::Value::Null } else { 3.into() }
        );
        let found: Vec<_> = records
            .iter()
            .map(|it| [&it["id"], &it["outcome"], &it["was"], &it["state"]].map(|it| it.as_str()))
            .collect();
        let original = Some("Original");
        assert_eq!(
            found,
            [
                [Some(&*gone), Some("given_up"), original, None],
                [Some(&*deleted), Some("state_changed"), original, Some("Deleted")],
                [Some(&*new), Some("recorded"), None, original],
            ]
        );
        let is_planned = |it: &serde_json::Value| it["dry_run"].as_bool().unwrap_or(false);
        assert!(records.iter().all(|it| is_planned(it) == dry), "{records:?}");
    }
}

/// What a directory holds that cannot be listed is not known: damaged lines may be all that tells of a loss.
#[test]
fn damaged_lines_of_a_year_that_cannot_be_listed_stay() {
    let (world, [.., kept]) = restored();
    let root = world.path("archive");
    world.run("-c archive recover --inventory --yes").succeeded();
    let file = inventory_file(&root, &kept);
    append(&file, "2026-11-21T02:13:07Z entered rot 00000000\n");
    let damaged = std::fs::read(&file).unwrap();
    let year = root.join(&kept).parent().unwrap().to_owned();
    for directory in [year.parent().unwrap(), &*year] {
        let chmod = |mode| std::fs::set_permissions(directory, Permissions::from_mode(mode));
        chmod(0).unwrap();
        let ran = world.run_unprivileged("-c archive recover --inventory --dry-run");
        assert!(ran.stdout.contains("would be kept: damaged line of .urepo/inv"), "{}", ran.stdout);
        let ran = world.run_unprivileged("-c archive recover --inventory --yes --json");
        chmod(0o755).unwrap();
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let records = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        let records: Vec<serde_json::Value> = records.collect();
        assert_eq!(records[0]["outcome"], "kept");
        assert_eq!(records.last().unwrap()["counts"]["lines_kept"], 1);
        assert_eq!(std::fs::read(&file).unwrap(), damaged);
    }
    let ran = world.run("-c archive recover --inventory --yes");
    assert!(ran.succeeded().contains("removed: damaged line"), "{}", ran.stdout);
}

/// What happens between plan and deed is not acted upon: only what a person has agreed to is given up.
#[test]
fn only_what_was_agreed_upon_is_corrected() {
    let (world, [_, _, _, kept]) = restored();
    let root = world.path("archive");
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    let planned = collection.inventory_corrections().unwrap();
    std::fs::remove_dir_all(root.join(&kept)).unwrap();
    let clock = TestClock::at("2027-01-01T00:00:00Z");
    let corrected =
        collection.correct_inventory(&planned.added, &agent(), &waiter(&clock)).unwrap();
    assert_eq!(corrected.added, planned.added);
    let missing: Vec<_> = told(&root).missing.into_iter().map(|it| it.0.to_string()).collect();
    assert_eq!(missing, [kept]);
}

/// Whatever operation fails, a repetition completes it, and nothing else is corrected.
#[test]
fn failing_at_any_operation() {
    let (world, [.., kept]) = restored();
    let model = world.path("archive");
    append(&inventory_file(&model, &kept), "2026-11-21T02:13:07Z left rot\n");
    for mode in [Mode::Killed, Mode::Once(Errno::IO)] {
        for at in System::Own.points() {
            let root = world.path(format!("run-{at}"));
            copy(&model, &root);
            let faults = Arc::new(Faults::new(&root, at, mode).of_changes());
            let clock = TestClock::at("2027-01-01T00:00:00Z");
            let correct = |watcher: &Watcher| -> Result<_, urepo::collection::CollectionError> {
                let collection = Collection::open(&root, watcher)?;
                let planned = collection.inventory_corrections()?;
                collection.correct_inventory(&planned.added, &agent(), &waiter(&clock))
            };
            let watcher = Watcher::new(Arc::clone(&faults) as _);
            let first = first_user(|| correct(&watcher));
            let struck = faults.struck();
            correct(&Watcher::default()).unwrap();
            assert_eq!(told(&root), Told::default(), "{at}: {struck:?}");
            recovered_whole(&root, &format!("{at}: {struck:?}"));
            std::fs::remove_dir_all(&root).unwrap();
            if struck.is_none() {
                let first = first.unwrap();
                assert_eq!((first.added.len(), first.removed.len()), (3, 1));
                let least = if mode == Mode::Killed { 5 } else { 20 };
                assert!(at > least, "only {at} operations were made to fail");
                break;
            }
        }
    }
}

#[test]
fn between_two_users() {
    between_users(failing_at_any_operation);
}

/// Damaged lines say nothing any more, and only this brings the finding to an end.
#[test]
fn damaged_lines_are_removed() {
    let (world, names) = restored();
    let root = world.path("archive");
    world.run("-c archive recover --inventory --yes").succeeded();
    let [gone, .., kept] = &names;
    let file = inventory_file(&root, kept);
    let good = std::fs::read_to_string(&file).unwrap();
    let foreign = inventory_line("2026-11-22T02:13:07Z", "left other.org/a/2026/11.21 deleted");
    // Rot in the middle, a line of another file, one that is too long, and a line after them.
    append(&file, "2026-11-21T02:13:07Z left some\u{1b}thing 00000000\n");
    append(&file, &foreign);
    append(&file, &format!("{}\n", "x".repeat(100_000)));
    let last = inventory_line("2026-11-23T02:13:07Z", &format!("became {kept} Original"));
    append(&file, &last);
    let damaged = std::fs::read_to_string(&file).unwrap();
    let ran = world.run("-c archive verify");
    assert!(ran.succeeded().contains("U309"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("`urepo -c archive recover --inventory` removes"),
        "{}",
        ran.stderr
    );
    let ran = world.run("-c archive recover --inventory --dry-run");
    assert_eq!(ran.succeeded().matches("would be removed: damaged line of .urepo/inv").count(), 4);
    assert!(ran.stdout.contains("left some\\u{1b}thing"), "{}", ran.stdout);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), damaged);
    let ran = world.run("-c archive recover --inventory --json");
    let records = ran.succeeded().lines().map(|line| serde_json::from_str(line).unwrap());
    let records: Vec<serde_json::Value> = records.collect();
    assert_eq!(records.last().unwrap()["counts"]["lines_removed"], 4);
    assert_eq!(
        (&records[0]["type"], &records[0]["outcome"]),
        (&"inventory_line".into(), &"removed".into())
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), good + &last);
    assert!(!world.run("-c archive verify").succeeded().contains("U309"));
    let shown = world.run(&format!("-c archive show {gone}"));
    assert!(shown.stderr.contains("given up as lost"), "{}", shown.stderr);
}

#[test]
fn every_correction_is_an_event() {
    let (world, [gone, new, deleted, kept]) = restored();
    world.run("-c archive recover --inventory --yes").succeeded();
    let notes = |name: &str| {
        let ran = world.run(&format!("-c archive log --json {name}"));
        let events = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        let events: Vec<serde_json::Value> = events.collect();
        let events = events.iter().filter(|event| event["event"] == "correction");
        events.map(|event| event["note"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(notes(&gone), ["given up as lost, was Original"]);
    assert_eq!(notes(&new), ["taken in, is Original"]);
    assert_eq!(notes(&deleted), ["was Original, is Deleted"]);
    assert_eq!(notes(&kept), [""; 0]);
}

#[test]
fn verify_names_what_ends_the_finding() {
    let (world, [.., kept]) = restored();
    let hint = |text: &str| {
        let ran = world.run("-c archive verify");
        assert_eq!(ran.code, 20);
        assert!(ran.stderr.contains(text), "{}", ran.stderr);
    };
    hint(
        "hint: `urepo -c archive repair ITEM --from COLLECTION` brings it back from a copy; where there is none, \
          `urepo -c archive recover --inventory` gives it up",
    );
    std::fs::write(world.path("archive").join(&kept).join("doc/kept"), "rots").unwrap();
    hint(
        "repairs it from a good copy; `urepo -c archive recover --inventory` gives up what is gone",
    );
    world.run("-c archive recover --inventory --yes").succeeded();
    assert!(!world.run("-c archive verify").stdout.contains("U108"));
    hint("repairs it from a good copy; nothing here was changed");
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.unwrap().success());
}
