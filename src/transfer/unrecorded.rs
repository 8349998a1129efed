//! Marks of hand-overs that no journal records any more: a collection was restored from a backup made during one, or
//! the journal of the giver is lost.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use super::TransferError;
use super::journal::{self, JournalRecord};
use super::recovery::Finished;
use crate::agent::Agent;
use crate::collection::{Collection, CollectionError, Names, lock_items};
use crate::disk::PathError;
use crate::holdings::{OriginalError, Peers, UnseenRule};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{Handover, Party, Seal};
use crate::wait::Waiter;

/// The items of `collection` with the mark of a hand-over that no record of a known giver mentions.
///
/// Reads every sidecar.
pub fn unrecorded(
    collection: &Collection,
    known: Peers<'_>,
) -> Result<Vec<RepositoryName>, TransferError> {
    let mut found = Vec::new();
    for mut marked in all_marked(collection) {
        marked.drop_recorded(marked.sides(collection, known).0)?;
        found.extend(marked.names);
    }
    Ok(found)
}

/// Records these hand-overs again, so that they can be finished like any other. Items that a running process has
/// locked are left to it. Returns the givers, and the reasons why the other hand-overs cannot be finished now.
pub fn record_again<'a>(
    collection: &'a Collection,
    known: Peers<'a>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<(Vec<&'a Collection>, Vec<Finished>), TransferError> {
    let (mut givers, mut open) = (Vec::<&Collection>::new(), Vec::new());
    for mut marked in all_marked(collection) {
        let sides = marked.sides(collection, known);
        marked.drop_recorded(sides.0)?;
        let refusal = marked.names.iter().find_map(|name| known.check_seen(name).err());
        let (Some(giver), Some(receiver), None) = (sides.0, sides.1, refusal) else {
            open.extend(marked.names.iter().map(|name| Finished {
                name: Some(name.clone()),
                result: Err(marked.refusal(name, collection, known)),
            }));
            continue;
        };
        let both = marked.names.iter().flat_map(|name| [(giver, name), (receiver, name)]);
        let _locks = match lock_items(both, agent, &waiter.up_to(Duration::ZERO)) {
            Ok(locks) => locks,
            Err(CollectionError::ItemLocked { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        // Another process may have finished it before the locks were taken.
        marked
            .names
            .retain(|name| mark_of(collection, name).is_some_and(|it| it.token == marked.token));
        marked.drop_recorded(Some(giver))?;
        if known.unseen == UnseenRule::Refuse {
            open.extend(marked.drop_untraced(giver, receiver, known));
        }
        if marked.names.is_empty() {
            continue;
        }
        let record = JournalRecord {
            token: marked.token,
            to: receiver.id().to_owned(),
            to_path: receiver.path().to_path_buf(),
            // The choice is lost with the record: a Copy that stays loses nothing.
            leave_copy: true,
            renames: false,
            is_lost: false,
            items: marked.names,
            before: Vec::new(),
        };
        let writer = giver.writer(agent, waiter)?;
        record.begin(giver)?;
        writer.finish()?;
        if givers.iter().all(|it| it.id() != giver.id()) {
            givers.push(giver);
        }
    }
    Ok((givers, open))
}

/// Items with the mark of one hand-over.
struct Marked {
    token: String,
    party: Party,
    names: Vec<RepositoryName>,
}

impl Marked {
    /// The giver and the receiver, if they are known.
    fn sides<'a>(
        &self,
        collection: &'a Collection,
        known: Peers<'a>,
    ) -> (Option<&'a Collection>, Option<&'a Collection>) {
        let is_other = |it: &&Collection| it.id() == self.party.id() && it.id() != collection.id();
        let other = known.collections.iter().find(is_other);
        match self.party {
            Party::From(_) => (other, Some(collection)),
            Party::To(_) => (Some(collection), other),
        }
    }

    /// Drops the items that a record of `giver` lists.
    fn drop_recorded(&mut self, giver: Option<&Collection>) -> Result<(), PathError> {
        let Some(giver) = giver else { return Ok(()) };
        for journal in journal::names(giver)? {
            // An unusable record is reported when hand-overs are finished.
            if let Ok(Some(record)) = journal::read(giver, &journal)
                && record.token == self.token
            {
                self.names.retain(|name| !record.items.contains(name));
            }
        }
        Ok(())
    }

    /// Leaves out the items that neither the giver nor a third known collection has as more than a Copy. The receiver
    /// may have passed them on before it was restored, to a collection that no record names: a person has to say
    /// that this did not happen.
    fn drop_untraced(
        &mut self,
        giver: &Collection,
        receiver: &Collection,
        known: Peers<'_>,
    ) -> Vec<Finished> {
        let has_more = |collection: &Collection, name: &RepositoryName| {
            let read = collection.item(name).and_then(|item| item.read_sidecar());
            read.is_ok_and(|read| read.sidecar.state != State::Copy)
        };
        let others = || known.collections.iter().filter(|it| it.id() != receiver.id());
        let is_traced = |name: &RepositoryName| {
            has_more(giver, name) || others().any(|other| has_more(other, name))
        };
        let names = std::mem::take(&mut self.names).into_iter();
        let (kept, untraced): (_, Vec<_>) = names.partition(is_traced);
        self.names = kept;
        let refused = |name: RepositoryName| {
            let path = giver.path().to_path_buf();
            let untraced = OriginalError::Untraced { name: name.clone(), path };
            Finished { name: Some(name), result: Err(untraced.into()) }
        };
        untraced.into_iter().map(refused).collect()
    }

    /// Why the hand-over of `name` cannot be finished now.
    fn refusal(&self, name: &RepositoryName, here: &Collection, known: Peers<'_>) -> TransferError {
        match known.check_seen(name) {
            Err(unseen) => unseen.into(),
            Ok(()) => TransferError::OtherSideUnknown {
                name: name.clone(),
                path: here.path().to_path_buf(),
                party: self.party.clone(),
            },
        }
    }
}

/// The marked items, grouped by token, without those of directories that cannot be listed: verification reports
/// these.
fn all_marked(collection: &Collection) -> Vec<Marked> {
    let mut marked = BTreeMap::<String, Marked>::new();
    let _ = collection.visit_names::<PathError>(&Names::default(), |name| {
        if let Some(Handover { token, party }) = mark_of(collection, &name) {
            let of_token = || Marked { token: token.clone(), party, names: Vec::new() };
            marked.entry(token.clone()).or_insert_with(of_token).names.push(name);
        }
        Ok(ControlFlow::Continue(()))
    });
    marked.into_values().collect()
}

/// The mark of a Copy with an intact sidecar.
fn mark_of(collection: &Collection, name: &RepositoryName) -> Option<Handover> {
    let read = collection.item(name).and_then(|item| item.read_sidecar()).ok()?;
    let is_copy = read.seal == Seal::Intact && read.sidecar.state == State::Copy;
    read.sidecar.handover.filter(|_| is_copy)
}
