//! Every missing sync of a transfer: what is done next relies on what a power cut can not take any more.
//!
//! The two collections may be on two file systems, so a sync of one says nothing of the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use urepo::disk::Operation;
use urepo::identity::RepositoryName;
use urepo::transfer::{Leaves, Verb};

use super::support::Pair;
use crate::power::Disk;
use crate::support::{Faults, Mode, System, Trace};

type Steps = Vec<(Operation, PathBuf)>;

/// Where the item is on both sides, for the rules.
struct Sides {
    from: PathBuf,
    to: PathBuf,
    item: PathBuf,
}

impl Sides {
    fn of(pair: &Pair, name: &RepositoryName) -> Sides {
        let item = urepo::layout::item_directory(name);
        Sides { from: pair.root(0).into(), to: pair.root(1).into(), item }
    }

    /// Replays `steps` and calls `wrong` with whatever relies on something volatile.
    fn replay(&self, steps: &Steps, wrong: &mut dyn FnMut(String)) {
        self.replay_on([Disk::default(), Disk::default()], steps, wrong);
    }

    fn replay_on(&self, mut disks: [Disk; 2], steps: &Steps, wrong: &mut dyn FnMut(String)) {
        for (operation, path) in steps {
            for (disk, rule) in self.relied_on(*operation, path) {
                let lost: Vec<_> =
                    disks[disk].volatile.iter().filter(|it| self.matters(it, &rule)).collect();
                if !lost.is_empty() {
                    wrong(format!("{operation:?} {} relies on {lost:?}", path.display()));
                }
            }
            let disk = &mut disks[usize::from(path.starts_with(&self.to))];
            disk.apply(*operation, path);
        }
    }

    /// Whether `rule` is broken when `volatile` is lost.
    fn matters(&self, volatile: &Path, rule: &Path) -> bool {
        let Some(staging) = [&self.from, &self.to]
            .iter()
            .find(|root| rule == root.join(".urepo/staging"))
            .map(|root| root.join(".urepo/staging"))
        else {
            return volatile.starts_with(rule) || rule.starts_with(volatile);
        };
        // Of a stage, what is moved out of it: not its own directories and notes.
        let Ok(staged) = volatile.strip_prefix(staging) else { return false };
        let is_note = ["holder", "names", "probe"].iter().any(|note| staged.ends_with(note));
        match staged.components().count() {
            0 | 1 => false,
            // The directory that items of a thread are made in is `0-0`.
            2 => !is_note && !staged.ends_with("0-0"),
            _ => true,
        }
    }

    /// What has to be on the disk of the source (0) or of the destination (1) before an operation.
    fn relied_on(&self, operation: Operation, path: &Path) -> Vec<(usize, PathBuf)> {
        let (from, to) = (self.from.join(&self.item), self.to.join(&self.item));
        let is_rename = operation == Operation::Rename;
        if is_rename && path == to {
            // What appears is whole, and the giver has ceded it.
            vec![(1, self.to.join(".urepo/staging")), (0, from.join("item.toml"))]
        } else if is_rename && path == from {
            // A stub replaces what is durable at the receiver.
            vec![(1, to), (0, self.from.join(".urepo/staging"))]
        } else if is_rename && path == from.join("item.toml") {
            vec![(0, self.from.join(".urepo/staging"))]
        } else if is_rename && path == to.join("item.toml") {
            vec![(0, from), (1, self.to.join(".urepo/staging"))]
        } else if path.ends_with("REPORTED") {
            vec![(1, to), (0, from)]
        } else {
            Vec::new()
        }
    }
}

/// Transfers the one item there is and returns every step of it.
fn steps(pair: &Pair, verb: Verb, rules: Leaves, system: System) -> Steps {
    let trace = Arc::new(Trace::on(system));
    let (from, to) = pair.watched(Arc::clone(&trace) as _).unwrap();
    let reported = pair.root(1).join("REPORTED");
    let summary = pair.try_between(&from, &to, verb, rules, |outcome| {
        outcome.result.as_ref().unwrap();
        trace.0.lock().unwrap().push((Operation::Open, reported.clone()));
    });
    assert!(summary.fatal.is_none(), "{summary:?}");
    let steps = std::mem::take(&mut *trace.0.lock().unwrap());
    let cleaning = steps.iter().position(|(_, path)| path.ends_with("REPORTED")).unwrap();
    steps[..=cleaning].to_vec()
}

/// Everything in order, and every sync of use: without it, something is noticed.
fn check(pair: &Pair, name: &RepositoryName, steps: &Steps, least: usize) {
    let sides = Sides::of(pair, name);
    sides.replay(steps, &mut |wrong| panic!("{wrong}"));
    let is_sync = |operation: &Operation| {
        matches!(
            operation,
            Operation::SyncFile | Operation::SyncDirectory | Operation::SyncFileSystem
        )
    };
    let syncs: Vec<_> = (0..steps.len()).filter(|at| is_sync(&steps[*at].0)).collect();
    let mut needed = 0;
    for at in syncs {
        let mut without = steps.clone();
        without.remove(at);
        let mut noticed = false;
        sides.replay(&without, &mut |_| noticed = true);
        needed += usize::from(noticed);
    }
    assert!(needed >= least, "only {needed} syncs matter");
}

/// Checks a transfer of the item that is made ready by `prepare`, on every kind of system.
fn check_transfer(
    prepare: impl Fn(&Pair, &RepositoryName),
    verb: Verb,
    rules: Leaves,
    least: usize,
) {
    for system in SYSTEMS {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        prepare(&pair, &name);
        check(&pair, &name, &steps(&pair, verb, rules, system), least);
    }
}

const SYSTEMS: [System; 3] = [System::Own, System::Network, System::Many];

#[test]
fn of_a_copy() {
    check_transfer(|_, _| (), Verb::Copy, Leaves::Stub, 2);
}

#[test]
fn of_a_refreshed_copy() {
    let prepare = |pair: &Pair, name: &RepositoryName| {
        pair.run(Verb::Copy, Leaves::Stub);
        pair.edit_source(name, "a.txt", b"changed");
    };
    // The directory of the year is synced by the swap, and with the group: either would do.
    check_transfer(prepare, Verb::Copy, Leaves::Stub, 1);
}

#[test]
fn of_a_rename() {
    check_transfer(|_, _| (), Verb::Migrate, Leaves::Stub, 3);
}

#[test]
fn of_a_hand_over() {
    let rules = Leaves::Copy;
    check_transfer(|_, _| (), Verb::Migrate, rules, 5);
}

#[test]
fn of_a_hand_over_onto_a_copy() {
    let prepare = |pair: &Pair, _: &RepositoryName| {
        pair.run(Verb::Copy, Leaves::Stub);
    };
    // Where names cannot be swapped, setting the old item aside syncs the year as well.
    check_transfer(prepare, Verb::Migrate, Leaves::Stub, 4);
}

/// What is told to be there already may have been put there by a run that was killed before it synced it.
#[test]
fn of_what_is_there_already() {
    for system in SYSTEMS {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        pair.run(Verb::Copy, Leaves::Stub);
        let steps = steps(&pair, Verb::Copy, Leaves::Stub, system);
        let sides = Sides::of(&pair, &name);
        let place = pair.root(1).join(&sides.item);
        let killed = place.ancestors().take(4).map(Path::to_path_buf);
        let disks = [Disk::default(), Disk::with(killed)];
        sides.replay_on(disks, &steps, &mut |wrong| panic!("{system:?}: {wrong}"));
    }
}

/// What a killed run has renamed may be in memory only: recovery makes sure of it before it relies on it.
#[test]
fn of_a_recovery() {
    let rules = Leaves::Copy;
    let mut recovered = 0;
    for cut in (60..260).step_by(3) {
        let system = SYSTEMS[cut % SYSTEMS.len()];
        let pair = Pair::new();
        let name = pair.deposit_tree();
        let faults = Arc::new(Faults::new(pair.root(0), cut, Mode::Killed).on(system));
        let (from, to) = pair.watched(Arc::clone(&faults) as _).unwrap();
        let _ = pair.try_between(&from, &to, Verb::Migrate, rules, |_| ());
        if pair.open() == 0 {
            continue;
        }
        let trace = Arc::new(Trace::on(system));
        let (from, to) = pair.watched(Arc::clone(&trace) as _).unwrap();
        let sides = Sides::of(&pair, &name);
        let volatile =
            |root: &Path| Disk::with(Some(root.join(&sides.item)).filter(|item| item.exists()));
        let disks = [volatile(&sides.from), volatile(&sides.to)];
        pair.recover(&from, &to).unwrap();
        sides.replay_on(disks, &trace.0.lock().unwrap(), &mut |wrong| panic!("{cut}: {wrong}"));
        recovered += 1;
    }
    assert!(recovered > 10, "{recovered}");
}
