//! Several collections, name by name: is there one Original of each item, and are its Copies like it?
//!
//! A thread for each root lists its names and reads the sidecars; this one merges the streams, which
//! are in one order. Each channel is short, so that memory is bounded.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Mutex, PoisonError};

use super::finding::{Finding, Place};
use super::merge::Merge;
use super::{Code, Severity};
use crate::collection::{Collection, Listed, Names, listing_order};
use crate::disk::{IoContext, PathError};
use crate::holdings::{Holding, HoldingRecord, Standing, holdings, judge_all, read};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::sidecar::Party;

/// Sidecars of each root that are read ahead.
const AHEAD: usize = 64;

/// Something that two or more roots do not agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The root that it is about.
    pub root: usize,
    /// The item, as it is spelt there; nothing if it is about the root as a whole.
    pub name: Option<RepositoryName>,
    /// What.
    pub finding: Finding,
}

/// How a comparison ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Names that were compared, each counted once.
    pub names: u64,
    /// What is damage.
    pub damage: u64,
    /// What is only a warning.
    pub warnings: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

/// Compares what `roots` hold of the items of `names`, by their sidecars alone, and calls `report` for
/// each disagreement, in the order of names.
///
/// Sidecars that cannot be read are passed over: verifying each root tells of them. One root agrees
/// with itself. The error is that no threads can be started, or that the process ran short of descriptors or
/// memory.
pub fn compare(
    roots: &[&Collection],
    names: &Names,
    interrupt: &Interrupt,
    report: impl FnMut(Disagreement) -> ControlFlow<()>,
) -> Result<Comparison, PathError> {
    let roots = Roots::new(roots);
    let summary = Comparison::default();
    let mut comparer = Comparer { roots: &roots, interrupt, summary, report };
    if roots.collections.len() < 2 {
        return Ok(comparer.summary);
    }
    std::thread::scope(|threads| {
        let mut streams = Vec::new();
        for (at, root) in roots.collections.iter().enumerate() {
            let (queue, stream) = mpsc::sync_channel(AHEAD);
            let roots = &roots;
            std::thread::Builder::new()
                .spawn_scoped(threads, move || roots.stream(at, names, &queue, interrupt))
                .on("start threads to read", root.path())?;
            streams.push(stream.into_iter());
        }
        let order = |a: &Holding, b: &Holding| listing_order(&a.name, &b.name);
        let merged = Merge::new(streams, order);
        let merged = merged.map(|held| held.into_iter().map(|(_, holding)| holding).collect());
        if comparer.compare(merged).is_break() {
            comparer.summary.interrupted = true;
        }
        let mut shortage = roots.shortage.lock().unwrap_or_else(PoisonError::into_inner);
        shortage.take().map_or(Ok(comparer.summary), Err)
    })
}

/// The same for the items `names`, each of which is looked for in every root.
pub fn compare_items(
    roots: &[&Collection],
    names: &[RepositoryName],
    interrupt: &Interrupt,
    report: impl FnMut(Disagreement) -> ControlFlow<()>,
) -> Result<Comparison, PathError> {
    let roots = Roots::new(roots);
    let mut comparer =
        Comparer { roots: &roots, interrupt, summary: Comparison::default(), report };
    if roots.collections.len() < 2 {
        return Ok(comparer.summary);
    }
    let held = names.iter().map(|name| holdings(name, roots.collections).all);
    if comparer.compare(held).is_break() {
        comparer.summary.interrupted = true;
    }
    let summary = comparer.summary;
    let mut shortage = roots.shortage.lock().unwrap_or_else(PoisonError::into_inner);
    shortage.take().map_or(Ok(summary), Err)
}

struct Roots<'a> {
    collections: &'a [&'a Collection],
    ids: Vec<&'a str>,
    /// Whether a part of the root could not be listed.
    unlisted: Vec<AtomicBool>,
    /// That the process ran short of descriptors or memory: what it read then says nothing.
    shortage: Mutex<Option<PathError>>,
}

struct Comparer<'a, R> {
    roots: &'a Roots<'a>,
    interrupt: &'a Interrupt,
    summary: Comparison,
    report: R,
}

impl<R: FnMut(Disagreement) -> ControlFlow<()>> Comparer<'_, R> {
    fn compare(&mut self, merged: impl Iterator<Item = Vec<Holding>>) -> ControlFlow<()> {
        for (root, finding) in self.roots.same_collections() {
            self.tell(Disagreement { root, name: None, finding })?;
        }
        for held in merged {
            // A stream that was stopped has ended early: nothing follows from what is not in it.
            if self.interrupt.requested() || self.roots.is_short() {
                return ControlFlow::Break(());
            }
            self.summary.names += 1;
            self.compare_item(held)?;
        }
        if self.interrupt.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn compare_item(&mut self, mut all: Vec<Holding>) -> ControlFlow<()> {
        judge_all(&mut all, self.roots.collections);
        // The sidecars were read one after the other, perhaps while the item went from one
        // collection to another.
        if let Some(any) = all.first()
            && all.iter().any(|holding| !self.roots.findings(holding, &all).is_empty())
        {
            all = holdings(&any.name, self.roots.collections).all;
        }
        let errors = all.iter().filter_map(|holding| holding.record.as_ref().err());
        if errors.into_iter().any(|error| self.roots.runs_short(error.disk())) {
            return ControlFlow::Break(());
        }
        for holding in &all {
            for finding in self.roots.findings(holding, &all) {
                let name = Some(holding.name.clone());
                self.tell(Disagreement { root: holding.collection, name, finding })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn tell(&mut self, disagreement: Disagreement) -> ControlFlow<()> {
        match disagreement.finding.severity() {
            Severity::Damage => self.summary.damage += 1,
            Severity::Warning | Severity::Notice => self.summary.warnings += 1,
        }
        (self.report)(disagreement)
    }
}

impl<'a> Roots<'a> {
    fn new(collections: &'a [&'a Collection]) -> Roots<'a> {
        let ids = collections.iter().map(|root| root.settings().id.as_str()).collect();
        let unlisted = collections.iter().map(|_| AtomicBool::new(false)).collect();
        Roots { collections, ids, unlisted, shortage: Mutex::default() }
    }
}

impl Roots<'_> {
    /// Sends what a root holds, in the order of its listing.
    fn stream(
        &self,
        root: usize,
        names: &Names,
        queue: &SyncSender<Holding>,
        interrupt: &Interrupt,
    ) {
        let Ok(_) = self.collections[root].visit_all(names, |listed| {
            if interrupt.requested() {
                return Ok::<_, Infallible>(ControlFlow::Break(()));
            }
            let is_wanted = match listed {
                Listed::Item(name) => read(&name, root, self.collections[root])
                    .is_none_or(|holding| queue.send(holding).is_ok()),
                Listed::Stray(_) => true,
                Listed::Link(_, error) | Listed::Unreadable(error) => {
                    self.unlisted[root].store(true, Ordering::Release);
                    !self.runs_short(Some(&error))
                }
            };
            Ok(if is_wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
    }

    /// Notes whether `error` is that the process runs short.
    fn runs_short(&self, error: Option<&PathError>) -> bool {
        let Some(shortage) = error.and_then(PathError::shortage) else { return false };
        let mut first = self.shortage.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(shortage.to_error());
        true
    }

    fn is_short(&self) -> bool {
        self.shortage.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Roots that have the id of one before them.
    fn same_collections(&self) -> Vec<(usize, Finding)> {
        let mut found = Vec::new();
        for (root, id) in self.ids.iter().enumerate() {
            if let Some(other) = self.ids[..root].iter().position(|before| before == id) {
                let detail = format!(
                    "it has the id {id}, and so has {}; the two are not compared",
                    self.path(other)
                );
                let place = Place::Tree(crate::layout::SETTINGS.into());
                found.push((root, Finding::new(Code::SameCollection, place, detail)));
            }
        }
        found
    }

    /// The findings on `holding`, one of `all`.
    fn findings(&self, holding: &Holding, all: &[Holding]) -> Vec<Finding> {
        let Ok(own) = &holding.record else { return Vec::new() };
        let other = holding.against.and_then(|at| all.iter().find(|it| it.collection == at));
        let other = other.and_then(|it| Some((self.path(it.collection), it.record.as_ref().ok()?)));
        let other_description = |path: &str| {
            (Code::DescriptionDiffers, format!("its description is not that in {path}"))
        };
        let found = match (holding.standing, &other) {
            (Standing::Original, Some((first, _))) => {
                let this = self.path(holding.collection);
                vec![(Code::TwoOriginals, format!("one is in {first}, one in {this}"))]
            }
            (Standing::Stale, Some((path, HoldingRecord { timestamp, .. }))) => {
                let detail = format!("of {}, the Original in {path} of {timestamp}", own.timestamp);
                vec![(Code::StaleCopy, detail)]
            }
            (Standing::Different, Some((path, is))) if own.content != is.content => {
                let detail = format!(
                    "its manifest has the digest {}, that of the Original in {path} {}",
                    own.content, is.content
                );
                vec![(Code::CopyDiffers, detail)]
            }
            (Standing::Different, Some((path, _))) => vec![other_description(path)],
            (Standing::Deleted, Some((path, _))) => {
                vec![(Code::DeletedElsewhere, format!("the Original is in {path}"))]
            }
            (Standing::Orphan, other) => {
                let mut found = vec![(Code::NoOriginal, self.tell_absence(own, all))];
                found.extend(other.as_ref().map(|(path, _)| other_description(path)));
                found
            }
            _ => Vec::new(),
        };
        let finding = |(code, detail)| Finding::new(code, Place::Item, detail);
        found.into_iter().map(finding).collect()
    }

    /// What is known of the Original of `copy`, which none of `all` is.
    fn tell_absence(&self, copy: &HoldingRecord, all: &[Holding]) -> String {
        let mut facts = Vec::new();
        let is_deleted =
            |it: &&Holding| it.record.as_ref().is_ok_and(|it| it.state == State::Deleted);
        if let Some(holding) = all.iter().find(is_deleted) {
            facts.push(format!("{} says that it was deleted", self.path(holding.collection)));
        }
        if let Some(holding) = all.iter().find(|it| it.record.is_err()) {
            facts.push(format!("its sidecar in {} cannot be read", self.path(holding.collection)));
        }
        if let Some(Party::To(id)) = copy.handover.as_ref().map(|handover| &handover.party) {
            facts.push(format!("it was handed over to the collection {id}"));
        }
        let unlisted = self.unlisted.iter().position(|unlisted| unlisted.load(Ordering::Acquire));
        if let Some(root) = unlisted {
            facts.push(format!("not all of {} can be listed", self.path(root)));
        }
        facts.join("; ")
    }

    fn path(&self, root: usize) -> String {
        format!("`{}`", self.collections[root].path().display())
    }
}
