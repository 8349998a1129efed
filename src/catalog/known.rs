//! What the index knows of single items, for those who would else read their sidecars.

use std::collections::HashMap;

use super::CatalogError;
use super::find::{Found, is_as_kept, split};
use crate::collection::{Collection, Years};
use crate::identity::RepositoryName;
use crate::index::{Place, Tables};

/// What the index of a collection knows of single items: nothing that has changed since it has seen
/// them, and nothing at all where there is no index that can be used. It is neither made nor brought up
/// to anything.
pub struct Known<'a> {
    collection: &'a Collection,
    years: Years<'a>,
}

impl<'a> Known<'a> {
    /// What is known of the items of `collection`.
    pub fn new(collection: &'a Collection) -> Known<'a> {
        Known { collection, years: Years::new(collection) }
    }

    /// What is known of each of `names`, spelt as they are on disk: of those whose sidecars could be
    /// read, and are still the ones that were read.
    pub fn of(&mut self, names: &[RepositoryName]) -> Vec<Option<Found>> {
        let years = &mut self.years;
        let known = self.collection.with_index(|index| {
            index.read(|tables| {
                let mut places = HashMap::new();
                let of = |name| one(tables, &mut places, years, name);
                names.iter().map(of).collect::<Result<Vec<_>, CatalogError>>()
            })
        });
        known.ok().flatten().unwrap_or_else(|| vec![None; names.len()])
    }
}

fn one<'n>(
    tables: Tables<'_>,
    places: &mut HashMap<&'n str, Option<Place>>,
    years: &mut Years<'_>,
    name: &'n RepositoryName,
) -> Result<Option<Found>, CatalogError> {
    let (path, leaf) = split(name);
    if !places.contains_key(path) {
        let place = tables.place_if_there(path)?;
        places.insert(path, place.map(|(place, _)| place));
    }
    let Some(place) = places.get(path).copied().flatten() else { return Ok(None) };
    let Some(kept) = tables.kept(place, leaf)? else { return Ok(None) };
    // The caller reads the sidecar instead, and meets the error there.
    let current = kept.state.is_some() && is_as_kept(years, name, &kept).unwrap_or(false);
    Ok(current.then(|| Found::of(name.clone(), kept)))
}
