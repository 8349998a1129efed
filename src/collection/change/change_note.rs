//! The note of a run on the items that it is about to publish or change, and the lines that the ledger lacks if the run ends
//! before it writes them.
//!
//! The note is a file in the stage of the run, with one name a line. The stage of a run that is killed or fails stays. The
//! next writer that is alone compares the items of the note with their last lines, and adds what is missing. A power cut
//! may take the note as well: then new items have no line until `urepo recover`, and changed ones an older line until
//! `urepo recover`, or until they are changed again.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use super::left_overs::{Life, life_of_stage};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::ledger::registration;
use crate::collection::{Collection, CollectionError, Deviation, Event, Writer};
use crate::disk::{Dir, PathError, StoredFile};
use crate::identity::RepositoryName;
use crate::layout;

/// Limit on the size of a note: some two million names.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// The note of a writer that some items are about to change. Unless it is settled, the stage stays.
#[must_use]
pub(crate) struct ChangeNote<'w> {
    writer: &'w Writer,
    file: StoredFile,
    /// The beginning and the end of its lines.
    lines: Range<u64>,
    is_settled: bool,
}

impl ChangeNote<'_> {
    /// The lines are written, or nothing was changed.
    pub(crate) fn settle(mut self) {
        // The note of a long run has only what is under way.
        if self.file.stat().is_ok_and(|stat| stat.bytes == self.lines.end) {
            let _ = self.file.truncate(self.lines.start);
        }
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
    /// Notes that the items `names` are about to be published or changed.
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
        let lines = end..end + text.len() as u64;
        Ok(ChangeNote { writer: self, file, lines, is_settled: false })
    }
}

impl Collection {
    /// Adds the lines that the dead runs with these stages had no time to write. No other process writes.
    pub(super) fn add_missing_lines(
        &self,
        staging: &Dir,
        agent: &Agent,
        clock: &dyn Clock,
    ) -> Result<(), CollectionError> {
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
                events.extend(self.line_of_changed(&name, agent, clock)?);
            }
            self.log(&events)?;
        }
        Ok(())
    }

    /// The line that the ledger lacks about the item `name`, which a dead run was about to change; `None` if its last line is
    /// not older than the item.
    fn line_of_changed(
        &self,
        name: &RepositoryName,
        agent: &Agent,
        clock: &dyn Clock,
    ) -> Result<Option<Event>, PathError> {
        Ok(match self.deviation_at_rest(name)? {
            None if self.last_record(name)?.is_some_and(|line| !line.is_loss()) => None,
            None | Some(Deviation::State(..)) => {
                self.found(name)?.map(|found| registration(name, found, agent, clock))
            }
            Some(Deviation::Above(unlogged)) => Some(unlogged.missing_line(clock.now(), agent)),
            Some(Deviation::Below(_)) => None,
        })
    }

    /// Whether a run that is at work is about to change the item `name`.
    pub(in crate::collection) fn is_announced(
        &self,
        name: &RepositoryName,
    ) -> Result<bool, PathError> {
        let Some(staging) = self.own_dir(layout::STAGING)? else { return Ok(false) };
        for stage in staging.entries()?.collect::<Result<Vec<_>, _>>()? {
            let stage = Path::new(&stage.name);
            let mut note = match staging.open_file_if_there(stage.join(layout::CHANGE_NOTE)) {
                // The stage of another user may be closed, and a run removes its own at its end.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => continue,
                opened => match opened? {
                    Some(note) => note,
                    None => continue,
                },
            };
            let text = note.read_all(MAX_BYTES)?;
            let names = String::from_utf8_lossy(&text);
            let is_named = names.lines().any(|it| it == name.as_str());
            if is_named && life_of_stage(&staging, stage) != Life::Ended {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::init_without_names;
    use crate::disk::Watcher;
    use crate::wait::Waiter;

    fn name(minute: u32) -> RepositoryName {
        format!("example.org/archive/2026/11.21.02.{minute}").parse().unwrap()
    }

    fn agent() -> Agent {
        Agent {
            process: std::process::id(),
            user: "ann".to_owned(),
            user_id: 1000,
            machine: "vault".to_owned(),
            machine_id: "1".to_owned(),
            command: "urepo test".to_owned(),
        }
    }

    /// The note of a long run has only what is under way, and no stage stays for it.
    #[test]
    fn a_settled_note_is_gone() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("archive");
        let collection = init_without_names(&root, "archive", &Watcher::default()).unwrap();
        let (writer, names) = (collection.writer(&agent(), &Waiter::default()).unwrap(), [10, 11]);
        let text = || {
            let mut file = writer.stage().open_file(layout::CHANGE_NOTE).unwrap();
            String::from_utf8(file.read_all(MAX_BYTES).unwrap()).unwrap()
        };
        for round in [12, 13, 14] {
            let outer = writer.announce(&names.map(name)).unwrap();
            let inner = writer.announce([&name(round)]).unwrap();
            assert_eq!(text().lines().count(), 3);
            inner.settle();
            assert_eq!(text().lines().count(), 2);
            outer.settle();
            assert_eq!(text(), "");
        }
        let stage = writer.stage_path().to_path_buf();
        writer.finish().unwrap();
        assert!(!stage.exists());
    }

    /// An item that was published and not recorded has a line after the next writer that is alone, and no other one has.
    #[test]
    fn what_a_note_names_is_recorded() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("archive");
        let collection = init_without_names(&root, "archive", &Watcher::default()).unwrap();
        let writer = collection.writer(&agent(), &Waiter::default()).unwrap();
        for minute in [10, 11] {
            let item = collection.ensure_directory(&layout::item_directory(&name(minute))).unwrap();
            item.create_file(layout::SIDECAR).unwrap();
        }
        drop(writer.announce([&name(10), &name(12)]).unwrap());
        drop(writer);
        collection.writer(&agent(), &Waiter::default()).unwrap().finish().unwrap();
        let is_recorded = [10, 11, 12].map(|minute| collection.is_recorded(&name(minute)).unwrap());
        assert_eq!(is_recorded, [true, false, false]);
    }
}
