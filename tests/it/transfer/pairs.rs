//! A hand-over that was cut short, then another command on the same item: recovery ends it all the same.

use std::sync::Arc;
use std::time::Duration;

use urepo::agent::Caller;
use urepo::collection::{Collection, recover};
use urepo::holdings::Peers;
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::removal::{DamageRule, LastRule, Order, Remover};
use urepo::transfer::{PeerLookup, Rules, Verb, finish_pending};
use urepo::verify::Depth;

use super::support::{Pair, State, findings, records};
use crate::support::{Faults, Mode, agent, caller, staged, waiter};

/// What is done after the hand-over to the destination was cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Second {
    /// The item migrates to a third collection, which has nothing of it, or a Copy.
    Elsewhere { copied: bool, leave_copy: bool },
    /// The receiver hands it on to a third collection.
    HandOn,
    /// The giver deletes it.
    Delete,
    /// The receiver deletes what it has.
    DeleteThere,
}

pub(super) fn delete(pair: &Pair, collection: &Collection, name: &RepositoryName) {
    let (agent, interrupt) = (agent(), Interrupt::default());
    let remover = Remover {
        collection,
        writer: collection.writer(&agent, &waiter(&pair.clock)).unwrap(),
        caller: Caller { wait: Duration::ZERO, ..caller(&agent, &pair.clock, &interrupt) },
    };
    let order = Order {
        by: "somebody".to_owned(),
        reason: None,
        others: &[],
        depth: Depth::Quick,
        last: LastRule::Remove,
        damage: DamageRule::Refuse,
        permanent: urepo::removal::PermanentRule::Refuse,
    };
    let names = [name.clone()];
    let mut deletion = remover.deletion(&names, &order);
    // An item with the mark of a hand-over is refused, which is as good.
    let _ = deletion.delete(name);
    deletion.finish().unwrap();
}

fn cut_short_then(second: Second) {
    let leaving = Rules { leave_copy: true, ..Rules::default() };
    let mut open = 0;
    let template = Pair::across();
    let name = template.deposit_tree();
    let third = template.third();
    if second == (Second::Elsewhere { copied: true, leave_copy: false }) {
        template.run_between(&template.from(), &third, Verb::Copy, Rules::default());
    }
    for at in (40..).step_by(7) {
        let pair = template.twin();
        let third = pair.third();
        let faults = Arc::new(Faults::new(pair.root(0), at, Mode::Killed));
        let (from, to) = pair.watched(Arc::clone(&faults) as _).unwrap();
        let _ = pair.try_between(&from, &to, Verb::Migrate, Rules::default(), |_| ());
        open += usize::from(!records(pair.root(0)).is_empty());
        let (from, to) = (pair.from(), pair.to());
        match second {
            Second::Elsewhere { leave_copy, .. } => {
                let rules = if leave_copy { leaving } else { Rules::default() };
                pair.try_between(&from, &third, Verb::Migrate, rules, |_| ());
            }
            Second::HandOn => {
                pair.try_between(&to, &third, Verb::Migrate, Rules::default(), |_| ());
            }
            Second::Delete if from.item(&name).is_ok() => delete(&pair, &from, &name),
            Second::DeleteThere if to.item(&name).is_ok() => delete(&pair, &to, &name),
            Second::Delete | Second::DeleteThere => {}
        }
        let context = format!("{second:?} {at}: {:?}", faults.struck());
        check(&pair, &name, &[from, to, third], &context);
        if faults.struck().is_none() {
            break;
        }
    }
    assert!(open > 3, "{second:?}: only {open} hand-overs were left open");
}

/// Recovery in every collection ends everything: nothing is pending, one holds the Original or its
/// tombstone, and no mark is left.
fn check(pair: &Pair, name: &RepositoryName, all: &[Collection; 3], context: &str) {
    for giver in all {
        let reach = PeerLookup {
            others: Peers { collections: all, ..Peers::default() },
            ..PeerLookup::default()
        };
        for finished in finish_pending(giver, reach, &agent(), &waiter(&pair.clock)).unwrap() {
            finished.result.unwrap_or_else(|error| panic!("{error:?} {context}"));
        }
        recover(giver, &agent(), &waiter(&pair.clock)).unwrap();
        assert_eq!(records(giver.path()), [""; 0], "{context}");
        assert_eq!(staged(giver.path()), [""; 0], "{context}");
        assert_eq!(findings(giver), [""; 0], "{context}");
    }
    let held = all.iter().filter_map(|it| Some(it.item(name).ok()?.sidecar().unwrap().0));
    let held: Vec<_> = held.collect();
    assert!(held.iter().all(|sidecar| sidecar.handover.is_none()), "{context}");
    let count = |state| held.iter().filter(|sidecar| sidecar.state == state).count();
    let (originals, deleted) = (count(State::Original), count(State::Deleted));
    assert_eq!(originals + deleted, 1, "{originals} and {deleted}, {context}");
}

#[test]
fn it_migrates_elsewhere() {
    cut_short_then(Second::Elsewhere { copied: false, leave_copy: false });
    cut_short_then(Second::Elsewhere { copied: false, leave_copy: true });
}

#[test]
fn it_migrates_onto_a_copy_elsewhere() {
    cut_short_then(Second::Elsewhere { copied: true, leave_copy: false });
}

/// The receiver's inventory keeps saying where the item went.
#[test]
fn it_is_handed_on() {
    cut_short_then(Second::HandOn);
}

#[test]
fn it_is_deleted() {
    cut_short_then(Second::Delete);
}

#[test]
fn it_is_deleted_where_it_went() {
    cut_short_then(Second::DeleteThere);
}
