//! What was deleted or replaced: kept in `.urepo/trash` until it is not needed any more.
//!
//! Each entry is a directory named after its item. It holds the payload of a deleted item, `doc`, a
//! whole item that was replaced, `replaced`, or a whole item on its way out, `item`. The last is put
//! back by recovery if nothing took its place: then the process that moved it was killed before it
//! could go on.

use std::path::{Path, PathBuf};

use super::{Collection, CollectionError};
use crate::disk::{Dir, IoContext, Kind, PathError};
use crate::identity::RepositoryName;
use crate::layout;

/// The name of a whole item in its entry.
pub(super) const ITEM: &str = "item";
/// The name, in its entry, of a whole item that was replaced: recovery does not put it back.
pub(super) const REPLACED: &str = "replaced";

/// One entry of the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trashed {
    /// Whose payload it is.
    pub name: RepositoryName,
    /// Its directory, relative to the trash.
    entry: PathBuf,
}

impl Collection {
    /// Calls `visit` for everything in the trash, in no order.
    pub fn visit_trash<E: From<PathError>>(
        &self,
        mut visit: impl FnMut(Trashed) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(trash) = self.own().open_dir_if_there(layout::TRASH)? else { return Ok(()) };
        for entry in trash.entries()?.collect::<Result<Vec<_>, _>>()? {
            if let Some(trashed) = Trashed::of(&entry.name) {
                visit(trashed)?;
            }
        }
        Ok(())
    }

    /// Moves `what` of the directory `from`, which belongs to the item `name`, into the trash, synced.
    pub(crate) fn throw_away(
        &self,
        name: &RepositoryName,
        from: &Dir,
        what: &Path,
    ) -> Result<Trashed, PathError> {
        let (trashed, entry) = self.new_entry(name)?;
        from.rename_new(what, &entry, Path::new(layout::PAYLOAD))?;
        entry.sync()?;
        from.sync()?;
        Ok(trashed)
    }

    /// Moves the whole item at `leaf` in `year` into the trash, synced; undone by recovery unless
    /// something takes its place.
    pub(super) fn set_aside(
        &self,
        name: &RepositoryName,
        year: &Dir,
        leaf: &Path,
    ) -> Result<(Trashed, Dir), PathError> {
        let (trashed, entry) = self.new_entry(name)?;
        year.rename_new(leaf, &entry, Path::new(ITEM))?;
        entry.sync()?;
        year.sync()?;
        Ok((trashed, entry))
    }

    /// Puts an item back that was set aside.
    pub(super) fn put_back(&self, entry: &Dir, year: &Dir, leaf: &Path) -> Result<(), PathError> {
        entry.rename_new(Path::new(ITEM), year, leaf)?;
        year.sync()
    }

    /// Takes an item that was replaced out of the trash again.
    pub(super) fn move_out_of_trash(
        &self,
        entry: &Dir,
        to: &Dir,
        name: &Path,
    ) -> Result<(), PathError> {
        entry.rename_new(Path::new(ITEM), to, name)
    }

    /// Makes an entry, synced and empty.
    pub(super) fn new_entry(&self, name: &RepositoryName) -> Result<(Trashed, Dir), PathError> {
        let trash = self.own().ensure_dir(layout::TRASH)?;
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random)
            .map_err(|error| std::io::Error::other(error.to_string()))
            .on("make the directory", trash.path())?;
        // `+` occurs in no name, and `~` neither.
        let text = name.as_str().replace('/', "+");
        let entry = format!("{text}~{:016x}", u64::from_be_bytes(random));
        trash.make_private_dir(&entry)?;
        trash.sync()?;
        let dir = trash.open_dir(&entry)?;
        Ok((Trashed { name: name.clone(), entry: entry.into() }, dir))
    }

    /// The payload in the trash, if that is what the entry holds.
    pub fn trashed_payload(&self, trashed: &Trashed) -> Result<Option<Dir>, PathError> {
        let trash = self.own().open_dir(layout::TRASH)?;
        trash.open_dir_if_there(trashed.entry.join(layout::PAYLOAD))
    }

    /// The directory of an entry.
    pub(crate) fn trashed_dir(&self, trashed: &Trashed) -> Result<Dir, PathError> {
        self.own().open_dir(layout::TRASH)?.open_dir(&trashed.entry)
    }

    /// Removes an entry for good.
    pub(crate) fn remove_trashed(&self, trashed: &Trashed) -> Result<(), PathError> {
        self.own().open_dir(layout::TRASH)?.remove_tree(&trashed.entry)
    }

    /// Puts items back that were set aside by a process that was killed before something took their
    /// place, and removes those whose place was taken. Whatever else is there stays.
    pub(super) fn restore_set_aside(&self) -> Result<(), CollectionError> {
        self.visit_trash(|trashed| {
            let entry = self.trashed_dir(&trashed)?;
            let is_item = entry.stamp(ITEM)?.is_some_and(|stamp| stamp.kind == Kind::Directory);
            let names = entry.entries()?.collect::<Result<Vec<_>, _>>()?;
            let holds_more = names.iter().any(|entry| entry.name != ITEM);
            let directory = layout::item_directory(&trashed.name);
            if is_item && self.root().stamp(&directory)?.is_none() {
                let year = directory.parent().unwrap_or(Path::new(""));
                let leaf = directory.file_name().unwrap_or_default();
                self.put_back(&entry, &self.root().open_dir(year)?, Path::new(leaf))?;
            }
            if !holds_more {
                self.remove_trashed(&trashed)?;
            }
            Ok::<_, CollectionError>(())
        })
    }
}

impl Trashed {
    fn of(entry: &std::ffi::OsStr) -> Option<Trashed> {
        let (text, _) = entry.to_str()?.rsplit_once('~')?;
        let (name, _) = RepositoryName::parse_as_found(&text.replace('+', "/")).ok()?;
        Some(Trashed { name, entry: entry.into() })
    }
}
