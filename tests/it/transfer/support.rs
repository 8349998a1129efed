//! Two collections, and what is done between them.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use urepo::collection::{Collection, Names, Subsystem};
use urepo::custody::CustodyId;
use urepo::disk::{Watch, Watcher};
use urepo::holdings::Sight;
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
pub(super) use urepo::item::State;
use urepo::progress::NoProgress;
use urepo::sidecar::Sidecar;
use urepo::transfer::{
    self, Leaves, NameFeed, Options, Outcome, Recovery, RunMode, Step, Summary, Tombstones,
    Transfer, TransferError, Verb,
};
use urepo::verify::{self, Report, Scope};

use crate::support::{
    TestClock, agent, caller, copy_tree, deposit, init, make_collection, options, request, scratch,
    waiter,
};

/// Two collections, on one file system or on two.
pub(super) struct Pair {
    /// One directory, or one on each file system.
    scratch: Vec<tempfile::TempDir>,
    roots: [PathBuf; 2],
    sources: PathBuf,
    turned: AtomicBool,
    /// Items of so many bytes are taken up again; none unless a test wants that.
    pub resume_bytes: AtomicU64,
    /// What is done about tombstones at the source.
    pub tombstones: Mutex<Tombstones>,
    /// Whether runs only plan.
    pub plans: AtomicBool,
    pub clock: TestClock,
    /// Stops the next run, when it is requested.
    pub interrupt: Mutex<Interrupt>,
}

pub(super) fn step(outcome: &Outcome) -> Step {
    match &outcome.result {
        Ok(transferred) => transferred.step,
        Err(error) => panic!("{error:?}"),
    }
}

impl Pair {
    pub(super) fn new() -> Pair {
        Pair::make(vec![scratch()])
    }

    /// The destination is on another file system, where there are two.
    pub(super) fn across() -> Pair {
        Pair::make(vec![scratch(), tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()])
    }

    fn make(scratch: Vec<tempfile::TempDir>) -> Pair {
        let pair = Pair::at(scratch, "2026-11-21T02:13:00Z");
        make_sources(&pair.sources);
        make_collection(&pair.roots[0]);
        let subsystem = Subsystem::new("mirror.example.org".parse().unwrap());
        init(&pair.roots[1], "mirror", subsystem, &Watcher::default()).unwrap();
        pair
    }

    /// A copy of both collections, and of a third, as they are: for each of many runs that begin alike.
    pub(super) fn twin(&self) -> Pair {
        let copy = |from: &tempfile::TempDir| {
            let to = tempfile::tempdir_in(from.path().parent().unwrap()).unwrap();
            copy_tree(from.path(), to.path());
            to
        };
        Pair::at(self.scratch.iter().map(copy).collect(), "2026-11-21T03:00:00Z")
    }

    fn at(scratch: Vec<tempfile::TempDir>, now: &str) -> Pair {
        let (first, last) = (scratch[0].path(), scratch[scratch.len() - 1].path());
        let (roots, sources) = ([first.join("from"), last.join("to")], first.join("sources"));
        let clock = TestClock::at(now);
        Pair {
            scratch,
            roots,
            sources,
            turned: AtomicBool::new(false),
            resume_bytes: AtomicU64::new(u64::MAX),
            tombstones: Mutex::default(),
            plans: AtomicBool::new(false),
            clock,
            interrupt: Mutex::default(),
        }
    }

    pub(super) fn root(&self, at: usize) -> &Path {
        &self.roots[at ^ usize::from(self.turned.load(Ordering::Relaxed))]
    }

    fn opened(&self, at: usize) -> Collection {
        Collection::open(self.root(at), &Watcher::default()).unwrap()
    }

    pub(super) fn from(&self) -> Collection {
        self.opened(0)
    }

    pub(super) fn to(&self) -> Collection {
        self.opened(1)
    }

    pub(super) fn third(&self) -> Collection {
        let root = self.roots[0].with_file_name("third");
        if root.exists() {
            return Collection::open(&root, &Watcher::default()).unwrap();
        }
        let subsystem = Subsystem::new("third.example.org".parse().unwrap());
        init(&root, "third", subsystem, &Watcher::default()).unwrap()
    }

    /// Source and destination change places.
    pub(super) fn turn(&self) {
        self.turned.fetch_xor(true, Ordering::Relaxed);
    }

    /// Deposits a directory with everything that is kept.
    pub(super) fn deposit_tree(&self) -> RepositoryName {
        let requests = vec![request(self.sources.join("dir"))];
        let (mut outcomes, _) =
            deposit(&self.from(), requests, options(), &self.clock, |_| ()).unwrap();
        outcomes.remove(0).result.unwrap().label.name
    }

    pub(super) fn sidecar_at_source(&self, name: &RepositoryName) -> Sidecar {
        self.from().item(name).unwrap().sidecar().unwrap().0
    }

    pub(super) fn sidecar_at_destination(&self, name: &RepositoryName) -> Sidecar {
        self.to().item(name).unwrap().sidecar().unwrap().0
    }

    /// Changes a file of an item at the source, as a later version of it.
    pub(super) fn edit_source(&self, name: &RepositoryName, path: &str, bytes: &[u8]) {
        edit(&self.from(), name, path, bytes);
    }

    /// What a dry run says.
    pub(super) fn plan(&self, verb: Verb, leaves: Leaves) -> Vec<Outcome> {
        self.plans.store(true, Ordering::Relaxed);
        let outcomes = self.run(verb, leaves);
        self.plans.store(false, Ordering::Relaxed);
        outcomes
    }

    pub(super) fn run(&self, verb: Verb, leaves: Leaves) -> Vec<Outcome> {
        self.run_between(&self.from(), &self.to(), verb, leaves)
    }

    /// Transfers everything, with nothing wrong beyond single items.
    pub(super) fn run_between(
        &self,
        from: &Collection,
        to: &Collection,
        verb: Verb,
        leaves: Leaves,
    ) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let summary = self.try_between(from, to, verb, leaves, |outcome| outcomes.push(outcome));
        assert!(summary.fatal.is_none(), "{summary:?}");
        outcomes
    }

    /// Migrates one item that is asked for by name.
    pub(super) fn migrate_one(
        &self,
        from: &Collection,
        to: &Collection,
        name: &RepositoryName,
    ) -> Outcome {
        let feed: Box<NameFeed<'_>> = Box::new(|take| {
            let _ = take(name.clone());
            Ok(())
        });
        let mut outcomes = Vec::new();
        let mut each = |outcome| outcomes.push(outcome);
        self.transfer(from, to, Verb::Migrate, Leaves::Stub, feed, &mut each).unwrap();
        outcomes.remove(0)
    }

    pub(super) fn try_between(
        &self,
        from: &Collection,
        to: &Collection,
        verb: Verb,
        leaves: Leaves,
        mut each: impl FnMut(Outcome),
    ) -> Summary {
        let listing = urepo::collection::Names::default();
        match self.transfer(from, to, verb, leaves, listing.feed(from), &mut each) {
            Ok(summary) => summary,
            Err(error) => Summary { fatal: Some(error), ..Summary::default() },
        }
    }

    pub(super) fn transfer(
        &self,
        from: &Collection,
        to: &Collection,
        verb: Verb,
        leaves: Leaves,
        feed: Box<NameFeed<'_>>,
        each: &mut impl FnMut(Outcome),
    ) -> Result<Summary, TransferError> {
        let (agent, interrupt) = (agent(), self.interrupt.lock().unwrap().clone());
        let plans = self.plans.load(Ordering::Relaxed);
        let transfer = Transfer {
            from,
            to,
            writer: (!plans).then(|| to.writer(&agent, &waiter(&self.clock))).transpose()?,
            source_writer: (verb == Verb::Migrate && !plans)
                .then(|| from.writer_to_delete(&agent, &waiter(&self.clock)))
                .transpose()?,
            options: Options {
                verb,
                leaves,
                line_up: None,
                mode: if plans { RunMode::Plan } else { RunMode::Act },
                state: None,
                tombstones: *self.tombstones.lock().unwrap(),
                jobs: 1,
                resume_bytes: self.resume_bytes.load(Ordering::Relaxed),
            },
            sight: Sight::alone(),
            caller: caller(&agent, &self.clock, &interrupt),
        };
        Ok(transfer.run(feed, |outcomes| {
            outcomes.into_iter().for_each(&mut *each);
            Ok(())
        }))
    }

    /// Both collections with every operation on them watched.
    pub(super) fn watched(&self, watch: Arc<dyn Watch>) -> Option<(Collection, Collection)> {
        let watcher = Watcher::new(watch);
        let from = Collection::open(self.root(0), &watcher).ok()?;
        Some((from, Collection::open(self.root(1), &watcher).ok()?))
    }

    /// Whether verification finds nothing at all in either collection.
    pub(super) fn is_clean(&self) -> bool {
        [self.from(), self.to()].iter().all(|collection| findings(collection).is_empty())
    }

    /// How many migrations are under way, from either side.
    pub(super) fn open(&self) -> usize {
        [self.from(), self.to()]
            .iter()
            .map(|it| transfer::interrupted(it).unwrap().items.len())
            .sum()
    }

    /// Ends the migrations from the source that were interrupted.
    pub(super) fn recover(&self, from: &Collection, to: &Collection) -> Result<(), TransferError> {
        let (agent, waiter) = (agent(), waiter(&self.clock));
        let writer = from.writer(&agent, &waiter)?;
        let (giver, others) = (from, &[to][..]);
        let recovery = Recovery { giver, writer: &writer, others, agent: &agent, waiter: &waiter };
        for open in transfer::interrupted(from)?.items {
            recovery.end(&open.name)?;
        }
        Ok(writer.finish()?)
    }
}

/// What verification finds, as lines.
pub(super) fn findings(collection: &Collection) -> Vec<String> {
    let mut found = Vec::new();
    let options = verify::Options { depth: verify::Depth::Full, jobs: 1 };
    let interrupt = Interrupt::default();
    let names = Names::default();
    verify::verify(collection, Scope::All(&names), options, &NoProgress, &interrupt, |report| {
        match report {
            Report::Item(item) => {
                let lines = item.findings.as_slice().iter();
                found.extend(lines.map(|it| format!("{} {} {}", item.name, it.code, it.detail)));
            }
            Report::Tree(finding) => found.push(format!("{} {}", finding.code, finding.detail)),
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    found
}

fn make_sources(sources: &Path) {
    std::fs::create_dir_all(sources.join("dir/sub/empty")).unwrap();
    std::fs::write(sources.join("dir/a.txt"), "a").unwrap();
    std::fs::write(sources.join("dir/sub/b.bin"), vec![7; 300_000]).unwrap();
    std::os::unix::fs::symlink("sub/b.bin", sources.join("dir/link")).unwrap();
    let times = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    std::fs::File::open(sources.join("dir/sub")).unwrap().set_modified(times).unwrap();
}

/// Changes a file of an item, as a later version of it: new digest, later timestamp.
pub(crate) fn edit(collection: &Collection, name: &RepositoryName, path: &str, bytes: &[u8]) {
    use urepo::item::{Content, Totals};
    let item = collection.item(name).unwrap();
    let file = item.payload_path().join(path);
    std::fs::write(&file, bytes).unwrap();
    let changed = std::fs::metadata(&file).unwrap().modified().unwrap();
    let since = changed.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    rewrite(collection, name, |sidecar| {
        for entry in &mut sidecar.files {
            if let Content::File { bytes: size, digest, modified, .. } = &mut entry.content
                && entry.path.to_text() == path
            {
                *size = bytes.len() as u64;
                *digest = urepo::digest::Digest::of(bytes);
                *modified = urepo::identity::Instant::from_nanoseconds(since.try_into().unwrap());
            }
        }
        sidecar.payload = Totals::of(&sidecar.files);
        sidecar.timestamp = sidecar.timestamp.checked_add(urepo::identity::SECOND).unwrap();
        sidecar.custody = sidecar.custody.amended(fresh());
    });
}

/// Changes the description of an item, and nothing else.
pub(super) fn edit_description(collection: &Collection, name: &RepositoryName) {
    rewrite(collection, name, |sidecar| {
        sidecar.metadata.add("creator", "Somebody").unwrap();
        sidecar.described = sidecar.timestamp.checked_add(urepo::identity::SECOND);
        sidecar.custody = sidecar.custody.amended(fresh());
    });
}

/// A custody id that no other item has.
fn fresh() -> CustodyId {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    CustodyId::from(NUMBER.fetch_add(1, Ordering::Relaxed).to_be_bytes())
}

/// Changes the sidecar of an item, sealed.
pub(super) fn rewrite(
    collection: &Collection,
    name: &RepositoryName,
    change: impl FnOnce(&mut Sidecar),
) {
    let item = collection.item(name).unwrap();
    let (mut sidecar, _) = item.sidecar().unwrap();
    change(&mut sidecar);
    std::fs::write(item.path_of("item.toml"), sidecar.to_text()).unwrap();
    crate::support::record(collection.path(), name.as_str(), &sidecar);
}
