//! Deleting, restoring and purging: output and exit codes.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};
use urepo::sidecar::Sidecar;

use super::{leaf, open, records, world_with_item};
use crate::support::{World, make_collection, tree};

/// Makes a Copy of the item in the collection `other`.
fn copy_to(world: &World, other: &str, name: &str) {
    make_collection(&world.path(other));
    let (from, to) = (world.path("archive").join(name), world.path(other).join(name));
    std::fs::create_dir_all(to.join("doc")).unwrap();
    std::fs::copy(from.join("doc/a.txt"), to.join("doc/a.txt")).unwrap();
    let (mut sidecar, _) = Sidecar::read(&std::fs::read(from.join("item.toml")).unwrap()).unwrap();
    sidecar.state = urepo::item::State::Copy;
    std::fs::write(to.join("item.toml"), sidecar.to_text()).unwrap();
}

#[test]
fn a_deletion_is_told_and_can_be_undone() {
    let (world, name) = world_with_item();
    let item = leaf(&name);
    let ran = world.run(&format!("-c archive delete --force last --reason twice {item}"));
    let told =
        format!("deleted {name}; its files are in the trash until `urepo -c archive purge`\n");
    assert_eq!((ran.succeeded(), &*ran.stderr), (&*told, ""));
    let shown = world.run(&format!("-c archive show {item}"));
    let line = shown.succeeded().lines().find(|line| line.starts_with("deleted    20")).unwrap();
    assert!(line.ends_with(": twice; in the trash"), "{line}");
    assert_eq!(world.run("-c archive verify").code, 0);
    assert_eq!(world.run("-c archive list --state Deleted").line(), name);
    let former = world.run(&format!("-c archive show --as manifest {item}"));
    assert!(former.succeeded().ends_with("  a.txt\n"), "{}", former.stdout);
    let ran = world.run(&format!("-c archive restore {item}"));
    assert_eq!(ran.succeeded(), format!("restored {name} as Original\n"));
    let ran = world.run(&format!("-c archive restore {item}"));
    assert_eq!(ran.succeeded(), format!("{name} is already here as Original\n"));
    assert_eq!(world.run(&format!("-c archive cat {item}")).succeeded(), "alpha");
    assert_eq!(world.run("-c archive delete --force last").code, 2);
}

#[test]
fn quiet_says_nothing_and_verbose_says_why_it_may_go() {
    let (world, name) = world_with_item();
    copy_to(&world, "other", &name);
    let ran = world.run(&format!("-c archive delete -v --with other {name}"));
    assert!(ran.succeeded().starts_with("deleted "), "{}", ran.stdout);
    let detail = "  1 file, 5 B; `[WORLD]/other` has the same files, as Copy\n";
    assert!(ran.stderr.ends_with(detail), "{}", ran.stderr);
    let ran = world.run(&format!("-c archive -q restore {name}"));
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
}

#[test]
fn collections_of_the_settings_count() {
    let (world, name) = world_with_item();
    copy_to(&world, "other", &name);
    let line = format!("-c archive delete {name}");
    assert_eq!(world.run(&line).code, 23);
    let settings = format!(
        "[collections]\ngone = \"{}\"\nother = \"{}\"\n",
        world.path("gone").display(),
        world.path("other").display()
    );
    world.write(".config/urepo/config.toml", settings);
    world.run(&line).succeeded();
    // The Copy is the last one now.
    assert_eq!(world.run(&format!("-c other delete --with archive {name}")).code, 23);
}

#[test]
fn a_copy_leaves_a_stub_and_comes_back() {
    let (world, name) = world_with_item();
    copy_to(&world, "other", &name);
    world.run(&format!("-c other delete --with archive {name}")).succeeded();
    assert_eq!(world.run("-c other list --state Copy").succeeded(), "");
    let ran = world.run(&format!("-c other cat {name}"));
    assert_eq!(
        (ran.code, ran.stderr.contains("has moved to another collection")),
        (21, true),
        "{}",
        ran.stderr
    );
    let ran = world.run(&format!("-c other restore {}", leaf(&name)));
    ran.succeeded();
    assert_eq!(ran.stdout, format!("restored {name} as Copy\n"));
    assert_eq!(world.run("-c other list --state Copy").line(), name);
}

#[test]
fn a_bad_item_does_not_stop_the_rest() {
    let (world, name) = world_with_item();
    let other = world.run("-c archive new a.txt").line();
    let ran = world.run(&format!(
        "-c archive delete --json -y --force last {name} 2009/02.16.17.46 {other} {other}"
    ));
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let told = records(&ran);
    let items: Vec<_> = told.iter().map(|it| (it["id"].clone(), it["did"].clone())).collect();
    let expected = [
        (json!("2009/02.16.17.46"), json!("failed")),
        (json!(name), json!("deleted")),
        (json!(other), json!("deleted")),
        (Value::Null, Value::Null),
    ];
    assert_eq!(items, expected);
    assert_eq!(told[0]["error"]["code"], 21);
    assert_eq!((&told[1]["did"], &told[1]["files"]), (&json!("deleted"), &json!(1)));
    assert_eq!(told[3]["type"], "summary");
    assert_eq!((&told[3]["counts"]["items"], &told[3]["counts"]["failed"]), (&json!(2), &json!(1)));
    assert_eq!(told[3]["exit_code"], 3);
}

#[test]
fn the_record_of_a_tombstone_has_its_removal() {
    let (world, name) = world_with_item();
    assert_eq!(records(&world.run("-c archive list --json"))[0]["removal"], Value::Null);
    world.run(&format!("-c archive delete --force last --reason twice {name}")).succeeded();
    let told = records(&world.run(&format!("-c archive show --json {name}")));
    let removal = &told[0]["removal"];
    assert_eq!((&removal["reason"], &removal["was"]), (&json!("twice"), &json!("Original")));
    assert_eq!(removal["date"], told[0]["timestamp"]);
    assert!(removal["by"].as_str().unwrap().contains('@'), "{removal}");
}

#[test]
fn purging_frees_what_it_says() {
    let (world, name) = world_with_item();
    assert_eq!(world.run("-c archive purge").stderr, "nothing to purge\n");
    world.run(&format!("-c archive delete --force last {name}")).succeeded();
    let planned = world.run("-c archive purge --dry-run");
    assert!(planned.succeeded().starts_with(&format!("would purge {name}: 2 files, ")));
    // Nothing is that old.
    let ran = world.run("-c archive purge -y --older-than 30d");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "nothing to purge\n"));
    let ran = world.run(&format!("-c archive purge -y --json {}", leaf(&name)));
    let told = records(&ran);
    // The sidecar goes with the payload.
    assert_eq!((&told[0]["id"], &told[0]["files"]), (&json!(name), &json!(2)));
    assert_eq!(told[1]["counts"]["bytes"], told[0]["bytes"]);
    assert_eq!(told[1]["exit_code"], json!(0));
    assert_eq!(tree(&world.path("archive/.urepo/trash")), [""; 0]);
    assert_eq!(world.run(&format!("-c archive show {name}")).code, 0);
    assert_eq!(world.run("-c archive verify").code, 0);
}

/// Runs a line with a terminal as stdin on which `answer` is typed, where the system has `script`.
pub(super) fn typed(world: &World, line: &str, answer: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_urepo");
    let like = world.command([""; 0]);
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &format!("{program} {line}"), "/dev/null"]);
    command.current_dir(world.path("")).env("XDG_CONFIG_HOME", world.path(".config"));
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    use std::process::Stdio;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut input = child.stdin.take().unwrap();
    input.write_all(answer.as_bytes()).unwrap();
    let mut told = String::new();
    child.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    drop(input);
    child.wait().unwrap();
    Some(told)
}

/// A Copy that the deletion has not reached brings an item back whose files were purged, unless that is damaged, too.
#[test]
fn what_was_purged_comes_back_from_a_copy() {
    let (world, name) = world_with_item();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run(&format!("-c archive copy {name} --to mirror")).succeeded();
    let doc = |root: &str| world.path(root).join(&name).join("doc");
    let before = tree(&doc("archive"));
    world.run(&format!("-c archive delete {name} --with mirror")).succeeded();
    world.run("-c archive purge --yes").succeeded();
    let ran = world.run(&format!("-c archive restore {name}"));
    assert_eq!(ran.code, 22);
    assert!(ran.stderr.contains("with `--from`"), "{}", ran.stderr);
    let restore = format!("-c archive restore {name} --from mirror");
    let planned = world.run(&format!("{restore} --dry-run"));
    assert!(planned.succeeded().starts_with(&format!("would restore {name} as Original: ")));
    assert_eq!(tree(&world.path("archive/.urepo/trash")).len(), 0);
    // What is gone for good comes back only if a person names a collection that has it.
    let told = world.run("-c archive restore --all");
    assert_eq!((told.code, &*told.stderr), (0, "nothing to restore\n"));
    let told = world.run("-c archive restore --all --from mirror --dry-run");
    assert!(told.succeeded().starts_with(&format!("would restore {name} as Original: ")));
    let rotten = doc("mirror").join("a.txt");
    let set = |bytes: &[u8]| {
        let modified = rotten.metadata().unwrap().modified().unwrap();
        std::fs::write(&rotten, bytes).unwrap();
        std::fs::File::open(&rotten).unwrap().set_modified(modified).unwrap();
    };
    let sound = std::fs::read(&rotten).unwrap();
    set(&vec![b'?'; sound.len()]);
    assert_eq!(world.run(&restore).code, 22);
    set(&sound);
    let ran = world.run(&restore);
    assert_eq!((ran.code, &*ran.stdout), (0, &*format!("restored {name} as Original\n")));
    assert_eq!(tree(&doc("archive")), before);
    assert_eq!(tree(&world.path("archive/.urepo/trash")).len(), 0);
    world.run(&format!("-c archive copy {name} --to mirror")).succeeded();
    assert_eq!(world.run("verify archive mirror").stdout, "");
}

#[test]
fn a_person_is_asked() {
    let (world, name) = world_with_item();
    world.run(&format!("-c archive delete --force last {name}")).succeeded();
    let Some(told) = typed(&world, "-c archive purge", "n\n") else { return };
    assert!(told.contains("remove 1 entry of the trash, "), "{told}");
    assert!(told.contains(" permanently? [y/N]"), "{told}");
    assert!(told.contains("nothing was done"), "{told}");
    let entries = || tree(&world.path("archive/.urepo/trash")).len();
    assert_eq!(entries(), 4);
    let told = typed(&world, "-c archive purge", "y\n").unwrap();
    assert!(told.contains("purged 1 item, ") && told.contains(" freed"), "{told}");
    assert_eq!(entries(), 0);
    assert!(open(&world).item(&name.parse().unwrap()).is_ok());
}

/// Two that rely on each other do not both go.
#[test]
fn of_two_at_once_one_stays() {
    for _ in 0..8 {
        let (world, name) = world_with_item();
        copy_to(&world, "other", &name);
        let run = |own: &str, other: &str| {
            let line = format!("-c {own} delete --with {other} {name}");
            let mut command = world.command(line.split_whitespace());
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            command.spawn().unwrap()
        };
        let mut runs = [run("archive", "other"), run("other", "archive")];
        let gone = runs
            .iter_mut()
            .map(|run| run.wait().unwrap())
            .filter(std::process::ExitStatus::success);
        assert_eq!(gone.count(), 1);
    }
}

/// The command in `told` that copies what the trash keeps.
fn copying(told: &str) -> String {
    let command = told.split('`').find(|text| text.starts_with("cp -a ")).expect(told);
    command.replace("[WORLD]", "..").replace("DIRECTORY", "kept")
}

/// No command restores it, but the message says how to get at it.
#[test]
fn what_a_repair_replaced_can_be_had() {
    let (world, name) = world_with_item();
    make_collection(&world.path("other"));
    world.run(&format!("-c archive copy {name} --to other")).succeeded();
    let damage = || {
        std::fs::write(world.path("archive").join(&name).join("doc/a.txt"), "bravo").unwrap();
        world.run(&format!("-c archive repair {name} --from other")).succeeded();
    };
    damage();
    let restore = format!("-c archive restore {name}");
    let told = world.run(&restore);
    let begins =
        format!("{name} is already here as Original; `cp -a '[WORLD]/archive/.urepo/trash/");
    assert!(told.succeeded().starts_with(&begins), "{}", told.stdout);
    assert_eq!(world.run(&format!("{restore} --dry-run")).stdout, told.stdout);
    std::fs::create_dir(world.path("out")).unwrap();
    let copied = std::process::Command::new("sh")
        .args(["-c", &copying(&told.stdout)])
        .current_dir(world.path("out"))
        .status();
    assert!(copied.unwrap().success());
    let kept = world.path("out/kept/doc/a.txt");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "bravo");
    damage();
    assert_eq!(copying(&world.run(&restore).stdout).matches("/trash/").count(), 2);
    let record = &records(&world.run(&format!("{restore} --json")))[0];
    let entries = record["kept"].as_array().unwrap();
    assert!(entries.iter().all(|it| it["path"].as_str().unwrap().contains("/trash/")), "{record}");
    assert_eq!(entries.len(), 2);

    // Deleted, and purged by hand: nothing is there but what was replaced.
    world.run(&format!("-c archive delete {name} --with other")).succeeded();
    for entry in std::fs::read_dir(world.path("archive/.urepo/trash")).unwrap() {
        let entry = entry.unwrap().path();
        if std::fs::read_to_string(entry.join("doc/a.txt")).unwrap() != "bravo" {
            std::fs::remove_dir_all(entry).unwrap();
        }
    }
    let told = world.run(&restore);
    assert_eq!(told.code, 20, "{}", told.stderr);
    assert!(told.stderr.contains("--force damaged"), "{}", told.stderr);
    world.run("-c archive purge -y").succeeded();
    let told = world.run(&restore);
    assert_eq!((told.code, told.stderr.contains("cp -a")), (22, false), "{}", told.stderr);
}

#[test]
fn what_has_migrated_is_not_restored() {
    let (world, name) = world_with_item();
    make_collection(&world.path("other"));
    world.run(&format!("-c archive migrate {name} --to other")).succeeded();
    for dry in ["", "--dry-run"] {
        let told = world.run(&format!("-c archive restore {name} {dry}"));
        assert_eq!(told.code, 23, "{}", told.stderr);
        assert!(
            told.stderr.contains("the item has moved to the collection with the id "),
            "{}",
            told.stderr
        );
    }
}

/// What a repair replaced belongs to an item that is still there: nobody is asked to remove that item.
#[test]
fn a_purge_of_replaced_files_names_no_deleted_items() {
    let (world, name) = world_with_item();
    copy_to(&world, "other", &name);
    world.write(&format!("archive/{name}/doc/a.txt"), "rot");
    world.run("-c archive repair --from other").succeeded();
    let planned = world.run("-c archive purge -n");
    assert!(planned.succeeded().contains(", in the trash since "), "{}", planned.stdout);
    assert!(planned.stderr.starts_with("would purge 1 item, "), "{}", planned.stderr);
    let sidecar = world.path("archive").join(&name).join("item.toml");
    let text = std::fs::read(&sidecar).unwrap();
    // Nobody needs the sidecar of a living item to drop what its repair replaced.
    std::fs::write(&sidecar, "spoilt").unwrap();
    let purged = world.run(&format!("-c archive purge -y {name}"));
    assert!(purged.succeeded().is_empty());
    assert!(purged.stderr.starts_with("purged 1 item, "), "{}", purged.stderr);
    std::fs::write(&sidecar, text).unwrap();
    assert_eq!(world.run("-c archive verify").code, 0);
}

/// A question about a thousand items must not scroll away what stands above it.
#[test]
fn a_question_lists_a_few_items() {
    let world = World::with_collection();
    let files: Vec<_> = (0..7).map(|at| format!("{at}.txt")).collect();
    for file in &files {
        world.write(file, file);
    }
    world.run(&format!("-c archive new --each {}", files.join(" "))).succeeded();
    for (options, listed) in [("", 5), ("-v", 7)] {
        let ran = world.run(&format!("-c archive delete --all --force last {options}"));
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("to be deleted: ").count(), listed, "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("2 more; `-v` names each\n"), listed == 5);
    }
}

/// An item that was repaired twice has two entries in the trash.
#[test]
fn a_purge_counts_an_item_once() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    world.run("-q init mirror --host mirror.example.org").succeeded();
    world.run(&format!("-c archive copy {name} --to mirror")).succeeded();
    for bytes in ["beta", "gamma"] {
        world.write(&format!("archive/{name}/doc/a.txt"), bytes);
        world.run(&format!("-c archive repair {name} --from mirror")).succeeded();
    }
    let plan = world.run("-c archive purge -n");
    assert_eq!(plan.succeeded().lines().count(), 2);
    assert!(plan.stderr.starts_with("would purge 1 item, "), "{}", plan.stderr);
    let ran = world.run("-c archive purge -y");
    assert!(ran.stderr.starts_with("purged 1 item, "), "{}", ran.stderr);
}
