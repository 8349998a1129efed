//! Copying the payload of an item into the stage, each byte read once and compared on the way.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::TransferError;
use crate::collection::StoredItem;
use crate::digest::Digest;
use crate::disk::copy::{Measured, copy_and_digest, digest};
use crate::disk::{Dir, FileStat, Kind, PathError, StoredFile, Wake};
use crate::identity::Instant;
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath, directories, empty_directory};
use crate::layout;
use crate::progress::Progress;

/// Where a payload comes from and goes to.
pub(super) struct PayloadCopy<'a> {
    pub from: &'a StoredItem,
    /// The root of the source, for messages.
    pub root: &'a Path,
    /// What the destination has of it already.
    pub old: Option<Base<'a>>,
    /// The new item's directory; it has its payload directory.
    pub made: &'a Dir,
    /// Whether an earlier run may have copied a part of it.
    pub resumes: bool,
    pub wake: &'a Wake,
    pub progress: &'a dyn Progress,
    pub interrupt: &'a Interrupt,
}

/// An older state of the item at the destination, whose unchanged files are taken over.
#[derive(Clone, Copy)]
pub(super) struct Base<'a> {
    pub item: &'a StoredItem,
    /// Its entries, sorted by path.
    pub entries: &'a [Entry],
}

impl PayloadCopy<'_> {
    /// Makes every directory that `entries` name or imply.
    pub(super) fn make_directories(&self, entries: &[Entry]) -> Result<(), PathError> {
        for directory in directories(entries) {
            let path = layout::in_payload(directory);
            match self.made.make_dir(&path) {
                // An earlier run made it. Anything else there would lead astray what is put below it,
                // and is looked at before that: directories come after those they are in.
                Err(error) if self.resumes && error.kind() == ErrorKind::AlreadyExists => {
                    if self.made.stat(&path)?.is_none_or(|stamp| stamp.kind != Kind::Directory) {
                        return Err(error);
                    }
                    self.made.open_up(&path)?;
                }
                outcome => outcome?,
            }
        }
        Ok(())
    }

    /// Copies the files and links of some entries.
    pub(super) fn copy(&self, entries: &[Entry]) -> Result<(), TransferError> {
        for entry in entries {
            match &entry.content {
                Content::EmptyDirectory { .. } => {}
                Content::Link { target } => {
                    let text = std::ffi::OsStr::from_bytes(target);
                    let path = layout::in_payload(entry.path.as_path());
                    if self.resumes {
                        self.made.remove_file_if_there(&path)?;
                    }
                    self.made.make_link(text, &path)?;
                }
                Content::File { bytes, digest, modified, mode } => {
                    let wanted = Expected {
                        path: &entry.path,
                        bytes: *bytes,
                        digest: *digest,
                        modified: *modified,
                        mode: *mode,
                    };
                    if !self.take_over(entry, &wanted)? {
                        self.copy_file(&wanted)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives a file of the old item a second name in the new one, if it is the same there: in the
    /// sidecar, and by its bytes.
    fn take_over(&self, entry: &Entry, wanted: &Expected<'_>) -> Result<bool, TransferError> {
        let Some(Base { item, entries }) = self.old else { return Ok(false) };
        let at = entries.binary_search_by(|old| old.path.cmp(&entry.path));
        if at.ok().map(|at| &entries[at]) != Some(entry) {
            return Ok(false);
        }
        let path = layout::in_payload(entry.path.as_path());
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        // What is missing, of another kind or behind a link is copied like what differs.
        let Ok(dir) = item.dir().open_dir(above) else { return Ok(false) };
        let Ok(mut old) = dir.open_file(name) else { return Ok(false) };
        let stamp = old.stat()?;
        if stamp.kind != Kind::File || stamp.bytes != wanted.bytes {
            return Ok(false);
        }
        let measured = digest(&mut old, self.progress, self.interrupt)?;
        if measured.digest != wanted.digest || dir.stat(name)? != Some(stamp) {
            return Ok(false);
        }
        let staged = layout::in_payload(entry.path.as_path());
        let linked = dir.link_file(Path::new(name), self.made, &staged)?;
        if linked && (stamp.modified != wanted.modified || stamp.mode != wanted.mode) {
            // Both names are of one file, so the item that goes has them right from now on as well.
            self.made.open_file(&staged)?.set_attributes(&wanted.stat(stamp))?;
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
            return Err(self.damaged(wanted.path, "it is no file"));
        }
        if found.bytes != wanted.bytes {
            let detail = format!("{} bytes, in the sidecar {}", found.bytes, wanted.bytes);
            return Err(self.damaged(wanted.path, detail));
        }
        let path = layout::in_payload(wanted.path.as_path());
        if self.resumes && self.is_there(&path, wanted)? {
            return Ok(());
        }
        let mut copy = self.made.create_file_with_mode(&path, wanted.mode)?;
        let measured = self.fill(&mut copy, &mut source, wanted.bytes)?;
        if measured.digest != wanted.digest || measured.bytes != wanted.bytes {
            let detail = format!("sha256 {}, in the sidecar {}", measured.digest, wanted.digest);
            return Err(self.damaged(wanted.path, detail));
        }
        copy.set_attributes(&wanted.stat(found))?;
        self.wake.follow(copy, wanted.bytes);
        Ok(())
    }

    /// Whether an earlier run copied a file whole; what it left of one that is not goes.
    fn is_there(&self, path: &Path, wanted: &Expected<'_>) -> Result<bool, TransferError> {
        let Some(stamp) = self.made.stat(path)? else { return Ok(false) };
        if stamp.kind == Kind::File && stamp.bytes == wanted.bytes {
            let mut copy = self.made.open_file(path)?;
            let measured = digest(&mut copy, self.progress, self.interrupt)?;
            if measured.digest == wanted.digest && measured.bytes == wanted.bytes {
                copy.set_attributes(&wanted.stat(stamp))?;
                return Ok(true);
            }
        }
        self.made.remove_tree(path)?;
        Ok(false)
    }

    /// Fills a copy: sharing the bytes where the file system can, and reading them in either case.
    fn fill(
        &self,
        copy: &mut StoredFile,
        source: &mut StoredFile,
        bytes: u64,
    ) -> Result<Measured, TransferError> {
        let (progress, interrupt) = (self.progress, self.interrupt);
        if bytes > 0 && copy.share_bytes_of(source)? {
            return Ok(digest(copy, progress, interrupt)?);
        }
        Ok(copy_and_digest(source, copy, bytes, progress, interrupt)?)
    }

    /// Gives directories the modes and times they have at the source, now that nothing more is put
    /// into them.
    pub(super) fn finish_directories(&self, entries: &[Entry]) -> Result<(), TransferError> {
        // Deepest first: a directory sorts before everything below it.
        for directory in directories(entries).into_iter().rev() {
            let said = empty_directory(entries, directory);
            self.finish_directory(&layout::in_payload(directory), said)?;
        }
        self.finish_directory(Path::new(layout::PAYLOAD), None)
    }

    /// Gives the directory at `path` of the new item its time and mode: those that the sidecar says, or
    /// those of the source, open to those who share the collection.
    fn finish_directory(
        &self,
        path: &Path,
        said: Option<(Instant, u32)>,
    ) -> Result<(), TransferError> {
        let stamp = match self.from.stat(path) {
            Ok(Some(stamp)) => stamp,
            Ok(None) => return Ok(()),
            Err(error) if error.is_link() || error.kind() == ErrorKind::NotADirectory => {
                return Err(self.damaged_at(path, "a link stands on the way to it"));
            }
            Err(error) => return Err(error.into()),
        };
        let stamp = match said {
            Some((modified, mode)) => FileStat { mode, modified, ..stamp },
            None => self.made.opened(&stamp),
        };
        Ok(self.made.set_attributes_at(path, &stamp)?)
    }

    fn damaged(&self, path: &PayloadPath, detail: impl Into<String>) -> TransferError {
        self.damaged_at(&layout::in_payload(path.as_path()), detail)
    }

    /// The same of what is at `path` in the item's directory.
    fn damaged_at(&self, path: &Path, detail: impl Into<String>) -> TransferError {
        TransferError::Damaged {
            path: self.from.path_of(path),
            detail: detail.into(),
            name: self.from.name().clone(),
            collection: self.root.to_path_buf(),
        }
    }
}

/// A file as the sidecar has it.
struct Expected<'a> {
    path: &'a PayloadPath,
    bytes: u64,
    digest: Digest,
    modified: Instant,
    mode: u32,
}

impl Expected<'_> {
    /// The attributes it is to have.
    fn stat(&self, found: FileStat) -> FileStat {
        FileStat { mode: self.mode, modified: self.modified, ..found }
    }
}
