//! The only proof that an item is whole, required before other bytes may be removed because of it [protocol:
//! P5].

use std::path::PathBuf;

use super::item::verify_as_read;
use super::{Depth, Finding, Findings, ItemReport, Severity, verify_item};
use crate::collection::{ReadSidecar, StoredItem};
use crate::disk::PathError;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::sidecar::Seal;

/// Why an item proves nothing.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// Verification finds damage; this is the first.
    #[error("the item does not read back as it was written: {summary}")]
    Damaged {
        /// The absolute path.
        path: PathBuf,
        /// All findings, in one line for people.
        summary: String,
    },
    /// The process ran short of descriptors or memory.
    #[error(transparent)]
    Disk(#[from] PathError),
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// Verifies `item`; any damage is an error.
///
/// At [`Depth::FromDisk`] the payload has to be synced before: only clean pages leave the cache.
pub fn prove(
    item: &StoredItem,
    depth: Depth,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<(), ProofError> {
    proven(item, verify_item(item, depth, progress, interrupt))
}

/// The same for an item whose sidecar the caller has just `read`. It is read once more only if its seal is broken.
pub(crate) fn prove_as_read(
    item: &StoredItem,
    read: &ReadSidecar,
    depth: Depth,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<(), ProofError> {
    if read.seal != Seal::Intact {
        return prove(item, depth, progress, interrupt);
    }
    proven(item, verify_as_read(item, read.sidecar.clone(), depth, progress, interrupt))
}

fn proven(item: &StoredItem, report: Option<ItemReport>) -> Result<(), ProofError> {
    let report = report.ok_or(ProofError::Interrupted)?;
    report.findings.check_shortage()?;
    let Some(first) = first_damage(&report.findings) else { return Ok(()) };
    let path = item.path_of(first.place.to_path());
    let summary = summarize_damage(&report.findings).unwrap_or_default();
    Err(ProofError::Damaged { path, summary })
}

/// The first damage among `findings` and the number of the others, in one line.
pub fn summarize_damage(findings: &Findings) -> Option<String> {
    let first = first_damage(findings)?;
    let path = first.place.to_path();
    let place =
        if path.as_os_str().is_empty() { String::new() } else { format!(", `{}`", path.display()) };
    let more = match findings.count(Severity::Damage) - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(format!("{}{place}{more}", first.code.meaning()))
}

fn first_damage(findings: &Findings) -> Option<&Finding> {
    findings.as_slice().iter().find(|finding| finding.severity() == Severity::Damage)
}
