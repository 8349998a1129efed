//! The listing of items, and of stray entries among them.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, SyncSender};

use super::answer::FeedEvent;
use super::finding::{Finding, Place};
use super::ledger::compare_with_ledger;
use super::rounds::{Deadline, SkipPolicy};
use super::stray::{IN_TRASH, in_the_way, kind_at, stray};
use super::work::{Batch, NameOrigin, VerifyJob, Work};
use super::{Code, Report, Scope};
use crate::collection::{Listed, Lookup, Names};
use crate::disk::{Kind, PathError};
use crate::distributor::DEFAULT_MAX_WAIT;
use crate::identity::RepositoryName;
use crate::layout;

/// Number of items that are handed to a thread at a time.
const BATCH: usize = 16;

/// Puts items into the queue and hands them to the pool.
pub(super) struct Lister<'a, 'tasks, 'scope> {
    work: &'scope Work<'scope>,
    tasks: &'tasks rayon::Scope<'scope>,
    queue: &'a SyncSender<FeedEvent>,
    lookup: Lookup<'scope>,
    choice: SkipPolicy,
    /// The batch that is being filled.
    batch: Vec<QueuedItem>,
    /// The prefix of the item before.
    prefix: String,
}

/// An item that waits for its batch to be handed on.
struct QueuedItem {
    name: RepositoryName,
    origin: NameOrigin,
    /// The findings of the listing about it.
    findings: Vec<Finding>,
}

impl<'a, 'tasks, 'scope> Lister<'a, 'tasks, 'scope> {
    pub(super) fn new(
        work: &'scope Work<'scope>,
        tasks: &'tasks rayon::Scope<'scope>,
        queue: &'a SyncSender<FeedEvent>,
        choice: SkipPolicy,
    ) -> Self {
        let lookup = Lookup::new(work.collection);
        let batch = Vec::with_capacity(BATCH);
        Lister { work, tasks, queue, lookup, choice, batch, prefix: String::new() }
    }

    /// Feeds all of `scope`, until the run ends.
    pub(super) fn feed(&mut self, scope: Scope<'_>) {
        let fed = match scope {
            Scope::All(names) => {
                let collection = self.work.collection;
                let tell = |report| {
                    let is_unread =
                        matches!(&report, Report::Tree(it) if it.code == Code::Unreadable);
                    self.work.is_ledger_told.fetch_or(is_unread, Ordering::Relaxed);
                    self.send(FeedEvent::Compared(report))
                };
                match compare_with_ledger(collection, names, tell) {
                    ControlFlow::Continue(()) => self.feed_all(names),
                    ControlFlow::Break(()) => ControlFlow::Break(()),
                }
            }
            Scope::Items(mut names) => {
                names.try_for_each(|name| self.item(name, NameOrigin::Asked))
            }
        };
        if fed.is_continue() {
            let _ = self.hand_on();
        }
    }

    fn feed_all(&mut self, names: &Names) -> ControlFlow<()> {
        self.displaced(names)?;
        let Ok(fed) = self.work.collection.visit_all(names, |listed| {
            Ok::<_, Infallible>(match listed {
                Listed::Item(name) => self.item(name, NameOrigin::Listed),
                Listed::Stray(path) => self.stray(path, stray),
                Listed::Link(path, _) => self.stray(path, in_the_way),
                Listed::Unreadable(error) => self.unlisted(&error),
            })
        });
        fed
    }
}

impl Lister<'_, '_, '_> {
    fn item(&mut self, name: RepositoryName, origin: NameOrigin) -> ControlFlow<()> {
        if self.work.context.is_stopped() {
            let _ = self.send(FeedEvent::Interrupted);
            return ControlFlow::Break(());
        }
        if self.work.context.deadline.as_ref().is_some_and(Deadline::is_over) {
            let _ = self.send(FeedEvent::OutOfTime);
            return ControlFlow::Break(());
        }
        if origin == NameOrigin::Listed {
            self.look_at_prefix(&name)?;
        }
        if self.choice.skips(&name) {
            return self.send(FeedEvent::Skipped);
        }
        let mut findings: Vec<_> = match self.spellings(&name) {
            Ok(spellings) => two_spellings(&name, &spellings).into_iter().collect(),
            Err(error) => vec![Finding::of_error(Place::Item, &error)],
        };
        let ahead = self.work.context.now.and_then(|now| name.instant().duration_since(now));
        if ahead.is_some_and(|ahead| ahead > DEFAULT_MAX_WAIT) {
            let detail =
                "the clock has not reached its date, and new identifiers do not go on above it";
            findings.push(Finding::new(Code::FutureName, Place::Item, detail));
        }
        self.batch.push(QueuedItem { name, origin, findings });
        if self.batch.len() < BATCH { ControlFlow::Continue(()) } else { self.hand_on() }
    }

    /// Hands the batch to the pool.
    fn hand_on(&mut self) -> ControlFlow<()> {
        if self.batch.is_empty() {
            return ControlFlow::Continue(());
        }
        let (answers, awaited) = mpsc::channel();
        let batch = Arc::new(Batch::new(self.batch.len(), answers));
        let (mut items, mut tickets) = (Vec::new(), Vec::new());
        let mut pending = self.batch.drain(..);
        while let Some(QueuedItem { name, origin, findings }) = pending.next() {
            let (batch, after) = (Arc::clone(&batch), pending.len());
            items.push(name.clone());
            tickets.push(VerifyJob { name, origin, findings, batch, after, attempt: 0 });
        }
        drop(pending);
        // The queue limits the items in flight, so it comes first.
        if self.queue.send(FeedEvent::Awaited(items, awaited)).is_err() {
            return ControlFlow::Break(());
        }
        let work = self.work;
        self.tasks.spawn(move |tasks| work.verify_all(batch, tickets.into_iter(), tasks));
        ControlFlow::Continue(())
    }

    /// A directory that cannot be listed: its items are not verified, later ones are.
    fn unlisted(&mut self, error: &PathError) -> ControlFlow<()> {
        let mut finding = Finding::of_error(Place::Tree(self.relative(error.path())), error);
        finding.detail.push_str("; the items in it were not verified");
        self.send(FeedEvent::Unlisted(finding))
    }

    fn stray(&mut self, path: PathBuf, finding: fn(PathBuf, Kind) -> Finding) -> ControlFlow<()> {
        match kind_at(self.work.collection.root(), &path) {
            // Gone since it was listed.
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(kind)) => self.send(FeedEvent::Found(finding(path, kind))),
            Err(error) => self.send(FeedEvent::Found(Finding::of_error(Place::Tree(path), &error))),
        }
    }

    /// Reports an odd prefix once, not for each of its items.
    fn look_at_prefix(&mut self, name: &RepositoryName) -> ControlFlow<()> {
        let prefix = name.as_str().strip_suffix(name.suffix()).unwrap_or_default();
        let prefix = prefix.trim_end_matches('/');
        if self.prefix == prefix {
            return ControlFlow::Continue(());
        }
        prefix.clone_into(&mut self.prefix);
        let Ok((_, oddities)) = RepositoryName::parse_as_found(name.as_str()) else {
            return ControlFlow::Continue(());
        };
        for oddity in oddities {
            let place = Place::Tree(PathBuf::from(prefix));
            let finding = Finding::new(Code::OddName, place, oddity.to_string());
            self.send(FeedEvent::Found(finding))?;
        }
        ControlFlow::Continue(())
    }

    /// Reports items that a killed run has displaced: no list has them.
    fn displaced(&mut self, names: &Names) -> ControlFlow<()> {
        match self.work.collection.displaced(names) {
            Ok(names) => names.into_iter().try_for_each(|name| {
                let place = Place::Tree(layout::item_directory(&name));
                self.send(FeedEvent::Found(Finding::new(Code::ItemDisplaced, place, IN_TRASH)))
            }),
            Err(error) => {
                let place = Place::Tree(self.relative(error.path()));
                self.send(FeedEvent::Found(Finding::of_error(place, &error)))
            }
        }
    }

    /// Flushes the batch, then sends `answer`, to keep the order.
    fn send(&mut self, answer: FeedEvent) -> ControlFlow<()> {
        self.hand_on()?;
        match self.queue.send(answer) {
            Ok(()) => ControlFlow::Continue(()),
            Err(mpsc::SendError(_)) => ControlFlow::Break(()),
        }
    }

    /// The spellings in which `name` is on disk, where its prefix has several.
    fn spellings(&self, name: &RepositoryName) -> Result<Vec<String>, PathError> {
        let (directories, mut spellings) = (self.lookup.directories(name)?, Vec::new());
        if directories.len() > 1 {
            for directory in &*directories {
                let path = directory.join(name.suffix());
                if kind_at(self.work.collection.root(), &path)?.is_some() {
                    spellings.push(path.to_string_lossy().into_owned());
                }
            }
            spellings.sort();
        }
        Ok(spellings)
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.work.collection.path()).unwrap_or(path).to_path_buf()
    }
}

fn two_spellings(name: &RepositoryName, spellings: &[String]) -> Option<Finding> {
    if spellings.len() < 2 {
        return None;
    }
    let others: Vec<String> = spellings
        .iter()
        .filter(|spelling| *spelling != name.as_str())
        .map(|spelling| format!("`{spelling}`"))
        .collect();
    let detail = format!("it is also there as {}", others.join(", "));
    Some(Finding::new(Code::TwoSpellings, Place::Item, detail))
}
