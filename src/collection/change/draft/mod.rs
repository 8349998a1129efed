//! Drafts: the only way in which payloads and sidecars come into the stage of a run.
//!
//! Deposits, transfers and repairs decide which bytes an item gets. This module decides where the item lies
//! until it is published, how its files keep modes and times, and how a group of items is published.

mod bucket;
mod partial;
mod publish;

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) use self::bucket::Buckets;
pub(crate) use self::partial::Partial;
pub(crate) use self::publish::{Arriving, GroupFailure, Year, Years};
use crate::collection::{Collection, StoredItem, Writer};
use crate::disk::copy::{CopyError, Measured, copy_and_digest, digest};
use crate::disk::{Attributes, Dir, FileStat, Kind, PathError, StoredFile};
use crate::identity::{Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath, directories, empty_directory};
use crate::layout;
use crate::progress::Progress;
use crate::sidecar::NewText;

/// An item being built, which several threads may fill.
#[derive(Debug)]
pub(crate) struct Draft<'w> {
    writer: &'w Writer,
    staged: StagedItem,
    /// Its directory in the stage: a placeholder while the item is built in a [`Partial`].
    in_stage: Dir,
}

/// An item in the stage of a [`Writer`], which alone can open, publish or discard it.
#[derive(Clone, Debug)]
pub(crate) struct StagedItem {
    /// Its place in the stage when it is published.
    at: PathBuf,
    /// Its place until then, if a later run can resume it.
    partial: Option<Arc<Partial>>,
}

impl Writer {
    /// Begins an item: its directory and that of its payload.
    pub(crate) fn draft(&self) -> Result<Draft<'_>, PathError> {
        self.resumable_draft(None)
    }

    /// Begins an item in `partial`, if given, which contains the files of an interrupted run.
    pub(crate) fn resumable_draft(&self, partial: Option<Partial>) -> Result<Draft<'_>, PathError> {
        let (at, in_stage) =
            self.buckets.make_item(self.stage(), |bucket, item| bucket.open_dir(item))?;
        let in_stage = in_stage?;
        in_stage.make_dir(layout::PAYLOAD)?;
        let staged = StagedItem { at, partial: partial.map(Arc::new) };
        Ok(Draft { writer: self, staged, in_stage })
    }

    /// Stages a tombstone or a stub.
    pub(crate) fn stage_tombstone(&self, text: &NewText) -> Result<StagedItem, PathError> {
        let (at, written) = self.buckets.make_item(self.stage(), |bucket, item| {
            let mut file = bucket.create_file(item.join(layout::SIDECAR))?;
            text.write(|piece| file.write_all(piece))
        })?;
        let staged = StagedItem { at, partial: None };
        // A full disk has no room for half of it.
        written.inspect_err(|_: &PathError| self.discard(&staged))?;
        Ok(staged)
    }

    /// Creates the sidecar of a staged item.
    pub(crate) fn create_sidecar(&self, staged: &StagedItem) -> Result<StoredFile, PathError> {
        let (dir, at) = staged.made_in(self);
        dir.create_file(at.join(layout::SIDECAR))
    }

    /// Opens a staged item, whose name will be `name`.
    pub(crate) fn staged_item(
        &self,
        name: &RepositoryName,
        staged: &StagedItem,
    ) -> Result<StoredItem, PathError> {
        let (dir, at) = staged.made_in(self);
        Ok(StoredItem::at(name.clone(), dir.open_dir(at)?))
    }

    /// Syncs staged items before they move to their directories in `collection`.
    pub(crate) fn sync_staged<'s>(
        &self,
        collection: &Collection,
        items: impl IntoIterator<Item = (&'s Path, &'s StagedItem)>,
    ) -> Result<(), PathError> {
        let (partial, whole): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|(_, staged)| staged.partial.is_some());
        if !whole.is_empty() {
            let mut years: Vec<_> = whole.iter().map(|(year, _)| *year).collect();
            years.sort_unstable();
            years.dedup();
            // An error here is met again when the items are published.
            let _ = years.into_iter().try_for_each(|year| collection.expect_directory(year));
            self.stage().sync_trees(whole.iter().map(|(_, staged)| &staged.at))?;
        }
        partial.iter().try_for_each(|(_, staged)| {
            let (dir, at) = staged.made_in(self);
            dir.sync_trees([at])
        })
    }

    /// Moves a complete and synced item into the stage, if it was built elsewhere.
    pub(crate) fn complete(&self, staged: &StagedItem) -> Result<(), PathError> {
        match &staged.partial {
            Some(partial) => partial.complete(self.stage(), &staged.at),
            None => Ok(()),
        }
    }

    /// Removes a staged item, or the item it has replaced, except files that a later run can resume.
    pub(crate) fn discard(&self, staged: &StagedItem) {
        // Entries that cannot be removed now are removed with the stage.
        let _ = self.stage().remove_likely(&staged.at, layout::ITEM, None);
    }
}

impl StagedItem {
    /// Its place in the stage.
    pub(crate) fn path(&self) -> &Path {
        &self.at
    }

    /// Removes the files that a later run would resume.
    pub(crate) fn give_up(&self) {
        if let Some(partial) = &self.partial {
            // After an error the files are left, as by a killed process.
            let _ = partial.remove();
        }
    }

    /// Its place until it is complete: a directory, and the item in it.
    fn made_in<'a>(&'a self, writer: &'a Writer) -> (&'a Dir, &'a Path) {
        match &self.partial {
            Some(partial) => (&partial.dir, &partial.item),
            None => (writer.stage(), &self.at),
        }
    }
}

impl Draft<'_> {
    /// The staged item, as the writer knows it.
    pub(crate) fn staged(&self) -> &StagedItem {
        &self.staged
    }

    /// Closes the draft.
    pub(crate) fn into_staged(self) -> StagedItem {
        self.staged
    }

    /// Whether an earlier run may have built a part of it.
    fn resumes(&self) -> bool {
        self.staged.partial.is_some()
    }

    fn dir(&self) -> &Dir {
        self.staged.partial.as_ref().map_or(&self.in_stage, |partial| &partial.own)
    }

    /// Turns it into an item without a payload.
    pub(crate) fn leave_out_payload(&self) -> Result<(), PathError> {
        self.dir().remove_dir(Path::new(layout::PAYLOAD))
    }

    /// Creates the directory `below` in the payload. Its parent directories must exist.
    pub(crate) fn make_dir(&self, below: &Path) -> Result<(), PathError> {
        let path = layout::in_payload(below);
        match self.dir().make_dir(&path) {
            // An earlier run made it. Another kind of entry would misdirect the files below it, so it is
            // checked first.
            Err(error) if self.resumes() && error.kind() == ErrorKind::AlreadyExists => {
                if self.dir().stat(&path)?.is_none_or(|stat| stat.kind != Kind::Directory) {
                    return Err(error);
                }
                self.dir().open_up(&path).map(drop)
            }
            outcome => outcome,
        }
    }

    /// Makes a symbolic link to `target`.
    pub(crate) fn make_link(&self, path: &PayloadPath, target: &[u8]) -> Result<(), PathError> {
        let path = layout::in_payload(path.as_path());
        if self.resumes() {
            self.dir().remove_file_if_there(&path)?;
        }
        self.dir().make_link(OsStr::from_bytes(target), &path)
    }

    /// Sets the modification time of a link.
    pub(crate) fn set_link_time(
        &self,
        path: &PayloadPath,
        modified: Instant,
    ) -> Result<(), PathError> {
        self.dir().set_link_time(&layout::in_payload(path.as_path()), modified)
    }

    /// Creates a file.
    pub(crate) fn create_file(
        &self,
        path: &PayloadPath,
        mode: u32,
    ) -> Result<StoredFile, PathError> {
        self.dir().create_file_with_mode(layout::in_payload(path.as_path()), mode)
    }

    /// Sets the mode and mtime of a complete file of `bytes` bytes, and lets the page cache forget it once it is on disk.
    pub(crate) fn finish_file(
        &self,
        file: StoredFile,
        bytes: u64,
        attributes: Attributes,
    ) -> Result<(), PathError> {
        file.set_attributes(attributes)?;
        self.writer.dropper.follow(file, bytes);
        Ok(())
    }

    /// Copies `source`, sharing its blocks where the file system can, and digests every byte in either case.
    ///
    /// `Ok(Err(found))` if size or digest differ from `wanted`: then the draft must not be published.
    pub(crate) fn copy_file(
        &self,
        source: &mut StoredFile,
        path: &PayloadPath,
        (wanted, attributes): (Measured, Attributes),
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Result<(), Measured>, CopyError> {
        let mut copy = self.create_file(path, attributes.mode)?;
        let measured = if wanted.bytes > 0 && copy.share_bytes_of(source)? {
            digest(&mut copy, progress, interrupt)?
        } else {
            copy_and_digest(source, &mut copy, wanted.bytes, progress, interrupt)?
        };
        if measured != wanted {
            return Ok(Err(measured));
        }
        self.finish_file(copy, wanted.bytes, attributes)?;
        Ok(Ok(()))
    }

    /// Copies an entry of `item`. The inner error has the bytes of a file that are not those of its digest.
    pub(crate) fn copy_entry(
        &self,
        item: &StoredItem,
        Entry { path, content }: &Entry,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Result<(), Measured>, CopyError> {
        match content {
            Content::EmptyDirectory { .. } => Ok(Ok(())),
            Content::Link { target } => Ok(Ok(self.make_link(path, target)?)),
            Content::File { bytes, digest, modified, mode } => {
                let measured = Measured { bytes: *bytes, digest: *digest };
                let expected = (measured, Attributes { mode: *mode, modified: *modified });
                self.copy_file(&mut item.open(path)?, path, expected, progress, interrupt)
            }
        }
    }

    /// Opens an existing file.
    pub(crate) fn open_file(&self, path: &PayloadPath) -> Result<StoredFile, PathError> {
        self.dir().open_file(layout::in_payload(path.as_path()))
    }

    /// Hard-links a file or symbolic link of `item` into this draft. `false` if the file system has no hard
    /// links, or `admits` does not accept it as it is.
    pub(crate) fn reuse(
        &self,
        item: &StoredItem,
        path: &PayloadPath,
        admits: Option<&dyn Fn(&FileStat) -> bool>,
    ) -> Result<bool, PathError> {
        let path = layout::in_payload(path.as_path());
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        let (above, name) = (item.dir().open_dir(above)?, Path::new(name));
        if let Some(admits) = admits
            && !above.stat(name)?.as_ref().is_some_and(admits)
        {
            return Ok(false);
        }
        if self.resumes() {
            // An earlier run may have linked it.
            self.dir().remove_file_if_there(&path)?;
        }
        above.link_file(name, self.dir(), &path)
    }

    /// The file that an earlier run left, if it has the `wanted` digest. Another entry at `path` is removed.
    pub(crate) fn left_whole(
        &self,
        path: &PayloadPath,
        wanted: Measured,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Option<StoredFile>, CopyError> {
        if !self.resumes() {
            return Ok(None);
        }
        let below = layout::in_payload(path.as_path());
        let Some(stat) = self.dir().stat(&below)? else { return Ok(None) };
        if stat.kind == Kind::File && stat.bytes == wanted.bytes {
            let mut file = self.open_file(path)?;
            if digest(&mut file, progress, interrupt)? == wanted {
                return Ok(Some(file));
            }
        }
        self.dir().remove_tree(&below)?;
        Ok(None)
    }

    /// Sets the mode and mtime of the empty directory `below` in the payload, as its sidecar has them.
    pub(crate) fn finish_empty_dir(
        &self,
        below: &Path,
        attributes: Attributes,
    ) -> Result<(), PathError> {
        self.set_dir_attributes(below, attributes)
    }

    /// Sets the mode and mtime of the directory `below` in the payload, once it is complete.
    ///
    /// Sidecars record the modes of empty directories only. All others are opened to the users who share the
    /// collection, who could not remove the item otherwise.
    pub(crate) fn finish_dir(&self, below: &Path, attributes: Attributes) -> Result<(), PathError> {
        self.set_dir_attributes(below, self.dir().opened(attributes))
    }

    /// Makes every directory that `entries` name or imply.
    pub(crate) fn make_directories(&self, entries: &[Entry]) -> Result<(), PathError> {
        directories(entries).into_iter().try_for_each(|directory| self.make_dir(directory))
    }

    /// Sets the modes and mtimes of the payload and of all its directories, once they are complete: of empty
    /// directories as in `entries`, of all others as `found` returns them.
    pub(crate) fn finish_directories<E: From<PathError>>(
        &self,
        entries: &[Entry],
        found: impl Fn(&Path) -> Result<Option<Attributes>, E>,
    ) -> Result<(), E> {
        // Deepest first: a directory sorts before everything below it.
        for directory in directories(entries).into_iter().rev().chain([Path::new("")]) {
            let found = found(directory)?;
            if let Some((modified, mode)) = empty_directory(entries, directory) {
                self.finish_empty_dir(directory, Attributes { mode, modified })?;
            } else if let Some(attributes) = found {
                self.finish_dir(directory, attributes)?;
            }
        }
        Ok(())
    }

    fn set_dir_attributes(&self, below: &Path, attributes: Attributes) -> Result<(), PathError> {
        self.dir().set_attributes_at(&layout::in_payload(below), attributes)
    }

    /// Writes the sidecar.
    pub(crate) fn write_sidecar(&self, text: &NewText) -> Result<(), PathError> {
        let mut file = self.dir().create_file(layout::SIDECAR)?;
        text.write(|piece| file.write_all(piece))
    }
}
