//! Items go, leave tombstones, come back, and are purged.

mod an_original;
mod beside;
mod faults;
mod full_disk;
mod interrupted;
mod listing;
mod power;
mod several;
mod the_last_holding;
mod what_is_not_in_order;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use urepo::collection::{Collection, CollectionError, TrashContents, recover};
use urepo::custody::Custody;
use urepo::disk::{Operation, Watch, Watcher};
use urepo::holdings::Sight;
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::progress::NoProgress;
use urepo::removal::{
    DamageRule, Lack, LastRule, Order, Plan, PurgePlan, Purgeable, Purger, RemovalError, Remover,
    Restoration, Restored, Step, Unlogged, Wanted, plan, plan_restoration, purgeable,
};
use urepo::sidecar::{Removal, Seal, Sidecar};
use urepo::verify::{Depth, verify_item, verify_payload};

use crate::support::{
    ReadOnly, TestClock, agent, caller, copy_tree, deposit, make_collection, options, record,
    request, scratch, tree, waiter,
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
        record(&self.root(collection), self.name.as_str(), &sidecar);
    }

    fn delete(&self, collection: &str, order: &Order<'_>) -> Result<(), RemovalError> {
        delete(&self.open(collection), &self.name, order).map(|_| ())
    }

    fn restore(&self, others: &[Collection], rule: DamageRule) -> Result<Restored, RemovalError> {
        let collection = self.open("archive");
        remover(&collection, &later(), |remover| {
            restore(
                remover,
                &self.name,
                &Restoration { sight: &Sight::of_many(others), damage: rule },
            )
        })
    }

    fn purge(&self) -> Result<Vec<Purgeable>, RemovalError> {
        purge(&self.open("archive"), &Wanted::default())
    }

    /// What the trash holds of the item.
    fn trash(&self) -> Vec<TrashContents> {
        trash(&self.open("archive"))
    }
}

fn trash(collection: &Collection) -> Vec<TrashContents> {
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
        caller: caller(&agent, clock, &interrupt),
    };
    let outcome = act(&remover)?;
    remover.finish()?;
    Ok(outcome)
}

fn delete(
    collection: &Collection,
    name: &RepositoryName,
    order: &Order<'_>,
) -> Result<Step, RemovalError> {
    remover(collection, &later(), |remover| delete_one(remover, name, order).map(|plan| plan.step))
}

fn delete_one<'o>(
    remover: &Remover<'_>,
    name: &RepositoryName,
    order: &Order<'o>,
) -> Result<Plan<'o>, RemovalError> {
    let mut outcome = None;
    remover.delete(std::slice::from_ref(name), order, &mut |_, deleted| {
        outcome = Some(deleted);
        ControlFlow::Continue(())
    });
    outcome.unwrap()
}

fn restore(
    remover: &Remover<'_>,
    name: &RepositoryName,
    restoration: &Restoration<'_>,
) -> Result<Restored, RemovalError> {
    let mut outcome = None;
    remover.restore(std::slice::from_ref(name), restoration, &mut |_, restored| {
        outcome = Some(restored);
        ControlFlow::Continue(())
    });
    outcome.unwrap()
}

fn purge(collection: &Collection, wanted: &Wanted) -> Result<Vec<Purgeable>, RemovalError> {
    let PurgePlan { entries, failed } = purgeable(collection, wanted)?;
    failed.into_iter().try_for_each(Err)?;
    Ok(purge_entries(collection, &entries)?.0)
}

fn purge_entries(
    collection: &Collection,
    entries: &[Purgeable],
) -> Result<(Vec<Purgeable>, Option<Unlogged>), RemovalError> {
    let (agent, interrupt, clock) = (agent(), Interrupt::default(), later());
    let mut purger = Purger::new(collection, &agent, waiter(&clock), &interrupt)?;
    let (mut removed, mut ended) = (Vec::new(), Ok(()));
    purger.purge(entries, &mut |_, purged| match purged {
        Ok(purged) => {
            removed.push(purged);
            ControlFlow::Continue(())
        }
        Err(error) => {
            ended = Err(error);
            ControlFlow::Break(())
        }
    });
    let unlogged = purger.finish();
    ended.map(|()| (removed, unlogged))
}

/// Knows no other collection.
fn alone() -> Restoration<'static> {
    let damage = DamageRule::Refuse;
    Restoration { sight: Sight::alone(), damage }
}

/// Asks nobody.
fn forced() -> Order<'static> {
    Order {
        by: "ann@vault".into(),
        reason: Some("deposited \"twice\"".into()),
        sight: Sight::alone(),
        last: LastRule::Remove,
        damage: DamageRule::Refuse,
        permanent: urepo::removal::PermanentRule::Refuse,
    }
}

fn relying_on<'a>(sight: &'a Sight<'a>) -> Order<'a> {
    Order { sight, last: LastRule::Keep, ..forced() }
}

fn is_whole(collection: &Collection, name: &RepositoryName) -> bool {
    let item = collection.item(name).unwrap();
    let report = verify_item(&item, Depth::Full, &NoProgress, &Interrupt::default()).unwrap();
    !report.findings.is_damage()
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
    fn leaves_a_stub_and_comes_back_whole() {
        let world = world();
        let files = tree(&world.item("archive"));
        let before = world.sidecar("archive");
        let others = [world.open("original")];
        world.delete("archive", &relying_on(&Sight::of_many(&others))).unwrap();
        assert!(!world.item("archive").join("doc").exists());
        let stub = world.sidecar("archive");
        assert_eq!((stub.state, &stub.custody), (State::Elsewhere, &before.custody));
        assert_eq!(world.trash(), [TrashContents::Item]);
        // Recovery does not take it for something that has to be put back.
        let collection = world.open("archive");
        recover(&collection, &agent(), &waiter(&later())).unwrap();
        assert_eq!(world.sidecar("archive"), stub);
        assert_eq!(world.trash(), [TrashContents::Item]);
        let revived = world.restore(&others, DamageRule::Refuse).unwrap();
        assert_eq!(revived.state, State::Copy);
        assert_eq!(tree(&world.item("archive")), files);
        assert_eq!(world.sidecar("archive"), before);
        assert_eq!(world.trash(), []);
    }

    #[test]
    fn is_kept_when_it_is_the_last_one() {
        let world = world();
        std::fs::write(world.item("original").join("doc/a.txt"), "Alpha").unwrap();
        let others = [world.open("original")];
        let error = world.delete("archive", &relying_on(&Sight::of_many(&others))).unwrap_err();
        assert!(matches!(error, RemovalError::LastHolding { .. }), "{error}");
        assert!(is_whole(&world.open("archive"), &world.name));
    }
}

mod plans {
    use super::*;

    #[test]
    fn are_what_is_done() {
        let world = World::with_copy();
        let others = [world.open("other")];
        let sight = Sight::of_many(&others);
        let (order, collection) = (relying_on(&sight), world.open("archive"));
        let before = tree(&world.root(""));
        let planned =
            plan(&collection, &world.name, &order, &NoProgress, &Interrupt::default()).unwrap();
        assert_eq!(tree(&world.root("")), before);
        let done =
            remover(&collection, &later(), |remover| delete_one(remover, &world.name, &order));
        let told = |plan: &Plan<'_>| {
            let proof = plan.proven_by.map(|it| (it.collection.path().to_path_buf(), it.state));
            (plan.name.clone(), plan.step, plan.files, plan.bytes, proof)
        };
        assert_eq!(told(&planned), told(&done.unwrap()));
        assert_eq!(planned.proven_by.unwrap().state, State::Copy);
        let (rule, interrupt) = (DamageRule::Refuse, Interrupt::default());
        let restoration = Restoration { sight: &Sight::of_many(&others), ..alone() };
        let planned =
            plan_restoration(&collection, &world.name, &restoration, &NoProgress, &interrupt)
                .unwrap();
        assert_eq!(world.sidecar("archive").state, State::Deleted);
        assert_eq!(planned, world.restore(&others, rule).unwrap());
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
        assert_eq!((purged[0].files, purged[0].held), (4, TrashContents::Item));
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
        let count = |wanted: &Wanted| purgeable(&collection, wanted).unwrap().entries.len();
        let other: RepositoryName = "example.org/archive/2026/11.21.02.14".parse().unwrap();
        assert_eq!(count(&Wanted { names: Some(vec![other]), ..Wanted::default() }), 0);
        assert_eq!(
            count(&Wanted { names: Some(vec![world.name.clone()]), ..Wanted::default() }),
            1
        );
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
        assert_eq!(world.trash(), [TrashContents::Item]);
    }
}

/// Its files may be the only ones of an item that is not deleted.
#[test]
fn files_beside_a_sidecar_that_can_not_be_read_are_not_purged() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let sidecar = world.item("archive").join("item.toml");
    std::fs::remove_file(&sidecar).unwrap();
    std::fs::create_dir(&sidecar).unwrap();
    let collection = world.open("archive");
    for before in [None, Some("2030-01-01T00:00:00Z".parse().unwrap())] {
        purge(&collection, &Wanted { before, ..Wanted::default() }).unwrap_err();
        assert_eq!(world.trash(), [TrashContents::Item]);
    }
}
