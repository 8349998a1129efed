//! Several collections, name by name: is there one Original of each item, and are its Copies like it?
//!
//! A thread for each root lists its names and reads the sidecars; this one merges the streams, which
//! are in one order. Each channel is short, so that memory is bounded.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};

use super::finding::{Finding, Place};
use super::holdings::{Absence, Head, Holding, Verdict, What, judge};
use super::merge::Merge;
use super::{Code, Severity};
use crate::collection::{Collection, CollectionError, Listed, Names, listing_order};
use crate::disk::{IoContext, PathError};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;

/// So many sidecars of each root are read ahead.
const AHEAD: usize = 64;
/// How often an item that changes meanwhile is looked at.
const ATTEMPTS: usize = 3;

/// Something that two or more roots do not agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Which of the roots it is told of.
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
/// Sidecars that can not be read are passed over: verifying each root tells of them. One root agrees
/// with itself. The error is that no threads can be started.
pub fn compare(
    roots: &[&Collection],
    names: &Names,
    interrupt: &Interrupt,
    report: impl FnMut(Disagreement) -> ControlFlow<()>,
) -> Result<Comparison, PathError> {
    let ids: Vec<_> = roots.iter().map(|root| root.settings().id.as_str()).collect();
    let unlisted = roots.iter().map(|_| AtomicBool::new(false)).collect();
    let roots = Roots { collections: roots, ids, unlisted };
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
        let order = |a: &Held, b: &Held| listing_order(&a.name, &b.name);
        let merged = Merge::new(streams, order);
        if comparer.compare(merged).is_break() {
            comparer.summary.interrupted = true;
        }
        Ok(comparer.summary)
    })
}

/// What a root holds of an item, and how it spells its name.
struct Held {
    name: RepositoryName,
    head: Option<Head>,
}

struct Roots<'a> {
    collections: &'a [&'a Collection],
    ids: Vec<&'a str>,
    /// Whether a part of the root could not be listed.
    unlisted: Vec<AtomicBool>,
}

struct Comparer<'a, R> {
    roots: &'a Roots<'a>,
    interrupt: &'a Interrupt,
    summary: Comparison,
    report: R,
}

impl<R: FnMut(Disagreement) -> ControlFlow<()>> Comparer<'_, R> {
    fn compare(&mut self, merged: impl Iterator<Item = Vec<(usize, Held)>>) -> ControlFlow<()> {
        for (root, finding) in self.roots.same_collections() {
            self.tell(Disagreement { root, name: None, finding })?;
        }
        for held in merged {
            // A stream that was stopped has ended early: nothing follows from what is not in it.
            if self.interrupt.requested() {
                return ControlFlow::Break(());
            }
            self.summary.names += 1;
            self.compare_item(held)?;
        }
        if self.interrupt.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn compare_item(&mut self, mut held: Vec<(usize, Held)>) -> ControlFlow<()> {
        // As the listing spells them.
        let mut names: Vec<_> = held.iter().map(|(root, it)| (*root, it.name.clone())).collect();
        let mut holdings = holdings(&held);
        let mut verdicts = judge(&self.roots.ids, &holdings);
        // The sidecars were read one after the other, perhaps while the item went from one
        // collection to another.
        for _ in 1..ATTEMPTS {
            let Some((_, any)) = held.first().filter(|_| !verdicts.is_empty()) else { break };
            held = self.roots.read_all(&any.name);
            let before = std::mem::replace(&mut holdings, self::holdings(&held));
            if before == holdings {
                break;
            }
            verdicts = judge(&self.roots.ids, &holdings);
        }
        names.extend(held.into_iter().map(|(root, held)| (root, held.name)));
        for verdict in verdicts {
            let name = names.iter().find(|(root, _)| *root == verdict.root);
            let name = name.map(|(_, name)| name.clone());
            let finding = self.roots.finding(&verdict);
            self.tell(Disagreement { root: verdict.root, name, finding })?;
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

fn holdings(held: &[(usize, Held)]) -> Vec<Holding> {
    held.iter().map(|(root, held)| Holding { root: *root, head: held.head.clone() }).collect()
}

impl Roots<'_> {
    /// Sends what a root holds, in the order of its listing.
    fn stream(&self, root: usize, names: &Names, queue: &SyncSender<Held>, interrupt: &Interrupt) {
        let Ok(_) = self.collections[root].visit_all(names, |listed| {
            if interrupt.requested() {
                return Ok::<_, Infallible>(ControlFlow::Break(()));
            }
            let is_wanted = match listed {
                Listed::Item(name) => {
                    self.read(root, &name).is_none_or(|held| queue.send(held).is_ok())
                }
                Listed::Stray(_) => true,
                Listed::Unreadable(_) => {
                    self.unlisted[root].store(true, Ordering::Release);
                    true
                }
            };
            Ok(if is_wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
    }

    /// What a root holds of an item, if it does.
    fn read(&self, root: usize, name: &RepositoryName) -> Option<Held> {
        let item = match self.collections[root].item(name) {
            Ok(item) => item,
            Err(CollectionError::NoSuchItem { .. }) => return None,
            Err(_) => return Some(Held { name: name.clone(), head: None }),
        };
        let head = item.sidecar().ok().map(|(sidecar, _)| Head::of(sidecar));
        Some(Held { name: item.name().clone(), head })
    }

    /// What all roots hold of an item now.
    fn read_all(&self, name: &RepositoryName) -> Vec<(usize, Held)> {
        let held = |root| Some((root, self.read(root, name)?));
        (0..self.collections.len()).filter_map(held).collect()
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

    fn finding(&self, verdict: &Verdict) -> Finding {
        let (code, detail) = match &verdict.what {
            What::TwoOriginals { other } => {
                let (this, other) = (self.path(verdict.root), self.path(*other));
                (Code::TwoOriginals, format!("one is in {other}, one in {this}"))
            }
            What::NoOriginal(absence) => (Code::NoOriginal, self.tell_absence(absence)),
            What::Stale { original, copy, is } => {
                let original = self.path(*original);
                (Code::StaleCopy, format!("of {copy}, the Original in {original} of {is}"))
            }
            What::Differs { original, copy, is } => {
                let original = self.path(*original);
                let detail = format!(
                    "its manifest has the digest {copy}, that of the Original in {original} {is}"
                );
                (Code::CopyDiffers, detail)
            }
            What::OtherDescription { other } => {
                let detail = format!("its description is not that in {}", self.path(*other));
                (Code::DescriptionDiffers, detail)
            }
        };
        Finding::new(code, Place::Item, detail)
    }

    fn tell_absence(&self, absence: &Absence) -> String {
        let mut facts = Vec::new();
        if let Some(root) = absence.deleted {
            facts.push(format!("{} says that it was deleted", self.path(root)));
        }
        if let Some(root) = absence.unreadable {
            facts.push(format!("its sidecar in {} can not be read", self.path(root)));
        }
        if let Some(id) = &absence.handed_to {
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
