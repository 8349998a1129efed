//! Hand-overs to lost collections.

use std::time::Duration;

use super::TransferError;
use super::journal::{self, JournalRecord};
use super::reading::sealed;
use crate::agent::Agent;
use crate::collection::{Collection, CollectionError, lock_items};
use crate::identity::RepositoryName;
use crate::wait::Waiter;

/// Sets the hand-overs from `giver` to the `lost` collections aside, if no item here has their marks any
/// more: no run waits for them. A receiver that comes back may still have the marks, so the records stay, to
/// be settled then. Those of a running process are left to it.
///
/// An item that cannot be read keeps the hand-overs that it is part of open, and stops no others.
pub fn end_lost(
    giver: &Collection,
    lost: &[String],
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<Vec<(RepositoryName, TransferError)>, TransferError> {
    let mut failed = Vec::new();
    for name in journal::names(giver)? {
        // Finishing hand-overs reports items that cannot be read.
        let Ok(Some(record)) = journal::read(giver, &name) else { continue };
        if record.is_lost || !lost.contains(&record.to) {
            continue;
        }
        let items = record.items.iter().map(|item| (giver, item));
        let _locks = match lock_items(items, agent, &waiter.up_to(Duration::ZERO)) {
            Ok(locks) => locks,
            Err(CollectionError::ItemLocked { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let mut is_open = false;
        for item in &record.items {
            match bears_mark(giver, item, &record.token) {
                Ok(is_marked) => is_open |= is_marked,
                Err(error) => {
                    is_open = true;
                    failed.push((item.clone(), error));
                }
            }
        }
        if !is_open {
            let writer = giver.writer(agent, waiter)?;
            JournalRecord { is_lost: true, ..record }.replace(giver, &name)?;
            writer.finish()?;
        }
    }
    Ok(failed)
}

/// Whether the item is here, with the mark of the hand-over of this token.
pub(super) fn bears_mark(
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
