//! Promotions that fail or are killed at any file operation, and two at once.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use urepo::collection::Collection;
use urepo::custody::Discard;
use urepo::disk::{Operation, Watcher};
use urepo::holdings::Sight;
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::promotion::{Change, GivenUp, Loss, PromotionError, Registrar, Report};

use crate::support::{
    Faults, LockedAt, Mode, ReadOnly, System, TestClock, Trace, World, agent, between_users,
    caller, copy_item, deposit, first_user, make_collection, options, recovered_whole, request,
};

/// An archive and two mirrors with Copies of its item.
struct Mirrors {
    world: World,
    name: String,
    lost: String,
}

impl Mirrors {
    fn new() -> Mirrors {
        let world = World::new();
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let [archive, ..] = ["archive", "a", "b"].map(|root| make_collection(&world.path(root)));
        let file = world.write("letter.txt", "Dear all");
        deposit(&archive, vec![request(file)], options(), &clock, |_| ()).unwrap();
        let name = crate::support::whole_items(&archive).remove(0);
        for mirror in ["a", "b"] {
            copy_item(&world.path("archive"), &world.path(mirror), &name, |_| ());
        }
        Mirrors { lost: archive.id().to_owned(), world, name }
    }

    fn promote(&self, root: &str, watcher: &Watcher) -> Result<Change, PromotionError> {
        let collection = Collection::open(&self.world.path(root), watcher)?;
        let other = if root == "a" { "b" } else { "a" };
        let others = [Collection::open(&self.world.path(other), &Watcher::default())?];
        let lost = [self.lost.clone()];
        let loss = Loss {
            collections: &lost,
            reason: "fire",
            sight: &Sight::of_many(&others),
            discard: Discard::Refuse,
        };
        self.with_registrar(&collection, |registrar, report| {
            registrar.promote_all(&[self.name.parse().unwrap()], &loss, report)
        })
    }

    fn with_registrar(
        &self,
        collection: &Collection,
        act: impl FnOnce(&Registrar<'_>, &mut Report<'_>) -> ControlFlow<()>,
    ) -> Result<Change, PromotionError> {
        let (agent, clock) = (agent(), TestClock::at("2026-12-01T00:00:00Z"));
        let writer = collection.writer(&agent, &crate::support::waiter(&clock))?;
        let (writer, interrupt) = (Some(&writer), Interrupt::default());
        let caller = caller(&agent, &clock, &interrupt);
        let registrar = Registrar { collection, writer, caller };
        let mut outcome = Err(PromotionError::Interrupted);
        let _ = act(&registrar, &mut |_, result| {
            outcome = result;
            ControlFlow::Continue(())
        });
        outcome
    }

    /// Gives the item of the archive up, with no mirror in sight.
    fn accept_loss(&self, watcher: &Watcher) -> Result<GivenUp, PromotionError> {
        let collection = Collection::open(&self.world.path("archive"), watcher)?;
        let (agent, clock) = (agent(), TestClock::at("2026-12-01T00:00:00Z"));
        let writer = collection.writer(&agent, &crate::support::waiter(&clock))?;
        let (writer, interrupt) = (Some(&writer), Interrupt::default());
        let caller = caller(&agent, &clock, &interrupt);
        let registrar = Registrar { collection: &collection, writer, caller };
        registrar.accept_loss(&self.name.parse().unwrap(), &[])
    }

    fn state(&self, root: &str) -> State {
        let collection = Collection::open(&self.world.path(root), &Watcher::default()).unwrap();
        let item = collection.item(&self.name.parse().unwrap()).unwrap();
        let (sidecar, seal) = item.sidecar().unwrap();
        assert_eq!(seal, urepo::sidecar::Seal::Intact);
        sidecar.state
    }

    /// The state by the ledger.
    fn recorded(&self, root: &str) -> Option<State> {
        let collection = Collection::open(&self.world.path(root), &Watcher::default()).unwrap();
        collection.last_record(&self.name.parse().unwrap()).unwrap().unwrap().state()
    }
}

#[test]
fn a_promotion_that_fails_anywhere_is_completed_by_the_next() {
    for mode in [Mode::Killed, Mode::Once(rustix::io::Errno::IO)] {
        for at in System::Own.points() {
            let mirrors = Mirrors::new();
            let faults = Arc::new(Faults::new(&mirrors.world.path("a"), at, mode).of_changes());
            let watcher = Watcher::new(Arc::clone(&faults) as _);
            let done = first_user(|| mirrors.promote("a", &watcher));
            assert!(done.is_err() || mirrors.state("a") == State::Original, "{mode:?} at {at}");
            let again = mirrors.promote("a", &Watcher::default()).unwrap();
            assert!(matches!(again, Change::Promoted | Change::Nothing), "{mode:?} at {at}");
            assert_eq!((mirrors.state("a"), mirrors.state("b")), (State::Original, State::Copy));
            assert_eq!(mirrors.recorded("a"), Some(State::Original), "{mode:?} at {at}");
            recovered_whole(&mirrors.world.path("a"), &format!("{mode:?} at {at}"));
            if faults.struck().is_none() {
                assert!(at > 5, "only {at} operations were made to fail");
                break;
            }
        }
    }
}

/// What lies in the place of a lost item goes to the trash once, and the ledger says that it was given up.
#[test]
fn a_loss_that_is_accepted_at_any_operation() {
    for mode in [Mode::Killed, Mode::DISK, Mode::Once(rustix::io::Errno::NOSPC)] {
        for at in System::Own.points() {
            let mirrors = Mirrors::new();
            let root = mirrors.world.path("archive");
            let item = root.join(&mirrors.name);
            std::fs::remove_file(item.join("item.toml")).unwrap();
            std::fs::rename(item.join("doc"), item.join("left")).unwrap();
            let faults = Arc::new(Faults::new(&root, at, mode).of_changes());
            let watcher = Watcher::new(Arc::clone(&faults) as _);
            let done = first_user(|| mirrors.accept_loss(&watcher));
            let told = format!("{mode:?} at {at}, {:?}: {done:?}", faults.struck());
            let again = mirrors.accept_loss(&Watcher::default());
            let is_done = matches!(again, Err(PromotionError::NotLost { .. }));
            assert!(again.is_ok() || is_done, "{again:?} after {told}");
            assert!(done.is_err() || is_done, "{told}");
            assert!(!item.exists(), "{told}");
            let trash = std::fs::read_dir(root.join(".urepo/trash")).unwrap();
            let kept = trash.filter(|entry| entry.as_ref().unwrap().path().join("left").exists());
            assert_eq!(kept.count(), 1, "{told}");
            assert_eq!(mirrors.recorded("archive"), None, "{told}");
            recovered_whole(&root, &told);
            if faults.struck().is_none() {
                assert!(at > 5, "only {at} operations were made to fail");
                break;
            }
        }
    }
}

#[test]
fn between_two_users() {
    between_users(a_promotion_that_fails_anywhere_is_completed_by_the_next);
}

/// One mirror can only be read; the lock of the other one is not let go for that.
#[test]
fn every_lock_that_can_be_had_is_kept() {
    let mirrors = Mirrors::new();
    let world = &mirrors.world;
    make_collection(&world.path("c"));
    copy_item(&world.path("archive"), &world.path("c"), &mirrors.name, |_| ());
    let name: RepositoryName = mirrors.name.parse().unwrap();
    let open = |root: &str, watcher| Collection::open(&world.path(root), &watcher).unwrap();
    let locked_at = Arc::new(LockedAt {
        path: world.path("a").join(&mirrors.name).join("item.toml"),
        other: open("c", Watcher::default()),
        locked: AtomicBool::default(),
    });
    let others = [open("b", Watcher::new(Arc::new(ReadOnly))), open("c", Watcher::default())];
    let lost = [mirrors.lost.clone()];
    let loss = Loss {
        collections: &lost,
        reason: "fire",
        sight: &Sight::of_many(&others),
        discard: Discard::Refuse,
    };
    let collection = open("a", Watcher::new(Arc::clone(&locked_at) as _));
    let promote = |registrar: &Registrar<'_>, report: &mut Report<'_>| {
        registrar.promote_all(std::slice::from_ref(&name), &loss, report)
    };
    assert_eq!(mirrors.with_registrar(&collection, promote).unwrap(), Change::Promoted);
    assert!(locked_at.locked.load(Ordering::Relaxed));
}

/// Many items share the syncs of their sidecars, their records and the index.
#[test]
fn many_items_take_few_syncs() {
    const ITEMS: usize = 60;
    let world = World::new();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let [archive, _] = ["archive", "a"].map(|root| make_collection(&world.path(root)));
    let files = (0..ITEMS).map(|number| world.write(&format!("{number}.txt"), "Dear all"));
    deposit(&archive, files.map(request).collect(), options(), &clock, |_| ()).unwrap();
    let names = crate::support::whole_items(&archive);
    for name in &names {
        copy_item(&world.path("archive"), &world.path("a"), name, |_| ());
    }
    let names: Vec<_> = names.iter().map(|name| name.parse().unwrap()).collect();
    let trace = Arc::new(Trace::default());
    let collection =
        Collection::open(&world.path("a"), &Watcher::new(Arc::clone(&trace) as _)).unwrap();
    let agent = agent();
    let writer = collection.writer(&agent, &crate::support::waiter(&clock)).unwrap();
    let interrupt = Interrupt::default();
    let registrar = Registrar {
        collection: &collection,
        writer: Some(&writer),
        caller: caller(&agent, &clock, &interrupt),
    };
    let lost = [archive.id().to_owned()];
    let loss = Loss {
        collections: &lost,
        reason: "fire",
        sight: Sight::alone(),
        discard: Discard::Refuse,
    };
    trace.0.lock().unwrap().clear();
    let mut promoted = Vec::new();
    let flow = registrar.promote_all(&names, &loss, &mut |name, result| {
        assert_eq!(result.unwrap(), Change::Promoted);
        promoted.push(name.clone());
        ControlFlow::Continue(())
    });
    assert!(flow.is_continue());
    assert_eq!(promoted, names);
    let is_sync = |(operation, _): &&(Operation, PathBuf)| {
        matches!(
            operation,
            Operation::SyncFile | Operation::SyncDirectory | Operation::SyncFileSystem
        )
    };
    let syncs = trace.0.lock().unwrap().iter().filter(is_sync).count();
    assert!(syncs < ITEMS, "{syncs} syncs");
    for name in &names {
        assert_eq!(collection.item(name).unwrap().sidecar().unwrap().0.state, State::Original);
    }
}
