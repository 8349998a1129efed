//! What is told: in words, in records, much or little.

use serde_json::{Value, json};

use super::super::{bytes_below, leaf, records};
use super::{archive_and_mirror, is_clean, states, tells};
use crate::support::change_item;
use urepo::item::State;

#[test]
fn as_much_as_is_asked_for() {
    let (world, names) = archive_and_mirror(3);
    let [one, two, three] = &names[..] else { panic!("{names:?}") };
    let run = |line: &str| world.run(&format!("-c archive {line} --to mirror"));
    tells(&run(&format!("copy {one}")), 0, "", "copied 1 item, 1 file, 6 B\n");
    tells(&run(&format!("copy {one}")), 0, "", "nothing to copy; 1 there already\n");
    tells(&run(&format!("-q copy {two}")), 0, "", "");
    tells(&run(&format!("-q copy {two}")), 0, "", "");
    let each = format!("there already: {one}\nthere already: {two}\n");
    let all = format!("{each}copied {three} (1 file, 6 B)\n");
    let closing = "copied 1 item, 1 file, 6 B; 2 there already\n";
    tells(&run("copy --all -v"), 0, &all, closing);
    let each = format!("migrated {one} (1 file, 6 B)\n");
    tells(&run(&format!("migrate -v {one}")), 0, &each, "migrated 1 item, 1 file, 6 B\n");
    // Quiet is not silent: what failed is told.
    let ran = run("-q copy nonsense");
    assert_eq!(ran.code, 21);
    assert!(ran.stderr.starts_with("error: no item `nonsense`"), "{}", ran.stderr);
    is_clean(&world);
}

/// Every later change would be dated after it, and win.
#[test]
fn that_an_item_is_dated_in_the_future() {
    let (world, names) = archive_and_mirror(2);
    change_item(&world.path("archive"), &names[1], |sidecar| {
        sidecar.described = Some("2999-01-01T00:00:00Z".parse().unwrap());
    });
    let warning = format!(
        "warning: `{}`: its last change is dated 2999-01-01T00:00:00Z, in the future\n",
        names[1]
    );
    let copied = format!("{warning}copied 2 items, 2 files, 12 B\n");
    tells(&world.run("-c archive copy --all --to mirror"), 0, "", &copied);
    tells(
        &world.run("-c archive copy --all --to mirror"),
        0,
        "",
        "nothing to copy; 2 there already\n",
    );
    let verified = world.run("-c archive verify");
    let found = format!("{}{}", verified.stdout, verified.stderr);
    assert_eq!(verified.code, 0, "{found}");
    assert_eq!(found.matches("U115").count(), 1, "{found}");
}

/// The same command again does nothing and ends well, in whatever way the item is named.
#[test]
fn that_an_earlier_run_has_done_it() {
    for rest in ["", " --leave-copy"] {
        let (world, names) = archive_and_mirror(1);
        for item in [&names[0], leaf(&names[0])] {
            let line = format!("-c archive migrate {item} --to mirror{rest}");
            let told = world.run(&line);
            assert_eq!(told.code, 0, "{line}: {}", told.stderr);
            let again = world.run(&line);
            tells(&again, 0, "", "nothing to migrate; 1 there already\n");
        }
        let left = if rest.is_empty() { State::Elsewhere } else { State::Copy };
        assert_eq!(states(&world, &names[0]), [Some(left), Some(State::Original)]);
        is_clean(&world);
    }
}

/// What was taken there and deleted since is not there already.
#[test]
fn that_what_was_migrated_is_deleted_now() {
    let (world, names) = archive_and_mirror(1);
    let line = format!("-c archive migrate {} --to mirror", names[0]);
    world.run(&line).succeeded();
    world.run(&format!("-c mirror delete --force last {}", names[0])).succeeded();
    assert_eq!(world.run(&line).code, 23);
}

#[test]
fn in_records() {
    let (world, names) = archive_and_mirror(1);
    let name = &names[0];
    let run = |line: &str| records(&world.run(&format!("-c archive {line} --json --to mirror")));
    let place = world.path("mirror").join(name).display().to_string();
    let planned = |mut record: Value, is_dry: bool| {
        if is_dry {
            record["dry_run"] = true.into();
        }
        record
    };
    let item = |did: &str, state: Option<&str>, is_dry: bool| {
        let mut record = json!({
            "type": "item", "version": 1, "id": name, "path": place, "did": did, "files": 1, "bytes": 6,
        });
        if let Some(state) = state {
            record["state"] = state.into();
        }
        planned(record, is_dry)
    };
    let summary = |did: &str, items: u64, skipped: u64, is_dry: bool| {
        let mut record = json!({
            "type": "summary", "version": 1, "exit_code": 0,
            "counts": {
                "items": items, "failed": 0, "skipped": skipped, "files": items, "bytes": 6 * items,
            },
        });
        if items > 0 {
            record["counts"][did] = items.into();
        }
        planned(record, is_dry)
    };
    let in_world = |told: Vec<Value>| {
        let text = json!(told).to_string();
        let root = world.path("").display().to_string();
        serde_json::from_str::<Vec<Value>>(&text.replace("[WORLD]/", &root)).unwrap()
    };
    for (line, step, state, transferred) in [
        ("copy --all", "copied", Some("Copy"), 1),
        ("copy --all", "unchanged", None, 0),
        ("migrate --all --leave-copy", "migrated", Some("Original"), 1),
    ] {
        if transferred == 1 {
            let planned = in_world(run(&format!("{line} --dry-run")));
            assert_eq!(planned, [item(step, state, true), summary(step, 1, 0, true)], "{line}");
        }
        let told = in_world(run(line));
        assert_eq!(
            told,
            [item(step, state, false), summary(step, transferred, 1 - transferred, false)]
        );
    }
    // A failure is a record too, and the last one has the code.
    let ran = world.run(&format!("-c archive copy {name} nonsense --json --to mirror"));
    let told = records(&ran);
    let expected = json!({
        "type": "item", "version": 1, "id": "nonsense", "did": "failed",
        "error": {
            "code": 21, "message": "no item `nonsense` in `[WORLD]/archive`",
            "hint": "`urepo -c archive list` lists the identifiers",
        },
    });
    assert_eq!((ran.code, &told[1]), (3, &expected));
    assert_eq!((&told[2]["counts"]["failed"], &told[2]["exit_code"]), (&json!(1), &json!(3)));
    let told: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&told["type"], &told["exit_code"]), (&json!("error"), &json!(3)));
}

/// A migration that was cut short, and a part of a large item: named before anything is done about them.
#[test]
fn what_recovery_would_do() {
    let (world, names) = archive_and_mirror(1);
    let mirror = world.path("mirror");
    let known = format!("[collections]\nmirror = \"{}\"\n", mirror.display());
    world.write(".config/urepo/config.toml", known);
    let mirror =
        urepo::collection::Collection::open(&mirror, &urepo::disk::Watcher::default()).unwrap();
    change_item(&world.path("archive"), &names[0], |sidecar| {
        let id = urepo::custody::CustodyId::from(*b"received");
        let offered = sidecar.custody.passed_to(mirror.id(), id);
        sidecar.custody = sidecar.custody.ceded_to(&offered, urepo::custody::Leaves::Stub);
        sidecar.state = State::Copy;
    });
    world.write("archive/.urepo/partial/of-something/doc/a.txt", "al");
    let before = bytes_below(&world.path(""));
    let told = format!(
        "would finish or withdraw the migration of {} to {}\n\
         would remove [WORLD]/archive/.urepo/partial/of-something\n",
        names[0],
        mirror.id()
    );
    tells(&world.run("-c archive recover -n"), 0, &told, "");
    let told = records(&world.run("-c archive recover -n --json"));
    let expected = json!({
        "type": "summary", "version": 1, "dry_run": true, "exit_code": 0,
        "counts": {
            "items": 1, "failed": 0, "skipped": 0, "files": 0, "bytes": 0, "left": 0, "removed": 1,
        },
    });
    assert_eq!(told, [expected]);
    assert_eq!(bytes_below(&world.path("")), before);
    let told = records(&world.run("-c archive recover --json"));
    assert_eq!((&told[0]["counts"]["items"], &told[0]["counts"]["failed"]), (&json!(1), &json!(0)));
    assert_eq!((&told[0]["counts"]["removed"], &told[0]["exit_code"]), (&json!(1), &json!(0)));
    assert!(!world.path("archive/.urepo/partial").exists());
    is_clean(&world);
}

/// A new description replaces no files: what was changed there by hand stays, for `verify` and `repair`.
#[test]
fn a_file_that_stays_in_place_is_not_called_moved() {
    let (world, names) = archive_and_mirror(1);
    let name = &names[0];
    world.run(&format!("-c archive copy {name} --to mirror")).succeeded();
    world.write(&format!("mirror/{name}/doc/0.txt"), "edited by hand");
    world.run(&format!("-c archive meta set {name} title=New")).succeeded();
    for dry in ["-n ", ""] {
        let ran = world.run(&format!("-c archive copy {dry}{name} --to mirror"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(!ran.stderr.contains("trash"), "{}", ran.stderr);
    }
    assert!(!world.path("mirror/.urepo/trash").exists());
    assert_eq!(world.run("verify mirror").code, 20);
}
