//! A collection: a root directory that holds items.
//!
//! | folder | answers |
//! |---|---|
//! | `setup` | how a collection is created, found and described in `urepo.toml`, and its own directory |
//! | `names` | which items are here, and how one is found by its name |
//! | `issue` | how identifiers are issued |
//! | `change` | how items are staged, published, locked and changed, and how killed runs are cleaned up |
//! | `trash` | where deleted and replaced data lies until it is purged |
//! | `ledger` | what happened, and so which items should be here |
//!
//! [`Collection::open`] opens a collection, [`Collection::visit_names`] streams the names of its items, and
//! [`Collection::item`] opens one of them.

mod change;
mod error;
mod issue;
mod item;
mod kept_sidecars;
mod ledger;
mod names;
mod setup;
mod trash;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use crate::clock::Clock;
use crate::custody::CustodyId;
use crate::digest::Digest;
use crate::disk::{Dir, IoContext, Kind, PathError, Watcher, random_bytes, resolved};
use crate::layout;
use crate::wait::Waiter;

pub(crate) use change::draft::{Arriving, Draft, GroupFailure, Partial, StagedItem, Year, Years};
pub(crate) use change::group::{Change, Line, Outcomes, Rewrite, Swap, carry_out};
pub(crate) use change::items_at_a_time;
pub use change::left_overs::{LeftOver, Life, Recovered, left_overs, recover};
pub(crate) use change::locked::LockedItem;
pub use change::locks::{ChangeLocks, lock_changes, lock_changes_with};
pub use change::stopped::Stopped;
pub use change::unlisted::LeftAlone;
pub(crate) use change::unlisted::strays_in;
pub use change::writer::Writer;
pub use error::{CollectionError, SettingsError};
pub use issue::issuer::{IssueOptions, IssuePurpose, Issuer, Label, Memory};
pub use issue::spatial::{Spread, Takes};
pub use item::StoredItem;
pub(crate) use item::{ReadSidecar, SidecarFileError, read_sidecar};
#[cfg(feature = "serve")]
pub(crate) use kept_sidecars::{KeptSidecar, SidecarCache};
pub use ledger::changed::LoggedChange;
pub(crate) use ledger::changed::is_logged_as;
pub use ledger::{
    Actual, CollectionRef, Corrected, Correction, Departed, Deviation, Discrepancy, Event,
    EventKind, Here, ImportedSource, LedgerStanding, NoteFault, Unlogged, of_id,
};
pub(crate) use ledger::{IMPORTED, ImportReader, SOURCE};
pub use names::list::{Listed, Names};
pub(crate) use names::list::{listing_order, visit_tree};
pub(crate) use names::lookup::Lookup;
pub use names::year_dir_cache::Payloads;
pub(crate) use names::year_dir_cache::YearDirCache;
pub use setup::archive::{ArchiveSettings, ClientAddress, InternalKey, Scheme, UrlBase};
pub use setup::discover;
pub use setup::id::{IdSource, LostSettings};
pub use setup::init::{Founder, check_place, check_subsystem, init, init_without_names};
use setup::own;
pub use setup::own::{BuiltLedger, Rebuilt};
pub use setup::settings::{Network, Settings, Subsystem};
pub use trash::{TrashContents, Trashed};

/// An open collection. Everything in it is reached through the descriptor of its root.
#[derive(Debug)]
pub struct Collection {
    root: Dir,
    /// urepo's own directory, once it exists.
    own: OnceLock<Dir>,
    /// The listener for rebuilt parts of it.
    listener: own::Listener,
    settings: Settings,
    /// Its id: that in the ledger, else that in the settings.
    id: String,
    /// The place of the index, if the caller has one for it.
    index_path: Option<PathBuf>,
    /// The wait for locks that are held only briefly.
    waiter: Waiter<'static>,
    /// This process released the reserve for deleting.
    reserve_given_up: AtomicBool,
    /// The trash, as last listed.
    trash: Mutex<Option<trash::ListedTrash>>,
    /// The trash, if it was opened.
    open_trash: OnceLock<Dir>,
    /// The replay of the ledger, as far as it was read.
    replay: Mutex<Option<ledger::Replay>>,
    /// The last line of the first item that was asked for, before a second one made a replay worth its time.
    scan: Mutex<Option<ledger::Scan>>,
    /// The note of the head of the ledger outside of the collection, if the caller has a place for it.
    head_note: Option<ledger::HeadNote>,
    /// Appending to the ledger has failed: the next lines begin a new file.
    is_ledger_unsure: Mutex<bool>,
    /// The year that was last found on this file system.
    reached: Mutex<PathBuf>,
    /// Sidecars that this process keeps, if it does.
    sidecars: Option<Arc<dyn kept_sidecars::SidecarCache>>,
}

impl Collection {
    /// Opens the collection whose root is `path`. urepo's own directory in it may be missing: the next change
    /// rebuilds it.
    pub fn open(path: &Path, watcher: &Watcher) -> Result<Collection, CollectionError> {
        let root = match Dir::open(path, watcher.clone()) {
            Ok(root) => root,
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                return Err(CollectionError::NotACollection { path: path.to_path_buf() });
            }
            Err(error) => return Err(error.into()),
        };
        let Some(mut file) = root.open_file_if_there(layout::SETTINGS)? else {
            let path = path.to_path_buf();
            return Err(match root.stat(layout::OWN)? {
                Some(stamp) if stamp.kind == Kind::Directory => {
                    CollectionError::NoSettings { path }
                }
                _ => CollectionError::NotACollection { path },
            });
        };
        let bytes = file.read_all(setup::MAX_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|error| error.to_string());
        let settings = text.and_then(|text| Settings::read(&text)).map_err(|cause| {
            CollectionError::Settings {
                path: root.path_of(layout::SETTINGS),
                cause: SettingsError(cause),
            }
        })?;
        Collection::with_settings(root, settings)
    }

    /// The collection in `root` with `settings`.
    fn with_settings(root: Dir, settings: Settings) -> Result<Collection, CollectionError> {
        let root = root.shared()?;
        let own = OnceLock::new();
        let mut id = settings.id.clone();
        if let Some(found) = own::open_own(&root)? {
            // A ledger that cannot be read stops only writers.
            if let Ok(Some(recorded)) = ledger::id_in(&found) {
                id = recorded;
            }
            let _ = own.set(found);
        }
        Ok(Collection {
            root,
            own,
            id,
            listener: own::Listener::default(),
            settings,
            index_path: None,
            trash: Mutex::default(),
            open_trash: OnceLock::new(),
            replay: Mutex::default(),
            scan: Mutex::default(),
            is_ledger_unsure: Mutex::default(),
            head_note: None,
            reached: Mutex::default(),
            sidecars: None,
            waiter: Waiter::default(),
            reserve_given_up: AtomicBool::new(false),
        })
    }

    /// Sets the `waiter` for locks that are held only briefly.
    #[must_use]
    pub fn with_waiter(self, waiter: Waiter<'static>) -> Collection {
        Collection { waiter, ..self }
    }

    /// Sets the directory of the indexes, which is private to the user and need not exist.
    #[must_use]
    pub fn with_cache(self, dir: &Path) -> Collection {
        let path = |place| dir.join(format!("{}-{place:032x}.sqlite", self.id()));
        let index_path = self.place().map(path);
        Collection { index_path, ..self }
    }

    /// The path of the index, which need not be there, and may be behind the ledger.
    pub fn index_path(&self) -> Option<&Path> {
        self.index_path.as_deref()
    }

    /// A number for the path of the root: a note outside of the collection is about one place.
    fn place(&self) -> Option<u128> {
        let root = resolved(self.path()).ok()?;
        Some(Digest::of(root.as_os_str().as_encoded_bytes()).half())
    }

    /// How to wait for another process.
    pub(crate) fn waiter(&self) -> &Waiter<'static> {
        &self.waiter
    }

    /// The clock of its waiter.
    pub(crate) fn clock(&self) -> &'static dyn Clock {
        self.waiter.clock
    }

    /// The root directory.
    pub fn root(&self) -> &Dir {
        &self.root
    }

    /// Finds out which items have files here, one year after the other.
    pub fn payloads(&self) -> Payloads<'_> {
        Payloads(YearDirCache::new(self))
    }

    /// The path of the root.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Whether both have the same root directory. A backup with the same id has another.
    pub fn has_same_root(&self, other: &Collection) -> Result<bool, PathError> {
        Ok(self.root.own_stat()?.identity == other.root.own_stat()?.identity)
    }

    /// Whether both are one collection: by id, since a directory mounted twice may have two device numbers, or
    /// by place.
    pub(crate) fn is_same(&self, other: &Collection) -> Result<bool, PathError> {
        Ok(self.id() == other.id() || self.has_same_root(other)?)
    }

    /// The watcher of this collection's file operations.
    pub(crate) fn watcher(&self) -> Watcher {
        self.root.watcher()
    }

    /// The device of the file system that the root is on.
    pub(crate) fn device(&self) -> Result<u64, PathError> {
        Ok(self.root.own_stat()?.identity.0)
    }

    /// Syncs the names of items, each relative to the root, and the names in their directories.
    pub(crate) fn confirm_names<P: AsRef<Path>>(
        &self,
        names: impl IntoIterator<Item = P>,
    ) -> Result<(), PathError> {
        self.root.sync_names(names)
    }

    /// The unique id of this collection.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A new id for the custody of an item that changes here.
    pub(crate) fn custody_id(&self) -> Result<CustodyId, PathError> {
        Ok(random_bytes().on("read random bytes for", self.path())?.into())
    }

    /// The settings in `urepo.toml`.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The path of the settings.
    pub fn settings_path(&self) -> PathBuf {
        self.root.path_of(layout::SETTINGS)
    }
}
