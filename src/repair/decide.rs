//! Deciding on the sidecar of the repaired item, by the rule of custody: its own, its own with a new seal, or that of a
//! donor; or what the table of remedies says. Pure.

use super::facts::{DonorFacts, Facts, SidecarStatus, Written, has_target};
use super::plan::{Decision, SidecarAction};
use super::{Options, RepairError, Unsealed};
use super::{as_found, bare};
use crate::custody::remedy::Act;
use crate::custody::{self, Authority, CustodyId, Has, Holding, LineUp, Permit};
use crate::identity::Instant;
use crate::item::{Content, Entry, State, Totals};
use crate::sidecar::{Amended, Sidecar};

/// Decides on the sidecar of the item of `facts`. `seen` are the holdings and lines in sight, `act` is what the table of
/// remedies has for the item here, and it `is_last` if nothing in sight has it whole. An item with a new seal gets the custody id `id`, and the date `now`.
pub(super) fn decide(
    facts: &Facts,
    donors: &[DonorFacts],
    seen: &[Holding],
    (act, is_last): (Option<Act<'_>>, bool),
    options: Options,
    (id, now): (CustodyId, Instant),
) -> Result<Decision, RepairError> {
    let is_sealed_again =
        options.unsealed == Unsealed::Seal && matches!(facts.record, SidecarStatus::Doubtful(_));
    match act.filter(|_| !is_sealed_again) {
        Some(Act::Repair) => return bare::decide(facts, donors, seen),
        Some(Act::RepairFrom(_))
            if custody::speaking(seen).is_some_and(|top| top.is_deletion()) =>
        {
            return bare::decide(facts, donors, seen);
        }
        _ if is_last && options.unsealed == Unsealed::Seal && !is_sealed_again => {
            if let SidecarStatus::Lost(reason) = &facts.record {
                return bare::sealed_as_found(facts, reason, seen, (id, now));
            }
        }
        Some(Act::RepairFrom(at)) => {
            let is_other = |donor: &DonorFacts| {
                let own = facts.own.as_ref();
                own.is_none_or(|own| own.custody.id() != donor.rule.custody.id())
            };
            let is_it = |donor: &DonorFacts| donor.rule.at == at && is_other(donor);
            let from = donors.iter().position(is_it);
            if let Some((from, record)) =
                from.and_then(|at| Some((at, donors[at].record.as_ref()?)))
            {
                return built(facts, (from, record), Permit::follow(&donors[from].rule, seen));
            }
        }
        _ => {}
    }
    match &facts.record {
        SidecarStatus::Sealed(own) => {
            let line_up =
                facts.own.as_ref().map(|own| custody::line_up(own, seen, Authority::Rule));
            if let Some(LineUp::Original(at) | LineUp::Copy(at)) = line_up
                && let Some(from) = donors.iter().position(|donor| donor.rule == seen[at])
                && let Some(record) = &donors[from].record
            {
                return built(facts, (from, record), Permit::keep(&donors[from].rule.custody));
            }
            let state = own.sidecar.state_in(&facts.collection);
            if own.sidecar.state != state {
                let sidecar = Sidecar { state, ..own.sidecar.clone() };
                let permit = Permit::keep(&sidecar.custody);
                return Decision::written(
                    facts,
                    (permit, sidecar),
                    own,
                    SidecarAction::State(state),
                );
            }
            let text = own.sidecar.unchanged(&own.text);
            let text =
                text.map_err(|cause| RepairError::Sidecar { name: facts.name.clone(), cause })?;
            let (sidecar, permit) = (own.sidecar.clone(), Permit::keep(&own.sidecar.custody));
            Ok(Decision { sidecar, permit, text, action: SidecarAction::Keep })
        }
        SidecarStatus::Doubtful(own) => {
            // What a person wants sealed is sealed or left as it is: nothing else takes its place.
            if options.unsealed == Unsealed::Seal {
                return if is_last && as_found::is_needed(facts) {
                    as_found::sealed(facts, own, seen, (id, now))
                } else {
                    sealed_again(facts, own, donors, (id, now))
                };
            }
            rebuilt(facts, donors, seen)
        }
        SidecarStatus::Lost(_) => rebuilt(facts, donors, seen),
    }
}

/// Whether the item keeps its own sidecar with a new seal, by a person's word.
pub(super) fn is_resealed(action: &SidecarAction) -> bool {
    matches!(action, SidecarAction::Reseal { .. } | SidecarAction::AsFound { .. })
}

/// The item's own sidecar with a new seal, if the payload is the one that it lists. Its custody was not edited, or it would
/// not be that of the ledger.
fn sealed_again(
    facts: &Facts,
    own: &Written,
    donors: &[DonorFacts],
    (id, now): (CustodyId, Instant),
) -> Result<Decision, RepairError> {
    let name = || facts.name.clone();
    let mut sidecar = own.sidecar.clone();
    if sidecar.state != State::Deleted && !facts.payload.matches_all(&sidecar.files) {
        return Err(RepairError::MoreDiffers { name: name() });
    }
    if sidecar.custody.ceded().is_some() {
        return Err(RepairError::Migrating { name: name() });
    }
    let is_of_line = |line: &Holding| line.custody == sidecar.custody.bare();
    if !facts.line.as_ref().is_none_or(is_of_line) {
        return Err(RepairError::CustodyDiffers { name: name() });
    }
    let agreeing = donors.iter().enumerate().find_map(|(at, donor)| {
        let record = donor.record.as_ref()?;
        same_content(&record.sidecar.files, &sidecar.files).then_some((at, record))
    });
    let mut differs = Vec::new();
    if let Some((_, record)) = agreeing {
        let other = &record.sidecar;
        // Values that cannot differ between holdings come from the sealed one.
        sidecar.files.clone_from(&other.files);
        sidecar.ibip.clone_from(&other.ibip);
        sidecar.created = other.created;
        differs.extend(other.differences(&sidecar).into_iter().map(|change| change.key));
    }
    if !has_target(&sidecar) {
        sidecar.target = agreeing.and_then(|(_, record)| record.sidecar.target.clone());
    }
    sidecar.payload = Totals::of(&sidecar.files);
    let has_other = donors.iter().any(|it| it.record.is_some() && it.rule.has_payload());
    let is_same_payload =
        own.sidecar.payload == sidecar.payload && (agreeing.is_some() || !has_other);
    sidecar.repository = name();
    if sidecar.state != State::Deleted {
        sidecar.state = facts.state_under(&sidecar.custody);
        sidecar.removal = None;
    }
    if sidecar.state == State::Copy && !agreeing.is_some_and(|_| differs.is_empty()) {
        return Err(RepairError::CopyEdited { name: name() });
    }
    let mut permit = Permit::keep(&sidecar.custody);
    if sidecar.state == State::Original {
        permit = Permit::seal(&sidecar.custody, id);
        let others = donors.iter().filter_map(|donor| donor.record.as_ref());
        let others = others.map(|record| record.sidecar.changed());
        let part = if is_same_payload { Amended::Description } else { Amended::Payload };
        sidecar = sidecar
            .amended(&permit, part, now, others)
            .map_err(|cause| RepairError::Sidecar { name: name(), cause })?;
    }
    let action = SidecarAction::Reseal { confirmed_by: agreeing.map(|(at, _)| at), differs };
    Decision::written(facts, (permit, sidecar), own, action)
}

/// The sidecar of the donor with the highest custody that fits the payload, never below the line of the ledger.
fn rebuilt(
    facts: &Facts,
    donors: &[DonorFacts],
    seen: &[Holding],
) -> Result<Decision, RepairError> {
    let name = || facts.name.clone();
    let own = facts.record.written().map(|own| &own.sidecar);
    if own.is_some_and(|own| own.custody.ceded().is_some()) {
        return Err(RepairError::Migrating { name: name() });
    }
    let top = custody::highest(seen);
    if let Some(top) = top.filter(|top| top.is_deletion() && is_here(top, facts)) {
        let is_it = |donor: &&DonorFacts| {
            donor.rule.has == Has::Tombstone && donor.rule.custody.id() == top.custody.id()
        };
        let grave = donors.iter().find(is_it).and_then(|donor| donor.record.as_ref());
        let from = donors.iter().position(|donor| is_it(&donor));
        let (Some(from), Some(record)) = (from, grave) else {
            return Err(RepairError::Deleted { name: name() });
        };
        return built(facts, (from, record), Permit::keep(&record.sidecar.custody));
    }
    let sealed = || donors.iter().filter(|it| it.record.is_some() && it.rule.has_payload());
    let fits = |donor: &&DonorFacts| {
        let record = donor.record.as_ref();
        record.is_some_and(|record| facts.payload.matches_all(&record.sidecar.files))
    };
    let mut fitting: Vec<&Holding> = sealed().filter(fits).map(|donor| &donor.rule).collect();
    if fitting.is_empty() {
        fitting = sealed().map(|donor| &donor.rule).collect();
    }
    if fitting.is_empty() {
        let reason = match &facts.record {
            SidecarStatus::Lost(reason) => reason.clone(),
            _ => "it was changed by hand or damaged".to_owned(),
        };
        return Err(RepairError::NoRecord { name: name(), reason });
    }
    if facts.in_place && own.is_none() && !facts.payload.exists && facts.line.is_none() {
        return Err(RepairError::PerhapsDeleted { name: name() });
    }
    let Some(chosen) = custody::rebuild(&facts.collection, &fitting, seen) else {
        return Err(RepairError::Outdated { name: name() });
    };
    let from = donors.iter().position(|donor| std::ptr::eq(&raw const donor.rule, chosen));
    let found = from.and_then(|at| Some((at, donors[at].record.as_ref()?)));
    let Some((from, record)) = found else { return Err(RepairError::Outdated { name: name() }) };
    let permit = Permit::keep(&donors[from].rule.custody);
    let custody = permit.custody();
    if facts.was_elsewhere && custody.holder() != facts.collection {
        let sidecar = Sidecar { repository: name(), ..record.sidecar.stub(custody.clone()) };
        let (from, changes) = (Some(from), Vec::new());
        let action = SidecarAction::Rebuild { from, state: State::Elsewhere, changes };
        return Decision::written(facts, (permit, sidecar), record, action);
    }
    built(facts, (from, record), permit)
}

/// Whether a deletion concerns this collection: it is its own, or that of the holder of the Copy here.
fn is_here(deletion: &Holding, facts: &Facts) -> bool {
    deletion.at == facts.collection || facts.own.as_ref().is_none_or(|own| deletion.covers(own))
}

/// The sidecar of the donor `from`, as `permit` says.
fn built(
    facts: &Facts,
    (from, record): (usize, &Written),
    permit: Permit,
) -> Result<Decision, RepairError> {
    let (repository, custody) = (facts.name.clone(), permit.custody().clone());
    let mut sidecar = Sidecar { repository, custody, ..record.sidecar.clone() };
    if sidecar.state != State::Deleted {
        sidecar.state = facts.state_under(&sidecar.custody);
    }
    let own = facts.record.written();
    let changes = own.map(|own| own.sidecar.differences(&sidecar)).unwrap_or_default();
    let action = SidecarAction::Rebuild { from: Some(from), state: sidecar.state, changes };
    Decision::written(facts, (permit, sidecar), record, action)
}

/// Whether two lists of entries have the same bytes and links under the same names.
fn same_content(a: &[Entry], b: &[Entry]) -> bool {
    let same = |a: &Entry, b: &Entry| {
        a.path == b.path
            && match (&a.content, &b.content) {
                (
                    Content::File { bytes, digest, .. },
                    Content::File { bytes: other_bytes, digest: other, .. },
                ) => (bytes, digest) == (other_bytes, other),
                (Content::EmptyDirectory { .. }, Content::EmptyDirectory { .. }) => true,
                (a, b) => a == b,
            }
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}
