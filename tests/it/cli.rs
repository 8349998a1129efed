//! The program from outside: what it answers, how it ends, and what it leaves on the disk.

mod apart;
mod completion;
mod dead_ends;
mod descriptors;
mod dry_run;
mod exit_codes;
mod export;
mod file_size;
mod finding;
mod forged;
mod holes;
mod host_state;
mod import;
mod interrupts;
mod io_errors;
mod json;
mod lost_tombstones;
mod moving;
mod odd_names;
mod opening;
mod outward_links;
mod prefixes;
mod progress;
mod readers;
mod remedies;
mod removal;
mod salvage;
mod screens;
mod selecting;
mod settings;
mod status;
mod strange_names;
mod subsystems;
mod table;
mod tables;
mod titles;
mod tombstones;
mod transfer;
mod verifying;
mod verifying_items;
mod years;

use std::path::Path;

use serde_json::Value;
use urepo::collection::Collection;
use urepo::disk::Watcher;

use crate::support::{Ran, World, tree};

/// The collection that a world comes with.
fn open(world: &World) -> Collection {
    Collection::open(&world.path("archive"), &Watcher::default()).unwrap()
}

/// A world with a collection and an item of one file, and the item's name.
fn world_with_item() -> (World, String) {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    (world, name)
}

/// The last level of a name.
fn leaf(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or_default()
}

/// The JSON records of an answer.
#[track_caller]
pub(crate) fn records(ran: &Ran) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    ran.stdout.lines().map(parse).collect()
}

/// Everything below a directory with what is in the files.
fn bytes_below(root: &Path) -> Vec<String> {
    let mut lines = tree(root);
    for entry in walkdir::WalkDir::new(root).sort_by_file_name() {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let digest = urepo::digest::Digest::of(&std::fs::read(entry.path()).unwrap());
            lines.push(format!("{} {digest}", entry.path().display()));
        }
    }
    lines
}

/// Runs a line with bytes on its standard input.
fn run_with_input(world: &World, line: &str, input: &[u8]) -> Ran {
    use std::io::Write as _;
    use std::process::Stdio;

    let mut command = world.command(line.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap_or(-1);
    Ran { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

mod streams {
    use super::*;

    #[test]
    fn become_items() {
        let world = World::with_collection();
        let name =
            run_with_input(&world, "-c archive new - --stdin-name log/today.txt", b"streamed")
                .line();
        let path = world.path("archive").join(&name).join("doc/log/today.txt");
        assert_eq!(std::fs::read(path).unwrap(), b"streamed");
        assert_eq!(world.run(&format!("-c archive cat {name}")).succeeded(), "streamed");
        // A stream of nothing is a file of nothing.
        let name = run_with_input(&world, "-c archive new -", b"").line();
        let path = world.path("archive").join(&name).join("doc/data");
        assert_eq!(std::fs::read(path).unwrap(), b"");
    }

    #[test]
    fn name_the_sources() {
        let world = World::with_collection();
        world.write("a.txt", "alpha");
        world.write("b\n.txt", "beta");
        // The last one may lack its NUL.
        let ran = run_with_input(&world, "-q -c archive import -", b"a.txt\0b\n.txt");
        ran.succeeded();
        let names = world.run("-c archive list").succeeded().to_owned();
        let names: Vec<_> = names.lines().collect();
        assert_eq!(names.len(), 2);
        assert!(world.path("archive").join(names[1]).join("doc/b\n.txt").is_file());
    }
}

mod collections {
    use super::*;

    #[test]
    fn are_made_on_the_way_once() {
        let world = World::new();
        world.write("a.txt", "alpha");
        let line = "-c archive new a.txt --init --host archive.example.org";
        let first = world.run(line);
        assert_eq!((first.code, first.stdout.lines().count()), (0, 1), "{}", first.stderr);
        assert!(first.stderr.contains("made the collection `[WORLD]/archive`"), "{}", first.stderr);
        let settings = std::fs::read(world.path("archive/urepo.toml")).unwrap();
        let second = world.run(line).line();
        assert_ne!(first.stdout.trim(), second);
        assert_eq!(std::fs::read(world.path("archive/urepo.toml")).unwrap(), settings);
        // Any spelling of the host is the same host.
        let ran = world.run("-c archive new a.txt --init --host ARCHIVE.Example.ORG.");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let ran = world.run("-c archive new a.txt --init --host archive.example.org:8080");
        assert_eq!(ran.code, 23);
        assert_eq!(world.run("-c archive list").succeeded().lines().count(), 3);
    }

    /// So is the rest of a killed run, and the root of a new disk.
    #[test]
    fn are_made_of_an_empty_directory() {
        let world = World::new();
        world.write("a.txt", "alpha");
        for directory in ["lost+found", ".urepo"] {
            std::fs::create_dir_all(world.path("here").join(directory)).unwrap();
        }
        world.write("here/README", "");
        world.run("-c here new a.txt --init --host archive.example.org").succeeded();
        assert!(world.path("here/urepo.toml").is_file());
    }

    /// A refused deposit does not leave a collection that nobody wanted.
    #[test]
    fn are_made_with_all_that_was_asked() {
        let world = World::new();
        let line = "init archive --host archive.example.org:8080 --ip 192.0.2.7:8000 --name Maps";
        assert_eq!(world.run(line).code, 0);
        world.set_granularity("archive", "60");
        let collection = open(&world);
        let settings = collection.settings();
        let subsystem = &settings.subsystems[0];
        assert_eq!(settings.name, "Maps");
        assert_eq!(subsystem.prefix().unwrap().to_string(), "example.org/archive.8080");
        assert_eq!((subsystem.granularity.to_string().as_str(), subsystem.ip_port), ("60", 8000));
        let ran = world.run("-c archive mint --json");
        assert!(records(&ran)[0]["ibip"].is_string(), "{}", ran.stdout);
    }
}

mod lists {
    use super::*;

    #[test]
    fn are_in_order_and_can_be_narrowed() {
        let (world, first) = world_with_item();
        let second = world.run_args(["-c", "archive", "new", "a.txt", "--title", "A title"]).line();
        let both = format!("{first}\n{second}\n");
        let list = |rest: &str| world.run(&format!("-c archive list {rest}"));
        assert_eq!(list("").succeeded(), both);
        assert_eq!(list("--since 1995-08-01").succeeded(), both);
        assert_eq!(list("--since 9999-12-31").succeeded(), "");
        assert_eq!(list("--since 9999-12-31T23:59Z").succeeded(), "");
        assert_eq!(list("--prefix example.org/archive").succeeded(), both);
        assert_eq!(list("--prefix EXAMPLE.org/Archive").succeeded(), both);
        assert_eq!(list("--prefix example.org/maps").succeeded(), "");
        assert_eq!(list("--state Original").succeeded(), both);
        assert_eq!(list("--state Copy").succeeded(), "");
        let long = list("--long");
        let lines: Vec<_> = long.succeeded().lines().collect();
        assert_eq!(lines[0], format!("Original\t5\t1\t{first}\ta.txt"));
        assert_eq!(lines[1], format!("Original\t5\t1\t{second}\tA title"));
        assert_eq!(list("-0").succeeded(), both.replace('\n', "\0"));
        let path = world.run(&format!("-c archive show --path -0 {first} {second}"));
        let paths = format!("[WORLD]/archive/{first}\0[WORLD]/archive/{second}\0");
        assert_eq!(path.succeeded(), paths);
    }
}
