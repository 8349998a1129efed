//! Hand-overs to collections that are lost.

use std::time::Duration;

use super::reading::sealed;
use super::{TransferError, journal};
use crate::agent::Agent;
use crate::collection::{Collection, CollectionError, lock_items};
use crate::identity::RepositoryName;
use crate::wait::Waiter;

/// Ends the hand-overs from `giver` to the `lost` collections, which nobody can finish, where no item here
/// bears their marks any more. Those of a process that still runs are left to it.
pub fn end_lost(
    giver: &Collection,
    lost: &[String],
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<(), TransferError> {
    for name in journal::names(giver)? {
        // What cannot be read is reported by those who finish hand-overs.
        let Ok(Some(record)) = journal::read(giver, &name) else { continue };
        if !lost.contains(&record.to) {
            continue;
        }
        let items = record.items.iter().map(|item| (giver, item));
        let _locks = match lock_items(items, agent, &waiter.up_to(Duration::ZERO)) {
            Ok(locks) => locks,
            Err(CollectionError::ItemLocked { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let mut is_marked = false;
        for item in &record.items {
            is_marked |= bears_mark(giver, item, &record.token)?;
        }
        if !is_marked {
            journal::end(giver, &name)?;
        }
    }
    Ok(())
}

/// Whether the item is here, with the mark of the hand-over of this token.
fn bears_mark(
    giver: &Collection,
    name: &RepositoryName,
    token: &str,
) -> Result<bool, TransferError> {
    let item = match giver.item(name) {
        Ok(item) => item,
        Err(CollectionError::NoSuchItem { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let read = sealed(&item, item.read_sidecar(), giver.path())?;
    Ok(read.sidecar.handover.is_some_and(|mark| mark.token == token))
}
