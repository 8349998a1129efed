//! The destination of a persistent URL, in several collections.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::holders::{HeldItem, Holders};
use super::record::{Destination, DestinationKind};
use super::walk::{Unresolved, walk};
use crate::collection::CollectionError;
use crate::export::MetadataFormat;
use crate::holdings::Standing;
use crate::identity::{
    Instant, LanguagePreferences, PersistentUrl, RepositoryName, RequiredStatus, Selection,
};
use crate::item::{Content, PayloadPath, position};
use crate::layout;

/// The destination of a persistent URL.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The item; of a description, the item described.
    pub item: HeldItem,
    /// Whether it is data or metadata.
    pub kind: DestinationKind,
    /// The part of the item.
    pub target: Target,
}

/// A part of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file of the payload.
    File(PayloadPath),
    /// The payload as a whole: an item without a file that its identifier opens.
    Payload,
    /// The list of the files of the payload.
    Files(Vec<PayloadPath>),
    /// The sidecar: the description unchanged.
    Sidecar,
    /// The description in a format.
    Rendered(MetadataFormat),
}

/// Why a persistent URL leads nowhere.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The verbs lead nowhere.
    #[error(transparent)]
    Unresolved(#[from] Unresolved<CollectionError>),
    /// The Original is required, but none of the collections holds it.
    #[error("no collection holds the Original of `{name}`")]
    NoOriginal {
        /// The item.
        name: RepositoryName,
    },
    /// The Original is required, and several collections say that they hold it.
    #[error("`{name}` has two Originals")]
    TwoOriginals {
        /// The item.
        name: RepositoryName,
        /// The collections, counted from 0.
        collections: Vec<usize>,
    },
    /// The item has no such file.
    #[error("no file `{path}` in `{name}`")]
    NoFile {
        /// The item.
        name: RepositoryName,
        /// The path, as text.
        path: String,
    },
    /// A description has no files.
    #[error("the description of `{name}` has no files")]
    NoFiles {
        /// The item described.
        name: RepositoryName,
    },
}

/// The destination of `url`; a translation without a language is the one that suits `preferences` best.
pub fn resolve(
    items: &Holders<'_>,
    url: &PersistentUrl,
    preferences: &LanguagePreferences,
) -> Result<Resolved, ResolveError> {
    let Selection { verbs, path, status, .. } = &url.selection;
    let Destination { mut item, kind } = walk(items, &url.identifier, verbs.steps(), preferences)?;
    if *status == RequiredStatus::Original {
        item = items.original(item)?;
    }
    let target = match &kind {
        // A path leads into no metadata, unless the list prevails over it [resolution, 7.4].
        DestinationKind::MetadataItem(_) if !path.is_empty() && !verbs.wants_file_list() => {
            return Err(ResolveError::NoFiles { name: item.record.name });
        }
        DestinationKind::Description { .. } if !path.is_empty() || verbs.wants_file_list() => {
            return Err(ResolveError::NoFiles { name: item.record.name });
        }
        DestinationKind::Description { format: None, .. } => Target::Sidecar,
        DestinationKind::Description { format: Some(format), .. } => {
            let unknown =
                || Unresolved::NoFormat { name: item.record.name.clone(), format: format.clone() };
            Target::Rendered(MetadataFormat::named(format.as_str()).ok_or_else(unknown)?)
        }
        _ if verbs.wants_file_list() => Target::Files(item.files().cloned().collect()),
        _ if !path.is_empty() => Target::File(item.file(path)?),
        _ => item.sidecar.target.clone().map_or(Target::Payload, Target::File),
    };
    Ok(Resolved { item, kind, target })
}

impl Holders<'_> {
    /// The Original of an item.
    fn original(&self, item: HeldItem) -> Result<HeldItem, ResolveError> {
        let name = item.record.name.clone();
        match item.originals.as_slice() {
            [] => Err(match item.removed {
                Some(date) => Unresolved::Deleted { name, date }.into(),
                None => ResolveError::NoOriginal { name },
            }),
            [only] if *only == item.collection => Ok(item),
            [_] => {
                let held = self.held(&name, RequiredStatus::Original).map_err(Unresolved::Items)?;
                let original = held.filter(|item| item.standing == Standing::Original);
                original.ok_or(ResolveError::NoOriginal { name })
            }
            _ => Err(ResolveError::TwoOriginals { name, collections: item.originals }),
        }
    }
}

impl HeldItem {
    /// The files of the payload.
    pub(super) fn files(&self) -> impl Iterator<Item = &PayloadPath> {
        let files = self.sidecar.files.iter();
        files.filter(|it| matches!(it.content, Content::File { .. })).map(|entry| &entry.path)
    }

    /// The file at a path.
    pub(crate) fn file(&self, path: &[u8]) -> Result<PayloadPath, ResolveError> {
        let typed = Path::new(std::ffi::OsStr::from_bytes(path));
        let found = PayloadPath::new(typed).ok().filter(|path| {
            let at = position(&self.sidecar.files, path.as_path());
            at.is_some_and(|at| matches!(self.sidecar.files[at].content, Content::File { .. }))
        });
        found.ok_or_else(|| ResolveError::NoFile {
            name: self.record.name.clone(),
            path: typed.display().to_string(),
        })
    }
}

impl Resolved {
    /// The last change of the destination.
    pub fn timestamp(&self) -> Instant {
        self.kind.timestamp(&self.item.record)
    }

    /// The path of the file or directory; of a rendered description, that of the sidecar.
    pub fn path(&self) -> PathBuf {
        let payload = self.item.path.join(layout::PAYLOAD);
        match &self.target {
            Target::File(path) => payload.join(path.as_path()),
            Target::Payload | Target::Files(_) => payload,
            Target::Sidecar | Target::Rendered(_) => self.item.path.join(layout::SIDECAR),
        }
    }
}
