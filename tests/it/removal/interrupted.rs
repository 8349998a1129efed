//! What the commands do after an interrupted deletion, restoration or purge, in every state that it can leave.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::faults::*;
use super::*;
use crate::support::{self, Faults, Mode, System};

/// An operation, the line that repeats it for all items, and where the bytes are then.
struct Row {
    prepare: fn(&World),
    act: fn(&Collection, &RepositoryName) -> Result<(), RemovalError>,
    line: &'static str,
    end: Bytes,
    /// Faults that leave different states, and those, once they have been searched for.
    faults: OnceLock<Vec<(Mode, usize, String)>>,
}

impl Row {
    const fn new(
        prepare: fn(&World),
        act: fn(&Collection, &RepositoryName) -> Result<(), RemovalError>,
        line: &'static str,
        end: Bytes,
    ) -> Row {
        Row { prepare, act, line, end, faults: OnceLock::new() }
    }
}

const DELETE: &str = "delete --all --force last --yes";
const RESTORE: &str = "restore --all --yes";
const PURGE: &str = "purge --yes";

static ROWS: [Row; 6] = [
    Row::new(|_| (), delete_forced, DELETE, Bytes::InTrash),
    Row::new(become_known_copy, delete_forced, DELETE, Bytes::InTrash),
    Row::new(become_tombstone, restore_all, RESTORE, Bytes::InPlace),
    Row::new(become_deleted_copy, restore_all, RESTORE, Bytes::InPlace),
    Row::new(become_tombstone, purge_all, PURGE, Bytes::Purged),
    Row::new(become_deleted_copy, purge_all, PURGE, Bytes::Purged),
];

/// The inventory is rebuilt, and knows the item as a Copy.
fn become_known_copy(world: &World) {
    become_copy(world);
    std::fs::remove_dir_all(world.root("archive/.urepo/inventory")).unwrap();
    world.open("archive").rebuild(&agent(), &waiter(&later())).unwrap();
}

fn become_deleted_copy(world: &World) {
    become_known_copy(world);
    become_tombstone(world);
}

impl Row {
    /// Calls `visit` with every state that the operation leaves when it is killed or fails, each once.
    fn visit_states(&self, mut visit: impl FnMut(&Path, &RepositoryName, &str)) {
        let template = World::new();
        (self.prepare)(&template);
        for (mode, at, state) in self.faults.get_or_init(|| self.search(&template)) {
            let mut is_left = false;
            // Its threads may have taken turns in another order.
            for _ in 0..100 {
                self.interrupt(&template, *mode, *at, |root, left, faults| {
                    is_left = left.as_ref() == Some(state);
                    if is_left {
                        let (struck, bytes) = (faults.struck(), bytes_of(root, &template.name));
                        let told = format!("{}: {struck:?} {bytes:?}", self.line);
                        visit(root, &template.name, &told);
                    }
                });
                if is_left {
                    break;
                }
            }
            assert!(is_left, "{mode:?} at {at} no longer leaves {state}");
        }
    }

    /// Finds a fault for each state that the operation leaves.
    fn search(&self, template: &World) -> Vec<(Mode, usize, String)> {
        let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
        for mode in MODES {
            for at in System::Own.points() {
                let mut is_over = false;
                self.interrupt(template, mode, at, |_, left, faults| {
                    if let Some(state) = left.filter(|state| seen.insert(state.clone())) {
                        found.push((mode, at, state));
                    }
                    is_over = faults.struck().is_none();
                });
                if is_over {
                    break;
                }
            }
        }
        assert!(found.len() > 1, "{found:?}");
        found
    }

    /// Does it with a fault in a copy of the collection. `look` gets that, and its state if it was not done.
    fn interrupt(
        &self,
        template: &World,
        mode: Mode,
        at: usize,
        look: impl FnOnce(&Path, Option<String>, &Faults),
    ) {
        let root = template.root("interrupted");
        copy_tree(&template.root("archive"), &root);
        let faults = Arc::new(Faults::new(&root, at, mode).of_changes());
        let opened = Collection::open(&root, &Watcher::new(Arc::clone(&faults) as _));
        let opened = opened.map_err(RemovalError::from);
        let outcome = opened.and_then(|opened| (self.act)(&opened, &template.name));
        let bytes = bytes_of(&root, &template.name);
        let trash = trash(&Collection::open(&root, &Watcher::default()).unwrap());
        let state = format!("{bytes:?} {trash:?} {}", journal(&root).len());
        look(&root, outcome.is_err().then_some(state), &faults);
        std::fs::remove_dir_all(&root).unwrap();
    }
}

/// Runs `line` in a copy of the collection at `root`, and looks at where the bytes of the item are.
fn run(root: &Path, name: &RepositoryName, line: &str) -> (support::Ran, Bytes, support::World) {
    let world = support::World::new();
    copy_tree(root, &world.path("archive"));
    let ran = world.run(&format!("-c archive {line}"));
    let bytes = bytes_of(&world.path("archive"), name);
    (ran, bytes, world)
}

#[track_caller]
fn is_in_order(world: &support::World, told: &str) {
    let ran = world.run("-c archive verify");
    assert_eq!(ran.code, 0, "{told}: {}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("U212"), "{told}: {}", ran.stdout);
    assert_eq!(journal(&world.path("archive")), [""; 0], "{told}");
}

#[test]
fn a_repetition_completes_it() {
    for row in &ROWS {
        row.visit_states(|root, name, told| {
            let (ran, bytes, world) = run(root, name, row.line);
            let told = format!("{told}: {}{}", ran.stdout, ran.stderr);
            assert_eq!((ran.code, bytes), (0, row.end), "{told}");
            is_in_order(&world, &told);
        });
    }
}

/// What was restored stays: of nothing else does a purge leave a byte.
#[test]
fn a_purge_that_succeeds_leaves_no_payload() {
    for row in &ROWS {
        row.visit_states(|root, name, told| {
            for line in ["purge --yes".to_owned(), format!("purge --yes {name}")] {
                let (ran, bytes, world) = run(root, name, &line);
                let told = format!("{told}: {line}: {}{}", ran.stdout, ran.stderr);
                assert_eq!(ran.code, 0, "{told}");
                let is_purged = ran.stderr.contains("purged 1 item");
                assert!(!is_purged || bytes == Bytes::Purged, "{bytes:?}: {told}");
                assert!([Bytes::Purged, Bytes::InPlace].contains(&bytes), "{bytes:?}: {told}");
                is_in_order(&world, &told);
            }
        });
    }
}

#[test]
fn recovery_names_it_and_completes_it() {
    let mut named = 0;
    for row in &ROWS {
        row.visit_states(|root, name, told| {
            let left = bytes_of(root, name) == Bytes::Left;
            let plan = run(root, name, "recover --dry-run").0;
            let (doctor, _, _) = run(root, name, "doctor");
            let (ran, bytes, world) = run(root, name, "recover");
            assert_eq!(ran.code, 0, "{told}: {}{}", ran.stdout, ran.stderr);
            is_in_order(&world, told);
            if left {
                let finished = format!(
                    "{} of {name}",
                    match row.end {
                        Bytes::InPlace => "finish the restoration",
                        _ => "finish the deletion",
                    }
                );
                assert!(plan.stdout.contains(&finished), "{told}: {}", plan.stdout);
                assert!(doctor.stdout.contains("unfinished   the "), "{told}: {}", doctor.stdout);
                assert!(ran.stderr.contains("finished the "), "{told}: {}", ran.stderr);
                assert_eq!(bytes, row.end, "{told}");
                named += 1;
            } else {
                assert!(!plan.stdout.contains("would finish"), "{told}: {}", plan.stdout);
                assert!(!doctor.stdout.contains("unfinished"), "{told}: {}", doctor.stdout);
            }
        });
    }
    assert!(named >= 2, "{named}");
}

/// A dry run changes nothing, and names what would be finished first.
#[test]
fn a_dry_run_says_what_it_would_finish() {
    ROWS[2].visit_states(|root, name, told| {
        let left = bytes_of(root, name) == Bytes::Left;
        let lines = [
            ("restore --all --dry-run", Some("would restore ")),
            ("delete --all --force last --dry-run", Some("would delete ")),
            ("purge --dry-run", None),
        ];
        for (line, planned) in lines {
            let (ran, bytes, _) = run(root, name, line);
            let told = format!("{told}: {line}: {}{}", ran.stdout, ran.stderr);
            assert_eq!((ran.code, bytes), (0, bytes_of(root, name)), "{told}");
            if left {
                assert!(ran.stderr.contains("would finish the restoration of "), "{told}");
                assert!(planned.is_none_or(|planned| ran.stdout.contains(planned)), "{told}");
            }
        }
    });
}

/// A world with a restoration that is interrupted beside the tombstone, and a file that has changed since.
fn with_damaged_restoration(visit: impl Fn(&support::World, &RepositoryName, &Path, &str)) {
    ROWS[2].visit_states(|root, name, told| {
        if bytes_of(root, name) != Bytes::Left {
            return;
        }
        let world = support::World::new();
        copy_tree(root, &world.path("archive"));
        let file = world.path("archive").join(name.as_str()).join("doc/a.txt");
        std::fs::write(&file, "Alpha").unwrap();
        visit(&world, name, &file, told);
    });
}

fn is_deleted(world: &support::World, name: &RepositoryName) -> bool {
    world.run(&format!("-c archive show {name}")).stdout.contains("Deleted")
}

/// What a command overrides does not reach items that it does not name.
#[test]
fn the_rules_of_a_restoration_hold_for_what_it_names() {
    with_damaged_restoration(|world, name, _, told| {
        let ran = world.run("-c archive restore --force damaged --force missing 2020/01.01.01.01");
        assert_ne!(ran.code, 0, "{told}");
        assert!(is_deleted(world, name), "{told}: {}", ran.stderr);
        let ran = world.run(&format!("-c archive restore --force damaged {name}"));
        assert_eq!(ran.code, 0, "{told}: {}", ran.stderr);
        assert!(!is_deleted(world, name), "{told}: {}", ran.stderr);
    });
}

/// A deletion of many does not take up what is being restored.
#[test]
fn a_restoration_that_cannot_be_completed_is_not_deleted() {
    with_damaged_restoration(|world, name, file, told| {
        for (line, code) in [("--state Copy", 0), ("--state Deleted", 3), ("--all", 3)] {
            let ran = world.run(&format!("-c archive delete {line} --force last --yes"));
            let told = format!("{told}: {line}: {}{}", ran.stdout, ran.stderr);
            assert!(file.exists(), "{told}");
            assert_eq!(ran.code, code, "{told}");
            assert!(
                code == 0 || ran.stderr.contains(&format!("urepo -c archive delete {name}")),
                "{told}"
            );
        }
    });
}

/// What cannot be read may name any item: no command says that all is done.
#[test]
fn an_intent_that_cannot_be_read_is_a_failure() {
    let template = World::new();
    for kind in ["delete", "restore"] {
        for line in ["purge --yes", "restore --all --yes", "delete --all --force last --yes"] {
            let world = support::World::new();
            copy_tree(&template.root("archive"), &world.path("archive"));
            let journal = world.path("archive/.urepo/journal");
            std::fs::create_dir_all(&journal).unwrap();
            std::fs::write(journal.join(format!("{kind}-00.toml")), "items = [").unwrap();
            let ran = world.run(&format!("-c archive {line}"));
            assert_ne!(ran.code, 0, "{kind}: {line}: {}", ran.stderr);
            assert!(ran.stderr.contains("not as urepo wrote it"), "{line}: {}", ran.stderr);
        }
    }
}

/// The files stay in place where the restoration cannot be completed: no command says that it is done.
#[test]
fn what_cannot_be_finished_is_a_failure_of_a_purge() {
    ROWS[2].visit_states(|root, name, told| {
        if bytes_of(root, name) != Bytes::Left {
            return;
        }
        let damaged = root.with_extension("damaged");
        copy_tree(root, &damaged);
        std::fs::write(damaged.join(name.as_str()).join("doc/a.txt"), "Alpha").unwrap();
        for line in ["purge --yes".to_owned(), format!("purge --yes {name}")] {
            let world = support::World::new();
            copy_tree(&damaged, &world.path("archive"));
            let ran = world.run(&format!("-c archive {line}"));
            assert_eq!(ran.code, 1, "{told}: {line}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("still in place"), "{told}: {}", ran.stderr);
            assert!(world.path("archive").join(name.as_str()).join("doc/a.txt").exists());
        }
        std::fs::remove_dir_all(&damaged).unwrap();
    });
}
