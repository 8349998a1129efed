//! The work of the pool's threads: an item from its ticket to its report.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::answer::{JobResult, Unverified};
use super::finding::{Finding, Place};
use super::item::Inspection;
use super::ledger::{absent, deviation, returned};
use super::reading::DigestRun;
use super::stray::{IN_TRASH, in_the_way, kind_at, no_item};
use super::{Code, Context, ItemReport, Report};
use crate::collection::{Collection, CollectionError};
use crate::disk::{Dir, Kind, PathError};
use crate::flow::spread;
use crate::identity::RepositoryName;

/// Number of attempts to verify an item that changes meanwhile.
const ATTEMPTS: usize = 3;

/// The answers to the tickets of one batch.
pub(super) struct Batch {
    /// The answer to each ticket, until it is sent.
    told: Mutex<VecDeque<Option<JobResult>>>,
    answers: Sender<Vec<JobResult>>,
}

impl Batch {
    pub(super) fn new(count: usize, answers: Sender<Vec<JobResult>>) -> Batch {
        let told = std::iter::repeat_with(|| None).take(count).collect();
        Batch { told: Mutex::new(told), answers }
    }

    fn told(&self) -> MutexGuard<'_, VecDeque<Option<JobResult>>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the answers whose predecessors are sent.
    fn send(&self) {
        let mut told = self.told();
        let ready = told.iter().take_while(|told| told.is_some()).count();
        if ready > 0 {
            // The receiver may have ended.
            let _ = self.answers.send(told.drain(..ready).flatten().collect());
        }
    }
}

/// An item to be verified, with the place for its answer.
pub(super) struct VerifyJob {
    pub name: RepositoryName,
    pub origin: NameOrigin,
    /// The findings of the listing about it.
    pub findings: Vec<Finding>,
    pub batch: Arc<Batch>,
    /// The number of later items in the batch.
    pub after: usize,
    pub attempt: usize,
}

/// Why a name is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameOrigin {
    /// It was found on disk in this spelling.
    Listed,
    /// It was requested.
    Asked,
}

impl VerifyJob {
    fn answer(mut self, report: JobResult) {
        let report = report.map(|report| match report {
            Report::Item(mut item) => {
                self.findings.drain(..).for_each(|finding| item.findings.push(finding));
                item.findings.sort();
                Report::Item(item)
            }
            report @ Report::Tree(_) => report,
        });
        let mut told = self.batch.told();
        let at = told.len() - 1 - self.after;
        told[at] = Some(report);
    }
}

/// The shared state of the pool's threads.
pub(super) struct Work<'a> {
    pub collection: &'a Collection,
    pub context: &'a Context<'a>,
    /// Whether a finding says that the ledger cannot be compared with the items: it is said once.
    pub is_ledger_told: AtomicBool,
}

/// An item whose files remain to be read.
type Opened = (VerifyJob, Inspection<Dir>);

impl Work<'_> {
    /// Verifies the items of a batch.
    pub(super) fn verify_all<'scope>(
        &'scope self,
        batch: Arc<Batch>,
        mut tickets: std::vec::IntoIter<VerifyJob>,
        tasks: &rayon::Scope<'scope>,
    ) {
        while let Some(ticket) = tickets.next() {
            let Some(large) = self.verify_small(ticket) else { continue };
            // It is read at once, because it may take much memory meanwhile. Other threads continue.
            batch.send();
            tasks.spawn(move |tasks| self.verify_all(batch, tickets, tasks));
            return self.read(large, tasks);
        }
        batch.send();
    }

    /// Verifies an item, but leaves the files of a large one to be read.
    fn verify_small(&self, mut ticket: VerifyJob) -> Option<Opened> {
        loop {
            let inspection = match self.inspect(&ticket) {
                Ok(inspection) => inspection,
                Err(told) => {
                    ticket.answer(told);
                    return None;
                }
            };
            ticket.attempt += 1;
            match &inspection.reading {
                Some(reading) if reading.is_small() => reading.read_share(self.context),
                Some(_) => return Some((ticket, inspection)),
                None => {}
            }
            ticket = self.finish(ticket, inspection)?;
        }
    }

    /// Checks everything but the bytes of an item, or returns its final report.
    #[expect(clippy::result_large_err, reason = "it is made once for each item, and moved once")]
    fn inspect(&self, ticket: &VerifyJob) -> Result<Inspection<Dir>, JobResult> {
        if self.context.is_stopped() {
            return Err(Err(Unverified::Stopped));
        }
        // An item that was begun is finished: otherwise a large item would be begun each night.
        let deadline = self.context.deadline.as_ref().filter(|_| ticket.attempt == 0);
        if deadline.is_some_and(|deadline| !deadline.lets_begin()) {
            return Err(Err(Unverified::OutOfTime));
        }
        let (name, dir) = self.open(ticket).map_err(|report| Ok(*report))?;
        // A whole collection is compared with its ledger before its items are verified.
        let returned = match ticket.origin {
            NameOrigin::Asked => returned(self.collection, &name),
            NameOrigin::Listed => None,
        };
        let inspection = Inspection::of(name, Some(self.collection.id()), dir, self.context);
        let mut inspection = inspection.ok_or(Err(Unverified::Stopped))?;
        if ticket.origin == NameOrigin::Listed && inspection.is_no_item(self.collection) {
            return Err(Ok(Report::Tree(no_item(&ticket.name))));
        }
        inspection.extend(returned);
        if inspection.sound_state().is_some() {
            let is_told = |it: &Finding| {
                ticket.origin == NameOrigin::Asked
                    || it.code != Code::Unreadable
                    || !self.is_ledger_told.swap(true, Ordering::Relaxed)
            };
            let found = deviation(self.collection, &ticket.name, inspection.here.as_ref());
            inspection.extend(found.filter(is_told));
        }
        let bytes = inspection.reading.as_ref().map_or(0, |reading| reading.bytes());
        self.context.progress.expect(u64::from(ticket.attempt == 0), bytes);
        Ok(inspection)
    }

    /// Opens the directory of an item.
    fn open(&self, ticket: &VerifyJob) -> Result<(RepositoryName, Dir), Box<Report>> {
        let name = &ticket.name;
        let item = |finding| Box::new(Report::Item(ItemReport::of_one(name.clone(), finding)));
        match ticket.origin {
            NameOrigin::Listed => match self.collection.root().open_dir_if_there(name.as_str()) {
                Ok(Some(dir)) => Ok((name.clone(), dir)),
                Ok(None) => {
                    let detail = "it was there when its year was listed";
                    Err(item(Finding::new(Code::ItemGone, Place::Item, detail)))
                }
                Err(error) => Err(Box::new(self.not_an_item(name, &error))),
            },
            NameOrigin::Asked => match self.collection.item(name) {
                Ok(found) => match found.dir().try_clone() {
                    Ok(dir) => Ok((found.name().clone(), dir)),
                    Err(error) => Err(item(Finding::of_error(Place::Item, &error))),
                },
                Err(CollectionError::Disk(error)) => {
                    Err(item(Finding::of_error(Place::Item, &error)))
                }
                Err(CollectionError::Displaced { .. }) => {
                    Err(item(Finding::new(Code::ItemDisplaced, Place::Item, IN_TRASH)))
                }
                Err(_) => Err(Box::new(Report::Item(absent(self.collection, name)))),
            },
        }
    }

    /// The finding for an item that cannot be opened as a directory.
    fn not_an_item(&self, name: &RepositoryName, error: &PathError) -> Report {
        match kind_at(self.collection.root(), name.as_str().as_ref()) {
            Ok(Some(kind)) if kind != Kind::Directory => {
                Report::Tree(in_the_way(name.as_str().into(), kind))
            }
            _ => Report::Item(ItemReport::unopened(name.clone(), error)),
        }
    }

    /// Reads the files of a large item on as many threads as are free.
    fn read<'scope>(&'scope self, (ticket, inspection): Opened, tasks: &rayon::Scope<'scope>) {
        let Some(reading) = inspection.reading.clone() else { return };
        let shares = vec![(); reading.useful_threads(rayon::current_num_threads())];
        // It cannot be shared between threads; only the last one needs it.
        let job = (reading, Mutex::new((ticket, inspection)));
        let read = |(reading, _): &(Arc<DigestRun>, _), ()| reading.read_share(self.context);
        spread(job, shares, tasks, read, |(_, opened), tasks| {
            let (ticket, inspection) = opened.into_inner().unwrap_or_else(PoisonError::into_inner);
            let batch = Arc::clone(&ticket.batch);
            let again = self.finish(ticket, inspection).and_then(|it| self.verify_small(it));
            batch.send();
            if let Some(large) = again {
                self.read(large, tasks);
            }
        });
    }

    /// Answers a ticket, unless the item has to be verified again.
    fn finish(&self, ticket: VerifyJob, mut inspection: Inspection<Dir>) -> Option<VerifyJob> {
        if self.context.is_stopped() {
            ticket.answer(Err(Unverified::Stopped));
        } else if ticket.attempt < ATTEMPTS && inspection.is_outdated() {
            return Some(ticket);
        } else {
            ticket.answer(Ok(Report::Item(inspection.finish())));
        }
        None
    }
}
