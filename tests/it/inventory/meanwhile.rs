//! Items that go while they are recorded as found.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use urepo::collection::{Collection, InventoryChange, Names};
use urepo::disk::Operation;
use urepo::interrupt::Interrupt;
use urepo::progress::NoProgress;
use urepo::verify::{Depth, Options, Rounds, verify_in_rounds};

use super::World;
use crate::support::{PATIENCE, TestClock, agent, inventory_file, inventory_line, on};

/// What a migration does that begins when verification has seen that nothing recorded the item.
#[test]
fn what_migrates_meanwhile_is_not_recorded_as_found() {
    let world = World::new();
    let (name, item) = (world.names[0].clone(), world.item(0));
    let inventory = inventory_file(&world.root, name.as_str());
    std::fs::remove_file(&inventory).unwrap();
    let has_gone = AtomicBool::new(false);
    let migrate = on(Operation::Read, &item.join("item.toml"), move || {
        if !has_gone.swap(true, Ordering::SeqCst) {
            let left = format!("left {name} migrated 60cb73fd mirror");
            std::fs::write(&inventory, inventory_line("2026-11-23T10:00:00Z", &left))?;
            std::fs::remove_dir_all(&item)?;
        }
        Ok(())
    });
    let collection = Collection::open(&world.root, &migrate).unwrap();
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
    assert!(matches!(last(0), InventoryChange::Left(_)), "{:?}", last(0));
    assert!(matches!(last(1), InventoryChange::Found(Some(_))), "{:?}", last(1));
}
