//! Items go, leave tombstones, come back, and are purged.

mod beside;
mod faults;
mod full_disk;
mod listing;
mod power;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use urepo::collection::{Collection, CollectionError, Held, recover};
use urepo::disk::{Operation, Watch, Watcher};
use urepo::holdings::{OriginalError, Peers};
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::progress::NoProgress;
use urepo::removal::{
    DamageRule, Lack, LastRule, Order, Plan, PurgePlan, Purgeable, Purger, RemovalError, Remover,
    Revival, Revived, Step, Wanted, finish_pending, plan, plan_revival, purgeable,
};
use urepo::sidecar::{Handover, Party, Removal, Seal, Sidecar};
use urepo::verify::{Code, Depth, verify_item, verify_payload};

use crate::support::{
    PATIENCE, ReadOnly, TestClock, agent, copy_tree, deposit, make_collection, options, request,
    scratch, tree, waiter,
};

/// A scratch directory with a collection that holds one item.
struct World {
    scratch: tempfile::TempDir,
    name: RepositoryName,
}

/// A year after everything was deposited.
fn later() -> TestClock {
    TestClock::at("2027-11-21T02:13:00Z")
}

impl World {
    fn new() -> World {
        let scratch = scratch();
        let source = scratch.path().join("source");
        std::fs::create_dir_all(source.join("sub/empty")).unwrap();
        std::fs::write(source.join("a.txt"), "alpha").unwrap();
        std::fs::write(source.join("sub/b.bin"), vec![7; 200_000]).unwrap();
        std::os::unix::fs::symlink("sub/b.bin", source.join("link")).unwrap();
        let collection = make_collection(&scratch.path().join("archive"));
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let requests = vec![request(source)];
        let (outcomes, _) = deposit(&collection, requests, options(), &clock, |_| ()).unwrap();
        let name = outcomes[0].result.as_ref().unwrap().label.name.clone();
        World { scratch, name }
    }

    /// The same with a second collection that has a Copy.
    fn with_copy() -> World {
        let world = World::new();
        make_collection(&world.root("other"));
        copy_tree(&world.item("archive"), &world.item("other"));
        world.rewrite("other", |sidecar| sidecar.state = State::Copy);
        world
    }

    fn root(&self, collection: &str) -> PathBuf {
        self.scratch.path().join(collection)
    }

    fn item(&self, collection: &str) -> PathBuf {
        self.root(collection).join(self.name.as_str())
    }

    fn open(&self, collection: &str) -> Collection {
        Collection::open(&self.root(collection), &Watcher::default()).unwrap()
    }

    fn sidecar(&self, collection: &str) -> Sidecar {
        let (sidecar, seal) = self.open(collection).item(&self.name).unwrap().sidecar().unwrap();
        assert_eq!(seal, Seal::Intact);
        sidecar
    }

    fn rewrite(&self, collection: &str, change: impl FnOnce(&mut Sidecar)) {
        let path = self.item(collection).join("item.toml");
        let (mut sidecar, _) = Sidecar::read(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut sidecar);
        std::fs::write(path, sidecar.to_text()).unwrap();
    }

    fn delete(&self, collection: &str, order: &Order<'_>) -> Result<(), RemovalError> {
        delete(&self.open(collection), &self.name, order).map(|_| ())
    }

    fn revive(&self, others: &[Collection], rule: DamageRule) -> Result<Revived, RemovalError> {
        let collection = self.open("archive");
        remover(&collection, &later(), |remover| {
            let peers = Peers { collections: others, ..Peers::default() };
            remover.revive(&self.name, &Revival { peers, damage: rule })
        })
    }

    fn purge(&self) -> Result<Vec<Purgeable>, RemovalError> {
        purge(&self.open("archive"), &Wanted::default())
    }

    /// What the trash holds of the item.
    fn trash(&self) -> Vec<Held> {
        trash(&self.open("archive"))
    }
}

fn trash(collection: &Collection) -> Vec<Held> {
    let mut found = Vec::new();
    collection
        .visit_trash(|trashed| {
            found.push(collection.held(&trashed?)?);
            Ok::<_, urepo::disk::PathError>(())
        })
        .unwrap();
    found
}

fn remover<T>(
    collection: &Collection,
    clock: &TestClock,
    act: impl FnOnce(&Remover<'_>) -> Result<T, RemovalError>,
) -> Result<T, RemovalError> {
    let (agent, interrupt) = (agent(), Interrupt::default());
    let remover = Remover {
        collection,
        writer: collection.writer(&agent, &waiter(clock))?,
        agent: &agent,
        clock,
        wait: PATIENCE,
        progress: &NoProgress,
        interrupt: &interrupt,
    };
    let outcome = act(&remover)?;
    remover.writer.finish()?;
    Ok(outcome)
}

fn delete(
    collection: &Collection,
    name: &RepositoryName,
    order: &Order<'_>,
) -> Result<Step, RemovalError> {
    remover(collection, &later(), |remover| {
        let mut deletion = remover.deletion(std::slice::from_ref(name), order);
        let step = deletion.delete(name).map(|plan| plan.step);
        deletion.finish()?;
        step
    })
}

fn purge(collection: &Collection, wanted: &Wanted) -> Result<Vec<Purgeable>, RemovalError> {
    let PurgePlan { entries, failed } = purgeable(collection, wanted)?;
    failed.into_iter().try_for_each(Err)?;
    purge_entries(collection, &entries)?;
    Ok(entries)
}

fn purge_entries(collection: &Collection, entries: &[Purgeable]) -> Result<(), RemovalError> {
    let (agent, interrupt, clock) = (agent(), Interrupt::default(), later());
    let purger = Purger::new(collection, &agent, waiter(&clock), &interrupt)?;
    entries.iter().try_for_each(|entry| purger.purge(entry).map(drop))?;
    purger.finish();
    Ok(())
}

/// Knows no other collection.
fn alone() -> Revival<'static> {
    let damage = DamageRule::Refuse;
    Revival { peers: Peers::default(), damage }
}

/// Asks nobody.
fn forced() -> Order<'static> {
    Order {
        by: "ann@vault".into(),
        reason: Some("deposited \"twice\"".into()),
        others: &[],
        depth: Depth::Full,
        last: LastRule::Remove,
        damage: DamageRule::Refuse,
    }
}

fn relying_on(others: &[Collection]) -> Order<'_> {
    Order { others, last: LastRule::Keep, ..forced() }
}

fn is_whole(collection: &Collection, name: &RepositoryName) -> bool {
    let item = collection.item(name).unwrap();
    let report = verify_item(&item, Depth::Full, &NoProgress, &Interrupt::default()).unwrap();
    !report.findings.is_damage()
}

mod an_original {
    use super::*;

    #[test]
    fn leaves_a_tombstone_that_says_all_it_said() {
        let world = World::new();
        let before = world.sidecar("archive");
        world.delete("archive", &forced()).unwrap();
        let after = world.sidecar("archive");
        let removal = Removal {
            by: "ann@vault".into(),
            reason: Some("deposited \"twice\"".into()),
            was: State::Original,
            updated: Some(before.timestamp),
        };
        let expected = Sidecar {
            state: State::Deleted,
            timestamp: "2027-11-21T02:13:00Z".parse().unwrap(),
            removal: Some(removal),
            ..before
        };
        assert_eq!(after, expected);
        assert_eq!(tree(&world.item("archive")).len(), 1, "only the sidecar is left");
        assert_eq!(world.trash(), [Held::Payload]);
        assert!(is_whole(&world.open("archive"), &world.name));
        assert_eq!(tree(&world.root("archive/.urepo/journal")), [""; 0]);
    }

    #[test]
    fn comes_back_as_it_was() {
        let world = World::new();
        let (before, files) = (world.sidecar("archive"), tree(&world.item("archive")));
        world.delete("archive", &forced()).unwrap();
        let revived = world.revive(&[], DamageRule::Refuse).unwrap();
        assert_eq!((revived.state, revived.files), (State::Original, before.payload.files));
        let after = world.sidecar("archive");
        let timestamp = after.timestamp;
        assert_eq!(after, Sidecar { timestamp, ..before });
        assert_eq!(tree(&world.item("archive")), files);
        assert!(is_whole(&world.open("archive"), &world.name));
        assert_eq!(world.trash(), []);
    }

    #[test]
    fn goes_and_comes_back_when_its_directory_is_closed() {
        use std::os::unix::fs::PermissionsExt;
        let world = World::new();
        let payload = world.item("archive").join("doc");
        std::fs::set_permissions(&payload, PermissionsExt::from_mode(0o555)).unwrap();
        world.delete("archive", &forced()).unwrap();
        world.revive(&[], DamageRule::Refuse).unwrap();
        assert_eq!(std::fs::metadata(payload).unwrap().permissions().mode() & 0o777, 0o555);
    }

    #[test]
    fn keeps_what_others_have_written_into_its_sidecar() {
        let world = World::new();
        let path = world.item("archive").join("item.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        let (open, _) = text.split_once("[seal]").unwrap();
        let open = format!("# shelf 17\nshelf = 17\n{open}");
        let seal = urepo::digest::Digest::of(open.as_bytes());
        std::fs::write(&path, format!("{open}[seal]\nsha256 = \"{seal}\"\n")).unwrap();
        world.delete("archive", &forced()).unwrap();
        world.revive(&[], DamageRule::Refuse).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("# shelf 17\nshelf = 17\n"), "{text}");
    }

    #[test]
    fn is_not_deleted_twice() {
        let world = World::new();
        world.delete("archive", &forced()).unwrap();
        let error = world.delete("archive", &forced()).unwrap_err();
        assert!(matches!(error, RemovalError::AlreadyDeleted { .. }), "{error}");
        assert_eq!(world.trash(), [Held::Payload]);
    }

    #[test]
    fn is_put_away_to_the_end_when_its_files_were_left() {
        let world = World::new();
        world.rewrite("archive", |sidecar| sidecar.state = State::Deleted);
        // Nobody is asked: it is deleted already.
        let step = delete(&world.open("archive"), &world.name, &relying_on(&[])).unwrap();
        assert_eq!(step, Step::FinishBurial);
        assert_eq!(world.trash(), [Held::Payload]);
        world.revive(&[], DamageRule::Refuse).unwrap();
        assert_eq!(world.sidecar("archive").state, State::Original);
    }
}

mod a_copy {
    use super::*;

    fn world() -> World {
        let world = World::with_copy();
        std::fs::rename(world.root("archive"), world.root("original")).unwrap();
        std::fs::rename(world.root("other"), world.root("archive")).unwrap();
        world
    }

    #[test]
    fn leaves_nothing_and_comes_back_whole() {
        let world = world();
        let files = tree(&world.item("archive"));
        let before = world.sidecar("archive");
        let others = [world.open("original")];
        world.delete("archive", &relying_on(&others)).unwrap();
        assert!(!world.item("archive").exists());
        assert_eq!(world.trash(), [Held::Copy]);
        // Recovery does not take it for something that has to be put back.
        let collection = world.open("archive");
        recover(&collection, &agent(), &waiter(&later())).unwrap();
        assert!(!world.item("archive").exists());
        assert_eq!(world.trash(), [Held::Copy]);
        let last_level = world.name.as_str().rsplit('/').next().unwrap();
        for text in [world.name.as_str(), last_level] {
            assert_eq!(collection.find_with_trash(text).unwrap(), world.name);
        }
        let revived = world.revive(&others, DamageRule::Refuse).unwrap();
        assert_eq!(revived.state, State::Copy);
        assert_eq!(tree(&world.item("archive")), files);
        assert_eq!(world.sidecar("archive"), before);
        assert_eq!(world.trash(), []);
    }

    #[test]
    fn comes_back_even_where_the_year_is_gone() {
        let world = world();
        world.delete("archive", &forced()).unwrap();
        std::fs::remove_dir_all(world.root("archive/example.org")).unwrap();
        world.revive(&[], DamageRule::Refuse).unwrap();
        assert!(is_whole(&world.open("archive"), &world.name));
    }

    #[test]
    fn is_kept_when_it_is_the_last_one() {
        let world = world();
        std::fs::write(world.item("original").join("doc/a.txt"), "Alpha").unwrap();
        let others = [world.open("original")];
        let error = world.delete("archive", &relying_on(&others)).unwrap_err();
        assert!(matches!(error, RemovalError::LastHolding { .. }), "{error}");
        assert!(is_whole(&world.open("archive"), &world.name));
    }
}

mod the_last_holding {
    use super::*;

    /// Why the other collection does not count, after `change`.
    fn lack(change: impl FnOnce(&World)) -> Lack {
        let world = World::with_copy();
        change(&world);
        let others = [world.open("other")];
        let before = tree(&world.item("archive"));
        match world.delete("archive", &relying_on(&others)).unwrap_err() {
            RemovalError::LastHolding { mut looked_at, .. } => {
                assert_eq!(tree(&world.item("archive")), before);
                assert_eq!(world.sidecar("archive").state, State::Original);
                assert_eq!(looked_at.len(), 1);
                looked_at.remove(0).lack
            }
            error => panic!("{error}"),
        }
    }

    #[test]
    fn is_not_the_last_where_a_copy_is_whole() {
        let world = World::with_copy();
        let others = [world.open("other")];
        world.delete("archive", &relying_on(&others)).unwrap();
        assert_eq!(world.sidecar("archive").state, State::Deleted);
        assert_eq!(world.sidecar("other").state, State::Copy);
    }

    #[test]
    fn stays_unless_told() {
        let world = World::new();
        let error = world.delete("archive", &relying_on(&[])).unwrap_err();
        let RemovalError::LastHolding { looked_at, .. } = error else { panic!("{error}") };
        assert_eq!(looked_at, []);
        world.delete("archive", &forced()).unwrap();
    }

    #[test]
    fn is_looked_for_where_it_may_be() {
        let absent = |world: &World| std::fs::remove_dir_all(world.item("other")).unwrap();
        assert_eq!(lack(absent), Lack::Absent);
        let state = |state| move |world: &World| world.rewrite("other", |it| it.state = state);
        assert_eq!(lack(state(State::Deleted)), Lack::Deleted);
        let other_files =
            |world: &World| world.rewrite("other", |sidecar| sidecar.payload.bytes += 1);
        assert_eq!(lack(other_files), Lack::OtherPayload);
        let handed_over = |world: &World| {
            let handover = Handover { token: "t".into(), party: Party::To("0123".into()) };
            world.rewrite("other", |sidecar| sidecar.handover = Some(handover));
        };
        assert_eq!(lack(handed_over), Lack::HandoverOpen);
        // The same bytes in number, one of them flipped.
        let rotten = |world: &World| {
            std::fs::write(world.item("other").join("doc/a.txt"), "Alpha").unwrap();
        };
        let expected = format!("{}, `doc/a.txt`", Code::DigestDiffers.meaning());
        assert_eq!(lack(rotten), Lack::Damaged(expected));
        let unreadable =
            |world: &World| std::fs::write(world.item("other").join("item.toml"), "?").unwrap();
        assert!(matches!(lack(unreadable), Lack::Unreadable(_)));
    }

    #[test]
    fn is_not_proven_by_a_clone_or_itself() {
        let world = World::new();
        copy_tree(&world.root("archive"), &world.root("clone"));
        let others = [world.open("archive"), world.open("clone")];
        let error = world.delete("archive", &relying_on(&others)).unwrap_err();
        let RemovalError::LastHolding { looked_at, .. } = error else { panic!("{error}") };
        assert!(looked_at.iter().all(|place| place.lack == Lack::SameCollection), "{looked_at:?}");
        assert_eq!(looked_at.len(), 2);
    }

    #[test]
    fn is_proven_by_sizes_alone_only_if_told() {
        let world = World::with_copy();
        std::fs::write(world.item("other").join("doc/a.txt"), "Alpha").unwrap();
        let others = [world.open("other")];
        let order = Order { depth: Depth::Quick, ..relying_on(&others) };
        world.delete("archive", &order).unwrap();
    }

    /// Deletes the other one in the moment in which the first one is to be locked.
    struct Rival(PathBuf);

    impl Watch for Rival {
        fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
            let is_item_lock = path.parent().is_some_and(|parent| parent.ends_with("locks"));
            if operation == Operation::Lock && is_item_lock {
                let (mut sidecar, _) = Sidecar::read(&std::fs::read(&self.0)?).unwrap();
                sidecar.state = State::Deleted;
                std::fs::write(&self.0, sidecar.to_text())?;
            }
            Ok(())
        }
    }

    #[test]
    fn may_be_proven_by_a_collection_that_can_not_be_written() {
        let world = World::with_copy();
        let watcher = Watcher::new(Arc::new(ReadOnly));
        let others = [Collection::open(&world.root("other"), &watcher).unwrap()];
        let before = tree(&world.root("other"));
        world.delete("archive", &relying_on(&others)).unwrap();
        assert_eq!(tree(&world.root("other")), before);
        // One's own that can not be written is an error.
        let collection = Collection::open(&world.root("other"), &watcher).unwrap();
        delete(&collection, &world.name, &forced()).unwrap_err();
        assert_eq!(tree(&world.root("other")), before);
    }

    #[test]
    fn may_not_go_between_the_proof_and_the_lock() {
        let world = World::with_copy();
        for goes in ["other", "archive"] {
            let rival = Arc::new(Rival(world.item(goes).join("item.toml")));
            let collection =
                Collection::open(&world.root("archive"), &Watcher::new(rival as _)).unwrap();
            let others = [world.open("other")];
            let error = delete(&collection, &world.name, &relying_on(&others)).unwrap_err();
            let RemovalError::Collection(CollectionError::Changed { path, .. }) = &error else {
                panic!("{error}")
            };
            assert_eq!(*path, world.root(goes));
            assert_eq!(trash(&collection), []);
            world.rewrite("other", |sidecar| sidecar.state = State::Copy);
        }
    }
}

mod what_is_not_in_order {
    use super::*;

    #[test]
    fn a_hand_over_under_way() {
        let world = World::new();
        let handover = Handover { token: "t".into(), party: Party::From("0123".into()) };
        world.rewrite("archive", |sidecar| sidecar.handover = Some(handover));
        let error = world.delete("archive", &forced()).unwrap_err();
        assert!(matches!(error, RemovalError::HandoverOpen { .. }), "{error}");
    }

    #[test]
    fn a_broken_seal_is_told_by_the_tombstone() {
        let world = World::new();
        let path = world.item("archive").join("item.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("transferable = true", "transferable = false")).unwrap();
        let error = world.delete("archive", &forced()).unwrap_err();
        assert!(matches!(error, RemovalError::Damaged { .. }), "{error}");
        world.delete("archive", &Order { damage: DamageRule::Accept, ..forced() }).unwrap();
        let reason = world.sidecar("archive").removal.unwrap().reason.unwrap();
        assert_eq!(reason, "deposited \"twice\" (the sidecar was not as it had been sealed)");
    }

    #[test]
    fn a_missing_file() {
        let world = World::new();
        std::fs::remove_file(world.item("archive").join("doc/a.txt")).unwrap();
        let error = world.delete("archive", &forced()).unwrap_err();
        assert!(matches!(error, RemovalError::Damaged { .. }), "{error}");
        world.delete("archive", &Order { damage: DamageRule::Accept, ..forced() }).unwrap();
        // What was damaged does not come back as if it were good.
        let error = world.revive(&[], DamageRule::Refuse).unwrap_err();
        assert!(matches!(error, RemovalError::TrashDamaged { .. }), "{error}");
        assert_eq!(world.trash(), [Held::Payload]);
        world.revive(&[], DamageRule::Accept).unwrap();
        assert!(!is_whole(&world.open("archive"), &world.name));
    }

    #[test]
    fn no_payload_at_all() {
        let world = World::new();
        std::fs::remove_dir_all(world.item("archive").join("doc")).unwrap();
        world.delete("archive", &Order { damage: DamageRule::Accept, ..forced() }).unwrap();
        assert_eq!(world.sidecar("archive").state, State::Deleted);
        let error = world.revive(&[], DamageRule::Accept).unwrap_err();
        assert!(matches!(error, RemovalError::NotInTrash { .. }), "{error}");
    }

    #[test]
    fn rot_in_the_trash_is_noticed() {
        let world = World::new();
        world.delete("archive", &forced()).unwrap();
        let trash = world.root("archive/.urepo/trash");
        let entry = std::fs::read_dir(&trash).unwrap().next().unwrap().unwrap().path();
        std::fs::write(entry.join("doc/a.txt"), "Alpha").unwrap();
        let error = world.revive(&[], DamageRule::Refuse).unwrap_err();
        assert!(matches!(error, RemovalError::TrashDamaged { .. }), "{error}");
        assert_eq!(world.sidecar("archive").state, State::Deleted);
    }

    #[test]
    fn a_second_original() {
        let world = World::with_copy();
        world.delete("archive", &forced()).unwrap();
        world.rewrite("other", |sidecar| sidecar.state = State::Original);
        let others = [world.open("archive"), world.open("other")];
        let error = world.revive(&others, DamageRule::Refuse).unwrap_err();
        assert!(
            matches!(error, RemovalError::Original(OriginalError::Elsewhere { .. })),
            "{error}"
        );
        world.rewrite("other", |sidecar| sidecar.state = State::Copy);
        world.revive(&others, DamageRule::Refuse).unwrap();
    }

    #[test]
    fn what_is_in_place_does_not_come_back() {
        let world = World::new();
        let error = world.revive(&[], DamageRule::Refuse).unwrap_err();
        assert!(matches!(error, RemovalError::NotDeleted { .. }), "{error}");
    }
}

mod plans {
    use super::*;

    #[test]
    fn are_what_is_done() {
        let world = World::with_copy();
        let others = [world.open("other")];
        let (order, collection) = (relying_on(&others), world.open("archive"));
        let before = tree(&world.root(""));
        let planned =
            plan(&collection, &world.name, &order, &NoProgress, &Interrupt::default()).unwrap();
        assert_eq!(tree(&world.root("")), before);
        let done = remover(&collection, &later(), |remover| {
            let mut deletion = remover.deletion(std::slice::from_ref(&world.name), &order);
            let done = deletion.delete(&world.name)?;
            deletion.finish()?;
            Ok(done)
        });
        let told = |plan: &Plan<'_>| {
            let proof = plan.proven_by.map(|it| (it.collection.path().to_path_buf(), it.state));
            (plan.name.clone(), plan.step, plan.files, plan.bytes, proof)
        };
        assert_eq!(told(&planned), told(&done.unwrap()));
        assert_eq!(planned.proven_by.unwrap().state, State::Copy);
        let (rule, interrupt) = (DamageRule::Refuse, Interrupt::default());
        let peers = Peers { collections: &others, ..Peers::default() };
        let revival = Revival { peers, ..alone() };
        let planned =
            plan_revival(&collection, &world.name, &revival, &NoProgress, &interrupt).unwrap();
        assert_eq!(world.sidecar("archive").state, State::Deleted);
        assert_eq!(planned, world.revive(&others, rule).unwrap());
    }
}

mod purging {
    use super::*;

    #[test]
    fn removes_for_good() {
        let world = World::new();
        world.delete("archive", &forced()).unwrap();
        let purged = world.purge().unwrap();
        assert_eq!(purged.len(), 1);
        assert_eq!((purged[0].files, purged[0].held), (3, Held::Payload));
        assert!(purged[0].bytes >= 200_005);
        assert_eq!(world.trash(), []);
        assert_eq!(world.sidecar("archive").state, State::Deleted);
        assert!(is_whole(&world.open("archive"), &world.name));
        assert!(world.purge().unwrap().is_empty());
    }

    #[test]
    fn takes_only_what_is_wanted() {
        let world = World::new();
        world.delete("archive", &forced()).unwrap();
        let collection = world.open("archive");
        let deleted = world.sidecar("archive").timestamp;
        let count = |wanted: &Wanted| purgeable(&collection, wanted).unwrap().entries.len();
        assert_eq!(count(&Wanted { before: Some(deleted), ..Wanted::default() }), 0);
        let after = deleted.checked_add(1);
        assert_eq!(count(&Wanted { before: after, ..Wanted::default() }), 1);
        let other: RepositoryName = "example.org/archive/2026/11.21.02.14".parse().unwrap();
        assert_eq!(count(&Wanted { names: Some(vec![other]), before: None }), 0);
        assert_eq!(count(&Wanted { names: Some(vec![world.name.clone()]), before: None }), 1);
    }

    /// A sidecar from a backup says Original, but the bytes are in the trash.
    #[test]
    fn keeps_what_an_item_in_place_has_lost() {
        let world = World::new();
        let sidecar = std::fs::read(world.item("archive").join("item.toml")).unwrap();
        world.delete("archive", &forced()).unwrap();
        std::fs::write(world.item("archive").join("item.toml"), sidecar).unwrap();
        let error = world.purge().unwrap_err();
        assert!(matches!(error, RemovalError::Needed { .. }), "{error}");
        assert_eq!(world.trash(), [Held::Payload]);
    }
}

/// The date of a tombstone that cannot be read is not known: nothing is purged by another one.
#[test]
fn a_tombstone_that_can_not_be_read_is_not_purged_by_its_age() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let sidecar = world.item("archive").join("item.toml");
    std::fs::remove_file(&sidecar).unwrap();
    std::fs::create_dir(&sidecar).unwrap();
    let before = Some("2030-01-01T00:00:00Z".parse().unwrap());
    let collection = world.open("archive");
    let PurgePlan { entries, failed } =
        purgeable(&collection, &Wanted { names: None, before }).unwrap();
    assert_eq!((entries.len(), failed.len()), (0, 1));
    assert_eq!(purgeable(&collection, &Wanted::default()).unwrap().entries.len(), 1);
}
