//! One item of a collection: found by name, read.

use std::path::{Path, PathBuf};

use super::lookup::Lookup;
use super::{Collection, CollectionError};
use crate::disk::{Dir, PathError, Stamp, StoredFile};
use crate::identity::{Ibip, Identifier, Instant, RepositoryName};
use crate::index::Record;
use crate::item::{Entry, PayloadPath, State, Totals};
use crate::layout;
use crate::sidecar::{Seal, Sidecar, SidecarError, SidecarText};

/// An item on disk.
#[derive(Debug)]
pub struct StoredItem {
    name: RepositoryName,
    dir: Dir,
}

/// A sidecar as it was read.
#[derive(Debug)]
pub(crate) struct ReadSidecar {
    pub sidecar: Sidecar,
    pub seal: Seal,
    pub text: SidecarText,
    pub stamp: Stamp,
}

impl ReadSidecar {
    /// The entries of the payload that belongs beside this sidecar: a tombstone has none.
    pub(crate) fn listed(&self) -> &[Entry] {
        if self.sidecar.state == State::Deleted { &[] } else { &self.sidecar.files }
    }
}

/// Why a file cannot be read as a sidecar.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SidecarFileError {
    /// It cannot be read.
    #[error(transparent)]
    Disk(#[from] PathError),
    /// It is no sidecar.
    #[error(transparent)]
    Sidecar(#[from] SidecarError),
}

/// What `file` says as a sidecar. Of a long one, no more is held than the entries of its files.
pub(crate) fn read_sidecar(
    file: &mut StoredFile,
) -> Result<(Sidecar, Seal, SidecarText, Stamp), SidecarFileError> {
    let stamp = file.stamp()?;
    let (sidecar, seal, text) = Sidecar::read_pieces(stamp.bytes, |piece| {
        Ok::<_, SidecarFileError>(file.read_some(piece)?)
    })?;
    Ok((sidecar, seal, text, stamp))
}

impl StoredItem {
    /// The name, spelt as it is on disk.
    pub fn name(&self) -> &RepositoryName {
        &self.name
    }

    /// The item's directory.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The item in `dir`, wherever that is.
    pub(crate) fn at(name: RepositoryName, dir: Dir) -> StoredItem {
        StoredItem { name, dir }
    }

    /// The sidecar and what its seal says.
    pub fn sidecar(&self) -> Result<(Sidecar, Seal), CollectionError> {
        let ReadSidecar { sidecar, seal, .. } = self.read_sidecar()?;
        Ok((sidecar, seal))
    }

    /// The sidecar with its text, and what tells whether it is still the same later.
    pub(crate) fn read_sidecar(&self) -> Result<ReadSidecar, CollectionError> {
        let Some(mut file) = self.dir.open_file_if_there(layout::SIDECAR)? else {
            return Err(CollectionError::NoSidecar { name: self.name.clone() });
        };
        let (sidecar, seal, text, stamp) =
            read_sidecar(&mut file).map_err(|error| match error {
                SidecarFileError::Disk(error) => CollectionError::Disk(error),
                SidecarFileError::Sidecar(cause) => {
                    CollectionError::Sidecar { name: self.name.clone(), cause }
                }
            })?;
        if sidecar.repository != self.name {
            let (name, found) = (self.name.clone(), sidecar.repository);
            return Err(CollectionError::OtherSidecar { name, found });
        }
        Ok(ReadSidecar { sidecar, seal, text, stamp })
    }

    /// The text of the sidecar, to compare it with what was read before.
    pub(crate) fn sidecar_text(&self) -> Result<SidecarText, CollectionError> {
        let Some(mut file) = self.dir.open_file_if_there(layout::SIDECAR)? else {
            return Err(CollectionError::NoSidecar { name: self.name.clone() });
        };
        let size = file.stamp()?.bytes;
        Ok(SidecarText::read_pieces(size, |piece| file.read_some(piece))?)
    }

    /// The totals of the payload, as a look at the first lines of the sidecar tells them.
    pub(crate) fn totals(&self) -> Option<Totals> {
        let mut file = self.dir.open_file_if_there(layout::SIDECAR).ok()??;
        Sidecar::read_totals(|piece| file.read_some(piece).ok())
    }

    /// Whether the sidecar is still the one that had `stamp`.
    pub(crate) fn has_sidecar(&self, stamp: &Stamp) -> Result<bool, PathError> {
        Ok(self.dir.stamp(layout::SIDECAR)?.as_ref() == Some(stamp))
    }

    /// Opens a file of the payload.
    pub fn open(&self, path: &PayloadPath) -> Result<StoredFile, PathError> {
        self.dir.open_file(Path::new(layout::PAYLOAD).join(path.as_path()))
    }

    /// Where the payload is.
    pub fn payload_path(&self) -> PathBuf {
        self.dir.path_of(layout::PAYLOAD)
    }
}

impl Collection {
    /// The item called `name`, in whatever case it is spelt on disk.
    pub fn item(&self, name: &RepositoryName) -> Result<StoredItem, CollectionError> {
        let path = layout::item_directory(name);
        if let Some(dir) = self.directory(&path)?
            // The directory has no trailing dot, though the name asked for may have one.
            && let Some(Ok((name, _))) = path.to_str().map(RepositoryName::parse_as_found)
        {
            return Ok(StoredItem { name, dir });
        }
        Lookup::new(self).item(name)?.ok_or_else(|| CollectionError::NoSuchItem {
            name: name.to_string(),
            path: self.path().to_path_buf(),
        })
    }

    /// That the item `name` is displaced.
    pub(super) fn displaced_error(&self, name: RepositoryName) -> CollectionError {
        CollectionError::Displaced { name, path: self.path().to_path_buf() }
    }

    /// The item called `name`, which somebody asked for: the error says where it has gone.
    pub(crate) fn named_item(&self, name: &RepositoryName) -> Result<StoredItem, CollectionError> {
        self.item(name).map_err(|error| match error {
            CollectionError::NoSuchItem { .. } => self.absent(name),
            error => error,
        })
    }

    /// The item that `text` means: any spelling of its identifier, a link or a path with one in it,
    /// or the end of its name where only one item has that.
    pub fn find(&self, text: &str) -> Result<StoredItem, FindError> {
        let read = match Identifier::read(text) {
            Ok(Identifier::Repository(name)) => {
                return Ok(self.named_item(&name)?);
            }
            Ok(Identifier::Ibip(ibip)) => Ok((ibip.instant().ok(), ibip.to_string())),
            Ok(Identifier::Legacy(label)) => Ok((label.instant().ok(), label.to_string())),
            Err(error) => Err(error),
        };
        let mut found = self.items_ending_in(text)?;
        if found.is_empty()
            && let Ok((date, label)) = &read
        {
            found = self.items_labelled(*date, label)?;
        }
        if found.len() > 1 {
            let names = found.into_iter().map(|item| item.name).collect();
            return Err(FindError::Ambiguous { text: text.to_owned(), names });
        }
        match (found.pop(), read) {
            (Some(item), _) => Ok(item),
            (None, Err(error)) if !may_end_a_name(text) => Err(CollectionError::from(error).into()),
            (None, _) => {
                let end = format!("/{}", text.trim_matches('/').to_ascii_lowercase());
                let displaced =
                    self.displaced(&super::Names::default()).map_err(CollectionError::from)?;
                let meant = displaced.into_iter().find(|name| name.folded().ends_with(&end));
                if let Some(name) = meant {
                    return Err(self.displaced_error(name).into());
                }
                let mut recorded =
                    self.recorded_names_ending_in(&end).map_err(CollectionError::from)?;
                let meant = recorded.pop_first().filter(|_| recorded.is_empty());
                Err(FindError::Collection(match meant {
                    Some(name) => self.absent(&name),
                    None => CollectionError::NoSuchItem {
                        name: text.to_owned(),
                        path: self.path().to_path_buf(),
                    },
                }))
            }
        }
    }

    /// The directory at `path`, unless there is none: nothing, or a file somewhere on the way.
    pub(super) fn directory(&self, path: &Path) -> Result<Option<Dir>, CollectionError> {
        match self.root().open_dir_if_there(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
            outcome => Ok(outcome?),
        }
    }

    /// Items whose name ends in the whole directory names of `text`.
    fn items_ending_in(&self, text: &str) -> Result<Vec<StoredItem>, CollectionError> {
        let text = text.trim_matches('/');
        if !may_end_a_name(text) {
            return Ok(Vec::new());
        }
        let levels = text.split('/').count();
        let mut found = Vec::new();
        for above in self.directories_above(4_usize.saturating_sub(levels))? {
            let path = above.join(text);
            if let Some(Ok((name, _))) = path.to_str().map(RepositoryName::parse_as_found)
                && let Some(dir) = self.directory(&path)?
            {
                found.push(StoredItem { name, dir });
            }
        }
        Ok(found)
    }

    /// Items that carry the opaque name `ibip`, as far as it has the date of their names.
    pub(crate) fn items_with_ibip(&self, ibip: &Ibip) -> Result<Vec<StoredItem>, CollectionError> {
        self.items_labelled(ibip.instant().ok(), &ibip.to_string())
    }

    /// Items of the date of an opaque label that carry the label.
    ///
    /// Its prefix cannot be turned into a name, but its suffix is a date, and few items share one.
    fn items_labelled(
        &self,
        date: Option<Instant>,
        label: &str,
    ) -> Result<Vec<StoredItem>, CollectionError> {
        let Some(date) = date else { return Ok(Vec::new()) };
        let shortest = date.suffix();
        // A foreign name may spell out seconds that the shortest form leaves away.
        let mut found = self.items_ending_in(&shortest)?;
        found.extend(self.items_ending_in(&format!("{shortest}.00"))?);
        let mut labelled = Vec::new();
        for item in found {
            match item.sidecar() {
                Ok((sidecar, _)) if sidecar.is_labelled(label) => labelled.push(item),
                Err(CollectionError::Disk(error)) => return Err(error.into()),
                // One that says nothing of a label has none.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(labelled)
    }

    /// The directories `depth` levels below the root, as far as they can hold items.
    fn directories_above(&self, depth: usize) -> Result<Vec<PathBuf>, CollectionError> {
        let mut level = vec![PathBuf::new()];
        for _ in 0..depth {
            let mut next = Vec::new();
            for path in level {
                let Some(dir) = self.root().open_dir_if_there(&path)? else { continue };
                for entry in dir.entries()? {
                    let entry = entry?;
                    if entry.kind == crate::disk::Kind::Directory && entry.name != layout::OWN {
                        next.push(path.join(entry.name));
                    }
                }
            }
            level = next;
        }
        Ok(level)
    }
}

/// What the index keeps of the item `name`, whose sidecar is `file`.
pub(super) fn record_of(name: &RepositoryName, mut file: StoredFile) -> Result<Record, PathError> {
    Ok(match read_sidecar(&mut file) {
        Ok((sidecar, _, _, stamp)) if sidecar.repository == *name => {
            Record::of(&sidecar, &sidecar.files, &stamp)
        }
        // That is the sidecar's fault, not the index's.
        Ok((.., stamp)) => Record::unreadable(name, Some(&stamp)),
        Err(SidecarFileError::Sidecar(_)) => Record::unreadable(name, Some(&file.stamp()?)),
        Err(SidecarFileError::Disk(error)) => return Err(error),
    })
}

/// Whether `text` can be the end of a name: directory names, none of them dots.
fn may_end_a_name(text: &str) -> bool {
    let belongs = |c: char| c.is_ascii_alphanumeric() || "-_.@/".contains(c);
    let text = text.trim_matches('/');
    !text.is_empty()
        && text.chars().all(belongs)
        && !text.contains("..")
        && text.split('/').count() < 4
}

/// Why a text means no item.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Several items have it.
    #[error("`{text}` is the end of {} names", names.len())]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// The names.
        names: Vec<RepositoryName>,
    },
    /// There is none, or it cannot be read.
    #[error(transparent)]
    Collection(#[from] CollectionError),
}

impl Sidecar {
    /// Whether the item carries `label`: as its IBIp, or as an alias among its identifiers.
    pub(super) fn is_labelled(&self, label: &str) -> bool {
        let is_ibip =
            self.ibip.as_ref().is_some_and(|ibip| ibip.as_str().eq_ignore_ascii_case(label));
        // Labels from before 2009 are kept as aliases and compared exactly.
        let is_alias = match self.metadata.table().get("identifier") {
            Some(toml::Value::String(alias)) => alias == label,
            Some(toml::Value::Array(aliases)) => {
                aliases.iter().any(|alias| alias.as_str() == Some(label))
            }
            _ => false,
        };
        is_ibip || is_alias
    }
}
