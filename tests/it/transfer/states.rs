//! Every cell of the table of states [design 3]: what the source has, what the destination has, what
//! is asked for, and what comes of it.

use urepo::collection::{Certainty, Collection, CollectionError};
use urepo::holdings::{OriginalError, Peers, UnseenRule};
use urepo::identity::RepositoryName;
use urepo::transfer::{Refusal, Replaces, Rules, Step, TransferError, Verb};

use super::support::{Pair, State, copy_rules, edit, rewrite, step};
use crate::support::{append, inventory_file, inventory_line};

/// What the destination has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum There {
    Nothing,
    /// In this state, with the same content.
    Same(State),
    /// In this state, with the content before the last change.
    Older(State),
    /// In this state, later than the source, with other content.
    Other(State),
}

/// Makes both sides as they are to be.
fn arrange(from: State, there: There) -> Pair {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    if let There::Same(_) | There::Older(_) | There::Other(_) = there {
        pair.run(Verb::Copy, Rules::default());
    }
    match there {
        There::Older(_) => pair.edit_source(&name, "a.txt", b"later"),
        There::Other(_) => edit(&pair.to(), &name, "a.txt", b"other"),
        There::Same(_) | There::Nothing => {}
    }
    let set = |collection: &urepo::collection::Collection, state: State| {
        if state == State::Deleted {
            std::fs::remove_dir_all(collection.item(&name).unwrap().payload_path()).unwrap();
        }
        rewrite(collection, &name, |sidecar| {
            sidecar.state = state;
            if state == State::Copy {
                sidecar.origin.entry("copied").or_insert("2026-11-22T00:00:00Z".into());
            }
        });
    };
    set(&pair.from(), from);
    if let There::Same(state) | There::Older(state) | There::Other(state) = there {
        set(&pair.to(), state);
    }
    pair
}

fn outcome(from: State, there: There, verb: Verb, rules: Rules) -> Result<Step, Refusal> {
    let pair = arrange(from, there);
    let before = pair_state(&pair);
    let outcome = pair.run(verb, rules).remove(0).result;
    match outcome {
        Ok(transferred) => Ok(transferred.step),
        Err(TransferError::Refused { refusal, .. }) => {
            assert_eq!(pair_state(&pair), before, "a refusal touches nothing");
            Err(refusal)
        }
        Err(error) => panic!("{from:?} {there:?} {verb:?}: {error:?}"),
    }
}

/// Everything in both collections but their own directories.
fn pair_state(pair: &Pair) -> Vec<String> {
    let roots = [pair.root(0), pair.root(1)];
    let lines = roots.iter().flat_map(|root| crate::support::tree(root));
    lines.filter(|line| !line.starts_with(".urepo")).collect()
}

#[test]
fn every_cell() {
    use Refusal as No;
    use State::{Copy, Deleted, Original};
    use Step::{Copy as Get, DropCopy, HandOver, MoveCopy, Skip};
    use There::{Nothing, Older, Other, Same};
    use Verb::{Copy as Cp, Migrate as Mv};
    let plain = Rules::default();
    let refresh = copy_rules(true, false);
    let revive = copy_rules(false, true);
    let leave = Rules { leave_copy: true, ..plain };
    for (from, there, verb, rules, expected) in [
        (Original, Nothing, Cp, plain, Ok(Get(Replaces::Nothing))),
        (Original, Nothing, Mv, plain, Ok(HandOver(Replaces::Nothing))),
        (Original, Same(Copy), Cp, plain, Ok(Skip)),
        (Original, Same(Copy), Mv, plain, Ok(HandOver(Replaces::Copy))),
        (Original, Older(Copy), Cp, plain, Err(No::Stale)),
        (Original, Older(Copy), Cp, refresh, Ok(Get(Replaces::Copy))),
        (Original, Older(Copy), Mv, plain, Ok(HandOver(Replaces::Copy))),
        (Original, Other(Copy), Cp, refresh, Err(No::OtherContent)),
        (Original, Other(Copy), Mv, plain, Err(No::OtherContent)),
        (Original, Same(Original), Cp, plain, Err(No::TwoOriginals)),
        (Original, Same(Original), Mv, plain, Err(No::TwoOriginals)),
        (Original, Older(Original), Cp, refresh, Err(No::TwoOriginals)),
        (Original, Same(Deleted), Cp, plain, Err(No::Tombstone)),
        (Original, Same(Deleted), Mv, plain, Err(No::Tombstone)),
        (Original, Same(Deleted), Cp, revive, Ok(Get(Replaces::Tombstone))),
        (Original, Same(Deleted), Mv, revive, Ok(HandOver(Replaces::Tombstone))),
        (Copy, Nothing, Cp, plain, Ok(Get(Replaces::Nothing))),
        (Copy, Nothing, Mv, plain, Ok(MoveCopy)),
        (Copy, Nothing, Mv, leave, Ok(Get(Replaces::Nothing))),
        (Copy, Same(Copy), Cp, plain, Ok(Skip)),
        (Copy, Same(Copy), Mv, plain, Ok(DropCopy)),
        (Copy, Same(Copy), Mv, leave, Ok(Skip)),
        (Copy, Older(Copy), Cp, refresh, Err(No::OnlyFromOriginal)),
        (Copy, Older(Copy), Mv, plain, Err(No::OnlyFromOriginal)),
        (Copy, Other(Copy), Cp, refresh, Err(No::OtherContent)),
        (Copy, Same(Original), Cp, plain, Ok(Skip)),
        (Copy, Other(Original), Cp, plain, Ok(Skip)),
        (Copy, Older(Original), Cp, refresh, Err(No::OtherContent)),
        (Copy, Same(Original), Mv, plain, Err(No::HoldsOriginal)),
        (Copy, Same(Original), Mv, leave, Ok(Skip)),
        (Copy, Other(Original), Mv, leave, Ok(Skip)),
        (Copy, Older(Original), Mv, leave, Err(No::HoldsOriginal)),
        (Copy, Same(Deleted), Cp, plain, Err(No::Tombstone)),
        (Copy, Same(Deleted), Cp, revive, Err(No::DeletedElsewhere)),
        (Copy, Same(Deleted), Mv, revive, Err(No::Tombstone)),
        (Deleted, Nothing, Cp, plain, Err(No::SourceDeleted)),
        (Deleted, Nothing, Mv, plain, Err(No::SourceDeleted)),
        (Deleted, Same(Copy), Cp, plain, Err(No::SourceDeleted)),
        (Deleted, Same(Original), Mv, revive, Err(No::SourceDeleted)),
        (Deleted, Same(Deleted), Cp, revive, Err(No::SourceDeleted)),
    ] {
        let found = outcome(from, there, verb, rules);
        assert_eq!(found, expected, "{from:?} -> {there:?}, {verb:?}, {rules:?}");
    }
}

#[test]
fn what_may_not_migrate_stays() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    rewrite(&pair.from(), &name, |sidecar| sidecar.transferable = false);
    let Err(TransferError::Refused { refusal, .. }) =
        pair.run(Verb::Migrate, Rules::default()).remove(0).result
    else {
        panic!("it migrated")
    };
    assert_eq!(refusal, Refusal::NotTransferable);
    assert!(pair.run(Verb::Copy, Rules::default()).remove(0).result.is_ok());
}

/// After each step, both sides are whole, and there is one Original.
#[test]
fn whatever_is_done_leaves_both_sides_whole() {
    use State::{Copy, Deleted, Original};
    use There::{Nothing, Older, Same};
    for leave_copy in [false, true] {
        for (from, there, verb) in [
            (Original, Nothing, Verb::Copy),
            (Original, Older(Copy), Verb::Copy),
            (Original, Same(Deleted), Verb::Copy),
            (Original, Nothing, Verb::Migrate),
            (Original, Same(Copy), Verb::Migrate),
            (Original, Older(Copy), Verb::Migrate),
            (Original, Same(Deleted), Verb::Migrate),
            (Copy, Nothing, Verb::Migrate),
            (Copy, Same(Copy), Verb::Migrate),
        ] {
            let pair = arrange(from, there);
            let rules = Rules { refresh: true, revive: true, leave_copy };
            pair.run(verb, rules).remove(0).result.unwrap();
            assert!(pair.is_clean(), "{from:?} -> {there:?} {verb:?}");
            assert_eq!(pair.journals(), 0);
            for root in [pair.root(0), pair.root(1)] {
                assert_eq!(crate::support::staged(root), [""; 0]);
            }
        }
    }
}

/// The collection `at` recorded that the item left for another one; its directory was put back by hand.
fn put_back(at: &Collection, name: &RepositoryName) {
    let line = format!("left {name} migrated 60cb73fd elsewhere");
    append(
        &inventory_file(at.path(), name.as_str()),
        &inventory_line("2026-11-23T10:00:00Z", &line),
    );
}

#[test]
fn an_original_that_left_is_not_handed_over() {
    for (there, verb, rules) in [
        (There::Nothing, Verb::Migrate, Rules::default()),
        (There::Same(State::Copy), Verb::Migrate, Rules::default()),
        (There::Same(State::Deleted), Verb::Migrate, copy_rules(false, true)),
        (There::Same(State::Deleted), Verb::Copy, copy_rules(false, true)),
    ] {
        let pair = arrange(State::Original, there);
        let name = pair.names().remove(0);
        put_back(&pair.from(), &name);
        let before = pair_state(&pair);
        for outcomes in [pair.plan(verb, rules), pair.run(verb, rules)] {
            let Err(TransferError::Original(OriginalError::Departed { line, .. })) =
                &outcomes[0].result
            else {
                panic!("{there:?} {verb:?}: {outcomes:?}")
            };
            assert!(line.to_string().contains("`elsewhere` (60cb73fd)"), "{line}");
        }
        assert_eq!(pair_state(&pair), before);
    }
    // A Copy does no harm.
    let pair = arrange(State::Original, There::Nothing);
    put_back(&pair.from(), &pair.names()[0]);
    assert_eq!(step(&pair.run(Verb::Copy, Rules::default())[0]), Step::Copy(Replaces::Nothing));
}

/// The source's Copy of a deleted Original, and a collection that may hold the Original by now.
#[test]
fn a_deleted_original_comes_back_from_a_copy_only_if_no_other_may_exist() {
    let setup = || {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        pair.run_between(&pair.from(), &pair.third(), Verb::Copy, Rules::default());
        pair.run(Verb::Copy, Rules::default());
        std::fs::remove_dir_all(pair.from().item(&name).unwrap().payload_path()).unwrap();
        rewrite(&pair.from(), &name, |sidecar| sidecar.state = State::Deleted);
        let line = inventory_line("2026-11-23T10:00:00Z", &format!("became {name} Deleted"));
        append(&inventory_file(pair.from().path(), name.as_str()), &line);
        pair.turn();
        (pair, name)
    };
    let revive = |pair: &Pair, peers: Peers<'_>| {
        let to = pair.to();
        let all = urepo::collection::Names::default();
        let mut outcomes = Vec::new();
        let mut each = |outcome| outcomes.push(outcome);
        let (from, rules) = (pair.from(), copy_rules(false, true));
        pair.transfer_asking(peers, &from, &to, (Verb::Copy, rules), all.feed(&from), &mut each)
            .unwrap();
        outcomes.remove(0).result
    };
    let (pair, name) = setup();
    let missing = ["disk".to_owned()];
    let peers = Peers { missing: &missing, ..Peers::default() };
    let unseen = revive(&pair, peers);
    let Err(TransferError::Original(OriginalError::Unseen { .. })) = unseen else {
        panic!("{unseen:?}")
    };
    let third = [pair.third()];
    rewrite(&third[0], &name, |sidecar| sidecar.state = State::Original);
    let peers = Peers { collections: &third, unseen: UnseenRule::Accept, ..Peers::default() };
    let elsewhere = revive(&pair, peers);
    let Err(TransferError::Original(OriginalError::Elsewhere { path, .. })) = elsewhere else {
        panic!("{elsewhere:?}")
    };
    assert_eq!(path, third[0].path());
    assert_eq!(pair.sidecar_at_destination(&name).state, State::Deleted);
    // Nobody is missing, and the third is a Copy.
    rewrite(&third[0], &name, |sidecar| sidecar.state = State::Copy);
    let peers = Peers { collections: &third, ..Peers::default() };
    assert_eq!(revive(&pair, peers).unwrap().step, Step::Revive);
    assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
}

/// What a collection should hold as an Original or a tombstone and does not is damage, which a Copy would hide.
#[test]
fn a_lost_original_is_not_replaced_by_a_copy() {
    use Certainty::{Certain, Doubtful};
    let cases = [
        (State::Original, Certain),
        (State::Deleted, Certain),
        (State::Copy, Certain),
        (State::Original, Doubtful),
    ];
    for (state, certainty) in cases {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        pair.run(Verb::Copy, Rules::default());
        if state == State::Copy {
            pair.turn();
        }
        let to = pair.from();
        if state == State::Deleted {
            let line = inventory_line("2026-11-23T10:00:00Z", &format!("became {name} Deleted"));
            append(&inventory_file(to.path(), name.as_str()), &line);
        }
        if certainty == Doubtful {
            append(&inventory_file(to.path(), name.as_str()), "2026-11-23T10:00:00Z rot\n");
        }
        std::fs::remove_dir_all(to.item(&name).unwrap().path()).unwrap();
        for verb in [Verb::Copy, Verb::Migrate] {
            let outcome = pair.run_between(&pair.to(), &to, verb, Rules::default()).remove(0);
            match outcome.result {
                Err(TransferError::Collection(error)) if state != State::Copy => {
                    assert!(matches!(*error, CollectionError::Vanished { .. }), "{error:?}");
                }
                Ok(_) if state == State::Copy => {}
                result => panic!("{state:?} {verb:?}: {result:?}"),
            }
        }
    }
}
