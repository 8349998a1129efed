//! Migrating off a full disk, for which one may migrate.

use std::sync::Arc;

use urepo::collection::Collection;
use urepo::disk::Watcher;
use urepo::transfer::{Rules, Step, Verb};

use super::support::{Pair, State, step};
use crate::removal::Full;
use crate::support::staged;

/// Migrates all items from `pair` while the giver's disk is full, and says whether it was.
fn migrate_while(full: &Arc<Full>, pair: &Pair, rules: Rules) -> bool {
    let watcher = Watcher::new(Arc::clone(full) as _);
    let from = Collection::open(pair.root(0), &watcher).unwrap();
    let outcomes = pair.run_between(&from, &pair.to(), Verb::Migrate, rules);
    for outcome in &outcomes {
        assert!(matches!(step(outcome), Step::HandOver(_)), "{outcome:?}");
    }
    assert_eq!(staged(pair.root(0)), [""; 0]);
    assert_eq!(pair.journals(), 0);
    let reserve = std::fs::read_dir(pair.root(0).join(".urepo/reserve")).unwrap();
    assert_eq!(reserve.count(), 12);
    full.was_met()
}

/// Wherever the giver's disk becomes full, the reserve is enough for the item to go.
#[test]
fn a_giver_whose_disk_becomes_full_anywhere() {
    let first = Pair::across();
    let name = first.deposit_tree();
    let beside = first.from().item(&name).unwrap().payload_path().join("unlisted");
    std::fs::write(beside, "kept").unwrap();
    for leave_copy in [false, true] {
        for at in 0.. {
            let pair = first.twin();
            let rules = Rules { leave_copy, ..Rules::default() };
            let was_full = migrate_while(&Full::from(at, 1), &pair, rules);
            assert_eq!(pair.sidecar_at_destination(&name).state, State::Original, "at {at}");
            assert_eq!(pair.from().item(&name).is_ok(), leave_copy, "at {at}");
            if !was_full {
                assert!(at > 5, "room was needed {at} times only");
                break;
            }
        }
    }
}
