//! Marks of hand-overs that no record mentions any more: a collection was restored from a backup made during one.

use std::ops::ControlFlow;
use std::time::Duration;

use super::{TransferError, journal, sidecars};
use crate::agent::Agent;
use crate::collection::{
    Collection, CollectionError, Event, EventKind, Lookup, Names, ReadSidecar, lock_items,
};
use crate::disk::PathError;
use crate::holdings::Peers;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{Party, Seal};
use crate::wait::Waiter;

/// The Copies in `receiver` with the mark of a hand-over that its giver does not know of: the giver has the Original,
/// without a mark and without a record of the hand-over.
///
/// Reads every sidecar. None if a known collection cannot be opened: that may be the giver, and what is known a
/// backup of it.
pub fn abandoned(
    receiver: &Collection,
    known: Peers<'_>,
) -> Result<Vec<RepositoryName>, TransferError> {
    let mut found = Vec::new();
    if known.collections.is_empty() || !known.missing.is_empty() {
        return Ok(found);
    }
    // Verification reports directories that cannot be listed.
    let _ = receiver.visit_names::<PathError>(&Names::default(), |name| {
        found.push(name);
        Ok(ControlFlow::Continue(()))
    });
    let mut abandoned = Vec::new();
    for name in found {
        let Some(read) = received(receiver, &name) else { continue };
        if !givers(&read, receiver, known).is_empty() && is_unknown(&name, &read, receiver, known)?
        {
            abandoned.push(name);
        }
    }
    Ok(abandoned)
}

/// Takes these marks away, unless a process at work uses the item or it has changed since.
pub fn withdraw_abandoned(
    receiver: &Collection,
    names: &[RepositoryName],
    known: Peers<'_>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<Vec<RepositoryName>, TransferError> {
    let mut withdrawn = Vec::new();
    for name in names {
        let Some(read) = received(receiver, name) else { continue };
        let givers = givers(&read, receiver, known);
        let both = givers.into_iter().chain([receiver]).map(|side| (side, name));
        let locks = match lock_items(both, agent, &waiter.up_to(Duration::ZERO)) {
            Ok(locks) => locks,
            Err(CollectionError::ItemLocked { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let Some(item) = locks.item(&Lookup::new(receiver), name)? else { continue };
        let is_same = item.has_version(read.version)?;
        if !is_same || !is_unknown(name, &read, receiver, known)? {
            continue;
        }
        let text = sidecars::text(name, &read, &sidecars::unmarked(&read.sidecar))?;
        let writer = receiver.writer(agent, waiter)?;
        writer.replace_sidecar(&item, &text)?;
        writer.finish()?;
        let event = Event::new(EventKind::Recovery, name, waiter.clock.now(), agent);
        let note = Some("an abandoned hand-over was withdrawn".to_owned());
        receiver.note(&[Event { note, ..event }]);
        withdrawn.push(name.clone());
    }
    Ok(withdrawn)
}

/// The sidecar of a Copy that is being received.
fn received(receiver: &Collection, name: &RepositoryName) -> Option<ReadSidecar> {
    let read = receiver.item(name).and_then(|item| item.read_sidecar()).ok()?;
    let is_marked = read.sidecar.handover.as_ref();
    let is_marked = is_marked.is_some_and(|mark| matches!(mark.party, Party::From(_)));
    (is_marked && read.seal == Seal::Intact && read.sidecar.state == State::Copy).then_some(read)
}

/// The collections with the id of the giver; one may be a backup of another.
fn givers<'a>(read: &ReadSidecar, receiver: &Collection, known: Peers<'a>) -> Vec<&'a Collection> {
    let party = read.sidecar.handover.as_ref().map(|mark| &mark.party);
    let is_giver = |it: &&Collection| {
        it.id() != receiver.id() && party == Some(&Party::From(it.id().to_owned()))
    };
    known.collections.iter().filter(is_giver).collect()
}

/// Whether all givers have the Original without a mark, and no record of the hand-over.
fn is_unknown(
    name: &RepositoryName,
    read: &ReadSidecar,
    receiver: &Collection,
    known: Peers<'_>,
) -> Result<bool, TransferError> {
    let token = read.sidecar.handover.as_ref().map(|mark| &*mark.token);
    for giver in givers(read, receiver, known) {
        let Ok(given) = giver.item(name).and_then(|item| item.read_sidecar()) else {
            return Ok(false);
        };
        let is_original =
            given.sidecar.state == State::Original && given.sidecar.handover.is_none();
        if given.seal != Seal::Intact || !is_original {
            return Ok(false);
        }
        for journal in journal::names(giver)? {
            if journal::read(giver, &journal)?.is_some_and(|it| Some(&*it.token) == token) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
