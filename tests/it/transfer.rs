//! Copying and migrating between collections.

mod arrived;
mod beside;
mod faults;
mod hostile;
mod power;
mod proofs;
mod resume;
mod stops;
mod support;
mod travel;
mod twice;
mod unlisted;

use urepo::collection::{Collection, CollectionError};
use urepo::custody::Refusal;
use urepo::disk::Watcher;
use urepo::transfer::{Leaves, Step, TransferError, Verb};

use crate::support::{staged, whole_items};
pub(crate) use support::edit;
use support::edit_description;
use support::{Pair, State, step};

#[test]
fn a_copy_is_the_same_and_says_where_it_comes_from() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let outcomes = pair.run(Verb::Copy, Leaves::Stub);
    assert_eq!(step(&outcomes[0]), Step::Copy);
    assert_eq!(whole_items(&pair.to()), [name.to_string()]);
    let (from, to) = (pair.sidecar_at_source(&name), pair.sidecar_at_destination(&name));
    assert_eq!(to.state, urepo::item::State::Copy);
    assert_eq!(
        (&to.files, &to.payload, to.timestamp),
        (&from.files, &from.payload, from.timestamp)
    );
    assert_eq!(to.custody, from.custody);
    assert_eq!(to.custody.holder(), pair.from().id());
    assert_eq!(staged(pair.to().path()), [""; 0]);
    // Modes, times, links and empty directories are the same, too.
    assert!(pair.is_clean(), "verify finds nothing in either");
    // A second run reads no payload and changes nothing.
    assert_eq!(step(&pair.run(Verb::Copy, Leaves::Stub)[0]), Step::Nothing);
}

#[test]
fn a_copy_of_a_copy_is_of_the_same_original() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    let third = pair.third();
    let outcomes = pair.run_between(&pair.to(), &third, Verb::Copy, Leaves::Stub);
    assert_eq!(step(&outcomes[0]), Step::Copy);
    let sidecar = third.item(&name).unwrap().sidecar().unwrap().0;
    assert_eq!(sidecar.custody.holder(), pair.from().id());
}

#[test]
fn an_original_migrates_there_and_back() {
    for leaves in [Leaves::Stub, Leaves::Copy] {
        for other_file_system in [false, true] {
            let pair = if other_file_system { Pair::across() } else { Pair::new() };
            let name = pair.deposit_tree();
            for _ in 0..2 {
                let before = pair.sidecar_at_source(&name);
                let outcomes = pair.run(Verb::Migrate, leaves);
                assert!(matches!(step(&outcomes[0]), Step::HandOver));
                assert!(pair.is_clean());
                let after = pair.sidecar_at_destination(&name);
                assert_eq!(after.state, urepo::item::State::Original);
                assert_eq!(after.custody.epoch(), before.custody.epoch() + 1);
                assert!(after.custody.covers(&before.custody));
                assert_eq!(after.files, before.files);
                let left = pair.sidecar_at_source(&name);
                let expected = match leaves {
                    Leaves::Stub => State::Elsewhere,
                    Leaves::Copy => State::Copy,
                };
                assert_eq!((left.state, &left.custody), (expected, &after.custody));
                assert_eq!(left.custody.holder(), pair.to().id());
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
        let rules = Leaves::Copy;
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
    pair.run(Verb::Copy, Leaves::Stub);
    let kept = pair.to().item(&name).unwrap().payload_path().join("sub/b.bin");
    let inode = std::fs::metadata(&kept).unwrap().ino();
    pair.edit_source(&name, "a.txt", b"changed");
    let outcomes = pair.run(Verb::Copy, Leaves::Stub);
    assert_eq!(step(&outcomes[0]), Step::Copy);
    assert_eq!(pair.sidecar_at_destination(&name).files, pair.sidecar_at_source(&name).files);
    assert_eq!(
        std::fs::metadata(&kept).unwrap().ino(),
        inode,
        "the large file was not copied again"
    );
    assert!(pair.is_clean());
    assert_eq!(staged(pair.to().path()), [""; 0]);
}

/// Only the description has changed: no file is read.
#[test]
fn a_copy_gets_the_new_description_alone() {
    use std::os::unix::fs::MetadataExt;
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    let payload = pair.to().item(&name).unwrap().payload_path();
    let inode = std::fs::metadata(&payload).unwrap().ino();
    edit_description(&pair.from(), &name);
    let outcomes = pair.run(Verb::Copy, Leaves::Stub);
    assert_eq!(step(&outcomes[0]), Step::Copy);
    let (from, to) = (pair.sidecar_at_source(&name), pair.sidecar_at_destination(&name));
    assert_eq!((to.state, &to.metadata, &to.custody), (State::Copy, &from.metadata, &from.custody));
    assert_eq!(std::fs::metadata(&payload).unwrap().ino(), inode);
    assert!(pair.is_clean());
}

/// What was changed in both collections is named, and nothing is touched.
#[test]
fn two_lines_of_an_item_are_refused() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    pair.edit_source(&name, "a.txt", b"here");
    edit(&pair.to(), &name, "a.txt", b"there");
    for verb in [Verb::Copy, Verb::Migrate] {
        let result = pair.run(verb, Leaves::Stub).remove(0).result;
        let Err(TransferError::Refused { refusal, .. }) = result else { panic!("{result:?}") };
        assert_eq!(*refusal, Refusal::Fork { at: format!("`{}`", pair.root(1).display()) });
    }
    assert_eq!(pair.sidecar_at_destination(&name).state, State::Copy);
}

#[test]
fn what_may_not_migrate_stays() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    support::rewrite(&pair.from(), &name, |sidecar| sidecar.transferable = false);
    let result = pair.run(Verb::Migrate, Leaves::Stub).remove(0).result;
    assert!(matches!(result, Err(TransferError::NotTransferable { .. })), "{result:?}");
    assert!(pair.run(Verb::Copy, Leaves::Stub).remove(0).result.is_ok());
}

/// What a collection should hold as an Original and does not is damage, which a Copy would hide.
#[test]
fn a_lost_original_is_not_replaced_by_a_copy() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    std::fs::remove_dir_all(pair.from().item(&name).unwrap().path()).unwrap();
    for verb in [Verb::Copy, Verb::Migrate] {
        let result =
            pair.run_between(&pair.to(), &pair.from(), verb, Leaves::Stub).remove(0).result;
        let Err(TransferError::Collection(error)) = result else { panic!("{result:?}") };
        assert!(matches!(*error, CollectionError::Vanished { .. }), "{error:?}");
    }
}

#[test]
fn a_damaged_copy_is_believed_but_not_by_a_migration() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    let file = pair.to().item(&name).unwrap().payload_path().join("a.txt");
    std::fs::write(&file, "b").unwrap();
    assert_eq!(step(&pair.run(Verb::Copy, Leaves::Stub)[0]), Step::Nothing);
    // An Original does not come to stand on it: what is damaged is copied anew.
    let outcomes = pair.run(Verb::Migrate, Leaves::Copy);
    assert_eq!(step(&outcomes[0]), Step::HandOver);
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
    pair.run(Verb::Copy, Leaves::Stub);
    assert!(there.join(name.suffix()).join("item.toml").is_file(), "where its prefix is already");
    assert_eq!(step(&pair.run(Verb::Copy, Leaves::Stub)[0]), Step::Nothing);
}

#[test]
fn a_collection_is_not_copied_onto_itself() {
    let pair = Pair::new();
    pair.deposit_tree();
    let again = Collection::open(pair.from().path(), &Watcher::default()).unwrap();
    let summary = pair.try_between(&pair.from(), &again, Verb::Copy, Leaves::Stub, |_| ());
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
