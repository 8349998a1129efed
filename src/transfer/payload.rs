//! Copying the payload of an item into the stage, reading and comparing each byte once.

use std::io::ErrorKind;
use std::path::Path;

use super::TransferError;
use crate::collection::{Draft, StoredItem};
use crate::disk::copy::{Measured, digest};
use crate::disk::{Attributes, FileStat, Kind, StoredFile};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath};
use crate::layout;
use crate::progress::Progress;

/// The source and the destination of a payload.
pub(super) struct PayloadCopy<'a> {
    pub from: &'a StoredItem,
    /// The root of the source, for messages.
    pub root: &'a Path,
    /// The part that the destination already has.
    pub old: Option<Base<'a>>,
    pub links: Links,
    pub draft: &'a Draft<'a>,
    pub progress: &'a dyn Progress,
    pub interrupt: &'a Interrupt,
}

/// Whether the files of the source may be hard-linked into the draft, because the source gives them up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// They are copied.
    No,
    /// Once they have been read.
    Read,
    /// Unread: the item in the stage is proven before it is published.
    Unread,
}

/// An older state of the item at the destination, whose unchanged files are reused.
#[derive(Clone, Copy)]
pub(super) struct Base<'a> {
    pub item: &'a StoredItem,
    /// Its entries, sorted by path.
    pub entries: &'a [Entry],
}

impl PayloadCopy<'_> {
    /// Copies the files and links of some entries.
    pub(super) fn copy(&self, entries: &[Entry]) -> Result<(), TransferError> {
        for entry in entries {
            match &entry.content {
                Content::EmptyDirectory { .. } => {}
                Content::Link { target } => self.draft.make_link(&entry.path, target)?,
                Content::File { bytes, digest, modified, mode } => {
                    let wanted = Expected {
                        path: &entry.path,
                        measured: Measured { bytes: *bytes, digest: *digest },
                        attributes: Attributes { modified: *modified, mode: *mode },
                    };
                    let is_linked = self.links == Links::Unread && self.link_unread(&wanted)?;
                    if !is_linked && !self.take_over(entry, &wanted)? {
                        self.copy_file(&wanted)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Hard-links a file of the old item into the new one, if it is the same in the sidecar and by its bytes.
    fn take_over(&self, entry: &Entry, wanted: &Expected<'_>) -> Result<bool, TransferError> {
        let Some(Base { item, entries }) = self.old else { return Ok(false) };
        let at = entries.binary_search_by(|old| old.path.cmp(&entry.path));
        if at.ok().map(|at| &entries[at]) != Some(entry) {
            return Ok(false);
        }
        // A file that is missing, of another kind or behind a link is copied, like one that differs.
        let Ok(mut old) = item.open(&entry.path) else { return Ok(false) };
        let stat = old.stat()?;
        if stat.kind != Kind::File || stat.bytes != wanted.measured.bytes {
            return Ok(false);
        }
        let is_same = digest(&mut old, self.progress, self.interrupt)? == wanted.measured
            && item.stat(layout::in_payload(entry.path.as_path()))? == Some(stat);
        let linked = is_same && self.draft.reuse(item, &entry.path, None)?;
        if linked && stat.attributes() != wanted.attributes {
            // Both names belong to one file, so the replaced item gets the right attributes as well.
            self.draft.open_file(&entry.path)?.set_attributes(wanted.attributes)?;
        }
        Ok(linked)
    }

    fn copy_file(&self, wanted: &Expected<'_>) -> Result<(), TransferError> {
        let mut source = match self.from.open(wanted.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(self.damaged(wanted.path, "it is missing"));
            }
            Err(error) if error.is_link() => {
                return Err(self.damaged(wanted.path, "a link stands for it"));
            }
            outcome => outcome?,
        };
        let found = source.stat()?;
        if found.kind != Kind::File {
            return Err(self.damaged(wanted.path, "it is not a file"));
        }
        let Measured { bytes, digest } = wanted.measured;
        if found.bytes != bytes {
            let detail = format!("{} B, in the sidecar {bytes} B", found.bytes);
            return Err(self.damaged(wanted.path, detail));
        }
        let (progress, interrupt) = (self.progress, self.interrupt);
        let left = self.draft.left_whole(wanted.path, wanted.measured, progress, interrupt)?;
        if let Some(left) = left {
            return Ok(left.set_attributes(wanted.attributes)?);
        }
        if self.links == Links::Read && self.link_read(wanted, &mut source, found)? {
            return Ok(());
        }
        let expected = (wanted.measured, wanted.attributes);
        self.draft.copy_file(&mut source, wanted.path, expected, progress, interrupt)?.map_err(
            |found| {
                let detail = format!("sha256 {}, in the sidecar {digest}", found.digest);
                self.damaged(wanted.path, detail)
            },
        )
    }

    /// Hard-links a file of the source that is as its sidecar says, but for its bytes. Copying says what else differs.
    fn link_unread(&self, wanted: &Expected<'_>) -> Result<bool, TransferError> {
        let is_as_listed = |found: &FileStat| {
            let is_whole = found.kind == Kind::File && found.bytes == wanted.measured.bytes;
            is_whole && found.attributes() == wanted.attributes && found.is_own()
        };
        match self.draft.reuse(self.from, wanted.path, Some(&is_as_listed)) {
            Err(error) if error.is_link() || error.kind() == ErrorKind::NotFound => Ok(false),
            linked => Ok(linked?),
        }
    }

    /// Hard-links a file of the source that is as its sidecar says, by its bytes.
    fn link_read(
        &self,
        wanted: &Expected<'_>,
        source: &mut StoredFile,
        found: FileStat,
    ) -> Result<bool, TransferError> {
        if found.attributes() != wanted.attributes
            || !found.is_own()
            || digest(source, self.progress, self.interrupt)? != wanted.measured
        {
            // Copying says what differs.
            source.rewind()?;
            return Ok(false);
        }
        let linked = self.draft.reuse(self.from, wanted.path, Some(&|now| *now == found))?;
        if !linked {
            source.rewind()?;
        }
        Ok(linked)
    }

    /// The attributes of the directory `below` of the payload at the source, if it exists. The path must not lead
    /// through a link.
    pub(super) fn attributes(&self, below: &Path) -> Result<Option<Attributes>, TransferError> {
        let path = layout::in_payload(below);
        match self.from.stat(&path) {
            Err(error) if error.is_link() || error.kind() == ErrorKind::NotADirectory => {
                Err(self.damaged_at(&path, "a link stands on the way to it"))
            }
            found => Ok(found?.map(|stat| stat.attributes())),
        }
    }

    fn damaged(&self, path: &PayloadPath, detail: impl Into<String>) -> TransferError {
        self.damaged_at(&layout::in_payload(path.as_path()), detail)
    }

    /// The same for `path` in the item's directory.
    fn damaged_at(&self, path: &Path, detail: impl Into<String>) -> TransferError {
        TransferError::Damaged {
            path: self.from.path_of(path),
            detail: detail.into(),
            name: self.from.name().clone(),
            collection: self.root.to_path_buf(),
        }
    }
}

/// A file of the sidecar.
struct Expected<'a> {
    path: &'a PayloadPath,
    measured: Measured,
    attributes: Attributes,
}
