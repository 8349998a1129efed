//! What the index knows of single items, for those who would else read their sidecars.

use std::collections::HashMap;

use super::CatalogError;
use super::find::{Found, Years, split};
use crate::collection::Collection;
use crate::identity::RepositoryName;
use crate::index::{Place, Snapshot};

/// What the index knows of single items: nothing that has changed since it has seen them.
pub struct Known<'a> {
    /// Nothing where there is no index.
    index: Option<(Snapshot<'a>, Years<'a>)>,
    /// Places by their paths.
    places: HashMap<String, Option<Place>>,
}

/// Calls `act` with what the index of `collection` knows; that is nothing where there is none, or none
/// that can be used: it is neither made nor brought up to anything.
pub fn with_known<T>(collection: &Collection, act: impl FnOnce(&mut Known<'_>) -> T) -> T {
    let mut act = Some(act);
    let done = collection.with_index(|index| {
        let index = Some((index.snapshot()?, Years::new(collection)));
        let mut known = Known { index, places: HashMap::new() };
        Ok::<_, CatalogError>(act.take().map(|act| act(&mut known)))
    });
    match (done, act) {
        (Ok(Some(Some(done))), _) => done,
        (_, Some(act)) => act(&mut Known { index: None, places: HashMap::new() }),
        (_, None) => unreachable!("because it was called, and what it returned is in `done`"),
    }
}

impl Known<'_> {
    /// What is known of the item `name`, spelt as it is on disk, if its sidecar could be read and is
    /// the one that was read.
    pub fn of(&mut self, name: &RepositoryName) -> Option<Found> {
        let (snapshot, years) = self.index.as_mut()?;
        let tables = snapshot.tables();
        let (path, leaf) = split(name);
        if !self.places.contains_key(path) {
            let place = tables.place_if_there(path).ok()?.map(|(place, _)| place);
            self.places.insert(path.to_owned(), place);
        }
        let place = self.places.get(path).copied().flatten();
        let kept = tables.kept(place?, leaf).ok()??;
        let current = kept.state.is_some() && years.is_as_kept(name, &kept).ok()?;
        current.then(|| Found::of(name.clone(), kept))
    }
}
