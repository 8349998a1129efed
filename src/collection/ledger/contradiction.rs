//! Items that are below their line of the ledger: they were put back, perhaps from a backup.

use super::{Collection, Event};
use crate::collection::CollectionError;
use crate::disk::PathError;
use crate::identity::RepositoryName;

impl Collection {
    /// The last line about the item `name`, if the directory of the item is below that line: its custody is older.
    ///
    /// A sidecar is replaced before its line is written, so this says nothing false while other processes are at work.
    pub fn contradicting_line(&self, name: &RepositoryName) -> Result<Option<Event>, PathError> {
        let Some(recorded) = self.last_record(name)? else { return Ok(None) };
        let read = self.item(name).and_then(|item| Ok((item.read_sidecar()?, item)));
        let own = match read {
            Ok((read, item)) => item.holding(&read, self.id())?,
            Err(CollectionError::Disk(error)) => return Err(error),
            // Verification reports its faults.
            Err(_) => return Ok(None),
        };
        let line = recorded.as_holding(self.id());
        Ok(line.filter(|line| line.rank() > own.rank()).map(|_| recorded))
    }
}
