//! Many items at a time: inspected and read in parallel, published in groups, reported in order.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use super::group::{Ready, ingestion, place};
use super::look::{Look, check_ledger, look};
use super::read::Draft;
use super::{AdoptError, Adopter, Mode, Note, Outcome, Summary};
use crate::collection::{Event, Here, Listed, Names, StoredItem, Writer, lock_changes, visit_tree};
use crate::disk::{Dir, Exclusion, IoContext, Links, PathError, SourceWalk};
use crate::flow::{Flow, GROUP_ITEMS, Size, spread};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;
use crate::progress::Scan;
use crate::wait::Waiter;

/// Number of items that are read, or wait for those before them, at a time.
const UNDER_WAY: usize = 2 * GROUP_ITEMS;

/// A result of the reading side: an item to publish, or an outcome to report.
#[derive(Debug)]
enum Prepared {
    Ready(Box<Ready>),
    Told(Outcome),
    /// An error that would also stop later items, and the number of the item that met it.
    Failed(String, AdoptError),
}

/// Whether any directory below `root` has the name of an item.
pub fn has_items(root: &Dir) -> Result<bool, PathError> {
    let visited = visit_tree(root, &Names::default(), |listed| match listed {
        Listed::Item(name) => match look(root, &name, None) {
            Ok(Look::NoItem(_)) => Ok(ControlFlow::Continue(())),
            _ => Ok(ControlFlow::Break(())),
        },
        Listed::Stray(_) | Listed::Link(..) => Ok(ControlFlow::Continue(())),
        Listed::Unreadable(error) => Err(error),
    })?;
    Ok(visited.is_break())
}

/// Finds the totals of everything in the tree below `root`. Items that have a sidecar count.
pub fn measure(root: &Dir, scan: &Scan<'_>) -> Option<()> {
    let visited = visit_tree(root, &Names::default(), |listed| {
        let bytes = match listed {
            Listed::Item(name) => bytes_of(root, &name, scan),
            Listed::Stray(_) | Listed::Link(..) | Listed::Unreadable(_) => Some(0),
        };
        let flow = match bytes.and_then(|bytes| scan.found(bytes)) {
            Some(()) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        };
        Ok::<_, PathError>(flow)
    });
    visited.ok()?.is_continue().then_some(())
}

/// The bytes of the payload of an item, unless `scan` ends before; none where it cannot be read.
fn bytes_of(root: &Dir, name: &RepositoryName, scan: &Scan<'_>) -> Option<u64> {
    let Ok(dir) = root.open_dir(name.as_str()) else { return Some(0) };
    let item = StoredItem::at(name.clone(), dir);
    if let Some(totals) = item.totals() {
        return Some(totals.bytes);
    }
    match item.dir().open_dir(layout::PAYLOAD) {
        Ok(payload) => SourceWalk::at(payload, Links::Keep).measure(&Exclusion::default(), scan),
        Err(_) => Some(0),
    }
}

impl Adopter<'_> {
    /// Adopts every item without a sidecar, and calls `report` with the outcomes, in order.
    ///
    /// Every reported sidecar is durable. `report` says whether to go on; it fails if its output is closed.
    pub fn run(&self, mut report: impl FnMut(Vec<Outcome>) -> Result<(), AdoptError>) -> Summary {
        let mut summary = Summary::default();
        let flow = Flow::new(UNDER_WAY);
        let writing = Writing { adopter: self, writer: OnceLock::new() };
        let side = Side { adopter: self, root: self.root(), flow: &flow, writing: &writing };
        let mut collector = Collector { side: &side, summary: &mut summary, report: &mut report };
        let driven = flow.drive(self.jobs, |scope| side.feed(scope), || collector.collect());
        if let Err(error) = driven.on("start threads for", "jobs") {
            summary.fatal.get_or_insert(error.into());
        }
        if let Err(error) = writing.finish() {
            summary.fatal.get_or_insert(error.into());
        }
        summary
    }

    fn root(&self) -> &Dir {
        match self.mode {
            Mode::Plan { root, .. } => root,
            Mode::Act { collection, .. } => collection.root(),
        }
    }
}

impl<'a> Adopter<'a> {
    fn waiter(&self, limit: Duration) -> Waiter<'a> {
        Waiter::new(self.clock, self.interrupt, limit)
    }
}

/// The right to write, taken before the first write: a run that finds no new item changes nothing in the
/// collection, not even an mtime.
struct Writing<'a> {
    adopter: &'a Adopter<'a>,
    /// `None` after an error: a lock that timed out once is not waited for again.
    writer: OnceLock<Option<Writer>>,
}

impl Writing<'_> {
    /// The writer; `None` in a dry run. Only the thread that asked first gets the error.
    fn get(&self) -> Result<Option<&Writer>, AdoptError> {
        let Mode::Act { collection, agent, wait } = self.adopter.mode else { return Ok(None) };
        let mut refusal = None;
        let writer = self.writer.get_or_init(|| {
            collection
                .writer(agent, &self.adopter.waiter(wait))
                .map_err(|error| refusal = Some(error))
                .ok()
        });
        match (writer, refusal) {
            (Some(writer), _) => Ok(Some(writer)),
            (None, refusal) => Err(refusal.map_or(AdoptError::GroupFailed, AdoptError::from)),
        }
    }

    fn finish(self) -> Result<(), PathError> {
        self.writer.into_inner().flatten().map_or(Ok(()), Writer::finish)
    }
}

/// The side that inspects and reads.
struct Side<'a> {
    adopter: &'a Adopter<'a>,
    root: &'a Dir,
    flow: &'a Flow<Prepared>,
    writing: &'a Writing<'a>,
}

/// A job of the feed: a name, and a second spelling of it if the tree has one.
enum Job {
    Item(RepositoryName, Option<RepositoryName>),
    Told(Outcome),
}

impl Side<'_> {
    /// Hands the entries of the tree to the threads, as fast as the other side takes the results.
    fn feed<'scope>(&'scope self, scope: &rayon::Scope<'scope>) {
        let mut number = 0;
        let mut hand_on = |job| {
            if self.adopter.interrupt.requested() || !self.flow.enter() {
                return ControlFlow::Break(());
            }
            let own = number;
            number += 1;
            scope.spawn(move |scope| self.begin(own, job, scope));
            ControlFlow::Continue(())
        };
        // Spellings of one name follow each other; the one before waits for the next.
        let mut before: Option<(RepositoryName, Option<RepositoryName>)> = None;
        let visited = visit_tree(self.root, &Names::default(), |listed| {
            let told = match listed {
                Listed::Item(name) => {
                    let mut twin = None;
                    if let Some((last, twin_of_last)) = &mut before
                        && *last == name
                    {
                        twin = Some(last.clone());
                        *twin_of_last = Some(name.clone());
                    }
                    let last = before.replace((name, twin));
                    return Ok::<_, std::convert::Infallible>(match last {
                        Some((name, twin)) => hand_on(Job::Item(name, twin)),
                        None => ControlFlow::Continue(()),
                    });
                }
                Listed::Stray(path) | Listed::Link(path, _) => {
                    Outcome::Stray { path, why: "its name is not that of an item" }
                }
                Listed::Unreadable(error) => {
                    let path = error.path().display().to_string();
                    Outcome::Refused { path, error: error.into() }
                }
            };
            Ok(hand_on(Job::Told(told)))
        });
        if let (Ok(ControlFlow::Continue(())), Some((name, twin))) = (visited, before) {
            let _ = hand_on(Job::Item(name, twin));
        }
    }

    fn begin<'scope>(&'scope self, number: usize, job: Job, scope: &rayon::Scope<'scope>) {
        let (name, twin) = match job {
            Job::Told(outcome) => return self.tell(number, outcome),
            Job::Item(name, twin) => (name, twin),
        };
        let refused = |error| Outcome::Refused { path: name.to_string(), error };
        if self.adopter.interrupt.requested() {
            return self.tell(number, refused(AdoptError::Interrupted));
        }
        if self.flow.stopped() {
            return self.tell(number, refused(AdoptError::GroupFailed));
        }
        let looked = || look(self.root, &name, self.adopter.copies_of);
        let asked = (self.adopter.mode.collection(), &self.adopter.peers);
        let looked = looked().and_then(|found| {
            match check_ledger(asked, &name, &found) {
                Ok(()) => Ok(found),
                // Another process may have adopted it since.
                Err(error) => match (found, looked()) {
                    (Look::New(_), Ok(Look::New(_))) | (Look::Adopted { .. }, _) => Err(error),
                    (_, again) => again,
                },
            }
        });
        let mut plan = match (looked, twin) {
            (Ok(Look::Adopted { state, bytes }), _) => {
                self.adopter.progress.skip(bytes);
                let recorded = self.record_missing(&name, state);
                let told = recorded.map_or_else(refused, |()| Outcome::There(name.clone()));
                return self.tell(number, told);
            }
            (Ok(Look::NoItem(why)), _) => {
                let path = PathBuf::from(name.as_str());
                return self.tell(number, Outcome::Stray { path, why });
            }
            (_, Some(other)) => {
                let (name, other) = (name.to_string(), other.to_string());
                return self.tell(number, refused(AdoptError::TwoSpellings { name, other }));
            }
            (Err(error), None) => return self.tell(number, refused(error)),
            (Ok(Look::New(plan)), None) => plan,
        };
        if plan.updated.is_ahead_of(self.adopter.clock.now()) {
            plan.notes.push(Note::FutureDate(plan.updated));
        }
        self.adopter.progress.expect(1, plan.bytes);
        match self.writing.get() {
            Ok(None) => {
                self.adopter.progress.skip(plan.bytes);
                self.tell(number, Outcome::Taken(plan));
            }
            Ok(Some(_)) => match Draft::new(*plan, self.root) {
                Ok(draft) => self.read(number, draft, scope),
                Err(error) => self.tell(number, refused(error)),
            },
            // Another thread reports the cause.
            Err(AdoptError::GroupFailed) => self.tell(number, refused(AdoptError::GroupFailed)),
            Err(error) => {
                self.flow.stop();
                let failed = Prepared::Failed(plan.directory().to_owned(), error);
                self.flow.deliver((number, failed), 0);
            }
        }
    }

    /// Records an item that a run adopted which was killed before its line was written. Otherwise nobody would
    /// miss the item if it vanished.
    fn record_missing(&self, name: &RepositoryName, state: State) -> Result<(), AdoptError> {
        let Mode::Act { collection, wait, .. } = self.adopter.mode else { return Ok(()) };
        if state == State::Deleted || collection.is_recorded(name)? {
            return Ok(());
        }
        let Some(writer) = self.writing.get()? else { return Ok(()) };
        // Its name may not be synced either.
        self.root.sync_names([name.as_str()])?;
        let locks = lock_changes([collection], writer.agent(), &self.adopter.waiter(wait))?;
        let sidecar = collection.item(name)?.read_sidecar()?.sidecar;
        if state == State::Original && sidecar.custody.holder() != collection.id() {
            // A directory of another collection: this one has never had the item.
            return Ok(());
        }
        let clock = self.adopter.clock;
        let event = ingestion(name, Here::of(&sidecar), writer.agent(), clock.now());
        let event = Event { import: collection.imported_source(&sidecar), ..event };
        Ok(collection.record(&locks, &[event])?)
    }

    fn tell(&self, number: usize, outcome: Outcome) {
        self.flow.deliver((number, Prepared::Told(outcome)), 0);
    }

    /// Reads a draft on as many threads as are free.
    fn read<'scope>(&'scope self, number: usize, draft: Draft, scope: &rayon::Scope<'scope>) {
        let batches = draft.batches();
        let read = |draft: &Draft, batch| {
            draft.read(batch, self.adopter.progress, self.adopter.interrupt);
        };
        spread(draft, batches, scope, read, move |draft, _| self.was_read(number, draft));
    }

    /// Passes on a draft whose files have been read.
    fn was_read(&self, number: usize, draft: Draft) {
        let (entries, plan) = (draft.finish(), draft.plan);
        let bytes = plan.bytes;
        let prepared = match entries {
            Ok(entries) => Prepared::Ready(Box::new(Ready { plan, entries })),
            Err(error) => {
                let path = plan.directory().to_owned();
                Prepared::Told(Outcome::Refused { path, error })
            }
        };
        self.flow.deliver((number, prepared), bytes);
    }
}

/// The side that publishes and reports.
struct Collector<'a, R> {
    side: &'a Side<'a>,
    summary: &'a mut Summary,
    report: &'a mut R,
}

impl<R: FnMut(Vec<Outcome>) -> Result<(), AdoptError>> Collector<'_, R> {
    fn collect(&mut self) {
        let flow = self.side.flow;
        for group in flow.groups(size) {
            self.finish(group);
        }
    }

    /// Publishes items and reports all outcomes, in order.
    fn finish(&mut self, prepared: Vec<Prepared>) {
        let count = prepared.len();
        let mut outcomes: Vec<Option<Outcome>> = Vec::with_capacity(count);
        let (mut group, mut places) = (Vec::new(), Vec::new());
        for (at, prepared) in prepared.into_iter().enumerate() {
            outcomes.push(match prepared {
                Prepared::Told(outcome) => Some(outcome),
                Prepared::Failed(path, error) => {
                    self.stop(error);
                    Some(Outcome::Refused { path, error: AdoptError::GroupFailed })
                }
                Prepared::Ready(ready) => {
                    group.push(*ready);
                    places.push(at);
                    None
                }
            });
        }
        for (at, outcome) in places.into_iter().zip(self.place(group)) {
            outcomes[at] = Some(outcome);
        }
        let outcomes: Vec<_> = outcomes.into_iter().flatten().collect();
        for outcome in &outcomes {
            self.count(outcome);
        }
        if !outcomes.is_empty()
            && let Err(error) = (self.report)(outcomes)
        {
            self.stop(error);
        }
        self.side.flow.leave(count);
    }

    fn place(&mut self, group: Vec<Ready>) -> Vec<Outcome> {
        if group.is_empty() {
            return Vec::new();
        }
        let halted = self.summary.fatal.is_some() || self.side.adopter.interrupt.requested();
        let writer = if halted { Ok(None) } else { self.side.writing.get() };
        let adopter = self.side.adopter;
        let (outcomes, fatal) = match (writer, adopter.mode) {
            (Ok(Some(writer)), Mode::Act { collection, wait, .. }) => {
                let origin = adopter.copies_of.unwrap_or_default();
                place(group, origin, collection, writer, &adopter.waiter(wait))
            }
            (other, _) => {
                let refused = |ready: Ready| Outcome::Refused {
                    path: ready.plan.directory().to_owned(),
                    error: match self.summary.fatal {
                        Some(_) => AdoptError::GroupFailed,
                        None => AdoptError::Interrupted,
                    },
                };
                (group.into_iter().map(refused).collect(), other.err())
            }
        };
        if let Some(error) = fatal {
            self.stop(error);
        }
        outcomes
    }

    fn count(&mut self, outcome: &Outcome) {
        let name = match outcome {
            Outcome::Taken(plan) => {
                self.summary.taken += 1;
                self.summary.files += plan.files;
                self.summary.bytes += plan.bytes;
                plan.name.as_str()
            }
            Outcome::There(name) => {
                self.summary.there += 1;
                name.as_str()
            }
            Outcome::Stray { .. } => {
                self.summary.strays += 1;
                ""
            }
            Outcome::Refused { path, .. } => {
                self.summary.refused += 1;
                path
            }
        };
        self.side.adopter.progress.finish_item(name);
    }

    fn stop(&mut self, error: AdoptError) {
        self.summary.fatal.get_or_insert(error);
        self.side.flow.stop();
    }
}

fn size(prepared: &Prepared) -> Size {
    match prepared {
        Prepared::Ready(ready) => Size { files: ready.entries.len(), bytes: ready.plan.bytes },
        Prepared::Told(_) | Prepared::Failed(..) => Size::default(),
    }
}
