//! Items whose sidecar contradicts the inventory about their state.
//!
//! Most commands replace the sidecar of an item before they record its state. Each such change leaves its
//! date in the sidecar. A sidecar without a date after the record was therefore put back by hand, perhaps
//! from a backup.

use super::{Certainty, Collection, InventoryLine, Recorded};
use crate::collection::CollectionError;
use crate::disk::PathError;
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::item::State;
use crate::sidecar::{Sidecar, read_date};

impl Collection {
    /// The last line about the item `name`, whose sidecar has `state`, if the two contradict each other and
    /// the sidecar has no later change that explains it: an Original recorded as a Copy or as deleted, or a
    /// lesser state of a recorded Original.
    ///
    /// `None` while other processes may be changing the collection.
    pub fn contradicting_line(
        &self,
        name: &RepositoryName,
        state: State,
    ) -> Result<Option<InventoryLine>, PathError> {
        // The usual case. A line that was added since belongs to a later sidecar.
        if self.state_read(name) == Some(state) {
            return Ok(None);
        }
        // Comparing the names reports an inventory that cannot be read.
        let Ok(Some(recorded)) = self.last_record(name) else { return Ok(None) };
        if !differs(recorded.line.state(), state) {
            return Ok(None);
        }
        let read = self.item(name).and_then(|item| Ok((item.read_sidecar()?, item)));
        let (read, item) = match read {
            Ok(read) => read,
            Err(CollectionError::Disk(error)) => return Err(error),
            // Verification reports its faults.
            Err(_) => return Ok(None),
        };
        // A run has replaced the sidecar and not yet recorded that; it is at work, or was killed.
        if self.has_writers()? {
            return Ok(None);
        }
        let line = self.contradicted_by(name, &read.sidecar)?;
        Ok(if item.has_version(read.version)? { line } else { None })
    }

    /// The same for an item whose sidecar was read, without waiting for other processes.
    pub(crate) fn contradicted_by(
        &self,
        name: &RepositoryName,
        sidecar: &Sidecar,
    ) -> Result<Option<InventoryLine>, PathError> {
        let Some(Recorded { line, certainty: Certainty::Certain }) = self.last_record(name)? else {
            return Ok(None);
        };
        let is_contradiction = differs(line.state(), sidecar.state)
            && last_change(sidecar) < Some(line.date.floor(SECOND));
        Ok(is_contradiction.then_some(line))
    }
}

/// Whether the recorded state and the one in the sidecar leave open where the Original is.
fn differs(recorded: Option<State>, found: State) -> bool {
    recorded.is_some_and(|it| it != found && [it, found].contains(&State::Original))
}

/// The date of the item's state, if the sidecar has it.
fn last_change(sidecar: &Sidecar) -> Option<Instant> {
    let origin = &sidecar.origin;
    match sidecar.state {
        State::Original => {
            let handovers = sidecar.handovers().iter().filter_map(|it| it.get("date"));
            handovers.chain(origin.get("restored")).filter_map(read_date).max()
        }
        State::Copy => sidecar.copied(),
        State::Deleted => Some(sidecar.timestamp),
    }
}
