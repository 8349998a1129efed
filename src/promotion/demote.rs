//! One of two Originals becomes a Copy of the other.

use toml::Value;

use super::{Change, PromotionError, Registrar, date};
use crate::collection::{
    Collection, CollectionError, Departure, Event, EventKind, InventoryChange, ReadSidecar,
    StoredItem,
};
use crate::identity::RepositoryName;
use crate::item::{State, manifest};
use crate::sidecar::Sidecar;

/// What is done with an Original that differs from the other one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DifferenceRule {
    /// It stays as it is.
    #[default]
    Refuse,
    /// It goes to the trash as a whole.
    Discard,
}

impl Registrar<'_> {
    /// Makes the Original called `name` a Copy of the one that `original` holds.
    pub fn demote(
        &self,
        name: &RepositoryName,
        original: &Collection,
        rule: DifferenceRule,
    ) -> Result<Change, PromotionError> {
        if self.interrupt.requested() {
            return Err(PromotionError::Interrupted);
        }
        let is_own = self.collection.id() == original.id()
            || self.collection.root().own_stamp()?.identity
                == original.root().own_stamp()?.identity;
        if is_own {
            return Err(PromotionError::SameCollection(original.path().to_path_buf()));
        }
        let (item, read) = self.read(name)?;
        let name = item.name();
        if !may_be_demoted(&item, &read, original)? {
            return self.done_before(name, State::Copy);
        }
        let (their_item, theirs) = their_original(name, original)?;
        let change = match (is_same(&read.sidecar, &theirs.sidecar), rule) {
            (true, _) => Change::Demoted,
            (false, DifferenceRule::Discard) => Change::Discarded,
            (false, DifferenceRule::Refuse) => {
                let path = original.path().to_path_buf();
                return Err(PromotionError::Different { name: name.clone(), path });
            }
        };
        self.prove(original, &their_item)?;
        let Some(writer) = self.writer else { return Ok(change) };
        let _locks = self.lock(name, std::iter::once(original))?;
        let (item, now) = self.read(name)?;
        let (_, theirs_now) = their_original(name, original)?;
        if now.text != read.text || theirs_now.text != theirs.text {
            return Err(self.changed(name));
        }
        if change == Change::Demoted {
            let copy = self.demoted(&now.sidecar, &theirs.sidecar, original);
            self.replace(writer, &item, &now, &copy)?;
        } else {
            let _changing = writer.changing(self.collection, vec![name.clone()]);
            let (year, leaf) = self.collection.year_of(item.name())?;
            let left = InventoryChange::Left(Departure::Dropped(original.as_destination()));
            self.collection.record([(item.name().clone(), left)], self.clock)?;
            self.collection.throw_away_copy(item.name(), &year, &leaf)?;
        }
        let event = self.event(EventKind::Demotion, item.name());
        let event = event.with_digest_before(now.sidecar.payload.digest);
        let note = (change == Change::Discarded).then(|| "its files are in the trash".to_owned());
        self.collection.note(&[Event { to: Some(original.id().to_owned()), note, ..event }]);
        Ok(change)
    }

    /// The sidecar of the Copy that `own` becomes: what `theirs` says, and what the own files have for
    /// times and modes.
    fn demoted(&self, own: &Sidecar, theirs: &Sidecar, original: &Collection) -> Sidecar {
        let mut copy = Sidecar {
            state: State::Copy,
            repository: own.repository.clone(),
            payload: own.payload,
            files: own.files.clone(),
            handover: None,
            ..theirs.clone()
        };
        copy.origin.remove("through");
        copy.origin.insert("collection".to_owned(), Value::String(original.id().to_owned()));
        copy.origin.insert("copied".to_owned(), date(self.clock.now()));
        copy
    }
}

/// Whether there is an Original to be demoted; not if it is a Copy of the other one already.
fn may_be_demoted(
    item: &StoredItem,
    read: &ReadSidecar,
    original: &Collection,
) -> Result<bool, PromotionError> {
    let (sidecar, name) = (&read.sidecar, || item.name().clone());
    if let Some(handover) = &sidecar.handover {
        return Err(PromotionError::HandoverOpen { name: name(), party: handover.party.clone() });
    }
    let made_of = sidecar.origin.get("collection").and_then(Value::as_str);
    match sidecar.state {
        State::Original => Ok(true),
        State::Copy if made_of == Some(original.id()) => Ok(false),
        state => Err(PromotionError::NotAnOriginal { name: name(), state }),
    }
}

/// The Original that `collection` holds.
fn their_original(
    name: &RepositoryName,
    collection: &Collection,
) -> Result<(StoredItem, ReadSidecar), PromotionError> {
    let path = || collection.path().to_path_buf();
    let item = match collection.item(name) {
        Ok(item) => item,
        Err(CollectionError::NoSuchItem { .. }) => {
            return Err(PromotionError::NoOriginalThere { name: name.clone(), path: path() });
        }
        Err(error) => return Err(error.into()),
    };
    let read = item.read_sidecar()?;
    if read.sidecar.handover.is_some() {
        return Err(PromotionError::HandedOverElsewhere { name: name.clone(), path: path() });
    }
    match read.sidecar.state {
        State::Original => Ok((item, read)),
        State::Deleted => {
            Err(PromotionError::DeletedElsewhere { name: name.clone(), path: path() })
        }
        State::Copy => Err(PromotionError::NoOriginalThere { name: name.clone(), path: path() }),
    }
}

fn is_same(own: &Sidecar, theirs: &Sidecar) -> bool {
    manifest::content_digest(&own.files) == manifest::content_digest(&theirs.files)
        && own.description_digest() == theirs.description_digest()
}
