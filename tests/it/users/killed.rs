//! What one user's killed command leaves, another user of the group clears up and completes.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use super::{Shared, closed_to_group};
use crate::support::{ANNA, BEN};

/// What the commands are killed at, each about to be done for the n-th time by one of their threads.
const CALLS: [&str; 5] = [
    "rename,renameat,renameat2",
    "mkdir,mkdirat",
    "unlinkat",
    "fsync,fdatasync,syncfs",
    "write,pwrite64,copy_file_range",
];

/// A command: what has to be there before it, and its line. `{}` is the item.
struct Row {
    before: &'static [&'static str],
    line: &'static str,
    /// What the repeated command may say of what is done: it exits with this.
    done: i32,
}

const DELETE: &str = "-c archive delete {} --force last --yes";

const ROWS: [Row; 8] = [
    Row { before: &[], line: "-c archive new a.txt", done: 0 },
    Row { before: &[], line: "-c archive copy {} --to other", done: 0 },
    Row { before: &[], line: "-c archive migrate {} --to other", done: 0 },
    Row { before: &[], line: DELETE, done: 22 },
    Row { before: &[DELETE], line: "-c archive restore {}", done: 0 },
    Row {
        before: &["-c archive copy {} --to other"],
        line: "-c archive repair {} --from other",
        done: 0,
    },
    Row { before: &[], line: "-c archive import incoming --each-file", done: 0 },
    Row {
        before: &["-c archive copy {} --to other"],
        line: "-c other promote {} --lost archive --reason fire -y",
        done: 0,
    },
];

impl Shared {
    /// Runs a command of Anna's that is killed at the call; whether it came to that.
    fn killed_at(&self, line: &str, calls: &str, at: usize) -> bool {
        let trace = format!(
            "strace -f -qq -o /dev/null -e trace={calls} -e inject={calls}:signal=SIGKILL:when={at}"
        );
        let mut command = self.command_by(ANNA, "022", &trace, line);
        command.output().unwrap().status.signal() == Some(9)
    }

    /// Whatever happened, nothing is left over and everything is whole.
    fn check(&self, context: &str) {
        // Of both at once: two Originals of an item would be damage.
        let ran = self.run(BEN, "verify archive other");
        assert_eq!(ran.code, 0, "{context}: {}{}", ran.stdout, ran.stderr);
        for root in ["archive", "other"] {
            let ran = self.run(BEN, &format!("-c {root} recover"));
            assert_eq!(ran.code, 0, "{context}: {}", ran.stderr);
            let own = self.0.path(root).join(".urepo");
            for directory in ["staging", "journal", "partial"] {
                let left = fs::read_dir(own.join(directory)).map_or(0, Iterator::count);
                assert_eq!(left, 0, "{context}: {directory} of {root}");
            }
        }
    }
}

#[test]
fn commands_are_completed_by_another_user() {
    let Some(shared) = Shared::new() else { return };
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("skipped: commands are killed by `strace`, which is not there");
        return;
    }
    let mut killed = 0;
    for (number, row) in ROWS.iter().enumerate() {
        for (kind, calls) in CALLS.iter().enumerate() {
            let at = 1 + (number + kind) % 3;
            let context = format!("{} at {calls} {at}", row.line);
            killed += usize::from(shared.one(row, calls, at, &context));
        }
    }
    for root in ["archive", "other"] {
        assert_eq!(closed_to_group(&shared.0.path(root)), [""; 0], "{root}");
    }
    assert!(killed > 24, "only {killed} were killed");
}

impl Shared {
    fn one(&self, row: &Row, calls: &str, at: usize, context: &str) -> bool {
        let name = self.deposit(ANNA, "a.txt");
        let line = |text: &str| text.replace("{}", &name);
        for before in row.before {
            self.run(ANNA, &line(before)).succeeded();
        }
        let away = self.0.path("away");
        let is_lost = row.line.contains("promote");
        if row.line.contains("repair") {
            fs::write(self.0.path(format!("archive/{name}/doc/a.txt")), "byte").unwrap();
        } else if row.line.contains("import") {
            self.0.write(&format!("incoming/{name}"), &name);
        } else if is_lost {
            fs::rename(self.0.path("archive"), &away).unwrap();
        }
        let was_killed = self.killed_at(&line(row.line), calls, at);
        let ran = self.run(BEN, &line(row.line));
        assert!([0, row.done].contains(&ran.code), "{context}: {}{}", ran.code, ran.stderr);
        if is_lost {
            fs::rename(&away, self.0.path("archive")).unwrap();
            self.run(BEN, "-c archive recover --with other -y").succeeded();
        }
        if row.line.contains("import") {
            let again = self.run(BEN, row.line);
            assert!(!again.stdout.contains("example"), "{context}: {}", again.stdout);
        }
        self.check(context);
        was_killed
    }
}
