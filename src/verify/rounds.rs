//! Verifying a collection in rounds that take longer than a night: which items to skip, and when to stop.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::damaged::{self, Damaged};
use super::dates::{Dates, Recorder};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::{Collection, Names};
use crate::disk::{Dir, Lock, LockError, LockMode, PathError};
use crate::identity::{Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::layout;
use crate::wait::Waiter;

/// The file with the beginning of a round.
const ROUND: &str = "round";
/// Dates are kept to the microsecond.
const STEP: i128 = 1000;

/// The choice of items by [`verify_in_rounds`](super::verify_in_rounds).
///
/// Dates are recorded whenever every byte is read and `.urepo` can be written. If not, that is never an
/// error.
#[derive(Clone, Copy)]
pub struct Rounds<'a> {
    /// The clock.
    pub clock: &'a dyn Clock,
    /// The verifying agent, for processes that wait for the lock of the dates.
    pub agent: &'a Agent,
    /// How long to wait for another run that writes dates; after that, this run writes none.
    pub lock_wait: Duration,
    /// Items verified more recently than this are skipped.
    pub older_than: Option<Duration>,
    /// The time after which no item is begun, except the first.
    ///
    /// Without `older_than`, a run continues where the last one stopped, until the round is complete.
    pub time_limit: Option<Duration>,
}

/// The end of a run with a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Round {
    /// It reached the end of the collection: the next run begins at the start.
    Complete,
    /// The next run continues.
    Open,
    /// No dates could be kept: the next run begins at the start.
    Lost,
}

/// The time at which no more items are begun.
pub(super) struct Deadline<'a> {
    clock: &'a dyn Clock,
    at: Instant,
    /// Whether an item was begun. Each run begins at least one, so that a round ends however short the runs
    /// are.
    begun: AtomicBool,
}

impl Deadline<'_> {
    /// Whether time is up for names that have not been checked yet.
    pub(super) fn is_over(&self) -> bool {
        self.begun.load(Ordering::Relaxed) && self.clock.now() >= self.at
    }

    /// Whether an item may be begun.
    pub(super) fn lets_begin(&self) -> bool {
        !self.begun.swap(true, Ordering::Relaxed) || self.clock.now() < self.at
    }
}

/// Which items the listing skips.
pub(super) struct SkipPolicy {
    dates: Dates,
    /// Items whose dates do not count.
    damaged: Damaged,
    /// Items verified at this time or later are skipped.
    since: Option<Instant>,
    /// Later dates come from a wrong clock.
    now: Instant,
}

impl SkipPolicy {
    /// When `name` was last verified, and whether that is recent enough.
    pub(super) fn of(&mut self, name: &RepositoryName) -> (Option<Instant>, bool) {
        let date = self.dates.of(name).filter(|date| *date <= self.now);
        let date = date.filter(|_| !self.damaged.contains(name));
        let skip = matches!((date, self.since), (Some(date), Some(since)) if date >= since);
        (date, skip)
    }
}

/// The dates to record, on the side that takes the reports.
pub(super) struct RoundRecord<'a> {
    clock: &'a dyn Clock,
    recorder: Option<Recorder>,
    dir: Option<Dir>,
    /// The file of the round that this run belongs to.
    round: Option<String>,
    is_limited: bool,
    _lock: Option<Lock>,
}

impl<'a> Rounds<'a> {
    pub(super) fn deadline(&self) -> Option<Deadline<'a>> {
        let nanoseconds = nanoseconds(self.time_limit?);
        let at = self.clock.now().checked_add(nanoseconds)?;
        Some(Deadline { clock: self.clock, at, begun: AtomicBool::new(false) })
    }

    /// Begins or continues a round over `names` of `collection`.
    pub(super) fn begin(
        &self,
        collection: &Collection,
        names: &Names,
        interrupt: &Interrupt,
    ) -> (SkipPolicy, RoundRecord<'a>) {
        let now = self.clock.now().floor(STEP);
        let kept = self.open_to_write(collection, interrupt, self.lock_wait).ok();
        let (writable, lock) = kept.unzip();
        let dir = match &writable {
            Some(dir) => dir.try_clone().ok(),
            None => open_to_read(collection).ok().flatten(),
        };
        let damaged = dir.as_ref().map(Damaged::noted).unwrap_or_default();
        let round = match (self.time_limit, self.older_than) {
            (Some(_), None) => Some(round_file(names)),
            _ => None,
        };
        let since = match (&round, self.older_than) {
            (Some(file), _) => {
                let begun = dir.as_ref().and_then(|dir| begin_of_round(dir, file));
                let begun = begun.filter(|begun| *begun <= now);
                if let (None, Some(dir)) = (begun, &writable) {
                    // Without it the next run begins at the start, as this one does.
                    let _ = dir.replace_file(file, format!("{now}\n").as_bytes());
                }
                Some(begun.unwrap_or(now))
            }
            // Exactly this age is not more recent.
            (None, Some(age)) => now.checked_add(1 - nanoseconds(age)),
            (None, None) => None,
        };
        let recorder = writable.as_ref().and_then(|dir| Some(Recorder::new(dir.try_clone().ok()?)));
        let record = RoundRecord {
            clock: self.clock,
            recorder,
            dir: writable,
            round,
            is_limited: self.time_limit.is_some(),
            _lock: lock,
        };
        (SkipPolicy { dates: Dates::new(dir), damaged, since, now }, record)
    }

    /// Removes the dates of `names` in `collection`: they are damaged, whichever run has found that.
    ///
    /// A run that writes dates holds their lock for hours, so this does not wait for it. When that run ends,
    /// it removes the dates of the items noted here as damaged.
    pub fn forget(&self, collection: &Collection, names: &[RepositoryName], interrupt: &Interrupt) {
        let Ok(Some(dir)) = open_to_read(collection) else { return };
        if names.is_empty() {
            return;
        }
        if let Ok((dir, _lock)) = self.open_to_write(collection, interrupt, Duration::ZERO) {
            Damaged::of(names).forget(&dir);
        } else {
            // A user who may not write there records no dates either.
            let _ = damaged::note(&dir, names);
        }
    }

    fn open_to_write(
        &self,
        collection: &Collection,
        interrupt: &Interrupt,
        lock_wait: Duration,
    ) -> Result<(Dir, Lock), PathError> {
        // Only a change rebuilds a lost directory.
        let lost = || std::io::ErrorKind::NotFound.into();
        let own = collection.own()?;
        let own = own.ok_or_else(|| {
            PathError::new("open", collection.root().path_of(layout::OWN), lost())
        })?;
        let dir = own.ensure_dir(layout::VERIFIED)?;
        let holder = self.agent.holder(self.clock);
        let mode = LockMode::Exclusive;
        let waiter = Waiter::new(self.clock, interrupt, lock_wait);
        let lock = Lock::take(&dir, layout::VERIFIED_LOCK, mode, &holder, &waiter);
        Ok((dir, lock.map_err(LockError::into_path_error)?))
    }
}

impl RoundRecord<'_> {
    /// Notes an item that was verified now and is intact.
    pub(super) fn verified(&mut self, name: &RepositoryName) {
        let now = self.clock.now().floor(STEP);
        self.note(name, Some(now));
    }

    /// Notes when an item was last verified, if that is known.
    pub(super) fn note(&mut self, name: &RepositoryName, date: Option<Instant>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.note(name, date);
        }
    }

    /// Ends the run, which is `cut_short` if it did not reach the end of the list.
    pub(super) fn finish(self, cut_short: bool) -> Option<Round> {
        let kept = self.recorder.is_some_and(|recorder| recorder.finish(cut_short));
        if let Some(dir) = &self.dir {
            // Noted by others while this run had the lock, or before it.
            Damaged::settle(dir);
        }
        if !cut_short && let (Some(dir), Some(file)) = (&self.dir, &self.round) {
            // If it stays, the next run finds the round complete, and removes it.
            let _ = dir.remove_file_if_there(Path::new(file));
        }
        let round = match (cut_short, kept) {
            (false, _) => Round::Complete,
            (true, true) => Round::Open,
            (true, false) => Round::Lost,
        };
        self.is_limited.then_some(round)
    }
}

fn open_to_read(collection: &Collection) -> Result<Option<Dir>, PathError> {
    collection.own_dir(layout::VERIFIED)
}

/// Each part of a collection has rounds of its own.
fn round_file(names: &Names) -> String {
    match &names.prefix {
        None => ROUND.to_owned(),
        Some(prefix) => format!("{ROUND}+{}", prefix.folded().replace('/', "+")),
    }
}

fn begin_of_round(dir: &Dir, file: &str) -> Option<Instant> {
    let bytes = dir.open_file_if_there(file).ok()??.read_all(64).ok()?;
    std::str::from_utf8(&bytes).ok()?.strip_suffix('\n')?.parse().ok()
}

fn nanoseconds(duration: Duration) -> i128 {
    i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)
}
