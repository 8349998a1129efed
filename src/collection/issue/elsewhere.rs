//! Names dated in the future that other collections have, while a memory is taken back, begun or in doubt.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::collection::names::tree::PrefixTree;
use crate::collection::{Collection, CollectionError, Series};
use crate::disk::{Dir, PathError, resolved};
use crate::distributor::{self, Elsewhere, Names, Newest, RecordedDates, known_ahead};
use crate::identity::{IbipPrefix, Instant};
use crate::layout;

/// Another collection that may have names of a prefix.
#[derive(Clone, Debug)]
pub(in crate::collection) struct Peer {
    /// Its id, if it has issued some and so has to be looked at.
    pub id: Option<String>,
    pub root: PathBuf,
}

/// The names of a prefix in a collection and around it.
pub(in crate::collection) struct NamesAround<'a> {
    pub tree: PrefixTree<'a>,
    /// The prefix of their IBIps, which names of another host may have had.
    pub ibips: Option<IbipPrefix>,
    /// The directory of their memory, which the caller has read.
    pub memory: PathBuf,
    /// Collections that are looked at where the memory is taken back, begun or in doubt.
    pub peers: Vec<Peer>,
}

impl Names for NamesAround<'_> {
    fn state(&self, now: Instant) -> Result<String, PathError> {
        self.tree.state(now)
    }

    fn newest(&self, limit: Instant) -> Result<Newest, PathError> {
        self.tree.newest(limit)
    }

    fn recorded(&self, since: Option<Instant>, now: Instant) -> Result<RecordedDates, PathError> {
        self.tree.recorded(since, now)
    }

    fn ahead(&self, now: Instant) -> Result<BTreeSet<Instant>, PathError> {
        let next_year = now.civil().year + 1;
        let dates = self.tree.ahead(now)?.into_iter();
        Ok(dates.filter(|date| date.civil().year <= next_year).collect())
    }

    fn elsewhere(
        &self,
        sharing: Option<&BTreeMap<String, PathBuf>>,
        now: Instant,
    ) -> Result<Elsewhere, PathError> {
        let PrefixTree { mirrors, collection, .. } = &self.tree;
        let mut elsewhere = Elsewhere::default();
        for mirror in *mirrors {
            // A memory that it shared may be gone with the collection that is lost.
            if self.add_dates_of(mirror, now, &mut elsewhere.dates).is_err() {
                elsewhere.unseen.push(mirror.path().to_path_buf());
            }
        }
        let Some(sharing) = sharing else { return Ok(elsewhere) };
        let looked_at: Vec<_> = mirrors.iter().chain(*collection).map(Collection::id).collect();
        let sharing = sharing.iter();
        let sharing = sharing.map(|(id, root)| Peer { id: Some(id.clone()), root: root.clone() });
        for Peer { id, root } in self.peers.iter().cloned().chain(sharing) {
            if id.as_deref().is_some_and(|id| looked_at.contains(&id)) {
                continue;
            }
            let peer = Collection::open(&root, &self.tree.root.watcher());
            let seen = peer.and_then(|peer| {
                check_id(&peer, id.as_deref())?;
                self.add_dates_of(&peer, now, &mut elsewhere.dates)
            });
            // The disk of a mirror may not be mounted.
            if seen.is_err() && id.is_some() && !elsewhere.unseen.contains(&root) {
                elsewhere.unseen.push(root);
            }
        }
        Ok(elsewhere)
    }
}

impl<'a> NamesAround<'a> {
    /// The same names, with those that `mirrors` hold and those of `peers`.
    pub(super) fn with_mirrors(
        &self,
        mirrors: &'a [Collection],
        peers: Vec<Peer>,
    ) -> NamesAround<'a> {
        let PrefixTree { root, prefix, collection, .. } = &self.tree;
        let tree = PrefixTree { root, prefix: prefix.clone(), mirrors, collection: *collection };
        NamesAround { tree, ibips: self.ibips.clone(), memory: self.memory.clone(), peers }
    }

    /// Adds the dates after `now` of the names that are in `collection`, that its inventory has recorded, and that its
    /// memory has given last or reserved; after an error, those that could be read.
    fn add_dates_of(
        &self,
        collection: &Collection,
        now: Instant,
        dates: &mut BTreeSet<Instant>,
    ) -> Result<(), CollectionError> {
        let (prefix, mut prefixes) = (&self.tree.prefix, vec![self.tree.prefix.clone()]);
        let (names, ibips) = (Series::Names(prefix.clone()), self.ibips.clone().map(Series::Ibips));
        let mut memories = Vec::new();
        for subsystem in &collection.settings().subsystems {
            let is_same = names.is_of(subsystem);
            if is_same || ibips.as_ref().is_some_and(|ibips| ibips.is_of(subsystem)) {
                memories.push((subsystem.prefix()?, &subsystem.distributor));
                prefixes.extend(if is_same { None } else { Some(subsystem.prefix()?) });
            }
        }
        for prefix in &prefixes {
            dates.extend(PrefixTree::new(collection.root(), prefix.clone()).ahead(now)?);
            collection.visit_recorded(prefix, Some(now), |name| {
                dates.extend(Some(name.instant()).filter(|date| *date > now));
            })?;
        }
        for (prefix, shared) in memories {
            let dir = match shared {
                Some(shared) => {
                    Some(Dir::open(&collection.path().join(shared), collection.watcher())?)
                }
                None => collection.own_dir(layout::DISTRIBUTOR)?,
            };
            let Some(dir) = dir else { continue };
            let is_same = prefix.subsystem() == self.tree.prefix.subsystem();
            if !is_same || resolved(dir.path())? != self.memory {
                dates.extend(known_ahead(&dir, &prefix, now)?);
            }
        }
        Ok(())
    }
}

impl Collection {
    /// The other collections that have issued names from a memory of this one, by id.
    pub fn sharing(&self) -> Result<BTreeMap<String, PathBuf>, CollectionError> {
        let mut sharing = BTreeMap::new();
        for subsystem in &self.settings().subsystems {
            if let Some(shared) = &subsystem.distributor {
                let dir = Dir::open(&self.path().join(shared), self.watcher())?;
                sharing.extend(distributor::sharing(&dir, &subsystem.prefix()?)?);
            }
        }
        sharing.remove(self.id());
        Ok(sharing)
    }
}

fn check_id(peer: &Collection, id: Option<&str>) -> Result<(), CollectionError> {
    if id.is_some_and(|id| id != peer.id()) {
        return Err(CollectionError::NotACollection { path: peer.path().to_path_buf() });
    }
    Ok(())
}
