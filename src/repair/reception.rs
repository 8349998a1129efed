//! Items that are being handed over to this collection, and whose own sidecars are damaged or gone.

use super::facts::{DonorFacts, Facts, Written};
use crate::collection::{Certainty, Collection, Recorded};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{Handover, Party, Sidecar, date_value};

/// The hand-over mark of the item `name` while it is being handed over to `collection`, read from the giver's sidecar.
///
/// `None` unless `recorded` certainly says that the item is here and arrived by this hand-over: a Copy that
/// arrived after the Original was passed on must not become the Original.
pub(super) fn reception(
    collection: &Collection,
    name: &RepositoryName,
    recorded: Option<&Recorded>,
    donors: &[DonorFacts],
) -> Result<Option<Handover>, PathError> {
    let recorded = recorded.filter(|it| it.certainty == Certainty::Certain);
    let mut marks = donors.iter().filter_map(|donor| {
        let given = &donor.record.as_ref()?.sidecar;
        let mark = given.handover.as_ref()?;
        let is_ours = matches!(&mark.party, Party::To(id) if id == collection.id());
        let party = Party::From(donor.collection.clone());
        is_ours.then(|| (Handover { token: mark.token.clone(), party }, given.copied()))
    });
    let Some((recorded, (mark, given))) = recorded.zip(marks.next()) else { return Ok(None) };
    let is_here = match recorded.line.state() {
        Some(State::Original) => true,
        Some(State::Copy) => {
            given.is_some_and(|given| recorded.line.date < given)
                || !collection.may_have_passed_on(name, mark.party.id())?
        }
        Some(State::Deleted) | None => false,
    };
    Ok(is_here.then_some(mark))
}

/// The sidecar of the item while it is being handed over, rebuilt from `record`, a donor's. `None` if another collection
/// may have the Original by now.
pub(super) fn received(facts: &Facts, donors: &[DonorFacts], record: &Written) -> Option<Sidecar> {
    let may_be_original = |it: &DonorFacts| {
        let state = it.record.as_ref().map(|record| record.sidecar.state);
        it.may_be_original || state == Some(State::Original)
    };
    let mark =
        facts.reception.as_ref().filter(|_| !facts.elsewhere(donors).any(may_be_original))?;
    let mut sidecar = record.sidecar.clone();
    sidecar.repository = facts.name.clone();
    sidecar.become_copy_of(mark.party.id());
    sidecar.origin.insert("copied".to_owned(), date_value(facts.now));
    sidecar.handover = Some(mark.clone());
    Some(sidecar)
}
