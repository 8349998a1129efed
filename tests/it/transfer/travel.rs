//! Deletions travel to mirrors, and a tombstone never becomes a Copy of nothing.

use urepo::collection::Collection;
use urepo::identity::RepositoryName;
use urepo::sidecar::{Removal, Sidecar};
use urepo::transfer::{Outcome, Refusal, Replaces, Rules, Step, Tombstones, TransferError, Verb};

use super::support::{Pair, State, copy_rules, findings, rewrite, step};
use crate::support::{append, inventory_file, inventory_line, tree};

fn removal(reason: &str) -> Option<Removal> {
    let (by, reason) = ("somebody".to_owned(), Some(reason.to_owned()));
    Some(Removal { by, reason, was: State::Original, updated: None })
}

/// Deletes the Original in `collection`, as the command does; the payload is purged.
fn delete(collection: &Collection, name: &RepositoryName) {
    record(collection, name, &format!("became {name} Deleted"));
    put_tombstone(collection, name);
}

fn record(collection: &Collection, name: &RepositoryName, line: &str) {
    let file = inventory_file(collection.path(), name.as_str());
    append(&file, &inventory_line("2026-11-23T10:00:00Z", line));
}

/// Puts a tombstone in the place of the Original, by hand.
fn put_tombstone(collection: &Collection, name: &RepositoryName) {
    rewrite(collection, name, |sidecar| {
        sidecar.state = State::Deleted;
        sidecar.timestamp = sidecar.timestamp.checked_add(urepo::identity::SECOND).unwrap();
        sidecar.removal = removal("scanned again");
    });
    std::fs::remove_dir_all(collection.item(name).unwrap().payload_path()).unwrap();
}

fn bring(pair: &Pair, from: &Collection, to: &Collection) -> Vec<Outcome> {
    *pair.tombstones.lock().unwrap() = Tombstones::Bring;
    let outcomes = pair.run_between(from, to, Verb::Copy, Rules::default());
    *pair.tombstones.lock().unwrap() = Tombstones::Refuse;
    outcomes
}

fn held(collection: &Collection, name: &RepositoryName) -> Sidecar {
    collection.item(name).unwrap().sidecar().unwrap().0
}

/// The state by the inventory.
fn recorded(collection: &Collection, name: &RepositoryName) -> Option<State> {
    collection.last_record(name).unwrap().unwrap().line.state()
}

#[test]
fn a_copy_of_what_was_deleted_becomes_a_tombstone() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    delete(&pair.from(), &name);
    // A Copy that has not heard of it yet brings nothing back, and is no failure either.
    assert!(bring(&pair, &pair.to(), &pair.from()).is_empty());
    // The plan changes nothing.
    pair.plans.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(step(&bring(&pair, &pair.from(), &pair.to())[0]), Step::Bury(Replaces::Copy));
    pair.plans.store(false, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(held(&pair.to(), &name).state, State::Copy);

    assert_eq!(step(&bring(&pair, &pair.from(), &pair.to())[0]), Step::Bury(Replaces::Copy));
    let there = held(&pair.to(), &name);
    assert_eq!(there.state, State::Deleted);
    assert_eq!(recorded(&pair.to(), &name), Some(State::Deleted));
    assert_eq!(there.timestamp, held(&pair.from(), &name).timestamp);
    assert_eq!(there.origin["collection"].as_str(), Some(pair.from().id()));
    let removal = there.removal.unwrap();
    assert_eq!((removal.was, removal.reason.as_deref()), (State::Copy, Some("scanned again")));
    // Its bytes are kept until they are purged.
    let trash = tree(&pair.root(1).join(".urepo/trash"));
    assert!(trash.iter().any(|path| path.contains("doc/sub/b.bin")), "{trash:?}");
    assert!(pair.is_clean());
    assert_eq!(step(&bring(&pair, &pair.from(), &pair.to())[0]), Step::Skip);
}

/// Mirror only, then a new site: what was deleted stays deleted.
#[test]
fn a_site_rebuilt_from_its_mirror_knows_what_was_deleted() {
    let pair = Pair::new();
    let (kept, deleted) = (pair.deposit_tree(), pair.deposit_tree());
    // A second mirror has not heard of the deletion.
    let late = pair.third();
    pair.run_between(&pair.from(), &late, Verb::Copy, Rules::default());
    delete(&pair.from(), &deleted);
    let outcomes = bring(&pair, &pair.from(), &pair.to());
    assert_eq!(step(&outcomes[0]), Step::Copy(Replaces::Nothing));
    assert_eq!(step(&outcomes[1]), Step::Bury(Replaces::Nothing));
    std::fs::remove_dir_all(pair.root(0)).unwrap();
    let subsystem = urepo::collection::Subsystem::new("archive.example.org".parse().unwrap());
    let watcher = urepo::disk::Watcher::default();
    let rebuilt = crate::support::init(pair.root(0), "archive", subsystem, &watcher).unwrap();
    let outcomes = bring(&pair, &pair.to(), &rebuilt);
    assert_eq!(step(&outcomes[1]), Step::Bury(Replaces::Nothing));
    assert_eq!(held(&rebuilt, &kept).state, State::Copy);
    assert_eq!(held(&rebuilt, &deleted).state, State::Deleted);
    assert_eq!(recorded(&rebuilt, &kept), Some(State::Copy));
    assert_eq!(recorded(&rebuilt, &deleted), Some(State::Deleted));
    // Neither the late mirror nor anybody who revives makes a Copy of nothing.
    for (rules, expected) in [
        (Rules::default(), Refusal::Tombstone),
        (copy_rules(false, true), Refusal::DeletedElsewhere),
    ] {
        let outcomes = pair.run_between(&late, &rebuilt, Verb::Copy, rules);
        let result = &outcomes[1].result;
        let Err(TransferError::Refused { refusal, .. }) = result else { panic!("{result:?}") };
        assert_eq!(*refusal, expected);
    }
    // The late mirror hears of it from the rebuilt site.
    assert_eq!(step(&bring(&pair, &rebuilt, &late)[1]), Step::Bury(Replaces::Copy));
    assert_eq!(findings(&late), [""; 0]);
    assert_eq!(findings(&rebuilt), [""; 0]);
}

#[test]
fn copies_of_other_originals_and_newer_ones_stay() {
    for newer in [false, true] {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        pair.run(Verb::Copy, Rules::default());
        delete(&pair.from(), &name);
        rewrite(&pair.to(), &name, |copy| {
            if newer {
                let later = held(&pair.from(), &name).timestamp;
                copy.timestamp = later.checked_add(urepo::identity::SECOND).unwrap();
            } else {
                copy.origin.insert("collection".to_owned(), "0123456789abcdef".into());
            }
        });
        assert!(bring(&pair, &pair.from(), &pair.to()).is_empty());
        assert_eq!(held(&pair.to(), &name).state, State::Copy);
        assert!(pair.is_clean());
    }
}

/// It would delete an item that is alive elsewhere, or bury its Copies.
#[test]
fn a_tombstone_that_the_inventory_contradicts_stays_where_it_is() {
    for has_copy in [false, true] {
        for line in ["left NAME migrated 60cb73fd mirror", "became NAME Original"] {
            let pair = Pair::new();
            let name = pair.deposit_tree();
            if has_copy {
                pair.run(Verb::Copy, Rules::default());
            }
            delete(&pair.from(), &name);
            record(&pair.from(), &name, &line.replace("NAME", name.as_str()));
            let outcomes = bring(&pair, &pair.from(), &pair.to());
            let Err(TransferError::NotDeleted { line: told, .. }) = &outcomes[0].result else {
                panic!("{line}: {outcomes:?}");
            };
            assert_eq!(told.name, name);
            let there = pair.to().item(&name).map(|item| item.sidecar().unwrap().0.state);
            assert_eq!(there.ok(), has_copy.then_some(State::Copy), "{line}");
            // A run that is at work may be about to record the deletion.
            let stage = pair.root(0).join(".urepo/staging/other");
            std::fs::create_dir(&stage).unwrap();
            assert!(bring(&pair, &pair.from(), &pair.to()).is_empty());
            std::fs::remove_dir(stage).unwrap();
            // A person knows better.
            record(&pair.from(), &name, &format!("became {name} Deleted"));
            let over = if has_copy { Replaces::Copy } else { Replaces::Nothing };
            assert_eq!(step(&bring(&pair, &pair.from(), &pair.to())[0]), Step::Bury(over));
        }
    }
}

#[test]
fn the_original_comes_back_with_the_bytes_of_its_copy() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    let before = held(&pair.from(), &name);
    delete(&pair.from(), &name);
    let outcomes = pair.run_between(&pair.to(), &pair.from(), Verb::Copy, Rules::default());
    assert!(outcomes[0].result.is_err(), "nobody asked for it");
    let rules = copy_rules(false, true);
    pair.turn();
    assert_eq!(step(&pair.plan(Verb::Copy, rules)[0]), Step::Revive);
    assert_eq!(step(&pair.run(Verb::Copy, rules)[0]), Step::Revive);
    pair.turn();
    let mut after = held(&pair.from(), &name);
    assert_eq!(after.removal, None);
    assert!(after.origin.remove("restored").is_some_and(|date| date.is_datetime()));
    assert_eq!(after, before, "nothing has changed, and no Copy is stale");
    assert!(pair.is_clean());
    assert_eq!(step(&pair.run(Verb::Copy, Rules::default())[0]), Step::Skip);
}

#[test]
fn a_burial_that_was_cut_short_is_finished() {
    use crate::support::{Faults, Mode, System, first_user};
    for at in System::Own.points() {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        pair.run(Verb::Copy, Rules::default());
        delete(&pair.from(), &name);
        let faults = std::sync::Arc::new(Faults::new(pair.root(1), at, Mode::Killed).of_changes());
        *pair.tombstones.lock().unwrap() = Tombstones::Bring;
        first_user(|| {
            if let Some((from, to)) = pair.watched(std::sync::Arc::clone(&faults) as _) {
                let _ = pair.try_between(&from, &to, Verb::Copy, Rules::default(), |_| ());
            }
        });
        bring(&pair, &pair.from(), &pair.to());
        assert_eq!(held(&pair.to(), &name).state, State::Deleted, "{at}");
        assert!(pair.is_clean(), "{at}: {:?}", faults.struck());
        let trash = tree(&pair.root(1).join(".urepo/trash"));
        assert!(trash.iter().any(|path| path.contains("doc/sub/b.bin")), "{at} {trash:?}");
        if faults.struck().is_none() {
            assert!(at > 10);
            break;
        }
    }
}

#[test]
fn a_burial_that_another_user_cut_short_is_finished() {
    crate::support::between_users(a_burial_that_was_cut_short_is_finished);
}
