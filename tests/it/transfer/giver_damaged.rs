//! Hand-overs that were cut short, and the giver's sidecar was damaged since.

use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::disk::Operation;
use urepo::identity::RepositoryName;
use urepo::repair::Outcome;
use urepo::transfer::{HandoverEnd, Rules, TransferError, Verb};

use super::cut_short::{Cut, cut_with, finish};
use super::renamed::Refuses;
use super::support::{Pair, State, findings, repair_from};
use crate::support::whole_items;

/// Cuts a migration short before the giver's sidecar says Copy.
fn cut_before(pair: &Pair, name: &RepositoryName, rules: Rules) {
    let sidecar = pair.root(0).join(name.as_str()).join("item.toml");
    let (from, to) =
        pair.watched(Arc::new(Refuses(Operation::Rename, sidecar, Errno::IO))).unwrap();
    pair.try_between(&from, &to, Verb::Migrate, rules, |_| {});
    assert_eq!(pair.sidecar_at_source(name).state, State::Original);
    assert!(pair.sidecar_at_destination(name).handover.is_some());
    assert_eq!(pair.journals(), 1);
}

fn cut_at(cut: Option<Cut>, leave_copy: bool) -> (Pair, RepositoryName) {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    let rules = Rules { leave_copy, ..Rules::default() };
    match cut {
        None => cut_before(&pair, &name, rules),
        // Before the inventory of the receiver tells of it.
        Some(Cut::Received) if leave_copy => {
            cut_with(&pair, &name, Cut::Given, rules);
            super::support::rewrite(&pair.to(), &name, |sidecar| {
                sidecar.state = State::Original;
                sidecar.handover = None;
            });
        }
        Some(cut) => cut_with(&pair, &name, cut, rules),
    }
    (pair, name)
}

pub(super) fn replace(sidecar: &Path, damage: (&str, &str)) {
    let text = std::fs::read_to_string(sidecar).unwrap();
    assert!(text.contains(damage.0), "{text}");
    std::fs::write(sidecar, text.replace(damage.0, damage.1)).unwrap();
}

const CUTS: [Option<Cut>; 3] = [None, Some(Cut::Given), Some(Cut::Received)];

/// `recover` names the repair, and does the rest after it.
#[test]
fn a_lost_sidecar_of_the_giver_is_repaired_from_the_receiver() {
    let removal = |sidecar: &Path| std::fs::remove_file(sidecar).unwrap();
    let emptied = |sidecar: &Path| std::fs::write(sidecar, "").unwrap();
    let damages: [&dyn Fn(&Path); 2] = [&removal, &emptied];
    for (cut, leave_copy) in CUTS.into_iter().flat_map(|cut| [(cut, false), (cut, true)]) {
        for damage in damages {
            let (pair, name) = cut_at(cut, leave_copy);
            damage(&pair.from().item(&name).unwrap().path_of("item.toml"));
            for _ in 0..2 {
                let end = finish(&pair);
                assert!(matches!(end, Err(TransferError::GivenDamaged { .. })), "{cut:?} {end:?}");
                assert_eq!(pair.journals(), 1);
            }
            let outcome = repair_from(&pair, &pair.from(), pair.to(), &name);
            assert!(matches!(outcome, Ok(Outcome::Repaired(_))), "{cut:?} {outcome:?}");
            let end = finish(&pair).unwrap();
            let was_received = cut == Some(Cut::Received);
            let expected =
                if was_received { HandoverEnd::HandedOver } else { HandoverEnd::Withdrawn };
            assert_eq!(end, expected, "{cut:?}");
            let states =
                [pair.sidecar_at_source(&name).state, pair.sidecar_at_destination(&name).state];
            let (original, copy) = (State::Original, State::Copy);
            let expected = if was_received { [copy, original] } else { [original, copy] };
            assert_eq!(states, expected, "{cut:?}");
            assert_eq!((pair.is_clean(), pair.journals()), (true, 0), "{cut:?}");
            pair.run(Verb::Migrate, Rules::default());
            assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
        }
    }
}

/// A mark comes into it at the commit point only.
#[test]
fn a_damaged_sidecar_with_the_mark_is_that_of_a_copy() {
    let token = |sidecar: &Path| {
        let text = std::fs::read_to_string(sidecar).unwrap();
        let token = text.split("token = \"").nth(1).unwrap()[..8].to_owned();
        replace(sidecar, (&token, "01234567"));
    };
    let title = |sidecar: &Path| replace(sidecar, ("bytes = 1\n", "bytes = 2\n"));
    let seal = |sidecar: &Path| replace(sidecar, ("[seal]", "[sea1]"));
    let damages: [&dyn Fn(&Path); 3] = [&token, &title, &seal];
    for cut in [Some(Cut::Given), Some(Cut::Received)] {
        for (damage, leave_copy) in damages.iter().flat_map(|it| [(it, false), (it, true)]) {
            let (pair, name) = cut_at(cut, leave_copy);
            damage(&pair.from().item(&name).unwrap().path_of("item.toml"));
            assert_eq!(finish(&pair).unwrap(), HandoverEnd::HandedOver, "{cut:?}");
            assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
            assert_eq!(whole_items(&pair.to()), [name.to_string()]);
            assert_eq!(pair.from().item(&name).is_ok(), leave_copy);
            if leave_copy {
                let left = pair.sidecar_at_source(&name);
                assert_eq!((left.state, left.handover), (State::Copy, None));
            }
            assert_eq!(pair.journals(), 0);
            for side in [pair.from(), pair.to()] {
                assert_eq!(findings(&side), [""; 0], "{cut:?}");
            }
        }
    }
}

/// The receiver's is older then.
#[test]
fn an_edited_sidecar_of_the_giver_is_not_replaced() {
    let (pair, name) = cut_at(None, false);
    let sidecar = pair.from().item(&name).unwrap().path_of("item.toml");
    replace(&sidecar, ("transferable = true", "transferable = false"));
    let edited = std::fs::read(&sidecar).unwrap();
    assert!(matches!(finish(&pair), Err(TransferError::GivenDamaged { .. })));
    assert_eq!(std::fs::read(&sidecar).unwrap(), edited);
    let received = pair.sidecar_at_destination(&name);
    assert_eq!((received.state, received.handover), (State::Copy, None));
}
