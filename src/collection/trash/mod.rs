//! The trash: whole items that were deleted or replaced, kept in `.urepo/trash` until they are purged.
//!
//! Each entry is the directory of an item, called `<identifier>~<hex>`: 12 digits for the milliseconds since 1970 at which
//! it went to the trash, and 8 random ones. An item that is set aside while it is replaced has `.aside` behind that:
//! recovery puts it back, if nothing replaced it. What is being purged has `.purge`, and is never restored.

mod set_aside;

use std::collections::HashMap;
use std::io::ErrorKind::{NotFound, PermissionDenied};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::{Collection, CollectionError, StoredItem};
use crate::digest::Digest;
use crate::disk::{Dir, FileStat, IoContext, Kind, PathError, TreeSize, Version, random_hex};
use crate::identity::{Instant, MILLISECOND, RepositoryName};
use crate::layout;
use crate::sidecar::Seal;

/// Ends the name of an entry that is set aside.
const ASIDE: &str = ".aside";
/// Ends the name of an entry that is being purged.
const PURGED: &str = ".purge";
/// Ends the name of the file beside an entry with the item's name, if that is too long for the name of a directory.
const NAME: &str = ".name";
/// No name is longer.
const MAX_NAME_BYTES: u64 = 4096;
/// Longer names are in a file of their own.
const LONGEST_NAME: usize = 225;

/// One entry of the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trashed {
    /// The item of the data.
    pub name: RepositoryName,
    /// When it went to the trash.
    pub since: Instant,
    /// Its directory in the trash.
    entry: String,
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
    /// Of a killed run: an item that was set aside, which recovery puts back, or a tombstone or a stub that was about to be
    /// swapped with an item, or had been swapped back, which it removes.
    LeftOver,
    /// The rest of data that is being purged.
    Remains,
}

impl Collection {
    /// Calls `visit` for every entry of the trash, in no order, with an error if the entry cannot be read and
    /// its item is unknown.
    pub fn visit_trash<E: From<PathError>>(
        &self,
        mut visit: impl FnMut(Result<Trashed, PathError>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.visit_in_trash(|_, trashed| visit(trashed))
    }

    /// The same, with the open trash.
    pub(crate) fn visit_in_trash<E: From<PathError>>(
        &self,
        mut visit: impl FnMut(&Dir, Result<Trashed, PathError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(trash) = self.own_dir(layout::TRASH)? else { return Ok(()) };
        for entry in trash.entries()?.collect::<Result<Vec<_>, _>>()? {
            if entry.kind == Kind::Directory
                && let Some(trashed) = Trashed::of(&trash, &entry.name).transpose()
            {
                visit(&trash, trashed)?;
            }
        }
        Ok(())
    }

    /// The entries of the item `name` in the trash.
    ///
    /// The list is kept until the trash changes, so that a group of items does not list the trash for each.
    pub(crate) fn trashed_of(&self, name: &RepositoryName) -> Result<Vec<Trashed>, PathError> {
        let mut known = self.trash.lock().unwrap_or_else(PoisonError::into_inner);
        let stat = self.own()?.map_or(Ok(None), |own| own.stat(layout::TRASH))?;
        let version = stat.as_ref().map(FileStat::version);
        let listed = match known.take() {
            Some(listed) if listed.version == version => listed,
            _ => {
                let mut listed = ListedTrash { version, by_name: HashMap::new() };
                self.visit_trash(|trashed| {
                    let trashed = match trashed {
                        // Closed by another user.
                        Err(error) if error.kind() == PermissionDenied => return Ok(()),
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

    /// The trash, which is created if needed.
    pub(super) fn ensure_trash(&self) -> Result<Dir, PathError> {
        self.ensure_own()?.ensure_lasting_dir(layout::TRASH)
    }

    /// The trash, which exists. It stays open: no command removes it.
    pub(crate) fn open_trash(&self) -> Result<&Dir, PathError> {
        if let Some(trash) = self.open_trash.get() {
            return Ok(trash);
        }
        let trash = self.ensure_own()?.open_dir(layout::TRASH)?;
        Ok(self.open_trash.get_or_init(|| trash))
    }

    /// The entry of `trash` for an item that goes there, which has nothing yet.
    pub(super) fn new_entry(
        &self,
        trash: &Dir,
        name: &RepositoryName,
    ) -> Result<Trashed, PathError> {
        let random = random_hex::<4>().on("make the directory", trash.path())?;
        let since = self.clock().now().floor(MILLISECOND);
        // `+` occurs in no name, and `~` neither.
        let mut text = name.as_str().replace('/', "+");
        let is_long = text.len() > LONGEST_NAME;
        if is_long {
            text = Digest::of(name.as_str().as_bytes()).to_string();
        }
        let milliseconds = since.nanoseconds().max(0) / MILLISECOND;
        let entry = format!("{text}~{milliseconds:012x}{random}");
        if is_long {
            let mut file = trash.create_file(format!("{entry}{NAME}"))?;
            file.write_all(name.as_str().as_bytes())?;
            file.sync()?;
        }
        Ok(Trashed { name: name.clone(), since, entry })
    }

    /// The whole item in an entry, if there is one.
    pub(crate) fn trashed_item(&self, trashed: &Trashed) -> Result<Option<StoredItem>, PathError> {
        if trashed.is_aside() || trashed.is_purged() {
            return Ok(None);
        }
        let dir = self.open_trash()?.open_dir_if_there(trashed.path())?;
        Ok(dir.map(|dir| StoredItem::at(trashed.name.clone(), dir)))
    }

    /// Whether an entry is there, with an item as it was put there.
    pub(crate) fn is_in_trash(&self, trashed: &Trashed) -> Result<bool, PathError> {
        let is_item = !trashed.is_aside() && !trashed.is_purged();
        Ok(is_item && self.open_trash()?.stat(trashed.path())?.is_some())
    }

    /// The contents of an entry.
    pub fn held(&self, trashed: &Trashed) -> Result<TrashContents, PathError> {
        trashed.held(self.open_trash()?)
    }

    /// The entries of the trash with the item `name`, as it was before a deletion or a replacement.
    pub fn kept_in_trash(&self, name: &RepositoryName) -> Result<Vec<PathBuf>, PathError> {
        self.kept_of(&self.trashed_of(name)?)
    }

    /// Those of these entries of the trash that have an item.
    pub(crate) fn kept_of<'t>(
        &self,
        entries: impl IntoIterator<Item = &'t Trashed>,
    ) -> Result<Vec<PathBuf>, PathError> {
        let mut kept = Vec::new();
        for trashed in entries {
            match self.held(trashed) {
                Ok(TrashContents::Item) => kept.push(self.path_of_trashed(trashed)),
                Ok(_) => {}
                // Purged by now, or closed by another user.
                Err(error) if matches!(error.kind(), NotFound | PermissionDenied) => {}
                Err(error) => return Err(error),
            }
        }
        kept.sort();
        Ok(kept)
    }

    /// The path of an entry, for people.
    pub(crate) fn path_of_trashed(&self, trashed: &Trashed) -> PathBuf {
        let trash = Path::new(layout::OWN).join(layout::TRASH);
        self.root().path_of(trash.join(trashed.path()))
    }
}

impl Trashed {
    /// Its directory, relative to the trash.
    pub(super) fn path(&self) -> &Path {
        Path::new(&self.entry)
    }

    pub(super) fn is_aside(&self) -> bool {
        self.entry.ends_with(ASIDE)
    }

    fn is_purged(&self) -> bool {
        self.entry.ends_with(PURGED)
    }

    /// Its contents in the open `trash`.
    pub(crate) fn held(&self, trash: &Dir) -> Result<TrashContents, PathError> {
        let is_marked = self.is_aside() || self.is_purged();
        if !is_marked && trash.glance(&[&*self.entry, layout::PAYLOAD].join("/")).is_some() {
            return Ok(TrashContents::Item);
        }
        let item = StoredItem::at(self.name.clone(), trash.open_dir(self.path())?);
        if self.is_aside() {
            return Ok(TrashContents::LeftOver);
        }
        if self.is_purged() {
            return Ok(TrashContents::Remains);
        }
        if item.has_payload()? || !item.strays()?.is_empty() {
            return Ok(TrashContents::Item);
        }
        Ok(match item.sidecar() {
            Ok((sidecar, Seal::Intact)) if !sidecar.state.has_payload() => TrashContents::LeftOver,
            Err(CollectionError::NoSidecar { .. }) => TrashContents::LeftOver,
            Err(CollectionError::Disk(error)) => return Err(error),
            _ => TrashContents::Item,
        })
    }

    /// Its size in `trash`.
    pub(crate) fn measure(&self, trash: &Dir) -> Result<TreeSize, PathError> {
        trash.measure_tree(self.path())
    }

    /// Marks the entry of `trash` as being removed, and returns it: a partial item must not be taken for a whole one. After a
    /// power cut it may be, until a restoration compares every byte.
    pub(crate) fn condemn(&self, trash: &Dir) -> Result<Trashed, PathError> {
        if self.is_purged() {
            return Ok(self.clone());
        }
        self.mark(trash, PURGED)
    }

    /// Gives the entry of `trash` the name that ends with `mark`.
    pub(super) fn mark(&self, trash: &Dir, mark: &str) -> Result<Trashed, PathError> {
        let entry = format!("{}{mark}", plain_of(&self.entry));
        let marked = Trashed { entry, ..self.clone() };
        trash.rename_new(self.path(), trash, marked.path())?;
        Ok(marked)
    }

    /// Removes the entry from `trash` permanently, and returns the size that it had.
    pub(crate) fn remove(&self, trash: &Dir) -> Result<TreeSize, PathError> {
        let mut size = TreeSize::default();
        trash.remove_likely(self.path(), layout::ITEM, Some(&mut size))?;
        if self.name.as_str().len() > LONGEST_NAME {
            let name = format!("{}{NAME}", plain_of(&self.entry));
            trash.remove_file_if_there(Path::new(&name))?;
        }
        Ok(size)
    }

    fn of(trash: &Dir, entry: &std::ffi::OsStr) -> Result<Option<Trashed>, PathError> {
        let parts = entry.to_str().and_then(|entry| {
            let plain = plain_of(entry);
            let (text, hex) = plain.rsplit_once('~')?;
            let milliseconds = i128::from_str_radix(hex.get(..12)?, 16).ok()?;
            Some((entry, plain, text, Instant::from_nanoseconds(milliseconds * MILLISECOND)))
        });
        let Some((entry, plain, text, since)) = parts else { return Ok(None) };
        let read = |name: &str| {
            let (name, _) = RepositoryName::parse_as_found(name).ok()?;
            Some(Trashed { name, since, entry: entry.to_owned() })
        };
        if text.parse::<Digest>().is_err() {
            return Ok(read(&text.replace('+', "/")));
        }
        let file = trash.open_file_if_there(Path::new(&format!("{plain}{NAME}")))?;
        let Some(mut file) = file else { return Ok(None) };
        Ok(read(&String::from_utf8_lossy(&file.read_all(MAX_NAME_BYTES)?)))
    }
}

/// The name of an entry without a mark.
fn plain_of(entry: &str) -> &str {
    entry.strip_suffix(ASIDE).or_else(|| entry.strip_suffix(PURGED)).unwrap_or(entry)
}
