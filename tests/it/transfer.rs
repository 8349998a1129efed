//! Copying and migrating between collections.

mod beside;
mod cut_short;
mod faults;
mod giver_damaged;
mod hostile;
mod pairs;
mod power;
mod proofs;
mod put_back;
mod renamed;
mod resume;
mod states;
mod stops;
mod support;
mod travel;
mod twice;
mod unlisted;
mod unrecorded;

use urepo::collection::Collection;
use urepo::disk::Watcher;
use urepo::transfer::{Refusal, Replaces, Rules, Step, TransferError, Verb};

use crate::support::{staged, whole_items};
pub(crate) use support::edit;
use support::{Pair, State, copy_rules, step};

#[test]
fn a_copy_is_the_same_and_says_where_it_comes_from() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let outcomes = pair.run(Verb::Copy, Rules::default());
    assert_eq!(step(&outcomes[0]), Step::Copy(Replaces::Nothing));
    assert_eq!(whole_items(&pair.to()), [name.to_string()]);
    let (from, to) = (pair.sidecar_at_source(&name), pair.sidecar_at_destination(&name));
    assert_eq!(to.state, urepo::item::State::Copy);
    assert_eq!(
        (&to.files, &to.payload, to.timestamp),
        (&from.files, &from.payload, from.timestamp)
    );
    assert_eq!(to.origin["collection"].as_str(), Some(pair.from().id()));
    assert_eq!(staged(pair.to().path()), [""; 0]);
    // Modes, times, links and empty directories are the same, too.
    assert!(pair.is_clean(), "verify finds nothing in either");
    // A second run reads no payload and changes nothing.
    assert_eq!(step(&pair.run(Verb::Copy, Rules::default())[0]), Step::Skip);
}

#[test]
fn a_copy_of_a_copy_is_of_the_same_original() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    let third = pair.third();
    let outcomes = pair.run_between(&pair.to(), &third, Verb::Copy, Rules::default());
    assert_eq!(step(&outcomes[0]), Step::Copy(Replaces::Nothing));
    let sidecar = third.item(&name).unwrap().sidecar().unwrap().0;
    assert_eq!(sidecar.origin["collection"].as_str(), Some(pair.from().id()));
    assert_eq!(sidecar.origin["through"].as_str(), Some(pair.to().id()));
}

#[test]
fn an_original_migrates_there_and_back() {
    for rules in [Rules::default(), Rules { leave_copy: true, ..Rules::default() }] {
        for other_file_system in [false, true] {
            let pair = if other_file_system { Pair::across() } else { Pair::new() };
            let name = pair.deposit_tree();
            for _ in 0..2 {
                let before = pair.sidecar_at_source(&name);
                let outcomes = pair.run(Verb::Migrate, rules);
                assert!(matches!(step(&outcomes[0]), Step::HandOver(_)));
                assert!(pair.is_clean());
                let after = pair.sidecar_at_destination(&name);
                assert_eq!(after.state, urepo::item::State::Original);
                assert_eq!(after.handover, None);
                assert_eq!(after.files, before.files);
                let left = pair.from().item(&name).ok().map(|item| item.sidecar().unwrap().0);
                assert_eq!(left.is_some(), rules.leave_copy);
                if let Some(left) = left {
                    assert_eq!((left.state, left.handover), (State::Copy, None));
                    assert_eq!(left.origin["collection"].as_str(), Some(pair.to().id()));
                }
                assert_eq!(pair.journals(), 0);
                pair.turn();
            }
        }
    }
}

#[test]
fn damage_at_the_source_is_never_copied() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let file = pair.from().item(&name).unwrap().payload_path().join("sub/b.bin");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[17] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    for verb in [Verb::Copy, Verb::Migrate] {
        let rules = Rules { leave_copy: true, ..Rules::default() };
        let outcome = pair.run(verb, rules).remove(0).result;
        assert!(matches!(outcome, Err(TransferError::Damaged { .. })), "{outcome:?}");
        assert!(whole_items(&pair.to()).is_empty());
        assert_eq!(pair.sidecar_at_source(&name).state, State::Original);
    }
}

#[test]
fn a_stale_copy_is_refreshed_by_its_changed_files_only() {
    use std::os::unix::fs::MetadataExt;
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    let kept = pair.to().item(&name).unwrap().payload_path().join("sub/b.bin");
    let inode = std::fs::metadata(&kept).unwrap().ino();
    pair.edit_source(&name, "a.txt", b"changed");
    let refused = pair.run(Verb::Copy, Rules::default()).remove(0).result;
    let Err(TransferError::Refused { refusal, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal, Refusal::Stale);
    let outcomes = pair.run(Verb::Copy, copy_rules(true, false));
    assert_eq!(step(&outcomes[0]), Step::Copy(Replaces::Copy));
    assert_eq!(pair.sidecar_at_destination(&name).files, pair.sidecar_at_source(&name).files);
    assert_eq!(
        std::fs::metadata(&kept).unwrap().ino(),
        inode,
        "the large file was not copied again"
    );
    assert!(pair.is_clean());
    assert_eq!(staged(pair.to().path()), [""; 0]);
}

#[test]
fn a_damaged_copy_is_believed_but_not_by_a_migration() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    let file = pair.to().item(&name).unwrap().payload_path().join("a.txt");
    std::fs::write(&file, "b").unwrap();
    assert_eq!(step(&pair.run(Verb::Copy, Rules::default())[0]), Step::Skip);
    // An Original does not come to stand on it: what is damaged is copied anew.
    let outcomes = pair.run(Verb::Migrate, Rules { leave_copy: true, ..Rules::default() });
    assert_eq!(step(&outcomes[0]), Step::HandOver(Replaces::Copy));
    assert!(pair.is_clean());
    assert_eq!(whole_items(&pair.to()), [name.to_string()]);
}

#[test]
fn other_spellings_of_a_prefix_are_the_same_item() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let [subdomain, word, ..] = name.components();
    let there = pair.to().path().join(subdomain.to_uppercase()).join(word.to_uppercase());
    std::fs::create_dir_all(&there).unwrap();
    pair.run(Verb::Copy, Rules::default());
    assert!(there.join(name.suffix()).join("item.toml").is_file(), "where its prefix is already");
    assert_eq!(step(&pair.run(Verb::Copy, Rules::default())[0]), Step::Skip);
}

#[test]
fn a_collection_is_not_copied_onto_itself() {
    let pair = Pair::new();
    pair.deposit_tree();
    let again = Collection::open(pair.from().path(), &Watcher::default()).unwrap();
    let summary = pair.try_between(&pair.from(), &again, Verb::Copy, Rules::default(), |_| ());
    assert!(matches!(summary.fatal, Some(TransferError::SameCollection(_))), "{summary:?}");
}

#[test]
fn two_migrations_to_two_places_end_with_one_original() {
    let pair = Pair::across();
    let name = pair.deposit_tree();
    let third = pair.third();
    let (from, to) = (pair.from(), pair.to());
    let outcomes: Vec<_> = std::thread::scope(|threads| {
        let runs = [&to, &third].map(|to| {
            let (pair, from, name) = (&pair, &from, &name);
            threads.spawn(move || pair.migrate_one(from, to, name))
        });
        runs.into_iter().map(|run| run.join().unwrap().result).collect()
    });
    let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(won, 1, "{outcomes:?}");
    let originals = [&from, &to, &third]
        .iter()
        .filter_map(|at| at.item(&name).ok())
        .filter(|item| item.sidecar().unwrap().0.state == State::Original)
        .count();
    assert_eq!(originals, 1, "{outcomes:?}");
}
