//! Checking relations between items: that the other end exists and agrees, and that editions do not form a
//! circle.
//!
//! Verifying notes 24 bytes for each relation, and for translations their language, and compares both ends by hashes. Only
//! if that is not enough, the item and the items that it leads to are opened again. A relation to an item that may be in
//! another collection is not a finding.

mod circle;
mod judge;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

use super::{Disagreement, ItemReport};
use crate::collection::{Collection, Names};
use crate::disk::PathError;
use crate::identity::{Identifier, Language, RepositoryName};
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::sidecar::RelationKind;
use judge::Judge;

/// The relations of the items that were verified.
#[derive(Debug, Default)]
pub struct RelationCheck {
    ends: Vec<End>,
    /// The items that have translations, with the hashes of these and the languages of the relations.
    translations: Vec<(u64, u64, Language)>,
    /// The languages of items that have translations, or are some.
    languages: HashMap<u64, Language>,
}

/// One end of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    /// The hash of the item that has the relation.
    from: u64,
    /// The hash of the related item; `None` for an IBIp, which does not show the name.
    to: Option<u64>,
    kind: EndKind,
}

/// A kind of relation, as far as it matters at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EndKind {
    NextEdition,
    PreviousEdition,
    Translation,
    TranslationOf,
    Metadata,
    MetadataOf,
    PartOf,
    Other,
}

impl EndKind {
    fn of(kind: &RelationKind) -> EndKind {
        match kind {
            RelationKind::NextEdition => EndKind::NextEdition,
            RelationKind::PreviousEdition => EndKind::PreviousEdition,
            RelationKind::Translation(_) => EndKind::Translation,
            RelationKind::TranslationOf => EndKind::TranslationOf,
            RelationKind::Metadata => EndKind::Metadata,
            RelationKind::MetadataOf => EndKind::MetadataOf,
            RelationKind::PartOf => EndKind::PartOf,
            RelationKind::Own(_) => EndKind::Other,
        }
    }

    /// The relation that the other end has to have. An item that describes another need not say so: the other
    /// item has the relation.
    fn expected(self) -> Option<EndKind> {
        match self {
            EndKind::NextEdition => Some(EndKind::PreviousEdition),
            EndKind::PreviousEdition => Some(EndKind::NextEdition),
            EndKind::Translation => Some(EndKind::TranslationOf),
            EndKind::TranslationOf => Some(EndKind::Translation),
            EndKind::MetadataOf => Some(EndKind::Metadata),
            EndKind::Metadata | EndKind::PartOf | EndKind::Other => None,
        }
    }
}

impl RelationCheck {
    /// Notes the relations of an item that was verified.
    pub fn note(&mut self, item: &ItemReport) {
        if !item.state.is_some_and(State::has_payload) {
            return;
        }
        let from = hash(&item.name);
        for relation in &item.relations {
            match (&relation.kind, &relation.to) {
                (RelationKind::Translation(into), Identifier::Repository(to)) => {
                    self.translations.push((from, hash(to), into.clone()));
                }
                (RelationKind::Translation(_) | RelationKind::TranslationOf, _) => {}
                _ => continue,
            }
            if let Some(language) = &item.language {
                self.languages.insert(from, language.clone());
            }
        }
        self.ends.extend(item.relations.iter().map(|relation| {
            let to = match &relation.to {
                Identifier::Repository(name) => Some(hash(name)),
                Identifier::Ibip(_) | Identifier::Legacy(_) => None,
            };
            End { from, to, kind: EndKind::of(&relation.kind) }
        }));
    }

    /// Calls `report` for each finding about the relations that were noted, of items of these `names` in the
    /// collections `roots`. It says whether to go on; `Break` means that it was stopped before its end.
    pub fn finish(
        mut self,
        roots: &[&Collection],
        names: &Names,
        interrupt: &Interrupt,
        mut report: impl FnMut(Disagreement) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.ends.sort_unstable();
        self.ends.dedup();
        let in_circle = circle::first_of_each(&self.ends);
        let doubtful = self.doubtful(roots, interrupt)?;
        if doubtful.is_empty() && in_circle.is_empty() {
            return ControlFlow::Continue(());
        }
        let judge = Judge { roots };
        visit(roots, names, interrupt, |root, name| {
            let hash = hash(name);
            if doubtful.contains(&hash) {
                judge.ends(root, name, &mut report)?;
            }
            if in_circle.contains(&hash) {
                judge.circle(root, name, &mut report)
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// The items with a relation whose other end is missing or contradicts it, as far as hashes show.
    fn doubtful(
        &self,
        roots: &[&Collection],
        interrupt: &Interrupt,
    ) -> ControlFlow<(), HashSet<u64>> {
        let is_answered = |end: &End| match (end.to, end.kind.expected()) {
            (Some(to), Some(expected)) => {
                let other = End { from: to, to: Some(end.from), kind: expected };
                self.ends.binary_search(&other).is_ok() && !self.is_mutual(end)
            }
            _ => false,
        };
        let open: Vec<_> = self.ends.iter().filter(|end| !is_answered(end)).collect();
        // If no relation is expected at the other end, that item only has to exist.
        let wanted = |end: &&End| end.kind.expected().is_none().then_some(end.to).flatten();
        let mut missing: HashSet<u64> = open.iter().filter_map(wanted).collect();
        if !missing.is_empty() {
            visit(roots, &Names::default(), interrupt, |_, name| {
                missing.remove(&hash(name));
                ControlFlow::Continue(())
            })?;
        }
        let is_doubtful = |end: &&End| match (end.to, end.kind.expected()) {
            (Some(to), None) => missing.contains(&to) || self.is_mutual(end),
            _ => true,
        };
        let mut doubtful: HashSet<u64> =
            open.into_iter().filter(is_doubtful).map(|end| end.from).collect();
        let is_misnamed = |(from, to, into): &&(u64, u64, Language)| {
            self.languages.get(to).is_some_and(|is| is.excludes(into))
                || self.languages.get(from) == Some(into)
        };
        doubtful.extend(self.translations.iter().filter(is_misnamed).map(|(from, ..)| from));
        ControlFlow::Continue(doubtful)
    }

    /// Whether the other end has the same relation to this one.
    fn is_mutual(&self, end: &End) -> bool {
        let back = end.to.map(|to| End { from: to, to: Some(end.from), kind: end.kind });
        end.kind != EndKind::Other && back.is_some_and(|it| self.ends.binary_search(&it).is_ok())
    }

    /// Calls `report` for each finding about the relations of the item `name` of the collection `root`.
    pub fn of_item(
        roots: &[&Collection],
        root: usize,
        name: &RepositoryName,
        mut report: impl FnMut(Disagreement) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let judge = Judge { roots };
        judge.ends(root, name, &mut report)?;
        judge.circle(root, name, &mut report)
    }
}

/// Calls `act` for the items of these `names` in each root. A directory that cannot be listed has a finding
/// already.
fn visit(
    roots: &[&Collection],
    names: &Names,
    interrupt: &Interrupt,
    mut act: impl FnMut(usize, &RepositoryName) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut flow = ControlFlow::Continue(());
    for (at, root) in roots.iter().enumerate() {
        let _ = root.visit_names(names, |name| {
            flow = if interrupt.requested() { ControlFlow::Break(()) } else { act(at, &name) };
            Ok::<_, PathError>(flow)
        });
        flow?;
    }
    flow
}

fn hash(name: &RepositoryName) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
