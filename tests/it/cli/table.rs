//! One table over every command: how it ends when all goes well, when some or all of what it was asked
//! for fails, in a dry run, and when nobody reads what it writes. A new command fails these tests until
//! it has a row.

mod meta;
mod reading;
mod rows;
mod schema;

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use urepo::clock::SystemClock;

use rows::{Json, Purpose, Row, rows};

use crate::support::{World, copy_tree, deposit, make_collection, options, request, tree};

/// A world with two collections, two items, and what else the rows name.
struct Prepared {
    world: World,
    names: [String; 2],
}

impl Row {
    fn prepared(&self) -> Prepared {
        // Made once in a test: it takes hundreds of operations, and some thousand are needed.
        thread_local!(static MADE: Prepared = Prepared::new());
        let prepared = MADE.with(|made| {
            let world = World::new();
            copy_tree(&made.world.path(""), &world.path(""));
            Prepared { world, names: made.names.clone() }
        });
        for line in self.before {
            match *line {
                "damage" => {
                    let path = format!("archive/{}/doc/a.txt", prepared.names[0]);
                    prepared.world.write(&path, "damage");
                }
                "edit" => {
                    let path = format!("archive/{}/item.toml", prepared.names[0]);
                    let text = std::fs::read_to_string(prepared.world.path(&path)).unwrap();
                    let text =
                        text.replacen("[payload]", "[metadata]\ntitle = 'A'\n\n[payload]", 1);
                    prepared.world.write(&path, text);
                }
                "lose" => prepared.rename("archive", "lost"),
                "find" => prepared.rename("lost", "archive"),
                line => {
                    assert_eq!(prepared.run(line, Stdio::null()).status.code(), Some(0), "{line}");
                }
            }
        }
        prepared
    }
}

impl Prepared {
    fn new() -> Prepared {
        let world = World::new();
        let archive = make_collection(&world.path("archive"));
        make_collection(&world.path("mirror"));
        let requests = ["a", "b"].map(|name| {
            request(
                world.write(&format!("{name}.txt"), ["alpha", "beta"][usize::from(name == "b")]),
            )
        });
        let (outcomes, _) =
            deposit(&archive, requests.into(), options(), &SystemClock, |_| ()).unwrap();
        let name = |at: usize| outcomes[at].result.as_ref().unwrap().label.name.to_string();
        let names = [name(0), name(1)];
        // The memory is the one of a machine that tests have: without it names go on all the same.
        for memory in std::fs::read_dir(world.path("archive/.urepo/memory")).unwrap() {
            std::fs::remove_file(memory.unwrap().path()).unwrap();
        }
        world.write("in/f", "f");
        world.write("about", "[metadata]\ntitle = 'Letter'\n");
        let row = |name: &String| format!("[[item]]\nidentifier = '{name}'\ntitle = 'Letter'\n");
        world.write("letters.toml", names.iter().map(row).collect::<String>());
        world.write("in/g", "g");
        world.write("rows.csv", "path\nin/f\nmissing\n");
        world.write("tree/sid.example.org/x/2009/02.16.17.46/doc/t.txt", "t");
        Prepared { world, names }
    }

    fn run(&self, line: &str, stdout: Stdio) -> Output {
        let mut command = self.command(line);
        command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap()
    }

    /// What there is, but for urepo's own files.
    fn files(&self) -> Vec<String> {
        let lines = tree(&self.world.path("")).into_iter();
        lines.filter(|line| !line.contains("/.urepo/")).collect()
    }

    fn rename(&self, from: &str, to: &str) {
        std::fs::rename(self.world.path(from), self.world.path(to)).unwrap();
    }

    fn command(&self, line: &str) -> Command {
        let words = line.split_whitespace().map(|word| match word {
            "A" => self.names[0].as_str(),
            "B" => self.names[1].as_str(),
            "NONE" => "example.org/archive/2009/02.16.17.46",
            word => word,
        });
        // An item may be the value of a key.
        let words = words.map(|word| match word.split_once('=') {
            Some((key, "A")) => format!("{key}={}", self.names[0]),
            Some((key, "B")) => format!("{key}={}", self.names[1]),
            _ => word.to_owned(),
        });
        self.world.command(words)
    }
}

/// The records on both streams, each of which is JSON or nothing.
#[track_caller]
fn records(line: &str, output: &Output) -> (Vec<Value>, Vec<Value>) {
    let parse = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).unwrap();
        let lines = text.lines().filter(|line| line.starts_with('{'));
        lines
            .map(|it| serde_json::from_str(it).unwrap_or_else(|_| panic!("{line}: {it}")))
            .collect()
    };
    (parse(&output.stdout), parse(&output.stderr))
}

#[track_caller]
fn ends(row: &Row, line: &str, code: i32) {
    let prepared = row.prepared();
    let output = prepared.run(line, Stdio::piped());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{line}\n{told}");
    if code != 0 {
        assert!(told.contains("error:"), "{line}: {told:?}");
    } else if let Purpose::Work(is_done) = row.purpose {
        assert!(is_done(&prepared.world), "{line}");
    }
    if matches!(row.json, Json::No) {
        return;
    }
    let prepared = row.prepared();
    let line = format!("{line} --json");
    let output = prepared.run(&line, Stdio::piped());
    assert_eq!(output.status.code(), Some(code), "{line}");
    let (out, err) = records(&line, &output);
    for record in out.iter().chain(&err) {
        schema::check(&line, record);
    }
    let summaries = out.iter().filter(|it| it["type"] == "summary").count();
    assert!(summaries <= 1, "{line}: {out:?}");
    if code != 0 {
        assert_eq!(err.last().unwrap()["exit_code"], code, "{line}");
    }
    match out.last() {
        Some(last) if last["type"] == "summary" => assert_eq!(last["exit_code"], code, "{line}"),
        // What goes on after a bad item ends with its counts all the same.
        last => {
            assert!(!matches!(row.json, Json::Run) || ![0, 3].contains(&code), "{line}: {last:?}");
        }
    }
}

#[test]
fn every_command_has_a_row() {
    let commands: BTreeSet<_> = crate::manual::pages().into_keys().collect();
    // The rows of a group of commands are those of its commands.
    let is_group = |name: &String| {
        name == "urepo" || commands.iter().any(|other| other.starts_with(&format!("{name}-")))
    };
    // A server runs until it is stopped: `serve::program` has its lines.
    let is_apart = |name: &String| is_group(name) || name == "serve";
    let commands: BTreeSet<_> = commands.iter().filter(|name| !is_apart(name)).cloned().collect();
    let rows: BTreeSet<_> = rows().map(|row| row.command.to_owned()).collect();
    assert_eq!(rows, commands);
}

#[test]
fn well_and_badly() {
    for row in rows() {
        ends(row, row.well, 0);
        for (line, code) in row.bad {
            ends(row, line, *code);
        }
    }
}

#[test]
fn a_dry_run_does_nothing() {
    for row in rows() {
        let prepared = row.prepared();
        let before = tree(&prepared.world.path(""));
        let line = format!("{} -n", row.well);
        let output = prepared.run(&line, Stdio::piped());
        let code = output.status.code().unwrap();
        // One that cannot be dry says so.
        assert!(code == 0 || code == 2, "{line}: {code}");
        if matches!(row.purpose, Purpose::Work(_)) {
            assert_eq!(tree(&prepared.world.path("")), before, "{line}");
        }
    }
}

/// What is said of each item, sorted: which it is, whether it is well, what is done, or the code of the error.
#[track_caller]
fn judged(line: &str, output: &Output) -> Vec<String> {
    let (out, _) = records(line, output);
    let items = out.iter().filter(|record| record["type"] == "item");
    let judge = |record: &Value| {
        let which = if record["source"].is_null() { &record["id"] } else { &record["source"] };
        format!("{which} {} {}", record["did"], record["error"]["code"])
    };
    let mut judged: Vec<_> = items.map(judge).collect();
    judged.sort();
    judged
}

/// The counts of the summary: of items, files and bytes, failed or not.
#[track_caller]
fn counted(line: &str, output: &Output) -> Option<Value> {
    let mut last = records(line, output).0.into_iter().find(|it| it["type"] == "summary")?;
    let counts = last.as_object_mut().unwrap();
    // What a plan cannot know, and what tells it from a run.
    for key in ["dry_run", "wait_seconds"] {
        counts.remove(key);
    }
    counts["counts"].as_object_mut().unwrap().remove("freed");
    Some(last)
}

/// A dry run and the run after it end alike, and say the same of each item.
#[test]
fn a_dry_run_agrees_with_the_run() {
    for row in rows().filter(|row| matches!(row.purpose, Purpose::Work(_))) {
        for line in row.bad.iter().map(|(line, _)| *line).chain([row.well]) {
            let prepared = row.prepared();
            let planned = prepared.run(&format!("{line} --json -n"), Stdio::piped());
            let done = prepared.run(&format!("{line} --json"), Stdio::piped());
            // One that asks for a confirmation, or cannot be dry.
            if [&planned, &done].iter().any(|run| run.status.code() == Some(2)) {
                continue;
            }
            assert_eq!(planned.status.code(), done.status.code(), "{line}");
            // The names that `mint` would give, and what `recover` finds, nobody knows beforehand.
            if matches!(row.json, Json::Run) && !["mint", "recover"].contains(&row.command) {
                for record in records(line, &planned).0 {
                    schema::check(line, &record);
                    assert!(record["dry_run"] == true, "{line}: {record}");
                }
                assert_eq!(judged(line, &planned), judged(line, &done), "{line}");
                assert_eq!(counted(line, &planned), counted(line, &done), "{line}");
            }
        }
    }
}

/// What nobody reads, for a pipe whose reader has left and for a full disk.
#[test]
fn without_a_reader() {
    for row in rows() {
        let unchanged = row.prepared();
        for suffix in ["", " --json"] {
            unread(row, &unchanged, &format!("{}{suffix}", row.well), false, &[false, true]);
        }
    }
}

/// The reader of a plan may leave; a verdict, and the failure of work, is the exit code whether anybody reads
/// its lines or not.
#[test]
fn without_a_reader_dry_or_failing() {
    for row in rows() {
        let unchanged = row.prepared();
        let before = unchanged.files();
        for suffix in ["", " --json"] {
            for (line, _) in row.bad {
                unread(row, &unchanged, &format!("{line}{suffix}"), false, &[false]);
                unread(row, &unchanged, &format!("{line}{suffix} -n"), true, &[false]);
            }
            unread(row, &unchanged, &format!("{}{suffix} -n", row.well), true, &[false]);
        }
        assert_eq!(unchanged.files(), before, "{}", row.well);
    }
}

/// Runs a line with a reader, then without one, for each of `full` a full disk: in `unchanged` if it changes
/// nothing.
fn unread(row: &Row, unchanged: &Prepared, line: &str, is_dry: bool, full: &[bool]) {
    let is_asking = matches!(row.purpose, Purpose::Answer) && !line.contains(" --output ");
    let changes = !is_dry && !is_asking;
    let own = changes.then(|| row.prepared());
    let read = own.as_ref().unwrap_or(unchanged).run(line, Stdio::piped());
    let code_read = read.status.code().unwrap();
    let is_answer = match row.purpose {
        Purpose::Answer => true,
        Purpose::Work(_) => is_dry,
        Purpose::Judgement => false,
    };
    for &is_full in full {
        let own = changes.then(|| row.prepared());
        let prepared = own.as_ref().unwrap_or(unchanged);
        let output = prepared.run(line, unread_pipe(is_full));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = match code_read {
            // A run that had nothing to say has said it.
            code if read.stdout.is_empty() => code,
            _ if is_answer && !is_full => 0,
            0 => 1,
            code => code,
        };
        assert_eq!(output.status.code(), Some(expected), "{line} {is_full}: {told}");
        if code_read == 0 && expected == 1 {
            assert!(told.contains("cannot write to stdout"), "{line}: {told}");
            assert!(told.lines().count() <= 12, "{line}: {told}");
        }
        match row.purpose {
            Purpose::Work(is_done) if code_read == 0 && !is_dry => {
                assert!(is_done(&prepared.world), "{line} {is_full}: not done");
            }
            Purpose::Answer if code_read == 0 && !is_full => assert_eq!(told, "", "{line}"),
            _ => {}
        }
    }
}

/// A full disk, or a pipe whose reader has left.
fn unread_pipe(is_full: bool) -> Stdio {
    if is_full {
        return File::options().write(true).open("/dev/full").unwrap().into();
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    OwnedFd::from(writer).into()
}

/// A signal at any moment: the run has ended as it would have, or says that it was interrupted.
#[test]
fn interrupted() {
    for row in rows() {
        let prepared = row.prepared();
        let mut command = prepared.command(row.well);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        while !super::interrupts::listens(&child) {
            std::thread::yield_now();
        }
        // It may be gone by now, though nobody has asked for its end yet.
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        let code = output.status.code().unwrap_or(-1);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code == 0 || code == 130, "{}: {code} {told}", row.well);
        if let (0, Purpose::Work(is_done)) = (code, &row.purpose) {
            assert!(is_done(&prepared.world), "{}", row.well);
        }
    }
}

/// Nothing that can be said is worth a panic, nor the work.
#[test]
fn without_stderr() {
    for row in rows() {
        let lines = row.bad.iter().copied().chain([(row.well, 0)]);
        for (line, code) in lines {
            let prepared = row.prepared();
            let full = File::options().write(true).open("/dev/full").unwrap();
            let mut command = prepared.command(&format!("UREPO_PROGRESS=always {line} -v"));
            let output = command.stdout(Stdio::piped()).stderr(full).output().unwrap();
            let ended = output.status.code().unwrap_or(-1);
            assert_eq!(ended, code, "{line}");
        }
    }
}

/// Programs that start others often give them `/dev/null` open for writing and reading, which is also what a
/// closed stdout becomes.
#[test]
fn names_that_nobody_reads_do_not_go_to_stderr() {
    let row = rows().find(|row| row.command == "new").unwrap();
    for line in ["new in/f", "mint", "new in/f --json"] {
        for stdout in ["<>/dev/null 1>&0 0</dev/null", ">/dev/null", ">&-"] {
            let prepared = row.prepared();
            let script = format!("exec \"$0\" -c archive {line} {stdout}");
            let mut command = prepared.world.shell(&script);
            let output = command.stderr(Stdio::piped()).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{script}");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(!stderr.contains("example.org/archive/20"), "{script}: {stderr}");
        }
    }
}
