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
const RESTORE: &str = "restore --all";
const PURGE: &str = "purge --yes";

static ROWS: [Row; 6] = [
    Row::new(|_| (), delete_forced, DELETE, Bytes::InTrash),
    Row::new(become_known_copy, delete_forced, DELETE, Bytes::InTrash),
    Row::new(become_tombstone, restore_all, RESTORE, Bytes::InPlace),
    Row::new(become_deleted_copy, restore_all, RESTORE, Bytes::InPlace),
    Row::new(become_tombstone, purge_all, PURGE, Bytes::Purged),
    Row::new(become_deleted_copy, purge_all, PURGE, Bytes::Purged),
];

/// The ledger is rebuilt, and knows the item as a Copy.
fn become_known_copy(world: &World) {
    become_copy(world);
    std::fs::remove_dir_all(world.root("archive/.urepo/ledger")).unwrap();
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
        let state = format!("{bytes:?} {trash:?}");
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
