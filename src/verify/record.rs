//! Checking the sidecar: that it can be read, matches its seal, and agrees with itself and its path.

use std::path::PathBuf;

use super::Code;
use super::finding::{Finding, Findings, Place};
use crate::collection::{SidecarFileError, of_id, read_sidecar};
use crate::disk::{Dir, FileStat, Kind, PathError};
use crate::identity::RepositoryName;
use crate::item::{Content, Entry, State, Totals, twins};
use crate::layout;
use crate::sidecar::{MAX_BYTES, Seal, Sidecar, UnclearRelation};

/// Reads the sidecar in `dir`, with the metadata `stamp`, and checks everything in it except the payload. It gets the state
/// of its custody in the collection with the id `at`, if it lies in one.
pub(super) fn read(
    name: &RepositoryName,
    at: Option<&str>,
    dir: &Dir,
    stamp: Result<Option<FileStat>, PathError>,
    findings: &mut Findings,
) -> Option<Sidecar> {
    match read_sealed(dir, stamp) {
        Ok((mut sidecar, seal)) => {
            if let Some(at) = at {
                check_state(&mut sidecar, at, findings);
            }
            check_seal(seal, findings);
            check_name(name, &sidecar, findings);
            check_totals(&sidecar, findings);
            check_target(&sidecar, findings);
            check_twins(&sidecar.files, findings);
            check_migration(&sidecar, findings);
            check_relations(&sidecar, findings);
            Some(sidecar)
        }
        Err(finding) => {
            findings.push(finding);
            None
        }
    }
}

fn place() -> Place {
    Place::Beside(PathBuf::from(layout::SIDECAR))
}

fn read_sealed(
    dir: &Dir,
    stamp: Result<Option<FileStat>, PathError>,
) -> Result<(Sidecar, Seal), Finding> {
    let unreadable = |error: PathError| Finding::of_error(place(), &error);
    let malformed = |detail: String| Finding::new(Code::SidecarUnreadable, place(), detail);
    match stamp.map_err(unreadable)? {
        None => return Err(Finding::new(Code::SidecarMissing, place(), "it is not there")),
        Some(FileStat { kind: Kind::File, bytes, .. }) if bytes > MAX_BYTES => {
            return Err(malformed(format!("it has {bytes} bytes; at most {MAX_BYTES} are read")));
        }
        Some(FileStat { kind: Kind::File, .. }) => {}
        Some(FileStat { kind, .. }) => return Err(Finding::of_kind(place(), "a file", kind)),
    }
    let mut file = dir.open_file(layout::SIDECAR).map_err(unreadable)?;
    match read_sidecar(&mut file) {
        Ok((sidecar, seal, ..)) => Ok((sidecar, seal)),
        Err(SidecarFileError::Disk(error)) => Err(unreadable(error)),
        Err(SidecarFileError::Sidecar(error)) => Err(malformed(error.to_string())),
    }
}

fn check_seal(seal: Seal, findings: &mut Findings) {
    match seal {
        Seal::Intact => {}
        Seal::Broken { sealed, found } => {
            let detail = format!("sealed as {sealed}, found {found}");
            findings.push(Finding::new(Code::SealBroken, place(), detail));
        }
        Seal::Missing => {
            findings.push(Finding::new(Code::SealMissing, place(), "no seal at its end"));
        }
    }
}

fn check_state(sidecar: &mut Sidecar, at: &str, findings: &mut Findings) {
    let state = sidecar.state_in(at);
    if sidecar.state != state {
        let detail = match state {
            State::Original => format!("it says {}, but it is the Original", sidecar.state),
            _ => format!("it says {}, but it is a Copy", sidecar.state),
        };
        findings.push(Finding::new(Code::StateDiffers, place(), detail));
        sidecar.state = state;
    }
}

fn check_name(name: &RepositoryName, sidecar: &Sidecar, findings: &mut Findings) {
    if sidecar.repository != *name {
        let detail = format!("it names `{}`", sidecar.repository);
        findings.push(Finding::new(Code::OtherItem, place(), detail));
    }
}

fn check_totals(sidecar: &Sidecar, findings: &mut Findings) {
    let differ = |detail| Finding::new(Code::TotalsDiffer, place(), detail);
    if !can_be_added(&sidecar.files) {
        findings.push(differ("the sizes of its entries add up to more than can be".to_owned()));
        return;
    }
    let Totals { files, bytes, digest } = Totals::of(&sidecar.files);
    let said = &sidecar.payload;
    if (said.files, said.bytes) != (files, bytes) {
        findings.push(differ(format!(
            "it counts {} files of {} bytes, its entries are {files} of {bytes}",
            said.files, said.bytes
        )));
    }
    if said.digest != digest {
        findings.push(differ(format!(
            "its manifest has the digest {}, its entries {digest}",
            said.digest
        )));
    }
}

/// Whether the sizes in an untrusted sidecar add up.
fn can_be_added(entries: &[Entry]) -> bool {
    let mut sizes = entries.iter().map(|entry| match entry.content {
        Content::File { bytes, .. } => bytes,
        Content::Link { .. } | Content::EmptyDirectory { .. } => 0,
    });
    sizes.try_fold(0_u64, u64::checked_add).is_some()
}

fn check_target(sidecar: &Sidecar, findings: &mut Findings) {
    let Some(target) = &sidecar.target else { return };
    if !sidecar.files.can_open(target) {
        let detail = format!("the target `{target}` is not a file of it");
        findings.push(Finding::new(Code::TargetMissing, place(), detail));
    }
}

fn check_twins(entries: &[Entry], findings: &mut Findings) {
    if entries.len() < 2 {
        return;
    }
    if let Some(twins::Twins { first, second }) = twins::find(entries.iter().map(|it| &it.path)) {
        let detail = format!("`{first}` and `{second}`, and perhaps more");
        findings.push(Finding::new(Code::Twins, Place::Item, detail));
    }
}

fn check_migration(sidecar: &Sidecar, findings: &mut Findings) {
    if let Some(ceded) = sidecar.custody.ceded() {
        let detail = format!("to {}", of_id(&ceded.to));
        findings.push(Finding::new(Code::MigrationPending, place(), detail));
    }
}

fn check_relations(sidecar: &Sidecar, findings: &mut Findings) {
    for UnclearRelation { key, reason } in sidecar.relations.unclear() {
        let detail = format!("`{key}`: {reason}");
        findings.push(Finding::new(Code::RelationUnclear, place(), detail));
    }
}
