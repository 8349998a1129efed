//! Hand-overs that were cut short, and one of the two collections was put back from a backup since.

use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::{Collection, InventoryChange};
use urepo::disk::Operation;
use urepo::identity::RepositoryName;
use urepo::transfer::{HandoverEnd, Rules, TransferError, Verb};

use super::cut_short::{Cut, cut_migration, cut_short, cut_with, finish, finish_knowing};
use super::giver_damaged::replace;
use super::pairs::delete;
use super::renamed::Refuses;
use super::support::{Pair, State};
use crate::support::copy_tree;

/// Puts a copy of the collection at `root` in its place.
pub(super) fn put_back(root: &Path, backup: &Path) {
    std::fs::remove_dir_all(root).unwrap();
    copy_tree(backup, root);
}

#[track_caller]
pub(super) fn assert_taken_back(
    pair: &Pair,
    name: &RepositoryName,
    end: Result<HandoverEnd, TransferError>,
) {
    assert_eq!(end.unwrap(), HandoverEnd::TakenBack);
    let original = pair.sidecar_at_source(name);
    assert_eq!((original.state, original.handover), (State::Original, None));
    assert!(!original.origin.contains_key("collection"), "{:?}", original.origin);
    let last = pair.from().last_record(name).unwrap().unwrap().line;
    assert_eq!(last.change, InventoryChange::Entered(State::Original));
    assert_eq!(pair.journals(), 0);
    assert!(pair.is_clean());
    // It migrates as any other.
    pair.run(Verb::Migrate, Rules::default());
    assert_eq!(pair.sidecar_at_destination(name).state, State::Original);
    assert!(pair.from().item(name).is_err());
    assert!(pair.is_clean());
}

/// Nothing there says that it came.
#[test]
fn a_receiver_that_is_put_back_as_it_was_before_has_no_original() {
    for cut in [Cut::Given, Cut::Received] {
        for (was_there, has_copy) in [(false, false), (false, true), (true, false)] {
            let pair = Pair::new();
            let name = pair.deposit_tree();
            if was_there {
                for _ in 0..2 {
                    pair.run(Verb::Migrate, Rules::default());
                    pair.turn();
                }
            }
            let backup = pair.root(0).with_file_name("backup");
            if !has_copy {
                copy_tree(pair.root(1), &backup);
            }
            pair.run(Verb::Copy, Rules::default());
            if has_copy {
                copy_tree(pair.root(1), &backup);
            }
            pair.clock.set("2026-11-24T00:00:00Z");
            cut_migration(&pair, &name, cut);
            put_back(pair.root(1), &backup);
            assert_taken_back(&pair, &name, finish(&pair));
        }
    }
}

/// The Copy that it had was made elsewhere, where the Original was before.
#[test]
fn a_receiver_that_is_put_back_with_a_copy_from_elsewhere_has_no_original() {
    for cut in [Cut::Given, Cut::Received] {
        let pair = Pair::new();
        let (name, third) = (pair.deposit_tree(), pair.third());
        pair.run_between(&pair.from(), &third, Verb::Migrate, Rules::default());
        pair.run_between(&third, &pair.to(), Verb::Copy, Rules::default());
        pair.run_between(&third, &pair.from(), Verb::Migrate, Rules::default());
        let backup = pair.root(0).with_file_name("backup");
        copy_tree(pair.root(1), &backup);
        cut_migration(&pair, &name, cut);
        put_back(pair.root(1), &backup);
        assert_taken_back(&pair, &name, finish_knowing(&pair, &[third]));
    }
}

/// The mark that its Copy had is of a hand-over before this one.
#[test]
fn a_receiver_that_is_put_back_with_an_earlier_mark_has_no_original() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    let given = pair.root(0).join(name.as_str()).join("item.toml");
    let (from, to) = pair.watched(Arc::new(Refuses(Operation::Rename, given, Errno::IO))).unwrap();
    pair.try_between(&from, &to, Verb::Migrate, Rules::default(), |_| ());
    assert!(pair.sidecar_at_destination(&name).handover.is_some());
    let backup = pair.root(0).with_file_name("backup");
    copy_tree(pair.root(1), &backup);
    assert_eq!(finish(&pair).unwrap(), HandoverEnd::Withdrawn);
    cut_migration(&pair, &name, Cut::Given);
    put_back(pair.root(1), &backup);
    assert_taken_back(&pair, &name, finish(&pair));
}

/// Nothing but the record was left to be removed.
#[test]
fn a_receiver_that_is_put_back_beside_the_copy_that_stayed_has_no_original() {
    let leaving = Rules { leave_copy: true, ..Rules::default() };
    for was_marked in [false, true] {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        let backup = pair.root(0).with_file_name("backup");
        if !was_marked {
            copy_tree(pair.root(1), &backup);
        }
        cut_with(&pair, &name, Cut::Given, leaving);
        if was_marked {
            copy_tree(pair.root(1), &backup);
        }
        let (journal, kept) = (pair.root(0).join(".urepo/journal"), pair.root(0).join("../kept"));
        copy_tree(&journal, &kept);
        assert_eq!(finish(&pair).unwrap(), HandoverEnd::HandedOver);
        copy_tree(&kept, &journal);
        put_back(pair.root(1), &backup);
        if !was_marked {
            assert_taken_back(&pair, &name, finish(&pair));
            continue;
        }
        assert_eq!(finish(&pair).unwrap(), HandoverEnd::HandedOver);
        assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
        assert!(pair.is_clean() && pair.journals() == 0);
    }
}

/// Both have an older state back, in which the item was on its way.
#[test]
fn an_original_that_came_back_to_a_giver_put_back_as_it_was_before_is_there() {
    for cut in [Cut::Given, Cut::Received] {
        for (goes_round, leave_copy) in [(false, false), (true, false), (false, true), (true, true)]
        {
            let (pair, name) = cut_short(cut);
            let backup = pair.root(0).with_file_name("backup");
            copy_tree(pair.root(0), &backup);
            assert_eq!(finish(&pair).unwrap(), HandoverEnd::HandedOver);
            pair.clock.set("2026-11-24T00:00:00Z");
            let third = pair.third();
            let migrate = |from: &Collection, to: &Collection| {
                pair.run_between(from, to, Verb::Migrate, Rules { leave_copy, ..Rules::default() });
            };
            if goes_round {
                migrate(&pair.to(), &third);
                migrate(&third, &pair.from());
            } else {
                migrate(&pair.to(), &pair.from());
            }
            assert_eq!(pair.sidecar_at_source(&name).state, State::Original);
            put_back(pair.root(0), &backup);
            assert_taken_back(&pair, &name, finish_knowing(&pair, &[third]));
        }
    }
}

/// Puts both collections back as they were during a hand-over that was finished since. The receiver has passed the
/// Original on to the third one.
fn put_both_back(leave_copy: bool) -> (Pair, RepositoryName) {
    put_back_with(leave_copy, put_back)
}

/// The same, with the way in which the backup of the receiver comes back.
fn put_back_with(leave_copy: bool, receiver: fn(&Path, &Path)) -> (Pair, RepositoryName) {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    cut_with(&pair, &name, Cut::Given, Rules { leave_copy, ..Rules::default() });
    let backups = [0, 1].map(|at| {
        let backup = pair.root(0).with_file_name(format!("backup{at}"));
        copy_tree(pair.root(at), &backup);
        backup
    });
    assert_eq!(finish(&pair).unwrap(), HandoverEnd::HandedOver);
    pair.run_between(&pair.to(), &pair.third(), Verb::Migrate, Rules::default());
    put_back(pair.root(0), &backups[0]);
    receiver(pair.root(1), &backups[1]);
    pair.clock.set("2026-11-24T00:00:00Z");
    (pair, name)
}

/// The third collection is not at hand.
#[test]
fn a_receiver_that_passed_the_original_on_by_its_inventory_has_no_second_one() {
    for leave_copy in [false, true] {
        let (pair, name) = put_back_with(leave_copy, |root, backup| {
            let prefix = "example.org";
            copy_tree(&backup.join(prefix), &root.join(prefix));
        });
        assert_eq!(finish(&pair).unwrap(), HandoverEnd::HandedOver);
        for copy in [pair.sidecar_at_source(&name), pair.sidecar_at_destination(&name)] {
            assert_eq!((copy.state, copy.handover), (State::Copy, None));
        }
        assert_eq!(pair.journals(), 0);
    }
}

#[track_caller]
fn assert_passed_on(pair: &Pair, name: &RepositoryName) {
    assert_eq!(finish_knowing(pair, &[pair.third()]).unwrap(), HandoverEnd::HandedOver);
    for copy in [pair.sidecar_at_source(name), pair.sidecar_at_destination(name)] {
        assert_eq!((copy.state, copy.handover), (State::Copy, None));
    }
    assert_eq!(pair.journals(), 0);
}

#[test]
fn a_receiver_that_is_put_back_as_it_was_during_the_hand_over_has_no_second_original() {
    for (leave_copy, is_damaged) in [(false, false), (true, false), (false, true), (true, true)] {
        let (pair, name) = put_both_back(leave_copy);
        if is_damaged {
            let sidecar = pair.from().item(&name).unwrap().path_of("item.toml");
            replace(&sidecar, ("bytes = 1\n", "bytes = 2\n"));
        }
        assert_passed_on(&pair, &name);
        let third = pair.third();
        assert_eq!(third.item(&name).unwrap().sidecar().unwrap().0.state, State::Original);
        assert!(pair.is_clean());
    }
}

/// It was deleted there.
#[test]
fn a_receiver_that_is_put_back_as_it_was_during_the_hand_over_has_no_deleted_original() {
    for leave_copy in [false, true] {
        let (pair, name) = put_both_back(leave_copy);
        delete(&pair, &pair.third(), &name);
        let third = || pair.third().item(&name).unwrap().sidecar().unwrap().0.state;
        assert_eq!(third(), State::Deleted);
        assert_passed_on(&pair, &name);
        assert_eq!(third(), State::Deleted);
    }
}

/// An Original that was in a third collection before says nothing of where it went since.
#[test]
fn a_receiver_gets_the_original_though_a_third_collection_has_an_older_one() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let third = pair.third();
    pair.run_between(&pair.from(), &third, Verb::Migrate, Rules::default());
    let backup = pair.root(0).with_file_name("backup");
    copy_tree(third.path(), &backup);
    pair.run_between(&third, &pair.from(), Verb::Migrate, Rules::default());
    pair.run(Verb::Copy, Rules::default());
    cut_migration(&pair, &name, Cut::Given);
    put_back(third.path(), &backup);
    assert_eq!(finish_knowing(&pair, &[pair.third()]).unwrap(), HandoverEnd::HandedOver);
    assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
}

/// The receiver had the Original, and knows where it went.
#[test]
fn a_giver_that_is_put_back_as_it_was_before_the_commit_point_is_reported() {
    for leave_copy in [false, true] {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        let given = pair.root(0).join(name.as_str()).join("item.toml");
        let (from, to) =
            pair.watched(Arc::new(Refuses(Operation::Rename, given, Errno::IO))).unwrap();
        let leaving = Rules { leave_copy: true, ..Rules::default() };
        pair.try_between(&from, &to, Verb::Migrate, leaving, |_| ());
        let backup = pair.root(0).with_file_name("backup");
        copy_tree(pair.root(0), &backup);
        assert_eq!(finish(&pair).unwrap(), HandoverEnd::Withdrawn);
        pair.run(Verb::Migrate, leaving);
        let third = pair.third();
        let rules = Rules { leave_copy, ..Rules::default() };
        pair.run_between(&pair.to(), &third, Verb::Migrate, rules);
        put_back(pair.root(0), &backup);
        for _ in 0..2 {
            let end = finish(&pair);
            assert!(matches!(end, Err(TransferError::PassedOn { .. })), "{end:?}");
            assert_eq!(pair.sidecar_at_source(&name).state, State::Original);
        }
    }
}
