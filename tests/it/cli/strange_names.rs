//! What reaches a terminal, a program, and a collection is what was meant: whatever files are called.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::Stdio;

use super::progress::read_until;
use crate::support::{World, terminal};

/// Sets the title of a terminal, clears it in one character, and turns the reading order round.
const EVIL: &str = "a\u{1b}]0;pwned\u{7}b\u{9b}2Jc\u{202e}d.txt";

/// Everything that `line` shows on a terminal.
fn shown(world: &World, line: &str) -> Option<String> {
    let (mut own, programs) = terminal()?;
    let mut command = world.command(line.split_whitespace());
    command.stdin(Stdio::null()).stdout(programs.try_clone().unwrap()).stderr(programs);
    let mut child = command.env("TERM", "dumb").spawn().unwrap();
    drop(command);
    let mut shown = String::new();
    read_until(&mut own, &mut shown, |_| false);
    child.wait().unwrap();
    Some(shown)
}

/// A terminal that is not dumb shows progress of every other deposit.
#[test]
fn no_progress_is_drawn_into_a_source_that_is_typed() {
    let world = World::with_collection();
    let Some((mut own, programs)) = terminal() else { return };
    let mut command = world.command("UREPO_PROGRESS=always -c archive new -".split_whitespace());
    let [stdin, stdout] = [0, 1].map(|_| programs.try_clone().unwrap());
    command.stdin(stdin).stdout(stdout).stderr(programs).env("TERM", "xterm");
    let mut child = command.spawn().unwrap();
    drop(command);
    std::io::Write::write_all(&mut own, b"a line\n\x04").unwrap();
    let mut shown = String::new();
    read_until(&mut own, &mut shown, |_| false);
    assert!(child.wait().unwrap().success(), "{shown:?}");
    assert!(shown.starts_with("a line\r\nexample.org/"), "{shown:?}");
}

fn is_harmless(shown: &str) -> bool {
    !shown.contains(|c: char| c.is_control() && c != '\n' && c != '\r' || c == '\u{202e}')
}

#[test]
fn names_of_files_do_nothing_to_a_terminal() {
    let world = World::with_collection();
    world.write(&format!("in/{EVIL}"), "x");
    for line in ["-c archive import -n in", "-c archive import in"] {
        let Some(shown) = shown(&world, line) else { return };
        assert!(shown.contains("pwned") && is_harmless(&shown), "{line}: {shown:?}");
    }
    let name = world.run("-c archive list").line();
    for line in ["show -v", "show --as manifest", "resolve", "export --to out"] {
        let line = format!("-c archive {line} {name}");
        let shown = shown(&world, &line).unwrap();
        assert!(is_harmless(&shown), "{line}: {shown:?}");
    }
    // A pipe gets the bytes as they are, and JSON says the same in its own way.
    let path = world.run(&format!("-c archive resolve {name}"));
    assert!(path.line().ends_with(EVIL), "{:?}", path.stdout);
    let json = world.run(&format!("-c archive show --json {name}"));
    assert!(is_harmless(json.succeeded()), "{:?}", json.stdout);
    let record = &super::records(&json)[0];
    assert_eq!(record["target"], EVIL);
}

/// The line that says what is left out stays one line.
#[test]
fn names_of_what_is_left_out_have_no_line_ends() {
    let world = World::with_collection();
    world.write("in/a\nb.bak", "x");
    world.write("in/c", "x");
    let ran = world.run("-c archive new -n in --exclude *.bak");
    ran.succeeded();
    assert!(ran.stderr.starts_with("would leave out `a\\nb.bak` of `in`"), "{}", ran.stderr);
}

#[test]
fn names_in_errors_do_nothing_to_a_terminal() {
    let world = World::with_collection();
    let evil = format!("{EVIL}\u{7f}");
    let flag = format!("--{evil}");
    let lines: [(&[&str], i32); 7] = [
        (&["-c", "archive", "new", &evil], 1),
        (&["-c", &evil, "list"], 10),
        (&["-c", "archive", "show", &evil], 1),
        (&[&evil], 2),
        (&["list", &flag], 2),
        (&["list", "--jobs", &evil], 2),
        (&["help", &evil], 2),
    ];
    for (line, code) in lines {
        let ran = world.run_args(line);
        assert_eq!(ran.code, code, "{line:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: ") && is_harmless(&ran.stderr), "{:?}", ran.stderr);
        let ran = world.run_args(line.iter().copied().chain(["--json"]));
        assert_eq!(ran.code, code, "{line:?}: {}", ran.stderr);
        assert!(is_harmless(&ran.stderr), "{:?}", ran.stderr);
        let record: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(record["exit_code"], code, "{record}");
    }
}

#[test]
fn what_is_no_text_is_not_passed_over() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let other = OsString::from_vec(b"col\xff".to_vec());
    let init = ["init".into(), other.clone(), "--host".into(), "other.example.org".into()];
    assert_eq!(world.run_args::<OsString>(init).code, 0);
    let items = |root: &OsString| {
        let line = ["-c".into(), root.clone(), "list".into()];
        world.run_args::<OsString>(line).succeeded().lines().count()
    };
    // Inside another collection, the variable still counts.
    let mut command = world.command(["new", "../a.txt"]);
    command.current_dir(world.path("archive")).env("UREPO_COLLECTION", world.path(&other));
    assert_eq!(world.finish(command).code, 0);
    assert_eq!((items(&other), items(&"archive".into())), (1, 0));
    let line: [OsString; 6] = ["-c", "archive", "copy", "--all", "--to", ""].map(OsString::from);
    let line = line.into_iter().map(|word| if word.is_empty() { other.clone() } else { word });
    assert_eq!(world.run_args(line).code, 0);
    for variable in ["UREPO_JOBS", "UREPO_LOCK_WAIT", "UREPO_MAX_WAIT"] {
        let mut command = world.command(["-c", "archive", "list"]);
        command.env(variable, OsString::from_vec(b"1\xff".to_vec()));
        let ran = world.finish(command);
        assert_eq!(ran.code, 2, "{variable}");
        assert!(ran.stderr.contains(variable) && ran.stderr.contains("not UTF-8"));
    }
}

#[test]
fn the_settings_of_a_broken_collection_are_shown_with_the_reason() {
    let world = World::with_collection();
    world.write("archive/urepo.toml", "?");
    let ran = world.run("-c archive status --settings");
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("lock_wait") && ran.stderr.contains("urepo.toml"),
        "{}",
        ran.stderr
    );
    assert_eq!(world.run("-c nowhere status --settings").code, 10);
    assert_eq!(world.run("status --settings").code, 0);
}

#[test]
fn keys_in_a_file_obey_the_rules_of_flags() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    world.write("forged.toml", "[x]\n\"a\\nPayload-Oxum\" = \"9.9\"");
    let ran = world.run("-c archive new a.txt --meta @forged.toml");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    world.write("good.toml", "[x]\nbox = \"9.9\"");
    world.run("-c archive new a.txt --meta @good.toml").line();
}
