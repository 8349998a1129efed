//! Given properties of a new item: its name, its digests, its origin.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{DepositError, DepositTarget};
use crate::collection::{CollectionError, Departed, Label, Lookup};
use crate::digest::{Checksum, Digest};
use crate::disk::Exclusion;
use crate::identity::{Ibip, Identifier, Instant, RepositoryName};
use crate::item::PayloadPath;
use crate::sidecar::Conditions;

/// Given properties of a new item.
#[derive(Clone, Debug, Default)]
pub struct Preset {
    /// Its existing name; a new one is issued by default.
    pub label: Option<Label>,
    /// The identifiers of other items, by kind of relation.
    pub relations: crate::sidecar::Relations,
    /// Its conditions.
    pub conditions: Conditions,
    /// Its origin, beyond the path of its source.
    pub origin: toml::Table,
    /// The expected checksums of its bytes.
    pub checks: Arc<Checks>,
    /// The exclusions from its source.
    pub exclusion: Exclusion,
}

/// The expected checksums of an item: a source that differs is not deposited.
#[derive(Debug, Default)]
pub struct Checks {
    /// Every expected file, with its checksums; by default, any files.
    pub files: Option<BTreeMap<PayloadPath, Vec<Checksum>>>,
    /// The digest of the whole payload, as in `[payload]` of a sidecar.
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

/// Makes sure that no item has, or had, the name of a given `label`.
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

/// Makes sure that no item of a known collection has the IBIp of `label`, whose name is new to them.
pub(crate) fn check_ibip(place: &DepositTarget<'_>, label: &Label) -> Result<(), DepositError> {
    let Some(ibip) = &label.ibip else { return Ok(()) };
    for collection in std::iter::once(place.collection).chain(place.peers()) {
        if let Some(item) = collection.items_of(&Identifier::Ibip(ibip.clone()))?.into_iter().next()
        {
            let (ibip, name) = (ibip.clone(), item.name().clone());
            return Err(DepositError::IbipExists { ibip, name });
        }
    }
    Ok(())
}

/// The form of `label` that may still be issued for another item.
pub(crate) fn not_yet_issued(
    place: &DepositTarget<'_>,
    label: &Label,
    now: Instant,
) -> Result<Option<Identifier>, DepositError> {
    let name = (label.date, Identifier::from(label.name.clone()));
    let dated = |ibip: &Ibip| Some((ibip.instant().ok()?, Identifier::Ibip(ibip.clone())));
    for (date, form) in std::iter::once(name).chain(label.ibip.as_ref().and_then(dated)) {
        // Dates are rounded down, to a minute at most.
        let is_recent = now.duration_since(date).is_some_and(|age| age < Duration::from_secs(60));
        if date > now || (is_recent && is_issued_unseen(place, label, (date, &form))?) {
            return Ok(Some(form));
        }
    }
    Ok(None)
}

/// Whether a known collection issues identifiers like this form of `label` and would not see that it is taken: only names
/// in its own tree are compared with its memory.
fn is_issued_unseen(
    place: &DepositTarget<'_>,
    label: &Label,
    (date, form): (Instant, &Identifier),
) -> Result<bool, CollectionError> {
    for collection in std::iter::once(place.collection).chain(place.peers()) {
        let is_own = place.collection.is_same(collection)?;
        for subsystem in &collection.settings().subsystems {
            let has_prefix = subsystem.prefix()?.folded() == label.name.prefix().folded();
            let is_issued = match form {
                Identifier::Ibip(ibip) => subsystem.ibip_prefix()? == Some(ibip.prefix()),
                Identifier::Repository(_) | Identifier::Legacy(_) => has_prefix,
            };
            let is_seen = is_own && has_prefix && date == label.date;
            if is_issued && !is_seen {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether the collection has an item that is about to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duplicate {
    /// It does not.
    None,
    /// It has this item with the same content.
    Item(RepositoryName),
    /// An item with the same content has left.
    Left(Box<Departed>),
    /// The request of this number, which is being published, has the same content.
    Request(usize),
}

/// Knows the contents of the collection; is consulted, in order, for every item that is about to be
/// published.
pub trait DuplicateIndex: Send + Sync {
    /// Whether the collection has the item of the request of this number, with this
    /// [`content`](crate::item::content).
    fn holding(&self, number: usize, content: &Digest) -> Result<Duplicate, DepositError>;

    /// Takes in what was recorded since. Under the change lock, nothing more can be recorded.
    fn follow(&self) -> Result<(), DepositError>;
}
