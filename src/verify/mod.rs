//! Verification: is a collection what its sidecars say it is?
//!
//! [`verify`] looks at a whole collection or some items of it, [`verify_item`] at one item, and
//! [`compare()`] at what several collections hold of the same items. What is found is a [`Finding`]
//! with a [`Code`] that never changes meaning; damage is distinguished from oddities by its
//! [`Severity`]. Nothing is ever repaired, and links are not followed. Nothing is written but
//! what [`verify_in_rounds`] observed: when each item was verified, by which it goes round a large
//! collection night by night, and in the inventory the items of which nothing had recorded that they came.
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `code`, `finding` | the findings and their text |
//! | `item` | one item: its sidecar, then its payload |
//! | `record` | the sidecar: its seal, and whether it agrees with itself and its path |
//! | `payload` | the files below `doc/` against the entries of the sidecar |
//! | `reading` | the digests of one item, taken by several threads |
//! | `proof` | an item read back before others go because of it |
//! | `run`, `work` | many items: names in, reports out in the same order |
//! | `lister` | where the names come from, and what else lies among them |
//! | `rounds`, `dates`, `damaged` | going round: what is skipped, when to stop; when each item was verified; what was found damaged meanwhile |
//! | `inventory` | what should be here, and is not; what is, and was not recorded |
//! | `relations` | both ends of relations between items |
//! | `compare` | all items of several collections, name by name |
//!
//! # An item that changes meanwhile
//!
//! No lock is taken: verifying a large collection takes days. urepo changes an item by replacing its
//! sidecar, so an item that looks damaged is looked at again if its sidecar is another one by then.
//!
//! # Limitations
//!
//! - A damaged item has no date: a run with a time limit reads it again each night, before it goes on.
//! - Bytes come from the file system, perhaps from its cache and not from the disk, but for
//!   [`Depth::FromDisk`].
//! - What lies below a path of more than 4096 bytes is unreadable ([`Code::Unreadable`]): neither can
//!   urepo make such a thing.
//! - The items in a directory that cannot be listed are not verified, which is damage like any other
//!   ([`Summary::unlisted`]).

mod answer;
mod code;
mod compare;
mod damaged;
mod dates;
mod finding;
mod ibips;
mod inventory;
mod item;
mod lister;
mod payload;
mod proof;
mod reading;
mod record;
mod relations;
mod rounds;
mod run;
mod stray;
mod work;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::collection::Names;
use crate::identity::{Ibip, Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::progress::Progress;
use crate::sidecar::Relation;

pub use code::{Code, Severity};
pub use compare::{Comparison, Disagreement, compare, compare_items};
pub use finding::{Finding, Findings, Place};

pub use item::{verify_item, verify_payload};
pub use proof::{ProofError, prove, summarize_damage};
pub use relations::RelationCheck;
pub use rounds::{Round, Rounds};
pub use run::{verify, verify_in_rounds};

/// How closely is looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Structure, sidecars, seals, presence, kinds and sizes: no byte of a payload is read.
    Quick,
    /// Every byte is read and its digest compared as well.
    #[default]
    Full,
    /// As `Full`, and each file leaves the page cache before it is read.
    FromDisk,
}

/// What is verified.
pub enum Scope<'a> {
    /// All items of these names, and whatever else lies among them.
    All(&'a Names),
    /// These items, in this order.
    Items(Box<dyn Iterator<Item = RepositoryName> + Send + 'a>),
}

/// How many items are verified, and how closely.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How closely is looked.
    pub depth: Depth,
    /// How many threads read; as many as there are processors if 0.
    pub jobs: usize,
}

/// What is reported.
#[derive(Clone, Debug)]
pub enum Report {
    /// An item was verified.
    Item(ItemReport),
    /// Something was found that is no item; its place is in the tree.
    Tree(Finding),
}

/// What was found of one item.
#[derive(Clone, Debug)]
pub struct ItemReport {
    /// The name, as it is spelt on disk.
    pub name: RepositoryName,
    /// The state, if the sidecar can be read.
    pub state: Option<State>,
    /// Files that match the sidecar, as far as they were checked.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The opaque twin of the name that the sidecar says.
    pub ibip: Option<Box<Ibip>>,
    /// The relations that the sidecar has.
    pub relations: Box<[Relation]>,
    /// What was found.
    pub findings: Findings,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Items verified.
    pub items: u64,
    /// Their files that are there.
    pub files: u64,
    /// The bytes of those.
    pub bytes: u64,
    /// Items with damage.
    pub damaged_items: u64,
    /// Items that were not verified because they had been recently, or in this round.
    pub skipped: u64,
    /// Damage that is no item's.
    pub tree_damage: u64,
    /// Warnings, of items and others.
    pub warnings: u64,
    /// Notices, of items and others.
    pub notices: u64,
    /// Whether a part of the collection could not be listed; counted as damage too.
    pub unlisted: bool,
    /// Whether it was stopped before its end. What was reported is complete up to there.
    pub interrupted: bool,
    /// Whether time was up before its end.
    pub out_of_time: bool,
    /// How it ended for the run after it, if it had a time limit.
    pub round: Option<Round>,
}

impl Summary {
    /// Whether a promise is broken: what makes `urepo verify` exit with 20.
    pub fn is_damage(&self) -> bool {
        self.damaged_items > 0 || self.tree_damage > 0
    }

    fn count(&mut self, report: &Report) {
        match report {
            Report::Item(item) => {
                self.items += 1;
                self.files += item.files;
                self.bytes += item.bytes;
                self.damaged_items += u64::from(item.findings.is_damage());
                self.warnings += item.findings.count(Severity::Warning);
                self.notices += item.findings.count(Severity::Notice);
            }
            Report::Tree(finding) => match finding.severity() {
                Severity::Damage => self.tree_damage += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Notice => self.notices += 1,
            },
        }
    }
}

/// The ends of several runs together; their rounds as that which is least complete.
impl std::ops::AddAssign for Summary {
    fn add_assign(&mut self, other: Summary) {
        self.items += other.items;
        self.files += other.files;
        self.bytes += other.bytes;
        self.damaged_items += other.damaged_items;
        self.skipped += other.skipped;
        self.tree_damage += other.tree_damage;
        self.warnings += other.warnings;
        self.notices += other.notices;
        self.unlisted |= other.unlisted;
        self.interrupted |= other.interrupted;
        self.out_of_time |= other.out_of_time;
        self.round = self.round.max(other.round);
    }
}

/// What everyone who verifies needs to know.
struct Context<'a> {
    depth: Depth,
    progress: &'a dyn Progress,
    interrupt: &'a Interrupt,
    /// Set when nobody listens any more.
    abandoned: Interrupt,
    deadline: Option<rounds::Deadline<'a>>,
    /// The latest date that a name can have by now, if that is looked at.
    latest: Option<Instant>,
    /// One for each job. A thread holds one while it has a large sidecar in memory.
    large: Vec<Mutex<()>>,
}

/// Only sidecars of at least this size take memory that matters: their items have some 5,000 files.
const LARGE_SIDECAR: u64 = 1024 * 1024;

impl<'a> Context<'a> {
    fn new(depth: Depth, progress: &'a dyn Progress, interrupt: &'a Interrupt) -> Context<'a> {
        let (abandoned, large) = (Interrupt::default(), vec![Mutex::default()]);
        Context { depth, progress, interrupt, abandoned, deadline: None, latest: None, large }
    }

    /// The same for many threads.
    fn of_run(
        options: Options,
        progress: &'a dyn Progress,
        interrupt: &'a Interrupt,
    ) -> Context<'a> {
        let large = std::iter::repeat_with(Mutex::default).take(options.jobs.max(1)).collect();
        Context { large, ..Context::new(options.depth, progress, interrupt) }
    }

    /// Waits until this thread may have a sidecar of `bytes` in memory: there are more threads than jobs where
    /// they wait for the disk, but no more large sidecars.
    fn admit(&self, bytes: u64) -> Option<MutexGuard<'_, ()>> {
        if bytes < LARGE_SIDECAR {
            return None;
        }
        let thread = rayon::current_thread_index().unwrap_or(0);
        let share = &self.large[thread % self.large.len()];
        Some(share.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_stopped(&self) -> bool {
        self.interrupt.requested() || self.abandoned.requested()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_large_sidecars_than_jobs_are_in_memory() {
        let (progress, interrupt) = (crate::progress::NoProgress, Interrupt::default());
        let context =
            Context::of_run(Options { jobs: 2, depth: Depth::Quick }, &progress, &interrupt);
        let (held, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let hold = |bytes| {
            let _admitted = context.admit(bytes);
            most.fetch_max(held.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            (0..1000).for_each(|_| std::thread::yield_now());
            held.fetch_sub(1, Ordering::SeqCst);
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("threads");
        pool.broadcast(|_| hold(LARGE_SIDECAR));
        assert!(most.load(Ordering::SeqCst) <= 2, "{most:?} at a time");
        pool.broadcast(|_| hold(LARGE_SIDECAR - 1));
        assert!(most.load(Ordering::SeqCst) > 2, "small ones wait for nothing");
    }
}
