//! Sidecars of what no sidecar describes, written from what speaks: the highest custody in sight, lines included. Stubs and
//! tombstones need no bytes; a payload without a sidecar is listed as it lies there. Pure.

use super::RepairError;
use super::facts::{DonorFacts, Facts, SidecarStatus, Written};
use super::plan::{Decision, SidecarAction};
use crate::custody::{self, Custody, CustodyId, Holding, Permit, Speaking};
use crate::identity::Instant;
use crate::item::{State, Totals};
use crate::sidecar::{Access, AccessLevel, Amended, Files, KeyChange, NewText, Removal, Sidecar};

/// The stub or tombstone of the item of `facts`, with the custody that speaks among `seen`.
pub(super) fn decide(
    facts: &Facts,
    donors: &[DonorFacts],
    seen: &[Holding],
) -> Result<Decision, RepairError> {
    let name = || facts.name.clone();
    let top = custody::speaking(seen).ok_or_else(|| RepairError::Outdated { name: name() })?;
    let permit = Permit::bare(&top, &facts.recorded);
    if top.is_deletion() {
        tombstone(facts, donors, &top, permit)
    } else {
        stub(facts, donors, &top, permit)
    }
}

/// The stub, with what the holding with this custody says, or else any other that can be read: a ledger has none of it.
fn stub(
    facts: &Facts,
    donors: &[DonorFacts],
    top: &Speaking<'_>,
    permit: Permit,
) -> Result<Decision, RepairError> {
    let is_it = |record: &Written| record.sidecar.custody.id() == top.highest.custody.id();
    let known = || donors.iter().enumerate().filter_map(|(at, it)| Some((at, it.record.as_ref()?)));
    let own = facts.record.written().map(|own| (None, own));
    let same = known().find(|(_, record)| is_it(record));
    let any = || known().max_by_key(|(_, record)| record.sidecar.changed());
    let from = same.or_else(|| any().filter(|_| own.is_none()));
    let from = from.map(|(at, record)| (Some(at), record)).or(own);
    let known =
        from.map_or_else(|| nameless(facts, permit.custody()), |(_, it)| it.sidecar.clone());
    let stub = dated(known.stub(permit.custody().clone()), top.highest.changed);
    written(facts, (permit, stub), from, Vec::new())
}

/// The tombstone, with the description and the files of the deleted contents: from the trash here, where the deletion has put
/// them, from a Copy of just these, or from a sealed tombstone of this deletion. Without any of them, it is described by the
/// newest that can be read. A tombstone with a broken seal is never believed: only a person may seal it as it is.
fn tombstone(
    facts: &Facts,
    donors: &[DonorFacts],
    top: &Speaking<'_>,
    permit: Permit,
) -> Result<Decision, RepairError> {
    let custody = permit.custody();
    let sealed = match &facts.record {
        SidecarStatus::Sealed(own) => Some(&**own),
        SidecarStatus::Doubtful(_) | SidecarStatus::Lost(_) => None,
    };
    let here = facts.trashed.iter().chain(sealed).map(|it| (None, it));
    let there =
        donors.iter().enumerate().filter_map(|(at, it)| Some((Some(at), it.record.as_ref()?)));
    let mut known: Vec<(Option<usize>, &Written)> = here.chain(there).collect();
    known.retain(|(_, it)| it.sidecar.state != State::Elsewhere);
    let is_deleted = |(_, it): &&(Option<usize>, &Written)| {
        it.sidecar.state.has_payload() && custody.directly_follows(&it.sidecar.custody)
    };
    let is_same = |(_, it): &&(Option<usize>, &Written)| {
        it.sidecar.state == State::Deleted && it.sidecar.custody.id() == custody.id()
    };
    let same = known.iter().find(is_same).copied();
    let says_the_same = |(_, it): &(Option<usize>, &Written), other: &Sidecar| {
        it.sidecar.payload == other.payload && it.sidecar.differences(other).is_empty()
    };
    let mut from = match (known.iter().find(is_deleted), same) {
        // Its text has the removal, too.
        (Some((_, deleted)), Some(same)) if says_the_same(&same, &deleted.sidecar) => Some(same),
        (deleted, same) => deleted.copied().or(same),
    };
    let doubtful = match &facts.record {
        SidecarStatus::Doubtful(own) => Some(own),
        SidecarStatus::Sealed(_) | SidecarStatus::Lost(_) => None,
    };
    if from.is_none() {
        let is_acceptable = |own: &Written| {
            own.sidecar.state == State::Deleted
                && facts.line.as_ref().is_none_or(|line| line.custody == own.sidecar.custody.bare())
        };
        // It is probably better than anything older, and a person can compare.
        if doubtful.is_some_and(|own| is_acceptable(own)) {
            return Err(RepairError::Unproven { name: facts.name.clone() });
        }
        let rank = |(_, it): &(Option<usize>, &Written)| {
            let it = &it.sidecar;
            (custody.covers(&it.custody), it.custody.epoch(), it.changed(), it.custody.id())
        };
        from = known.iter().copied().max_by_key(rank);
    }
    let known = from.map_or_else(|| nameless(facts, custody), |(_, it)| it.sidecar.clone());
    let updated = match &known.removal {
        Some(removal) => removal.updated,
        None => Some(known.timestamp),
    };
    let removal = same.and_then(|(_, it)| it.sidecar.removal.clone()).unwrap_or_else(|| {
        let (by, reason) = facts.deletion.clone().unwrap_or_else(|| ("unknown".to_owned(), None));
        Removal { by, reason, was: State::Original, updated }
    });
    let changed = top.highest.changed;
    let timestamp = changed.max(known.timestamp);
    let removal = Some(Removal { updated, ..removal });
    let state = State::Deleted;
    let tombstone = Sidecar { state, timestamp, removal, custody: custody.clone(), ..known };
    let tombstone = dated(tombstone, changed);
    let changes = doubtful.map(|own| own.sidecar.differences(&tombstone)).unwrap_or_default();
    written(facts, (permit, tombstone), from, changes)
}

/// The decision for `sidecar`, in the text of the one that it is made `from`.
fn written(
    facts: &Facts,
    (permit, sidecar): (Permit, Sidecar),
    from: Option<(Option<usize>, &Written)>,
    changes: Vec<KeyChange>,
) -> Result<Decision, RepairError> {
    let sidecar = Sidecar { repository: facts.name.clone(), ..sidecar };
    let (state, donor) = (sidecar.state, from.and_then(|(at, _)| at));
    let action = SidecarAction::Rebuild { from: donor, state, changes };
    if let Some((_, record)) = from {
        return Decision::written(facts, (permit, sidecar), record, action);
    }
    let text = NewText::Held(sidecar.to_text().into_bytes());
    Ok(Decision { sidecar, permit, text, action })
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

/// A stub with all that an identifier alone says.
fn nameless(facts: &Facts, custody: &Custody) -> Sidecar {
    Sidecar {
        state: State::Elsewhere,
        // It may have been closed, and nobody opens by accident what was.
        access: Access { level: AccessLevel::Closed, allow: Vec::new() },
        ..Sidecar::of_name(facts.name.clone(), custody.clone())
    }
}
