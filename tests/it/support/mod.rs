//! A world of its own for each test: a scratch directory, a clock, collections, the program.

mod copies;
mod ledger;
mod program;
mod terminal;
mod users;
mod watch;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use urepo::agent::{Agent, Caller};
use urepo::clock::{Clock, SystemClock};
use urepo::collection::{
    self, Collection, CollectionError, Founder, IssueOptions, IssuePurpose, Issuer, Subsystem,
};
use urepo::deposit::{
    CollisionRule, Depositor, Options, Outcome, Preset, Request, Source, SourcePlace, SourceRule,
    Summary,
};
use urepo::disk::{Links, Watcher};
use urepo::distributor::{ClockTrust, HostState, Patience, Setting};
use urepo::holdings::Peers;
use urepo::identity::{Instant, SECOND};
use urepo::interrupt::Interrupt;
use urepo::item::PayloadPath;
use urepo::progress::NoProgress;
use urepo::sidecar::Metadata;
use urepo::wait::Waiter;

pub(crate) use copies::{append, change_item, copy_item, copy_tree, original, record, send_away};
pub(crate) use ledger::{
    add_lines, forget, forget_head, ledger_file, ledger_line, ledger_lines, line_with, write_ledger,
};
pub(crate) use program::{Ran, World};
pub(crate) use terminal::{screen, terminal, wide_terminal};
pub(crate) use users::{ANNA, BEN, GROUP, between_users, first_user, share};
pub(crate) use watch::{
    Faults, LockedAt, Mode, Quicker, QuickerFounder, ReadOnly, System, Trace, mounted, on,
};

/// A clock that stands still but for pauses, and ticks a millisecond each time it is asked.
///
/// It knows no start of the machine unless it is given one.
pub(crate) struct TestClock(Mutex<Instant>);

impl TestClock {
    pub(crate) fn at(text: &str) -> TestClock {
        TestClock(Mutex::new(text.parse().unwrap()))
    }

    pub(crate) fn set(&self, text: &str) {
        *self.0.lock().unwrap() = text.parse().unwrap();
    }

    /// The clock jumps, or time passes.
    pub(crate) fn jump(&self, milliseconds: i64) {
        let mut now = self.0.lock().unwrap();
        *now = now.checked_add(i128::from(milliseconds) * SECOND / 1000).unwrap();
    }
}

impl Clock for TestClock {
    fn now(&self) -> Instant {
        let mut now = self.0.lock().unwrap();
        *now = now.checked_add(SECOND / 1000).unwrap();
        *now
    }

    fn pause(&self, duration: Duration) {
        // A child that another test is just starting holds our locks until it has begun: a short
        // pause is for it to go on, not for the clock. On a busy machine it is given a moment.
        if duration <= Duration::from_millis(50) {
            std::thread::sleep(duration.min(Duration::from_millis(1)));
            return;
        }
        let mut now = self.0.lock().unwrap();
        *now = now.checked_add(i128::try_from(duration.as_nanos()).unwrap()).unwrap();
    }
}

pub(crate) fn agent() -> Agent {
    Agent {
        process: 4312,
        user: "ana".into(),
        user_id: 1000,
        machine: "vault".into(),
        machine_id: "vault-id".into(),
        command: "urepo new".into(),
    }
}

/// As long as it takes, in a world where pauses take no time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// A caller without a display, with [`PATIENCE`].
pub(crate) fn caller<'a>(
    agent: &'a Agent,
    clock: &'a dyn Clock,
    interrupt: &'a Interrupt,
) -> Caller<'a> {
    Caller { agent, clock, wait: PATIENCE, progress: &NoProgress, interrupt }
}

/// Waits by `clock`, for as long as it takes.
pub(crate) fn waiter(clock: &dyn Clock) -> Waiter<'_> {
    Waiter::new(clock, &Interrupt::default(), PATIENCE)
}

/// A scratch directory in memory where there is one: syncing thousands of times is quick there.
pub(crate) fn scratch() -> tempfile::TempDir {
    if let Some(common) = users::common() {
        let scratch = tempfile::tempdir_in(common).unwrap();
        share(scratch.path());
        return scratch;
    }
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

pub(crate) fn make_collection(root: &Path) -> Collection {
    let subsystem = Subsystem::new("archive.example.org".parse().unwrap());
    init(root, "archive", subsystem, &Watcher::default()).unwrap()
}

/// Makes a collection that the program, run in a [`World`], takes for one of its machine.
pub(crate) fn init(
    root: &Path,
    name: &str,
    subsystem: Subsystem,
    watcher: &Watcher,
) -> Result<Collection, CollectionError> {
    if users::common().is_some() && !root.exists() {
        std::fs::create_dir_all(root).unwrap();
        share(root);
    }
    let (agent, clock) = (agent(), SystemClock);
    let patience = Patience { lock: Duration::ZERO, date: None };
    let founder = Founder {
        agent: &agent,
        clock: &clock,
        patience,
        host_state: HostState::default(),
        names_from: &[],
        copies: 0,
    };
    Ok(collection::init(root, name, subsystem, &founder, watcher)?.0)
}

pub(crate) fn options() -> Options {
    Options { links: Links::Keep, twins: CollisionRule::Refuse, sources: SourceRule::Keep, jobs: 1 }
}

pub(crate) fn issue_options() -> IssueOptions {
    IssueOptions {
        subsystem: None,
        granularity: Some(Setting::Auto),
        patience: Patience { lock: PATIENCE, date: None },
        trust: ClockTrust::Judge,
        interrupt: Interrupt::default(),
        host_state: HostState::default(),
        purpose: IssuePurpose::Issue,
    }
}

pub(crate) fn request(path: impl Into<PathBuf>) -> Request {
    let (source, metadata) = (Source::At(SourcePlace::Path(path.into())), Metadata::default());
    Request { source, target: None, metadata, given: Preset::default() }
}

/// Asks for an item of one file `name`, of which a stream has the bytes.
pub(crate) fn request_of_stream(name: &str, bytes: &'static [u8]) -> Request {
    let name = PayloadPath::from_text(name).unwrap();
    Request { source: Source::Stream { name, reader: Box::new(bytes) }, ..request("") }
}

/// Deposits `requests` and returns what was reported, and how the run ended.
pub(crate) fn deposit(
    collection: &Collection,
    requests: Vec<Request>,
    options: Options,
    clock: &dyn Clock,
    reported: impl FnMut(&Outcome),
) -> Result<(Vec<Outcome>, Summary), urepo::deposit::DepositError> {
    deposit_until(&Interrupt::default(), collection, requests, options, clock, reported)
}

/// The same, until somebody asks for a stop.
pub(crate) fn deposit_until(
    interrupt: &Interrupt,
    collection: &Collection,
    requests: Vec<Request>,
    options: Options,
    clock: &dyn Clock,
    reported: impl FnMut(&Outcome),
) -> Result<(Vec<Outcome>, Summary), urepo::deposit::DepositError> {
    deposit_by(&agent(), interrupt, collection, requests, options, clock, reported)
}

/// The same on another machine, or by another user.
pub(crate) fn deposit_by(
    agent: &Agent,
    interrupt: &Interrupt,
    collection: &Collection,
    requests: Vec<Request>,
    options: Options,
    clock: &dyn Clock,
    mut reported: impl FnMut(&Outcome),
) -> Result<(Vec<Outcome>, Summary), urepo::deposit::DepositError> {
    let issuer = Issuer::new(collection, agent, clock, &issue_options())?;
    let writer = collection.writer(agent, &waiter(clock))?;
    let depositor = Depositor {
        collection,
        issuer,
        writer,
        options,
        peers: Peers::default(),
        known: None,
        clock,
        progress: &NoProgress,
        interrupt,
    };
    let mut outcomes = Vec::new();
    let summary = depositor.run(requests.into_iter(), |group| {
        group.iter().for_each(&mut reported);
        outcomes.extend(group);
        Ok(())
    });
    Ok((outcomes, summary))
}

/// Everything below a directory, one line each: for comparing trees.
pub(crate) fn tree(root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in walkdir::WalkDir::new(root).min_depth(1).sort_by_file_name() {
        let relative = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
        let entry = match entry {
            Ok(entry) => entry,
            // Closed to an ordinary user, who runs the tests.
            Err(error) => {
                let closed = error.path().filter(|_| {
                    error.io_error().is_some_and(|it| it.kind() == ErrorKind::PermissionDenied)
                });
                let closed = closed.unwrap_or_else(|| panic!("{error}"));
                lines.push(format!("{} is closed", relative(closed)));
                continue;
            }
        };
        let path = relative(entry.path());
        lines.push(match entry.file_type() {
            kind if kind.is_dir() => format!("{path}/"),
            kind if kind.is_symlink() => {
                format!("{path} -> {}", std::fs::read_link(entry.path()).unwrap().display())
            }
            _ => format!("{path} {}", entry.metadata().unwrap().len()),
        });
    }
    lines
}

/// The names of all items, after making sure that each is whole: sidecar sealed, digests right.
pub(crate) fn whole_items(collection: &Collection) -> Vec<String> {
    use urepo::item::Content;
    use urepo::sidecar::Seal;
    let mut names = Vec::new();
    collection
        .visit_names(&urepo::collection::Names::default(), |name| {
            let item = collection.item(&name).unwrap();
            let (sidecar, seal) = item.sidecar().unwrap();
            assert_eq!(seal, Seal::Intact, "{name}");
            assert_eq!(sidecar.repository, name);
            if sidecar.state == urepo::item::State::Elsewhere {
                return Ok(std::ops::ControlFlow::Continue(()));
            }
            for entry in &sidecar.files {
                let path = item.payload_path().join(entry.path.as_path());
                match &entry.content {
                    Content::File { bytes, digest, .. } => {
                        let found = std::fs::read(&path).unwrap();
                        assert_eq!(found.len() as u64, *bytes, "{}", path.display());
                        assert_eq!(
                            urepo::digest::Digest::of(&found),
                            *digest,
                            "{}",
                            path.display()
                        );
                    }
                    Content::Link { .. } => assert!(path.is_symlink(), "{}", path.display()),
                    Content::EmptyDirectory { .. } => assert!(path.is_dir(), "{}", path.display()),
                }
            }
            names.push(name.to_string());
            Ok::<_, urepo::disk::PathError>(std::ops::ControlFlow::Continue(()))
        })
        .unwrap();
    names
}

/// What is in the stages of a collection: nothing, once every run has ended.
pub(crate) fn staged(root: &Path) -> Vec<String> {
    tree(&root.join(".urepo/staging"))
}

/// Each item has the line of its present state, the last one about it, unless it was put back.
#[track_caller]
fn check_lines(collection: &Collection, context: &str) {
    collection
        .visit_names(&urepo::collection::Names::default(), |name| {
            let (sidecar, _) = collection.item(&name).unwrap().sidecar().unwrap();
            if collection.contradicting_line(&name).unwrap().is_some() {
                return Ok(std::ops::ControlFlow::Continue(()));
            }
            let line = collection.last_record(&name).unwrap().and_then(|line| line.holding);
            let line = line.unwrap_or_else(|| panic!("{name} has no line: {context}"));
            let is = (line.state, line.custody.id(), line.changed);
            let right = (sidecar.state, sidecar.custody.id(), sidecar.changed());
            assert_eq!(is, right, "the line of {name}: {context}");
            Ok::<_, urepo::disk::PathError>(std::ops::ControlFlow::Continue(()))
        })
        .unwrap();
}

/// Recovers a collection, after which nothing may be left of any run, and no line is missing.
#[track_caller]
pub(crate) fn recovered_whole(root: &Path, context: &str) {
    use urepo::collection::{Life, left_overs, recover};
    let collection = Collection::open(root, &Watcher::default()).unwrap();
    let clock = TestClock::at("2027-01-01T00:00:00Z");
    for _ in 0..1000 {
        let recovered = recover(&collection, &agent(), &waiter(&clock)).unwrap();
        assert!(recovered.failed.is_empty(), "{context}: {:?}", recovered.failed);
        // A process that another test is just starting may have a lock of a run for a moment longer.
        if left_overs(&collection).unwrap().iter().all(|left| left.life == Life::Ended) {
            break;
        }
        std::thread::yield_now();
    }
    assert_eq!(left_overs(&collection).unwrap(), [], "{context}");
    let above_items = walkdir::WalkDir::new(root).max_depth(1).into_iter();
    let own = walkdir::WalkDir::new(root.join(".urepo")).into_iter();
    let mut names = above_items.chain(own).map(|entry| entry.unwrap().file_name().to_owned());
    let unplaced = |name: &std::ffi::OsString| name.to_string_lossy().contains(".new");
    assert_eq!(names.find(unplaced), None, "{context}");
    check_lines(&collection, context);
}
