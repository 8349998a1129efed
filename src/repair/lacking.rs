//! Items that a collection lost with every trace: the collection was put back from a backup that is older than they are.
//!
//! Nothing here shows that they existed. A donor does, if its Copy names this collection as the holder of the Original. A person has
//! to name that donor: its word alone brings no item here.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::facts::{self, DonorFacts};
use super::{RepairError, Repairer};
use crate::collection::{CollectionError, Names};
use crate::identity::RepositoryName;
use crate::item::State;

impl Repairer<'_> {
    /// Whether a donor has the item `name` and names this collection as its holder, and this one has neither the item nor a
    /// line about it.
    pub fn lacks(&self, name: &RepositoryName) -> Result<bool, RepairError> {
        // An error is no absence.
        let is_absent =
            matches!(self.collection.item(name), Err(CollectionError::NoSuchItem { .. }));
        if !is_absent || self.collection.last_record(name)?.is_some() {
            return Ok(false);
        }
        let names_this = |donor: &DonorFacts| {
            let sidecar = donor.record.as_ref().map(|record| &record.sidecar);
            sidecar.is_some_and(|it| {
                it.state == State::Copy && it.custody.holder() == self.collection.id()
            })
        };
        for donor in self.donors {
            if facts::find(name, donor, true)?.is_some_and(|(_, donor)| names_this(&donor)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Those of the `wanted` items of the donors which this collection [`lacks`](Repairer::lacks).
    pub fn lacking(&self, wanted: &Names) -> Result<Vec<RepositoryName>, RepairError> {
        let mut lacking = BTreeMap::new();
        for donor in self.donors {
            donor.visit_names(wanted, |name| {
                if self.caller.interrupt.requested() {
                    return Err(RepairError::Interrupted);
                }
                if self.lacks(&name)? {
                    lacking.entry(name.folded()).or_insert(name);
                }
                Ok::<_, RepairError>(ControlFlow::Continue(()))
            })?;
        }
        Ok(lacking.into_values().collect())
    }
}
