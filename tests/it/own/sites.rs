//! Two collections of one host.

use std::path::PathBuf;

use urepo::collection::{
    Collection, CollectionError, Founder, IssueOptions, IssuePurpose, Issuer, Register, Subsystem,
    Takeover, init,
};
use urepo::deposit::Depositor;
use urepo::disk::Watcher;
use urepo::distributor::{FutureDate, Notice, Patience, Unseen};
use urepo::holdings::Peers;
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::progress::NoProgress;

use crate::support::{
    PATIENCE, TestClock, agent, issue_options, options, request_of_stream, scratch, waiter,
};

pub(super) const EARLY: &str = "2026-11-21T02:14:20Z";
pub(super) const AHEAD: &str = "2026-11-21T03:13:20Z";
pub(super) const LATER: &str = "2026-11-21T03:13:40Z";

/// Two collections of one host, with one register.
pub(super) struct Sites {
    scratch: tempfile::TempDir,
    pub(super) clock: TestClock,
    pub(super) register: Register,
    /// Watches the processes.
    pub(super) watcher: Watcher,
    /// Whether they have one memory.
    pub(super) is_shared: bool,
}

impl Sites {
    /// The clock is at 02:13:20.
    pub(super) fn new(is_shared: bool) -> Sites {
        let scratch = scratch();
        let path = |name: &str| scratch.path().join(name);
        let register = Register {
            dir: Some(path("state")),
            known: vec![path("one"), path("two")],
            allowed: vec![path("memory")],
            ..Register::default()
        };
        let clock = TestClock::at("2026-11-21T02:13:20Z");
        Sites { clock, register, watcher: Watcher::default(), is_shared, scratch }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub(super) fn init(
        &self,
        name: &str,
        takeover: Takeover,
        mirrors: &[Collection],
    ) -> Vec<Notice> {
        self.init_of(
            Subsystem::new("archive.example.org".parse().unwrap()),
            name,
            takeover,
            mirrors,
        )
    }

    pub(super) fn init_of(
        &self,
        subsystem: Subsystem,
        name: &str,
        takeover: Takeover,
        mirrors: &[Collection],
    ) -> Vec<Notice> {
        let distributor = self.is_shared.then(|| self.path("memory"));
        let subsystem = Subsystem { distributor, ..subsystem };
        let founder = Founder {
            agent: &agent(),
            clock: &self.clock,
            patience: Patience { lock: PATIENCE, date: None },
            register: &self.register,
            takeover,
            names_from: mirrors,
        };
        init(&self.path(name), name, subsystem, &founder, &Watcher::default()).unwrap().1
    }

    pub(super) fn open(&self, name: &str) -> Collection {
        Collection::open(&self.path(name), &self.watcher).unwrap()
    }

    /// An item that a process of its own makes, or why it does not.
    pub(super) fn try_deposit(&self, name: &str) -> Result<RepositoryName, String> {
        let (agent, clock) = (agent(), &self.clock);
        let collection =
            Collection::open(&self.path(name), &self.watcher).map_err(|error| error.to_string())?;
        let issue = IssueOptions { register: self.register.clone(), ..issue_options() };
        let depositor = Depositor {
            collection: &collection,
            issuer: Issuer::new(&collection, &agent, clock, &issue)
                .map_err(|error| error.to_string())?,
            writer: collection.writer(&agent, &waiter(clock)).map_err(|error| error.to_string())?,
            options: options(),
            peers: Peers::default(),
            known: None,
            clock,
            progress: &NoProgress,
            interrupt: &Interrupt::default(),
        };
        let mut results = Vec::new();
        let summary = depositor.run([request_of_stream("a.txt", b"a")].into_iter(), |group| {
            results.extend(group.into_iter().map(|outcome| outcome.result));
            Ok(())
        });
        let result = results.remove(0);
        result.map(|deposited| deposited.label.name).map_err(|_| format!("{:?}", summary.fatal))
    }

    #[track_caller]
    pub(super) fn deposit(&self, name: &str, time: &str) -> RepositoryName {
        self.clock.set(time);
        self.try_deposit(name).unwrap()
    }

    pub(super) fn take_over(
        &self,
        name: &str,
        future: FutureDate,
        unseen: Unseen,
    ) -> Result<Vec<Notice>, CollectionError> {
        self.take_over_from(&[], name, future, unseen)
    }

    /// The same, where a person has named `mirrors`.
    pub(super) fn take_over_from(
        &self,
        mirrors: &[Collection],
        name: &str,
        future: FutureDate,
        unseen: Unseen,
    ) -> Result<Vec<Notice>, CollectionError> {
        let (collection, agent) = (Collection::open(&self.path(name), &self.watcher)?, agent());
        collection.rebuild(&agent, &waiter(&self.clock))?;
        let (purpose, register) = (IssuePurpose::Care, self.register.clone());
        let options = IssueOptions { purpose, register, ..issue_options() };
        let mut issuer = Issuer::new(&collection, &agent, &self.clock, &options)?;
        issuer.adopt(future, unseen, mirrors)
    }

    /// As `urepo recover`.
    pub(super) fn catch_up(&self, name: &str) -> Result<Vec<Notice>, CollectionError> {
        let (collection, agent) = (self.open(name), agent());
        let (purpose, register) = (IssuePurpose::Care, self.register.clone());
        let options = IssueOptions { purpose, register, ..issue_options() };
        Issuer::new(&collection, &agent, &self.clock, &options)?.catch_up(&[])
    }

    /// The files of the memory that `name` issues from.
    pub(super) fn memory(&self, name: &str) -> PathBuf {
        if self.is_shared {
            self.path("memory")
        } else {
            self.path(name).join(".urepo/distributor")
        }
    }
    /// The file of reserved dates beside it.
    pub(super) fn reserved(&self, name: &str) -> PathBuf {
        self.memory(name).join("example.org+archive.reserved")
    }
}
