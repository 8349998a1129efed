//! One of two Originals becomes a Copy of the other.

use std::ops::ControlFlow;

use toml::Value;

use super::group::{Decision, Step};
use super::{Change, PromotionError, Registrar, Report};
use crate::collection::{
    Collection, CollectionError, Departure, Event, EventKind, InventoryChange, InventoryLine,
    ReadSidecar, StoredItem,
};
use crate::holdings::{Giver, OriginalError, may_be_original, refuse_handover, refuse_put_back};
use crate::identity::RepositoryName;
use crate::item::{State, manifest};
use crate::sidecar::{Sidecar, date_value};

/// Treatment of an Original that differs from the other one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DifferenceRule {
    /// It stays unchanged.
    #[default]
    Refuse,
    /// It moves to the trash as a whole.
    Discard,
}

impl Registrar<'_> {
    /// Makes the Originals called `names` Copies of those that `original` holds, several with the same
    /// syncs.
    pub fn demote_all(
        &self,
        names: &[RepositoryName],
        original: &Collection,
        rule: DifferenceRule,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        self.change_all(names, &|name| self.decide_demotion(name, original, rule), report)
    }

    fn decide_demotion<'c>(
        &self,
        name: &RepositoryName,
        original: &'c Collection,
        rule: DifferenceRule,
    ) -> Result<Option<Decision<'c>>, PromotionError> {
        if self.collection.is_same(original)? {
            return Err(PromotionError::SameCollection(original.path().to_path_buf()));
        }
        let (item, read) = match self.read(name) {
            Err(CollectionError::Left { line, .. })
                if rule == DifferenceRule::Discard && gave_way_to(original, &line) =>
            {
                return Ok(None);
            }
            read => read?,
        };
        let name = item.name().clone();
        let event = self.event(EventKind::Demotion, &name);
        let event = event.with_digest_before(read.sidecar.payload.digest);
        let event = event.with_destination(original);
        let holders = vec![original];
        if !may_be_demoted(&item, &read, original)? {
            // A Copy from a backup may lie in the place of the Original: recording it would hide that loss.
            if self.collection.last_record(&name)?.as_ref().is_none_or(may_be_original) {
                their_original(&name, original)?;
            }
            let step = Step::Nothing(State::Copy);
            return Ok(Some(Decision { item, read, step, witness: None, holders, event }));
        }
        let (their_item, theirs) = their_original(&name, original)?;
        let (step, note) = match (is_same_content(&read.sidecar, &theirs.sidecar), rule) {
            (true, _) => {
                let copy = self.demoted(&read.sidecar, &theirs.sidecar, original);
                (Step::Replace(Box::new(copy), Change::Demoted), None)
            }
            (false, DifferenceRule::Discard) => {
                (Step::Discard(original), Some("its files are in the trash".to_owned()))
            }
            (false, DifferenceRule::Refuse) => {
                let path = original.path().to_path_buf();
                return Err(PromotionError::Different { name, path });
            }
        };
        let witness = Some((their_item, theirs));
        Ok(Some(Decision { item, read, step, witness, holders, event: Event { note, ..event } }))
    }

    /// The sidecar of the Copy that `own` becomes: that of `theirs`, with the times and modes of the own
    /// files.
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
        copy.origin.insert("copied".to_owned(), date_value(self.caller.clock.now()));
        copy
    }
}

/// Whether an earlier run has moved the item to the trash, for the Original that `original` holds.
fn gave_way_to(original: &Collection, line: &InventoryLine) -> bool {
    matches!(&line.change, InventoryChange::Left(Departure::Dropped(to)) if to.id == original.id())
}

/// Whether there is an Original to be demoted; `false` if it is already a Copy of the other one.
fn may_be_demoted(
    item: &StoredItem,
    read: &ReadSidecar,
    original: &Collection,
) -> Result<bool, PromotionError> {
    let (sidecar, name) = (&read.sidecar, || item.name().clone());
    refuse_handover(sidecar)?;
    match sidecar.state {
        State::Original => Ok(true),
        State::Copy if sidecar.made_of() == Some(original.id()) => Ok(false),
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
    if let Some(mark) = &read.sidecar.handover {
        let giver = Giver::of(mark, collection, &[]).into();
        let error = OriginalError::HandedOver { name: name.clone(), path: path(), giver };
        return Err(error.into());
    }
    match read.sidecar.state {
        State::Original => {
            refuse_put_back(item.name(), collection, &read.sidecar)?;
            Ok((item, read))
        }
        State::Deleted => Err(OriginalError::Deleted { name: name.clone(), path: path() }.into()),
        State::Copy => Err(PromotionError::NoOriginalThere { name: name.clone(), path: path() }),
    }
}

fn is_same_content(own: &Sidecar, theirs: &Sidecar) -> bool {
    manifest::content_digest(&own.files) == manifest::content_digest(&theirs.files)
        && own.has_description_of(theirs)
}
