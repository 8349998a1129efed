//! Files in an item's directory that its sidecar does not list.
//!
//! No other record mentions them, so no digest shows whether a second copy exists. They are not part of the
//! item and never travel with it: an item that leaves, or is replaced, leaves them in the trash.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::collection::{Collection, StoredItem};
use crate::disk::copy::{CopyError, digest};
use crate::disk::{Dir, DirEntry, Kind, Met, PathError};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, implies, position};
use crate::layout;
use crate::progress::NoProgress;

/// Everything in the directory of an item beside its sidecar and its payload.
pub(crate) fn strays_in(
    item: &Dir,
) -> Result<impl Iterator<Item = Result<DirEntry, PathError>> + use<'_>, PathError> {
    let is_part = |entry: &DirEntry| entry.name == layout::SIDECAR || entry.name == layout::PAYLOAD;
    Ok(item.entries_again()?.filter(move |entry| !entry.as_ref().is_ok_and(is_part)))
}

/// Bytes of the ledger that are searched in the time of one look at an item.
const BYTES_OF_A_LOOK: u64 = 4096;

/// Finds the directories of a list that adoption left alone: without anything of an item, and without a record of one.
///
/// Each may have to be looked at. Once the looks have taken as long as a search of the ledger, it is searched: where nothing was
/// adopted, every item came whole from the stage, and the rest of the list costs nothing.
#[derive(Debug)]
pub struct LeftAlone<'c> {
    collection: &'c Collection,
    /// Looks before the search; `None` before the first.
    looks: Option<u64>,
    /// Whether anything was adopted, once that is known.
    has_adopted: Option<bool>,
}

impl Collection {
    /// Finds the directories that adoption left alone.
    pub fn left_alone(&self) -> LeftAlone<'_> {
        LeftAlone { collection: self, looks: None, has_adopted: None }
    }
}

impl LeftAlone<'_> {
    /// Whether `name` is the path of such a directory.
    pub fn has(&mut self, name: &RepositoryName) -> bool {
        if self.has_adopted.is_none() {
            let of_ledger = || self.collection.ledger_bytes().map_or(0, |it| it / BYTES_OF_A_LOOK);
            let looks = self.looks.unwrap_or_else(of_ledger);
            self.looks = Some(looks.saturating_sub(1));
            if looks == 0 {
                self.search();
            }
        }
        self.has_adopted != Some(false) && self.is_no_item(name) && self.search()
    }

    fn is_no_item(&self, name: &RepositoryName) -> bool {
        let LeftAlone { collection, .. } = *self;
        collection.root().glance(&[name.as_str(), layout::SIDECAR].join("/")).is_none()
            && collection.item(name).is_ok_and(|it| it.is_no_item(collection).unwrap_or(false))
    }

    /// Searches the ledger once. One that cannot be searched is no answer.
    fn search(&mut self) -> bool {
        let search = || self.collection.has_adopted().unwrap_or(true);
        *self.has_adopted.get_or_insert_with(search)
    }
}

impl StoredItem {
    /// Whether nothing in its directory is of an item, and the ledger of `collection` never had one of its name.
    /// Adoption leaves such a directory alone.
    pub(crate) fn is_no_item(&self, collection: &Collection) -> Result<bool, PathError> {
        for entry in self.dir().entries()? {
            let DirEntry { name, kind } = entry?;
            let is_of_item = name == layout::SIDECAR || name == layout::PAYLOAD;
            if is_of_item || (kind != Kind::Directory && name != "@reference.bib") {
                return Ok(false);
            }
        }
        Ok(collection.ledger()?.is_some() && collection.last_record(self.name())?.is_none())
    }

    /// Everything in the item's directory beside its sidecar and its payload.
    pub(crate) fn strays(&self) -> Result<Vec<PathBuf>, PathError> {
        let strays = strays_in(self.dir())?.map(|entry| Ok(PathBuf::from(entry?.name)));
        let mut strays = strays.collect::<Result<Vec<_>, _>>()?;
        strays.sort();
        Ok(strays)
    }

    /// Everything in the item's directory that `entries`, the sorted entries of its sidecar, do not list,
    /// relative to that directory. An unlisted directory is named as a whole.
    ///
    /// A file of another size counts, and so does one of another time with other bytes: somebody has changed
    /// it.
    pub(crate) fn unlisted(
        &self,
        entries: &[Entry],
        interrupt: &Interrupt,
    ) -> Result<Vec<PathBuf>, CopyError> {
        let (mut found, mut payload_kind) = (Vec::new(), None);
        for entry in self.dir().entries_again()? {
            let DirEntry { name, kind } = entry?;
            match name.as_bytes() {
                name if name == layout::SIDECAR.as_bytes() => {}
                name if name == layout::PAYLOAD.as_bytes() => payload_kind = Some(kind),
                _ => found.push(PathBuf::from(name)),
            }
        }
        let payload = Path::new(layout::PAYLOAD);
        match payload_kind {
            None => {}
            Some(kind) if kind != Kind::Directory => found.push(payload.to_path_buf()),
            Some(_) => self.dir().open_dir(payload)?.walk(|met| {
                let (dir, entry, path) = match met {
                    _ if interrupt.requested() => return Err(CopyError::Interrupted),
                    Met::Entry(dir, entry, path) => (dir, entry, path),
                    Met::Unlisted(_, error) => return Err(error.into()),
                };
                let content = position(entries, path).map(|at| &entries[at].content);
                let is_listed_directory = match content {
                    Some(content) => matches!(content, Content::EmptyDirectory { .. }),
                    None => implies(entries, path),
                };
                if is_listed_directory && entry.kind == Kind::Directory {
                    return Ok(true);
                }
                match content {
                    Some(content) if is_as_listed(dir, entry, content)? => {}
                    _ => found.push(layout::in_payload(path)),
                }
                Ok(false)
            })?,
        }
        found.sort();
        Ok(found)
    }
}

/// Whether a file or link is the one listed. Only a file of another time has to be read for that.
fn is_as_listed(dir: &Dir, found: &DirEntry, content: &Content) -> Result<bool, CopyError> {
    let name = Path::new(&found.name);
    match (content, found.kind) {
        (Content::File { bytes, digest: listed, modified, .. }, Kind::File) => {
            // Removed since it was found: nothing is left to keep.
            let Some(stamp) = dir.stat(name)? else { return Ok(true) };
            if stamp.bytes != *bytes || stamp.modified == *modified {
                return Ok(stamp.bytes == *bytes);
            }
            let mut file = dir.open_file(name)?;
            let measured = digest(&mut file, &NoProgress, &Interrupt::default())?;
            Ok(measured.digest == *listed)
        }
        (Content::Link { target }, Kind::Link) => Ok(dir.read_link(name)?.as_bytes() == target),
        _ => Ok(false),
    }
}
