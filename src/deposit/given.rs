//! What is known of an item before it is made: its name, its digests, where it comes from.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DepositError, DepositTarget};
use crate::collection::{Collection, InventoryLine, Label, Lookup};
use crate::digest::{Checksum, Digest};
use crate::disk::Exclusion;
use crate::identity::RepositoryName;
use crate::item::PayloadPath;
use crate::sidecar::Conditions;

/// What is known of an item before it is made.
#[derive(Clone, Debug, Default)]
pub struct Preset {
    /// The name that it has already; a new one is taken unless given.
    pub label: Option<Label>,
    /// The identifiers of other items, by kind of relation.
    pub relations: crate::sidecar::Relations,
    /// What may be done with it.
    pub conditions: Conditions,
    /// Where it comes from, beyond the path of its source.
    pub origin: toml::Table,
    /// What its bytes are said to be.
    pub checks: Arc<Checks>,
    /// What of its source is left out.
    pub exclusion: Exclusion,
}

/// What the bytes of an item are said to be: what is not so, is not deposited.
#[derive(Debug, Default)]
pub struct Checks {
    /// Every file there is to be, with its checksums; any files unless given.
    pub files: Option<BTreeMap<PayloadPath, Vec<Checksum>>>,
    /// The digest of the whole payload, as `[payload]` says it in a sidecar.
    pub payload: Option<Digest>,
}

impl Checks {
    /// The checksums of the file at `path`.
    pub(crate) fn of(&self, path: &PayloadPath) -> Result<&[Checksum], DepositError> {
        match &self.files {
            None => Ok(&[]),
            Some(files) => match files.get(path) {
                Some(checksums) => Ok(checksums),
                None => Err(DepositError::NotListed { path: path.clone() }),
            },
        }
    }
}

/// Makes sure that no item has, or had, the name of the `label` that an item brings.
pub(super) fn check_name(
    place: &DepositTarget<'_>,
    lookup: &Lookup<'_>,
    label: &Label,
) -> Result<(), DepositError> {
    if lookup.item(&label.name)?.is_some() {
        return Err(DepositError::NameExists { name: label.name.clone() });
    }
    place.check_never_held(&label.name)
}

/// Makes sure that no item here has the opaque name of `label`.
pub(crate) fn check_ibip(collection: &Collection, label: &Label) -> Result<(), DepositError> {
    let Some(ibip) = &label.ibip else { return Ok(()) };
    match collection.items_with_ibip(ibip)?.into_iter().next() {
        Some(item) => {
            Err(DepositError::IbipExists { ibip: ibip.clone(), name: item.name().clone() })
        }
        None => Ok(()),
    }
}

/// Whether the collection has what is about to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duplicate {
    /// It has not.
    None,
    /// This item is the same.
    Item(RepositoryName),
    /// An item was the same that has left since.
    Left(Box<InventoryLine>),
    /// The request of this number, which is just being published, is the same.
    Request(usize),
}

/// Knows what the collection holds, and is asked, in order, of everything that is about to be published.
pub trait DuplicateIndex: Send + Sync {
    /// Whether the collection has what the request of this number is going to be, which has this
    /// [`content`](crate::item::content).
    fn holding(&self, number: usize, content: &Digest) -> Result<Duplicate, DepositError>;
}
