//! A damaged sidecar of the giver during an open hand-over.

use super::{
    JournalRecord, Sides, TransferError, is_put_back, is_received, record_originals, sidecars,
};
use crate::collection::{LockedItem, Lookup, ReadSidecar};
use crate::item::State;
use crate::layout;
use crate::sidecar::Party;

/// Rebuilds the giver's sidecar of the commit point from `received`, if the remains of the damaged one have a
/// mark: only then the commit point was passed.
///
/// Without a mark it counts as gone: the receiver's Copy loses its mark, so that the giver's item can be repaired from
/// it, and the hand-over stays open until it is.
pub(super) fn mend_given(
    sides: &Sides<'_>,
    record: &JournalRecord,
    (item, received): &(LockedItem<'_>, ReadSidecar),
    detail: &str,
) -> Result<(), TransferError> {
    let name = item.name();
    let is_marked = is_received(sides, record, &received.sidecar);
    let given = sides.locks.item(&Lookup::new(sides.from), name)?;
    if let Some(given) = given.filter(|it| bears_remains(it, sides, record))
        && (is_marked || received.sidecar.state == State::Original)
    {
        // It may be of an older state, as from a backup: the present date would say that nothing came after it.
        let copied = received.sidecar.copied().unwrap_or_else(|| sides.clock.now());
        let renewed = sidecars::given(&received.sidecar, &record.token, sides.to, copied);
        let text = sidecars::text(name, received, &renewed)?;
        return Ok(sides.giver.replace_sidecar(&given, &text)?);
    }
    if received.sidecar.state == State::Original && !is_put_back(sides, record, name)? {
        // An interrupted run may not have done that, and the repair of the giver's item depends on it.
        record_originals(sides, vec![name.clone()])?;
    }
    if is_marked {
        let text = sidecars::text(name, received, &sidecars::unmarked(&received.sidecar))?;
        sides.receiver.replace_sidecar(item, &text)?;
    }
    Err(TransferError::GivenDamaged {
        name: name.clone(),
        from: sides.from.path().to_path_buf(),
        to: sides.to.path().to_path_buf(),
        summary: format!("`{}`: {detail}", layout::SIDECAR),
    })
}

/// Whether the damaged sidecar of `given` has a mark of this hand-over. Half of the mark may be damaged as
/// well.
fn bears_remains(given: &LockedItem<'_>, sides: &Sides<'_>, record: &JournalRecord) -> bool {
    let mark = given.read_sidecar().ok().and_then(|read| read.sidecar.handover);
    mark.is_some_and(|mark| {
        mark.token == record.token || mark.party == Party::To(sides.to.id().to_owned())
    })
}
