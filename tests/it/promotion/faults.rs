//! Promotions that fail or are killed at any file operation, and two at once.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use urepo::collection::Collection;
use urepo::disk::{Operation, Watch, Watcher};
use urepo::holdings::{OriginalError, UnseenRule};
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::promotion::{Change, DifferenceRule, Loss, PromotionError, Registrar, Report};

use crate::support::{
    Faults, FullDisk, LockedAt, Mode, ReadOnly, System, TestClock, Trace, World, agent, append,
    between_users, caller, change_item, copy_item, deposit, first_user, inventory_file,
    inventory_line, make_collection, options, recovered_whole, request,
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
            others: &others,
            untraced: UnseenRule::Refuse,
        };
        self.with_registrar(&collection, |registrar, report| {
            registrar.promote_all(&[self.name.parse().unwrap()], &loss, report)
        })
    }

    fn demote(&self, root: &str, watcher: &Watcher) -> Result<Change, PromotionError> {
        self.demote_by(DifferenceRule::Refuse, root, watcher)
    }

    fn demote_by(
        &self,
        rule: DifferenceRule,
        root: &str,
        watcher: &Watcher,
    ) -> Result<Change, PromotionError> {
        let collection = Collection::open(&self.world.path(root), watcher)?;
        let original = Collection::open(&self.world.path("a"), &Watcher::default())?;
        self.with_registrar(&collection, |registrar, report| {
            registrar.demote_all(&[self.name.parse().unwrap()], &original, rule, report)
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

    fn state(&self, root: &str) -> State {
        let collection = Collection::open(&self.world.path(root), &Watcher::default()).unwrap();
        let item = collection.item(&self.name.parse().unwrap()).unwrap();
        let (sidecar, seal) = item.sidecar().unwrap();
        assert_eq!(seal, urepo::sidecar::Seal::Intact);
        sidecar.state
    }

    /// The state by the inventory.
    fn recorded(&self, root: &str) -> Option<State> {
        let collection = Collection::open(&self.world.path(root), &Watcher::default()).unwrap();
        collection.last_record(&self.name.parse().unwrap()).unwrap().unwrap().line.state()
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

#[test]
fn a_demotion_that_fails_anywhere_is_completed_by_the_next() {
    for at in System::Own.points() {
        let mirrors = Mirrors::new();
        mirrors.promote("a", &Watcher::default()).unwrap();
        let faults = Faults::new(&mirrors.world.path("archive"), at, Mode::Killed);
        let faults = Arc::new(faults.of_changes());
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let _ = first_user(|| mirrors.demote("archive", &watcher));
        mirrors.demote("archive", &Watcher::default()).unwrap();
        assert_eq!((mirrors.state("a"), mirrors.state("archive")), (State::Original, State::Copy));
        assert_eq!(mirrors.recorded("archive"), Some(State::Copy), "at {at}");
        recovered_whole(&mirrors.world.path("archive"), &format!("at {at}"));
        if faults.struck().is_none() {
            assert!(at > 5, "only {at} operations were made to fail");
            return;
        }
    }
}

/// One that was put back by hand stays one that left.
#[test]
fn an_original_that_was_put_back_is_recorded_as_it_was() {
    let mirrors = Mirrors::new();
    mirrors.promote("a", &Watcher::default()).unwrap();
    let archive = mirrors.world.path("archive");
    change_item(&archive, &mirrors.name, |sidecar| {
        sidecar.metadata.add("creator", "A. Archivist").unwrap();
    });
    let left = format!("left {} migrated 60cb73fd mirror", mirrors.name);
    let file = inventory_file(&archive, &mirrors.name);
    append(&file, &inventory_line("2026-11-23T10:00:00Z", &left));
    let disk = Watcher::new(FullDisk::new(archive.join(".urepo/trash"), 0));
    mirrors.demote_by(DifferenceRule::Discard, "archive", &disk).unwrap_err();
    assert_eq!((mirrors.state("archive"), mirrors.recorded("archive")), (State::Original, None));
    let last = std::fs::read_to_string(file).unwrap();
    assert!(last.lines().last().unwrap().contains(&left), "{last}");
}

#[test]
fn between_two_users() {
    between_users(a_promotion_that_fails_anywhere_is_completed_by_the_next);
    between_users(a_demotion_that_fails_anywhere_is_completed_by_the_next);
}

/// Promotes the Copy of the other mirror while the files of this one are verified.
struct Rival {
    mirrors: Arc<Mirrors>,
    file: PathBuf,
    once: Once,
}

impl Watch for Rival {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Open && path == self.file {
            self.once.call_once(|| {
                self.mirrors.promote("b", &Watcher::default()).unwrap();
            });
        }
        Ok(())
    }
}

#[test]
fn of_two_promotions_at_once_one_is_refused() {
    let mirrors = Arc::new(Mirrors::new());
    let file = mirrors.world.path("a").join(&mirrors.name).join("doc/letter.txt");
    let rival = Rival { mirrors: Arc::clone(&mirrors), file, once: Once::new() };
    let refused = mirrors.promote("a", &Watcher::new(Arc::new(rival)));
    assert!(
        matches!(refused, Err(PromotionError::Original(OriginalError::Elsewhere { .. }))),
        "{refused:?}"
    );
    assert_eq!((mirrors.state("a"), mirrors.state("b")), (State::Copy, State::Original));
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
        name: name.clone(),
        locked: AtomicBool::default(),
    });
    let others = [open("b", Watcher::new(Arc::new(ReadOnly))), open("c", Watcher::default())];
    let lost = [mirrors.lost.clone()];
    let loss =
        Loss { collections: &lost, reason: "fire", others: &others, untraced: UnseenRule::Refuse };
    let collection = open("a", Watcher::new(Arc::clone(&locked_at) as _));
    let promote = |registrar: &Registrar<'_>, report: &mut Report<'_>| {
        registrar.promote_all(std::slice::from_ref(&name), &loss, report)
    };
    assert_eq!(mirrors.with_registrar(&collection, promote).unwrap(), Change::Promoted);
    assert!(locked_at.locked.load(Ordering::Relaxed));
}

/// Lets the sidecar at a path not be replaced.
struct Stuck(PathBuf);

impl Watch for Stuck {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let is_meant = operation == Operation::Rename && path == self.0;
        if is_meant { Err(rustix::io::Errno::IO.into()) } else { Ok(()) }
    }
}

/// A failure of the items that are to be demoted leaves in the log what went to the trash with them.
#[test]
fn what_was_discarded_is_logged_though_others_fail() {
    let world = World::new();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let [archive, mirror] = ["archive", "mirror"].map(|root| make_collection(&world.path(root)));
    let files = ["one", "two", "three"].map(|name| world.write(name, name));
    deposit(&archive, files.map(request).into(), options(), &clock, |_| ()).unwrap();
    let names = crate::support::whole_items(&archive);
    for name in &names {
        let original = |sidecar: &mut urepo::sidecar::Sidecar| {
            sidecar.state = State::Original;
            if *name == names[0] {
                sidecar.metadata.add("creator", "A. Archivist").unwrap();
            }
        };
        copy_item(&world.path("archive"), &world.path("mirror"), name, original);
    }
    let stuck = Stuck(world.path("archive").join(&names[1]).join("item.toml"));
    let archive = Collection::open(&world.path("archive"), &Watcher::new(Arc::new(stuck))).unwrap();
    let (agent, interrupt) = (agent(), Interrupt::default());
    let writer = archive.writer(&agent, &crate::support::waiter(&clock)).unwrap();
    let registrar = Registrar {
        collection: &archive,
        writer: Some(&writer),
        caller: caller(&agent, &clock, &interrupt),
    };
    let names: Vec<RepositoryName> = names.iter().map(|name| name.parse().unwrap()).collect();
    let mut done = Vec::new();
    let _ = registrar.demote_all(&names, &mirror, DifferenceRule::Discard, &mut |_, result| {
        done.push(result.ok());
        ControlFlow::Continue(())
    });
    assert_eq!(done, [Some(Change::Discarded), None, None]);
    let log = world.path("archive/.urepo/log/2026-11.jsonl");
    let log = std::fs::read_to_string(log).unwrap();
    let demoted = |name: &RepositoryName| {
        log.lines().any(|line| line.contains("demotion") && line.contains(&format!("\"{name}\"")))
    };
    assert_eq!((demoted(&names[0]), demoted(&names[1])), (true, false), "{log}");
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
    let loss =
        Loss { collections: &lost, reason: "fire", others: &[], untraced: UnseenRule::Refuse };
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
