//! Deciding on the sidecar of the repaired item: its own, its own with a new seal, or one built from a
//! donor's.

use toml::Value;

use super::facts::{DonorFacts, Facts, SidecarStatus, Written, has_target};
use super::plan::{Decision, SidecarAction};
use super::{
    Options, RecordedRule, RepairError, Unsealed, proof, reception, recorded, unconfirmed,
};
use crate::amend;
use crate::collection::Recorded;
use crate::holdings::may_be_original;
use crate::item::{Content, Entry, State, Totals};
use crate::sidecar::{COPY_KEYS, Sidecar};

/// Decides on the sidecar of the item of `facts`.
pub(super) fn decide(
    facts: &Facts,
    donors: &[DonorFacts],
    options: Options,
) -> Result<Decision, RepairError> {
    match &facts.record {
        SidecarStatus::Sealed(own) => {
            let text = own.sidecar.unchanged(&own.text);
            let text =
                text.map_err(|cause| RepairError::Sidecar { name: facts.name.clone(), cause })?;
            Ok(Decision { sidecar: own.sidecar.clone(), text, action: SidecarAction::Keep })
        }
        SidecarStatus::Doubtful(own) => {
            // `Unsealed::Seal` asks for the present text, not for the former one.
            let mut proven_by = None;
            if options.unsealed == Unsealed::Refuse
                && let Some((from, sidecar, text)) = proof::as_sealed(facts, own, donors)
            {
                if sidecar != own.sidecar || text.added() != own.text.added() {
                    return Ok(Decision { sidecar, text, action: SidecarAction::Restore { from } });
                }
                // If only a comment differs, the comment is kept.
                proven_by = Some(from);
            }
            if is_deleted(&facts.record, facts.recorded.as_ref(), options) {
                return rebuilt(facts, donors, options);
            }
            if own.sidecar.state == State::Deleted
                && !is_tombstone(facts, &own.sidecar)
                && options.state.is_none()
            {
                return Err(RepairError::StateUnknown { name: facts.name.clone() });
            }
            let is_copy = own.sidecar.state == State::Copy;
            let confirmed = match confirmed(facts, (own, proven_by), donors, options) {
                // The description of a Copy is that of its Original, which may have been corrected since.
                Err(RepairError::Unproven { differs, .. })
                    if is_copy
                        && facts.original_is_newest(own, donors)
                        && differs.iter().all(|key| unconfirmed::comes_with_original(key)) =>
                {
                    None
                }
                outcome => outcome?,
            };
            match confirmed {
                Some((mut sidecar, action)) => {
                    if is_accepted(&sidecar, &action, options) {
                        // Its Copies are stale until they have the same description.
                        let records = facts.elsewhere(donors).filter_map(|it| it.record.as_ref());
                        let sidecars = records.map(|it| &it.sidecar).chain([&own.sidecar]);
                        let latest = sidecars.max_by_key(|it| it.timestamp).unwrap_or(&own.sidecar);
                        amend::date(&mut sidecar, latest, facts.now);
                    }
                    written(facts, sidecar, own, action)
                }
                None => rebuilt(facts, donors, options),
            }
        }
        SidecarStatus::Lost(_) => rebuilt(facts, donors, options),
    }
}

/// Whether an unchanged Original gets a new seal.
pub(super) fn is_resealed(sidecar: &Sidecar, action: &SidecarAction, options: Options) -> bool {
    options.unsealed == Unsealed::Seal
        && sidecar.state == State::Original
        && matches!(action, SidecarAction::Reseal { .. })
}

/// Whether it gets one though nothing proves its description.
pub(super) fn is_accepted(sidecar: &Sidecar, action: &SidecarAction, options: Options) -> bool {
    let is_proven = matches!(
        action,
        SidecarAction::Reseal { confirmed_by: Some(_), differs } if differs.is_empty()
    );
    is_resealed(sidecar, action, options) && !is_proven
}

fn written(
    facts: &Facts,
    sidecar: Sidecar,
    before: &Written,
    action: SidecarAction,
) -> Result<Decision, RepairError> {
    let text = sidecar.rewritten(&before.text, &before.sidecar);
    let text = text.map_err(|cause| RepairError::Sidecar { name: facts.name.clone(), cause })?;
    Ok(Decision { sidecar, text, action })
}

/// The item's own sidecar for a new seal, if a donor or the payload confirms it, or if it is proven with the
/// text of a donor.
fn confirmed(
    facts: &Facts,
    (own, proven_by): (&Written, Option<usize>),
    donors: &[DonorFacts],
    options: Options,
) -> Result<Option<(Sidecar, SidecarAction)>, RepairError> {
    let mut sidecar = own.sidecar.clone();
    let is_tombstone = is_tombstone(facts, &sidecar);
    let agreeing = donors.iter().enumerate().find_map(|(at, donor)| {
        let record = donor.record.as_ref()?;
        let agrees = same_content(&record.sidecar.files, &sidecar.files);
        (agrees && proven_by.is_none_or(|from| from == at)).then_some((at, record))
    });
    let mut action = if let Some((at, record)) = agreeing {
        let other = &record.sidecar;
        // Values that cannot differ between copies come from the sealed one.
        sidecar.files.clone_from(&other.files);
        sidecar.ibip.clone_from(&other.ibip);
        sidecar.created = other.created;
        if !has_target(&sidecar) {
            sidecar.target.clone_from(&other.target);
        }
        SidecarAction::Reseal { confirmed_by: Some(at), differs: Vec::new() }
    } else if !is_tombstone && facts.payload.matches_all(&sidecar.files) {
        if options.unsealed == Unsealed::Refuse {
            return Err(RepairError::Unconfirmed { name: facts.name.clone() });
        }
        if !has_target(&sidecar) {
            sidecar.target = None;
        }
        SidecarAction::Reseal { confirmed_by: None, differs: Vec::new() }
    } else {
        return Ok(None);
    };
    sidecar.payload = Totals::of(&sidecar.files);
    sidecar.repository = facts.name.clone();
    if sidecar.handover.is_some() {
        // A mark that nothing confirms must not make an Original.
        return match facts.reception {
            Some(_) => Ok(None),
            None => Err(RepairError::Handover { name: facts.name.clone() }),
        };
    }
    if !is_tombstone {
        // Nor may a state that was edited by hand.
        let state = state(facts, donors, agreeing, options)?;
        match (sidecar.state, state, facts.foreign_original(donors)) {
            (State::Original, State::Copy, Some(holder)) => {
                sidecar.become_copy_of(&holder.collection);
            }
            (State::Copy, State::Original, _) => sidecar.remove_copy_keys(),
            _ => {}
        }
        sidecar.state = state;
        sidecar.removal = None;
    }
    if let SidecarAction::Reseal { confirmed_by: Some(at), differs } = &mut action
        && proven_by.is_none()
    {
        *differs = unconfirmed::keys(facts, (own, &sidecar), &donors[*at]);
        if !differs.is_empty() && options.unsealed == Unsealed::Refuse {
            // One of the two is damaged or older, and nothing proves which.
            let (name, root) = (facts.name.clone(), donors[*at].root.clone());
            return Err(RepairError::Unproven { name, root, differs: differs.clone() });
        }
    }
    Ok(Some((sidecar, action)))
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

/// A sidecar built from a donor's.
fn rebuilt(
    facts: &Facts,
    donors: &[DonorFacts],
    options: Options,
) -> Result<Decision, RepairError> {
    let name = || facts.name.clone();
    let own = facts.record.written().map(|own| &own.sidecar);
    if own.is_some_and(|own| is_tombstone(facts, own)) {
        return Err(RepairError::Deleted { name: name() });
    }
    if is_deleted(&facts.record, facts.recorded.as_ref(), options) {
        let (sidecar, record, action) = recorded::tombstone(facts, donors)?;
        return written(facts, sidecar, record, action);
    }
    let (at, record) = chosen(facts, donors)?;
    if let Some(later) = facts.later_witness(&record.sidecar) {
        return Err(RepairError::LaterElsewhere { name: name(), root: later.root.clone() });
    }
    let sealed = facts.elsewhere(donors).filter_map(|it| it.record.as_ref());
    let mut handovers = sealed.map(|it| &it.sidecar).chain(own).map(|it| it.handover.is_some());
    if handovers.any(|under_way| under_way) {
        let received = reception::received(facts, donors, record);
        let sidecar = received.ok_or_else(|| RepairError::Handover { name: name() })?;
        let action = SidecarAction::Rebuild { from: at, state: sidecar.state };
        return written(facts, sidecar, record, action);
    }
    let is_known = options.state.is_some() || facts.recorded_state().is_some();
    if own.is_none() && !facts.payload.exists && !is_known {
        return Err(RepairError::PerhapsDeleted { name: name() });
    }
    let state = state(facts, donors, Some((at, record)), options)?;
    let mut sidecar = record.sidecar.clone();
    sidecar.repository = name();
    sidecar.state = state;
    match (state, facts.foreign_original(donors)) {
        (State::Copy, Some(holder)) => sidecar.become_copy_of(&holder.collection),
        (State::Copy, None) => {
            // The Original was here before it left; only the item's own sidecar may show where it went.
            let was_here = |id: &str| id == facts.collection;
            if record.sidecar.state == State::Original || sidecar.made_of().is_some_and(was_here) {
                sidecar.remove_copy_keys();
                let kept = own.filter(|own| own.state == State::Copy);
                let kept = kept.filter(|own| !own.made_of().is_some_and(was_here));
                sidecar.origin.extend(kept.into_iter().flat_map(copy_keys));
                if sidecar.made_of().is_none()
                    && let Some(holder) = facts.holder_elsewhere(donors)
                {
                    sidecar.become_copy_of(holder);
                }
            }
        }
        _ if record.sidecar.state == State::Copy => sidecar.remove_copy_keys(),
        _ => {}
    }
    written(facts, sidecar, record, SidecarAction::Rebuild { from: at, state })
}

/// The donor whose sidecar is taken: the latest of equally good ones.
fn chosen<'a>(
    facts: &Facts,
    donors: &'a [DonorFacts],
) -> Result<(usize, &'a Written), RepairError> {
    let sealed = || {
        let records = donors.iter().enumerate();
        records.filter_map(|(at, donor)| Some((at, donor.record.as_ref()?)))
    };
    let fits = |record: &Written| facts.payload.matches_all(&record.sidecar.files);
    let is_original = |record: &Written| record.sidecar.state == State::Original;
    let are_original = |record: &Written| is_original(record) && fits(record);
    let ranks: [&dyn Fn(&Written) -> bool; 4] =
        [&are_original, &fits, &is_original, &|_: &Written| true];
    let best = ranks.into_iter().map(|belongs| sealed().filter(|(_, it)| belongs(it)).collect());
    let Some(best) = best.into_iter().find(|best: &Vec<_>| !best.is_empty()) else {
        let reason = match &facts.record {
            SidecarStatus::Lost(reason) => reason.clone(),
            _ => "it does not match its seal".to_owned(),
        };
        return Err(RepairError::NoRecord { name: facts.name.clone(), reason });
    };
    let date = best.iter().map(|(_, it)| it.sidecar.timestamp).max();
    let mut newest = best.iter().filter(|(_, it)| Some(it.sidecar.timestamp) == date);
    let first = *newest.next().expect("because one of them has that date");
    // Nothing shows which of two payloads is right, nor which of two descriptions of one date.
    let agrees =
        |(_, it): &(usize, &Written)| same_content(&it.sidecar.files, &first.1.sidecar.files);
    let described = amend::Description::of(&first.1.sidecar);
    let is_same = |(_, it): &(usize, &Written)| amend::Description::of(&it.sidecar) == described;
    if best.iter().all(agrees) && newest.all(is_same) {
        Ok(first)
    } else {
        Err(RepairError::Disagreement { name: facts.name.clone() })
    }
}

/// The former or required state of the item; `believed` is the donor whose sidecar it gets or agrees with.
fn state(
    facts: &Facts,
    donors: &[DonorFacts],
    believed: Option<(usize, &Written)>,
    options: Options,
) -> Result<State, RepairError> {
    if let Some(holder) = facts.foreign_original(donors) {
        return match options.state {
            Some(State::Original) => Err(RepairError::SecondOriginal {
                name: facts.name.clone(),
                root: holder.root.clone(),
            }),
            _ => Ok(State::Copy),
        };
    }
    let evident = evident_state(facts, donors, believed);
    let state = match facts.record.written().map(|own| own.sidecar.state) {
        None if options.recorded == RecordedRule::Believe && is_certain_copy(facts) => {
            Some(State::Copy)
        }
        None => options.state.or(evident),
        Some(own) => {
            let is_accepted = options.unsealed == Unsealed::Seal && facts.is_unrecorded();
            evident.or(options.state).or(is_accepted.then_some(own))
        }
    };
    let is_other = |it: &&DonorFacts| it.collection != facts.collection && it.may_be_original;
    let other = facts.elsewhere(donors).find(is_other);
    match (state, other) {
        (None, _) => Err(RepairError::StateUnknown { name: facts.name.clone() }),
        (Some(State::Original), Some(other)) => Err(RepairError::PerhapsElsewhere {
            name: facts.name.clone(),
            root: other.root.clone(),
        }),
        (Some(state), _) => Ok(state),
    }
}

/// The state that the item had by the inventory, or else by its own sidecar and those of donors. `None` if
/// the inventory contradicts a sidecar that says Copy: a superfluous Copy does no harm, but the only Original
/// must not become a Copy unnoticed.
fn evident_state(
    facts: &Facts,
    donors: &[DonorFacts],
    believed: Option<(usize, &Written)>,
) -> Option<State> {
    let own = facts.record.written().map(|own| own.sidecar.state);
    // Anybody may have edited the state to Original.
    let copy = own.filter(|own| *own == State::Copy);
    if !facts.is_unrecorded() {
        return match recorded::believed(facts, donors) {
            Some(State::Original) if copy.is_some() => None,
            Some(State::Deleted) => None,
            recorded => recorded.or(copy),
        };
    }
    if copy.is_some() {
        return copy;
    }
    // A donor with the id of this collection is a backup of it. The Original may have left since.
    if let Some((at, record)) = believed
        && donors[at].collection == facts.collection
        && record.sidecar.state == State::Copy
    {
        return Some(State::Copy);
    }
    let is_ours = |record: &Written| {
        record.sidecar.state == State::Copy && record.is_copy_of(&facts.collection)
    };
    let mut records = donors.iter().filter_map(|donor| donor.record.as_ref());
    records.any(is_ours).then_some(State::Original)
}

fn is_certain_copy(facts: &Facts) -> bool {
    facts.recorded.as_ref().is_some_and(|recorded| !may_be_original(recorded))
}

/// Whether the item was deleted here, by the inventory. A person who gives a state overrules that.
pub(super) fn is_deleted(
    record: &SidecarStatus,
    recorded: Option<&Recorded>,
    options: Options,
) -> bool {
    let own = record.written().map(|own| own.sidecar.state);
    options.state.is_none()
        && own != Some(State::Deleted)
        && recorded.is_some_and(|it| it.line.state() == Some(State::Deleted))
}

/// Whether an unsealed sidecar that says Deleted is believed: the inventory has to agree, or to have no
/// record of an item without a payload.
fn is_tombstone(facts: &Facts, own: &Sidecar) -> bool {
    let is_recorded = facts.recorded_state() == Some(State::Deleted);
    own.state == State::Deleted && (is_recorded || (facts.is_unrecorded() && !facts.payload.exists))
}

/// The keys of a Copy's sidecar about its copying.
fn copy_keys(copy: &Sidecar) -> impl Iterator<Item = (String, Value)> + '_ {
    COPY_KEYS.into_iter().filter_map(|key| Some((key.to_owned(), copy.origin.get(key)?.clone())))
}
