//! Items that a collection lost with every trace: the collection was put back from a backup that is older than they are.
//!
//! Nothing here shows that they existed. A donor does, if its payload names this collection as the holder of the Original. A person
//! has to name that donor: its word alone brings no item here.

use super::facts::{self, DonorFacts};
use super::{RepairError, Repairer};
use crate::collection::CollectionError;
use crate::identity::RepositoryName;

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
            // The state word of a clone that got its own id still says Original.
            sidecar.is_some_and(|it| {
                it.state.has_payload() && it.custody.holder() == self.collection.id()
            })
        };
        for donor in self.donors {
            if facts::find(name, donor, true)?.is_some_and(|(_, donor)| names_this(&donor)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether this collection has the item `name`, or a line about it, other than that of an accepted loss.
    pub fn knows(&self, name: &RepositoryName) -> Result<bool, RepairError> {
        match self.collection.item(name) {
            Err(CollectionError::NoSuchItem { .. }) => {
                Ok(self.collection.last_record(name)?.is_some_and(|line| !line.is_loss()))
            }
            _ => Ok(true),
        }
    }
}
