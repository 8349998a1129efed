//! The holdings and lines of one item, as the table of remedies takes them.

use super::sight::line_below;
use crate::collection::{Collection, CollectionError, Lookup};
use crate::custody::remedy::{Damage, Line, Place};
use crate::custody::{Has, Holding};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{Seal, SidecarError};

/// The item `name` in those of `collections` that can be read. What cannot be read is not in sight: `unread` gets its place in
/// `collections` and the reason. The payload is not read: damage to its bytes is for the caller to add.
pub fn places(
    name: &RepositoryName,
    collections: &[&Collection],
    unread: &mut Vec<(usize, CollectionError)>,
) -> Vec<Place> {
    let mut places = Vec::new();
    for (at, collection) in collections.iter().enumerate() {
        match place(name, collection) {
            Ok(place) => places.push(place),
            Err(error) => unread.push((at, error)),
        }
    }
    places
}

fn place(name: &RepositoryName, collection: &Collection) -> Result<Place, CollectionError> {
    let recorded = collection.last_record(name)?;
    let (here, damage) = match directory(name, collection) {
        // It never was an item here: `adopt` may make it one.
        Err(CollectionError::NoSidecar { .. }) if recorded.is_none() => (None, None),
        Err(CollectionError::NoSidecar { .. }) => (None, Some(without_sidecar(name, collection)?)),
        found => found?,
    };
    let line = match &recorded {
        Some(event) if event.is_loss() => Some(Line::Loss),
        Some(event) => {
            let is_bare = matches!(event.state(), Some(State::Elsewhere | State::Deleted));
            let line = line_below(name, collection, here.as_ref())?;
            line.map(if is_bare { Line::Bare } else { Line::Payload })
        }
        None => None,
    };
    let is_put_back = collection.is_ledger_put_back()?;
    Ok(Place { at: collection.id().to_owned(), here, damage, line, is_put_back })
}

/// The holding in the directory of the item, or its damage.
fn directory(
    name: &RepositoryName,
    collection: &Collection,
) -> Result<(Option<Holding>, Option<Damage>), CollectionError> {
    let Some(item) = Lookup::new(collection).item(name)? else { return Ok((None, None)) };
    let read = match item.read_sidecar() {
        Ok(read) => read,
        Err(CollectionError::Disk(error)) => return Err(error.into()),
        Err(CollectionError::NoSidecar { .. }) if item.is_no_item(collection)? => {
            return Ok((None, None));
        }
        Err(error @ CollectionError::NoSidecar { .. }) => return Err(error),
        // A later urepo reads it: nothing here replaces it.
        Err(error @ CollectionError::Sidecar { cause: SidecarError::NewerFormat { .. }, .. }) => {
            return Err(error);
        }
        // The payload of another item is none of this one.
        Err(CollectionError::OtherSidecar { .. }) => return Ok((None, Some(Damage::Stranger))),
        Err(_) if item.has_payload()? => return Ok((None, Some(Damage::Sidecar))),
        Err(_) => return Ok((None, Some(Damage::Stranger))),
    };
    let holding = item.holding(&read, collection.id())?;
    Ok(match (holding.has, read.seal) {
        (Has::Damaged, Seal::Intact) => (None, Some(Damage::Payload)),
        (Has::Damaged, _) if item.has_payload()? => (None, Some(Damage::Sidecar)),
        (Has::Damaged, _) => (None, Some(Damage::Stranger)),
        _ => (Some(holding), None),
    })
}

/// The damage of a directory without a sidecar.
fn without_sidecar(
    name: &RepositoryName,
    collection: &Collection,
) -> Result<Damage, CollectionError> {
    let item = Lookup::new(collection).item(name)?;
    let has_payload = item.map_or(Ok(false), |item| item.has_payload())?;
    Ok(if has_payload { Damage::Sidecar } else { Damage::Stranger })
}
