//! Waits end: at their limit, or when a stop is requested, whatever is waited for.

use std::path::Path;
use std::time::Duration;

use urepo::clock::{Clock, SystemClock};
use urepo::collection::{Collection, CollectionError, Issuer, lock_changes, recover};
use urepo::disk::{Dir, Lock, LockError, LockMode, Watcher};
use urepo::distributor::{DistributorError, Patience, Setting};
use urepo::identity::Instant;
use urepo::interrupt::Interrupt;
use urepo::wait::{Waited, Waiter};

use crate::index::{index_file, open, try_catalog, with_index};
use crate::support::{
    PATIENCE, TestClock, World, agent, deposit, issue_options, options, request, waiter,
};

/// A clock of a world in which somebody presses Ctrl-C as soon as one waits.
struct Impatient {
    clock: TestClock,
    interrupt: Interrupt,
}

impl Impatient {
    fn new() -> Impatient {
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        Impatient { clock, interrupt: Interrupt::default() }
    }

    fn waiter(&self) -> Waiter<'_> {
        Waiter::new(self, &self.interrupt, PATIENCE)
    }
}

impl Clock for Impatient {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn pause(&self, duration: Duration) {
        assert!(duration <= urepo::wait::LONGEST_PAUSE, "nothing is heard for {duration:?}");
        self.interrupt.request();
        self.clock.pause(duration);
    }
}

/// Locks the file `name` of urepo's own directory, as another process would.
fn held(root: &Path, name: &str) -> Lock {
    let own = Dir::open(&root.join(".urepo"), Watcher::default()).unwrap();
    let holder = agent().holder(&SystemClock);
    Lock::take(&own, name, LockMode::Exclusive, &holder, &waiter(&SystemClock)).unwrap()
}

fn world_with_name() -> (World, Collection, urepo::identity::RepositoryName) {
    let world = World::with_collection();
    let collection = open(&world.path("archive"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let path = world.write("a.txt", "alpha");
    let (outcomes, _) =
        deposit(&collection, vec![request(path)], options(), &clock, |_| ()).unwrap();
    let name = outcomes[0].result.as_ref().unwrap().label.name.clone();
    (world, collection, name)
}

#[test]
fn polling_hears_a_stop_and_knows_its_limit() {
    let clock = Impatient::new();
    let never = || Ok::<Option<()>, ()>(None);
    assert_eq!(clock.waiter().poll(never), Ok(Waited::Interrupted));
    // Once is always tried, without a wait: what has to be cleared up can be.
    assert_eq!(clock.waiter().poll(|| Ok::<_, ()>(Some(7))), Ok(Waited::Ready(7)));
    assert!(clock.waiter().pause(Duration::from_secs(3600)).is_err());
    let clock = Impatient::new();
    assert_eq!(clock.waiter().up_to(Duration::ZERO).poll(never), Ok(Waited::TimedOut));
    assert!(!clock.interrupt.requested(), "no wait, no pause");
}

#[test]
fn locks_of_a_collection() {
    let (world, collection, _) = world_with_name();
    let root = world.path("archive");
    let agent = agent();
    let interrupted = |error: &CollectionError| {
        assert!(matches!(error, CollectionError::Interrupted { .. }), "{error:?}");
        let cause = std::error::Error::source(error).unwrap().to_string();
        assert!(cause.contains("process 4312 on vault"), "{cause}");
    };
    let lock = held(&root, "lock");
    interrupted(&collection.writer(&agent, &Impatient::new().waiter()).unwrap_err());
    interrupted(&recover(&collection, &agent, &Impatient::new().waiter()).unwrap_err());
    drop(lock);

    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let locks = lock_changes([&collection], &agent, &waiter(&clock)).unwrap();
    interrupted(&lock_changes([&collection], &agent, &Impatient::new().waiter()).unwrap_err());
    drop(locks);
}

/// Names: the memory that another process has, and a date that has not come yet.
#[test]
fn names() {
    let (world, collection, _) = world_with_name();
    let issue = |clock: &Impatient, setting| {
        let mut options = issue_options();
        options.granularity = Some(setting);
        options.interrupt = clock.interrupt.clone();
        options.patience = Patience { lock: PATIENCE, date: None };
        let agent = agent();
        let mut issuer = Issuer::new(&collection, &agent, clock, &options).unwrap();
        match issuer.mint(1) {
            Err(CollectionError::Distributor(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let by_minutes = "60".parse().unwrap();
    let error = issue(&Impatient::new(), by_minutes);
    assert!(matches!(error, DistributorError::Interrupted { .. }), "{error}");
    let memories = urepo::layout::OWN.to_owned() + "/memory";
    let memory = std::fs::read_dir(world.path("archive").join(memories)).unwrap();
    let name = memory.map(|it| it.unwrap().file_name().into_string().unwrap()).next().unwrap();
    let _lock = held(&world.path("archive"), &format!("memory/{name}"));
    let error = issue(&Impatient::new(), Setting::Auto);
    let lock = matches!(error, DistributorError::Lock(LockError::Interrupted { .. }));
    assert!(lock, "{error}");
}

/// Identifiers without items have a line in the ledger: nothing is issued while another process changes the collection.
#[test]
fn minting_waits_for_a_change_as_long_as_told() {
    let (world, _, _) = world_with_name();
    let root = world.path("archive");
    let _lock = held(&root, "change.lock");
    let mint = |waiter: Waiter<'static>| {
        let collection = open(&root).with_waiter(waiter);
        let (agent, clock) = (agent(), TestClock::at("2026-11-21T02:13:00Z"));
        let mut issuer = Issuer::new(&collection, &agent, &clock, &issue_options()).unwrap();
        let last = |issuer: &Issuer<'_>| format!("{:?}", issuer.look().unwrap());
        let before = last(&issuer);
        let error = issuer.mint(1).unwrap_err();
        assert_eq!(last(&issuer), before, "an identifier was given up");
        error
    };
    let error = mint(Waiter::default().up_to(Duration::ZERO));
    assert!(matches!(error, CollectionError::Locked { .. }), "{error:?}");
    let clock: &'static Impatient = Box::leak(Box::new(Impatient::new()));
    let error = mint(clock.waiter());
    assert!(matches!(error, CollectionError::Interrupted { .. }), "{error:?}");
}

#[test]
fn the_program_waits_for_a_change_as_long_as_told() {
    let (world, _, _) = world_with_name();
    let _lock = held(&world.path("archive"), "change.lock");
    let ran = world.run("UREPO_LOCK_WAIT=0s -c archive mint");
    assert_eq!((ran.code, ran.stdout.as_str()), (11, ""), "{}", ran.stderr);
}

#[test]
fn the_index_hears_a_stop() {
    let (world, _, _) = world_with_name();
    let root = world.path("archive");
    with_index(&root);
    let other = rusqlite::Connection::open(index_file(&root)).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let clock: &'static Impatient = Box::leak(Box::new(Impatient::new()));
    let collection = open(&root).with_waiter(clock.waiter());
    assert!(try_catalog(&collection, |_| ()).is_err());
    assert!(clock.interrupt.requested());
}
