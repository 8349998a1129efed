//! Deletions travel to mirrors, and a tombstone never becomes a Copy of nothing.

use urepo::collection::Collection;
use urepo::custody::CustodyId;
use urepo::identity::RepositoryName;
use urepo::sidecar::{Removal, Sidecar};
use urepo::transfer::{Leaves, Outcome, Step, Tombstones, Verb};

use super::support::{Pair, State, findings, rewrite, step};
use crate::support::tree;

fn removal(reason: &str) -> Option<Removal> {
    let (by, reason) = ("somebody".to_owned(), Some(reason.to_owned()));
    Some(Removal { by, reason, was: State::Original, updated: None })
}

/// Deletes the Original in `collection`, as the command does; the payload is purged.
fn delete(collection: &Collection, name: &RepositoryName) {
    rewrite(collection, name, |sidecar| {
        sidecar.state = State::Deleted;
        sidecar.timestamp = sidecar.timestamp.checked_add(urepo::identity::SECOND).unwrap();
        sidecar.custody = sidecar.custody.passed_to(collection.id(), CustodyId::from(*b"deletion"));
        sidecar.removal = removal("scanned again");
    });
    std::fs::remove_dir_all(collection.item(name).unwrap().payload_path()).unwrap();
}

fn bring(pair: &Pair, from: &Collection, to: &Collection) -> Vec<Outcome> {
    *pair.tombstones.lock().unwrap() = Tombstones::Bring;
    let outcomes = pair.run_between(from, to, Verb::Copy, Leaves::Stub);
    *pair.tombstones.lock().unwrap() = Tombstones::Refuse;
    outcomes
}

fn held(collection: &Collection, name: &RepositoryName) -> Sidecar {
    collection.item(name).unwrap().sidecar().unwrap().0
}

/// The state by the ledger.
fn recorded(collection: &Collection, name: &RepositoryName) -> Option<State> {
    collection.last_record(name).unwrap().unwrap().state()
}

#[test]
fn a_copy_of_what_was_deleted_becomes_a_tombstone() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    delete(&pair.from(), &name);
    // A Copy that has not heard of it yet brings nothing back, and is no failure either.
    assert!(bring(&pair, &pair.to(), &pair.from()).is_empty());
    // The plan changes nothing.
    pair.plans.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(step(&bring(&pair, &pair.from(), &pair.to())[0]), Step::Bury);
    pair.plans.store(false, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(held(&pair.to(), &name).state, State::Copy);

    assert_eq!(step(&bring(&pair, &pair.from(), &pair.to())[0]), Step::Bury);
    let there = held(&pair.to(), &name);
    assert_eq!(there.state, State::Deleted);
    assert_eq!(recorded(&pair.to(), &name), Some(State::Deleted));
    assert_eq!(there.timestamp, held(&pair.from(), &name).timestamp);
    assert_eq!(there.custody, held(&pair.from(), &name).custody);
    let removal = there.removal.unwrap();
    assert_eq!((removal.was, removal.reason.as_deref()), (State::Original, Some("scanned again")));
    // Its bytes are kept until they are purged.
    let trash = tree(&pair.root(1).join(".urepo/trash"));
    assert!(trash.iter().any(|path| path.contains("doc/sub/b.bin")), "{trash:?}");
    assert!(pair.is_clean());
    assert_eq!(step(&bring(&pair, &pair.from(), &pair.to())[0]), Step::Nothing);
}

/// Mirror only, then a new site: what was deleted stays deleted.
#[test]
fn a_site_rebuilt_from_its_mirror_knows_what_was_deleted() {
    let pair = Pair::new();
    let (kept, deleted) = (pair.deposit_tree(), pair.deposit_tree());
    // A second mirror has not heard of the deletion.
    let late = pair.third();
    pair.run_between(&pair.from(), &late, Verb::Copy, Leaves::Stub);
    delete(&pair.from(), &deleted);
    let outcomes = bring(&pair, &pair.from(), &pair.to());
    assert_eq!(step(&outcomes[0]), Step::Copy);
    assert_eq!(step(&outcomes[1]), Step::Bury);
    std::fs::remove_dir_all(pair.root(0)).unwrap();
    let subsystem = urepo::collection::Subsystem::new("archive.example.org".parse().unwrap());
    let watcher = urepo::disk::Watcher::default();
    let rebuilt = crate::support::init(pair.root(0), "archive", subsystem, &watcher).unwrap();
    let outcomes = bring(&pair, &pair.to(), &rebuilt);
    assert_eq!(step(&outcomes[1]), Step::Bury);
    assert_eq!(held(&rebuilt, &kept).state, State::Copy);
    assert_eq!(held(&rebuilt, &deleted).state, State::Deleted);
    assert_eq!(recorded(&rebuilt, &kept), Some(State::Copy));
    assert_eq!(recorded(&rebuilt, &deleted), Some(State::Deleted));
    // The late mirror hears of it from the rebuilt site.
    assert_eq!(step(&bring(&pair, &rebuilt, &late)[1]), Step::Bury);
    assert_eq!(findings(&late), [""; 0]);
    assert_eq!(findings(&rebuilt), [""; 0]);
}

#[test]
fn a_burial_that_was_cut_short_is_finished() {
    use crate::support::{Faults, Mode, System, first_user};
    for at in System::Own.points() {
        let pair = Pair::new();
        let name = pair.deposit_tree();
        pair.run(Verb::Copy, Leaves::Stub);
        delete(&pair.from(), &name);
        let faults = std::sync::Arc::new(Faults::new(pair.root(1), at, Mode::Killed).of_changes());
        *pair.tombstones.lock().unwrap() = Tombstones::Bring;
        first_user(|| {
            if let Some((from, to)) = pair.watched(std::sync::Arc::clone(&faults) as _) {
                let _ = pair.try_between(&from, &to, Verb::Copy, Leaves::Stub, |_| ());
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

/// Else whoever may not learn of an item learns of it once it has migrated.
#[test]
fn a_stub_is_as_closed_as_its_item() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    rewrite(&pair.from(), &name, |sidecar| {
        sidecar.access.level = urepo::sidecar::AccessLevel::Closed;
        sidecar.access.allow = vec!["192.0.2.0/24".parse().unwrap()];
    });
    pair.run(Verb::Migrate, Leaves::Stub);
    let (stub, moved) = (held(&pair.from(), &name), held(&pair.to(), &name));
    assert_eq!((stub.state, moved.state), (State::Elsewhere, State::Original));
    assert_eq!(stub.access, moved.access);
    assert_eq!(stub.access.level, urepo::sidecar::AccessLevel::Closed);
}
