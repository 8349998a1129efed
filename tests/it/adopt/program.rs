//! `urepo init --adopt` from outside.

use serde_json::Value;

use super::*;
use crate::support::{Ran, World as Program, forget_head};

fn program() -> Program {
    let world = Program::new();
    urlib(&world.path("col"));
    world
}

fn records(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_dry_run_tells_the_lines_of_the_run_and_writes_nothing() {
    let world = program();
    let before = everything(&world.path("col"));
    let planned = world.run("init --dry-run col --adopt");
    assert_eq!(everything(&world.path("col")), before);
    let done = world.run("init col --adopt");
    assert_eq!(planned.succeeded(), done.succeeded());
    let expected = format!(
        "{REPORT}  Original, 3 files, 231 B, doc/@reference.bib\n\
         {UNDERSCORE}  Original, 1 file, 292 KiB\n\
         {UPPER}  Original, 1 file, 6 B\n\
         {PAPER}  Original, 1 file, 4 B, @reference.bib\n\
         {PAPER_METADATA}  Original, 1 file, 10 B\n"
    );
    assert_eq!(done.stdout, expected);
    assert!(planned.stderr.starts_with("would create the collection `[WORLD]/col`\n"));
    assert!(planned.stderr.ends_with(
        "would adopt 5 items, 7 files, 293 KiB; 1 stray left alone; nothing was changed\n"
    ));
    assert!(done.stderr.ends_with("adopted 5 items, 7 files, 293 KiB; 1 stray left alone\n"));
    let underscore =
        format!("warning: `{UNDERSCORE}`: its identifier is odd, and is kept: underscore");
    assert!(done.stderr.contains(&underscore), "{}", done.stderr);
}

#[test]
fn a_rerun_changes_nothing_and_says_so() {
    let world = program();
    world.run("init col --adopt").succeeded();
    let before = everything(&world.path("col"));
    let ran = world.run("init col --adopt");
    assert_eq!(ran.succeeded(), "");
    assert!(ran.stderr.ends_with("nothing to adopt; 5 there already; 1 stray left alone\n"));
    assert_eq!(everything(&world.path("col")), before);
    let quiet = world.run("init -q col --adopt");
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
}

#[test]
fn what_an_interrupted_run_left_is_taken_in_by_the_next() {
    let world = program();
    let item = world.path("col").join(PAPER);
    std::fs::rename(&item, world.path("later")).unwrap();
    world.run("init col --adopt").succeeded();
    std::fs::rename(world.path("later"), &item).unwrap();
    let ran = world.run("verify col");
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    let hint = "hint: `urepo init ROOT --adopt` finishes an adoption that was interrupted";
    assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    world.run("init col --adopt").succeeded();
    world.run("verify col").succeeded();
}

/// One of them makes the collection. The others adopt into it, or can be repeated.
#[test]
fn runs_at_once_make_one_collection() {
    for host in [&["--host", "archive.example.org"][..], &[]] {
        let world = program();
        let start = |_| {
            let mut command = world.command(["init", "col", "--adopt"].iter().chain(host));
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        };
        let running: Vec<_> = (0..4).map(start).collect();
        for child in running {
            let ran = child.wait_with_output().unwrap();
            let told = String::from_utf8(ran.stderr).unwrap();
            if ran.status.code() != Some(0) {
                assert_eq!(ran.status.code(), Some(23), "{told}");
                assert!(
                    told.contains("another run has just made it; repeat the command\n"),
                    "{told}"
                );
            }
        }
        world.run("init col --adopt").succeeded();
    }
}

#[test]
fn an_empty_directory_is_a_warning_and_no_item() {
    let world = program();
    let empty = format!("{PAPER}.59");
    std::fs::create_dir(world.path("col").join(&empty)).unwrap();
    world.run("init col --adopt").succeeded();
    let verified = world.run("verify col");
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    assert!(verified.stdout.contains("U301"), "{}", verified.stdout);
    world.run("-q init mirror --host mirror.example.org").succeeded();
    let copied = world.run("-c col copy --all --to mirror");
    assert_eq!(copied.code, 0, "{}", copied.stderr);
    assert_eq!(world.run("-c col status --with mirror").code, 0);
    assert_eq!(world.run("-c col migrate --all --to mirror").code, 0);
    for command in [
        "list",
        "list --long",
        "list --json",
        "list --state Original",
        "show --all",
        "show --path --all",
        "show --as manifest --all",
        "show --all --as csv",
        "export --all --to out",
        "export --all --format tar --to -",
    ] {
        let ran = world.run(&format!("-c col {command}"));
        assert_eq!(
            (ran.code, ran.stdout.contains(&empty)),
            (0, false),
            "{command}: {}",
            ran.stderr
        );
    }
    // Whoever names it is told.
    assert_eq!(world.run(&format!("-c col copy {empty} --to mirror")).code, 20);
    assert_eq!(world.run(&format!("-c col export {empty} --to out")).code, 20);
    assert_eq!(world.run(&format!("-c col list --long {empty}")).code, 3);
    // An item that was there is missed.
    world.run("-c mirror migrate --all --to col").succeeded();
    let item = world.path("col").join(PAPER);
    std::fs::remove_dir_all(&item).unwrap();
    std::fs::create_dir(&item).unwrap();
    assert_eq!(world.run("verify col").code, 20);
}

#[test]
fn what_was_taken_in_verifies_and_is_found() {
    let world = program();
    world.run("init col --adopt").succeeded();
    assert_eq!(world.run("-c col verify").code, 0);
    let listed = world.run("-c col list");
    for name in [REPORT, UPPER, UNDERSCORE, PAPER, PAPER_METADATA] {
        assert!(listed.succeeded().lines().any(|line| line == name), "{}", listed.stdout);
        let shown = world.run(&format!("-c col show {name}"));
        assert!(shown.succeeded().contains(" Original\n"), "{}", shown.stdout);
        world.run(&format!("-c col status {name}")).succeeded();
        assert_eq!(world.run(&format!("-c col verify {name}")).code, 0, "{name}");
        let id = world.run(&format!("resolve --explain {name}"));
        assert!(id.succeeded().contains(name), "{}", id.stdout);
    }
    // In any case, by the opaque twin, and by the label from before 2009.
    for (text, name) in [
        (UPPER.to_lowercase().as_str(), UPPER),
        ("8jmkd3mgp8w/34pgrbs", PAPER),
        ("83LX3pFwXQZeBBx/65ij", REPORT),
    ] {
        let path = world.run(&format!("-c col show --path {text}"));
        assert_eq!(path.line(), format!("[WORLD]/col/{name}"), "{text}");
    }
}

#[test]
fn records_say_what_was_found() {
    let world = program();
    world.write("col/example.org/hand/2024/01.02.03.04/a", "not in doc");
    let ran = world.run("init --json col --adopt");
    assert_eq!(ran.code, 3);
    let records = records(&ran);
    let paper = records.iter().find(|record| record["id"] == PAPER).unwrap();
    for (field, value) in [
        ("type", "item"),
        ("did", "adopted"),
        ("state", "Original"),
        ("ibip", "8JMKD3MGP8W/34PGRBS"),
        ("described_in", "@reference.bib"),
        ("target", "paper.pdf"),
    ] {
        assert_eq!(paper[field], value, "{field}");
    }
    assert_eq!(paper["metadata"]["creator"][1], "Ribeiro, Marcos");
    let refused = records.iter().find(|record| record["did"] == "failed").unwrap();
    assert_eq!(refused["id"], "example.org/hand/2024/01.02.03.04");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("move the files"));
    assert!(records.iter().any(|record| record["kind"] == "stray"));
    let summary = records.last().unwrap();
    assert_eq!(summary["type"], "summary");
    for (what, count) in [("items", 5), ("skipped", 0), ("strays", 1), ("failed", 1)] {
        assert_eq!(summary["counts"][what], count, "{what}");
    }
    assert_eq!(summary["exit_code"], 3);
    assert_eq!(world.run("init -n col --adopt").code, 3);
}

/// A subsystem whose names are in the tree already goes on after the newest of them.
#[test]
fn with_a_host_new_names_follow_those_that_are_there() {
    let world = program();
    world.write("a.txt", "alpha");
    world.run("init col --adopt --host mtc-m18.sid.inpe.br").succeeded();
    let name = world.run("-c col new a.txt").line();
    assert!(name.starts_with("sid.inpe.br/mtc-m18/20"), "{name}");
    // The same again is fine, another one is not.
    world.run("init col --adopt --host mtc-m18.sid.inpe.br").succeeded();
    assert_eq!(world.run("init col --adopt --host other.example.org").code, 23);
    let world = program();
    world.run("init col --adopt").succeeded();
    world.write("a.txt", "alpha");
    assert_ne!(world.run("-c col new a.txt").code, 0, "it gives no names");
}

#[test]
fn what_is_hidden_is_made_again() {
    let world = program();
    world.run("init col --adopt --host mtc-m18.sid.inpe.br").succeeded();
    std::fs::remove_dir_all(world.path("col/.urepo")).unwrap();
    forget_head(&world.path("col"));
    assert_eq!(world.run("-c col list").code, 0);
    world.run("init -n col --adopt").succeeded();
    assert!(!world.path("col/.urepo").exists());
    world.run("init col --adopt").succeeded();
    assert_eq!(world.run("-c col verify").code, 0);
}

#[test]
fn copies_are_said_to_be_copies() {
    let world = program();
    world.run("init col --adopt --copy-of unknown --name mirror").succeeded();
    assert_eq!(world.run("-c col list --state Copy").succeeded().lines().count(), 5);
    let settings = std::fs::read_to_string(world.path("col/urepo.toml")).unwrap();
    assert!(settings.contains("name = \"mirror\""), "{settings}");
}

#[test]
fn few_descriptors_are_enough_for_many_items() {
    let world = Program::new();
    for item in 0..400 {
        let name = format!("example.org/old/2001/01.01.{:02}.{:02}", item / 60, item % 60);
        world.write(&format!("col/{name}/doc/a"), "a");
        world.write(&format!("col/{name}/doc/b/c"), "c");
    }
    let ran = world.run_with_descriptors(40, "init -j 4 col --adopt");
    assert_eq!(ran.succeeded().lines().count(), 400, "{}", ran.stderr);
    assert_eq!(world.run("-c col verify").code, 0);
}

/// It would be a second Original. A Copy that was adopted as such does not say whose it is.
#[test]
fn no_item_becomes_an_original_that_another_collection_has() {
    let world = program();
    urlib(&world.path("mirror"));
    world.run("init mirror --adopt --copy-of unknown").succeeded();
    let know = |roots: &[&str]| {
        let lines =
            roots.iter().map(|root| format!("{root} = \"{}\"\n", world.path(root).display()));
        let text = format!("[collections]\n{}", lines.collect::<String>());
        world.write(".config/urepo/config.toml", text);
    };
    know(&["mirror"]);
    world.run("init col --adopt").succeeded();
    urlib(&world.path("again"));
    know(&["col"]);
    for line in ["init again --adopt -n", "init again --adopt"] {
        let ran = world.run(line);
        let refusal = format!("`[WORLD]/col` holds the Original of `{PAPER}`");
        assert!(ran.code == 3 && ran.stderr.contains(&refusal), "{}: {}", ran.code, ran.stderr);
    }
    world.run("init again --adopt --copy-of unknown").succeeded();
    // A disk that is not there may have them.
    know(&["gone"]);
    urlib(&world.path("third"));
    let ran = world.run("init third --adopt");
    assert!(ran.stderr.contains("the collection `gone` may have"), "{}", ran.stderr);
    world.run("init third --adopt --force missing").succeeded();
}

/// Where nothing was adopted, a person has made it, and a list shows it.
#[test]
fn what_is_left_alone_is_in_no_list() {
    let world = program();
    let beside = |item: &str, number: usize| format!("{}.{number:02}", &item[..item.len() - 3]);
    let empty: Vec<_> = (0..60).map(|number| beside(PAPER, number)).collect();
    for directory in &empty {
        std::fs::create_dir_all(world.path("col").join(directory)).unwrap();
    }
    world.run("init col --adopt").succeeded();
    let list = world.run("-c col list");
    let listed: Vec<_> = list.succeeded().lines().collect();
    assert!(listed.contains(&PAPER) && listed.len() == 5, "{listed:?}");
    assert!(!world.run("-c col delete --all -n --force last").stdout.contains(&*empty[9]));

    let world = Program::with_collection();
    world.write("letter", "Dear all");
    let item = world.run("-c archive new letter").line();
    let year = item.rsplit_once('/').unwrap().0;
    let made = format!("{year}/01.01.00.00");
    std::fs::create_dir(world.path("archive").join(&made)).unwrap();
    assert_eq!(world.run("-c archive list").succeeded(), format!("{made}\n{item}\n"));
}
