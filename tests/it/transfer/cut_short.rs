//! Hand-overs that were cut short past the commit point, and what has become of the receiver since.

use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::disk::Operation;
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::repair::{self, LoggedItems, Outcome, Repairer};
use urepo::transfer::{HandoverEnd, PeerLookup, Rules, TransferError, Verb, finish_pending};

use super::renamed::Refuses;
use super::support::{Pair, State, findings};
use crate::support::{agent, caller, waiter, whole_items};

/// The last step that was taken.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// The giver's sidecar says Copy.
    Given,
    /// The receiver's says Original.
    Received,
}

fn cut_short(cut: Cut) -> (Pair, RepositoryName) {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    // Onto a Copy an Original is not renamed.
    pair.run(Verb::Copy, Rules::default());
    let refused = match cut {
        Cut::Given => pair.root(1).join(name.as_str()).join("item.toml"),
        Cut::Received => pair.root(0).join(".urepo/staging"),
    };
    let watch = Arc::new(Refuses(Operation::Rename, refused, Errno::IO));
    let (from, to) = pair.watched(watch).unwrap();
    pair.try_between(&from, &to, Verb::Migrate, Rules::default(), |outcome| {
        assert!(matches!(outcome.result, Err(TransferError::Unfinished { .. })), "{outcome:?}");
    });
    let states = [pair.sidecar_at_source(&name), pair.sidecar_at_destination(&name)];
    let received = if matches!(cut, Cut::Given) { State::Copy } else { State::Original };
    assert_eq!(states.map(|it| it.state), [State::Copy, received], "{cut:?}");
    assert_eq!(pair.journals(), 1);
    (pair, name)
}

fn finish(pair: &Pair) -> Result<HandoverEnd, TransferError> {
    let (from, to) = (pair.from(), pair.to());
    let peer = PeerLookup::Only(&to);
    finish_pending(&from, peer, &agent(), &waiter(&pair.clock)).unwrap().remove(0).result
}

/// Repairs the item at the receiver with the files of the giver.
fn repair_from_giver(pair: &Pair, name: &RepositoryName) -> Outcome {
    let (collection, donors) = (pair.to(), [pair.from()]);
    let (agent, interrupt, logged) = (agent(), Interrupt::default(), LoggedItems::default());
    let repairer = Repairer {
        collection: &collection,
        donors: &donors,
        witnesses: &[],
        options: repair::Options::default(),
        logged: &logged,
        caller: caller(&agent, &pair.clock, &interrupt),
    };
    let writer = collection.writer(&agent, &waiter(&pair.clock)).unwrap();
    repairer.repair(name, &writer).unwrap()
}

/// The giver's files may be the last good ones.
#[test]
fn of_a_receiver_that_is_damaged_the_giver_keeps_the_files() {
    let rot = |doc: &Path| std::fs::write(doc.join("a.txt"), "b").unwrap();
    let removal = |doc: &Path| std::fs::remove_dir_all(doc).unwrap();
    for cut in [Cut::Given, Cut::Received] {
        for damage in [&rot as &dyn Fn(&Path), &removal] {
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
