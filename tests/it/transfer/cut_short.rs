//! Hand-overs that were cut short past the commit point, and what has become of the receiver since.

use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::Collection;
use urepo::disk::Operation;
use urepo::disk::Watcher;
use urepo::holdings::{OriginalError, Peers};
use urepo::identity::RepositoryName;
use urepo::repair::{Outcome, RepairError};
use urepo::transfer::{HandoverEnd, PeerLookup, Rules, TransferError, Verb, finish_pending};

use super::put_back::{assert_taken_back, put_back};
use super::renamed::Refuses;
use super::support::{Pair, State, findings, repair_from};
use crate::support::{agent, copy_tree, waiter, whole_items};

/// The last step that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cut {
    /// The giver's sidecar says Copy.
    Given,
    /// The receiver's says Original.
    Received,
}

pub(super) fn cut_short(cut: Cut) -> (Pair, RepositoryName) {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    // Onto a Copy an Original is not renamed.
    pair.run(Verb::Copy, Rules::default());
    cut_migration(&pair, &name, cut);
    (pair, name)
}

pub(super) fn cut_migration(pair: &Pair, name: &RepositoryName, cut: Cut) {
    cut_with(pair, name, cut, Rules::default());
}

pub(super) fn cut_with(pair: &Pair, name: &RepositoryName, cut: Cut, rules: Rules) {
    let refused = match cut {
        Cut::Given => pair.root(1).join(name.as_str()).join("item.toml"),
        Cut::Received => pair.root(0).join(".urepo/staging"),
    };
    let watch = Arc::new(Refuses(Operation::Rename, refused, Errno::IO));
    let (from, to) = pair.watched(watch).unwrap();
    pair.try_between(&from, &to, Verb::Migrate, rules, |outcome| {
        assert!(matches!(outcome.result, Err(TransferError::Unfinished { .. })), "{outcome:?}");
    });
    let states = [pair.sidecar_at_source(name), pair.sidecar_at_destination(name)];
    let received = if cut == Cut::Given { State::Copy } else { State::Original };
    assert_eq!(states.map(|it| it.state), [State::Copy, received], "{cut:?}");
    assert_eq!(pair.journals(), 1);
}

pub(super) fn finish(pair: &Pair) -> Result<HandoverEnd, TransferError> {
    finish_knowing(pair, &[])
}

pub(super) fn finish_knowing(
    pair: &Pair,
    others: &[Collection],
) -> Result<HandoverEnd, TransferError> {
    finish_with(pair, &pair.to(), Peers { collections: others, ..Peers::default() })
}

fn finish_with(
    pair: &Pair,
    to: &Collection,
    others: Peers<'_>,
) -> Result<HandoverEnd, TransferError> {
    let peer = PeerLookup { named: &[to], others };
    finish_pending(&pair.from(), peer, &agent(), &waiter(&pair.clock)).unwrap().remove(0).result
}

/// Repairs the item at the receiver with the files of the giver.
fn repair_from_giver(pair: &Pair, name: &RepositoryName) -> Outcome {
    repair_from(pair, &pair.to(), pair.from(), name).unwrap()
}

/// The giver's files may be the last good ones.
#[test]
fn of_a_receiver_that_is_damaged_the_giver_keeps_the_files() {
    let rot = |doc: &Path| std::fs::write(doc.join("a.txt"), "b").unwrap();
    let removal = |doc: &Path| std::fs::remove_dir_all(doc).unwrap();
    let sidecar_loss = |doc: &Path| std::fs::remove_file(doc.with_file_name("item.toml")).unwrap();
    let sidecar_cut = |doc: &Path| std::fs::write(doc.with_file_name("item.toml"), "").unwrap();
    let both = |doc: &Path| {
        rot(doc);
        sidecar_cut(doc);
    };
    for cut in [Cut::Given, Cut::Received] {
        let damages: [&dyn Fn(&Path); 5] = [&rot, &removal, &sidecar_loss, &sidecar_cut, &both];
        for damage in damages {
            let (pair, name) = cut_short(cut);
            damage(&pair.to().item(&name).unwrap().payload_path());
            for _ in 0..2 {
                let end = finish(&pair);
                assert!(matches!(end, Err(TransferError::ReceivedDamaged { .. })), "{end:?}");
                assert_eq!(whole_items(&pair.from()), [name.to_string()], "{cut:?}");
                assert_eq!(pair.journals(), 1, "{cut:?}");
            }
            // They mend it; then the hand-over ends.
            assert!(matches!(repair_from_giver(&pair, &name), Outcome::Repaired(_)), "{cut:?}");
            assert_eq!(repair_from_giver(&pair, &name), Outcome::Sound, "{cut:?}");
            assert_eq!(finish(&pair).unwrap(), HandoverEnd::HandedOver);
            assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
            assert_eq!(whole_items(&pair.to()), [name.to_string()]);
            assert!(pair.from().item(&name).is_err(), "{cut:?}");
            assert_eq!(pair.journals(), 0);
            // The damaged one is in the trash.
            assert_eq!(findings(&pair.to()), [""; 0]);
            assert_eq!(findings(&pair.from()), [""; 0]);
        }
    }
}

/// A person may still find it.
#[test]
fn what_vanished_from_the_receiver_is_given_up_there_first() {
    for cut in [Cut::Given, Cut::Received] {
        let (pair, name) = cut_short(cut);
        let before = pair.sidecar_at_source(&name);
        std::fs::remove_dir_all(pair.root(1).join(name.as_str())).unwrap();
        let end = finish(&pair);
        assert!(matches!(end, Err(TransferError::ReceivedVanished { .. })), "{end:?}");
        assert_eq!(pair.sidecar_at_source(&name), before);
        assert_eq!(pair.journals(), 1);
        let to = pair.to();
        let planned = to.inventory_corrections().unwrap();
        to.correct_inventory(&planned.added, &agent(), &waiter(&pair.clock)).unwrap();
        assert_taken_back(&pair, &name, finish(&pair));
    }
}

/// The giver still has it.
#[test]
fn what_vanished_from_the_receiver_is_brought_back_from_the_giver() {
    for cut in [Cut::Given, Cut::Received] {
        let (pair, name) = cut_short(cut);
        std::fs::remove_dir_all(pair.root(1).join(name.as_str())).unwrap();
        assert!(matches!(repair_from_giver(&pair, &name), Outcome::Repaired(_)), "{cut:?}");
        assert_eq!(finish(&pair).unwrap(), HandoverEnd::HandedOver);
        assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
        assert!(pair.is_clean() && pair.journals() == 0);
    }
}

/// That the Original was there before, and left a Copy, says nothing of this hand-over.
#[test]
fn a_receiver_that_had_the_original_before_is_repaired() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.turn();
    let leaving = Rules { leave_copy: true, ..Rules::default() };
    pair.run_between(&pair.to(), &pair.from(), Verb::Migrate, leaving);
    pair.clock.set("2026-11-24T00:00:00Z");
    cut_migration(&pair, &name, Cut::Given);
    std::fs::write(pair.to().item(&name).unwrap().path_of("item.toml"), "").unwrap();
    repair_from_giver(&pair, &name);
    assert_eq!(finish(&pair).unwrap(), HandoverEnd::HandedOver);
    assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
    assert!(pair.is_clean() && pair.journals() == 0);
}

/// The Copy that it has instead is not made the Original.
#[test]
fn what_the_receiver_passed_on_is_not_repaired_as_received() {
    let (pair, name) = cut_short(Cut::Received);
    let (to, third) = (pair.to(), pair.third());
    pair.run_between(&to, &third, Verb::Migrate, Rules::default());
    pair.run_between(&third, &to, Verb::Copy, Rules::default());
    std::fs::write(to.item(&name).unwrap().path_of("item.toml"), "").unwrap();
    let refused = repair_from(&pair, &to, pair.from(), &name);
    assert!(matches!(refused, Err(RepairError::Handover { .. })), "{refused:?}");
}

#[test]
fn an_original_that_the_receiver_passed_on_does_not_come_back() {
    for is_put_back in [false, true] {
        let (pair, name) = cut_short(Cut::Received);
        let (backup, third) = (pair.root(0).with_file_name("backup"), pair.third());
        copy_tree(pair.root(1), &backup);
        std::fs::remove_dir_all(backup.join(name.as_str())).unwrap();
        std::fs::remove_dir_all(backup.join(".urepo/inventory")).unwrap();
        std::fs::create_dir(backup.join(".urepo/inventory")).unwrap();
        pair.clock.set("2026-11-24T00:00:00Z");
        pair.run_between(&pair.to(), &third, Verb::Migrate, Rules::default());
        if is_put_back {
            put_back(pair.root(1), &backup);
        }
        let end = finish_knowing(&pair, &[pair.third()]);
        assert_eq!(end.unwrap(), HandoverEnd::HandedOver);
        let left = pair.sidecar_at_source(&name);
        assert_eq!((left.state, left.handover), (State::Copy, None));
        assert_eq!(third.item(&name).unwrap().sidecar().unwrap().0.state, State::Original);
        assert_eq!(pair.journals(), 0);
    }
}

/// The Original may be in what was not looked at: the receiver itself, where a copy of it was made by hand, or a known
/// collection on a disk that is not mounted.
#[test]
fn nothing_is_taken_back_unless_all_was_looked_at() {
    for cut in [Cut::Given, Cut::Received] {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        let backup = pair.root(0).with_file_name("backup");
        copy_tree(pair.root(1), &backup);
        pair.run(Verb::Copy, Rules::default());
        cut_migration(&pair, &name, cut);
        let before = pair.sidecar_at_source(&name);
        let copy = Collection::open(&backup, &Watcher::default()).unwrap();
        let stays = |end: Result<HandoverEnd, TransferError>| {
            assert!(
                matches!(end, Err(TransferError::Original(OriginalError::Unseen { .. }))),
                "{end:?}"
            );
            assert_eq!(pair.sidecar_at_source(&name), before, "{cut:?}");
            assert_eq!(pair.journals(), 1);
        };
        stays(finish_with(&pair, &copy, Peers::default()));
        let elsewhere = pair.root(1).with_file_name("elsewhere");
        std::fs::rename(pair.root(1), &elsewhere).unwrap();
        copy_tree(&backup, pair.root(1));
        let missing = ["third".to_owned()];
        stays(finish_with(&pair, &pair.to(), Peers { missing: &missing, ..Peers::default() }));
        put_back(pair.root(1), &elsewhere);
        assert_eq!(finish(&pair).unwrap(), HandoverEnd::HandedOver);
    }
}

/// One of several is damaged.
#[test]
fn what_is_settled_leaves_the_journal_at_once() {
    for cut in [Cut::Given, Cut::Received] {
        let pair = Pair::new();
        let names = [(); 3].map(|()| pair.deposit_tree());
        pair.run(Verb::Copy, Rules::default());
        cut_migration(&pair, &names[0], cut);
        let damaged = pair.to().item(&names[1]).unwrap().payload_path().join("a.txt");
        std::fs::write(damaged, "b").unwrap();
        let finish = || {
            let (from, to) = (pair.from(), pair.to());
            let peer = PeerLookup { named: &[&to], ..PeerLookup::default() };
            finish_pending(&from, peer, &agent(), &waiter(&pair.clock)).unwrap()
        };
        let ended = finish();
        assert_eq!(ended.iter().filter(|it| it.result.is_ok()).count(), 2, "{ended:?}");
        let inventory = || {
            let file = crate::support::inventory_file(pair.root(1), names[0].as_str());
            std::fs::read_to_string(file).unwrap()
        };
        let before = inventory();
        let open = finish();
        assert!(
            matches!(&open[..], [one] if one.name.as_ref() == Some(&names[1]) && one.result.is_err()),
            "{open:?}"
        );
        assert_eq!(inventory(), before);
        assert_eq!(pair.journals(), 1);
        repair_from_giver(&pair, &names[1]);
        assert!(matches!(&finish()[..], [one] if one.result.is_ok()));
        assert!(pair.is_clean() && pair.journals() == 0);
    }
}
