//! The trash: deleted and replaced data, kept in `.urepo/trash` until it is purged.
//!
//! Each entry is a directory named after its item, with one thing in it ([`TrashContents`]): the payload of a
//! deleted item, `doc`; a deleted Copy, whole, `copy`; an item that a repaired one replaced, `replaced`;
//! files that the sidecar did not list when their item left, `unlisted`; or an item that is set aside,
//! `item`. Recovery puts the last one back if nothing replaced it: then the process that moved it was killed.
//! Deleted and replaced data stays until it is purged; `condemned` data is being purged, and is never
//! restored.

mod set_aside;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::{Collection, CollectionError, StoredItem};
use crate::digest::Digest;
use crate::disk::{Dir, FileStat, IoContext, Kind, PathError, TreeSize, Version, random_hex};
use crate::identity::{Identifier, Instant, RepositoryName};
use crate::layout;

/// The name of a whole item in its entry.
pub(super) const ITEM: &str = "item";
/// The name of a deleted Copy in its entry.
const COPY: &str = "copy";
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
    /// The payload of a deleted item.
    Payload,
    /// A deleted Copy: its directory.
    Copy,
    /// A whole item that was set aside and is put back by recovery.
    SetAside,
    /// A whole item that a repaired one replaced.
    Replaced,
    /// Nothing, or the rest of data that is being purged.
    Remains,
}

impl TrashContents {
    /// The name of the thing in its entry.
    fn file_name(self) -> &'static Path {
        Path::new(match self {
            TrashContents::Payload => layout::PAYLOAD,
            TrashContents::Copy => COPY,
            TrashContents::SetAside => ITEM,
            TrashContents::Replaced => REPLACED,
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

    /// The item that `text` refers to, in place or only in the trash.
    pub fn find_with_trash(&self, text: &str) -> Result<RepositoryName, CollectionError> {
        let error = match self.find(text) {
            Ok(item) => return Ok(item.name().clone()),
            Err(
                error @ (CollectionError::Ambiguous { .. }
                | CollectionError::OtherCollection { .. }),
            ) => return Err(error),
            Err(error) => error,
        };
        let end = format!("/{}", text.trim_matches('/').to_ascii_lowercase());
        let read = Identifier::read(text);
        if let Ok(Identifier::Repository(name)) = &read {
            for recall in [Recall::Listed, Recall::Fresh] {
                for trashed in self.trashed_of(name, recall)? {
                    if self.held_if_there(&trashed)?.is_some() {
                        return Ok(trashed.name);
                    }
                }
            }
            return Err(error);
        }
        let mut names = Vec::new();
        let mut unreadable = None;
        self.visit_trash(|trashed| {
            let meant = trashed.map_err(CollectionError::from).and_then(|trashed| {
                let is_meant = match &read {
                    Ok(Identifier::Ibip(ibip)) => self.is_labelled(&trashed, ibip.as_str())?,
                    _ => trashed.name.as_str().to_ascii_lowercase().ends_with(&end),
                };
                Ok(is_meant.then_some(trashed.name))
            });
            match meant {
                Ok(Some(name)) if !names.contains(&name) => names.push(name),
                Ok(_) => {}
                // It matters only if `text` refers to no other entry.
                Err(error) => unreadable = Some(error),
            }
            Ok::<_, CollectionError>(())
        })?;
        match names.len() {
            0 => Err(unreadable.unwrap_or(error)),
            1 => Ok(names.swap_remove(0)),
            _ => Err(CollectionError::Ambiguous { text: text.to_owned(), names }),
        }
    }

    fn is_labelled(&self, trashed: &Trashed, label: &str) -> Result<bool, CollectionError> {
        let Some(copy) = self.trashed_copy(trashed)? else { return Ok(false) };
        match copy.sidecar() {
            Ok((sidecar, _)) => Ok(sidecar.is_labelled(label)),
            Err(CollectionError::Disk(error)) => Err(error.into()),
            // An item whose sidecar cannot be read counts as one without the label.
            Err(_) => Ok(false),
        }
    }

    /// The contents of an entry that may be gone by now.
    fn held_if_there(&self, trashed: &Trashed) -> Result<Option<TrashContents>, PathError> {
        match self.held(trashed) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Moves `what` from the directory `from` of the item `name` into the trash, synced.
    pub(super) fn move_in(
        &self,
        name: &RepositoryName,
        from: &Dir,
        what: &Path,
        held: TrashContents,
    ) -> Result<(Trashed, Dir), PathError> {
        let (trashed, entry) = self.new_entry(name)?;
        from.move_tree(what, &entry, held.file_name())?;
        if let Err(error) = entry.sync().and_then(|()| from.sync()) {
            // The caller stops here, and no other process knows that the data is in the trash.
            entry.move_tree(held.file_name(), from, what)?;
            return Err(error);
        }
        Ok((trashed, entry))
    }

    /// Puts a deleted Copy back in its free place, synced.
    pub(crate) fn put_copy_back(&self, trashed: &Trashed) -> Result<(), PathError> {
        let (year, leaf) = layout::item_place(&trashed.name);
        let year = self.ensure_directory(&year)?;
        self.take_back(trashed, TrashContents::Copy, &year, &leaf)
    }

    /// Moves the contents of `trashed` out of the trash, to `name` in `to`, synced.
    pub(super) fn take_back(
        &self,
        trashed: &Trashed,
        held: TrashContents,
        to: &Dir,
        name: &Path,
    ) -> Result<(), PathError> {
        let entry = self.trashed_dir(trashed)?;
        entry.move_tree(held.file_name(), to, name)?;
        to.sync()?;
        entry.sync()
    }

    /// Creates an empty, synced entry.
    pub(super) fn new_entry(&self, name: &RepositoryName) -> Result<(Trashed, Dir), PathError> {
        let trash = self.ensure_own()?.ensure_lasting_dir(layout::TRASH)?;
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
        trash.sync()?;
        let dir = trash.open_dir(&entry)?;
        if is_long {
            let mut file = dir.create_file(NAME)?;
            file.write_all(name.as_str().as_bytes())?;
            file.sync()?;
        }
        Ok((Trashed { name: name.clone(), entry: entry.into() }, dir))
    }

    /// The payload in the trash, if the entry holds one.
    pub fn trashed_payload(&self, trashed: &Trashed) -> Result<Option<Dir>, PathError> {
        let trash = self.ensure_own()?.open_dir(layout::TRASH)?;
        trash.open_dir_if_there(trashed.entry.join(layout::PAYLOAD))
    }

    /// The deleted Copy in the trash, if the entry holds one.
    pub fn trashed_copy(&self, trashed: &Trashed) -> Result<Option<StoredItem>, PathError> {
        let trash = self.ensure_own()?.open_dir(layout::TRASH)?;
        let dir = trash.open_dir_if_there(trashed.entry.join(COPY))?;
        Ok(dir.map(|dir| StoredItem::at(trashed.name.clone(), dir)))
    }

    /// The contents of an entry.
    pub fn held(&self, trashed: &Trashed) -> Result<TrashContents, PathError> {
        let entry = self.trashed_dir(trashed)?;
        for held in [TrashContents::Payload, TrashContents::Copy] {
            if entry.stat(held.file_name())?.is_some() {
                return Ok(held);
            }
        }
        for held in [TrashContents::SetAside, TrashContents::Replaced] {
            if entry.stat(held.file_name())?.is_some_and(|stamp| stamp.kind == Kind::Directory) {
                return Ok(held);
            }
        }
        Ok(TrashContents::Remains)
    }

    /// Whether the files of the tombstone `item` can come back: from the trash, or from where an interrupted run left
    /// them.
    pub fn is_restorable(&self, item: &StoredItem) -> Result<bool, PathError> {
        for trashed in self.trashed_of(item.name(), Recall::Fresh)? {
            if self.held_if_there(&trashed)? == Some(TrashContents::Payload) {
                return Ok(true);
            }
        }
        item.has_payload()
    }

    /// The entries of the trash with data that a repair replaced in the item `name`, or files that its
    /// sidecar did not list. They stay until they are purged, and are not restored.
    pub(crate) fn kept_in_trash(&self, name: &RepositoryName) -> Result<Vec<PathBuf>, PathError> {
        let trash = self.root().path_of(Path::new(layout::OWN).join(layout::TRASH));
        let mut kept = Vec::new();
        for trashed in self.trashed_of(name, Recall::Fresh)? {
            match self.held_if_there(&trashed) {
                Ok(Some(TrashContents::Replaced)) => {
                    kept.push(trash.join(&trashed.entry));
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

    /// Marks the contents of an entry as being removed, durably: a partial payload must not be taken for a
    /// whole one.
    pub(crate) fn condemn(&self, trashed: &Trashed, held: TrashContents) -> Result<(), PathError> {
        if held == TrashContents::Remains {
            return Ok(());
        }
        let entry = self.trashed_dir(trashed)?;
        entry.rename_new(held.file_name(), &entry, Path::new(CONDEMNED))?;
        entry.sync()
    }

    /// Removes the entries of an item, which is locked, that hold nothing or the rest of what is being purged.
    pub(crate) fn remove_empty_entries(&self, name: &RepositoryName) -> Result<(), PathError> {
        for trashed in self.trashed_of(name, Recall::Fresh)? {
            match self.held_if_there(&trashed) {
                Ok(Some(TrashContents::Remains)) => self.remove_trashed(&trashed)?,
                Ok(_) => {}
                // Closed by another user.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes an entry permanently.
    pub(crate) fn remove_trashed(&self, trashed: &Trashed) -> Result<(), PathError> {
        self.ensure_own()?.open_dir(layout::TRASH)?.remove_tree(&trashed.entry)
    }
}

impl Trashed {
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
