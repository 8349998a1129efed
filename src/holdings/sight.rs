//! The holdings of one item in the collections in sight, as the rule of custody judges them.

use crate::collection::{Collection, CollectionError, Lookup};
use crate::custody::Holding;
use crate::disk::PathError;
use crate::identity::RepositoryName;

/// The holdings of one item in the collections in sight.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    /// Each with the id of its collection.
    pub holdings: Vec<Holding>,
    /// Collections whose holding cannot be read, by their places, and why.
    pub unread: Vec<(usize, CollectionError)>,
}

impl Sight {
    /// Looks for the item `name` in `collections`.
    pub(crate) fn of(name: &RepositoryName, collections: &[&Collection]) -> Sight {
        let mut sight = Sight::default();
        for (at, collection) in collections.iter().enumerate() {
            match look(name, collection) {
                Ok(found) => sight.holdings.extend(found),
                Err(error) => sight.unread.push((at, error)),
            }
        }
        sight
    }

    /// The holdings, or the first error: an error is never an absence.
    pub(crate) fn whole(self) -> Result<Vec<Holding>, CollectionError> {
        match self.unread.into_iter().next() {
            Some((_, error)) => Err(error),
            None => Ok(self.holdings),
        }
    }
}

/// The holding of the item and the latest line about it, which speaks as well: what was put back below it is behind.
fn look(name: &RepositoryName, collection: &Collection) -> Result<Vec<Holding>, CollectionError> {
    let own = match Lookup::new(collection).item(name)? {
        Some(item) => match item.read_sidecar() {
            Ok(read) => Some(item.holding(&read, collection.id())?),
            Err(CollectionError::NoSidecar { .. }) if item.is_no_item(collection)? => None,
            Err(error) => return Err(error),
        },
        None => None,
    };
    let line = line_below(name, collection, own.as_ref())?;
    Ok(own.into_iter().chain(line).collect())
}

/// The latest line of the ledger about the item `name`, as a holding without a directory.
pub(crate) fn line_of(
    collection: &Collection,
    name: &RepositoryName,
) -> Result<Option<Holding>, PathError> {
    line_below(name, collection, None)
}

/// The same, above what lies in the directory of the item, `own`.
pub(super) fn line_below(
    name: &RepositoryName,
    collection: &Collection,
    own: Option<&Holding>,
) -> Result<Option<Holding>, PathError> {
    let recorded = collection.last_record(name)?;
    Ok(recorded.and_then(|line| line.as_holding(collection.id(), own)))
}

/// The holding `own` with the line of its collection: what a change of it alone has in sight.
pub(crate) fn with_line(
    collection: &Collection,
    name: &RepositoryName,
    own: &Holding,
) -> Result<Vec<Holding>, PathError> {
    let line = line_below(name, collection, Some(own))?;
    Ok([own.clone()].into_iter().chain(line).collect())
}
