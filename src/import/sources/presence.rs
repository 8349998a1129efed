//! The place of an imported item.

use super::KnownSources;
use crate::collection::{CollectionError, Departed};
use crate::identity::RepositoryName;
use crate::import::ImportError;
use crate::item::State;

/// The place of an imported item.
#[derive(Debug)]
pub(crate) enum ItemPresence {
    /// In the collection.
    Here,
    /// A tombstone is here: a rerun must not bring the item back, and its bytes may be nowhere else.
    Deleted,
    /// It left, but counts as imported.
    Left(Box<Departed>),
    /// It is missing. The source must not become another item: a repair brings the item back under its own
    /// name, and until then the source may be its only copy.
    Vanished(Box<CollectionError>),
}

impl ItemPresence {
    /// The choice among several lines about one source.
    pub(super) fn rank(&self) -> u8 {
        match self {
            ItemPresence::Deleted => 0,
            ItemPresence::Left(_) => 1,
            ItemPresence::Vanished(_) => 2,
            ItemPresence::Here => 3,
        }
    }
}

impl KnownSources<'_> {
    /// The place of the item of a line; `None` if the line does not count, because there is no other record
    /// of the item.
    ///
    /// An item appears and disappears as a whole, so its payload directory is enough. Its contents are not
    /// checked: that would take a read of the disk for each of a million items. `verify` reports a damaged
    /// item.
    pub(super) fn standing(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<ItemPresence>, ImportError> {
        if self.collection.has_payload_of(name)? {
            return Ok(Some(ItemPresence::Here));
        }
        let error = match self.collection.item(name) {
            Ok(item) => {
                return Ok(Some(match item.sidecar() {
                    Ok((it, _)) if it.state == State::Deleted => ItemPresence::Deleted,
                    Ok((it, _)) if it.state == State::Elsewhere => {
                        let holder = it.custody.holder();
                        ItemPresence::Left(Box::new(Departed::to(holder, name.clone())))
                    }
                    _ => ItemPresence::Here,
                }));
            }
            Err(CollectionError::NoSuchItem { .. }) => self.collection.absent(name),
            Err(error) => error,
        };
        match error {
            CollectionError::NoSuchItem { .. } => Ok(None),
            CollectionError::GivenUp { line, .. } => {
                Ok(Some(ItemPresence::Left(Box::new(Departed::by(*line)))))
            }
            CollectionError::Vanished { .. } => Ok(Some(ItemPresence::Vanished(Box::new(error)))),
            error => Err(error.into()),
        }
    }
}
