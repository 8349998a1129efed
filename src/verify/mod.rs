//! Verification: comparing a collection with its sidecars.
//!
//! [`verify`] checks a whole collection or some of its items, [`verify_item`] one item, and [`compare()`] the
//! holdings of the same items in several collections. A [`Finding`] has a [`Code`] that never changes its
//! meaning; its [`Severity`] distinguishes damage from oddities. Nothing is ever repaired, and nothing
//! is read through a link. Only [`verify_in_rounds`] writes: how far it came, so that it verifies a large collection night by night.
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
//! | `links` | relative links to other items, read on the way |
//! | `proof` | an item read back before others go because of it |
//! | `run`, `work` | many items: names in, reports out in the same order |
//! | `lister` | where the names come from, and what else lies among them |
//! | `rounds` | rounds over many nights: where to go on, and when to stop |
//! | `ledger` | what should be here, and is not; what is, and was not recorded |
//! | `relations` | both ends of relations between items |
//! | `compare` | all items of several collections, name by name |
//!
//! # An item that changes meanwhile
//!
//! No lock is taken: verifying a large collection takes days. urepo changes an item by replacing its sidecar,
//! so an item that looks damaged is checked again if its sidecar has changed.
//!
//! # Limitations
//!
//! - A run with a time limit reads damaged items again each night, before it goes on.
//! - Bytes come from the file system, perhaps from the page cache, except with [`Depth::FromDisk`].
//! - Entries below a path of more than 4096 bytes are unreadable ([`Code::Unreadable`]); urepo cannot create
//!   them either.
//! - The items in a directory that cannot be listed are not verified, which is damage like any other
//!   ([`Summary::unlisted`]).

mod answer;
mod code;
mod compare;
mod finding;
mod ibips;
mod item;
mod ledger;
mod links;
mod lister;
mod markup;
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
use crate::identity::{Ibip, Instant, Language, RepositoryName};
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::progress::Progress;
use crate::sidecar::Relation;

pub use code::{Code, Severity};
pub use compare::{Comparison, Disagreement, compare, compare_items};
pub use finding::{Finding, Findings, Place};

pub use item::{verify_item, verify_payload};
pub(crate) use proof::prove_as_read;
pub use proof::{ProofError, prove, summarize_damage};
pub use relations::RelationCheck;
pub use rounds::{Round, Rounds, note_damaged};
pub use run::{verify, verify_in_rounds};

/// The depth of the verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Structure, sidecars, seals, presence, kinds and sizes: no byte of a payload is read.
    Quick,
    /// Every byte is read as well, and the digests are compared. [`verify`] also looks where links to other items lead.
    #[default]
    Full,
    /// As `Full`, and each file leaves the page cache before it is read.
    FromDisk,
}

/// The items to verify.
pub enum Scope<'a> {
    /// All items of these names, and stray entries among them.
    All(&'a Names),
    /// These items, in this order.
    Items(Box<dyn Iterator<Item = RepositoryName> + Send + 'a>),
}

/// Options of a verification.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The depth of the verification.
    pub depth: Depth,
    /// Number of threads that read; 0 means one for each processor.
    pub jobs: usize,
}

/// A report.
#[derive(Clone, Debug)]
pub enum Report {
    /// An item was verified.
    Item(ItemReport),
    /// A finding outside items, with a place in the tree.
    Tree(Finding),
}

/// The report about one item.
#[derive(Clone, Debug)]
pub struct ItemReport {
    /// The name, as it is spelt on disk.
    pub name: RepositoryName,
    /// Its state, if the sidecar can be read.
    pub state: Option<State>,
    /// Files that match the sidecar, as far as they were checked.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The IBIp in the sidecar.
    pub ibip: Option<Box<Ibip>>,
    /// The relations in the sidecar.
    pub relations: Box<[Relation]>,
    /// The language of its description, if it has relations.
    pub language: Option<Language>,
    /// The findings.
    pub findings: Findings,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Items verified.
    pub items: u64,
    /// Their existing files.
    pub files: u64,
    /// The bytes of those.
    pub bytes: u64,
    /// Items with damage.
    pub damaged_items: u64,
    /// Items without damage, as far as this user may read them.
    pub unread_items: u64,
    /// Items that were not verified because they had been recently, or in this round.
    pub skipped: u64,
    /// Damage outside items.
    pub tree_damage: u64,
    /// Places outside items that this user may not read.
    pub unread_places: u64,
    /// Warnings, of items and others.
    pub warnings: u64,
    /// Notices, of items and others.
    pub notices: u64,
    /// Whether a part of the collection could not be listed; counted as damage or as unread too.
    pub unlisted: bool,
    /// Whether it was stopped before its end. The reports are complete up to there.
    pub interrupted: bool,
    /// Whether time was up before its end.
    pub out_of_time: bool,
    /// The state of the round for the next run, if it had a time limit.
    pub round: Option<Round>,
}

impl Summary {
    /// Whether a promise is broken, so that `urepo verify` exits with 20.
    pub fn is_damage(&self) -> bool {
        self.damaged_items > 0 || self.tree_damage > 0
    }

    fn count(&mut self, report: &Report) {
        match report {
            Report::Item(item) => {
                self.items += 1;
                self.files += item.files;
                self.bytes += item.bytes;
                let is_damaged = item.findings.is_seen_damage();
                self.damaged_items += u64::from(is_damaged);
                self.unread_items += u64::from(item.findings.is_damage() && !is_damaged);
                self.warnings += item.findings.count(Severity::Warning);
                self.notices += item.findings.count(Severity::Notice);
            }
            Report::Tree(finding) => match finding.severity() {
                Severity::Damage if finding.is_seen_damage() => self.tree_damage += 1,
                Severity::Damage => self.unread_places += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Notice => self.notices += 1,
            },
        }
    }
}

/// The sum of several runs; the round is the least complete one.
impl std::ops::AddAssign for Summary {
    fn add_assign(&mut self, other: Summary) {
        self.items += other.items;
        self.files += other.files;
        self.bytes += other.bytes;
        self.damaged_items += other.damaged_items;
        self.unread_items += other.unread_items;
        self.skipped += other.skipped;
        self.tree_damage += other.tree_damage;
        self.unread_places += other.unread_places;
        self.warnings += other.warnings;
        self.notices += other.notices;
        self.unlisted |= other.unlisted;
        self.interrupted |= other.interrupted;
        self.out_of_time |= other.out_of_time;
        self.round = self.round.max(other.round);
    }
}

/// The shared context of a verification.
struct Context<'a> {
    depth: Depth,
    progress: &'a dyn Progress,
    interrupt: &'a Interrupt,
    /// Set when the reports are no longer wanted.
    abandoned: Interrupt,
    deadline: Option<rounds::Deadline<'a>>,
    /// Finds broken links, if links are checked.
    links: Option<links::LinkCheck<'a>>,
    /// The present, if dates are compared with it.
    now: Option<Instant>,
    /// One token for each job. A thread holds one while it has a large sidecar in memory.
    large: Vec<Mutex<()>>,
}

/// Minimum size of a large sidecar, in bytes: its item has some 5,000 files.
const LARGE_SIDECAR: u64 = 1024 * 1024;

impl<'a> Context<'a> {
    fn new(depth: Depth, progress: &'a dyn Progress, interrupt: &'a Interrupt) -> Context<'a> {
        let (abandoned, large) = (Interrupt::default(), vec![Mutex::default()]);
        Context {
            depth,
            progress,
            interrupt,
            abandoned,
            deadline: None,
            links: None,
            now: None,
            large,
        }
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
