//! A collection that several users share: what one of them leaves behind stops none of the others.

mod killed;

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::geteuid;
use urepo::layout;

use crate::support::{ANNA, BEN, GROUP, Ran, World, staged};

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
        for root in ["", "archive", "other"] {
            std::fs::create_dir_all(world.path(root)).unwrap();
            open(&world.path(root), 0o2775);
        }
        let shared = Shared(world);
        shared.run(ANNA, "init archive --host archive.example.org").succeeded();
        shared.run(ANNA, "init other --host other.example.org").succeeded();
        Some(shared)
    }

    fn command(&self, user: u32, umask: &str, line: &str) -> Command {
        self.command_by(user, umask, "", line)
    }

    /// The same, run by another program.
    fn command_by(&self, user: u32, umask: &str, by: &str, line: &str) -> Command {
        let become_user = format!("setpriv --reuid={user} --regid={GROUP} --clear-groups");
        let mut command =
            self.0.shell(&format!("umask {umask}; exec {become_user} {by} ./urepo {line}"));
        command.env("HOME", self.0.path(""));
        command
    }

    /// With the umask that most systems give: nothing would be open to the group.
    fn run(&self, user: u32, line: &str) -> Ran {
        self.0.finish(self.command(user, "022", line))
    }

    fn deposit(&self, user: u32, source: &str) -> String {
        self.run(user, &format!("-c archive new {source}")).succeeded().trim().to_owned()
    }

    /// A run of `user` that is killed while it writes into its stage.
    fn killed(&self, user: u32) {
        let mut command = self.command(user, "022", "-c archive new - --stdin-name endless");
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
    shared.killed(ANNA);
    shared.deposit(BEN, "a.txt");
    assert_eq!(shared.staged(), [""; 0]);
}

#[test]
fn what_a_user_cannot_clear_is_reported_by_recover_only() {
    let Some(shared) = Shared::new() else { return };
    shared.killed(ANNA);
    let staging = shared.0.path("archive").join(".urepo").join(layout::STAGING);
    let stage = staging.join(&shared.staged()[0]);
    std::fs::set_permissions(stage, PermissionsExt::from_mode(0o700)).unwrap();
    let name = shared.deposit(BEN, "a.txt");
    shared.run(BEN, &format!("-c archive delete {name} --force last --yes")).succeeded();
    shared.run(BEN, "-c archive status --machine").succeeded();
    let ran = shared.run(BEN, "-c archive recover");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("leftover could not be removed"), "{}", ran.stderr);
    shared.run(ANNA, "-c archive recover").succeeded();
    assert_eq!(shared.staged(), [""; 0]);
}

#[test]
fn what_one_user_deleted_another_brings_back_and_purges() {
    let Some(shared) = Shared::new() else { return };
    let name = shared.deposit(ANNA, "a.txt");
    shared.run(ANNA, &format!("-c archive delete {name} --force last --yes")).succeeded();
    shared.run(BEN, &format!("-c archive restore {name}")).succeeded();
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
fn both_copy_large_items() {
    let Some(shared) = Shared::new() else { return };
    for user in [ANNA, BEN] {
        let name = shared.deposit(user, "large.bin");
        shared.run(user, &format!("-c archive copy {name} --to other")).succeeded();
    }
}

/// Every file and directory of a collection that may be changed must be open to the group.
fn closed_to_group(root: &Path) -> Vec<String> {
    let mut closed = Vec::new();
    for entry in walkdir::WalkDir::new(root) {
        let entry = entry.unwrap();
        let path = entry.path().strip_prefix(root).unwrap();
        let stat = entry.metadata().unwrap();
        let is_payload = path.components().any(|it| it.as_os_str() == "doc");
        // Directories of the payload have to let go of what is in them, and get nothing new.
        let wanted = match (stat.is_dir(), is_payload) {
            (true, true) => 0o070,
            (true, false) => 0o2070,
            (false, true) => 0,
            (false, false) => 0o060,
        };
        if stat.mode() & wanted != wanted || stat.gid() != GROUP {
            closed.push(format!("{:o} {} {}", stat.mode(), stat.gid(), path.display()));
        }
    }
    closed
}

#[test]
fn each_of_two_users_changes_what_the_other_has_made() {
    let Some(shared) = Shared::new() else { return };
    shared.0.write("tree/below/b.txt", "more bytes");
    for directory in ["tree", "tree/below"] {
        let path = shared.0.path(directory);
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut names = Vec::new();
    for (user, source) in [(ANNA, "first.txt"), (BEN, "second.txt"), (ANNA, "third.txt")] {
        shared.0.write(&format!("incoming/{source}"), source);
        names.push(shared.deposit(user, "tree"));
        names.push(shared.deposit(user, "a.txt"));
        shared.run(user, "-c archive import incoming --each-file").succeeded();
        shared.run(user, "-c archive copy --all --to other").succeeded();
        shared.run(user, "-c archive list file:a.txt").succeeded();
        shared.run(user, "-c archive verify").succeeded();
        for archive in ["archive", "other"] {
            assert_eq!(closed_to_group(&shared.0.path(archive)), [""; 0], "{user} in {archive}");
        }
    }
    // The items of each are deleted by the other.
    for (user, deleted) in [(BEN, &names[0..2]), (ANNA, &names[2..4]), (BEN, &names[4..6])] {
        for name in deleted {
            shared.run(user, &format!("-c archive delete {name} --force last --yes")).succeeded();
        }
        shared.run(user, "-c archive status --machine").succeeded();
        shared.run(user, "-c archive recover").succeeded();
    }
    let revived = &names[0];
    shared.run(ANNA, &format!("-c archive restore {revived}")).succeeded();
    shared.run(ANNA, "-c archive purge --yes").succeeded();
    assert!(shared.run(BEN, "-c archive purge --yes").stderr.contains("nothing to purge"));
    // Deposited and brought back by one, deleted by the other.
    let log = shared.run(BEN, &format!("-c archive log {revived}"));
    assert_eq!(log.succeeded().lines().count(), 3, "{}", log.stdout);
    shared.run(BEN, "-c archive verify").succeeded();
    shared.run(BEN, "-c other verify").succeeded();
    assert_eq!(closed_to_group(&shared.0.path("archive")), [""; 0]);
}

#[test]
fn what_was_lost_of_the_own_directory_is_rebuilt_for_both() {
    let Some(shared) = Shared::new() else { return };
    shared.deposit(ANNA, "a.txt");
    std::fs::remove_dir_all(shared.0.path("archive/.urepo")).unwrap();
    shared.deposit(BEN, "a.txt");
    shared.deposit(ANNA, "a.txt");
    assert_eq!(closed_to_group(&shared.0.path("archive")), [""; 0]);
}

#[test]
fn a_collection_of_one_user_stays_as_the_umask_has_it() {
    let Some(shared) = Shared::new() else { return };
    shared.run(ANNA, "init alone --host alone.example.org").succeeded();
    shared.run(ANNA, "-c alone new a.txt").succeeded();
    let root = shared.0.path("alone");
    for entry in walkdir::WalkDir::new(&root) {
        let stat = entry.as_ref().unwrap().metadata().unwrap();
        assert_eq!(stat.mode() & 0o022, 0, "{}", entry.unwrap().path().display());
    }
}

/// Without set-group-ID, what is made belongs to the group of its maker, who has not shared anything with that.
#[test]
fn only_the_group_of_the_root_directory_shares() {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can give a directory to another group");
        return;
    }
    let world = World::new();
    let root = world.path("archive");
    std::fs::create_dir(&root).unwrap();
    chown(&root, None, Some(GROUP)).unwrap();
    std::fs::set_permissions(&root, PermissionsExt::from_mode(0o777)).unwrap();
    world.run("init archive --host archive.example.org").succeeded();
    world.write("a.txt", "bytes");
    world.run("-c archive new a.txt").succeeded();
    for entry in walkdir::WalkDir::new(&root).min_depth(1) {
        let entry = entry.unwrap();
        let stat = entry.metadata().unwrap();
        assert_ne!(stat.gid(), GROUP);
        assert_eq!(stat.mode() & 0o022, 0, "{}", entry.path().display());
    }
}

/// Suites that another user does not go on with, and why.
const OF_ONE_USER: [(&str, &str); 14] = [
    ("amend/documents/faults.rs", "as `amend/faults.rs`, with several items"),
    ("cli/remedies/every_row.rs", "of one user's collections"),
    ("disk.rs", "nothing fails"),
    ("door.rs", "of one user's collections"),
    ("export.rs", "an export is its maker's"),
    ("histories/world.rs", "of one user's collections"),
    ("holdings.rs", "only reads"),
    ("import/groups.rs", "as `import/faults.rs`, with thousands of sources"),
    ("import/properties.rs", "as `import/faults.rs`, in any order"),
    ("index/faults.rs", "an index is private"),
    ("support/watch.rs", "nothing fails"),
    ("transfer/hostile.rs", "of what another user forges"),
    ("transfer/power.rs", "of the order of operations"),
    ("transfer/resume.rs", "a large item that is half copied is its owner's"),
];

/// Whatever the umask, an entry has its bits from the call that makes it: a run killed at any moment shuts nobody out.
#[test]
fn shared_entries_get_their_bits_in_the_call_that_makes_them() {
    let Some(shared) = Shared::new() else { return };
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("skipped: `strace`, which shows the calls, is not there");
        return;
    }
    let trace = "strace -f -qq -o trace.txt -e trace=chmod,fchmod,fchmodat,umask";
    let made = shared.command_by(ANNA, "077", trace, "-c archive new a.txt").output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let calls = std::fs::read_to_string(shared.0.path("trace.txt")).unwrap();
    assert_eq!(calls.matches("umask(").count(), 1, "{calls}");
    // The payload gets the modes of its source, in the stage.
    assert!(!calls.lines().any(|call| call.contains("chmod") && !call.contains("644")), "{calls}");
    assert_eq!(closed_to_group(&shared.0.path("archive")), [""; 0]);
}

/// One without a home, who may not write the host state of the machine either.
#[test]
fn who_has_no_place_for_host_state_is_warned() {
    let Some(shared) = Shared::new() else { return };
    let line = "init third --host nobody.example.org";
    let made = shared.command_by(ANNA, "002", "env -i", line).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let minted = shared.command_by(ANNA, "002", "env -i", "-c third mint").output().unwrap();
    let stderr = String::from_utf8(minted.stderr).unwrap();
    assert!(minted.status.success(), "{stderr}");
    assert!(stderr.contains("another collection of this machine could issue"), "{stderr}");
}

#[test]
fn faults_are_completed_by_another_user() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let files = walkdir::WalkDir::new(&tests).sort_by_file_name().into_iter().map(Result::unwrap);
    let is_of_one_user = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.contains("Faults::new(") && text.contains("Killed") && !text.contains("between_users(")
    };
    let relative = |path: &Path| path.strip_prefix(&tests).unwrap().display().to_string();
    let files = files.filter(|file| file.file_type().is_file() && is_of_one_user(file.path()));
    let found: Vec<_> = files.map(|file| relative(file.path())).collect();
    assert_eq!(found, OF_ONE_USER.map(|(path, _)| path));
}

/// A host state that is open to the group stays so, whoever writes it: neither user gives a name of the other.
#[test]
fn users_of_one_host_state_never_give_one_name() {
    let Some(shared) = Shared::new() else { return };
    let state = shared.0.path("state");
    std::fs::create_dir(&state).unwrap();
    chown(&state, None, Some(GROUP)).unwrap();
    std::fs::set_permissions(&state, PermissionsExt::from_mode(0o2775)).unwrap();
    let run = |user, line: &str| {
        let mut command = shared.command(user, "022", line);
        command.env("UREPO_STATE", &state);
        let ran = shared.0.finish(command);
        assert!(ran.code == 0 && !ran.stderr.contains("could issue"), "{}", ran.stderr);
        ran.stdout.trim().to_owned()
    };
    let mut names = Vec::new();
    for (user, root) in [(ANNA, "annas"), (BEN, "bens"), (ANNA, "annas"), (BEN, "bens")] {
        if !shared.0.path(root).join("urepo.toml").exists() {
            run(user, &format!("init {root} --host host.example.org"));
            shared.0.set_granularity(root, "0.001");
        }
        names.push(run(user, &format!("-c {root} mint")));
    }
    let given = names.clone();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 4, "{given:?}");
}
