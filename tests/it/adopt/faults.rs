//! Killed at any operation, or with an error at any: no half sidecar, and a rerun completes.

use super::*;
use crate::power::Disk;
use crate::support::{
    Faults, Mode as Fault, System, Trace, between_users, first_user, ledger_file, recovered_whole,
    share,
};

fn every_operation(fault: Fault, system: System) {
    let model = World::urlib();
    share(&model.root());
    let before = everything(&model.root());
    let mut strikes = 0;
    for at in system.points() {
        let world = World::urlib();
        share(&world.root());
        drop(world.collection(&Watcher::default()));
        let faults = Arc::new(Faults::new(&world.root(), at, fault).on(system).of_changes());
        let mut reported = Vec::new();
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let opened = || Collection::open(&world.root(), &watcher);
        if let Ok(told) = first_user(|| opened().map(|collection| adopt(&collection, None, 1))) {
            let complete = told.taken.len() == 5;
            let complained = told.summary.fatal.is_some()
                || !told.refused.is_empty()
                // A description that can not be read is told, and does without.
                || told.taken.values().any(|plan| !plan.notes.is_empty());
            assert!(complete || complained, "{:?} was not told", faults.struck());
            reported.extend(told.taken.into_keys());
        }
        let context = format!("{:?}", faults.struck());
        for name in &reported {
            assert!(world.root().join(name).join("item.toml").exists(), "{name}: {context}");
        }
        for name in [REPORT, UPPER, UNDERSCORE, PAPER, PAPER_METADATA] {
            if world.root().join(name).join("item.toml").exists() {
                world.sidecar(name);
            }
        }
        let told = world.adopt();
        assert!(told.summary.fatal.is_none() && told.refused.is_empty(), "{context}");
        assert_eq!(told.taken.len() + told.there.len(), 5, "{context}");
        let collection = world.collection(&Watcher::default());
        assert_eq!(whole_items(&collection).len(), 5, "{context}");
        // An item without a record would not be missed.
        for name in whole_items(&collection) {
            let lines = std::fs::read_to_string(ledger_file(&world.root())).unwrap();
            assert!(lines.contains(&name), "{name}: {context}");
        }
        // What could not be read once is read again: no item is taken in without its description.
        assert!(!world.sidecar(REPORT).metadata.table().is_empty(), "{context}");
        recovered_whole(&world.root(), &context);
        let after = everything(&world.root());
        for (path, was) in &before {
            assert_eq!((&was.0, was.1), (&after[path].0, after[path].1), "{context}");
        }
        if faults.struck().is_none() {
            break;
        }
        strikes = at;
    }
    let least = if fault == Fault::Killed { 20 } else { 80 };
    assert!(strikes > least, "only {strikes} operations were made to fail");
}

#[test]
fn killed_at_any_operation() {
    every_operation(Fault::Killed, System::Own);
}

#[test]
fn an_error_at_any_operation() {
    every_operation(Fault::DISK, System::Own);
}

#[test]
fn between_two_users() {
    for mode in [Fault::Killed, Fault::DISK] {
        between_users(|| every_operation(mode, System::Own));
    }
}

#[test]
fn on_other_systems() {
    for system in System::OTHERS {
        every_operation(Fault::Killed, system);
        every_operation(Fault::Once(rustix::io::Errno::IO), system);
    }
}

/// Whichever thread meets it, the failure that ends a run is told as what it is.
#[test]
fn a_failure_met_by_several_threads_keeps_its_cause() {
    for at in 1..60 {
        let world = World::urlib();
        drop(world.collection(&Watcher::default()));
        let faults = Arc::new(Faults::new(&world.root(), at, Fault::Killed));
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let Ok(collection) = Collection::open(&world.root(), &watcher) else { continue };
        let fatal = adopt(&collection, None, 4).summary.fatal;
        let is_cause = !matches!(fatal, Some(AdoptError::GroupFailed));
        assert!(is_cause, "{:?} became {fatal:?}", faults.struck());
    }
}

/// No sidecar is in place before its bytes are on the disk, none is told before it is.
#[test]
fn a_power_cut_takes_nothing_that_was_told() {
    [System::Own, System::Network, System::Many].into_iter().for_each(takes_nothing_that_was_told);
}

fn takes_nothing_that_was_told(system: System) {
    let world = World::urlib();
    let root = world.root();
    drop(world.collection(&Watcher::default()));
    let trace = Arc::new(Trace::on(system));
    let collection = world.collection(&Watcher::new(Arc::clone(&trace) as _));
    let agent = agent();
    let mode = Mode::Act { collection: &collection, agent: &agent, wait: PATIENCE };
    run(mode, None, 1, |outcome| {
        if let Outcome::Taken(plan) = outcome {
            let path = root.join(plan.directory()).join("REPORTED");
            trace.0.lock().unwrap().push((Operation::Open, path));
        }
    });
    let mut disk = Disk::default();
    let (mut placed, mut reported) = (0, 0);
    for (operation, path) in trace.0.lock().unwrap().iter() {
        if *operation == Operation::Rename && path.ends_with("item.toml") {
            placed += 1;
            let lost = disk.lost_of_stages(&root);
            assert!(lost.is_empty(), "{} has no bytes yet: {lost:?}", path.display());
        }
        if path.ends_with("REPORTED") {
            reported += 1;
            let item = path.parent().unwrap();
            let lost: Vec<_> = disk.volatile.iter().filter(|it| it.starts_with(item)).collect();
            assert!(lost.is_empty(), "{} was told too early: {lost:?}", path.display());
        }
        disk.apply(*operation, path);
    }
    assert_eq!((placed, reported), (5, 5));
}
