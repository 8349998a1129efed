//! Hand-overs of which the giver has no record any more, because backups were put back or `.urepo` was lost.

use std::path::PathBuf;

use urepo::collection::Collection;
use urepo::holdings::{OriginalError, Peers, UnseenRule};
use urepo::identity::RepositoryName;
use urepo::transfer::{
    Finished, PeerLookup, Rules, TransferError, Verb, finish_pending, record_again, unrecorded,
};

use super::cut_short::{Cut, cut_with, finish};
use super::pairs::delete;
use super::put_back::put_back;
use super::support::{Pair, State};
use crate::support::{agent, copy_tree, waiter};

/// The state in which a collection is put back.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Back {
    /// It is not put back.
    Present,
    /// Before the hand-over.
    Before,
    /// The receiver has the Copy, with the mark.
    Published,
    /// The giver has the mark as well.
    Committed,
}

/// Who has lost `.urepo`, or only the journal.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    None,
    Journal,
    Giver,
    Receiver,
}

const BACKS: [Back; 4] = [Back::Present, Back::Before, Back::Published, Back::Committed];
const LOSSES: [Loss; 4] = [Loss::None, Loss::Journal, Loss::Giver, Loss::Receiver];

/// The knowledge of the third collection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Third {
    Seen,
    NotMounted,
    /// It is not mounted, and a person says that it is lost.
    Gone,
}

/// The further way of the Original.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Since {
    /// It is at the receiver.
    Stayed,
    /// It is in the third collection.
    PassedOn,
    /// It was deleted there.
    Deleted,
}

/// A finished hand-over, with backups of both sides in each state.
struct Restored {
    pair: Pair,
    name: RepositoryName,
}

/// The state in each collection, and whether there is a mark.
type States = [Option<(State, bool)>; 3];

impl Restored {
    fn new(leave_copy: bool, since: Since) -> Restored {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        pair.third();
        let it = Restored { pair, name };
        it.back_up(Back::Before);
        it.pair.clock.set("2026-11-21T04:00:00Z");
        it.pair.run(Verb::Copy, Rules::default());
        cut_with(&it.pair, &it.name, Cut::Given, Rules { leave_copy, ..Rules::default() });
        it.back_up(Back::Committed);
        copy_tree(&it.backup(0, Back::Before), &it.backup(0, Back::Published));
        let journal = |back| it.backup(0, back).join(".urepo/journal");
        copy_tree(&journal(Back::Committed), &journal(Back::Published));
        copy_tree(&it.backup(1, Back::Committed), &it.backup(1, Back::Published));
        it.pair.clock.set("2026-11-21T05:00:00Z");
        finish(&it.pair).unwrap();
        it.pair.clock.set("2026-11-21T06:00:00Z");
        let third = it.pair.third();
        if since != Since::Stayed {
            it.pair.run_between(&it.pair.to(), &third, Verb::Migrate, Rules::default());
        }
        if since == Since::Deleted {
            delete(&it.pair, &third, &it.name);
        }
        it.back_up(Back::Present);
        it.pair.clock.set("2026-11-21T07:00:00Z");
        it
    }

    fn backup(&self, at: usize, back: Back) -> PathBuf {
        self.pair.root(0).with_file_name(format!("{at}-{back:?}"))
    }

    fn back_up(&self, back: Back) {
        for at in [0, 1] {
            copy_tree(self.pair.root(at), &self.backup(at, back));
        }
    }

    fn put_back(&self, backs: [Back; 2], loss: Loss) {
        for (at, back) in backs.into_iter().enumerate() {
            put_back(self.pair.root(at), &self.backup(at, back));
        }
        let lost = match loss {
            Loss::None => return,
            Loss::Journal => self.pair.root(0).join(".urepo/journal"),
            Loss::Giver => self.pair.root(0).join(".urepo"),
            Loss::Receiver => self.pair.root(1).join(".urepo"),
        };
        let _ = std::fs::remove_dir_all(lost);
    }

    fn states(&self) -> States {
        [self.pair.from(), self.pair.to(), self.pair.third()].map(|collection| {
            let (sidecar, _) = collection.item(&self.name).ok()?.sidecar().unwrap();
            Some((sidecar.state, sidecar.handover.is_some()))
        })
    }

    /// Recovers one side, as `recover --inventory` does, and returns why hand-overs stay open.
    fn recover(&self, here: &Collection, third: Third) -> Vec<TransferError> {
        let mut all = vec![self.pair.from(), self.pair.to()];
        all.extend((third == Third::Seen).then(|| self.pair.third()));
        let missing = if third == Third::Seen { vec![] } else { vec!["third".to_owned()] };
        let unseen = if third == Third::Gone { UnseenRule::Accept } else { UnseenRule::Refuse };
        let peers = Peers { collections: &all, missing: &missing, unseen };
        let (agent, waiter) = (agent(), waiter(&self.pair.clock));
        let (givers, mut ends) = record_again(here, peers, &agent, &waiter).unwrap();
        let reach = PeerLookup { named: &[here], others: peers };
        let besides = givers.into_iter().filter(|giver| giver.id() != here.id());
        for giver in std::iter::once(here).chain(besides) {
            ends.extend(finish_pending(giver, reach, &agent, &waiter).unwrap());
        }
        ends.into_iter().filter_map(|Finished { result, .. }| result.err()).collect()
    }

    /// Recovers both sides.
    fn recover_both(&self, first: usize, third: Third) -> Vec<TransferError> {
        let sides = [self.pair.from(), self.pair.to()];
        let mut open = self.recover(&sides[first], third);
        open.extend(self.recover(&sides[1 - first], third));
        open
    }
}

fn originals(states: &States) -> usize {
    states.iter().flatten().filter(|(state, _)| *state == State::Original).count()
}

fn is_marked(states: &States) -> bool {
    states.iter().flatten().any(|(_, is_marked)| *is_marked)
}

/// Calls `check` for every way in which both sides come back.
fn every_way(mut check: impl FnMut(&Restored, &str)) {
    let each = |since| [(false, since), (true, since)];
    let histories = [Since::Stayed, Since::PassedOn, Since::Deleted].map(each);
    for (leave_copy, since) in histories.into_iter().flatten() {
        let restored = Restored::new(leave_copy, since);
        for giver in BACKS {
            for receiver in [Back::Present, Back::Before, Back::Published] {
                for loss in LOSSES {
                    restored.put_back([giver, receiver], loss);
                    let way = format!("{giver:?}, {receiver:?}, {loss:?}");
                    check(&restored, &format!("{way}, {leave_copy}, {since:?}"));
                }
            }
        }
    }
}

#[test]
fn recovery_makes_one_original_of_every_hand_over_that_a_sidecar_shows() {
    let mut first = 0;
    every_way(|it, way| {
        first = 1 - first;
        let before = it.states();
        let open = it.recover_both(first, Third::Seen);
        let mut after = it.states();
        // An Original that was put back beside another one, or after its deletion, is reported.
        let is_deleted = before[2].is_some_and(|(state, _)| state == State::Deleted);
        let is_open = is_marked(&after) || originals(&before) + usize::from(is_deleted) > 1;
        assert!(open.is_empty() || is_open, "{way}: {open:?}");
        if is_marked(&after) {
            // The giver has lost its inventory, and a person says that no other collection has the Original.
            let [TransferError::Original(OriginalError::Untraced { .. }), ..] = open[..] else {
                panic!("{way}: {open:?}");
            };
            assert_eq!(it.recover_both(first, Third::Gone).len(), 0, "{way}");
            after = it.states();
        }
        let expected = originals(&before).max((is_marked(&before) && !is_deleted).into());
        assert_eq!(originals(&after), expected, "{way}: {before:?} became {after:?}");
    });
}

#[test]
fn recovery_makes_no_second_original_while_a_collection_is_not_mounted() {
    every_way(|it, way| {
        let before = it.states();
        let open = it.recover_both(0, Third::NotMounted);
        let after = it.states();
        assert!(originals(&after) <= originals(&before).max(1), "{way}: {after:?} {open:?}");
        if is_marked(&after) {
            assert!(matches!(open[0], TransferError::Original(OriginalError::Unseen { .. })));
        }
        it.recover_both(1, Third::Seen);
        let after = it.states();
        assert!(originals(&after) <= originals(&before).max(1), "{way}: {after:?}");
    });
}

/// The third collection of the settings is none of the two sides.
#[test]
fn a_hand_over_with_an_unknown_collection_stays_open() {
    let it = Restored::new(false, Since::Stayed);
    it.put_back([Back::Committed, Back::Published], Loss::Journal);
    for here in [it.pair.from(), it.pair.to()] {
        let third = [it.pair.third()];
        let known = Peers { collections: &third, ..Peers::default() };
        assert_eq!(unrecorded(&here, known).unwrap(), std::slice::from_ref(&it.name));
        let before = it.states();
        let (givers, open) = record_again(&here, known, &agent(), &waiter(&it.pair.clock)).unwrap();
        assert_eq!((givers.len(), it.pair.journals()), (0, 0));
        let [Finished { result: Err(TransferError::OtherSideUnknown { .. }), .. }] = &open[..]
        else {
            panic!("{open:?}");
        };
        assert_eq!(it.states(), before);
    }
}
