//! Plans of changes to a sidecar. Pure.

use super::{AmendError, Description};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{KeyChange, Seal, Sidecar};

/// A planned change of the description of an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The item, as its name is spelt on disk.
    pub name: RepositoryName,
    /// The keys that change, in order; empty if the item stays unchanged.
    pub changes: Vec<KeyChange>,
    /// The sidecar that the item will have, with its new dates and custody once the amendment is made.
    pub sidecar: Sidecar,
}

/// Plans `change` for the item of `before`, whose seal is `seal`.
pub fn plan(before: &Sidecar, seal: Seal, change: &super::Change<'_>) -> Result<Plan, AmendError> {
    let name = || before.repository.clone();
    match before.state {
        State::Original => {}
        // The rule of custody refuses it, by the name of the giver.
        _ if before.custody.ceded().is_some() => {}
        State::Copy | State::Elsewhere => return Err(AmendError::Copy { name: name() }),
        State::Deleted => return Err(AmendError::Deleted { name: name() }),
    }
    if seal != Seal::Intact {
        return Err(AmendError::NotSealed { name: name() });
    }
    let mut description = Description::of(before);
    change(&mut description)?;
    if let Some(target) = &description.target
        && description.target != before.target
        && !before.files.can_open(target)
    {
        let target = target.to_text().into_owned();
        return Err(AmendError::NoTarget { name: name(), target });
    }
    let sidecar = description.of_item(before);
    let changes = before.differences(&sidecar);
    Ok(Plan { name: name(), changes, sidecar })
}
