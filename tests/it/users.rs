//! A collection that several users share: what one of them leaves behind stops none of the others.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::geteuid;
use urepo::layout;

use crate::support::{Ran, World, staged};

/// Two users and the group that both are in.
const ANNA: u32 = 65534;
const BEN: u32 = 65533;
const GROUP: u32 = 65533;

/// A group-writable collection in which new files get its group.
struct Shared(World);

impl Shared {
    /// Nothing where the tests may not become other users.
    fn new() -> Option<Shared> {
        if !geteuid().is_root() || Command::new("setpriv").arg("--help").output().is_err() {
            eprintln!("skipped: only root can run the program as two users, by `setpriv`");
            return None;
        }
        let world = World::new();
        // Copied by another process: one that this process starts meanwhile would inherit a descriptor
        // open for writing, and the copy could not be executed.
        let copy =
            Command::new("cp").arg(env!("CARGO_BIN_EXE_urepo")).arg(world.path("urepo")).status();
        assert!(copy.unwrap().success());
        world.write("a.txt", "bytes");
        let large = world.write("large.bin", "");
        std::fs::File::options().write(true).open(large).unwrap().set_len(65 << 20).unwrap();
        let open = |path: &Path, mode| {
            chown(path, None, Some(GROUP)).unwrap();
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        };
        open(&world.path(""), 0o2775);
        let shared = Shared(world);
        shared.run(ANNA, "init archive --host archive.example.org").succeeded();
        shared.run(ANNA, "init other --host other.example.org").succeeded();
        Some(shared)
    }

    fn command(&self, user: u32, umask: &str, line: &str) -> Command {
        let become_user = format!("setpriv --reuid={user} --regid={GROUP} --clear-groups");
        let mut command =
            self.0.shell(&format!("umask {umask}; exec {become_user} ./urepo {line}"));
        command.env("HOME", self.0.path(""));
        command
    }

    fn run(&self, user: u32, line: &str) -> Ran {
        self.0.finish(self.command(user, "002", line))
    }

    fn deposit(&self, user: u32, source: &str) -> String {
        self.run(user, &format!("-c archive new {source}")).succeeded().trim().to_owned()
    }

    /// A run of `user` that is killed while it writes into its stage.
    fn killed(&self, user: u32, umask: &str) {
        let mut command = self.command(user, umask, "-c archive new - --as endless");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        // More than a pipe holds was taken: the stage is there.
        process.stdin.take().unwrap().write_all(&vec![b'x'; 1 << 20]).unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
        assert_ne!(self.staged(), [""; 0]);
    }

    fn staged(&self) -> Vec<String> {
        staged(&self.0.path("archive"))
    }
}

#[test]
fn a_killed_run_of_one_user_is_cleared_by_the_next() {
    let Some(shared) = Shared::new() else { return };
    shared.killed(ANNA, "002");
    shared.deposit(BEN, "a.txt");
    assert_eq!(shared.staged(), [""; 0]);
}

#[test]
fn what_a_user_cannot_clear_is_reported_by_recover_only() {
    let Some(shared) = Shared::new() else { return };
    shared.killed(ANNA, "077");
    let name = shared.deposit(BEN, "a.txt");
    shared.run(BEN, &format!("-c archive delete {name} --force last --yes")).succeeded();
    shared.run(BEN, "-c archive doctor").succeeded();
    let ran = shared.run(BEN, "-c archive recover");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("left-over could not be removed"), "{}", ran.stderr);
    shared.run(ANNA, "-c archive recover").succeeded();
    assert_eq!(shared.staged(), [""; 0]);
}

#[test]
fn what_one_user_deleted_another_brings_back_and_purges() {
    let Some(shared) = Shared::new() else { return };
    let name = shared.deposit(ANNA, "a.txt");
    shared.run(ANNA, &format!("-c archive delete {name} --force last --yes")).succeeded();
    shared.run(BEN, &format!("-c archive delete --revive {name}")).succeeded();
    shared.run(ANNA, &format!("-c archive delete {name} --force last --yes")).succeeded();
    shared.run(BEN, "-c archive purge --dry-run").succeeded();
    shared.run(BEN, "-c archive purge --yes").succeeded();
    assert!(shared.run(BEN, "-c archive purge --yes").stderr.contains("nothing to purge"));
}

#[test]
fn a_closed_entry_of_the_trash_does_not_keep_others_from_being_purged() {
    let Some(shared) = Shared::new() else { return };
    let trash = shared.0.path("archive").join(".urepo").join(layout::TRASH);
    let theirs = shared.deposit(ANNA, "a.txt");
    shared.run(ANNA, &format!("-c archive delete {theirs} --force last --yes")).succeeded();
    let entry = std::fs::read_dir(&trash).unwrap().next().unwrap().unwrap().path();
    std::fs::set_permissions(&entry, PermissionsExt::from_mode(0o700)).unwrap();
    let name = shared.deposit(BEN, "a.txt");
    shared.run(BEN, &format!("-c archive delete {name} --force last --yes")).succeeded();
    let ran = shared.run(BEN, "-c archive purge --yes");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("Permission denied"), "{}", ran.stderr);
    assert_eq!(std::fs::read_dir(&trash).unwrap().count(), 1);
}

#[test]
fn both_copy_large_items_and_write_the_index() {
    let Some(shared) = Shared::new() else { return };
    for user in [ANNA, BEN] {
        let name = shared.deposit(user, "large.bin");
        shared.run(user, &format!("-c archive copy {name} --to other")).succeeded();
        shared.run(user, "-c archive index").succeeded();
        let index = shared.0.path("archive/.urepo/index.sqlite");
        assert_eq!(std::fs::metadata(index).unwrap().mode() & 0o777, 0o664);
    }
    assert!(!shared.0.path("archive/.urepo/index.stale").exists());
}
