//! Finding donors with the right bytes, proven by reading them.

use super::scan::{EntryStatus, PayloadScan};
use crate::collection::StoredItem;
use crate::disk::Kind;
use crate::disk::copy::{CopyError, Measured, digest_up_to};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry};
use crate::progress::Progress;

/// For each entry, the first donor that has its bytes; none for intact entries.
pub(super) fn sources(
    entries: &[Entry],
    payload: &PayloadScan,
    donors: &[StoredItem],
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Vec<Option<usize>>, CopyError> {
    let mut sources = Vec::with_capacity(entries.len());
    for entry in entries {
        let source = match payload.status(entry) {
            EntryStatus::Good | EntryStatus::Attributes => None,
            EntryStatus::Damaged | EntryStatus::Missing => {
                source_of(entry, donors, progress, interrupt)?
            }
        };
        sources.push(source);
    }
    Ok(sources)
}

fn source_of(
    entry: &Entry,
    donors: &[StoredItem],
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Option<usize>, CopyError> {
    let Content::File { bytes, digest, .. } = entry.content else { return Ok(None) };
    for (at, donor) in donors.iter().enumerate() {
        match read(donor, entry, bytes, progress, interrupt) {
            Ok(Some(found)) if found == (Measured { bytes, digest }) => return Ok(Some(at)),
            // A donor that cannot be read does not count.
            Ok(_) => {}
            Err(CopyError::Disk(error)) if error.shortage().is_none() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn read(
    donor: &StoredItem,
    entry: &Entry,
    bytes: u64,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Option<Measured>, CopyError> {
    let mut file = donor.open(&entry.path)?;
    let stamp = file.stat()?;
    if stamp.kind != Kind::File || stamp.bytes != bytes {
        return Ok(None);
    }
    progress.expect(0, bytes);
    digest_up_to(&mut file, bytes, progress, interrupt).map(Some)
}
