//! One item of a collection, and its sidecar.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::kept_sidecars::{KeptSidecar, SidecarCache};
use super::{Collection, CollectionError, Here};
use crate::custody::{Has, Holding};
use crate::disk::{Dir, FileStat, Kind, PathError, StoredFile, Version};
use crate::identity::{Identifier, RepositoryName};
use crate::item::{Entry, PayloadPath, State, Totals};
use crate::layout;
use crate::sidecar::{MAX_BYTES, NewText, Seal, Sidecar, SidecarError, SidecarText};

/// An item on disk.
#[derive(Debug)]
pub struct StoredItem {
    name: RepositoryName,
    dir: Dir,
    /// The id of the collection in which it lies in the place of its name.
    collection: Option<String>,
    /// The sidecars that this process keeps, if it does.
    sidecars: Option<Arc<dyn SidecarCache>>,
}

/// A sidecar as read from disk.
#[derive(Debug)]
pub(crate) struct ReadSidecar {
    /// With the state of its custody.
    pub sidecar: Sidecar,
    /// The state in the text.
    pub written: State,
    pub seal: Seal,
    pub text: SidecarText,
    pub version: Version,
}

impl ReadSidecar {
    /// The entries of the payload that belongs beside this sidecar: tombstones and stubs have none.
    pub(crate) fn listed(&self) -> &[Entry] {
        if self.sidecar.state.has_payload() { &self.sidecar.files } else { &[] }
    }

    /// The holding with this sidecar, for the ledger.
    pub(crate) fn here(&self) -> Here {
        Here::of(&self.sidecar)
    }

    /// The text that the sidecar of `name` gets as `after`.
    pub(crate) fn rewritten(
        &self,
        name: &RepositoryName,
        after: &Sidecar,
    ) -> Result<NewText, CollectionError> {
        let before = Sidecar { state: self.written, ..self.sidecar.clone() };
        let text = after.rewritten(&self.text, &before);
        text.map_err(|cause| CollectionError::Unchangeable { name: name.clone(), cause })
    }
}

/// Why a file cannot be read as a sidecar.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SidecarFileError {
    /// It cannot be read.
    #[error(transparent)]
    Disk(#[from] PathError),
    /// It is not a sidecar.
    #[error(transparent)]
    Sidecar(#[from] SidecarError),
}

/// Reads `file` as a sidecar. For a long one, only the entries of its files are kept in memory.
pub(crate) fn read_sidecar(
    file: &mut StoredFile,
) -> Result<(Sidecar, Seal, SidecarText, FileStat), SidecarFileError> {
    let stamp = file.stat()?;
    let (sidecar, seal, text) = Sidecar::read_pieces(stamp.bytes, |piece| {
        Ok::<_, SidecarFileError>(file.read_some(piece)?)
    })?;
    Ok((sidecar, seal, text, stamp))
}

impl StoredItem {
    /// The item, whose sidecar is `read`, as a holding of the collection with the id `at`.
    pub(crate) fn holding(&self, read: &ReadSidecar, at: &str) -> Result<Holding, PathError> {
        self.holding_of((&read.sidecar, read.seal), at)
    }

    /// The same, of a sidecar and its seal.
    pub(crate) fn holding_of(
        &self,
        (sidecar, seal): (&Sidecar, Seal),
        at: &str,
    ) -> Result<Holding, PathError> {
        let has = match sidecar.state {
            _ if seal != Seal::Intact => Has::Damaged,
            State::Elsewhere => Has::Stub,
            State::Deleted => Has::Tombstone,
            State::Original | State::Copy if self.has_payload()? => Has::Payload,
            State::Original | State::Copy => Has::Damaged,
        };
        let changed = sidecar.changed();
        Ok(Holding { at: at.to_owned(), has, custody: sidecar.custody.clone(), changed })
    }

    /// The name, spelt as it is on disk.
    pub fn name(&self) -> &RepositoryName {
        &self.name
    }

    /// The path of the item's directory, for people.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A path in the item's directory, for people.
    pub fn path_of(&self, below: impl AsRef<Path>) -> PathBuf {
        self.dir.path_of(below)
    }

    /// The item's directory.
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The item in `dir`, the place of its name in `collection`.
    pub(super) fn of(name: RepositoryName, dir: Dir, collection: &Collection) -> StoredItem {
        let (id, sidecars) = (collection.id().to_owned(), collection.sidecars.clone());
        StoredItem { name, dir, collection: Some(id), sidecars }
    }

    /// The item in `dir`, which may be anywhere.
    pub(crate) fn at(name: RepositoryName, dir: Dir) -> StoredItem {
        StoredItem { name, dir, collection: None, sidecars: None }
    }

    /// The sidecar and what its seal says.
    pub fn sidecar(&self) -> Result<(Sidecar, Seal), CollectionError> {
        let KeptSidecar { sidecar, seal, .. } = Arc::unwrap_or_clone(self.kept_sidecar()?);
        Ok((sidecar, seal))
    }

    /// The sidecar, unless it is missing or damaged, which `verify` reports. An error of the file system is no such damage:
    /// nothing is known about the sidecar then.
    pub(crate) fn sidecar_if_sound(&self) -> Result<Option<Sidecar>, PathError> {
        match self.sidecar() {
            Ok((sidecar, _)) => Ok(Some(sidecar)),
            Err(CollectionError::Disk(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The sidecar, which this process may have read before.
    pub(crate) fn kept_sidecar(&self) -> Result<Arc<KeptSidecar>, CollectionError> {
        let read = || {
            let ReadSidecar { sidecar, seal, version, .. } = self.read_sidecar()?;
            Ok(KeptSidecar { sidecar, seal, version })
        };
        if let Some(sidecars) = &self.sidecars
            && let Some(version) = self.version()?
        {
            return sidecars.sidecar(self.path(), version, &read);
        }
        read().map(Arc::new)
    }

    /// The sidecar with its text and its version.
    pub(crate) fn read_sidecar(&self) -> Result<ReadSidecar, CollectionError> {
        let Some(mut file) = self.dir.open_file_if_there(layout::SIDECAR)? else {
            return Err(CollectionError::NoSidecar { name: self.name.clone() });
        };
        let read = read_sidecar(&mut file);
        let (mut sidecar, seal, text, stat) = read.map_err(|error| match error {
            SidecarFileError::Disk(error) => CollectionError::Disk(error),
            SidecarFileError::Sidecar(cause) => {
                CollectionError::Sidecar { name: self.name.clone(), cause }
            }
        })?;
        if sidecar.repository != self.name {
            let (name, found) = (self.name.clone(), sidecar.repository);
            return Err(CollectionError::OtherSidecar { name, found });
        }
        let written = sidecar.state;
        if let Some(collection) = &self.collection {
            sidecar.state = sidecar.state_in(collection);
        }
        Ok(ReadSidecar { sidecar, written, seal, text, version: stat.version() })
    }

    /// The text of the sidecar with its version, for comparison with an earlier reading.
    pub(crate) fn versioned_text(&self) -> Result<(SidecarText, Version), CollectionError> {
        let Some(mut file) = self.dir.open_file_if_there(layout::SIDECAR)? else {
            return Err(CollectionError::NoSidecar { name: self.name.clone() });
        };
        let stat = file.stat()?;
        let text = SidecarText::read_pieces(stat.bytes, |piece| file.read_some(piece))?;
        Ok((text, stat.version()))
    }

    /// The totals of the payload, from the first lines of the sidecar.
    pub(crate) fn totals(&self) -> Option<Totals> {
        let mut file = self.dir.open_file_if_there(layout::SIDECAR).ok()??;
        Sidecar::read_totals(|piece| file.read_some(piece).ok())
    }

    /// The version of the sidecar; `None` without one.
    pub(crate) fn version(&self) -> Result<Option<Version>, PathError> {
        Ok(self.dir.stat(layout::SIDECAR)?.as_ref().map(FileStat::version))
    }

    /// Whether the sidecar still has `version`.
    pub(crate) fn has_version(&self, version: Version) -> Result<bool, PathError> {
        Ok(self.version()? == Some(version))
    }

    /// Whether the payload exists.
    pub(crate) fn has_payload(&self) -> Result<bool, PathError> {
        Ok(self.dir.stat(layout::PAYLOAD)?.is_some())
    }

    /// Kind, size and times of `below` in the item's directory; `None` if it does not exist.
    pub(crate) fn stat(&self, below: impl AsRef<Path>) -> Result<Option<FileStat>, PathError> {
        self.dir.stat(below)
    }

    /// Mode and times of the directory `below` in the item's directory.
    pub(crate) fn directory(&self, below: &Path) -> Result<FileStat, PathError> {
        self.dir.open_dir(below)?.own_stat()
    }

    /// Times and target of the link `below` in the item's directory; `None` if it does not exist.
    pub(crate) fn link(&self, below: &Path) -> Result<Option<(FileStat, OsString)>, PathError> {
        let name = Path::new(below.file_name().unwrap_or_default());
        let above = self.dir.open_dir(below.parent().unwrap_or(below))?;
        Ok(match above.stat(name)? {
            Some(stat) if stat.kind == Kind::Link => Some((stat, above.read_link(name)?)),
            _ => None,
        })
    }

    /// The bytes of the sidecar.
    pub(crate) fn sidecar_bytes(&self) -> Result<Vec<u8>, PathError> {
        self.dir.open_file(layout::SIDECAR)?.read_all(MAX_BYTES)
    }

    /// Opens a file of the payload.
    pub fn open(&self, path: &PayloadPath) -> Result<StoredFile, PathError> {
        self.dir.open_file(layout::in_payload(path.as_path()))
    }

    /// The path of the payload.
    pub fn payload_path(&self) -> PathBuf {
        self.dir.path_of(layout::PAYLOAD)
    }
}

impl Sidecar {
    /// All identifiers of the item: its name, its IBIp, and the aliases in its description.
    pub fn identifiers(&self) -> Vec<Identifier> {
        let own = [
            Some(Identifier::from(self.repository.clone())),
            self.ibip.clone().map(Identifier::from),
        ];
        let aliases = self.aliases().filter_map(|alias| alias.parse().ok());
        own.into_iter().flatten().chain(aliases).collect()
    }

    /// Other identifiers of the item in its description, including labels from before 2009.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        let aliases = match self.metadata.table().get("identifier") {
            Some(toml::Value::Array(aliases)) => aliases.as_slice(),
            Some(alias) => std::slice::from_ref(alias),
            None => &[],
        };
        aliases.iter().filter_map(toml::Value::as_str)
    }

    /// Whether `label` is the IBIp of the item, or an alias.
    pub(super) fn is_labelled(&self, label: &str) -> bool {
        let is_ibip =
            self.ibip.as_ref().is_some_and(|ibip| ibip.as_str().eq_ignore_ascii_case(label));
        // Labels from before 2009 are compared exactly.
        is_ibip || self.aliases().any(|alias| alias == label)
    }
}
