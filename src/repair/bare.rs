//! Sidecars of what no sidecar describes, written from what speaks: the highest custody in sight, lines included. Stubs and
//! tombstones need no bytes; a payload without a sidecar is listed as it lies there. Pure.

use super::RepairError;
use super::facts::{DonorFacts, Facts, Written};
use super::plan::{Decision, SidecarAction};
use crate::custody::{self, Custody, CustodyId, Holding, Permit, Speaking};
use crate::identity::Instant;
use crate::item::{State, Totals};
use crate::sidecar::{Access, AccessLevel, Amended, Files, NewText, Removal, Sidecar};

/// The stub or tombstone of the item of `facts`, with the custody that speaks among `seen`. Its description is that of the
/// holding with this custody, or else of any other that can be read: a ledger has none.
pub(super) fn decide(
    facts: &Facts,
    donors: &[DonorFacts],
    seen: &[Holding],
) -> Result<Decision, RepairError> {
    let name = || facts.name.clone();
    let top = custody::speaking(seen).ok_or_else(|| RepairError::Outdated { name: name() })?;
    let is_it = |record: &Written| record.sidecar.custody.id() == top.highest.custody.id();
    let known = || donors.iter().enumerate().filter_map(|(at, it)| Some((at, it.record.as_ref()?)));
    let own = facts.record.written().map(|own| (None, own));
    let same = known().find(|(_, record)| is_it(record));
    let any = || known().max_by_key(|(_, record)| record.sidecar.changed());
    let from = same.or_else(|| any().filter(|_| own.is_none()));
    let permit = Permit::bare(&top, &facts.recorded);
    let custody = permit.custody().clone();
    if let Some((from, record)) = from.map(|(at, record)| (Some(at), record)).or(own) {
        let sidecar = Sidecar { repository: name(), ..bare(&record.sidecar, &top, custody) };
        let (state, changes) = (sidecar.state, Vec::new());
        let action = SidecarAction::Rebuild { from, state, changes };
        return Decision::written(facts, (permit, sidecar), record, action);
    }
    let sidecar = bare(&nameless(facts, &custody), &top, custody);
    let (state, changes) = (sidecar.state, Vec::new());
    let text = NewText::Held(sidecar.to_text().into_bytes());
    let action = SidecarAction::Rebuild { from: None, state, changes };
    Ok(Decision { sidecar, permit, text, action })
}

/// The stub or tombstone of the item with the sidecar `known`, and the rank of what speaks.
fn bare(known: &Sidecar, top: &Speaking<'_>, custody: Custody) -> Sidecar {
    let changed = top.highest.changed;
    if !top.is_deletion() {
        return dated(known.stub(custody), changed);
    }
    let removal = known.removal.clone().unwrap_or_else(|| Removal {
        by: "unknown".to_owned(),
        reason: None,
        was: State::Original,
        updated: Some(known.timestamp),
    });
    let tombstone = Sidecar { removal: Some(removal), custody, ..known.clone() };
    let timestamp = changed.max(known.timestamp);
    dated(Sidecar { state: State::Deleted, timestamp, ..tombstone }, changed)
}

/// The same with the dates of a sidecar that was `changed` then.
fn dated(sidecar: Sidecar, changed: Instant) -> Sidecar {
    if sidecar.changed() == changed {
        return sidecar;
    }
    let timestamp = sidecar.timestamp.min(changed);
    Sidecar { timestamp, described: Some(changed), ..sidecar }
}

/// The sidecar of a payload that has lost its own, and that nothing in sight describes: it lists what lies there. The item goes
/// on as the Original, above all that is in sight, for nobody knows whether these are the bytes that it had. Its description
/// is lost; the ledger has the changes of it.
pub(super) fn sealed_as_found(
    facts: &Facts,
    reason: &str,
    seen: &[Holding],
    (id, now): (CustodyId, Instant),
) -> Result<Decision, RepairError> {
    let name = || facts.name.clone();
    let Some(top) = custody::speaking(seen).filter(|_| facts.payload.exists) else {
        return Err(RepairError::NoRecord { name: name(), reason: reason.to_owned() });
    };
    let known = Permit::bare(&top, &facts.recorded);
    let permit = Permit::seal_as_found(&known, &facts.collection, seen, id);
    let entries = facts.payload.entries();
    let (payload, files) = (Totals::of(&entries), Files::from(entries));
    let timestamp = top.highest.changed;
    let nameless = nameless(facts, permit.custody());
    let sidecar = Sidecar { state: State::Original, timestamp, payload, files, ..nameless };
    let sidecar = sidecar
        .amended(&permit, Amended::Payload, now, [])
        .map_err(|cause| RepairError::Sidecar { name: name(), cause })?;
    let sidecar = Sidecar { described: None, ..sidecar };
    let (state, changes) = (sidecar.state, Vec::new());
    let text = NewText::Held(sidecar.to_text().into_bytes());
    let action = SidecarAction::Rebuild { from: None, state, changes };
    Ok(Decision { sidecar, permit, text, action })
}

/// A sidecar with all that an identifier alone says.
fn nameless(facts: &Facts, custody: &Custody) -> Sidecar {
    let created = facts.name.instant();
    Sidecar {
        state: State::Elsewhere,
        repository: facts.name.clone(),
        ibip: None,
        created,
        timestamp: created,
        described: None,
        target: None,
        transferable: true,
        // It may have been closed, and nobody opens by accident what was.
        access: Access { level: AccessLevel::Closed, allow: Vec::new() },
        custody: custody.clone(),
        metadata: crate::sidecar::Metadata::default(),
        relations: crate::sidecar::Relations::default(),
        origin: toml::Table::new(),
        removal: None,
        payload: Totals::of(&[]),
        files: Files::default(),
    }
}
