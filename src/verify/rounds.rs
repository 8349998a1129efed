//! Verifying a collection in rounds that take longer than a night: where to go on, and when to stop.
//!
//! `.urepo/round` says how far the present round came and which items were found damaged: those are verified in each run,
//! until they are repaired. The file is a note of urepo's own. If it is missing or garbled, a round begins at the start, and a
//! failure to read or write it is not an error of the run.

use std::cmp::Ordering as Order;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::clock::Clock;
use crate::collection::{Collection, Names, listing_order};
use crate::disk::Dir;
use crate::identity::{Instant, Prefix, RepositoryName};
use crate::layout;

/// The choice of items by [`verify_in_rounds`](super::verify_in_rounds).
#[derive(Clone, Copy)]
pub struct Rounds<'a> {
    /// The clock.
    pub clock: &'a dyn Clock,
    /// The time after which no item is begun, except the first. A run with a limit continues where the last one stopped,
    /// until the round is complete.
    pub time_limit: Option<Duration>,
}

/// The end of a run with a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Round {
    /// It reached the end of the collection: the next run begins at the start.
    Complete,
    /// The next run continues.
    Open,
    /// The place could not be noted: the next run begins where this one did.
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

/// The contents of the note: a line `at PREFIX NAME` for each part of the collection with an open round, where the prefix
/// is `*` for all of it, and a line `damaged NAME` for each item that was found damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Note {
    at: BTreeMap<String, RepositoryName>,
    damaged: BTreeSet<RepositoryName>,
}

/// Limit on the note.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Limit on damaged items in it: more of them are read again in the next round only.
const MOST_DAMAGED: usize = 10_000;
/// Items between two notes of the place, so that a killed run loses little.
const ITEMS: u64 = 4096;

impl Note {
    /// The note; `None` if it cannot be read, and so must not be written either.
    fn read(own: &Dir) -> Option<Note> {
        let bytes = match own.open_file_if_there(layout::ROUND).ok()? {
            Some(mut file) => file.read_all(MAX_BYTES).ok()?,
            None => Vec::new(),
        };
        let text = String::from_utf8(bytes).unwrap_or_default();
        let mut note = Note::default();
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["at", part, name] => {
                    note.at.extend(name.parse().ok().map(|name| (part.to_owned(), name)));
                }
                ["damaged", name] => note.damaged.extend(name.parse::<RepositoryName>()),
                _ => {}
            }
        }
        Some(note)
    }

    /// Writes the note. Returns whether that was possible.
    fn write(&self, own: &Dir) -> bool {
        let at = self.at.iter().map(|(part, name)| format!("at {part} {name}\n"));
        let damaged = self.damaged.iter().map(|name| format!("damaged {name}\n"));
        let text: String = at.chain(damaged.take(MOST_DAMAGED)).collect();
        own.replace_file(layout::ROUND, text.as_bytes()).is_ok()
    }
}

/// The items that the listing skips.
#[derive(Default)]
pub(super) struct SkipPolicy {
    /// Those up to here were verified in this round.
    at: Option<RepositoryName>,
    /// Those are verified nevertheless.
    damaged: BTreeSet<RepositoryName>,
}

impl SkipPolicy {
    pub(super) fn skips(&self, name: &RepositoryName) -> bool {
        let is_behind = |at: &RepositoryName| listing_order(name, at) != Order::Greater;
        self.at.as_ref().is_some_and(is_behind) && !self.damaged.contains(name)
    }
}

/// The progress of a run, on the side that takes the reports.
pub(super) struct RoundRecord<'c> {
    own: Option<&'c Dir>,
    /// The part of the collection that this run goes through.
    part: String,
    is_limited: bool,
    before: Note,
    note: Note,
    /// Items since the note was written.
    unwritten: u64,
}

impl<'a> Rounds<'a> {
    pub(super) fn deadline(&self) -> Option<Deadline<'a>> {
        let nanoseconds = i128::try_from(self.time_limit?.as_nanos()).unwrap_or(i128::MAX);
        let at = self.clock.now().checked_add(nanoseconds)?;
        Some(Deadline { clock: self.clock, at, begun: AtomicBool::new(false) })
    }

    /// Begins or continues a round over `names` of `collection`.
    pub(super) fn begin<'c>(
        &self,
        collection: &'c Collection,
        names: &Names,
    ) -> (SkipPolicy, RoundRecord<'c>) {
        // Only a change rebuilds a lost directory.
        let own = collection.own().ok().flatten();
        let read = own.and_then(Note::read);
        let (own, note) = (own.filter(|_| read.is_some()), read.unwrap_or_default());
        let part = names.prefix.as_ref().map_or("*".to_owned(), Prefix::folded);
        let is_limited = self.time_limit.is_some();
        let at = note.at.get(&part).filter(|_| is_limited).cloned();
        let choice = SkipPolicy { at, damaged: note.damaged.clone() };
        let before = note.clone();
        (choice, RoundRecord { own, part, is_limited, before, note, unwritten: 0 })
    }
}

/// Notes items of `collection` that were found damaged by whatever run: each run with a time limit reads them until they are
/// whole.
pub fn note_damaged(collection: &Collection, names: &[RepositoryName]) {
    let Ok(Some(own)) = collection.own() else { return };
    let Some(before) = Note::read(own) else { return };
    let mut note = before.clone();
    note.damaged.extend(names.iter().cloned());
    if note != before {
        // Where nothing can be noted, the next round reads them.
        let _ = note.write(own);
    }
}

impl RoundRecord<'_> {
    /// Notes an item that was verified.
    pub(super) fn verified(&mut self, name: &RepositoryName, is_damaged: bool) {
        if is_damaged {
            self.note.damaged.insert(name.clone());
        } else {
            self.note.damaged.remove(name);
        }
    }

    /// Notes that the round came to `name`.
    pub(super) fn advance(&mut self, name: &RepositoryName) {
        let at = self.note.at.get(&self.part);
        if !self.is_limited || at.is_some_and(|at| listing_order(name, at) != Order::Greater) {
            return;
        }
        self.note.at.insert(self.part.clone(), name.clone());
        self.unwritten += 1;
        if self.unwritten >= ITEMS {
            self.unwritten = 0;
            self.write();
        }
    }

    /// Writes the note if it has changed. Returns whether the next run will find it.
    fn write(&mut self) -> bool {
        if self.note != self.before {
            if !self.own.is_some_and(|own| self.note.write(own)) {
                return false;
            }
            self.before = self.note.clone();
        }
        true
    }

    /// Ends the run, which is `cut_short` if it did not reach the end of the list.
    pub(super) fn finish(mut self, cut_short: bool) -> Option<Round> {
        if !cut_short {
            self.note.at.remove(&self.part);
        }
        let round = match (cut_short, self.write()) {
            (false, _) => Round::Complete,
            (true, true) => Round::Open,
            (true, false) => Round::Lost,
        };
        self.is_limited.then_some(round)
    }
}
