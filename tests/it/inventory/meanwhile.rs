//! Items that go while they are recorded as found.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use urepo::collection::{Collection, Discrepancy, InventoryChange, Names};
use urepo::disk::{Operation, Watch, Watcher};
use urepo::interrupt::Interrupt;
use urepo::progress::NoProgress;
use urepo::verify::{Depth, Options, Rounds, verify_in_rounds};

use super::World;
use crate::support::{PATIENCE, TestClock, agent, inventory_file, inventory_line, on};

/// A loss that a person accepts when verification has seen that nothing recorded the item.
#[test]
fn what_leaves_meanwhile_is_not_recorded_as_found() {
    let world = World::new();
    let (name, item) = (world.names[0].clone(), world.item(0));
    let inventory = inventory_file(&world.root, name.as_str());
    std::fs::remove_file(&inventory).unwrap();
    let has_gone = AtomicBool::new(false);
    let delete = on(Operation::Read, &item.join("item.toml"), move || {
        if !has_gone.swap(true, Ordering::SeqCst) {
            let left = format!("left {name} lost");
            std::fs::write(&inventory, inventory_line("2026-11-23T10:00:00Z", &left))?;
            std::fs::remove_dir_all(&item)?;
        }
        Ok(())
    });
    let collection = Collection::open(&world.root, &delete).unwrap();
    let (clock, agent) = (TestClock::at("2027-01-02T00:00:00Z"), agent());
    let rounds = Rounds {
        clock: &clock,
        agent: &agent,
        lock_wait: PATIENCE,
        older_than: None,
        time_limit: None,
    };
    let options = Options { depth: Depth::Quick, jobs: 1 };
    let (names, interrupt) = (Names::default(), Interrupt::default());
    let report = |_| ControlFlow::Continue(());
    verify_in_rounds(&collection, &names, options, &rounds, &NoProgress, &interrupt, report)
        .unwrap();
    let last =
        |at: usize| world.collection().last_record(&world.names[at]).unwrap().unwrap().line.change;
    assert_eq!(last(0), InventoryChange::Lost);
    assert!(matches!(last(1), InventoryChange::Found(Some(_))), "{:?}", last(1));
}

/// A loss that a person accepts when verification has seen that no process writes.
struct Begins {
    staging: PathBuf,
    inventory: PathBuf,
    line: String,
    is_quiet: AtomicBool,
    has_begun: AtomicBool,
}

impl Watch for Begins {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::List && path == self.staging {
            self.is_quiet.store(true, Ordering::SeqCst);
        } else if path == self.inventory
            && self.is_quiet.load(Ordering::SeqCst)
            && !self.has_begun.swap(true, Ordering::SeqCst)
        {
            std::fs::create_dir(self.staging.join("other"))?;
            std::fs::write(&self.inventory, &self.line)?;
        }
        Ok(())
    }
}

#[test]
fn what_begins_to_leave_meanwhile_has_not_returned() {
    let world = World::new();
    let name = &world.names[0];
    let inventory = inventory_file(&world.root, name.as_str());
    std::fs::write(&inventory, "").unwrap();
    let left = format!("left {name} lost");
    let begins = Arc::new(Begins {
        staging: world.root.join(".urepo/staging"),
        inventory,
        line: inventory_line("2026-11-23T10:00:00Z", &left),
        is_quiet: AtomicBool::new(false),
        has_begun: AtomicBool::new(false),
    });
    std::fs::create_dir_all(&begins.staging).unwrap();
    let watcher = Watcher::new(Arc::<Begins>::clone(&begins));
    let collection = Collection::open(&world.root, &watcher).unwrap();
    let mut returned = Vec::new();
    let flow = collection.visit_discrepancies(&Names::default(), |found| {
        if let Discrepancy::Returned(name, _) = found {
            returned.push(name);
        }
        ControlFlow::Continue(())
    });
    assert!(flow.unwrap().is_continue() && begins.has_begun.load(Ordering::SeqCst));
    assert_eq!(returned, []);
    std::fs::remove_dir(begins.staging.join("other")).unwrap();
    assert_eq!(super::told(&world.root).returned, std::slice::from_ref(name));
}
