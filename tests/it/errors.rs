//! The gallery of errors: what is told of each bad input, with which exit code, and that nothing is
//! left behind. `SNAPSHOTS=overwrite cargo test` renews the texts.

mod departed;
mod exports;
mod finding;
mod hints;
mod transfer;

use std::error::Error;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode};
use snapbox::data::Inline;
use snapbox::str;
use urepo::agent::Agent;
use urepo::clock::SystemClock;
use urepo::collection::{Collection, Issuer};
use urepo::deposit::{DepositError, Outcome};
use urepo::digest::Digest;
use urepo::disk::{Dir, Lock, LockMode, Operation, Watch, Watcher};
use urepo::distributor::slot;

use crate::support::{
    Ran, TestClock, World, agent, deposit, issue_options, options, request, staged, tree, waiter,
    whole_items,
};

/// The memory of the collection that a world comes with.
const MEMORY: &str = "archive/.urepo/distributor/example.org+archive.lock";

/// How long to wait for a lock that is free: a process that another test is just starting has it for
/// a moment too.
const PATIENT: Duration = Duration::from_secs(10);

/// Compares a text with its snapshot.
#[track_caller]
fn same(actual: &str, expected: Inline) {
    let assert = snapbox::Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    // A backslash is an escape here, never a separator.
    assert.normalize_paths(false).eq(without_stage(actual), expected);
}

/// A text without what tells one stage, and one thread that fills it, from another.
fn without_stage(text: &str) -> String {
    let mut pieces = text.split("/staging/");
    let mut hidden = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let mut levels = piece.splitn(4, '/');
        hidden += &format!("/staging/[STAGE]/{}", levels.nth(3).unwrap_or_default());
    }
    hidden
}

/// Everything in the world but lock files, which appear once and stay, and the register of the machine.
fn everything(world: &World) -> Vec<String> {
    let is_lock = |line: &str| {
        line.starts_with(".state/")
            || line.contains(".urepo/lock ")
            || line.contains(".urepo/locks/")
            || (line.contains(".urepo/distributor/") && line.contains(".lock "))
    };
    tree(&world.path("")).into_iter().filter(|line| !is_lock(line)).collect()
}

/// Runs the program, which has to fail with `code`, without an answer and without a trace.
#[track_caller]
fn refuses(world: &World, line: &str, code: i32) -> Told {
    refuses_command(world, world.command(line.split_whitespace()), code)
}

#[track_caller]
fn refuses_args<I: AsRef<OsStr>>(
    world: &World,
    arguments: impl IntoIterator<Item = I>,
    code: i32,
) -> Told {
    refuses_command(world, world.command(arguments), code)
}

#[track_caller]
fn refuses_command(world: &World, command: Command, code: i32) -> Told {
    let before = everything(world);
    let Ran { code: found, stdout, stderr } = world.finish(command);
    assert_eq!((found, stdout.as_str()), (code, ""), "{stderr}");
    assert_eq!(everything(world), before, "something was left behind: {stderr}");
    Told(stderr)
}

/// What was told of a failure.
#[must_use = "what is told of a failure is worth a look"]
struct Told(String);

impl Told {
    /// Compares it with its snapshot.
    #[track_caller]
    fn tells(self, snapshot: Inline) {
        same(&self.0, snapshot);
    }

    /// The same with its lines in order: names come in the order of the disk.
    fn sorted(self) -> Told {
        let mut lines: Vec<_> = self.0.lines().collect();
        lines.sort_unstable();
        Told(lines.join("\n"))
    }
}

/// An error with all its causes, as the program tells them.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!("\ncaused by: {cause}");
        source = cause.source();
    }
    text
}

/// A world with a collection and a file to deposit.
fn world_with_file() -> World {
    let world = World::with_collection();
    world.write("a.txt", "a");
    world
}

/// A world with one item, always of the same name.
fn world_with_item() -> (World, &'static str) {
    let world = world_with_file();
    let collection = open(&world);
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let requests = vec![request(world.path("a.txt"))];
    deposit(&collection, requests, options(), &clock, |_| ()).unwrap();
    let name = "example.org/archive/2026/11.21.02.13";
    assert_eq!(whole_items(&collection), [name]);
    (world, name)
}

fn open(world: &World) -> Collection {
    Collection::open(&world.path("archive"), &Watcher::default()).unwrap()
}

/// Says that a part of a test was not run, and why: on a terminal, not only with `--nocapture`.
fn skipped(what: &str) {
    use std::io::Write as _;
    let _ = writeln!(io::stderr(), "SKIPPED: {what}");
}

mod imports {
    use super::*;

    #[test]
    fn of_manifests() {
        let world = world_with_file();
        let import = |text: &str, rest: &str, code| {
            world.write("list.csv", text);
            refuses(&world, &format!("-c archive import --manifest list.csv -n {rest}"), code)
        };
        import("path,Author\na.txt,A\n", "", 1).tells(str![[r#"
error: line 1: the column `Author` means nothing
hint: `--map Author=x.KEY` keeps it under a key of your own, `--map Author=-` leaves it out

"#]]);
        import("file\na.txt\n", "--map file=shelf", 2).tells(str![[r#"
error: `file=shelf` means nothing to an import; expected COLUMN=TERM
hint: write `--map Author=creator`, `--map Box=x.box`, or `--map Notes=-`

"#]]);
        import("file\na.txt\n", "--map file=-", 1).tells(str![[r#"
error: line 1: there is no column `path`
hint: `--map COLUMN=path` says which column holds the path

"#]]);
        import("path\n../b.txt\nmissing.txt\n", "", 3).tells(str![[r#"
error: line 2: the path `../b.txt` leads out of the directory of the manifest
error: line 3: `[WORLD]/missing.txt` was not imported: cannot find `[WORLD]/missing.txt`: there is nothing of this name
would import nothing
error: 2 of 2 sources would not be imported
hint: mend what is named above and repeat: what is there is not imported again

"#]]);
        import("path,title\na.txt,=1+1\na.txt,A,B\n", "", 3).tells(str![[r#"
error: line 2: the value of `title` is a formula
error: line 3: it has 3 values, and there are 2 columns
would import nothing
error: 2 of 2 sources would not be imported
hint: mend what is named above and repeat: what is there is not imported again

"#]]);
        import("path,identifier\na.txt,example.org/archive/9999/01.01.00.00\n", "", 3)
            .tells(str![[r#"
error: line 2: `[WORLD]/a.txt` was not imported: `example.org/archive/9999/01.01.00.00` has not been given yet: its date lies ahead
would import nothing
error: 1 of 1 sources would not be imported
hint: mend what is named above and repeat: what is there is not imported again

"#]]);
        refuses(&world, "-c archive import --manifest a.txt", 2).tells(str![[r#"
error: `a.txt` does not say its format
hint: add `--format csv`, or tsv, jsonl, toml

"#]]);
        refuses(&world, "-c archive import", 2).tells(str![[r#"
error: no source was given
hint: urepo import SOURCE…

"#]]);
    }

    #[test]
    fn of_bags() {
        let world = world_with_file();
        world.write("bag/bagit.txt", "BagIt-Version: 7.0\n");
        refuses(&world, "-c archive import bag -n", 3).tells(str![[r#"
error: `[WORLD]/bag` was not imported: `[WORLD]/bag` is no valid bag: `bagit.txt` does not declare a bag of version 0.93 to 1.0 in UTF-8
would import nothing
error: 1 of 1 sources would not be imported
hint: mend what is named above and repeat: what is there is not imported again

"#]]);
        world.write("bag/bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
        refuses(&world, "-c archive import bag -n", 3).tells(str![[r#"
error: `[WORLD]/bag` was not imported: `[WORLD]/bag` is no valid bag: it has no directory `data`
would import nothing
error: 1 of 1 sources would not be imported
hint: mend what is named above and repeat: what is there is not imported again

"#]]);
        refuses(&world, "-c archive import a.txt --bags -n", 3).tells(str![[r#"
error: `[WORLD]/a.txt` was not imported: `[WORLD]/a.txt` is no valid bag: `bagit.txt` does not declare a bag of version 0.93 to 1.0 in UTF-8
would import nothing
error: 1 of 1 sources would not be imported
hint: mend what is named above and repeat: what is there is not imported again

"#]]);
    }

    #[test]
    fn that_are_at_work_already() {
        use urepo::import::Ledger;
        let world = world_with_file();
        let collection = open(&world);
        let wait = std::time::Duration::ZERO;
        let agent = crate::support::agent();
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let _ledger = Ledger::open(&collection, &agent, &waiter(&clock).up_to(wait)).unwrap();
        refuses(&world, "-c archive import a.txt --lock-wait 0", 11).tells(str![[r#"
error: another import into the collection `archive` is at work
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `--lock-wait 5m`; the lock ends with that process

"#]]);
    }
}

mod names {
    use super::*;

    #[test]
    fn of_hosts() {
        let world = World::new();
        refuses(&world, "init archive --host localhost", 1).tells(str![[r#"
error: invalid host name `localhost`
  localhost
  ^^^^^^^^^ a host of one word has no subdomain; expected one such as `mtc.sid.inpe.br`
hint: a host is fully qualified, such as archive.example.org

"#]]);
        let long = format!("{}.example.org", "a".repeat(64));
        refuses(&world, &format!("init archive --host {long}"), 1).tells(str![[r#"
error: invalid host name `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.org`
  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.org
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ label of 64 characters; at most 63
hint: a host is fully qualified, such as archive.example.org

"#]]);
        let long = format!("{}example.org", "abcdefghi.".repeat(25));
        refuses(&world, &format!("init archive --host {long}"), 1).tells(str![[r#"
error: invalid host name `abcdefghi.abcdefghi.abcdefghi.abcdefghi.abcdefghi.abcdefghi.…`
  abcdefghi.abcdefghi.abcdefghi.abcdefghi.abcdefghi.abcdefghi.…
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ host name of 261 characters; at most 253
hint: a host is fully qualified, such as archive.example.org

"#]]);
        refuses(&world, "init archive --host arquivo.são.br", 1).tells(str![[r#"
error: invalid host name `arquivo.são.br`
  arquivo.são.br
           ^ `ã` where a letter, digit or hyphen is expected
hint: a host is fully qualified, such as archive.example.org

"#]]);
        refuses(&world, "init archive --host archive..org", 1).tells(str![[r#"
error: invalid host name `archive..org`
  archive..org
          ^ an empty word; expected a letter or digit
hint: a host is fully qualified, such as archive.example.org

"#]]);
        refuses_args(&world, ["init", "archive", "--host", ""], 1).tells(str![[r#"
error: invalid host name ``
  
  ^ a host of one word has no subdomain; expected one such as `mtc.sid.inpe.br`
hint: a host is fully qualified, such as archive.example.org

"#]]);
        let hostile = ["init", "archive", "--host", "a.\u{1b}[2J\u{202e}b"];
        refuses_args(&world, hostile, 1).tells(str![[r#"
error: invalid host name `a.\u{1b}[2J\u{202e}b`
  a.\u{1b}[2J\u{202e}b
    ^^^^^^ `\u{1b}` where a letter, digit or hyphen is expected
hint: a host is fully qualified, such as archive.example.org

"#]]);
    }

    #[test]
    fn of_ports_and_addresses() {
        let world = World::new();
        let init = |rest: &str, code| {
            refuses(&world, &format!("init archive --host archive.example.org {rest}"), code)
        };
        init("--port 0", 1).tells(str![[r#"
error: port 0 is not from 1 to 65535
hint: leave the port away for 80, the port of the Web

"#]]);
        init("--port 65536", 1).tells(str![[r#"
error: port 65536 is not from 1 to 65535
hint: leave the port away for 80, the port of the Web

"#]]);
        init("--port http", 2).tells(str![[r#"
error: invalid value 'http' for '--port <PORT>': invalid digit found in string

For more information, try '--help'.

"#]]);
        init("--ip 192.0.2.7 --ip-port 65536", 1).tells(str![[r#"
error: port 65536 is not from 1 to 65535
hint: leave the port away for 80, the port of the Web

"#]]);
        init("--ip 192.0.2", 2).tells(str![[r#"
error: invalid value '192.0.2' for '--ip <IP>': invalid IP address syntax

For more information, try '--help'.

"#]]);
        init("--granularity 7", 2).tells(str![[r#"
error: invalid value '7' for '--granularity <GRANULARITY>': invalid granularity `7`: expected `auto`, or the seconds as `60`, `1`, `0.1`, `0.01` … down to `0.000000001`

For more information, try '--help'.

"#]]);
    }

    #[test]
    fn of_dates_that_are_not_in_the_calendar() {
        let world = World::with_collection();
        refuses(&world, "id sid.inpe.br/mtc-m18@80/2009/02.30.17.46", 1).tells(str![[r#"
error: invalid repository name `sid.inpe.br/mtc-m18@80/2009/02.30.17.46`
  sid.inpe.br/mtc-m18@80/2009/02.30.17.46
                                 ^^ February 2009 has no day 30
hint: a name is subdomain/word/year/month.day.hour.minute[.second], in UTC

"#]]);
        refuses(&world, "id --check example.org/archive/2026/11.21.24.00", 1).tells(str![[r#"
error: invalid repository name `example.org/archive/2026/11.21.24.00`
  example.org/archive/2026/11.21.24.00
                                 ^^ hour 24 is over 23
hint: a name is subdomain/word/year/month.day.hour.minute[.second], in UTC

"#]]);
        refuses(&world, "-c archive list --since 2026-02-30", 2).tells(str![[r#"
error: invalid value '2026-02-30' for '--since <TIME>': expected a date such as 2026-01-31 or 2026-01-31T12:00Z

For more information, try '--help'.

"#]]);
        refuses(&world, "-c archive list --since yesterday", 2).tells(str![[r#"
error: invalid value 'yesterday' for '--since <TIME>': expected a date such as 2026-01-31 or 2026-01-31T12:00Z

For more information, try '--help'.

"#]]);
    }

    #[test]
    fn that_are_none() {
        let world = World::with_collection();
        refuses(&world, "id nonsense", 1).tells(str![[r#"
error: invalid identifier `nonsense`
  nonsense
  ^^^^^^^^ no identifier here; expected one such as sid.inpe.br/mtc-m18/2009/02.16.17.46 or 8JMKD3MGP8W/34PGRBS
hint: a name is subdomain/word/year/month.day.hour.minute[.second], in UTC

"#]]);
        refuses_args(&world, ["id", ""], 1).tells(str![[r#"
error: invalid identifier ``
  
  ^ no identifier here; expected one such as sid.inpe.br/mtc-m18/2009/02.16.17.46 or 8JMKD3MGP8W/34PGRBS
hint: a name is subdomain/word/year/month.day.hour.minute[.second], in UTC

"#]]);
        refuses(&world, "-c archive list --prefix archive", 2).tells(str![[r#"
error: invalid value 'archive' for '--prefix <PREFIX>': invalid prefix `archive`

For more information, try '--help'.

"#]]);
        refuses(&world, "-c archive show nonsense", 21).tells(str![[r#"
error: no item `nonsense` in `[WORLD]/archive`
hint: `urepo list` shows the names there are

"#]]);
        refuses(&world, "-c archive show 11.21.02.13", 21).tells(str![[r#"
error: no item `11.21.02.13` in `[WORLD]/archive`
hint: `urepo list` shows the names there are

"#]]);
        let line = "-c archive show example.org/archive/2026/11.21.02.13";
        refuses(&world, line, 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`
hint: `urepo list` shows the names there are

"#]]);
        refuses(&world, "-c archive path 8JMKD3MGP8W/34PGRBS", 21).tells(str![[r#"
error: no item `8JMKD3MGP8W/34PGRBS` in `[WORLD]/archive`
hint: `urepo list` shows the names there are

"#]]);
    }
}

mod collections {
    use super::*;

    #[test]
    fn that_are_not_there() {
        let world = World::new();
        world.write("a.txt", "a");
        refuses(&world, "new a.txt", 10).tells(str![[r#"
error: `[WORLD]` is not in a collection
hint: `--init --host FQDN` makes it on the way

"#]]);
        refuses(&world, "-c archive new a.txt", 10).tells(str![[r#"
error: `[WORLD]/archive` is not a collection
hint: `--init --host FQDN` makes it on the way

"#]]);
        refuses(&world, "-c a.txt list", 10).tells(str![[r#"
error: `[WORLD]/a.txt` is not a collection
hint: `urepo init [WORLD]/a.txt --host FQDN` makes one

"#]]);
        refuses(&world, "list", 10).tells(str![[r#"
error: `[WORLD]` is not in a collection
hint: name one with `-c PATH`, or make one with `urepo init PATH --host FQDN`

"#]]);
        refuses(&world, "doctor -c nowhere/at/all", 10).tells(str![[r#"
error: `[WORLD]/nowhere/at/all` is not a collection
hint: `urepo init [WORLD]/nowhere/at/all --host FQDN` makes one

"#]]);
    }

    /// Commands over all known collections say what they looked for, and where.
    #[test]
    fn that_are_known() {
        let (world, name) = world_with_item();
        refuses(&world, "status", 10).tells(str![[r#"
error: `[WORLD]` is not in a collection
hint: name one with `-c PATH`, or make one with `urepo init PATH --host FQDN`

"#]]);
        refuses(&world, "-c archive status --with nowhere", 10).tells(str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: `urepo init [WORLD]/nowhere --host FQDN` makes one

"#]]);
        refuses(&world, &format!("-c nowhere whereis {name}"), 10).tells(str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: `urepo init [WORLD]/nowhere --host FQDN` makes one

"#]]);
        refuses(&world, "-c archive whereis 01.01.00.00", 21).tells(str![[r#"
error: no item `01.01.00.00` in 1 known collection
hint: `urepo config` shows which are known; `--with COLLECTION` adds one

"#]]);
        let other = name.replace("archive", "maps");
        refuses(&world, &format!("-c archive whereis {other}"), 21).tells(str![[r#"
error: no item `example.org/maps/2026/11.21.02.13` in 1 known collection
hint: `urepo config` shows which are known; `--with COLLECTION` adds one

"#]]);
        refuses_args(&world, ["-c", "archive", "whereis", "no such thing"], 1).tells(str![[r#"
error: invalid identifier `no such thing`
  no such thing
  ^^^^^^^^^^^^^ no identifier here; expected one such as sid.inpe.br/mtc-m18/2009/02.16.17.46 or 8JMKD3MGP8W/34PGRBS
hint: a name is subdomain/word/year/month.day.hour.minute[.second], in UTC

"#]]);
        world.write(".config/urepo/config.toml", "[collections]\nsafe = \"/no/disk\"\n");
        refuses(&world, "whereis 11.21.02.13", 21).tells(str![[r#"
warning: the collection `safe` cannot be opened: `/no/disk` is not a collection
error: no item `11.21.02.13` in 0 known collections
caused by: `safe` is not opened and may hold it
hint: `urepo config` shows which are known; `--with COLLECTION` adds one

"#]]);
        refuses(&world, &format!("-c archive whereis {other}"), 21).tells(str![[r#"
warning: the collection `safe` cannot be opened: `/no/disk` is not a collection
error: no item `example.org/maps/2026/11.21.02.13` in 1 known collection
caused by: `safe` is not opened and may hold it
hint: `urepo config` shows which are known; `--with COLLECTION` adds one

"#]]);
    }

    #[test]
    fn one_in_another() {
        let world = World::with_collection();
        refuses(&world, "init archive --host other.example.org", 23).tells(str![[r#"
error: `[WORLD]/archive` is a collection already
hint: deposit into it with `urepo -c [WORLD]/archive new PATH`

"#]]);
        refuses(&world, "init archive/maps --host maps.example.org", 23).tells(str![[r#"
error: a collection can not lie in another: `[WORLD]/archive` is one
hint: choose a place beside it; collections stand side by side

"#]]);
        refuses(&world, "init archive/a/b/c --host maps.example.org", 23).tells(str![[r#"
error: a collection can not lie in another: `[WORLD]/archive` is one
hint: choose a place beside it; collections stand side by side

"#]]);
        refuses(&world, "init . --host maps.example.org", 23).tells(str![[r#"
error: a collection can not lie in another: `[WORLD]/./archive` is one
hint: choose a place beside it; collections stand side by side

"#]]);
        symlink("archive", world.path("link")).unwrap();
        refuses(&world, "init link/maps --host maps.example.org", 23).tells(str![[r#"
error: a collection can not lie in another: `[WORLD]/archive` is one
hint: choose a place beside it; collections stand side by side

"#]]);
        refuses(&world, "init link --host maps.example.org", 23).tells(str![[r#"
error: `[WORLD]/link` is a collection already
hint: deposit into it with `urepo -c [WORLD]/link new PATH`

"#]]);
    }

    #[test]
    fn where_none_can_be() {
        let world = World::new();
        world.write("file", "");
        refuses(&world, "init file --host archive.example.org", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/file`
caused by: Not a directory (os error 20)

"#]]);
        refuses(&world, "init file/archive --host archive.example.org", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/file/archive`
caused by: Not a directory (os error 20)

"#]]);
        symlink("nowhere", world.path("dangling")).unwrap();
        refuses(&world, "init dangling --host archive.example.org", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/dangling`
caused by: Not a directory (os error 20)

"#]]);
    }

    #[test]
    fn asked_to_be_made_with_other_names() {
        let world = world_with_file();
        let line = "-c archive new a.txt --init --host other.example.org";
        refuses(&world, line, 23).tells(str![[r#"
error: `[WORLD]/archive` is a collection already, of other names
caused by: it has no subsystem `example.org/other`
hint: leave `--init` away, or add the subsystem to `[WORLD]/archive/urepo.toml`

"#]]);
    }

    #[test]
    fn with_damaged_settings() {
        let world = world_with_file();
        let settings = |text: &str| drop(world.write("archive/urepo.toml", text));
        let whole = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
        settings("format = 1\nid = \n");
        refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 2: string values must be quoted, expected literal string
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
        settings(&format!("colour = 3\n{whole}"));
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 1: unknown field `colour`, expected one of `format`, `id`, `name`, `durability`, `network`, `copies`, `subsystem`
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
        settings(&format!("copies = -1\n{whole}"));
        refuses(&world, "-c archive status", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 1: invalid value: integer `-1`, expected u32
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
        settings(&whole.replace("host =", "hots ="));
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 7: unknown field `hots`, expected one of `name`, `host`, `port`, `ip`, `ip_port`, `granularity`, `distributor`
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
        settings(&whole.replace("port = 80", "port = 0"));
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: subsystem of archive.example.org: port 0 does not exist; ports are 1 to 65535
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
        settings(&whole.replace("archive.example.org", "archive"));
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 7: invalid host name `archive`: a host of one word has no subdomain; expected one such as `mtc.sid.inpe.br`
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
        settings("format = 1\nid = \"x\"\nname = \"archive\"\n");
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: `id` is not 32 hexadecimal digits
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
        settings(&whole.replace("format = 1", "format = 2"));
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: it has format 2; this urepo reads format 1
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
        settings(&format!(
            "format = 2\nfrom_the_future = true\n{}",
            &whole[whole.find("id").unwrap()..]
        ));
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: it has format 2; this urepo reads format 1
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
        let subsystem = &whole[whole.find("[[subsystem]]").unwrap()..];
        settings(&format!("{whole}\n{}", subsystem.replace("archive.", "ARCHIVE.")));
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: two subsystems have the prefix `example.org/archive`
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
        settings(&whole.replace(subsystem, ""));
        refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: no subsystem at all in `[WORLD]/archive/urepo.toml`
hint: `[WORLD]/archive/urepo.toml` names the subsystems: host, port and name

"#]]);
        refuses(&world, "-c archive mint", 1).tells(str![[r#"
error: no subsystem at all in `[WORLD]/archive/urepo.toml`
hint: `[WORLD]/archive/urepo.toml` names the subsystems: host, port and name

"#]]);
        settings(&whole);
        refuses(&world, "-c archive new a.txt --subsystem maps", 1).tells(str![[r#"
error: no subsystem `maps` in `[WORLD]/archive/urepo.toml`
hint: `[WORLD]/archive/urepo.toml` names the subsystems: host, port and name

"#]]);
        std::fs::write(world.path("archive/urepo.toml"), vec![b'#'; 1024 * 1024 + 1]).unwrap();
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot read `[WORLD]/archive/urepo.toml`
caused by: it is larger than 1048576 bytes

"#]]);
        std::fs::write(world.path("archive/urepo.toml"), b"name = \"\xff\"").unwrap();
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: invalid utf-8 sequence of 1 bytes from index 8
hint: correct `[WORLD]/archive/urepo.toml`; `urepo config` shows what is read

"#]]);
    }

    #[test]
    fn with_a_link_for_their_own_directory() {
        let world = world_with_file();
        std::fs::remove_dir_all(world.path("archive/.urepo")).unwrap();
        symlink("../elsewhere", world.path("archive/.urepo")).unwrap();
        world.write("elsewhere/file", "");
        refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/.urepo`
caused by: Not a directory (os error 20)

"#]]);
    }

    #[test]
    fn locked() {
        let (agent, clock) = (agent(), TestClock::at("2026-11-21T02:13:00Z"));
        let holder = agent.holder(&clock);
        let take = |world: &World, dir: &str, name: &str| {
            let dir = Dir::open(&world.path(dir), Watcher::default()).unwrap();
            Lock::take(
                &dir,
                name,
                LockMode::Exclusive,
                &holder,
                // A process that another test is just starting may have a lock that was let go here for
                // a moment longer.
                &waiter(&SystemClock).up_to(Duration::from_secs(30)),
            )
            .unwrap()
        };
        // Each lock in a world of its own, for the same reason.
        let world = world_with_file();
        let _lock = take(&world, "archive/.urepo", "lock");
        refuses(&world, "-c archive new a.txt --lock-wait 0", 11).tells(str![[r#"
error: the collection `archive` is locked
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `--lock-wait 5m`; the lock ends with that process

"#]]);
        let world = world_with_file();
        let _lock = take(&world, "archive/.urepo/distributor", "example.org+archive.lock");
        refuses(&world, "-c archive new a.txt --lock-wait 0", 11).tells(str![[r#"
error: `[WORLD]/archive/.urepo/distributor/example.org+archive.lock` is locked
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `--lock-wait 5m`; the lock ends with that process

"#]]);
        refuses(&world, "-c archive mint --lock-wait 1ms", 11).tells(str![[r#"
error: `[WORLD]/archive/.urepo/distributor/example.org+archive.lock` is locked
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `--lock-wait 5m`; the lock ends with that process

"#]]);
        assert_eq!(world.run("-c archive doctor").code, 0, "looking needs no lock");
        // A lock held by a program that does not say who it is.
        let world = world_with_file();
        let lock = File::open(world.path("archive/.urepo/lock")).unwrap();
        lock.lock().unwrap();
        refuses(&world, "-c archive new a.txt --lock-wait 0", 11).tells(str![[r#"
error: the collection `archive` is locked
caused by: held by another process
hint: repeat with `--lock-wait 5m`; the lock ends with that process

"#]]);
        // Writers share the lock; recovery needs it alone.
        let world = world_with_file();
        let collection = open(&world);
        let writer = collection.writer(&agent, &waiter(&SystemClock).up_to(PATIENT)).unwrap();
        refuses(&world, "-c archive recover --lock-wait 0", 11).tells(str![[r#"
error: the collection `archive` is locked
caused by: held by `urepo new` since [..] (process 4312 on vault)
hint: repeat with `--lock-wait 5m`; the lock ends with that process

"#]]);
        drop(writer);
        assert_eq!(world.run("-c archive recover --lock-wait 10s").code, 0);
    }

    #[test]
    fn with_a_year_on_another_file_system() {
        let script = "
            for root in archive mirror; do
                $UREPO -q init mount/$root --host $root.example.org
            done
            name=$($UREPO -c mount/archive new a.txt)
            year=mount/mirror/${name%/*}; mkdir -p $year; mount -t tmpfs tmpfs $year
            # Of what is refused before it is read nobody finds out that it is damaged.
            echo 1 > mount/archive/$name/doc/a.txt
            for how in copy migrate 'migrate --dry-run'; do
                code=0; $UREPO -c mount/archive $how $name --to mount/mirror 2>told || code=$?
                tell $code
            done
            year=mount/archive/${name%/*}; mv $year held; mkdir $year; mount -t tmpfs tmpfs $year
            mv held/* $year
            code=0; $UREPO -c mount/archive new --dry-run a.txt 2>told || code=$?; tell $code
            echo unread | {
                code=0; $UREPO -c mount/archive new - 2>told || code=$?; tell $code; cat
            }
            umount mount/mirror/${name%/*}
            code=0; $UREPO -c mount/archive migrate $name --to mount/mirror 2>told || code=$?
            tell $code";
        let Some(told) = with_mounts(&World::new(), script) else { return };
        same(
            &told,
            str![[r#"
exit 1
error: cannot put in place `[WORLD]/mount/mirror/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/mirror/example.org/archive/[..]` shows what is mounted in it
exit 1
error: cannot put in place `[WORLD]/mount/mirror/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/mirror/example.org/archive/[..]` shows what is mounted in it
exit 1
error: cannot put in place `[WORLD]/mount/mirror/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/mirror/example.org/archive/[..]` shows what is mounted in it
exit 1
error: cannot put in place `[WORLD]/mount/archive/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/archive/example.org/archive/[..]` shows what is mounted in it
exit 1
error: cannot put in place `[WORLD]/mount/archive/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/archive/example.org/archive/[..]` shows what is mounted in it
unread
exit 1
error: cannot put in place `[WORLD]/mount/archive/example.org/archive/[..]`
caused by: cross-device link or rename
hint: a collection has to lie on one file system; `findmnt -T [WORLD]/mount/archive/example.org/archive/[..]` shows what is mounted in it

"#]],
        );
    }

    #[test]
    fn read_only() {
        let script = "
            mount -t tmpfs tmpfs mount
            $UREPO init mount/archive --host archive.example.org 2>told
            mount -o remount,bind,ro mount
            code=0; $UREPO -c mount/archive new a.txt 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive mint 2>told || code=$?; tell $code
            code=0; $UREPO init mount/maps --host maps.example.org 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive list 2>told || code=$?; tell $code
            find mount ! -path '*/reserve/*' | sort";
        let Some(told) = with_mounts(&World::new(), script) else { return };
        same(
            &told,
            str![[r#"
exit 1
error: cannot open `[WORLD]/mount/archive/.urepo/lock`
caused by: Read-only file system (os error 30)
hint: the file system is mounted read-only; `findmnt -T .` shows it
exit 1
error: cannot open `[WORLD]/mount/archive/.urepo/distributor/example.org+archive.lock`
caused by: Read-only file system (os error 30)
hint: the file system is mounted read-only; `findmnt -T .` shows it
exit 1
error: cannot make the directory `[WORLD]/mount/maps`
caused by: Read-only file system (os error 30)
hint: the file system is mounted read-only; `findmnt -T .` shows it
exit 0
mount
mount/archive
mount/archive/.urepo
mount/archive/.urepo/distributor
mount/archive/.urepo/distributor/example.org+archive.lock
mount/archive/.urepo/inventory
mount/archive/.urepo/lock
mount/archive/.urepo/reserve
mount/archive/.urepo/staging
mount/archive/README
mount/archive/urepo.toml

"#]],
        );
    }
}

mod sources {
    use super::*;

    #[test]
    fn in_and_around_the_collection() {
        let world = world_with_file();
        refuses(&world, "-c archive new archive/urepo.toml", 1).tells(str![[r#"
error: `archive/urepo.toml` is in the collection `[WORLD]/archive` already
hint: what is in a collection has a name already

"#]]);
        refuses(&world, "-c archive new archive", 1).tells(str![[r#"
error: `archive` is in the collection `[WORLD]/archive` already
hint: what is in a collection has a name already

"#]]);
        refuses(&world, "-c archive new .", 1).tells(str![[r#"
error: `.` holds the collection `[WORLD]/archive` itself
hint: deposit what lies beside the collection

"#]]);
        symlink("archive/.urepo", world.path("link")).unwrap();
        refuses(&world, "-c archive new link/lock", 1).tells(str![[r#"
error: `link/lock` is in the collection `[WORLD]/archive` already
hint: what is in a collection has a name already

"#]]);
    }

    /// Following a link of the command line must not lead into the collection, least of all with
    /// `--remove-source`, which would take its own items away.
    #[test]
    fn behind_a_link_that_is_followed() {
        let (world, name) = world_with_item();
        symlink("archive/example.org", world.path("link")).unwrap();
        refuses(&world, "-c archive new --links follow link", 1).tells(str![[r#"
error: `link` is in the collection `[WORLD]/archive` already
hint: what is in a collection has a name already

"#]]);
        refuses(&world, "-c archive new --remove-source --links follow link", 1).tells(str![[r#"
error: `link` is in the collection `[WORLD]/archive` already
hint: what is in a collection has a name already

"#]]);
        symlink(".", world.path("around")).unwrap();
        refuses(&world, "-c archive new --links follow around", 1).tells(str![[r#"
error: `around` holds the collection `[WORLD]/archive` itself
hint: deposit what lies beside the collection

"#]]);
        assert_eq!(whole_items(&open(&world)), [name]);
    }

    #[test]
    fn that_are_not_there_or_not_readable() {
        let world = world_with_file();
        refuses(&world, "-c archive new missing.txt", 1).tells(str![[r#"
error: cannot inspect `missing.txt`
caused by: No such file or directory (os error 2)

"#]]);
        refuses(&world, "-c archive new a.txt missing.txt", 1).tells(str![[r#"
error: cannot inspect `missing.txt`
caused by: No such file or directory (os error 2)

"#]]);
        refuses(&world, "-c archive new nowhere/missing.txt", 1).tells(str![[r#"
error: cannot find `nowhere`
caused by: No such file or directory (os error 2)

"#]]);
        refuses(&world, "-c archive new a.txt/b", 1).tells(str![[r#"
error: cannot inspect `a.txt/b`
caused by: Not a directory (os error 20)

"#]]);
        refuses_args(&world, ["-c", "archive", "new", ""], 2).tells(str![[r#"
error: a value is required for '[PATH]...' but none was supplied

For more information, try '--help'.

"#]]);
    }

    #[test]
    fn that_an_ordinary_user_may_not_read() {
        let Some(user) = OrdinaryUser::of(world_with_file()) else { return };
        let world = &user.world;
        for name in ["dir/a.txt", "dir/b.txt", "dir/c.txt", "closed/a.txt"] {
            world.write(name, name);
        }
        user.owns_everything();
        user.closes("dir/b.txt");
        user.closes("closed");
        user.closes("a.txt");
        refuses_command(world, user.command("-c archive new a.txt"), 1).tells(str![[r#"
error: cannot open `a.txt`
caused by: Permission denied (os error 13)
hint: `namei -l a.txt` shows who may do what on the way

"#]]);
        refuses_command(world, user.command("-c archive new dir"), 1).tells(str![[r#"
error: cannot open `dir/b.txt`
caused by: Permission denied (os error 13)
hint: `namei -l dir/b.txt` shows who may do what on the way

"#]]);
        refuses_command(world, user.command("-c archive new closed"), 1).tells(str![[r#"
error: cannot measure `closed`
caused by: permission denied
hint: `namei -l closed` shows who may do what on the way

"#]]);
        user.owns_everything();
        std::fs::create_dir(world.path("above")).unwrap();
        std::fs::rename(world.path("closed"), world.path("above/closed")).unwrap();
        user.owns_everything();
        user.closes("above/closed");
        refuses_command(world, user.command("-c archive new above"), 1).tells(str![[r#"
error: cannot measure `above`
caused by: permission denied
hint: `namei -l above` shows who may do what on the way

"#]]);
        world.write("c.txt", "c");
        user.owns_everything();
        user.closes("archive");
        refuses_command(world, user.command("-c archive new c.txt"), 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive`
caused by: Permission denied (os error 13)
hint: `namei -l [WORLD]/archive` shows who may do what on the way

"#]]);
        refuses_command(world, user.command("-c archive list"), 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive`
caused by: Permission denied (os error 13)
hint: `namei -l [WORLD]/archive` shows who may do what on the way

"#]]);
        user.owns_everything();
    }

    #[test]
    fn that_can_not_be_read_in_the_middle() {
        for (operation, errno, expected) in [
            (
                Operation::Open,
                rustix::io::Errno::ACCESS,
                str![[r#"
cannot open `[WORLD]/dir/b.txt`
caused by: Permission denied (os error 13)
"#]],
            ),
            (
                Operation::Read,
                rustix::io::Errno::IO,
                str![[r#"
cannot read `[WORLD]/dir/b.txt`
caused by: Input/output error (os error 5)
"#]],
            ),
        ] {
            let told = deposit_watched(move |done, path| match path.file_name() {
                Some(name) if done == operation && name == "b.txt" => Err(errno.into()),
                _ => Ok(()),
            });
            same(&told, expected);
        }
    }

    #[test]
    fn that_change_while_they_are_read() {
        let grow = |path: &Path| {
            use std::io::Write as _;
            File::options().append(true).open(path)?.write_all(b"more")
        };
        let shrink = |path: &Path| File::options().write(true).open(path)?.set_len(0);
        let replace = |path: &Path| {
            std::fs::write(path.with_extension("new"), "b")?;
            std::fs::rename(path.with_extension("new"), path)
        };
        let cases: [fn(&Path) -> io::Result<()>; 3] = [grow, shrink, replace];
        for change in cases {
            let told = deposit_watched(move |operation, path| {
                if operation == Operation::Read && path.ends_with("dir/b.txt") {
                    change(path)?;
                }
                Ok(())
            });
            same(&told, str!["`[WORLD]/dir/b.txt` changed while it was read, 3 times in a row"]);
        }
    }

    /// Deposits a directory while `watch` looks on, which has to fail, and tells how.
    fn deposit_watched(
        watch: impl Fn(Operation, &Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> String {
        struct Closure<F>(F);
        impl<F: Fn(Operation, &Path) -> io::Result<()> + Send + Sync> Watch for Closure<F> {
            fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
                (self.0)(operation, path)
            }
        }
        let world = World::with_collection();
        for name in ["dir/a.txt", "dir/b.txt", "dir/c.txt"] {
            world.write(name, name);
        }
        let watcher = Watcher::new(Arc::new(Closure(watch)));
        let collection = Collection::open(&world.path("archive"), &watcher).unwrap();
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let requests = vec![request(world.path("dir"))];
        let (mut outcomes, _) = deposit(&collection, requests, options(), &clock, |_| ()).unwrap();
        assert_eq!(whole_items(&collection), [""; 0]);
        assert_eq!(staged(&world.path("archive")), [""; 0]);
        let Outcome { result, .. } = outcomes.remove(0);
        chain(&result.unwrap_err()).replace(&world.path("").display().to_string(), "[WORLD]/")
    }

    #[test]
    fn that_are_no_files() {
        let world = world_with_file();
        make_fifo(&world.path("fifo"));
        refuses(&world, "-c archive new fifo", 1).tells(str![[r#"
error: `fifo` is a FIFO, which can not be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]);
        world.write("with-fifo/a/b.txt", "b");
        make_fifo(&world.path("with-fifo/a/c"));
        refuses(&world, "-c archive new with-fifo", 1).tells(str![[r#"
error: `with-fifo/a/c` is a FIFO, which can not be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]);
        let _socket = std::os::unix::net::UnixListener::bind(world.path("socket")).unwrap();
        refuses(&world, "-c archive new a.txt socket", 1).tells(str![[r#"
error: `socket` is a socket, which can not be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]);
        refuses(&world, "-c archive new /dev/null", 1).tells(str![[r#"
error: `/dev/null` is a character device, which can not be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]);
        symlink("/dev/null", world.path("link")).unwrap();
        refuses(&world, "-c archive new --links follow link", 1).tells(str![[r#"
error: `link` is a character device, which can not be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]);
        world.write("with-device/a.txt", "a");
        let null = rustix::fs::makedev(1, 3);
        let device = world.path("with-device/null");
        match rustix::fs::mknodat(CWD, &device, FileType::CharacterDevice, Mode::RUSR, null) {
            Ok(()) => refuses(&world, "-c archive new with-device", 1).tells(str![[r#"
error: `with-device/null` is a character device, which can not be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]),
            Err(_) => skipped("a device in a source: this user may not make one"),
        }
    }

    fn make_fifo(path: &Path) {
        rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    #[test]
    fn with_links_that_lead_out() {
        let world = world_with_file();
        let link = |target: &str, name: &str| {
            world.write(&format!("{name}/b/file"), "");
            symlink(target, world.path(format!("{name}/link"))).unwrap();
        };
        link("../a.txt", "relative");
        refuses(&world, "-c archive new relative", 1).tells(str![[r#"
error: the link `relative/link` leads out of the item, to `../a.txt`
hint: `--links follow` deposits what it points to

"#]]);
        link("/etc/passwd", "absolute");
        refuses(&world, "-c archive new absolute", 1).tells(str![[r#"
error: the link `absolute/link` leads out of the item, to `/etc/passwd`
hint: `--links follow` deposits what it points to

"#]]);
        link("b/../file", "through");
        refuses(&world, "-c archive new through", 1).tells(str![[r#"
error: the link `through/link` leads out of the item, to `b/../file`
hint: `--links follow` deposits what it points to

"#]]);
        link("nowhere", "dangling");
        refuses(&world, "-c archive new --links follow dangling", 1).tells(str![[r#"
error: cannot walk `dangling/link`
caused by: No such file or directory (os error 2)

"#]]);
        refuses(&world, "-c archive new --links error dangling", 1).tells(str![[r#"
error: `dangling/link` is a symbolic link
hint: `--links follow` deposits what it points to

"#]]);
        link(".", "loop");
        refuses(&world, "-c archive new --links follow loop", 1).tells(str![[r#"
error: cannot walk `loop/link`
caused by: File system loop found: loop/link points to an ancestor loop

"#]]);
        link("\u{1b}[2J/../../x", "hostile");
        refuses(&world, "-c archive new hostile", 1).tells(str![[r#"
error: the link `hostile/link` leads out of the item, to `\u{1b}[2J/../../x`
hint: `--links follow` deposits what it points to

"#]]);
        symlink("a.txt", world.path("source-link")).unwrap();
        refuses(&world, "-c archive new source-link", 1).tells(str![[r#"
error: `source-link` is a symbolic link
hint: `--links follow` deposits what it points to

"#]]);
        refuses(&world, "-c archive new relative source-link", 1).tells(str![[r#"
error: `source-link` is a symbolic link
hint: `--links follow` deposits what it points to

"#]]);
        symlink("relative", world.path("directory-link")).unwrap();
        refuses(&world, "-c archive new directory-link", 1).tells(str![[r#"
error: `directory-link` is a symbolic link
hint: `--links follow` deposits what it points to

"#]]);
        // A link that dangles inside is data like any other.
        assert_eq!(world.run("-c archive new dangling").code, 0);
    }

    #[test]
    fn with_names_that_are_one_elsewhere() {
        let world = World::with_collection();
        world.write("case/Map.tif", "1");
        world.write("case/map.tif", "2");
        refuses(&world, "-c archive new case", 1).tells(str![[r#"
error: `Map.tif` and `map.tif` in `case` are one name on some file systems
hint: rename one; `--force twins` keeps both as they are

"#]]);
        world.write("form/sub/caf\u{e9}", "1");
        world.write("form/sub/cafe\u{301}", "2");
        refuses(&world, "-c archive new form", 1).tells(str![[r#"
error: `sub/cafe\u{301}` and `sub/caf\u{e9}` in `form` are one name on some file systems
hint: rename one; `--force twins` keeps both as they are

"#]]);
        world.write("x/Data/one", "1");
        world.write("y/data/two", "2");
        refuses(&world, "-c archive new x/Data y/data", 1).tells(str![[r#"
error: `Data` and `data` in `x/Data` are one name on some file systems
hint: rename one; `--force twins` keeps both as they are

"#]]);
        world.write("x/a.txt", "1");
        world.write("y/a.txt", "2");
        refuses(&world, "-c archive new x/a.txt y/a.txt", 1).tells(str![[r#"
error: two of the sources are called `a.txt`
hint: deposit the directory that holds them, or one item each with `--each`

"#]]);
        refuses(&world, "-c archive new x/a.txt x/a.txt", 1).tells(str![[r#"
error: two of the sources are called `a.txt`
hint: deposit the directory that holds them, or one item each with `--each`

"#]]);
    }

    #[test]
    fn without_a_name_or_content() {
        let world = world_with_file();
        std::fs::create_dir_all(world.path("sub/empty")).unwrap();
        let mut command = world.command(["-c", "../archive", "new", "../a.txt", ".."]);
        command.current_dir(world.path("sub"));
        refuses_command(&world, command, 1).tells(str![[r#"
error: `..` has no name to be kept under
hint: name it by its path

"#]]);
        refuses(&world, "-c archive new sub/empty", 1).tells(str![[r#"
error: `sub/empty` is an empty directory
hint: an item has at least one file or link

"#]]);
        refuses(&world, "-c archive new", 2).tells(str![[r#"
error: no path was given
hint: urepo new PATH…

"#]]);
        refuses(&world, "-c archive new --each", 2).tells(str![[r#"
error: no path was given
hint: urepo new PATH…

"#]]);
    }

    #[test]
    fn several_of_which_some_fail() {
        let world = world_with_file();
        world.write("b.txt", "b");
        let ran = world.run("-c archive new --each a.txt missing.txt b.txt empty");
        same(
            &ran.stderr,
            str![[r#"
error: `missing.txt` was not deposited: cannot inspect `missing.txt`: No such file or directory (os error 2)
error: `empty` was not deposited: cannot inspect `empty`: No such file or directory (os error 2)
error: 2 of 4 items could not be deposited
hint: the others are deposited: repeat with the paths that are named above only

"#]],
        );
        assert_eq!((ran.code, ran.stdout.lines().count()), (3, 2));
        assert_eq!(whole_items(&open(&world)).len(), 2);
        let ran = world.run("-c archive new --each --on-error stop -j 1 missing.txt");
        same(
            &ran.stderr,
            str![[r#"
error: `missing.txt` was not deposited: cannot inspect `missing.txt`: No such file or directory (os error 2)
error: 1 of 1 item could not be deposited
hint: the others are deposited: repeat with the paths that are named above only

"#]],
        );
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
        assert_eq!(staged(&world.path("archive")), [""; 0]);
    }
}

mod descriptions {
    use super::*;

    #[test]
    fn that_are_not_understood() {
        let world = world_with_file();
        refuses(&world, "-c archive new a.txt --meta title", 2).tells(str![[r#"
error: `--meta title` has no `=`
hint: write `--meta key=value`

"#]]);
        refuses(&world, "-c archive new a.txt --meta box=17", 1).tells(str![[r#"
error: `box` is no term of Dublin Core
hint: `--meta x.box=…` keeps a key of your own; the terms are abstract, alternative, audience, bibliographicCitation, contributor, coverage, creator, date, description, format, identifier, issued, language, license, provenance, publisher, relation, rights, source, subject, title, type

"#]]);
        refuses_args(&world, ["-c", "archive", "new", "a.txt", "--meta", "x.a b=17"], 1).tells(
            str![[r#"
error: `x.a b` has characters other than letters, digits, `-` and `_`
hint: name it in such letters, as in `x.shelf-mark`

"#]],
        );
        let title = |text| ["-c", "archive", "new", "a.txt", "--title", text];
        refuses_args(&world, title(""), 1).tells(str![[r#"
error: the text of `title` is empty, longer than 64 KiB, or has control characters

"#]]);
        refuses_args(&world, title("a\u{7}"), 1).tells(str![[r#"
error: the text of `title` is empty, longer than 64 KiB, or has control characters

"#]]);
        refuses(&world, "-c archive new a.txt --title a --meta title=b", 1).tells(str![[r#"
error: `title` is given twice

"#]]);
        refuses(&world, "-c archive new a.txt --language Portuguese!", 1).tells(str![[r#"
error: `Portuguese!` is no language; expected a tag such as `en` or `pt-BR`

"#]]);
        refuses(&world, "-c archive new a.txt --target b.txt", 1).tells(str![[r#"
error: the target `b.txt` is no file of `a.txt`
hint: name a file as it will be below `doc/`

"#]]);
        refuses(&world, "-c archive new a.txt --target ../a.txt", 1).tells(str![[r#"
error: `../a.txt` is not a path below the payload
hint: a path below `doc/`, such as `img/map.png`

"#]]);
    }

    #[test]
    fn in_files() {
        let world = world_with_file();
        let line = "-c archive new a.txt --metadata about.toml";
        refuses(&world, line, 1).tells(str![[r#"
error: cannot open `about.toml`
caused by: No such file or directory (os error 2)

"#]]);
        world.write("about.toml", "title = \"a\"\ncreator = [\n");
        refuses(&world, line, 1).tells(str![[r#"
error: cannot use the description `about.toml`
caused by: line 2: unclosed array, expected `]`
hint: it is a TOML table of terms, such as `title = "…"`

"#]]);
        world.write("about.toml", "titel = \"a\"\n");
        refuses(&world, line, 1).tells(str![[r#"
error: `titel` is no term of Dublin Core
hint: `--meta x.titel=…` keeps a key of your own; the terms are abstract, alternative, audience, bibliographicCitation, contributor, coverage, creator, date, description, format, identifier, issued, language, license, provenance, publisher, relation, rights, source, subject, title, type

"#]]);
        world.write("about.toml", "title = 7\n");
        refuses(&world, line, 1).tells(str![[r#"
error: `title` has a value that is neither a text nor a list of texts

"#]]);
        world.write("about.toml", b"title = \"\xff\"\n");
        refuses(&world, line, 1).tells(str![[r#"
error: cannot use the description `about.toml`
caused by: it is not UTF-8
hint: it is a TOML table of terms, such as `title = "…"`

"#]]);
        world.write("about.toml", "language = \"?\"\n");
        refuses(&world, line, 1).tells(str![[r#"
error: `?` is no language; expected a tag such as `en` or `pt-BR`

"#]]);
    }

    #[test]
    fn lists_of_paths() {
        let world = world_with_file();
        refuses(&world, "-c archive new --files-from0 list", 1).tells(str![[r#"
error: cannot open `list`
caused by: No such file or directory (os error 2)

"#]]);
        world.write("list", "a.txt\na.txt\n");
        refuses(&world, "-c archive new --files-from0 list", 1).tells(str![[r#"
error: cannot inspect `a.txt\na.txt\n`
caused by: No such file or directory (os error 2)

"#]]);
        world.write("list", "a.txt\n".repeat(20_000));
        refuses(&world, "-c archive new --files-from0 list", 1).tells(str![[r#"
error: the list list is not one of NUL-ended paths
hint: `find … -print0` writes such a list

"#]]);
        // A list of nothing asks for nothing.
        world.write("list", "");
        let ran = world.run("-c archive new --each --files-from0 list");
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
        refuses(&world, "-c archive new --each --files-from0 archive", 1).tells(str![[r#"
error: cannot read the list archive
caused by: Is a directory (os error 21)

"#]]);
        refuses(&world, "-c archive new - -", 2).tells(str![[r#"
error: standard input can be read only once

"#]]);
        refuses(&world, "-c archive new - --files-from0 -", 2).tells(str![[r#"
error: standard input can be read only once

"#]]);
        refuses(&world, "-c archive new - a.txt", 2).tells(str![[r#"
error: standard input makes an item of its own
hint: add `--each`, or give `-` alone

"#]]);
        refuses(&world, "-c archive new - --stdin-filename ../a.txt", 1).tells(str![[r#"
error: `../a.txt` is not a path below the payload
hint: a path below `doc/`, such as `img/map.png`

"#]]);
    }
}

mod destinations {
    use super::*;

    /// Whoever can write into the collection can not make urepo write elsewhere.
    #[test]
    fn that_are_links() {
        let world = world_with_file();
        world.write("elsewhere/file", "");
        symlink("../elsewhere", world.path("archive/example.org")).unwrap();
        refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org`
caused by: Not a directory (os error 20)

"#]]);
        std::fs::remove_file(world.path("archive/example.org")).unwrap();
        std::fs::create_dir(world.path("archive/example.org")).unwrap();
        symlink("../../elsewhere", world.path("archive/example.org/archive")).unwrap();
        refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org/archive`
caused by: Not a directory (os error 20)

"#]]);
    }

    #[test]
    fn that_are_links_at_the_year() {
        let world = world_with_file();
        world.write("elsewhere/file", "");
        let minted = world.run("-c archive mint").line();
        let year = minted.split('/').nth(2).unwrap();
        let prefix = world.path("archive/example.org/archive");
        std::fs::create_dir_all(&prefix).unwrap();
        // The run may fall into the new year.
        for year in [year.parse::<u32>().unwrap(), year.parse::<u32>().unwrap() + 1] {
            symlink("../../../elsewhere", prefix.join(year.to_string())).unwrap();
        }
        refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org/archive/2026`
caused by: Not a directory (os error 20)

"#]]);
    }

    #[test]
    fn that_are_links_in_our_own_directory() {
        let world = world_with_file();
        world.write("elsewhere/file", "");
        let staging = world.path("archive/.urepo/staging");
        std::fs::remove_dir(&staging).unwrap();
        symlink("../../elsewhere", &staging).unwrap();
        refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/.urepo/staging`
caused by: Not a directory (os error 20)

"#]]);
        refuses(&world, "-c archive recover", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/.urepo/staging`
caused by: Not a directory (os error 20)

"#]]);
        std::fs::remove_file(&staging).unwrap();
        std::fs::create_dir(&staging).unwrap();
        std::fs::remove_file(world.path(MEMORY)).unwrap();
        symlink("../../elsewhere/lock", world.path(MEMORY)).unwrap();
        refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open `[WORLD]/archive/.urepo/distributor/example.org+archive.lock`
caused by: it, or a directory on the way to it, is a symbolic link
hint: links are not followed; put a directory in its place, or remove it

"#]]);
        refuses(&world, "-c archive mint", 1).tells(str![[r#"
error: cannot open `[WORLD]/archive/.urepo/distributor/example.org+archive.lock`
caused by: it, or a directory on the way to it, is a symbolic link
hint: links are not followed; put a directory in its place, or remove it

"#]]);
    }

    #[test]
    fn that_are_files() {
        let world = world_with_file();
        world.write("archive/example.org", "");
        refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org`
caused by: Not a directory (os error 20)

"#]]);
    }

    #[test]
    fn without_room() {
        let script = "
            mount -t tmpfs -o size=64k,nr_inodes=40 tmpfs mount
            $UREPO init mount/archive --host archive.example.org 2>told
            $UREPO -c mount/archive mint >told
            before=$(contents)
            head -c 100000 /dev/zero >large
            code=0; $UREPO -c mount/archive new large 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive new - <large 2>told || code=$?; tell $code
            mkdir many; for i in $(seq 40); do : >many/$i; done
            code=0; $UREPO -c mount/archive new many 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive new --each many/* >out 2>told || code=$?
            # How many there is room for depends on how far the threads are: but what has room is kept.
            items=$($UREPO -c mount/archive list | wc -l)
            test $items -ge 3 -a $items -eq $(wc -l <out) && items=some
            echo \"exit $code with $items of 40 items, $(ls mount/archive/.urepo/staging | wc -l) staged\"
            echo \"$(grep -c 'was not deposited: no room for' told) told one by one\"
            sed -n 's/[0-9]\\+ more/N more/p' told";
        let Some(told) = with_mounts(&World::new(), script) else { return };
        same(
            &told,
            str![[r#"
exit 1
error: no room for `large`: it takes 103 KiB, `[WORLD]/mount/archive` has 40 KiB
hint: make room, and repeat the command
exit 1
error: cannot write `[WORLD]/mount/archive/.urepo/staging/[STAGE]/doc/data`
caused by: No space left on device (os error 28)
hint: make room, `df -h .` shows how much there is, and repeat the command
exit 1
error: no room for `many`: it takes 48 inodes, `[WORLD]/mount/archive` has 28 inodes
hint: make room, and repeat the command
exit 3 with some of 40 items, 0 staged
5 told one by one
error: N more for which there is no room; `-v` names each

"#]],
        );
    }

    /// Whatever the disk has room for, an item is whole or there is none.
    #[test]
    fn with_room_for_a_part() {
        let script = "
            mount -t tmpfs -o size=64k tmpfs mount
            $UREPO init mount/archive --host archive.example.org 2>told
            $UREPO -c mount/archive mint >told
            before=$(contents)
            free=$(stat -f -c %f mount)
            for pages in $(seq $free -1 0); do
                head -c $((pages * 4096)) /dev/zero >payload
                code=0; $UREPO -c mount/archive new payload >name 2>told || code=$?
                [ $code = 0 ] && break
                tell $code
            done
            echo $((free - pages)) pages beside the payload
            (cd mount/archive/$(cat name) && ls)";
        let Some(told) = with_mounts(&World::new(), script) else { return };
        same(
            &told,
            str![[r#"
exit 1
error: no room for `payload`: it takes 50 KiB, `[WORLD]/mount/archive` has 40 KiB
hint: make room, and repeat the command
exit 1
error: no room for `payload`: it takes 46 KiB, `[WORLD]/mount/archive` has 40 KiB
hint: make room, and repeat the command
exit 1
error: no room for `payload`: it takes 42 KiB, `[WORLD]/mount/archive` has 40 KiB
hint: make room, and repeat the command
3 pages beside the payload
doc
item.toml

"#]],
        );
    }

    #[test]
    fn on_another_file_system() {
        let script = "
            mount -t tmpfs tmpfs mount
            $UREPO init archive --host archive.example.org 2>told
            cp -r archive/.urepo/. mount && mount --bind mount archive/.urepo
            code=0; $UREPO -c archive new a.txt 2>told || code=$?; tell $code";
        let Some(told) = with_mounts(&World::new(), script) else { return };
        same(
            &told,
            str![[r#"
exit 1
error: cannot use `[WORLD]/archive/.urepo`
caused by: it is on another file system than the items, so that nothing can be moved into place

"#]],
        );
    }
}

mod memories {
    use super::*;

    /// The program's own machine, as it names it in memories.
    fn this_machine(world: &World) -> Agent {
        let told = world.run("-c archive doctor --json");
        let record: serde_json::Value = serde_json::from_str(told.succeeded()).unwrap();
        Agent { machine_id: record["machine"].as_str().unwrap().to_owned(), ..agent() }
    }

    fn mint(world: &World, agent: &Agent, date: &str) {
        let clock = TestClock::at(date);
        let collection = open(world);
        Issuer::new(&collection, agent, &clock, &issue_options()).unwrap().issue(1).unwrap();
    }

    /// As `refuses`, and the memory is untouched too.
    #[track_caller]
    fn keeps_memory(world: &World, line: &str, code: i32) -> Told {
        let machine = this_machine(&World::with_collection()).machine_id;
        let before = std::fs::read(world.path(MEMORY)).unwrap();
        let Ran { code: found, stdout, stderr } = world.run(line);
        assert_eq!((found, stdout.as_str()), (code, ""), "{stderr}");
        let after = std::fs::read(world.path(MEMORY)).unwrap();
        // Behind the slots stands who held the lock last.
        assert!(after[..slot::FILE] == before[..slot::FILE], "the memory was changed");
        assert_eq!(whole_items(&open(world)), [""; 0]);
        assert_eq!(staged(&world.path("archive")), [""; 0]);
        Told(stderr.replace(&machine, "[MACHINE]"))
    }

    #[test]
    fn from_the_future() {
        let world = world_with_file();
        mint(&world, &this_machine(&world), "9998-01-01T00:00:00Z");
        let ran = world.run("-c archive new a.txt");
        let mut lines: Vec<_> = ran.stderr.lines().map(str::to_owned).collect();
        // Only these depend on the time of the test.
        for line in &mut lines {
            *line = without_digits_but(line, "9998/01.01.00");
        }
        same(
            &lines.join("\n"),
            str![[r#"
error: no name was given: the clock is # d # h behind the last name of `example.org/archive`
caused by: last name 9998/01.01.00.#, clock #/# (UTC)
hint: correct the clock; if it is right, `urepo doctor --take-over --forget-future` takes the memory back to now
"#]],
        );
        assert_eq!((ran.code, ran.stdout.as_str()), (24, ""));
        assert_eq!(world.run("-c archive mint").code, 24);
        assert_eq!(world.run("-c archive mint --max-wait 1d").code, 24);
        assert_eq!(staged(&world.path("archive")), [""; 0]);
    }

    /// Writes `#` for each number but the one kept.
    fn without_digits_but(text: &str, kept: &str) -> String {
        let hide = |text: &str| {
            let mut hidden = String::new();
            for character in text.chars() {
                match character {
                    '0'..='9' if hidden.ends_with('#') => {}
                    '0'..='9' => hidden.push('#'),
                    other => hidden.push(other),
                }
            }
            // A clock at a full minute or second has fewer parts.
            while hidden.contains("#.#") {
                hidden = hidden.replace("#.#", "#");
            }
            hidden
        };
        if kept.is_empty() {
            return hide(text);
        }
        text.split(kept).map(hide).collect::<Vec<_>>().join(kept)
    }

    #[test]
    fn long_before_the_clock() {
        let world = world_with_file();
        mint(&world, &this_machine(&world), "1996-05-01T12:00:00Z");
        let ran = world.run("-c archive new a.txt");
        let stderr = without_digits_but(&ran.stderr, "1996/05.01.12");
        same(
            &stderr,
            str![[r#"
error: no name was given: the clock is # d # h ahead of the last name, 1996/05.01.12.#; a name of a wrong future would block all others until then
hint: correct the clock; if it is right, repeat with `--accept-clock`

"#]],
        );
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
        assert_eq!(staged(&world.path("archive")), [""; 0]);
        assert_eq!(world.run("-c archive new a.txt --accept-clock").code, 0);
    }

    #[test]
    fn with_a_long_granularity() {
        let world = world_with_file();
        let line = "-c archive mint --granularity 60 --max-wait 0";
        // The second name of a minute has to wait; a minute may end between two runs, not always.
        let ran = (0..5).map(|_| world.run(line)).find(|ran| ran.code == 24).unwrap();
        let newest = ran.stderr.split("last name ").nth(1).unwrap();
        let newest = &newest[..newest.find(',').unwrap()];
        let stderr = without_digits_but(&ran.stderr.replace(newest, "[LAST]"), "");
        same(
            &stderr,
            str![[r#"
error: no name was given: the next one of `example.org/archive` is # s away
caused by: last name [LAST], clock [LAST].# (UTC)
hint: wait with `--max-wait #s`, or take `--granularity auto`

"#]],
        );
        assert_eq!(ran.stdout, "");
    }

    #[test]
    fn from_another_machine() {
        let world = world_with_file();
        std::fs::remove_file(world.path(MEMORY)).unwrap();
        let other = Agent { machine_id: "other-id".into(), ..agent() };
        mint(&world, &other, "2026-01-01T00:00:00Z");
        keeps_memory(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: no name was given: the memory of `example.org/archive` is a copy
caused by: it was written as `other-id:[..]`, this is `[MACHINE]:[..]`
hint: if names of this prefix come from here only from now on, say so with `urepo doctor --take-over`; a machine without a lasting `/etc/machine-id`, such as a container, needs `UREPO_MACHINE_ID`

"#]]);
        keeps_memory(&world, "-c archive mint", 1).tells(str![[r#"
error: no name was given: the memory of `example.org/archive` is a copy
caused by: it was written as `other-id:[..]`, this is `[MACHINE]:[..]`
hint: if names of this prefix come from here only from now on, say so with `urepo doctor --take-over`; a machine without a lasting `/etc/machine-id`, such as a container, needs `UREPO_MACHINE_ID`

"#]]);
        assert_eq!(world.run("-c archive doctor --take-over").code, 0);
        assert_eq!(world.run("-c archive mint --accept-clock").code, 0);
    }

    #[test]
    fn of_another_prefix() {
        let world = world_with_file();
        assert_eq!(world.run("init maps --host maps.example.org").code, 0);
        assert_eq!(world.run("-c maps mint").code, 0);
        let other = world.path("maps/.urepo/distributor/example.org+maps.lock");
        std::fs::copy(other, world.path(MEMORY)).unwrap();
        keeps_memory(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: no name was given: the memory of `example.org/archive` is that of `example.org/maps`
hint: give each prefix a memory of its own; see `distributor` in `urepo.toml`

"#]]);
    }

    #[test]
    fn of_a_newer_format() {
        let world = world_with_file();
        assert_eq!(world.run("-c archive mint").code, 0);
        let mut bytes = std::fs::read(world.path(MEMORY)).unwrap();
        let record = slot::decode(&bytes[..slot::SLOT]).unwrap();
        let mut later = slot::encode(&record);
        let seal = slot::SLOT - "sha256 ".len() - 64 - 1;
        later["urepo-distributor ".len()] = b'3';
        let line = format!("sha256 {}\n", Digest::of(&later[..seal]));
        later[seal..].copy_from_slice(line.as_bytes());
        bytes[..slot::SLOT].copy_from_slice(&later);
        std::fs::write(world.path(MEMORY), bytes).unwrap();
        refuses(&world, "-c archive doctor", 1).tells(str![[r#"
error: no name was given: the memory of `example.org/archive` was written by a newer urepo
hint: use that version, or a later one

"#]]);
        refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: no name was given: the memory of `example.org/archive` was written by a newer urepo
hint: use that version, or a later one

"#]]);
    }

    /// A memory that is lost does not stop the archive: the names on disk stand in for it.
    #[test]
    fn damaged_or_missing() {
        let world = world_with_file();
        let first = world.run("-c archive new a.txt").line();
        let mut newest = first.strip_prefix("example.org/archive/").unwrap().to_owned();
        let mut names = vec![first.clone()];
        let mut goes_on = |stderr: Inline| {
            let ran = world.run("-c archive new a.txt");
            same(&ran.stderr.replace(&newest, "[NEWEST]"), stderr);
            assert_eq!(ran.code, 0);
            let name = ran.stdout.trim().to_owned();
            newest = name.strip_prefix("example.org/archive/").unwrap().to_owned();
            assert!(!names.contains(&name), "{name} was given twice");
            names.push(name);
            assert_eq!(whole_items(&open(&world)), names, "in the order in which they were given");
        };
        world.write(MEMORY, "\x01garbage\n".repeat(1000));
        goes_on(str![[r#"
warning: the memory of `example.org/archive` is damaged; going on above its newest name, [NEWEST]

"#]]);
        std::fs::remove_file(world.path(MEMORY)).unwrap();
        goes_on(str![[r#"
warning: the memory of `example.org/archive` is missing; going on above its newest name, [NEWEST]

"#]]);
        // The write of the last record was cut short: the one before is still good.
        let mut bytes = std::fs::read(world.path(MEMORY)).unwrap();
        let newer =
            if slot::decode(&bytes[..slot::SLOT]).unwrap().sequence == 2 { 0 } else { 4096 };
        bytes[newer + 100..newer + slot::SLOT].fill(0);
        std::fs::write(world.path(MEMORY), bytes).unwrap();
        goes_on(str![]);
        std::fs::write(world.path(MEMORY), "").unwrap();
        goes_on(str![[r#"
warning: the memory of `example.org/archive` is missing; going on above its newest name, [NEWEST]

"#]]);
    }
}

mod items {
    use super::*;

    #[test]
    fn with_a_damaged_sidecar() {
        let (world, name) = world_with_item();
        let path = format!("archive/{name}/item.toml");
        let whole = std::fs::read_to_string(world.path(&path)).unwrap();
        world.write(&path, whole.replace("state = \"Original\"", "state = Original"));
        refuses(&world, "-c archive show 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: line 2, column 9: string values must be quoted, expected literal string
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]]);
        refuses(&world, "-c archive cat 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: line 2, column 9: string values must be quoted, expected literal string
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]]);
        refuses(&world, "-c archive list --long", 3).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`: line 2, column 9: string values must be quoted, expected literal string
error: the sidecars of 1 item cannot be read
hint: `urepo verify --quick` lists what is wrong with them

"#]]);
        world.write(&path, whole.replace("format = 1", "format = 2"));
        refuses(&world, "-c archive show 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: it has format 2; this urepo reads up to format 1
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]]);
        refuses(&world, "-c archive list --long", 3).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`: it has format 2; this urepo reads up to format 1
error: the sidecars of 1 item cannot be read
hint: `urepo verify --quick` lists what is wrong with them

"#]]);
        world.write(&path, whole.replace("Original", "Lost"));
        refuses(&world, "-c archive show 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: `state`: `Lost` is no state; expected `Original`, `Copy` or `Deleted`
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]]);
        world.write(&path, b"\xff\xfe");
        refuses(&world, "-c archive show 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: byte 0 is not UTF-8
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]]);
        world.write(&path, whole.replace("\"a.txt\"", "\"../a.txt\""));
        refuses(&world, "-c archive manifest 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: `path`: `../a.txt` is not a path below the payload
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]]);
        std::fs::remove_file(world.path(&path)).unwrap();
        refuses(&world, "-c archive show 11.21.02.13", 20).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` has no sidecar
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]]);
        refuses(&world, "-c archive list --long", 3).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` has no sidecar
error: the sidecars of 1 item cannot be read
hint: `urepo verify --quick` lists what is wrong with them

"#]]);
        refuses(&world, "-c archive cat 11.21.02.13", 20).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` has no sidecar
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]]);
        refuses(&world, "-c archive manifest --root 11.21.02.13", 20).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` has no sidecar
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]]);
        refuses(&world, "-c archive manifest --root --all", 3).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` has no sidecar
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item
error: 1 of 1 item could not be read
hint: each is named above, with its reason

"#]]);
        std::fs::create_dir(world.path(&path)).unwrap();
        refuses(&world, "-c archive show 11.21.02.13", 1).tells(str![[r#"
error: cannot read `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml`
caused by: Is a directory (os error 21)

"#]]);
    }

    #[test]
    fn with_the_sidecar_of_another() {
        let (world, name) = world_with_item();
        let path = format!("archive/{name}/item.toml");
        let whole = std::fs::read_to_string(world.path(&path)).unwrap();
        world.write(&path, whole.replace("11.21.02.13", "11.21.02.14"));
        let ran = world.run("-c archive show 11.21.02.13");
        same(
            &ran.stderr,
            str![[r#"
error: the sidecar of `example.org/archive/2026/11.21.02.13` is that of `example.org/archive/2026/11.21.02.14`
hint: `urepo verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]],
        );
    }

    #[test]
    fn whose_files_are_not_there() {
        let (world, name) = world_with_item();
        refuses(&world, "-c archive cat 11.21.02.13 b.txt", 21).tells(str![[r#"
error: no file `b.txt` in `example.org/archive/2026/11.21.02.13`
hint: `urepo show --all example.org/archive/2026/11.21.02.13` lists them

"#]]);
        refuses(&world, "-c archive cat 11.21.02.13 ../item.toml", 1).tells(str![[r#"
error: `../item.toml` is not a path below the payload

"#]]);
        refuses(&world, "-c archive cat 11.21.02.14", 21).tells(str![[r#"
error: no item `11.21.02.14` in `[WORLD]/archive`
hint: `urepo list` shows the names there are

"#]]);
        std::fs::remove_file(world.path(format!("archive/{name}/doc/a.txt"))).unwrap();
        refuses(&world, "-c archive cat 11.21.02.13", 20).tells(str![[r#"
error: `a.txt` of `example.org/archive/2026/11.21.02.13` is not there as a file
caused by: cannot open `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt`: No such file or directory (os error 2)
hint: `urepo verify example.org/archive/2026/11.21.02.13` says what else is wrong

"#]]);
        symlink("/etc/hostname", world.path(format!("archive/{name}/doc/a.txt"))).unwrap();
        refuses(&world, "-c archive cat 11.21.02.13", 20).tells(str![[r#"
error: `a.txt` of `example.org/archive/2026/11.21.02.13` is not there as a file
caused by: cannot open `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt`: it, or a directory on the way to it, is a symbolic link
hint: `urepo verify example.org/archive/2026/11.21.02.13` says what else is wrong

"#]]);
    }

    #[test]
    fn that_are_several() {
        let (world, _) = world_with_item();
        for prefix in ["other.org/archive", "example.org/maps"] {
            let directory = world.path(format!("archive/{prefix}/2026/11.21.02.13"));
            std::fs::create_dir_all(directory).unwrap();
        }
        refuses(&world, "-c archive show 11.21.02.13", 21).sorted().tells(str![[r#"
  example.org/archive/2026/11.21.02.13
  example.org/maps/2026/11.21.02.13
  other.org/archive/2026/11.21.02.13
error: `11.21.02.13` is the end of 3 names
hint: give more of the name you mean
"#]]);
        refuses(&world, "-c archive show archive/2026/11.21.02.13", 21).sorted().tells(str![[r#"
  example.org/archive/2026/11.21.02.13
  other.org/archive/2026/11.21.02.13
error: `archive/2026/11.21.02.13` is the end of 2 names
hint: give more of the name you mean
"#]]);
        refuses(&world, "-c archive manifest a b", 2).tells(str![[r#"
error: several items have no payload in common
hint: add `--root`, and check from the root of the collection

"#]]);
    }
}

mod removals {
    use super::*;

    /// A second collection with a Copy of the item, and the Copy's directory.
    fn with_copy(world: &World, name: &str) -> std::path::PathBuf {
        crate::support::make_collection(&world.path("other"));
        let copy = world.path("other").join(name);
        std::fs::create_dir_all(copy.join("doc")).unwrap();
        let item = world.path("archive").join(name);
        std::fs::copy(item.join("doc/a.txt"), copy.join("doc/a.txt")).unwrap();
        rewrite(&item, &copy, |sidecar| sidecar.state = urepo::item::State::Copy);
        copy
    }

    fn rewrite(from: &Path, to: &Path, change: impl FnOnce(&mut urepo::sidecar::Sidecar)) {
        let text = std::fs::read(from.join("item.toml")).unwrap();
        let (mut sidecar, _) = urepo::sidecar::Sidecar::read(&text).unwrap();
        change(&mut sidecar);
        std::fs::write(to.join("item.toml"), sidecar.to_text()).unwrap();
    }

    #[test]
    fn of_the_last_one() {
        let (world, name) = world_with_item();
        refuses(&world, "-c archive delete 11.21.02.13", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is the last one that is known to be whole
hint: name a collection that holds it with `--with COLLECTION`, or delete the last one with `--force last`

"#]]);
        let copy = with_copy(&world, name);
        std::fs::write(copy.join("doc/a.txt"), "b").unwrap();
        let line = "-c archive rm 11.21.02.13 --with other --with archive";
        refuses(&world, line, 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is the last one that is known to be whole
caused by: `[WORLD]/other`: it is damaged there: a file has other bytes, `doc/a.txt`
hint: name another collection with `--with COLLECTION`, or delete the last one with `--force last`

"#]]);
        refuses(&world, "-c archive delete 11.21.02.13 --with nowhere", 10).tells(str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: `urepo init [WORLD]/nowhere --host FQDN` makes one

"#]]);
    }

    #[test]
    fn of_what_is_not_in_order() {
        let (world, name) = world_with_item();
        let item = world.path("archive").join(name);
        rewrite(&item, &item, |sidecar| {
            let party = urepo::sidecar::Party::To("0123".to_owned());
            sidecar.handover = Some(urepo::sidecar::Handover { token: "t".to_owned(), party });
        });
        refuses(&world, "-c archive delete --force last 11.21.02.13", 23).tells(str![[r#"
error: a hand-over of `example.org/archive/2026/11.21.02.13` is under way, to collection 0123
hint: `urepo recover` finishes it

"#]]);
        rewrite(&item, &item, |sidecar| sidecar.handover = None);
        std::fs::remove_file(item.join("doc/a.txt")).unwrap();
        refuses(&world, "-c archive delete --force last 11.21.02.13", 20).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is damaged: a file is missing, `doc/a.txt`
hint: `urepo verify example.org/archive/2026/11.21.02.13` says what is wrong; `--force damaged` does it all the same

"#]]);
    }

    #[test]
    fn of_what_is_deleted() {
        let (world, name) = world_with_item();
        let sidecar = std::fs::read(world.path("archive").join(name).join("item.toml")).unwrap();
        refuses(&world, "-c archive delete --revive 11.21.02.13", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is not deleted: it is Original here
hint: `urepo path example.org/archive/2026/11.21.02.13` says where it is

"#]]);
        let copy = with_copy(&world, name);
        world.run("-c archive delete -q --force last 11.21.02.13").succeeded();
        refuses(&world, "-c archive delete 11.21.02.13", 22).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is deleted already
hint: `urepo show example.org/archive/2026/11.21.02.13` says when and why; `urepo delete --revive example.org/archive/2026/11.21.02.13` brings it back until it is purged

"#]]);
        refuses(&world, "-c archive cat 11.21.02.13", 22).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is deleted
hint: `urepo delete --revive example.org/archive/2026/11.21.02.13` brings it back until it is purged

"#]]);
        std::fs::write(copy.join("item.toml"), &sidecar).unwrap();
        let line = "-c archive delete --revive --with other 11.21.02.13";
        refuses(&world, line, 23).tells(str![[r#"
error: `[WORLD]/other` holds the Original of `example.org/archive/2026/11.21.02.13`
hint: an item has one Original: `urepo -c [WORLD]/other copy example.org/archive/2026/11.21.02.13 --to COLLECTION` brings a Copy of it, `urepo -c [WORLD]/other migrate example.org/archive/2026/11.21.02.13 --to COLLECTION` the Original itself

"#]]);
        refuses(&world, "-c archive purge -q", 2).tells(str![[r#"
error: nobody can be asked: stdin is no terminal
hint: `-y` answers yes beforehand

"#]]);
        let item = world.path("archive").join(name);
        let tombstone = std::fs::read(item.join("item.toml")).unwrap();
        std::fs::write(item.join("item.toml"), sidecar).unwrap();
        refuses(&world, "-c archive purge -y", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is Original and has no payload; it may be the one in the trash
hint: move `doc` from `.urepo/trash` back to where `urepo path example.org/archive/2026/11.21.02.13` says, and verify it

"#]]);
        std::fs::write(item.join("item.toml"), tombstone).unwrap();
        let trash = std::fs::read_dir(world.path("archive/.urepo/trash")).unwrap();
        let entry = trash.map(|entry| entry.unwrap().path()).next().unwrap();
        std::fs::write(entry.join("doc/a.txt"), "b").unwrap();
        refuses(&world, "-c archive delete --revive 11.21.02.13", 20).tells(str![[r#"
error: what is in the trash of `example.org/archive/2026/11.21.02.13` is damaged: a file has other bytes, `doc/a.txt`
hint: `--force damaged` brings it back as it is; nothing was moved

"#]]);
        world.run("-c archive purge -q -y").succeeded();
        refuses(&world, "-c archive delete --revive 11.21.02.13", 22).tells(str![[r#"
error: nothing of `example.org/archive/2026/11.21.02.13` is in the trash
hint: it was purged; a Copy elsewhere may still have the files

"#]]);
    }

    #[test]
    fn of_several() {
        let (world, _) = world_with_item();
        let (requests, clock) =
            (vec![request(world.path("a.txt"))], TestClock::at("2026-11-21T02:14:00Z"));
        deposit(&open(&world), requests, options(), &clock, |_| ()).unwrap();
        let line = "-c archive delete --force last 11.21.02.13 11.21.02.14";
        refuses(&world, line, 2).tells(str![[r#"
error: nobody can be asked: stdin is no terminal
hint: `-y` answers yes beforehand

"#]]);
        refuses(&world, "-c archive delete -y 11.21.02.13 11.21.02.14", 3).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is the last one that is known to be whole
hint: name a collection that holds it with `--with COLLECTION`, or delete the last one with `--force last`
error: `example.org/archive/2026/11.21.02.14` is the last one that is known to be whole
hint: name a collection that holds it with `--with COLLECTION`, or delete the last one with `--force last`
error: 2 of 2 items could not be deleted
hint: each is named above, with its reason

"#]]);
        refuses(&world, "-c archive delete --force all 11.21.02.13", 2).tells(str![[r#"
error: invalid value 'all' for '--force <RULE>'
  [possible values: last, damaged, missing]

For more information, try '--help'.

"#]]);
    }
}

mod streams {
    use super::*;

    #[test]
    fn that_are_full() {
        let world = world_with_file();
        let full = || File::options().write(true).open("/dev/full").unwrap();
        let run = |line: &str| {
            let mut command = world.command(line.split_whitespace());
            command.stdout(full());
            world.finish(command)
        };
        let Ran { code, stderr, .. } = run("-c archive new a.txt");
        same(
            &stderr,
            str![[r#"
error: cannot write to stdout
caused by: No space left on device (os error 28)
hint: the work itself is done; only its report is lost

"#]],
        );
        assert_eq!(code, 1);
        assert_eq!(whole_items(&open(&world)).len(), 1, "the item stays");
        let Ran { code, stderr, .. } = run("-c archive --json new a.txt");
        same(
            &stderr,
            str![[r#"
{"error":{"causes":["No space left on device (os error 28)"],"code":1,"hint":"the work itself is done; only its report is lost","message":"cannot write to stdout"},"exit_code":1,"type":"error","version":1}

"#]],
        );
        assert_eq!(code, 1);
        let Ran { code, stderr, .. } = run("-c archive mint");
        same(
            &stderr,
            str![[r#"
error: cannot write to stdout
caused by: No space left on device (os error 28)
hint: the work itself is done; only its report is lost

"#]],
        );
        assert_eq!(code, 1);
        for line in ["-c archive list", "-c archive config", "id 8JMKD3MGP8W/34PGRBS"] {
            let Ran { code, stderr, .. } = run(line);
            assert_eq!(code, 1, "{line}: {stderr}");
        }
    }

    #[test]
    fn that_nobody_reads() {
        let (world, _) = world_with_item();
        let run = |line: &str| {
            let (reader, writer) = io::pipe().unwrap();
            drop(reader);
            let mut command = world.command(line.split_whitespace());
            command.stdout(writer);
            world.finish(command)
        };
        for line in
            ["list", "list --json", "show 11.21.02.13", "cat 11.21.02.13", "manifest 11.21.02.13"]
        {
            let Ran { code, stderr, .. } = run(&format!("-c archive {line}"));
            assert_eq!((code, stderr.as_str()), (0, ""), "{line}");
        }
    }

    /// A name that nobody has read is still given: that is said, and is no success.
    #[test]
    fn that_nobody_reads_a_new_name_from() {
        let world = world_with_file();
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut command = world.command(["-c", "archive", "new", "a.txt"]);
        command.stdout(writer);
        let Ran { code, stderr, .. } = world.finish(command);
        same(
            &stderr,
            str![[r#"
error: cannot write to stdout
caused by: Broken pipe (os error 32)
hint: the work itself is done; only its report is lost

"#]],
        );
        assert_eq!(code, 1);
        assert_eq!(whole_items(&open(&world)).len(), 1, "the item stays");
    }
}

mod adopting {
    use super::*;

    #[test]
    fn what_is_no_tree_of_items() {
        let world = world_with_file();
        world.write("tree/notes/readme.txt", "no item");
        refuses(&world, "adopt tree", 1).tells(str![[r#"
error: there are no items in `[WORLD]/tree`
hint: name the directory that holds the subdomains: items lie four levels below it, in subdomain/word/year/month.day.hour.minute

"#]]);
        refuses(&world, "adopt nowhere", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/nowhere`
caused by: No such file or directory (os error 2)

"#]]);
        refuses(&world, "adopt a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/a.txt`
caused by: Not a directory (os error 20)

"#]]);
        refuses(&world, "adopt archive/.urepo", 23).tells(str![[r#"
error: a collection can not lie in another: `[WORLD]/archive` is one
hint: choose a place beside it; collections stand side by side

"#]]);
        refuses(&world, "adopt archive", 1).tells(str![[r#"
error: there are no items in `[WORLD]/archive`
hint: name the directory that holds the subdomains: items lie four levels below it, in subdomain/word/year/month.day.hour.minute

"#]]);
        refuses(&world, "adopt archive --host maps.example.org", 23).tells(str![[r#"
error: `[WORLD]/archive` is a collection already, of other names
caused by: it has no subsystem `example.org/maps`
hint: leave `--host` away, or add the subsystem to `[WORLD]/archive/urepo.toml`

"#]]);
        refuses(&world, "adopt tree --port 8080", 2).tells(str![[r#"
error: the following required arguments were not provided:
  --host <FQDN>

Usage: urepo adopt --host <FQDN> --port <PORT> <ROOT>

For more information, try '--help'.

"#]]);
        refuses(&world, "adopt tree --host localhost", 1).tells(str![[r#"
error: invalid host name `localhost`
  localhost
  ^^^^^^^^^ a host of one word has no subdomain; expected one such as `mtc.sid.inpe.br`
hint: a host is fully qualified, such as archive.example.org

"#]]);
        refuses(&world, "adopt tree --state deleted", 2).tells(str![[r#"
error: invalid value 'deleted' for '--state <STATE>'
  [possible values: original, copy]

For more information, try '--help'.

"#]]);
    }

    #[test]
    fn items_that_are_not_in_order() {
        let world = World::new();
        let item = |number: u32| format!("tree/example.org/old/2001/01.01.00.{number:02}");
        world.write(&format!("{}/page.html", item(1)), "not in doc");
        world.write(&format!("{}/doc", item(2)), "a file");
        let linked = world.write(&format!("{}/doc/a", item(3)), "a");
        symlink("/etc/hostname", linked.with_file_name("out")).unwrap();
        let odd = world.write(&format!("{}/doc/a", item(4)), "a");
        let (kind, mode) = (FileType::Fifo, Mode::RWXU);
        rustix::fs::mknodat(CWD, odd.with_file_name("pipe"), kind, mode, 0).unwrap();
        world.write(&format!("{}/doc/a", item(5)), "a");
        world.write(&format!("{}/item.toml", item(5)), "format = 1\nby = \"hand\"\n");
        world.write(&format!("{}/doc/a", item(6)), "a");
        world.write("tree/Example.org/old/2001/01.01.00.06/doc/a", "a");
        refuses(&world, "adopt -n tree", 3).tells(str![[r#"
would make the collection `[WORLD]/tree`
error: the files of `example.org/old/2001/01.01.00.01` are not in its `doc`
hint: make `example.org/old/2001/01.01.00.01/doc`, move the files into it, and repeat the command
error: `[WORLD]/tree/example.org/old/2001/01.01.00.02/doc` is a file, not a directory
hint: put a directory in its place, and repeat the command
error: the link `[WORLD]/tree/example.org/old/2001/01.01.00.03/doc/out` leads out of the item, to `/etc/hostname`
hint: put in its place what it points to, or move it out of the way
error: `[WORLD]/tree/example.org/old/2001/01.01.00.04/doc/pipe` is a FIFO, which no item can hold
hint: move it out of the way: items hold files, directories and links
error: `example.org/old/2001/01.01.00.05` has an `item.toml` that is not its sidecar: line 1, column 1: missing field `state`
hint: `urepo verify example.org/old/2001/01.01.00.05` says what is wrong with it; it is not overwritten
error: `Example.org/old/2001/01.01.00.06` is also there as `example.org/old/2001/01.01.00.06`
hint: find out which is the true one, move the other away, and repeat
error: `example.org/old/2001/01.01.00.06` is also there as `Example.org/old/2001/01.01.00.06`
hint: find out which is the true one, move the other away, and repeat
error: 7 of 7 items can not be taken in
hint: each is named above, with its reason; they are as they were

"#]]);
    }
}

mod verifying {
    use super::*;

    #[test]
    fn items_and_collections_together() {
        let (world, _) = world_with_item();
        world.run("init maps --host maps.example.org").succeeded();
        refuses(&world, "verify archive 11.21.02.13", 2).tells(str![[r#"
error: `archive` is a collection and `11.21.02.13` is not: name items or collections, not both
hint: `-c COLLECTION` names the collection of the items

"#]]);
        refuses(&world, "verify 11.21.02.13 maps archive", 2).tells(str![[r#"
error: `maps` is a collection and `11.21.02.13` is not: name items or collections, not both
hint: `-c COLLECTION` names the collection of the items

"#]]);
        refuses(&world, "verify archive nowhere", 2).tells(str![[r#"
error: `archive` is a collection and `nowhere` is not: name items or collections, not both
hint: `-c COLLECTION` names the collection of the items

"#]]);
        refuses(&world, "verify nowhere", 10).tells(str![[r#"
error: `[WORLD]` is not in a collection
hint: name one with `-c PATH`, or make one with `urepo init PATH --host FQDN`

"#]]);
        refuses(&world, "-c archive verify archive maps", 2).tells(str![[r#"
error: the collections are named twice, by `-c` and by their roots
hint: name all of them after `verify`

"#]]);
        world.write("maps/urepo.toml", "?");
        refuses(&world, "verify archive maps", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/maps/urepo.toml`
caused by: line 1: key with no value, expected `=`
hint: correct `[WORLD]/maps/urepo.toml`; `urepo config` shows what is read

"#]]);
    }

    #[test]
    fn with_flags_that_do_not_agree() {
        let (world, _) = world_with_item();
        refuses(&world, "-c archive verify --time-limit 5h 11.21.02.13", 2).tells(str![[r#"
error: `--time-limit` can not be used with items
hint: items that are named are always verified, all of them

"#]]);
        refuses(&world, "-c archive verify --older-than 30d 11.21.02.13", 2).tells(str![[r#"
error: `--older-than` can not be used with items
hint: items that are named are always verified, all of them

"#]]);
        refuses(&world, "-c archive verify --prefix example.org/archive 11.21.02.13", 2).tells(
            str![[r#"
error: `--prefix` can not be used with items
hint: items that are named are always verified, all of them

"#]],
        );
        refuses(&world, "-c archive verify --quick --time-limit 5h", 2).tells(str![[r#"
error: the argument '--quick' cannot be used with '--time-limit <TIME>'

Usage: urepo verify --quick [ITEM|COLLECTION]...

For more information, try '--help'.

"#]]);
        refuses(&world, "-c archive verify --quick --older-than 30d", 2).tells(str![[r#"
error: the argument '--quick' cannot be used with '--older-than <TIME>'

Usage: urepo verify --quick [ITEM|COLLECTION]...

For more information, try '--help'.

"#]]);
        refuses(&world, "-c archive verify --time-limit tonight", 2).tells(str![[r#"
error: invalid value 'tonight' for '--time-limit <TIME>': expected a number and a unit, such as 30s, 5m, 4h or 30d

For more information, try '--help'.

"#]]);
    }

    #[test]
    fn directories_that_can_not_be_listed() {
        let (world, _) = world_with_item();
        world.write("archive/maps.example.org/archive/README", "a stray");
        let Some(user) = OrdinaryUser::of(world) else { return };
        let world = &user.world;
        user.closes("archive/example.org/archive");
        refuses_command(world, user.command("-c archive list"), 3).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org/archive`: Permission denied (os error 13)
error: 1 directory cannot be listed
hint: `urepo verify --quick` lists what is wrong with them

"#]]);
        let ran = world.finish(user.command("-c archive list --json"));
        assert_eq!(ran.code, 3);
        same(
            &ran.stdout,
            str![[r#"
{"error":{"code":1,"hint":"`namei -l [WORLD]/archive/example.org/archive` shows who may do what on the way","message":"cannot open the directory `[WORLD]/archive/example.org/archive`: Permission denied (os error 13)"},"path":"[WORLD]/archive/example.org/archive","type":"directory","version":1}
{"counts":{"failed":0,"items":0,"unlisted_directories":1},"exit_code":3,"type":"summary","version":1}

"#]],
        );
        user.closes("archive/maps.example.org/archive");
        refuses_command(world, user.command("-c archive list"), 3).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org/archive`: Permission denied (os error 13)
error: cannot open the directory `[WORLD]/archive/maps.example.org/archive`: Permission denied (os error 13)
error: 2 directories cannot be listed
hint: `urepo verify --quick` lists what is wrong with them

"#]]);
        let ran = world.finish(user.command("-c archive verify"));
        assert_eq!(ran.code, 20);
        same(
            &format!("{}{}", ran.stdout, ran.stderr),
            str![[r#"
U208  damage   example.org/archive  something can not be read, so that nothing is known of it: Permission denied (os error 13); the items in it were not verified
U208  damage   maps.example.org/archive  something can not be read, so that nothing is known of it: Permission denied (os error 13); the items in it were not verified
error: 0 items of 0 damaged, and 2 places that are no item
hint: `urepo man` says what the codes mean; nothing here was changed

"#]],
        );
        user.owns_everything();
    }

    /// A collection that can not be written to is verified all the same, without dates.
    #[test]
    fn read_only() {
        let script = "
            mount -t tmpfs tmpfs mount
            $UREPO init mount/archive --host archive.example.org 2>told
            $UREPO -q -c mount/archive new a.txt >told
            mount -o remount,bind,ro mount
            before=$(contents)
            code=0; $UREPO -c mount/archive verify 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive verify --older-than 30d 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive verify --time-limit 5h 2>told || code=$?; tell $code";
        let Some(told) = with_mounts(&World::new(), script) else { return };
        same(
            &told,
            str![[r#"
exit 0
verified 1 item, 1 file, 1 B: no damage
exit 0
verified 1 item, 1 file, 1 B: no damage
exit 0
verified 1 item, 1 file, 1 B: no damage
the round is complete; the next run begins another

"#]],
        );
    }
}

mod usage {
    use super::*;

    #[test]
    fn that_is_wrong() {
        let world = world_with_file();
        refuses(&world, "", 2).tells(str![[r#"
Keeps files in uniform repositories: every item gets a permanent name (IBI) that is also its path,
needs no registry and no server, and is never given twice

Usage: urepo [OPTIONS] <COMMAND>

Commands:
  init         Make a collection
  adopt        Take an existing tree of items in, in place
  new          Deposit files and directories as items [aliases: add, deposit]
  import       Import many sources as items, each once
  list         List the items of a collection [alias: ls]
  show         Show what is known of items [alias: info]
  find         Find items by words of their description, and by all else that is known of them
               [alias: search]
  path         Print where items are on the disk
  cat          Print a file of an item
  manifest     Print digests in the form that `sha256sum -c` checks
  verify       Check items: structure, sidecars, and every byte against its digest [aliases: check,
               fsck]
  status       Compare all known collections: Copies that are missing or stale, second Originals
  whereis      Show which collections hold items, and whether their Copies are current
  copy         Copy items to another collection [alias: cp]
  migrate      Move items to another collection, Originals with them [aliases: move, mv]
  refresh      Bring the Copies of a collection up to their Originals
  promote      Make Copies the Originals, because the collection that held these is lost
  demote       Make Originals Copies, where another collection holds the Originals too
  export       Write items out as directories, tar or bags
  delete       Delete items, or bring them back [alias: rm]
  purge        Remove the files of deleted items for good
  repair       Mend damaged or missing items from good copies
  stats        Tell how much the collection holds: by state, prefix, year and format
  log          Show what happened to items: who did it, and when
  index        Make the index, or bring it up to what is there
  id           Read an identifier in any spelling and print what it says
  mint         Give permanent names without depositing anything
  recover      Remove what killed runs left, and raise the memories to the newest names
  doctor       Show the memories that names come from, the clock, and left-overs
  config       Show each setting and where it comes from
  completions  Print a completion script for a shell
  man          Print a page of the manual
  help         Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help (see more with '--help')
  -V, --version  Print version

Global options:
  -c, --collection <COLLECTION>  The collection: a path, or a name from the settings; else the one
                                 around the current directory [env: UREPO_COLLECTION]
  -n, --dry-run                  Say what would be done, and do nothing
  -q, --quiet                    Say nothing but errors
  -v, --verbose...               Say more
      --json                     Answer in JSON: one document, or one record a line
  -j, --jobs <N>                 How many files to work on at a time [env: UREPO_JOBS]
      --color <WHEN>             When to use colour [default: auto] [possible values: auto, always,
                                 never]
      --progress                 Show progress even where stderr is no terminal
      --no-progress              Show no progress
      --lock-wait <TIME>         How long to wait for a lock, such as 30s or 5m [env:
                                 UREPO_LOCK_WAIT]

`urepo help COMMAND` says more; the manual is in urepo(1).

"#]]);
        refuses(&world, "frobnicate", 2).tells(str![[r#"
error: unrecognized subcommand 'frobnicate'

Usage: urepo [OPTIONS] <COMMAND>

For more information, try '--help'.

"#]]);
        refuses(&world, "list --colour", 2).tells(str![[r#"
error: unexpected argument '--colour' found

  tip: a similar argument exists: '--color'

Usage: urepo list --color <WHEN>

For more information, try '--help'.

"#]]);
        refuses(&world, "init archive2", 2).tells(str![[r#"
error: the following required arguments were not provided:
  --host <FQDN>

Usage: urepo init --host <FQDN> <ROOT>

For more information, try '--help'.

"#]]);
        refuses(&world, "-q -v list", 2).tells(str![[r#"
error: the argument '--quiet' cannot be used with '--verbose...'

Usage: urepo --quiet <COMMAND>

For more information, try '--help'.

"#]]);
        refuses(&world, "list -j 0", 2).tells(str![[r#"
error: invalid value '0' for '--jobs <N>': expected a number from 1 to 1024

For more information, try '--help'.

"#]]);
        refuses(&world, "list --lock-wait soon", 2).tells(str![[r#"
error: invalid value 'soon' for '--lock-wait <TIME>': expected a number and a unit, such as 30s, 5m, 4h or 30d

For more information, try '--help'.

"#]]);
        refuses(&world, "list --long -0", 2).tells(str![[r#"
error: the argument '--long' cannot be used with '--null'

Usage: urepo list --long

For more information, try '--help'.

"#]]);
        refuses(&world, "list --state Lost", 2).tells(str![[r#"
error: invalid value 'Lost' for '--state <STATE>': `Lost` is no state; expected `Original`, `Copy` or `Deleted`

For more information, try '--help'.

"#]]);
    }

    #[test]
    fn of_commands_that_is_wrong() {
        let world = world_with_file();
        refuses(&world, "new a.txt --init", 2).tells(str![[r#"
error: the following required arguments were not provided:
  --host <FQDN>

Usage: urepo new --init --host <FQDN> <PATH>...

For more information, try '--help'.

"#]]);
        refuses(&world, "new a.txt --host archive.example.org", 2).tells(str![[r#"
error: the following required arguments were not provided:
  --init

Usage: urepo new --host <FQDN> --init <PATH>...

For more information, try '--help'.

"#]]);
        refuses(&world, "new a.txt --links perhaps", 2).tells(str![[r#"
error: invalid value 'perhaps' for '--links <RULE>'
  [possible values: keep, follow, error]

For more information, try '--help'.

"#]]);
        refuses(&world, "-c archive mint --count 0", 2).tells(str![[r#"
error: `--count 0` asks for nothing
hint: urepo mint

"#]]);
        refuses(&world, "show", 2).tells(str![[r#"
error: the following required arguments were not provided:
  <ITEM>...

Usage: urepo show <ITEM>...

For more information, try '--help'.

"#]]);
        refuses(&world, "manifest --all", 2).tells(str![[r#"
error: the following required arguments were not provided:
  --root

Usage: urepo manifest --root --all [ITEM]...

For more information, try '--help'.

"#]]);
        refuses(&world, "man frobnicate", 2).tells(str![[r#"
error: there is no command `frobnicate`
hint: `urepo --help` lists the commands

"#]]);
        refuses(&world, "completions tcsh", 2).tells(str![[r#"
error: invalid value 'tcsh' for '<SHELL>'
  [possible values: bash, elvish, fish, powershell, zsh]

  tip: a similar value exists: 'zsh'

For more information, try '--help'.

"#]]);
    }

    #[test]
    fn of_variables_and_settings() {
        let world = world_with_file();
        let mut command = world.command(["-c", "archive", "list"]);
        command.env("UREPO_JOBS", "many");
        refuses_command(&world, command, 2).tells(str![[r#"
error: the variable UREPO_JOBS says `many`
caused by: expected a number from 1 to 1024

"#]]);
        world.write(".config/urepo/config.toml", "job = 3\n");
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: unknown field `job`, expected one of `collection`, `jobs`, `lock-wait`, `max-wait`, `machine-id`, `state`, `distributors`, `collections`
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, distributors and the table [collections]

"#]]);
        world.write(".config/urepo/config.toml", "lock-wait = \"soon\"\n");
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: expected a number and a unit, such as 30s, 5m, 4h or 30d
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, distributors and the table [collections]

"#]]);
        world.write(".config/urepo/config.toml", "[collections\n");
        refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: unclosed table, expected `]`
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, distributors and the table [collections]

"#]]);
    }

    #[test]
    fn with_json() {
        let world = world_with_file();
        refuses(&world, "--json -c archive show 11.21.02.13", 21).tells(str![[r#"
{"error":{"causes":[],"code":21,"hint":"`urepo list` shows the names there are","message":"no item `11.21.02.13` in `[WORLD]/archive`"},"exit_code":21,"type":"error","version":1}

"#]]);
        refuses(&world, "--json -c nowhere list", 10).tells(str![[r#"
{"error":{"causes":[],"code":10,"hint":"`urepo init [WORLD]/nowhere --host FQDN` makes one","message":"`[WORLD]/nowhere` is not a collection"},"exit_code":10,"type":"error","version":1}

"#]]);
    }
}

/// The program run by a user whom permissions stop: another one where the tests run as root.
struct OrdinaryUser {
    world: World,
    program: std::path::PathBuf,
    /// The number of the user, where it is another one.
    number: Option<u32>,
}

impl OrdinaryUser {
    fn of(world: World) -> Option<OrdinaryUser> {
        let program = Path::new(env!("CARGO_BIN_EXE_urepo"));
        if !rustix::process::geteuid().is_root() {
            return Some(OrdinaryUser { world, program: program.into(), number: None });
        }
        // The build directory may be closed to others.
        let copy = world.path("urepo");
        std::fs::copy(program, &copy).unwrap();
        let user = OrdinaryUser { world, program: copy, number: Some(65534) };
        user.owns_everything();
        if user.command("--version").output().is_ok_and(|output| output.status.success()) {
            return Some(user);
        }
        skipped("files an ordinary user may not read: no other user can run the program");
        None
    }

    /// Gives everything in the world to the user, opened up.
    fn owns_everything(&self) {
        use std::os::unix::fs::lchown;
        // What was closed before opens first: an ordinary user runs the tests as well.
        let opened = Command::new("chmod").args(["-R", "u+rwX"]).arg(self.world.path("")).status();
        assert!(opened.unwrap().success());
        for entry in walkdir::WalkDir::new(self.world.path("")) {
            let path = entry.unwrap().into_path();
            lchown(&path, self.number, self.number).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
        }
    }

    fn closes(&self, relative: &str) {
        let closed = std::os::unix::fs::PermissionsExt::from_mode(0o000);
        std::fs::set_permissions(self.world.path(relative), closed).unwrap();
    }

    fn command(&self, line: &str) -> Command {
        use std::os::unix::process::CommandExt as _;
        let like = self.world.command(line.split_whitespace());
        let mut command = Command::new(&self.program);
        command.args(like.get_args()).current_dir(self.world.path(""));
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(number) = self.number {
            command.uid(number).gid(number);
        }
        command
    }
}

/// Runs a script of the shell in the world, in a mount namespace of its own, and gives what it says.
///
/// `$UREPO` is the program, `mount` an empty directory, `a.txt` a file. `tell CODE` prints the exit
/// code and the file `told`; once `before` is set it makes sure that the contents are as they were.
pub(crate) fn with_mounts(world: &World, script: &str) -> Option<String> {
    const PRELUDE: &str = r#"
        contents() { find mount ! -path '*/.urepo/lock' | sort | xargs ls -dn; }
        tell() {
            echo "exit $1"; cat told
            [ -z "${before-}" ] || [ "$before" = "$(contents)" ] || echo "LEFT BEHIND: $(contents)"
        }
    "#;
    // An ordinary user needs a user namespace as well, where the system lets them have one.
    let ways: [&[&str]; 2] = [&["--mount"], &["--mount", "--user", "--map-root-user"]];
    let can_mount = |way: &&&[&str]| {
        let mut command = Command::new("unshare");
        command.args(**way).args(["sh", "-c", "mount -t tmpfs tmpfs /mnt"]);
        command.output().is_ok_and(|output| output.status.success())
    };
    let Some(way) = ways.iter().find(can_mount) else {
        skipped("small and read-only file systems: this user may not mount");
        return None;
    };
    world.write("a.txt", "a");
    std::fs::create_dir(world.path("mount")).unwrap();
    let like = world.command([""; 0]);
    let mut command = Command::new("unshare");
    command.args(*way).args(["sh", "-euc", &format!("{PRELUDE}{script}")]);
    command.current_dir(world.path("")).env("UREPO", env!("CARGO_BIN_EXE_urepo"));
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let Ran { code, stdout, stderr } = world.finish(command);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    Some(stdout)
}

// One that nothing above can bring about: kept here so that its text is looked at.
#[test]
fn a_disk_that_does_not_confirm() {
    let cause = urepo::disk::PathError::new("sync", "archive", rustix::io::Errno::IO.into());
    let name = "example.org/archive/2026/11.21.02.13".to_owned();
    let error = DepositError::NotDurable { name, source: cause };
    same(
        &chain(&error),
        str![[r#"
`example.org/archive/2026/11.21.02.13` was put in place, but the disk did not confirm it
caused by: cannot sync `archive`
caused by: Input/output error (os error 5)
"#]],
    );
}
