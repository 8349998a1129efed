//! The destination of a deposit, as far as sources are concerned.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{DepositError, SourceResolver, SourceRule};
use crate::clock::Clock;
use crate::collection::{Collection, CollectionError, Label, discover};
use crate::disk::{Links, PathError, resolved};
use crate::flow::{Footprint, Lacking, Reservation, Reservations};
use crate::holdings::{Arrival, Peers};
use crate::identity::{RepositoryName, SECOND};
use crate::layout;

/// The collection, and its real path.
#[derive(Debug)]
pub struct DepositTarget<'a> {
    pub(super) collection: &'a Collection,
    peers: Peers<'a>,
    root: PathBuf,
    /// The places of new items now, one for each subsystem.
    news: Vec<PathBuf>,
    /// Set once one of them was found on the same file system.
    reached: OnceLock<()>,
    resolver: Mutex<SourceResolver>,
    /// The last directory of sources that is outside all collections.
    outside: Mutex<PathBuf>,
    /// The reservations on its file system.
    pending: Arc<Reservations>,
}

impl<'a> DepositTarget<'a> {
    /// The place of `collection`. `peers` are the collections to check for given names.
    pub fn new(
        collection: &'a Collection,
        peers: Peers<'a>,
        clock: &dyn Clock,
    ) -> Result<DepositTarget<'a>, CollectionError> {
        let root = resolved(collection.path())?;
        let now = clock.now().floor(SECOND);
        let mut news = Vec::new();
        for subsystem in &collection.settings().subsystems {
            // The distributor reports a clock that prevents issuing.
            if let Ok(name) = RepositoryName::new(&subsystem.prefix()?, now) {
                news.push(layout::item_directory(&name));
            }
        }
        Ok(DepositTarget {
            collection,
            peers,
            root,
            news,
            reached: OnceLock::new(),
            resolver: Mutex::default(),
            outside: Mutex::default(),
            pending: Arc::default(),
        })
    }

    /// The collection.
    pub(crate) fn collection(&self) -> &'a Collection {
        self.collection
    }

    /// The other collections to check for given names.
    pub(super) fn peers(&self) -> &'a [Collection] {
        self.peers.collections
    }

    /// Makes sure that `name`, which no item here has, is new to this collection and to its peers.
    pub(crate) fn check_never_held(&self, name: &RepositoryName) -> Result<(), DepositError> {
        self.collection.check_never_held(name)?;
        Ok(self.peers.check_unused(name, Some(self.collection), Arrival::Named)?)
    }

    /// Makes sure that the file system has room for `footprint` beside items in flight.
    pub(super) fn check_room(&self, path: &Path, footprint: Footprint) -> Result<(), DepositError> {
        let lacking = self.pending.lacking(self.collection.root(), footprint)?;
        lacking.map_or(Ok(()), |lacking| Err(self.no_room(path, lacking)))
    }

    /// Reserves room for an item made of `path`, with a payload of `bytes` in `entries` entries.
    pub(super) fn reserve(
        &self,
        path: &Path,
        bytes: u64,
        entries: usize,
    ) -> Result<Reservation, DepositError> {
        let reserved = self.pending.reserve(self.collection.root(), bytes, (entries, 1))?;
        reserved.map_err(|lacking| self.no_room(path, lacking))
    }

    fn no_room(&self, path: &Path, lacking: Lacking) -> DepositError {
        lacking.of(path.display(), self.collection.path()).into()
    }

    /// Makes sure that an item, with a given or a new name, can be moved to its place. The subsystem of a new
    /// name is not known here, so one reachable place is enough.
    pub(super) fn check_reach(&self, label: Option<&Label>) -> Result<(), PathError> {
        match label {
            Some(label) => self.collection.check_reach(&layout::item_directory(&label.name)),
            None if self.reached.get().is_some() => Ok(()),
            None => {
                let mut refused = None;
                for item in &self.news {
                    match self.collection.check_reach(item) {
                        Ok(()) => {
                            self.reached.get_or_init(|| ());
                            return Ok(());
                        }
                        Err(error) => refused = refused.or(Some(error)),
                    }
                }
                refused.map_or(Ok(()), Err)
            }
        }
    }

    /// Makes sure that neither source nor collection lies in the other, and that no other collection loses anything
    /// if the source goes.
    pub(super) fn check_apart(
        &self,
        path: &Path,
        links: Links,
        rule: SourceRule,
    ) -> Result<(), DepositError> {
        let source = match links {
            Links::Follow => resolved(path)?,
            Links::Keep | Links::AsIs | Links::Skip | Links::Refuse => self.resolved(path)?,
        };
        match rule {
            SourceRule::Keep => self.check_apart_at(path, &source),
            SourceRule::Remove => self.check_takeable(path, &source),
        }
    }

    /// Makes sure that no collection loses anything when `path`, whose real path is `source`, is moved or
    /// removed.
    pub(crate) fn check_takeable(&self, path: &Path, source: &Path) -> Result<(), DepositError> {
        self.check_apart_at(path, source)?;
        let above = source.parent().unwrap_or(source);
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        let found = if *outside == above { None } else { discover::around(above)? };
        if found.is_none() {
            above.clone_into(&mut outside);
        }
        drop(outside);
        match found.map_or_else(|| discover::within(source), |found| Ok(Some(found)))? {
            Some(collection) => {
                Err(DepositError::OfCollection { path: path.to_path_buf(), collection })
            }
            None => Ok(()),
        }
    }

    fn check_apart_at(&self, path: &Path, source: &Path) -> Result<(), DepositError> {
        let collection = || self.collection.path().to_path_buf();
        if let Ok(below) = source.strip_prefix(&self.root) {
            let (path, collection) = (path.to_path_buf(), collection());
            return Err(if self.collection.is_stray(below) {
                DepositError::Stray { path, collection }
            } else {
                DepositError::InCollection { path, collection }
            });
        }
        if self.root.starts_with(source) {
            return Err(DepositError::HoldsCollection {
                path: path.to_path_buf(),
                collection: collection(),
            });
        }
        Ok(())
    }

    /// The real path of `path`, without resolving a final link: such a source is refused later.
    pub(super) fn resolved(&self, path: &Path) -> Result<PathBuf, PathError> {
        self.resolver.lock().unwrap_or_else(PoisonError::into_inner).resolved(path)
    }
}
