//! The trash: whole items that were deleted or replaced, kept in `.urepo/trash` until they are purged.
//!
//! Each entry is a directory named after its item, with one thing in it ([`TrashContents`]): the directory of the item,
//! `replaced`; or an item that is set aside while it is replaced, `item`, which recovery puts back if nothing replaced it.
//! `condemned` data is being purged, and is never restored.

mod set_aside;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::{Collection, CollectionError, StoredItem};
use crate::digest::Digest;
use crate::disk::{Dir, FileStat, IoContext, Kind, PathError, TreeSize, Version, random_hex};
use crate::identity::{Instant, RepositoryName};
use crate::layout;
use crate::sidecar::Seal;

/// The name of a whole item in its entry.
pub(super) const ITEM: &str = "item";
/// The name, in its entry, of a whole item that was replaced: recovery does not put it back.
pub(super) const REPLACED: &str = "replaced";
/// The file with the item's name, if that is too long for the name of a directory.
const NAME: &str = "name";
/// No name is longer.
const MAX_NAME_BYTES: u64 = 4096;
/// Longer names are in a file of their own.
const LONGEST_NAME: usize = 230;
/// The name of data that is being purged.
const CONDEMNED: &str = "condemned";

/// One entry of the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trashed {
    /// The item of the data.
    pub name: RepositoryName,
    /// Its directory, relative to the trash.
    entry: PathBuf,
}

/// The freshness of a lookup of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recall {
    /// In the last list, if there is one.
    Listed,
    /// In an up-to-date list.
    Fresh,
}

/// The trash, as listed.
#[derive(Debug)]
pub(super) struct ListedTrash {
    /// The version of the directory before it was listed; `None` if it does not exist.
    version: Option<Version>,
    /// By the folded name.
    by_name: HashMap<String, Vec<Trashed>>,
}

/// The contents of an entry of the trash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrashContents {
    /// A whole item that was deleted or replaced.
    Item,
    /// A whole item that was set aside and is put back by recovery.
    SetAside,
    /// A tombstone or a stub that a killed run was about to swap with an item, or had swapped back: recovery removes it.
    Draft,
    /// Nothing, or the rest of data that is being purged.
    Remains,
}

impl TrashContents {
    /// The name of the thing in its entry.
    fn file_name(self) -> &'static Path {
        Path::new(match self {
            TrashContents::Item | TrashContents::Draft => REPLACED,
            TrashContents::SetAside => ITEM,
            TrashContents::Remains => CONDEMNED,
        })
    }
}

impl Collection {
    /// Calls `visit` for every entry of the trash, in no order, with an error if the entry cannot be read and
    /// its item is unknown.
    pub fn visit_trash<E: From<PathError>>(
        &self,
        mut visit: impl FnMut(Result<Trashed, PathError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(trash) = self.own_dir(layout::TRASH)? else { return Ok(()) };
        for entry in trash.entries()?.collect::<Result<Vec<_>, _>>()? {
            if entry.kind == Kind::Directory
                && let Some(trashed) = Trashed::of(&trash, &entry.name).transpose()
            {
                visit(trashed)?;
            }
        }
        Ok(())
    }

    /// The entries of the item `name` in the trash, by the last listing. Entries may have been removed since;
    /// with [`Recall::Fresh`] none is missing.
    ///
    /// The list is kept, so that restoring many items does not list the trash for each.
    pub(crate) fn trashed_of(
        &self,
        name: &RepositoryName,
        recall: Recall,
    ) -> Result<Vec<Trashed>, PathError> {
        let mut known = self.trash.lock().unwrap_or_else(PoisonError::into_inner);
        let version = if let (Recall::Listed, Some(listed)) = (recall, &*known) {
            listed.version
        } else {
            let stat = self.own()?.map_or(Ok(None), |own| own.stat(layout::TRASH))?;
            stat.as_ref().map(FileStat::version)
        };
        let listed = match known.take() {
            Some(listed) if listed.version == version => listed,
            _ => {
                let mut listed = ListedTrash { version, by_name: HashMap::new() };
                self.visit_trash(|trashed| {
                    let trashed = match trashed {
                        // Closed by another user.
                        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
                        trashed => trashed?,
                    };
                    listed.by_name.entry(trashed.name.folded()).or_default().push(trashed);
                    Ok::<_, PathError>(())
                })?;
                listed
            }
        };
        let found = listed.by_name.get(&name.folded()).cloned().unwrap_or_default();
        *known = Some(listed);
        Ok(found)
    }

    /// The contents of an entry that may be gone by now.
    fn held_if_there(&self, trashed: &Trashed) -> Result<Option<TrashContents>, PathError> {
        match self.held(trashed) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// The trash, which is created if needed.
    pub(super) fn ensure_trash(&self) -> Result<Dir, PathError> {
        self.ensure_own()?.ensure_lasting_dir(layout::TRASH)
    }

    /// Creates an empty entry, which is not synced.
    pub(super) fn new_entry(&self, name: &RepositoryName) -> Result<(Trashed, Dir), PathError> {
        let trash = self.ensure_trash()?;
        let random = random_hex::<8>().on("make the directory", trash.path())?;
        // `+` occurs in no name, and `~` neither.
        let text = name.as_str().replace('/', "+");
        let is_long = text.len() > LONGEST_NAME;
        let entry = if is_long {
            format!("{}~{random}", Digest::of(name.as_str().as_bytes()))
        } else {
            format!("{text}~{random}")
        };
        trash.make_dir(&entry)?;
        let dir = trash.open_dir(&entry)?;
        if is_long {
            let mut file = dir.create_file(NAME)?;
            file.write_all(name.as_str().as_bytes())?;
            file.sync()?;
        }
        Ok((Trashed { name: name.clone(), entry: entry.into() }, dir))
    }

    /// The whole item in an entry, if there is one.
    pub(crate) fn trashed_item(&self, trashed: &Trashed) -> Result<Option<StoredItem>, PathError> {
        let trash = self.ensure_own()?.open_dir(layout::TRASH)?;
        let dir = trash.open_dir_if_there(trashed.item_path())?;
        Ok(dir.map(|dir| StoredItem::at(trashed.name.clone(), dir)))
    }

    /// The contents of an entry.
    pub fn held(&self, trashed: &Trashed) -> Result<TrashContents, PathError> {
        let is_aside = self.trashed_dir(trashed)?.stat(ITEM)?;
        if is_aside.is_some_and(|stamp| stamp.kind == Kind::Directory) {
            return Ok(TrashContents::SetAside);
        }
        Ok(match self.trashed_item(trashed)? {
            None => TrashContents::Remains,
            Some(item) if item.has_payload()? || !item.strays()?.is_empty() => TrashContents::Item,
            Some(item) => match item.sidecar() {
                Ok((sidecar, Seal::Intact)) if !sidecar.state.has_payload() => TrashContents::Draft,
                Err(CollectionError::NoSidecar { .. }) => TrashContents::Draft,
                Err(CollectionError::Disk(error)) => return Err(error),
                _ => TrashContents::Item,
            },
        })
    }

    /// Whether the trash has a whole item called `name`.
    pub fn is_in_trash(&self, name: &RepositoryName) -> Result<bool, PathError> {
        Ok(!self.kept_in_trash(name)?.is_empty())
    }

    /// The entries of the trash with the item `name`, as it was before a deletion or a replacement.
    /// An entry that came since the trash was listed is left out.
    pub(crate) fn kept_in_trash(&self, name: &RepositoryName) -> Result<Vec<PathBuf>, PathError> {
        let mut kept = Vec::new();
        for trashed in self.trashed_of(name, Recall::Listed)? {
            match self.held_if_there(&trashed) {
                Ok(Some(TrashContents::Item)) => {
                    kept.push(self.path_of_trashed(&trashed));
                }
                Ok(_) => {}
                // Closed by another user.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                Err(error) => return Err(error),
            }
        }
        kept.sort();
        Ok(kept)
    }

    /// The path of an entry, for people.
    pub(crate) fn path_of_trashed(&self, trashed: &Trashed) -> PathBuf {
        let trash = Path::new(layout::OWN).join(layout::TRASH);
        self.root().path_of(trash.join(&trashed.entry))
    }

    /// The size of an entry, and when it was last changed.
    pub(crate) fn measure_trashed(
        &self,
        trashed: &Trashed,
    ) -> Result<(TreeSize, Instant), PathError> {
        let entry = self.trashed_dir(trashed)?;
        Ok((entry.measure_tree(Path::new("."))?, entry.own_stat()?.modified))
    }

    /// The directory of an entry.
    pub(crate) fn trashed_dir(&self, trashed: &Trashed) -> Result<Dir, PathError> {
        self.ensure_own()?.open_dir(layout::TRASH)?.open_dir(&trashed.entry)
    }

    /// Marks the contents of an entry as being removed: a partial item must not be taken for a whole one. After a power cut
    /// it may be, until a restoration compares every byte.
    pub(crate) fn condemn(&self, trashed: &Trashed, held: TrashContents) -> Result<(), PathError> {
        if held == TrashContents::Remains {
            return Ok(());
        }
        let entry = self.trashed_dir(trashed)?;
        entry.rename_new(held.file_name(), &entry, Path::new(CONDEMNED))
    }

    /// Removes an entry permanently.
    pub(crate) fn remove_trashed(&self, trashed: &Trashed) -> Result<(), PathError> {
        self.ensure_own()?.open_dir(layout::TRASH)?.remove_tree(&trashed.entry)
    }
}

impl Trashed {
    /// Its directory, relative to the trash.
    pub(super) fn path(&self) -> &Path {
        &self.entry
    }

    /// The place of its whole item, relative to the trash.
    pub(super) fn item_path(&self) -> PathBuf {
        self.entry.join(REPLACED)
    }

    fn of(trash: &Dir, entry: &std::ffi::OsStr) -> Result<Option<Trashed>, PathError> {
        let Some((text, _)) = entry.to_str().and_then(|entry| entry.rsplit_once('~')) else {
            return Ok(None);
        };
        let mut name = text.replace('+', "/");
        if text.parse::<Digest>().is_ok() {
            let Some(mut file) = trash.open_file_if_there(Path::new(entry).join(NAME))? else {
                return Ok(None);
            };
            name = String::from_utf8_lossy(&file.read_all(MAX_NAME_BYTES)?).into_owned();
        }
        let read = RepositoryName::parse_as_found(&name).ok();
        Ok(read.map(|(name, _)| Trashed { name, entry: entry.into() }))
    }
}
