//! The judge of one item's relations: reads both ends.

use std::ops::ControlFlow;

use super::EndKind;
use crate::collection::{Collection, CollectionError};
use crate::identity::{Identifier, Language, RepositoryName};
use crate::item::State;
use crate::sidecar::{Relation, RelationKind, Sidecar};
use crate::verify::finding::{Finding, Place};
use crate::verify::{Code, Disagreement};

/// Limit on the editions that are followed.
const LONGEST_CIRCLE: usize = 100_000;

/// The collections that are at hand.
pub(super) struct Judge<'a> {
    pub roots: &'a [&'a Collection],
}

/// Receives the findings, and returns whether to go on.
type Report<'r> = dyn FnMut(Disagreement) -> ControlFlow<()> + 'r;

impl Judge<'_> {
    /// Reports faults at the other ends of the relations of `name`, once for all roots.
    pub(super) fn ends(
        &self,
        root: usize,
        name: &RepositoryName,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let Some(sidecar) = self.in_first_root(root, name) else {
            return ControlFlow::Continue(());
        };
        for relation in sidecar.relations.iter() {
            if let Some((code, detail)) = self.judge(&sidecar, &relation) {
                let finding = Finding::new(code, Place::Item, detail);
                report(Disagreement {
                    root,
                    name: Some(name.clone()),
                    finding,
                    has_remedy: false,
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Reports that the editions after `name` lead back to it.
    pub(super) fn circle(
        &self,
        root: usize,
        name: &RepositoryName,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let Some(first) = self.in_first_root(root, name) else {
            return ControlFlow::Continue(());
        };
        let mut at = self.next_edition(&first);
        let mut editions = 1;
        while let Some(next) = at.filter(|_| editions <= LONGEST_CIRCLE) {
            if next.repository == *name {
                let detail = match editions {
                    1 => "it is its own next edition".to_owned(),
                    _ => format!("its next editions lead back to it, after {editions} of them"),
                };
                let finding = Finding::new(Code::EditionCircle, Place::Item, detail);
                return report(Disagreement {
                    root,
                    name: Some(name.clone()),
                    finding,
                    has_remedy: false,
                });
            }
            editions += 1;
            at = self.next_edition(&next);
        }
        ControlFlow::Continue(())
    }

    /// The sidecar of `name`, if `root` is the first that holds it and it is not deleted.
    fn in_first_root(&self, root: usize, name: &RepositoryName) -> Option<Sidecar> {
        let holds = |root: &&Collection| root.item(name).is_ok();
        if self.roots[..root].iter().any(holds) {
            return None;
        }
        self.best(&Identifier::Repository(name.clone())).filter(|it| it.state.has_payload())
    }

    /// The sidecar of the Original of an item, or else of another holding.
    fn best(&self, identifier: &Identifier) -> Option<Sidecar> {
        let mut best: Option<Sidecar> = None;
        for root in self.roots {
            let items = root.items_of(identifier).unwrap_or_default();
            let sidecars = items.iter().filter_map(|item| Some(item.sidecar().ok()?.0));
            for sidecar in sidecars {
                let rank = |sidecar: &Sidecar| match sidecar.state {
                    State::Original => 2,
                    State::Copy => 1,
                    State::Elsewhere | State::Deleted => 0,
                };
                if best.as_ref().is_none_or(|best| rank(best) < rank(&sidecar)) {
                    best = Some(sidecar);
                }
            }
        }
        best
    }

    fn next_edition(&self, sidecar: &Sidecar) -> Option<Sidecar> {
        self.best(&sidecar.relations.first(&RelationKind::NextEdition)?)
    }

    fn judge(&self, sidecar: &Sidecar, relation: &Relation) -> Option<(Code, String)> {
        let Relation { kind, to } = relation;
        let Some(other) = self.best(to) else {
            return self.was_never_here(to).then(|| {
                let detail = format!(
                    "its {kind} `{to}` was never here, where its identifier would come from"
                );
                (Code::RelationNowhere, detail)
            });
        };
        if let RelationKind::Translation(into) = kind
            && let Some(detail) = misnamed(sidecar, into, &other)
        {
            return Some((Code::TranslationLanguage, detail));
        }
        if other.repository == sidecar.repository {
            // Of editions, that is a circle.
            let is_circle = matches!(kind, RelationKind::NextEdition | RelationKind::Own(_));
            return (!is_circle)
                .then(|| (Code::RelationContested, format!("it is its own {kind}")));
        }
        let own = sidecar.identifiers();
        let is_mutual = |back: Relation| kind.contradicts(&back.kind) && own.contains(&back.to);
        // A circle of editions has a finding of its own.
        let is_edition = matches!(kind, RelationKind::NextEdition | RelationKind::PreviousEdition);
        if !is_edition && other.relations.iter().any(is_mutual) {
            let detail = format!("`{to}` is its {kind}, and it is the {kind} of `{to}`");
            return Some((Code::RelationContested, detail));
        }
        let expected = EndKind::of(kind).expected().filter(|_| other.state.has_payload())?;
        let back: Vec<_> =
            other.relations.iter().filter(|back| EndKind::of(&back.kind) == expected).collect();
        if back.iter().any(|back| own.contains(&back.to)) {
            return None;
        }
        let name = &other.repository;
        // A translation into another language is a different relation.
        match back.first().filter(|_| expected != EndKind::Translation) {
            Some(Relation { kind: back, to: third }) => {
                let detail = format!("`{to}` is its {kind}, and has `{third}` as its {back}");
                Some((Code::RelationContested, detail))
            }
            None => Some((Code::OneSidedRelation, format!("its {kind} `{name}`"))),
        }
    }

    /// Whether one of the collections is the only issuer of such identifiers, and none ever held this one.
    fn was_never_here(&self, to: &Identifier) -> bool {
        let Identifier::Repository(name) = to else { return false };
        let subsystem = name.prefix().subsystem();
        let issues = |root: &&Collection| {
            root.settings()
                .subsystems
                .iter()
                .any(|own| own.prefix().is_ok_and(|prefix| prefix.subsystem() == subsystem))
        };
        let never_held = |root: &&Collection| {
            matches!(root.named_item(name), Err(CollectionError::NoSuchItem { .. }))
        };
        self.roots.iter().any(issues) && self.roots.iter().all(never_held)
    }
}

/// The contradiction of a translation of `original` `into` a language and the descriptions of both.
fn misnamed(original: &Sidecar, into: &Language, translation: &Sidecar) -> Option<String> {
    let name = &translation.repository;
    if original.metadata.language().as_ref() == Some(into) {
        return Some(format!(
            "`{name}` is its translation into `{into}`, and so is its own language"
        ));
    }
    let is = translation.metadata.language().filter(|is| is.excludes(into))?;
    Some(format!("`{name}` is its translation into `{into}`, and is in `{is}`"))
}
