//! The sidecar of payload whose own lost its seal, where nothing in sight has the item whole: a person's word seals the
//! description as it is found, with a list of the files that lie there. Pure.

use std::collections::BTreeMap;

use super::RepairError;
use super::facts::{Facts, SidecarStatus, Written, has_target};
use super::plan::{Decision, FileFound, SidecarAction};
use crate::custody::remedy::{Act, Remedy, Way};
use crate::custody::{self, CustodyId, Holding, Permit};
use crate::identity::Instant;
use crate::item::{Content, Entry, Totals};
use crate::sidecar::{Amended, Files, Sidecar};

/// Whether `found`, the remedy in the collection with the id `at`, seals what lies there, perhaps after the collection with
/// the Original is lost.
pub(super) fn is_sealed_by(found: Option<&Remedy<'_>>, at: &str) -> bool {
    match found.map(|found| &found.way) {
        Some(Way::Run(command) | Way::Wait(_, Some(command))) => {
            command.at == at && command.act == Act::Reseal
        }
        _ => false,
    }
}

/// Whether more than the description of an Original differs, so that its sidecar cannot be sealed with the list that it has.
pub(super) fn is_needed(facts: &Facts) -> bool {
    let SidecarStatus::Doubtful(own) = &facts.record else { return false };
    let custody = &own.sidecar.custody;
    let is_of_line = |line: &Holding| line.custody == custody.bare();
    custody.holder() != facts.collection
        || !own.sidecar.state.has_payload()
        || !facts.line.as_ref().is_none_or(is_of_line)
        || !facts.payload.matches_all(&own.sidecar.files)
}

/// The sidecar `own` of the item of `facts`, sealed as it is found. It gets an id of its own above what speaks, since nobody
/// knows whether this is what the others had by the old one. The collection with the Original stays the same.
pub(super) fn sealed(
    facts: &Facts,
    own: &Written,
    seen: &[Holding],
    (id, now): (CustodyId, Instant),
) -> Result<Decision, RepairError> {
    let name = || facts.name.clone();
    if own.sidecar.custody.ceded().is_some() {
        return Err(RepairError::Migrating { name: name() });
    }
    let Some(top) = custody::speaking(seen).filter(|_| facts.payload.exists) else {
        let reason = "it was changed by hand or damaged".to_owned();
        return Err(RepairError::NoRecord { name: name(), reason });
    };
    let bare = Permit::bare(&top, &facts.recorded);
    let permit = Permit::seal_as_found(&bare, bare.custody().holder(), seen, id);
    let is_as_listed = facts.payload.matches_all(&own.sidecar.files);
    let files =
        if is_as_listed { own.sidecar.files.clone() } else { Files::from(facts.payload.entries()) };
    let mut sidecar = Sidecar {
        state: facts.state_under(permit.custody()),
        repository: name(),
        payload: Totals::of(&files),
        files,
        removal: None,
        ..own.sidecar.clone()
    };
    if !has_target(&sidecar) {
        sidecar.target = None;
    }
    let part = if is_as_listed { Amended::Description } else { Amended::Payload };
    let sidecar = sidecar
        .amended(&permit, part, now, [top.highest.changed])
        .map_err(|cause| RepairError::Sidecar { name: name(), cause })?;
    let files = differing(&own.sidecar.files, &sidecar.files);
    let action = SidecarAction::AsFound { state: sidecar.state, files };
    Decision::written(facts, (permit, sidecar), own, action)
}

/// The files in one list only, or with other contents.
fn differing(listed: &[Entry], found: &[Entry]) -> Vec<FileFound> {
    let mut all: BTreeMap<_, [Option<&Content>; 2]> = BTreeMap::new();
    for (at, entries) in [listed, found].into_iter().enumerate() {
        for entry in entries {
            all.entry(&entry.path).or_default()[at] = Some(&entry.content);
        }
    }
    let words = all.into_iter().map(|(path, contents)| {
        let [listed, found] = contents.map(|content| content.map(in_words));
        FileFound { path: path.clone(), listed, found }
    });
    words.filter(|file| file.listed != file.found).collect()
}

fn in_words(content: &Content) -> String {
    match content {
        Content::File { digest, .. } => format!("sha256 {digest}"),
        Content::Link { target } => format!("link to {}", crate::item::escape(target)),
        Content::EmptyDirectory { .. } => "empty directory".to_owned(),
    }
}
