//! `urepo recover --accept-loss`: after a restore the ledger agrees with the items again.

use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::Collection;
use urepo::disk::Watcher;

use super::{Told, told};
use crate::support::{
    Faults, Mode, System, TestClock, World, agent, append, between_users, first_user, forget,
    forget_head, ledger_file, recovered_whole, share, waiter,
};

/// An archive whose ledger is that of another day: the names of an item that is gone, of one that is
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
    forget(&world.path("archive"), new);
    let old = std::fs::read(ledger_file(&world.path("archive"))).unwrap();
    world.run(&format!("-c archive delete {deleted} --force last --yes")).succeeded();
    std::fs::remove_dir_all(world.path("archive").join(gone)).unwrap();
    std::fs::write(ledger_file(&world.path("archive")), old).unwrap();
    (world, names)
}

#[test]
fn every_correction_is_a_line() {
    let (world, [gone, new, deleted, kept]) = restored();
    forget_head(&world.path("archive"));
    let damaged = |world: &World| world.run("-c archive verify").code == 20;
    let lines = |would: &str| {
        format!(
            "{would}changed: {deleted}, was Original, is Deleted\n{would}taken in: {new}, Original\n"
        )
    };
    let before = told(&world.path("archive"));
    let ran = world.run("-c archive recover --accept-loss --dry-run");
    let (lost, rest) = ran.succeeded().split_once('\n').unwrap();
    let nothing = format!(
        "would give up {gone}: the item; nothing in sight has it; last known is the Original of "
    );
    assert!(lost.starts_with(&nothing), "{lost}");
    assert_eq!(rest, lines("would be "));
    assert_eq!(told(&world.path("archive")), before);
    // Nobody can be asked here, and nothing is given up unasked.
    let ran = world.run("-c archive recover --accept-loss");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("to be given up: {gone}: the item")), "{}", ran.stderr);
    assert_eq!(told(&world.path("archive")), before);
    // Nor what no person named.
    let ran = world.run("-c archive recover --accept-loss --yes");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert_eq!(told(&world.path("archive")), before);
    give_up(&world, &gone);
    let ran = world.run("-c archive recover --accept-loss --yes");
    assert_eq!(ran.succeeded(), lines(""));
    assert!(ran.stderr.contains("corrected the ledger for 2 items"), "{}", ran.stderr);
    assert!(!damaged(&world));
    assert_eq!(told(&world.path("archive")), Told::default());
    let ran = world.run("-c archive recover --accept-loss");
    assert_eq!(ran.succeeded(), "", "nothing is asked if nothing is given up");
    assert!(ran.stderr.contains("no line of the ledger was corrected"), "{}", ran.stderr);
    let shown = world.run(&format!("-c archive show {gone}"));
    assert_ne!(shown.code, 0);
    assert!(shown.stderr.contains("given up as lost"), "{}", shown.stderr);
    world.run(&format!("-c archive show {kept}")).succeeded();
}

#[test]
fn every_correction_is_a_record() {
    let (world, [gone, new, deleted, _]) = restored();
    forget_head(&world.path("archive"));
    for (dry, option) in [(true, "--dry-run"), (false, "--yes")] {
        if !dry {
            give_up(&world, &gone);
        }
        let ran = world.run(&format!("-c archive recover --accept-loss --json {option}"));
        let mut records: Vec<serde_json::Value> =
            ran.succeeded().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let summary = records.pop().unwrap();
        assert_eq!(summary["type"], "summary");
        assert_eq!(
            summary["counts"]["corrected"],
            if dry { serde_json::Value::Null } else { 2.into() }
        );
        records.retain(|it| it["type"] != "finding");
        let found: Vec<_> = records
            .iter()
            .map(|it| [&it["id"], &it["did"], &it["was"], &it["state"]].map(|it| it.as_str()))
            .collect();
        let original = Some("Original");
        let given_up = dry.then_some([Some(&*gone), Some("given_up"), original, None]);
        let expected: Vec<_> = given_up
            .into_iter()
            .chain([
                [Some(&*deleted), Some("line_corrected"), original, Some("Deleted")],
                [Some(&*new), Some("recorded"), None, original],
            ])
            .collect();
        assert_eq!(found, expected);
        let is_planned = |it: &serde_json::Value| it["dry_run"].as_bool().unwrap_or(false);
        assert!(records.iter().all(|it| is_planned(it) == dry), "{records:?}");
    }
}

/// What happens between plan and deed is not acted upon: only what a person has agreed to is given up.
#[test]
fn only_what_was_agreed_upon_is_corrected() {
    let (world, [_, _, _, kept]) = restored();
    let root = world.path("archive");
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    let planned = collection.ledger_corrections().unwrap();
    std::fs::remove_dir_all(root.join(&kept)).unwrap();
    let clock = TestClock::at("2027-01-01T00:00:00Z");
    let corrected = collection.correct_ledger(&planned, &agent(), &waiter(&clock)).unwrap();
    assert_eq!(corrected.added, planned.added);
    let missing: Vec<_> = told(&root).missing.into_iter().map(|it| it.0.to_string()).collect();
    assert_eq!(missing, [kept]);
}

/// Whatever operation fails, a repetition completes it, and nothing else is corrected.
#[test]
fn failing_at_any_operation() {
    let (world, _) = restored();
    let model = world.path("archive");
    append(&ledger_file(&model), "rot\n");
    for mode in [Mode::Killed, Mode::Once(Errno::IO)] {
        for at in System::Own.points() {
            let root = world.path(format!("run-{at}"));
            copy(&model, &root);
            let faults = Arc::new(Faults::new(&root, at, mode).of_changes());
            let clock = TestClock::at("2027-01-01T00:00:00Z");
            let correct = |watcher: &Watcher| -> Result<_, urepo::collection::CollectionError> {
                let collection = Collection::open(&root, watcher)?;
                let planned = collection.ledger_corrections()?;
                collection.correct_ledger(&planned, &agent(), &waiter(&clock))
            };
            let watcher = Watcher::new(Arc::clone(&faults) as _);
            let first = first_user(|| correct(&watcher));
            let struck = faults.struck();
            correct(&Watcher::default()).unwrap();
            assert_eq!(told(&root), Told { accepted: 1, ..Told::default() }, "{at}: {struck:?}");
            recovered_whole(&root, &format!("{at}: {struck:?}"));
            std::fs::remove_dir_all(&root).unwrap();
            if struck.is_none() {
                let first = first.unwrap();
                assert_eq!((first.added.len(), first.damaged), (3, 1));
                assert!(at > 3, "only {at} operations were made to fail");
                break;
            }
        }
    }
}

#[test]
fn between_two_users() {
    between_users(failing_at_any_operation);
}

/// Damage stays in the ledger for ever; once a person has accepted it, it is a warning, and more of it is damage again.
#[test]
fn damaged_lines_are_accepted() {
    let (world, names) = restored();
    let root = world.path("archive");
    let [gone, .., kept] = &names;
    forget_head(&root);
    give_up(&world, gone);
    world.run("-c archive recover --accept-loss --yes").succeeded();
    let file = ledger_file(&root);
    // Rot, and a line that is too long.
    append(&file, "2026-11-21T02:13:07Z left some\u{1b}thing 00000000\n");
    append(&file, &format!("{}\n", "x".repeat(100_000)));
    let damaged = std::fs::read_to_string(&file).unwrap();
    let ran = world.run("-c archive verify");
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    assert!(ran.stdout.contains("U309"), "{}", ran.stdout);
    let hint = "`urepo -c archive recover --accept-loss` accepts";
    assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    let ran = world.run("-c archive recover --accept-loss --dry-run");
    assert_eq!(ran.succeeded(), "would accept 2 damaged lines of the ledger\n");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), damaged);
    let ran = world.run("-c archive recover --accept-loss --json");
    let records = ran.succeeded().lines().map(|line| serde_json::from_str(line).unwrap());
    let records: Vec<serde_json::Value> = records.collect();
    assert_eq!(
        records[0],
        serde_json::json!({
            "type": "finding", "version": 1, "kind": "ledger", "severity": "notice",
            "message": "accepted 2 damaged lines of the ledger",
        })
    );
    assert_eq!(records.last().unwrap()["counts"]["damaged_lines"], 2);
    assert!(std::fs::read_to_string(&file).unwrap().starts_with(&damaged));
    let ran = world.run("-c archive verify");
    assert!(ran.succeeded().contains("U311"), "{}", ran.stdout);
    let shown = world.run(&format!("-c archive show {gone}"));
    assert!(shown.stderr.contains("given up as lost"), "{}", shown.stderr);
    world.run(&format!("-c archive delete {kept} --force last --yes")).succeeded();
    assert_eq!(world.run("-c archive verify").code, 0);
    let ran = world.run("-c archive recover --accept-loss");
    assert!(ran.stderr.contains("no line of the ledger was corrected"), "{}", ran.stderr);
    append(&file, "more\n");
    assert_eq!(world.run("-c archive verify").code, 20);
}

#[test]
fn every_correction_is_an_event() {
    let (world, [gone, new, deleted, kept]) = restored();
    forget_head(&world.path("archive"));
    give_up(&world, &gone);
    world.run("-c archive recover --accept-loss --yes").succeeded();
    let notes = |name: &str| {
        let ran = world.run(&format!("-c archive log --json {name}"));
        let events = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        let events: Vec<serde_json::Value> = events.collect();
        let kinds = ["registration", "loss"];
        let events =
            events.iter().filter(|it| it["event"].as_str().is_some_and(|it| kinds.contains(&it)));
        let notes = events.filter_map(|event| event["note"].as_str());
        notes.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(notes(&gone), ["given up as lost, was Original"]);
    assert_eq!(notes(&new), ["taken in, is Original"]);
    assert_eq!(notes(&deleted), ["was Original, is Deleted"]);
    assert_eq!(notes(&kept), [""; 0]);
}

#[test]
fn verify_names_what_ends_the_finding() {
    let (world, [gone, .., kept]) = restored();
    let hint = |text: &str| {
        let ran = world.run("-c archive verify");
        assert_eq!(ran.code, 20);
        assert!(ran.stderr.contains(text), "{}", ran.stderr);
    };
    forget_head(&world.path("archive"));
    let lost = |name: &str| format!("hint: urepo -c archive repair {name} --from");
    hint(&lost(&gone));
    std::fs::write(world.path("archive").join(&kept).join("doc/kept"), "rots").unwrap();
    hint(&lost(&kept));
    give_up(&world, &gone);
    assert!(!world.run("-c archive verify").stdout.contains("U108"));
    hint(&lost(&kept));
}

/// Gives the item `name` up.
fn give_up(world: &World, name: &str) {
    world.run(&format!("-c archive recover --accept-loss --yes {name}")).succeeded();
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.unwrap().success());
}

/// Runs the program as a user with a host state of its own.
fn run_as(world: &World, state: &str, line: &str) -> crate::support::Ran {
    let mut command = world.command(line.split_whitespace());
    command.env("UREPO_STATE", world.path(state));
    world.finish(command)
}

/// Deposits go on, changes of what exists wait for a person, and one person is enough for all users.
#[test]
fn a_ledger_that_was_put_back_stops_changes_of_items() {
    let world = World::new();
    world.run("init archive --host archive.example.org").succeeded();
    world.run("init mirror --host mirror.example.org").succeeded();
    let deposit = |state: &str, file: &str| {
        world.write(file, file);
        run_as(&world, state, &format!("-c archive new {file}"))
    };
    let name = deposit(".state", "a").line();
    let old = std::fs::read(ledger_file(&world.path("archive"))).unwrap();
    deposit(".state", "b").line();
    deposit("other", "c").line();
    std::fs::write(ledger_file(&world.path("archive")), &old).unwrap();
    let is_told = |ran: &crate::support::Ran| ran.stderr.contains("was cut or put back");
    let changes = [
        format!("meta set {name} title=x"),
        format!("delete {name} --force last --yes"),
        format!("migrate {name} --to mirror"),
    ];
    for change in &changes {
        let ran = world.run(&format!("-c archive {change}"));
        assert!(ran.code == 23 && is_told(&ran), "{change}: {} {}", ran.code, ran.stderr);
        assert!(ran.stderr.contains("recover --restored`"), "{}", ran.stderr);
    }
    world.write("d", "d");
    for other in ["new d", "mint", "import d", "copy --all --to mirror"] {
        let ran = world.run(&format!("-c archive {other}"));
        assert_eq!(ran.code, 0, "{other}: {}", ran.stderr);
        assert!(is_told(&ran) || other.starts_with("copy"), "{other}: {}", ran.stderr);
    }
    let ran = world.run("-c archive status");
    assert!(
        ran.code == 3 && ran.stderr.starts_with("warning: `.urepo/ledger` of "),
        "{}",
        ran.stderr
    );
    assert!(is_told(&world.run(&format!("-c archive show {name}"))));
    let ran = world.run("-c archive recover --restored -n");
    assert_eq!(ran.succeeded().matches("would be taken in").count(), 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("what is missing between "), "{}", ran.stderr);
    assert_eq!(run_as(&world, "other", "-c archive verify").code, 20);
    let planned = ran.stdout.replace("would be ", "").replace("would accept", "accepted");
    assert_eq!(world.run("-c archive recover --restored").succeeded(), planned);
    world.run(&format!("-c archive {}", changes[0])).succeeded();
    for state in [".state", "other"] {
        let ran = run_as(&world, state, "-c archive verify");
        assert!(ran.succeeded().is_empty(), "{}", ran.stdout);
    }
    let text = std::fs::read_to_string(ledger_file(&world.path("archive"))).unwrap();
    assert!(text.contains("\"event\":\"restored\"") && text.contains("\"since\":"), "{text}");
    // The line accepts nothing that is lost later.
    std::fs::write(ledger_file(&world.path("archive")), &old).unwrap();
    assert_eq!(run_as(&world, ".state", "-c archive verify").code, 20);
}
