//! `urepo recover --inventory`: after a restore the inventory agrees with the items again.

use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::Collection;
use urepo::disk::Watcher;

use super::{Told, told};
use crate::support::{Faults, Mode, TestClock, World, agent, waiter};

/// An archive whose inventory is that of another day: the names of an item that is gone, of one that is
/// not recorded, of one in another state, and of one that is as it was.
fn restored() -> (World, [String; 4]) {
    let world = World::new();
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
        assert_eq!(summary["corrected"], if dry { serde_json::Value::Null } else { 3.into() });
        let found: Vec<_> = records
            .iter()
            .map(|it| [&it["id"], &it["outcome"], &it["was"], &it["state"]].map(|it| it.as_str()))
            .collect();
        let original = Some("Original");
        assert_eq!(
            found,
            [
                [Some(&*gone), Some("given-up"), original, None],
                [Some(&*deleted), Some("state-changed"), original, Some("Deleted")],
                [Some(&*new), Some("taken-in"), None, original],
            ]
        );
        assert!(records.iter().all(|it| it["dry_run"] == dry), "{records:?}");
    }
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
    let corrected = collection.correct_inventory(&planned, &agent(), &waiter(&clock)).unwrap();
    assert_eq!(corrected, planned);
    let missing: Vec<_> = told(&root).missing.into_iter().map(|it| it.0.to_string()).collect();
    assert_eq!(missing, [kept]);
}

/// Whatever operation fails, a repetition completes it, and nothing else is corrected.
#[test]
fn failing_at_any_operation() {
    let (world, _) = restored();
    let model = world.path("archive");
    for mode in [Mode::Killed, Mode::Once(Errno::IO)] {
        for at in 1.. {
            let root = world.path(format!("run-{at}"));
            copy(&model, &root);
            let faults = Arc::new(Faults::new(&root, at, mode));
            let clock = TestClock::at("2027-01-01T00:00:00Z");
            let correct = |watcher: &Watcher| -> Result<_, urepo::collection::CollectionError> {
                let collection = Collection::open(&root, watcher)?;
                let planned = collection.inventory_corrections()?;
                collection.correct_inventory(&planned, &agent(), &waiter(&clock))
            };
            let first = correct(&Watcher::new(Arc::clone(&faults) as _));
            let struck = faults.struck();
            correct(&Watcher::default()).unwrap();
            assert_eq!(told(&root), Told::default(), "{at}: {struck:?}");
            std::fs::remove_dir_all(&root).unwrap();
            if struck.is_none() {
                assert_eq!(first.unwrap().len(), 3);
                assert!(at > 20, "only {at} operations were made to fail");
                break;
            }
        }
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.unwrap().success());
}
