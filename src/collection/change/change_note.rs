//! The note of a run on the items that it is about to change, and the lines that the ledger lacks if the run ends
//! before it writes them.
//!
//! The note is a file in the stage of the run, with one name a line. The stage of a run that is killed or fails stays. The
//! next writer that is alone compares the items of the note with their last lines, and adds what is missing. A power cut
//! may take the note as well: then the line stays older than the item until `recover --accept-loss`.

use std::io::ErrorKind;
use std::path::Path;

use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::ledger::{Found, registration};
use crate::collection::{Collection, Writer};
use crate::disk::{Dir, PathError};
use crate::identity::RepositoryName;
use crate::layout;

/// Limit on the size of a note: some two million names.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// The note of a writer that some items are about to change. Unless it is settled, the stage stays.
#[must_use]
pub(crate) struct ChangeNote<'w> {
    writer: &'w Writer,
    is_settled: bool,
}

impl ChangeNote<'_> {
    /// The lines are written, or nothing was changed.
    pub(crate) fn settle(mut self) {
        self.is_settled = true;
    }
}

impl Drop for ChangeNote<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            self.writer.stage.leave();
        }
    }
}

impl Writer {
    /// Notes that the items `names` are about to change.
    pub(crate) fn announce<'n>(
        &self,
        names: impl IntoIterator<Item = &'n RepositoryName>,
    ) -> Result<ChangeNote<'_>, PathError> {
        let mut text = String::new();
        for name in names {
            text.push_str(name.as_str());
            text.push('\n');
        }
        let note = Path::new(layout::CHANGE_NOTE);
        let file = match self.stage().open_to_append_if_there(note)? {
            Some(file) => file,
            None => self.stage().create_file(note)?,
        };
        let end = file.stat()?.bytes;
        file.write_all_at(text.as_bytes(), end)?;
        Ok(ChangeNote { writer: self, is_settled: false })
    }
}

impl Collection {
    /// Adds the lines that the dead runs with these stages had no time to write. No other process writes.
    pub(super) fn add_missing_lines(
        &self,
        staging: &Dir,
        agent: &Agent,
        clock: &dyn Clock,
    ) -> Result<(), PathError> {
        for stage in staging.entries()?.collect::<Result<Vec<_>, _>>()? {
            let note = Path::new(&stage.name).join(layout::CHANGE_NOTE);
            let mut file = match staging.open_file_if_there(note) {
                // The stage of another user may be closed.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => continue,
                opened => match opened? {
                    Some(file) => file,
                    None => continue,
                },
            };
            let text = file.read_all(MAX_BYTES)?;
            let names = String::from_utf8_lossy(&text);
            let mut events = Vec::new();
            for name in names.lines().filter_map(|line| RepositoryName::parse_as_found(line).ok()) {
                let (name, _) = name;
                let missing = self.missing_line(&name)?;
                events.extend(missing.map(|found| registration(&name, found, agent, clock)));
            }
            self.record(&events, clock)?;
        }
        Ok(())
    }

    /// What the ledger lacks about the item `name`; `None` if its last line is not older than the item.
    fn missing_line(&self, name: &RepositoryName) -> Result<Option<Found>, PathError> {
        let Some(found) = self.found(name)? else { return Ok(None) };
        let Some(recorded) = self.last_record(name)? else { return Ok(Some(found)) };
        let is_known = found.here.is_none() || recorded.holding == found.here;
        let is_below = self.contradicting_line(name)?.is_some();
        Ok(Some(found).filter(|_| !is_known && !is_below))
    }
}
