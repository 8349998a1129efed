//! Errors of single system calls: none of them is "nothing to do", and what was changed is not told as unchanged.
//!
//! `strace` makes the calls fail, each thread's n-th. It is told the paths of the collections, so that the loader goes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{World, copy_tree};

const READS: &str = "openat2,openat,getdents64,read,pread64,statx,fstat,newfstatat";
const SYNCS: &str = "fsync,fdatasync,syncfs";

fn has_strace() -> bool {
    let has = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    has.is_ok_and(|it| it.status.success())
}

/// All paths below `root`.
fn paths(root: &Path, found: &mut Vec<PathBuf>) {
    found.push(root.to_path_buf());
    let Ok(entries) = fs::read_dir(root) else { return };
    entries.for_each(|entry| paths(&entry.unwrap().path(), found));
}

/// Two items in `archive`, and `other`, both of them named in the settings.
struct Pair(World);

/// A run in which a call failed.
struct Failed {
    code: i32,
    text: String,
    at: usize,
}

impl Pair {
    fn new() -> Pair {
        let world = World::with_collection();
        world.run("-q init other --host other.example.org").succeeded();
        for name in ["a.txt", "b.txt"] {
            world.write(name, name);
            world.run(&format!("-c archive new {name}")).succeeded();
        }
        Pair(world)
    }

    fn known(self) -> Pair {
        let roots =
            ["archive", "other"].map(|it| format!("{it} = '{}'\n", self.0.path(it).display()));
        self.0.write(".config/urepo/config.toml", format!("[collections]\n{}", roots.concat()));
        self
    }

    fn item(&self, at: usize) -> String {
        self.0.run("-c archive list").stdout.lines().nth(at).unwrap().to_owned()
    }

    /// The first item is put back to what it was before it was changed, perhaps after it was copied.
    fn put_back(&self, copied: bool) -> String {
        let name = self.item(0);
        let (item, night) = (self.0.path("archive").join(&name), self.0.path("night"));
        copy_tree(&item, &night);
        self.0.run(&format!("-c archive meta set {name} title=Later")).succeeded();
        if copied {
            self.0.run("-c archive copy --all --to other").succeeded();
        }
        fs::remove_dir_all(&item).unwrap();
        fs::rename(night, item).unwrap();
        name
    }

    /// Runs `line` on the same collections again and again. Every `step`-th of the `calls` fails once.
    fn every(&self, calls: &str, step: usize, line: &str, mut check: impl FnMut(&Failed)) {
        let kept = ["archive", "other", ".state"];
        for it in kept.iter().filter(|it| self.0.path(it).exists()) {
            copy_tree(&self.0.path(it), &self.0.path("kept").join(it));
        }
        let mut runs = 0;
        for at in (1..).step_by(step) {
            let mut known = Vec::new();
            for it in kept.map(|it| self.0.path(it)).iter().filter(|it| it.exists()) {
                paths(it, &mut known);
            }
            let known: Vec<_> = known.iter().map(|it| format!("-P '{}'", it.display())).collect();
            let trace = self.0.path("trace");
            let script = format!(
                "exec strace -f -qq -o {} {} -e trace={calls} -e inject={calls}:error=EIO:when={at} \"$0\" -j1 {line}",
                trace.display(),
                known.join(" ")
            );
            let mut command = self.0.shell(&script);
            command.env_remove("LD_LIBRARY_PATH");
            let ran = self.0.finish(command);
            let is_struck = fs::read_to_string(&trace).unwrap().contains("(INJECTED)");
            if is_struck {
                let text = format!("{}{}", ran.stdout, ran.stderr);
                check(&Failed { code: ran.code, text, at });
                runs += 1;
            }
            for it in kept {
                let _ = fs::remove_dir_all(self.0.path(it));
                let copy = self.0.path("kept").join(it);
                if copy.exists() {
                    copy_tree(&copy, &self.0.path(it));
                }
            }
            if !is_struck {
                break;
            }
        }
        fs::remove_dir_all(self.0.path("kept")).unwrap();
        assert!(runs > 2, "{line}: only {runs} calls failed");
    }
}

#[test]
fn an_error_while_reading_is_never_nothing_to_do() {
    if !has_strace() {
        return;
    }
    let pair = Pair::new();
    let name = pair.put_back(false);
    let lines = ["recover".to_owned(), "repair".to_owned(), format!("repair {name}")];
    for line in lines.map(|it| format!("-c archive {it}")) {
        assert_ne!(pair.0.run(&line).code, 0, "{line}");
        pair.every(READS, 5, &line, |Failed { code, text, at }| {
            assert_ne!(*code, 0, "{line} at {at}: {text}");
            assert!(!text.contains("published again"), "{line} at {at}: {text}");
        });
    }
}

#[test]
fn two_originals_are_damage_whatever_cannot_be_read() {
    if !has_strace() {
        return;
    }
    let pair = Pair::new();
    let name = pair.item(0);
    pair.0.run(&format!("-c archive copy {name} --to other")).succeeded();
    fs::rename(pair.0.path("archive"), pair.0.path("away")).unwrap();
    pair.0.run(&format!("-c other promote {name} --lost archive -y")).succeeded();
    fs::rename(pair.0.path("away"), pair.0.path("archive")).unwrap();
    let line = "verify archive other";
    assert_eq!(pair.0.run(line).code, 20);
    pair.every(READS, 5, line, |Failed { code, text, at }| {
        assert_ne!(*code, 0, "at {at}: {text}");
    });
}

#[test]
fn an_item_that_cannot_be_read_is_not_left_out_of_a_promotion() {
    if !has_strace() {
        return;
    }
    let pair = Pair::new();
    pair.0.run("-c archive copy --all --to other").succeeded();
    fs::remove_dir_all(pair.0.path("archive")).unwrap();
    let line = "-c other promote --all --lost archive -y";
    pair.every(READS, 3, line, |Failed { code, text, at }| {
        let promoted = pair.0.run("-c other list --state original").stdout.lines().count();
        assert!(*code != 0 || promoted == 2, "at {at}: {promoted} promoted: {text}");
    });
}

#[test]
fn what_was_brought_into_line_does_not_stay_as_it_is() {
    if !has_strace() {
        return;
    }
    let pair = Pair::new();
    let name = pair.put_back(true);
    let sidecar = pair.0.path("archive").join(&name).join("item.toml");
    let line = "-c archive recover --with other -y";
    let mut unconfirmed = 0;
    pair.every(SYNCS, 1, line, |Failed { code, text, at }| {
        let is_changed = fs::read_to_string(&sidecar).unwrap().contains("Later");
        assert!(!is_changed || !text.contains("stays as it is"), "at {at}: {text}");
        if text.contains("the disk did not confirm it") {
            assert!(is_changed && *code != 0, "at {at}: {text}");
            unconfirmed += 1;
        }
    });
    assert!(unconfirmed > 0);
}

/// The table has a row for an item that was lost here with every trace.
#[test]
fn the_collections_of_the_settings_are_donors_of_a_named_item() {
    let pair = Pair::new().known();
    copy_tree(&pair.0.path("archive"), &pair.0.path("backup"));
    pair.0.write("c.txt", "c");
    let name = pair.0.run("-c archive new c.txt").line();
    pair.0.run("-c archive copy --all --to other").succeeded();
    for it in ["archive", ".state"] {
        let _ = fs::remove_dir_all(pair.0.path(it));
    }
    fs::rename(pair.0.path("backup"), pair.0.path("archive")).unwrap();
    pair.0.run(&format!("-c archive repair {name}")).succeeded();
    assert_eq!(pair.0.run("verify archive other").code, 0);
}

/// The same as without `--with`.
#[test]
fn a_recovery_that_does_nothing_and_leaves_damage_is_not_done() {
    let pair = Pair::new();
    pair.put_back(false);
    for line in ["-c archive recover", "-c archive recover --with other"] {
        let ran = pair.0.run(line);
        assert_eq!(ran.code, 3, "{line}: {}{}", ran.stdout, ran.stderr);
    }
}
