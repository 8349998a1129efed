//! Originals that migrate by being renamed, and are at the source although its inventory says that they left: a run
//! did not take them away, or a person put them back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::{InventoryChange, recover};
use urepo::disk::{Operation, Watch};
use urepo::holdings::OriginalError;
use urepo::identity::RepositoryName;
use urepo::repair::Outcome;
use urepo::transfer::{
    Finished, HandoverEnd, PeerLookup, Refusal, Replaces, Rules, Step, TransferError, Verb,
    finish_pending,
};

use super::support::{Pair, State, copy_rules, findings, repair_from, step};
use crate::support::{FullDisk, agent, copy_tree, waiter};

/// A disk that refuses one operation on what is below a place.
pub(super) struct Refuses(pub Operation, pub PathBuf, pub Errno);

impl Watch for Refuses {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let is_refused = operation == self.0 && path.starts_with(&self.1);
        if is_refused { Err(self.2.into()) } else { Ok(()) }
    }
}

/// Migrates everything on disks that are watched; what failed, and what went wrong for all.
fn migrate_on(pair: &Pair, watch: Arc<dyn Watch>) -> (Vec<TransferError>, Option<TransferError>) {
    let (from, to) = pair.watched(watch).unwrap();
    let mut failed = Vec::new();
    let each = |outcome: urepo::transfer::Outcome| failed.extend(outcome.result.err());
    let summary = pair.try_between(&from, &to, Verb::Migrate, Rules::default(), each);
    (failed, summary.fatal)
}

fn finish(pair: &Pair) -> Vec<Finished> {
    let (from, to) = (pair.from(), pair.to());
    finish_pending(
        &from,
        PeerLookup { named: &[&to], ..PeerLookup::default() },
        &agent(),
        &waiter(&pair.clock),
    )
    .unwrap()
}

fn last_change(pair: &Pair, name: &RepositoryName) -> InventoryChange {
    pair.from().last_record(name).unwrap().unwrap().line.change
}

fn is_returned(pair: &Pair) -> bool {
    findings(&pair.from()).iter().any(|finding| finding.contains("U112"))
}

/// The destination's directories are made before anything is recorded.
#[test]
fn without_room_for_a_directory_nothing_is_recorded() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let year = pair.root(1).join(name.components()[0]);
    let watch = Arc::new(Refuses(Operation::MakeDirectory, year, Errno::NOSPC));
    let (failed, _) = migrate_on(&pair, watch);
    assert!(matches!(failed[..], [TransferError::Disk(_)]), "{failed:?}");
    assert_eq!(last_change(&pair, &name), InventoryChange::Entered(State::Original));
    let file = crate::support::inventory_file(pair.root(0), name.as_str());
    assert!(!std::fs::read_to_string(file).unwrap().contains(" left "));
    assert_eq!(pair.journals(), 0);
    pair.run(Verb::Migrate, Rules::default());
    assert!(pair.is_clean());
}

/// Nor does anything move whose sidecar cannot tell of it.
#[test]
fn without_room_for_a_sidecar_nothing_moves() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let stage = pair.root(1).join(".urepo/staging");
    let (failed, _) = migrate_on(&pair, Arc::new(Refuses(Operation::Write, stage, Errno::NOSPC)));
    assert!(matches!(failed[..], [TransferError::Disk(_)]), "{failed:?}");
    assert_eq!(last_change(&pair, &name), InventoryChange::Entered(State::Original));
    assert_eq!((pair.journals(), pair.is_clean()), (0, true));
}

/// Copies that were made before an Original moved follow it, however often it moves.
#[test]
fn its_sidecar_tells_of_every_hand_over() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let third = pair.third();
    pair.run_between(&pair.from(), &third, Verb::Copy, Rules::default());
    let before = pair.sidecar_at_source(&name);
    let ids = [0, 1].map(|at| if at == 0 { pair.from() } else { pair.to() }.id().to_owned());
    for _ in 0..3 {
        pair.run(Verb::Migrate, Rules::default());
        pair.turn();
    }
    let mut after = pair.sidecar_at_source(&name);
    let told = after.origin.remove("handovers").unwrap();
    let told = told.as_array().unwrap().iter().map(|it| it["from"].as_str().unwrap().to_owned());
    assert_eq!(told.collect::<Vec<_>>(), [&*ids[0], &*ids[1], &*ids[0]]);
    assert_eq!(after, before);

    pair.edit_source(&name, "a.txt", b"changed");
    let outcomes = pair.run_between(&pair.from(), &third, Verb::Copy, copy_rules(true, false));
    assert_eq!(step(&outcomes[0]), Step::Copy(Replaces::Copy));
    let copy = third.item(&name).unwrap().sidecar().unwrap().0;
    assert_eq!(copy.files, pair.sidecar_at_source(&name).files);
    assert!(pair.is_clean());
}

/// What the destination has had of an item.
#[derive(Clone, Copy, Debug)]
enum Past {
    Nothing,
    Original,
    /// The same within this second.
    OriginalJustNow,
    LostCopy,
}

fn make_past(pair: &Pair, past: Past) {
    match past {
        Past::Nothing => {}
        Past::Original | Past::OriginalJustNow => {
            for day in ["2026-11-22T00:00:00Z", "2026-11-24T00:00:00Z"] {
                pair.clock.set(day);
                pair.run(Verb::Migrate, Rules::default());
                pair.turn();
            }
        }
        Past::LostCopy => {
            pair.clock.set("2026-11-22T00:00:00Z");
            pair.run(Verb::Copy, Rules::default());
        }
    }
}

/// The time of the migration that is cut short.
fn set_clock(pair: &Pair, past: Past) {
    let day = if let Past::OriginalJustNow = past { 24 } else { 25 };
    pair.clock.set(&format!("2026-11-{day}T00:00:00.5Z"));
}

/// An item that was not moved and could not be recorded as staying.
fn left_behind(past: Past) -> (Pair, RepositoryName) {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    make_past(&pair, past);
    if let Past::LostCopy = past {
        std::fs::remove_dir_all(pair.root(1).join(name.as_str())).unwrap();
    }
    set_clock(&pair, past);
    let place = pair.root(1).join(name.as_str());
    let (failed, fatal) = migrate_on(&pair, FullDisk::new(place, usize::MAX));
    assert!(matches!(failed[..], [TransferError::Unfinished { .. }]), "{failed:?}");
    assert!(fatal.is_some());
    assert!(is_returned(&pair));
    assert_eq!(pair.journals(), 1);
    (pair, name)
}

#[test]
fn what_could_not_be_recorded_is_repaired_by_the_next_run() {
    for past in [Past::Nothing, Past::Original, Past::OriginalJustNow, Past::LostCopy] {
        let (pair, name) = left_behind(past);
        // Nothing but the journal tells that it has not been put back.
        recover(&pair.from(), &agent(), &waiter(&pair.clock)).unwrap();
        assert!(is_returned(&pair), "{past:?}");
        let finished = finish(&pair);
        assert!(matches!(finished[0].result, Ok(HandoverEnd::Withdrawn)), "{finished:?}");
        assert_eq!(last_change(&pair, &name), InventoryChange::Entered(State::Original));
        // The destination misses its Copy.
        assert_eq!(pair.is_clean(), !matches!(past, Past::LostCopy));
        pair.run(Verb::Migrate, Rules::default());
        assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
        assert!(pair.is_clean());
        assert_eq!(pair.journals(), 0);
    }
}

/// What has been copied from the source since does not stand for the Original.
#[test]
fn with_a_later_copy_at_the_destination_it_has_not_moved() {
    for past in [Past::Nothing, Past::Original, Past::OriginalJustNow] {
        let (pair, name) = left_behind(past);
        pair.run(Verb::Copy, Rules::default());
        let finished = finish(&pair);
        assert!(matches!(finished[0].result, Ok(HandoverEnd::Withdrawn)), "{past:?} {finished:?}");
        assert_eq!(last_change(&pair, &name), InventoryChange::Entered(State::Original));
        assert_eq!(pair.journals(), 0);
        assert!(pair.is_clean(), "{past:?}");
        pair.run(Verb::Migrate, Rules::default());
        assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
        assert!(pair.is_clean(), "{past:?}");
    }
}

#[track_caller]
fn assert_departed(pair: &Pair, name: &RepositoryName) {
    let finished = finish(pair);
    let Err(TransferError::Original(OriginalError::Departed { .. })) = &finished[0].result else {
        panic!("{finished:?}")
    };
    assert!(matches!(last_change(pair, name), InventoryChange::Left(_)));
    assert_eq!(pair.journals(), 1);
}

/// A record in the journal is no proof: the run may have been killed after the item went.
#[test]
fn one_that_was_put_back_beside_the_journal_is_no_second_original() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let (item, backup) = (pair.root(0).join(name.as_str()), pair.root(0).with_file_name("backup"));
    copy_tree(&item, &backup);
    let inventory = pair.root(1).join(".urepo/inventory");
    migrate_on(&pair, Arc::new(Refuses(Operation::Write, inventory, Errno::IO)));
    assert_eq!((pair.journals(), item.exists()), (1, false));
    copy_tree(&backup, &item);

    let finished = finish(&pair);
    let Err(TransferError::Refused { refusal, .. }) = &finished[0].result else {
        panic!("{finished:?}")
    };
    assert_eq!(*refusal, Refusal::TwoOriginals);
    assert!(matches!(last_change(&pair, &name), InventoryChange::Left(_)));

    // The destination has passed it on since, and a Copy may have come back there.
    let (to, third) = (pair.to(), pair.third());
    pair.clock.set("2026-11-25T00:00:00Z");
    pair.run_between(&to, &third, Verb::Migrate, Rules::default());
    assert_departed(&pair, &name);
    for source in [&third, &pair.from()] {
        let outcomes = pair.run_between(source, &to, Verb::Copy, Rules::default());
        assert!(outcomes[0].result.is_ok(), "{outcomes:?}");
        assert_departed(&pair, &name);
        std::fs::remove_dir_all(pair.root(1).join(name.as_str())).unwrap();
    }
}

/// Nobody has it: nothing but the journal tells.
#[test]
fn what_went_to_a_receiver_that_is_put_back_as_it_was_before_is_missing_at_the_giver() {
    for past in [Past::Nothing, Past::Original, Past::OriginalJustNow, Past::LostCopy] {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        let third = pair.third();
        pair.run_between(&pair.from(), &third, Verb::Copy, Rules::default());
        make_past(&pair, past);
        let backup = pair.root(0).with_file_name("backup");
        copy_tree(pair.root(1), &backup);
        if let Past::LostCopy = past {
            std::fs::remove_dir_all(pair.root(1).join(name.as_str())).unwrap();
        }
        set_clock(&pair, past);
        let inventory = pair.root(1).join(".urepo/inventory");
        migrate_on(&pair, Arc::new(Refuses(Operation::Write, inventory, Errno::IO)));
        assert!(!pair.root(0).join(name.as_str()).exists() && pair.journals() == 1, "{past:?}");
        std::fs::remove_dir_all(pair.root(1)).unwrap();
        copy_tree(&backup, pair.root(1));

        let finished = finish(&pair);
        assert!(matches!(finished[0].result, Ok(HandoverEnd::Vanished)), "{past:?} {finished:?}");
        assert_eq!(pair.journals(), 0);
        let found = findings(&pair.from());
        assert!(matches!(&found[..], [one] if one.contains("U108")), "{past:?} {found:?}");
        // Any of its Copies brings it back.
        let repaired = repair_from(&pair, &pair.from(), third, &name).unwrap();
        assert!(matches!(repaired, Outcome::Repaired(_)), "{past:?} {repaired:?}");
        assert_eq!(pair.sidecar_at_source(&name).state, State::Original);
        assert_eq!(findings(&pair.from()), [""; 0], "{past:?}");
    }
}

/// What has become of it there, the receiver itself says.
#[test]
fn what_came_to_the_receiver_and_is_gone_since_went_there() {
    for is_passed_on in [false, true] {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        let inventory = pair.root(1).join(".urepo/inventory");
        migrate_on(&pair, Arc::new(Refuses(Operation::Write, inventory, Errno::IO)));
        recover(&pair.to(), &agent(), &waiter(&pair.clock)).unwrap();
        assert_eq!(pair.journals(), 1);
        if is_passed_on {
            let moved =
                pair.run_between(&pair.to(), &pair.third(), Verb::Migrate, Rules::default());
            assert!(matches!(step(&moved[0]), Step::HandOver(_)));
        } else {
            std::fs::remove_dir_all(pair.root(1).join(name.as_str())).unwrap();
        }
        let finished = finish(&pair);
        assert!(matches!(finished[0].result, Ok(HandoverEnd::HandedOver)), "{finished:?}");
        assert!(findings(&pair.from()).is_empty() && pair.journals() == 0);
        assert_eq!(findings(&pair.to()).is_empty(), is_passed_on);
    }
}

/// The giver has an older state back, in which it was gone.
#[test]
fn what_came_back_to_a_giver_put_back_as_it_was_before_is_missing_there() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let inventory = pair.root(1).join(".urepo/inventory");
    migrate_on(&pair, Arc::new(Refuses(Operation::Write, inventory, Errno::IO)));
    recover(&pair.to(), &agent(), &waiter(&pair.clock)).unwrap();
    let backup = pair.root(0).with_file_name("backup");
    copy_tree(pair.root(0), &backup);
    pair.clock.set("2026-11-25T00:00:00Z");
    pair.run_between(&pair.to(), &pair.from(), Verb::Migrate, Rules::default());
    assert_eq!(pair.sidecar_at_source(&name).state, State::Original);
    std::fs::remove_dir_all(pair.root(0)).unwrap();
    copy_tree(&backup, pair.root(0));
    let finished = finish(&pair);
    assert!(matches!(finished[0].result, Ok(HandoverEnd::Vanished)), "{finished:?}");
    let found = findings(&pair.from());
    assert!(matches!(&found[..], [one] if one.contains("U108")), "{found:?}");
    assert_eq!((pair.journals(), findings(&pair.to()).len()), (0, 0));
}

/// The record in the journal stayed, and the destination has passed the Original on since.
#[test]
fn an_original_that_is_back_at_the_destination_is_not_recorded() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let inventory = pair.root(1).join(".urepo/inventory");
    migrate_on(&pair, Arc::new(Refuses(Operation::Write, inventory, Errno::IO)));
    let (to, third) = (pair.to(), pair.third());
    recover(&to, &agent(), &waiter(&pair.clock)).unwrap();
    assert_eq!(pair.journals(), 1);
    let (item, backup) = (pair.root(1).join(name.as_str()), pair.root(1).with_file_name("backup"));
    copy_tree(&item, &backup);
    pair.run_between(&to, &third, Verb::Migrate, Rules::default());
    copy_tree(&backup, &item);
    let is_returned = || findings(&pair.to()).iter().any(|finding| finding.contains("U112"));
    assert!(is_returned());
    let ends: Vec<_> = finish(&pair).into_iter().map(|it| it.result.unwrap()).collect();
    assert_eq!((&ends[..], pair.journals()), (&[HandoverEnd::HandedOver][..], 0));
    assert!(is_returned(), "{:?}", pair.to().last_record(&name));
}
