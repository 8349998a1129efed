//! The evidence of the inventory about an item that vanished or whose sidecar is not sealed.

use super::facts::{DonorFacts, Facts, Written};
use super::{RepairError, SidecarAction};
use crate::collection::Certainty;
use crate::item::State;
use crate::sidecar::Sidecar;

/// The former state of the item, if the inventory has it and nothing contradicts it.
///
/// The Original may have left since, if a damaged line may be its departure, or if a Copy names another
/// collection. A superfluous Copy does no harm.
pub(super) fn believed(facts: &Facts, donors: &[DonorFacts]) -> Option<State> {
    let recorded = facts.recorded.as_ref()?;
    let state = recorded.line.state()?;
    let is_elsewhere = |record: &Written| {
        let made_of = record.sidecar.made_of();
        record.sidecar.state == State::Copy && made_of.is_some_and(|id| id != facts.collection)
    };
    let mut records = donors.iter().filter_map(|donor| donor.record.as_ref());
    let is_doubtful = recorded.certainty == Certainty::Doubtful || records.any(is_elsewhere);
    (state != State::Original || !is_doubtful).then_some(state)
}

/// The tombstone of an item that was deleted here, from a backup or from a Copy that was deleted with it.
pub(super) fn tombstone<'a>(
    facts: &Facts,
    donors: &'a [DonorFacts],
) -> Result<(Sidecar, &'a Written, SidecarAction), RepairError> {
    let is_ours = |donor: &DonorFacts, record: &Written| {
        donor.collection == facts.collection || record.is_copy_of(&facts.collection)
    };
    let found = donors.iter().enumerate().find_map(|(at, donor)| {
        let record = donor.record.as_ref().filter(|record| is_ours(donor, record))?;
        donor.is_tombstone.then_some((at, donor, record))
    });
    let Some((from, donor, record)) = found else {
        return Err(RepairError::Deleted { name: facts.name.clone() });
    };
    let mut sidecar = record.sidecar.clone();
    sidecar.repository = facts.name.clone();
    if donor.collection != facts.collection {
        sidecar.remove_copy_keys();
        if let Some(removal) = &mut sidecar.removal {
            removal.was = State::Original;
        }
    }
    Ok((sidecar, record, SidecarAction::Rebuild { from, state: State::Deleted }))
}
