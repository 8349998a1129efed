//! What a change does to a sidecar. Pure.

use super::AmendError;
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::item::{Content, PayloadPath, State};
use crate::sidecar::{KeyChange, Metadata, Relations, Seal, Sidecar};

/// The part of a sidecar that may be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The item that is described. A change of the name has no effect.
    pub name: RepositoryName,
    /// Terms of Dublin Core, and keys of one's own.
    pub metadata: Metadata,
    /// Identifiers of other items, by kind of relation.
    pub relations: Relations,
    /// The file or link that the bare identifier opens.
    pub target: Option<PayloadPath>,
    /// Whether the Original may migrate.
    pub transferable: bool,
}

/// What becomes of the description of an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The item, as its name is spelt on disk.
    pub name: RepositoryName,
    /// The keys that change, in order; nothing of an item that stays as it is.
    pub changes: Vec<KeyChange>,
    /// The sidecar that the item will have.
    pub sidecar: Sidecar,
}

impl Description {
    /// The description in `sidecar`.
    pub fn of(sidecar: &Sidecar) -> Description {
        Description {
            name: sidecar.repository.clone(),
            metadata: sidecar.metadata.clone(),
            relations: sidecar.relations.clone(),
            target: sidecar.target.clone(),
            transferable: sidecar.transferable,
        }
    }

    /// The sidecar `before` with this description.
    fn of_item(self, before: &Sidecar) -> Sidecar {
        Sidecar {
            metadata: self.metadata,
            relations: self.relations,
            target: self.target,
            transferable: self.transferable,
            ..before.clone()
        }
    }
}

/// What `change` does to the item of `before`, whose seal says `seal`.
pub fn plan(
    before: &Sidecar,
    seal: Seal,
    now: Instant,
    change: &super::Change<'_>,
) -> Result<Plan, AmendError> {
    let name = || before.repository.clone();
    if let Some(handover) = &before.handover {
        return Err(AmendError::HandoverOpen { name: name(), party: handover.party.clone() });
    }
    match before.state {
        State::Original => {}
        State::Copy => {
            let holder = before.made_of().map(str::to_owned);
            return Err(AmendError::Copy { name: name(), holder });
        }
        State::Deleted => return Err(AmendError::Deleted { name: name() }),
    }
    if seal != Seal::Intact {
        return Err(AmendError::NotSealed { name: name() });
    }
    let mut description = Description::of(before);
    change(&mut description)?;
    if let Some(target) = &description.target
        && description.target != before.target
        && !is_in_payload(before, target)
    {
        let target = target.to_text().into_owned();
        return Err(AmendError::NoTarget { name: name(), target });
    }
    let mut sidecar = description.of_item(before);
    let changes = before.differences(&sidecar);
    if !changes.is_empty() {
        mark_described(&mut sidecar, before, now);
    }
    Ok(Plan { name: name(), changes, sidecar })
}

/// Dates a sidecar whose description is no longer that of `before`. The timestamp rises even if the clock
/// has gone back, since the Copies are compared by it.
fn mark_described(sidecar: &mut Sidecar, before: &Sidecar, now: Instant) {
    let later = before.timestamp.checked_add(SECOND).unwrap_or(before.timestamp);
    sidecar.timestamp = now.floor(SECOND).max(later);
    sidecar.described = Some(sidecar.timestamp);
}

/// Whether `path` is a file or link of the payload.
fn is_in_payload(sidecar: &Sidecar, path: &PayloadPath) -> bool {
    let found = sidecar.files.binary_search_by(|entry| entry.path.cmp(path));
    found.is_ok_and(|at| !matches!(sidecar.files[at].content, Content::EmptyDirectory { .. }))
}
