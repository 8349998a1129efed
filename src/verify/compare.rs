//! Comparing several collections, name by name: whether each item has one Original, and its Copies agree with
//! it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::finding::{Finding, Place};
use super::{Code, Severity};
use crate::collection::{Collection, CollectionError, Deviation, Names, of_id};
use crate::disk::PathError;
use crate::holdings::{HoldingRecord, JudgedHolding, Report, Standing, Survey, holdings};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::layout;

/// A contradiction between roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The root that it is about.
    pub root: usize,
    /// The item, as it is spelt there; `None` if it is about the root as a whole.
    pub name: Option<RepositoryName>,
    /// The finding.
    pub finding: Finding,
    /// Whether the item is one for the table of remedies, though the finding is no damage.
    pub has_remedy: bool,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Names that were compared, each counted once.
    pub names: u64,
    /// Number of damage findings.
    pub damage: u64,
    /// Number of warnings.
    pub warnings: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

/// Compares the holdings of the items of `names` in `roots`, by their sidecars alone, and calls `report` for
/// each contradiction, in the order of names.
///
/// Damaged sidecars are skipped: verifying each root reports them. What the disk does not let be read is reported, once for each
/// place, though verifying a root may have reported it. One root agrees with itself.
/// An error means that no threads can be started, or that the process ran short of descriptors or memory.
pub fn compare(
    roots: &[&Collection],
    names: &Names,
    interrupt: &Interrupt,
    report: impl FnMut(Disagreement) -> ControlFlow<()>,
) -> Result<Comparison, PathError> {
    let unique = Unique::of(roots);
    let comparer = Comparer::new(roots, &unique, report);
    // A thread for each root: they may be on disks of their own.
    let jobs = unique.roots.len();
    let survey = Survey { collections: &unique.roots, names, jobs, interrupt };
    comparer.compare(interrupt, |comparer| survey.run_in_order(|found| comparer.take(found)))
}

/// The same for the items `names`, each looked up in every root.
pub fn compare_items(
    roots: &[&Collection],
    names: &[RepositoryName],
    interrupt: &Interrupt,
    report: impl FnMut(Disagreement) -> ControlFlow<()>,
) -> Result<Comparison, PathError> {
    let unique = Unique::of(roots);
    Comparer::new(roots, &unique, report).compare(interrupt, |comparer| {
        Ok(names.iter().try_for_each(|name| {
            interrupt.flow()?;
            comparer.take(Report::Item(holdings(name, &unique.roots)))
        }))
    })
}

/// The roots without those that have the id of an earlier one: these are not compared.
struct Unique<'a> {
    roots: Vec<&'a Collection>,
    /// Their places among all.
    at: Vec<usize>,
}

impl<'a> Unique<'a> {
    fn of(all: &[&'a Collection]) -> Unique<'a> {
        let is_first = |at: &usize| all[..*at].iter().all(|before| before.id() != all[*at].id());
        let at: Vec<_> = (0..all.len()).filter(is_first).collect();
        Unique { roots: at.iter().map(|at| all[*at]).collect(), at }
    }
}

struct Comparer<'a, R> {
    /// All roots.
    all: &'a [&'a Collection],
    /// Those that are compared.
    roots: &'a [&'a Collection],
    /// Their places among all.
    at: &'a [usize],
    /// The paths that could not be read, each with its place among these.
    unread: BTreeSet<(usize, PathBuf)>,
    /// Those of them that could not be listed.
    unlisted: Vec<bool>,
    summary: Comparison,
    /// A shortage of descriptors or memory in this process, after which the result means nothing.
    shortage: Option<PathError>,
    report: R,
}

impl<'a, R: FnMut(Disagreement) -> ControlFlow<()>> Comparer<'a, R> {
    fn new(all: &'a [&'a Collection], unique: &'a Unique<'a>, report: R) -> Comparer<'a, R> {
        let Unique { roots, at } = unique;
        let (unlisted, summary) = (vec![false; roots.len()], Comparison::default());
        let unread = BTreeSet::new();
        Comparer { all, roots, at, unread, unlisted, summary, shortage: None, report }
    }

    /// Compares the holdings that `look` finds.
    fn compare(
        mut self,
        interrupt: &Interrupt,
        look: impl FnOnce(&mut Self) -> Result<ControlFlow<()>, PathError>,
    ) -> Result<Comparison, PathError> {
        let mut flow = self.tell_same_collections();
        if flow.is_continue() && self.roots.len() > 1 {
            flow = look(&mut self)?;
        }
        self.summary.interrupted = flow.is_break() || interrupt.requested();
        self.shortage.map_or(Ok(self.summary), Err)
    }

    fn take(&mut self, found: Report) -> ControlFlow<()> {
        let (mut originals, all) = match found {
            Report::Item(holdings) => (holdings.originals(), holdings.all),
            Report::Unlisted { collection, error } => {
                self.unlisted[collection] = true;
                return self.tell_unread(collection, None, &error);
            }
        };
        self.summary.names += 1;
        for holding in &all {
            if let Some(error) = holding.record.as_ref().err().and_then(CollectionError::disk) {
                self.tell_unread(holding.collection, Some(&holding.name), error)?;
            }
        }
        // One that is behind is reported as such, and so are two of which neither follows the other.
        let is_fork = |it: &JudgedHolding| it.standing == Standing::Fork && it.against.is_some();
        let is_apart = all.iter().any(|it| originals.contains(&it.collection) && is_fork(it));
        originals.retain(|at| {
            let is_behind =
                |it: &JudgedHolding| it.collection == *at && it.standing == Standing::Behind;
            !is_apart && !all.iter().any(is_behind)
        });
        for holding in &all {
            let is_missed = self.roots.iter().any(|root| holding.is_missed_by(root.id()));
            let mut findings = self.findings(holding, &all);
            if let Some((first, others)) = originals.split_first()
                && others.contains(&holding.collection)
            {
                let (first, this) = (self.called(*first), self.called(holding.collection));
                let detail = format!("two Originals, in {first} and {this}");
                findings.insert(0, Finding::new(Code::TwoOriginals, Place::Item, detail));
            }
            for finding in findings {
                let name = Some(holding.name.clone());
                let is_found_again = finding.code == Code::NoOriginal && is_missed;
                let has_remedy = finding.code.is_open() || is_found_again;
                let root = self.at[holding.collection];
                self.tell(Disagreement { root, name, finding, has_remedy })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Reports what could not be read in a root: the item `name`, or a place outside items.
    fn tell_unread(
        &mut self,
        root: usize,
        name: Option<&RepositoryName>,
        error: &PathError,
    ) -> ControlFlow<()> {
        self.shortage = error.shortage().map(|shortage| shortage.to_error());
        if self.shortage.is_some() {
            return ControlFlow::Break(());
        }
        let path = error.path().strip_prefix(self.roots[root].path()).unwrap_or(error.path());
        let item = name.filter(|name| path.starts_with(layout::item_directory(name)));
        let place = match item {
            Some(_) => Place::Item,
            None => Place::Tree(path.to_path_buf()),
        };
        let path = item.map_or_else(|| path.to_path_buf(), layout::item_directory);
        if !self.unread.insert((root, path)) {
            return ControlFlow::Continue(());
        }
        let finding = Finding::of_error(place, error);
        let root = self.at[root];
        self.tell(Disagreement { root, name: item.cloned(), finding, has_remedy: false })
    }

    fn tell(&mut self, disagreement: Disagreement) -> ControlFlow<()> {
        match disagreement.finding.severity() {
            Severity::Damage => self.summary.damage += 1,
            Severity::Warning | Severity::Notice => self.summary.warnings += 1,
        }
        (self.report)(disagreement)
    }

    /// Reports roots that have the id of an earlier one.
    fn tell_same_collections(&mut self) -> ControlFlow<()> {
        for (root, collection) in self.all.iter().enumerate() {
            let id = collection.id();
            if let Some(other) = self.all[..root].iter().find(|before| before.id() == id) {
                let detail = format!(
                    "it has the id of `{}`; the two are not compared",
                    other.path().display()
                );
                let place = Place::Tree(layout::SETTINGS.into());
                let finding = Finding::new(Code::SameCollection, place, detail);
                self.tell(Disagreement { root, name: None, finding, has_remedy: false })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The findings on `holding`, one of `all`.
    fn findings(&self, holding: &JudgedHolding, all: &[JudgedHolding]) -> Vec<Finding> {
        let Ok(own) = &holding.record else { return Vec::new() };
        let other = holding.against.and_then(|at| all.iter().find(|it| it.collection == at));
        let other =
            other.and_then(|it| Some((self.called(it.collection), it.record.as_ref().ok()?)));
        let this = self.called(holding.collection);
        let mut found = Vec::new();
        let is_told_by_ledger = |root| self.is_told_by_ledger(root, all);
        if let Some(holder) = holding.relies_on.filter(|holder| !is_told_by_ledger(*holder)) {
            let holder_called = self.called(holder);
            let detail = if all.iter().any(|it| it.collection == holder) {
                format!(
                    "older in {holder_called} than in {this}, which got it from there or gave it there"
                )
            } else {
                let what = match own.state {
                    State::Original | State::Copy => "it",
                    State::Elsewhere => "its stub",
                    State::Deleted => "its tombstone",
                };
                format!("gone from {holder_called}; {this} has {what}")
            };
            found.push((Code::HolderLacks, detail));
        }
        let is_relied_on = all.iter().any(|it| it.relies_on == Some(holding.collection));
        match (holding.standing, &other) {
            // One fault is one finding: the ledger here says it, or else that with the later line.
            (Standing::Behind, None) => {}
            (Standing::Behind, _) if is_told_by_ledger(holding.collection) => {}
            // Or it is said of what relies on this.
            (Standing::Behind, Some((_, it)))
                if is_relied_on
                    && it.rule.custody.holder() == own.rule.at
                    && !it.rule.is_deletion() => {}
            (Standing::Behind, Some((path, it)))
                if own.rule.is_original() && it.rule.is_deletion() =>
            {
                let detail = format!("deleted in {path}, and {this} has the Original");
                found.push((Code::DeletedElsewhere, detail));
            }
            (Standing::Behind, Some((path, it)))
                if own.rule.is_original() && it.rule.custody.holder() != own.rule.at =>
            {
                let detail = format!("the Original has moved on, as {path} shows");
                found.push((Code::ItemPutBack, detail));
            }
            (Standing::Behind, Some((path, it))) => {
                let detail = match own.state {
                    State::Copy if it.rule.is_deletion() => {
                        format!("the Copy in {this} is older than the deletion in {path}")
                    }
                    State::Copy => format!("the Copy in {this} is older than the Original"),
                    State::Deleted => {
                        format!("the tombstone in {this} is older than what {path} has")
                    }
                    State::Elsewhere => format!("the stub in {this} is older than what {path} has"),
                    State::Original => {
                        format!("the Original in {this} is older than what {path} has")
                    }
                };
                found.push((Code::StaleCopy, detail));
            }
            (Standing::Fork, Some((path, it))) => {
                let is_same = own.content == it.content;
                let (code, fact) = if it.rule.is_deletion() {
                    (Code::CopyDiffers, format!(": deleted in {path}"))
                } else if own.rule.is_deletion() {
                    (Code::CopyDiffers, format!(": deleted in {this}"))
                } else if is_same && own.description != it.description {
                    (Code::DescriptionDiffers, ": the description".to_owned())
                } else if is_same {
                    (Code::CopyDiffers, ", with the same contents".to_owned())
                } else {
                    (Code::CopyDiffers, String::new())
                };
                found.push((code, format!("changed in {path} and {this}{fact}")));
            }
            (Standing::Orphan, _) if holding.relies_on.is_none() => {
                found.push((Code::NoOriginal, self.tell_absence(own, all)));
            }
            _ => {}
        }
        let finding = |(code, detail)| Finding::new(code, Place::Item, detail);
        found.into_iter().map(finding).collect()
    }

    /// Whether the holding in `root` is below the last line of the ledger there: the verification of that root reports so.
    fn is_told_by_ledger(&self, root: usize, all: &[JudgedHolding]) -> bool {
        let holding = all.iter().find(|it| it.collection == root);
        holding.is_some_and(|it| {
            matches!(self.roots[root].deviation(&it.name), Ok(Some(Deviation::Below(_))))
        })
    }

    /// The detail about the Original of `copy`, which none of `all` is.
    fn tell_absence(&self, copy: &HoldingRecord, all: &[JudgedHolding]) -> String {
        let mut facts = vec!["its Original is in no collection that was compared".to_owned()];
        let is_deleted =
            |it: &&JudgedHolding| it.record.as_ref().is_ok_and(|it| it.state == State::Deleted);
        if let Some(holding) = all.iter().find(is_deleted) {
            facts.push(format!("it was deleted in {}", self.called(holding.collection)));
        }
        if let Some(holding) = all.iter().find(|it| it.record.is_err()) {
            facts
                .push(format!("its sidecar in {} cannot be read", self.called(holding.collection)));
        }
        let holder = copy.rule.custody.holder();
        match self.roots.iter().position(|root| root.id() == holder) {
            _ if holder.is_empty() => {
                facts.push("it came from an archive without an id".to_owned());
            }
            Some(root) => facts.push(format!("it should be in {}", self.called(root))),
            None => facts.push(format!("it is in {}", of_id(holder))),
        }
        if let Some(root) = self.unlisted.iter().position(|unlisted| *unlisted) {
            facts.push(format!("not all of {} can be listed", self.called(root)));
        }
        facts.join("; ")
    }

    /// The root by its name, or by its path if another has that name.
    fn called(&self, root: usize) -> String {
        let name = &self.roots[root].settings().name;
        let same = self.roots.iter().filter(|it| it.settings().name == *name);
        if same.count() == 1 { name.clone() } else { self.roots[root].path().display().to_string() }
    }
}
