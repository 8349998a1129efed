//! The part of a sidecar that may be changed.

use super::AmendError;
use crate::identity::RepositoryName;
use crate::item::PayloadPath;
use crate::sidecar::{Conditions, Metadata, Relations, Sidecar};

/// The part of a sidecar that may be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The item that is described. A change of the name has no effect.
    pub name: RepositoryName,
    /// Terms of Dublin Core, and keys below `x`.
    pub metadata: Metadata,
    /// Identifiers of other items, by kind of relation.
    pub relations: Relations,
    /// The file or link that the bare identifier opens.
    pub target: Option<PayloadPath>,
    /// Whether the Original may migrate, and who may read it.
    pub conditions: Conditions,
}

impl Description {
    /// The description in `sidecar`.
    pub fn of(sidecar: &Sidecar) -> Description {
        Description {
            name: sidecar.repository.clone(),
            metadata: sidecar.metadata.clone(),
            relations: sidecar.relations.clone(),
            target: sidecar.target.clone(),
            conditions: Conditions {
                transferable: sidecar.transferable,
                access: sidecar.access.clone(),
            },
        }
    }

    /// Becomes `wanted`, an edited `base`. If this description is no longer `base`, it stays unchanged.
    pub fn replace(&mut self, base: &Description, wanted: &Description) -> Result<(), AmendError> {
        if self != base {
            return Err(AmendError::Outdated { name: self.name.clone() });
        }
        self.clone_from(wanted);
        Ok(())
    }

    /// The sidecar `before` with this description.
    pub(super) fn of_item(self, before: &Sidecar) -> Sidecar {
        Sidecar {
            metadata: self.metadata,
            relations: self.relations,
            target: self.target,
            transferable: self.conditions.transferable,
            access: self.conditions.access,
            ..before.clone()
        }
    }
}
