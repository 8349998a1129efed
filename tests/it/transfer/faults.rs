//! A transfer that fails or is killed at any file operation, on either side: exactly one Original, all
//! digests right, and a rerun completes it.

use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::{Collection, CollectionError};
use urepo::identity::RepositoryName;
use urepo::transfer::{Leaves, TransferError, Verb, interrupted};

use super::support::{Pair, State};
use crate::ledger::check_ledger;
use crate::support::{
    Faults, Mode, System, agent, between_users, first_user, recovered_whole, waiter, whole_items,
};

/// What is done, and to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Case {
    verb: Verb,
    rules: Leaves,
    /// The destination has a Copy before.
    copied: bool,
    /// The source is changed after that.
    changed: bool,
    across: bool,
    system: System,
}

const COPY: Case = Case {
    verb: Verb::Copy,
    rules: PLAIN,
    copied: false,
    changed: false,
    across: false,
    system: System::Own,
};
const MIGRATE: Case = Case { verb: Verb::Migrate, ..COPY };
const PLAIN: Leaves = Leaves::Stub;

fn every_operation(case: Case, mode: Mode) {
    let mut strikes = 0;
    // A disk is slow: all of it is done on one file system.
    let step = if case.across { 3 } else { 1 };
    let template = if case.across { Pair::across() } else { Pair::new() };
    let name = template.deposit_tree();
    if case.copied {
        template.run(Verb::Copy, PLAIN);
    }
    if case.changed {
        template.edit_source(&name, "a.txt", b"changed");
    }
    let wanted = template.sidecar_at_source(&name).files;
    for at in case.system.points().step_by(step) {
        let pair = template.twin();
        let faults = Faults::new(pair.root(0), at, mode).on(case.system);
        let faults = Arc::new(faults.of_changes());
        let mut reported = false;
        let mut told = false;
        first_user(|| {
            let Some((from, to)) = pair.watched(Arc::clone(&faults) as _) else {
                told = true;
                return;
            };
            let summary = pair.try_between(&from, &to, case.verb, case.rules, |outcome| {
                reported |= outcome.result.is_ok();
                told |= outcome.result.is_err();
            });
            told |= summary.fatal.is_some();
        });
        let struck = faults.struck();
        let context = format!("{case:?} {mode:?} {at}: {struck:?}");
        assert!(reported || told, "a failure was not told: {context}");
        check(&pair, &name, reported && case.verb == Verb::Migrate, &context);
        finish(&pair, case, &context);
        let holder = if case.verb == Verb::Migrate { pair.to() } else { pair.from() };
        let original = holder.item(&name).unwrap().sidecar().unwrap().0;
        assert_eq!((original.state, &original.files), (State::Original, &wanted), "{context}");
        let epoch = if case.verb == Verb::Migrate { 2 } else { 1 };
        assert!(original.custody.epoch() >= epoch, "{context}");
        assert!(pair.is_clean(), "{context}");
        check_ledger(holder.path(), std::slice::from_ref(&name), &context);
        (0..2).for_each(|at| check_ledger(pair.root(at), &[], &context));
        assert_eq!(pair.open(), 0, "{context}");
        if struck.is_none() {
            assert!(reported && !told, "{context}");
            break;
        }
        strikes = at;
    }
    assert!(strikes > 15, "only {strikes} operations were made to fail");
}

/// What holds at any time, however a run ended: every item is whole, and one is the Original.
fn check(pair: &Pair, name: &RepositoryName, migrated: bool, context: &str) {
    let (from, to) = (pair.from(), pair.to());
    whole_items(&from);
    whole_items(&to);
    let held =
        |collection: &Collection| collection.item(name).ok().map(|item| item.sidecar().unwrap().0);
    let (here, there) = (held(&from), held(&to));
    let says = |held: &Option<urepo::sidecar::Sidecar>| {
        held.as_ref().is_some_and(|sidecar| sidecar.state == State::Original)
    };
    // While a migration is under way, none says so; the end of it decides.
    let ceded = here.as_ref().is_some_and(|sidecar| sidecar.custody.ceded().is_some());
    let originals = [says(&here) || (ceded && !says(&there)), says(&there)];
    let count = originals.iter().filter(|is_original| **is_original).count();
    assert_eq!(count, 1, "{originals:?} {context}");
    if migrated {
        assert!(says(&there), "it was reported: {context}");
    }
}

/// The next run finishes what was begun, and then does the rest.
fn finish(pair: &Pair, case: Case, context: &str) {
    let (from, to) = (pair.from(), pair.to());
    // A process that another test is just starting may have a lock of the first run for a moment longer.
    for _ in 0..10_000 {
        match pair.recover(&from, &to) {
            Ok(()) => break,
            // The next writer there puts it back.
            Err(TransferError::Collection(ref error))
                if let CollectionError::Displaced { path, .. } = &**error =>
            {
                assert_eq!(path, to.path(), "{context}");
                to.writer(&agent(), &waiter(&pair.clock)).unwrap().finish().unwrap();
            }
            Err(_) => std::thread::yield_now(),
        }
    }
    assert_eq!(pair.open(), 0, "{context}");
    {
        let summary = pair.try_between(&from, &to, case.verb, case.rules, |_| ());
        assert!(summary.fatal.is_none(), "{summary:?} {context}");
    }
    for collection in [from, to] {
        recovered_whole(collection.path(), context);
    }
}

#[test]
fn on_other_systems() {
    let refresh = Leaves::Stub;
    let leaving = Leaves::Copy;
    for system in System::OTHERS {
        let changed = Case { copied: true, changed: true, system, ..COPY };
        let onto_a_copy = Case { verb: Verb::Migrate, ..changed };
        every_operation(Case { system, ..COPY }, Mode::Once(Errno::IO));
        every_operation(Case { rules: refresh, ..changed }, Mode::Killed);
        every_operation(Case { rules: refresh, ..changed }, Mode::Once(Errno::IO));
        every_operation(Case { system, ..MIGRATE }, Mode::Killed);
        every_operation(Case { across: true, system, ..MIGRATE }, Mode::Killed);
        every_operation(Case { rules: leaving, system, ..MIGRATE }, Mode::Once(Errno::NOSPC));
        every_operation(onto_a_copy, Mode::Killed);
    }
}

#[test]
fn copy_killed() {
    every_operation(COPY, Mode::Killed);
}

#[test]
fn copy_killed_across_file_systems() {
    every_operation(Case { across: true, ..COPY }, Mode::Killed);
}

#[test]
fn migrate_with_errors_across_file_systems() {
    every_operation(Case { across: true, ..MIGRATE }, Mode::ANY);
}

#[test]
fn refresh_killed() {
    let rules = Leaves::Stub;
    every_operation(Case { copied: true, changed: true, rules, ..COPY }, Mode::Killed);
}

#[test]
fn migrate_killed_within_a_file_system() {
    every_operation(MIGRATE, Mode::Killed);
}

#[test]
fn migrate_killed_across_file_systems() {
    every_operation(Case { across: true, ..MIGRATE }, Mode::Killed);
}

#[test]
fn migrate_killed_that_leaves_a_copy() {
    let rules = Leaves::Copy;
    every_operation(Case { rules, ..MIGRATE }, Mode::Killed);
}

#[test]
fn migrate_killed_onto_a_copy() {
    every_operation(Case { copied: true, ..MIGRATE }, Mode::Killed);
    every_operation(Case { copied: true, changed: true, ..MIGRATE }, Mode::Killed);
}

#[test]
fn copy_with_errors() {
    every_operation(COPY, Mode::ANY);
}

#[test]
fn refresh_with_errors() {
    let rules = Leaves::Stub;
    let case = Case { copied: true, changed: true, rules, ..COPY };
    every_operation(case, Mode::ANY);
}

#[test]
fn migrate_with_errors_within_a_file_system() {
    every_operation(MIGRATE, Mode::ANY);
}

#[test]
fn migrate_with_errors_that_leaves_a_copy() {
    let rules = Leaves::Copy;
    every_operation(Case { rules, ..MIGRATE }, Mode::ANY);
}

#[test]
fn migrate_with_errors_onto_a_copy() {
    let case = Case { copied: true, changed: true, ..MIGRATE };
    every_operation(case, Mode::ANY);
}

/// Finishing may be killed at any operation and be repeated.
#[test]
fn recovery_killed_at_any_operation() {
    recovery_killed(System::Own, 1);
    recovery_killed(System::Network, 5);
}

fn recovery_killed(system: System, step: usize) {
    let rules = Leaves::Copy;
    let template = Pair::new();
    let name = template.deposit_tree();
    let cut_at = |cut| {
        let pair = template.twin();
        let faults = Arc::new(Faults::new(pair.root(0), cut, Mode::Killed).on(system));
        let (from, to) = pair.watched(Arc::clone(&faults) as _).unwrap();
        let _ = pair.try_between(&from, &to, Verb::Migrate, rules, |_| ());
        (cut, pair)
    };
    // Every one leaves a record, and the sidecars at another stage.
    let cuts = (60..290).step_by(6).map(cut_at);
    let cuts: Vec<_> = cuts.filter(|(_, pair)| pair.open() > 0).collect();
    assert!(cuts.len() > 4, "only {} cuts", cuts.len());
    for (number, (cut, left)) in cuts.iter().enumerate() {
        // Neighbours have the same to finish: what one of them leaves out is the turn of the next.
        for at in System::Own.points().skip(number % step).step_by(step) {
            let pair = left.twin();
            let faults = Faults::new(pair.root(0), at, Mode::Killed).on(system).of_changes();
            let faults = Arc::new(faults);
            first_user(|| {
                if let Some((from, to)) = pair.watched(Arc::clone(&faults) as _) {
                    let _ = pair.recover(&from, &to);
                }
            });
            let context = format!("{cut} {at}: {:?}", faults.struck());
            check(&pair, &name, false, &context);
            finish(&pair, Case { rules, ..MIGRATE }, &context);
            assert!(pair.is_clean(), "{context}");
            if faults.struck().is_none() {
                break;
            }
        }
    }
}

#[test]
fn between_two_users() {
    for mode in [Mode::Killed, Mode::ANY] {
        let case = Case { copied: true, changed: true, ..COPY };
        between_users(|| every_operation(Case { rules: Leaves::Stub, ..case }, mode));
        let rules = Leaves::Copy;
        between_users(|| every_operation(Case { rules, ..MIGRATE }, mode));
        between_users(|| every_operation(Case { verb: Verb::Migrate, ..case }, mode));
    }
    between_users(migrate_killed_within_a_file_system);
    between_users(|| recovery_killed(System::Own, 3));
}

/// Without the receiver nothing is finished, and nothing is lost.
#[test]
fn a_receiver_out_of_sight_leaves_the_migration_open() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    for cut in 60.. {
        let faults = Arc::new(Faults::new(pair.root(0), cut, Mode::Killed));
        let (from, to) = pair.watched(Arc::clone(&faults) as _).unwrap();
        let _ = pair.try_between(&from, &to, Verb::Migrate, Leaves::Copy, |_| ());
        if pair.open() > 0 {
            break;
        }
    }
    let third = pair.third();
    assert!(pair.recover(&pair.from(), &third).is_err());
    assert_eq!(interrupted(&pair.from()).unwrap().items[0].name, name);
    pair.recover(&pair.from(), &pair.to()).unwrap();
    assert_eq!(pair.open(), 0);
}
