//! The gallery of errors: what is told of each bad input, with which exit code, and that nothing is
//! left behind. `SNAPSHOTS=overwrite cargo test` renews the texts.

mod adopting;
mod amending;
mod collections;
mod descriptions;
mod destinations;
mod exports;
mod finding;
mod hints;
mod imports;
mod items;
mod memories;
mod names;
mod promoting;
mod relating;
mod removals;
mod resolving;
mod sources;
mod streams;
mod transfer;
mod usage;
mod verifying;

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
const MEMORY: &str = "archive/.urepo/memory/example.org+archive";

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

/// Everything in the world but lock files, among them memories, which appear once and stay, and what the machine remembers.
fn everything(world: &World) -> Vec<String> {
    let is_lock = |line: &str| {
        line.starts_with(".state/")
            || line.contains(".urepo/lock ")
            || line.contains(".urepo/change.lock ")
            || line.contains(".urepo/memory/")
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
        contents() { find mount ! -path '*/.urepo/*lock' | sort | xargs ls -dn; }
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
