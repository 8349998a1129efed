//! The source of an export: its sidecar read and checked, its files opened.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::sink::Sink;
use super::{ExportError, MetadataFormat};
use crate::collection::{Collection, Lookup, ReadSidecar, StoredItem};
use crate::digest::Digest;
use crate::disk::copy::read_and_digest;
use crate::disk::{FileStat, Kind, PathError, StoredFile};
use crate::identity::{Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath, position};
use crate::layout;
use crate::progress::Progress;
use crate::sidecar::{NewText, Seal, Sidecar};

/// A file to be written.
pub(super) struct SourceFile<'a> {
    /// The path of its bytes in the payload.
    pub from: &'a PayloadPath,
    pub bytes: u64,
    pub digest: Digest,
    pub modified: Instant,
    pub mode: u32,
}

/// An item with a trusted sidecar.
pub(super) struct SoundItem<'a> {
    item: StoredItem,
    read: ReadSidecar,
    collection: &'a Collection,
}

impl<'a> SoundItem<'a> {
    /// The item, unless its seal is broken.
    pub(super) fn new(
        item: StoredItem,
        collection: &'a Collection,
    ) -> Result<SoundItem<'a>, ExportError> {
        let read = item.read_sidecar()?;
        let source = SoundItem { item, read, collection };
        let doubt = match source.read.seal {
            Seal::Intact => impossible(&source.sidecar().files),
            Seal::Broken { .. } => Some("it was changed after it was sealed".to_owned()),
            Seal::Missing => Some("it has no seal".to_owned()),
        };
        if let Some(detail) = doubt {
            return Err(source.damaged(Path::new(layout::SIDECAR), detail));
        }
        Ok(source)
    }

    pub(super) fn name(&self) -> &RepositoryName {
        self.item.name()
    }

    pub(super) fn sidecar(&self) -> &Sidecar {
        &self.read.sidecar
    }

    /// The description in another format, as rendered at `now`.
    pub(super) fn rendered(&self, format: MetadataFormat, now: Instant) -> Vec<u8> {
        format.render(self.sidecar(), &self.collection.settings().archive.cited_base(), now)
    }

    /// The sidecar on disk.
    pub(super) fn text(&self) -> Result<NewText, ExportError> {
        if let Ok(text) = self.sidecar().unchanged(&self.read.text) {
            return Ok(text);
        }
        // A long sidecar with unknown keys is read once more.
        Ok(NewText::Held(self.item.sidecar_bytes()?))
    }

    /// The metadata of a directory of the payload; of `doc/` itself if the path is empty.
    pub(super) fn directory(&self, path: &Path) -> Result<FileStat, ExportError> {
        let path = layout::in_payload(path);
        self.item.directory(&path).map_err(|error| self.absent(&path, "a directory", error))
    }

    /// The metadata of a link of the payload, whose target has to be `target`.
    pub(super) fn link(&self, link: &PayloadPath, target: &[u8]) -> Result<FileStat, ExportError> {
        let path = layout::in_payload(link.as_path());
        match self.item.link(&path).map_err(|error| self.absent(&path, "a link", error))? {
            Some((stamp, said)) if said.as_bytes() == target => Ok(stamp),
            Some(_) => Err(self.damaged(&path, "the link says something else".to_owned())),
            None => Err(self.damaged(&path, "it is not there as a link".to_owned())),
        }
    }

    /// Whether a file exists with the right size.
    pub(super) fn look_at(&self, file: &SourceFile<'_>) -> Result<(), ExportError> {
        self.open(file).map(|_| ())
    }

    fn open(&self, file: &SourceFile<'_>) -> Result<(StoredFile, FileStat), ExportError> {
        let path = layout::in_payload(file.from.as_path());
        let opened = self.item.open(file.from);
        let opened = opened.map_err(|error| self.absent(&path, "a file", error))?;
        let stamp = opened.stat()?;
        if stamp.kind != Kind::File {
            return Err(self.damaged(&path, "it is not a file".to_owned()));
        }
        if stamp.bytes != file.bytes {
            let detail = format!("{} B, in the sidecar {} B", stamp.bytes, file.bytes);
            return Err(self.damaged(&path, detail));
        }
        Ok((opened, stamp))
    }

    /// Writes a file to `sink` at `path`, and compares it with its digest on the way.
    pub(super) fn copy(
        &self,
        file: &SourceFile<'_>,
        path: &Path,
        sink: &mut dyn Sink,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<(), ExportError> {
        let (mut opened, stamp) = self.open(file)?;
        let found = layout::in_payload(file.from.as_path());
        let stamp = FileStat { mode: file.mode, modified: file.modified, ..stamp };
        sink.begin(path, &stamp)?;
        let measured =
            read_and_digest(file.bytes, &mut opened, progress, interrupt, |bytes, end| {
                if end > file.bytes {
                    return Err(self.damaged(&found, "it grew while it was read".to_owned()));
                }
                sink.write(bytes)
            })?;
        if measured.digest != file.digest || measured.bytes != file.bytes {
            let detail = format!("sha256 {}, in the sidecar {}", measured.digest, file.digest);
            return Err(self.damaged(&found, detail));
        }
        sink.end()?;
        progress.finish_file();
        Ok(())
    }

    /// Interprets `error`: the item may have been replaced while it was read.
    pub(super) fn explain(&self, error: ExportError, items: &Lookup<'_>) -> ExportError {
        if !matches!(error, ExportError::Damaged { .. }) {
            return error;
        }
        let is_same = match items.item(self.name()) {
            Ok(Some(item)) => item.has_version(self.read.version).unwrap_or(true),
            Ok(None) => false,
            Err(_) => true,
        };
        if is_same { error } else { ExportError::Changed { name: self.name().clone() } }
    }

    /// An entry of the sidecar that is missing on disk is damage, whatever has taken its place.
    fn absent(&self, path: &Path, what: &str, error: PathError) -> ExportError {
        match error.kind() {
            ErrorKind::NotFound => self.damaged(path, "it is missing".to_owned()),
            ErrorKind::NotADirectory => self.damaged(path, format!("it is not there as {what}")),
            _ if error.is_link() => self.damaged(path, format!("a link is there, not {what}")),
            _ => error.into(),
        }
    }

    fn damaged(&self, path: &Path, detail: String) -> ExportError {
        ExportError::Damaged {
            path: self.item.path_of(path),
            detail: detail.into(),
            name: self.name().clone(),
            collection: self.collection.path().to_path_buf(),
        }
    }
}

/// An impossible payload: an entry below a file or a link. Unpacking it would write to the wrong place.
fn impossible(entries: &[Entry]) -> Option<String> {
    let is_leaf = |above: &Path| {
        let Entry { path, content } = &entries[position(entries, above)?];
        (!matches!(content, Content::EmptyDirectory { .. })).then_some(path)
    };
    entries.iter().find_map(|entry| {
        let above = entry.path.parents().find_map(is_leaf)?;
        Some(format!("`{}` cannot lie below `{above}`, which is not a directory", entry.path))
    })
}
