//! The facts: the present sidecar of the item, and the sidecars of donors.

use std::path::PathBuf;

use super::RepairError;
use super::scan::{PayloadScan, is_of_the_item};
use crate::collection::{
    Collection, Departure, InventoryChange, Recorded, SidecarFileError, StoredItem, read_sidecar,
};
use crate::disk::{Dir, FileStat, PathError, Version};
use crate::holdings::may_be_original;
use crate::identity::{Instant, RepositoryName};
use crate::item::{State, Totals};
use crate::layout;
use crate::sidecar::{Handover, Seal, Sidecar, SidecarError, SidecarText};

/// A sidecar and the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    pub sidecar: Sidecar,
    pub seal: Seal,
    pub text: SidecarText,
}

/// The reliability of the sidecar in an item's directory.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SidecarStatus {
    /// Its seal is intact and it agrees with itself.
    Sealed(Box<Written>),
    /// It can be read and is about this item; its seal is broken or missing, or it contradicts itself.
    Doubtful(Box<Written>),
    /// It is missing, cannot be read, or is about another item.
    Lost(String),
}

impl Written {
    /// Whether it describes a Copy of the Original in the collection with this id.
    pub(super) fn is_copy_of(&self, collection: &str) -> bool {
        self.sidecar.made_of() == Some(collection)
    }
}

/// The item to be repaired.
#[derive(Debug)]
pub(super) struct Facts {
    /// The name, as it is spelt on disk.
    pub name: RepositoryName,
    /// The id of its collection.
    pub collection: String,
    /// When it is repaired.
    pub now: Instant,
    pub record: SidecarStatus,
    /// The inventory's record of it, if its own sidecar is not sealed.
    pub recorded: Option<Recorded>,
    /// Its mark during a hand-over to its collection, if its own sidecar is not sealed.
    pub reception: Option<Handover>,
    /// The item in collections that give no files.
    pub witnesses: Vec<DonorFacts>,
    pub payload: PayloadScan,
    /// Other entries of its directory.
    pub strays: Vec<PathBuf>,
}

/// The same item in another collection.
#[derive(Debug)]
pub(super) struct DonorFacts {
    /// The root of its collection.
    pub root: PathBuf,
    /// The id of its collection.
    pub collection: String,
    /// Its sidecar, if that is sealed.
    pub record: Option<Written>,
    /// Whether the item was deleted there, by its sealed sidecar.
    pub is_tombstone: bool,
    /// Whether its sidecar says Original, but its collection recorded that the Original left or changed its
    /// state: it comes from a backup, and the Original is elsewhere.
    pub is_put_back: bool,
    /// Whether its sidecar, which is not sealed, may be that of the Original.
    pub may_be_original: bool,
}

impl SidecarStatus {
    /// The sidecar of the item `name` in `dir`.
    pub(super) fn read(name: &RepositoryName, dir: &Dir) -> Result<SidecarStatus, RepairError> {
        SidecarStatus::of(name, read(dir))
    }

    fn of(
        name: &RepositoryName,
        read: Result<Option<ReadFile>, SidecarFileError>,
    ) -> Result<SidecarStatus, RepairError> {
        let (sidecar, seal, text) = match read {
            Ok(Some((sidecar, seal, text, _))) => (sidecar, seal, text),
            Ok(None) => return Ok(SidecarStatus::Lost("it is missing".to_owned())),
            Err(SidecarFileError::Disk(error)) if !is_of_the_item(&error) => {
                return Err(error.into());
            }
            Err(SidecarFileError::Sidecar(cause @ SidecarError::NewerFormat { .. })) => {
                return Err(RepairError::LaterFormat { name: name.clone(), cause });
            }
            Err(error) => return Ok(SidecarStatus::Lost(error.to_string())),
        };
        if sidecar.repository != *name {
            return Ok(SidecarStatus::Lost(format!("it names `{}`", sidecar.repository)));
        }
        let believed = seal == Seal::Intact && agrees_with_itself(&sidecar);
        let written = Box::new(Written { sidecar, seal, text });
        Ok(if believed { SidecarStatus::Sealed(written) } else { SidecarStatus::Doubtful(written) })
    }

    /// Its contents, if it can be read.
    pub(super) fn written(&self) -> Option<&Written> {
        match self {
            SidecarStatus::Sealed(written) | SidecarStatus::Doubtful(written) => Some(written),
            SidecarStatus::Lost(_) => None,
        }
    }
}

type ReadFile = (Sidecar, Seal, SidecarText, FileStat);

fn read(dir: &Dir) -> Result<Option<ReadFile>, SidecarFileError> {
    let read = || {
        let file = dir.open_file_if_there(layout::SIDECAR)?;
        file.map(|mut file| read_sidecar(&mut file)).transpose()
    };
    match read() {
        // Retry once: a transient error must not count as a lost sidecar.
        Err(SidecarFileError::Disk(error)) if is_of_the_item(&error) => read(),
        outcome => outcome,
    }
}

/// Whether totals and target agree with the entries.
fn agrees_with_itself(sidecar: &Sidecar) -> bool {
    Totals::of(&sidecar.files) == sidecar.payload && has_target(sidecar)
}

/// Whether the target, if any, is a file or link of the payload.
pub(super) fn has_target(sidecar: &Sidecar) -> bool {
    sidecar.target.as_ref().is_none_or(|target| sidecar.files.can_open(target))
}

impl Facts {
    /// The donor that has the Original, if that is another collection.
    pub(super) fn foreign_original<'a>(
        &'a self,
        donors: &'a [DonorFacts],
    ) -> Option<&'a DonorFacts> {
        self.elsewhere(donors).find(|it| {
            let state = it.record.as_ref().map(|record| record.sidecar.state);
            it.collection != self.collection && state == Some(State::Original) && !it.is_put_back
        })
    }

    /// Whether that Original is as new as any holding. If the Original was put back from a backup, another
    /// holding may be the last with a correction.
    pub(super) fn original_is_newest(&self, own: &Written, donors: &[DonorFacts]) -> bool {
        let original = self.foreign_original(donors).and_then(|it| it.record.as_ref());
        let records = donors.iter().filter_map(|it| it.record.as_ref());
        let newest = records.chain([own]).map(|it| it.sidecar.timestamp).max();
        original.is_some_and(|original| Some(original.sidecar.timestamp) == newest)
    }

    /// A collection that is not a donor and has the item with a later date than `chosen`.
    pub(super) fn later_witness(&self, chosen: &Sidecar) -> Option<&DonorFacts> {
        let is_later = |it: &Written| {
            it.sidecar.state != State::Deleted && it.sidecar.timestamp > chosen.timestamp
        };
        self.witnesses.iter().find(|it| it.record.as_ref().is_some_and(is_later))
    }

    /// The state that the item should have, by the inventory.
    pub(super) fn recorded_state(&self) -> Option<State> {
        self.recorded.as_ref().and_then(|recorded| recorded.line.state())
    }

    /// The item in every collection that may hold its Original.
    pub(super) fn elsewhere<'a>(
        &'a self,
        donors: &'a [DonorFacts],
    ) -> impl Iterator<Item = &'a DonorFacts> {
        donors.iter().chain(&self.witnesses)
    }

    /// The id of the collection that has the Original by the inventory, or else by a Copy.
    pub(super) fn holder_elsewhere<'a>(&'a self, donors: &'a [DonorFacts]) -> Option<&'a str> {
        let recorded = self.recorded.as_ref().map(|recorded| &recorded.line.change);
        if let Some(InventoryChange::Left(Departure::Migrated(to) | Departure::Dropped(to))) =
            recorded
        {
            return Some(&to.id);
        }
        let mut records = donors.iter().filter_map(|donor| donor.record.as_ref());
        records.find_map(|record| record.sidecar.made_of().filter(|id| *id != self.collection))
    }

    /// Whether the inventory has neither a state of it nor a departure.
    pub(super) fn is_unrecorded(&self) -> bool {
        let change = self.recorded.as_ref().map(|recorded| &recorded.line.change);
        matches!(change, None | Some(InventoryChange::Found(None)))
    }
}

/// The identity of an item's directory, and the version of the sidecar in it.
pub(super) type SidecarVersion = ((u64, u64), Option<Version>);

/// The identity of the sidecar of `item`, which is the same later if the sidecar is unchanged.
pub(super) fn seen(item: &StoredItem) -> Result<SidecarVersion, PathError> {
    Ok((item.dir().own_stat()?.identity, item.version()?))
}

/// Whether the inventory of `collection` leaves open that its item `name` is the Original.
fn may_have_been_original(
    name: &RepositoryName,
    collection: &Collection,
) -> Result<bool, PathError> {
    Ok(collection.last_record(name)?.is_none_or(|recorded| may_be_original(&recorded)))
}

/// The item `name` in `donor`, if it exists.
///
/// A donor without a sealed sidecar may still have good files; one that cannot be read may hold the Original.
pub(super) fn find(
    name: &RepositoryName,
    donor: &Collection,
) -> Result<Option<(StoredItem, DonorFacts)>, RepairError> {
    let item = match donor.item(name) {
        Err(error) if error.is_absence() => return Ok(None),
        outcome => outcome?,
    };
    let (record, may_be_original) = match read(item.dir()) {
        Err(SidecarFileError::Disk(error)) => return Err(error.into()),
        outcome => match SidecarStatus::of(name, outcome)? {
            SidecarStatus::Sealed(written) => (Some(*written), false),
            SidecarStatus::Doubtful(written) => {
                let sidecar = &written.sidecar;
                let says_original = sidecar.state == State::Original;
                let may_be = says_original && may_have_been_original(name, donor)?;
                (None, may_be || sidecar.handover.is_some())
            }
            SidecarStatus::Lost(_) => (None, may_have_been_original(name, donor)?),
        },
    };
    let (root, collection) = (donor.path().to_path_buf(), donor.id().to_owned());
    let is_tombstone = record.as_ref().is_some_and(|it| it.sidecar.state == State::Deleted);
    let is_put_back = match &record {
        Some(it) if it.sidecar.state == State::Original => {
            donor.departure(name)?.is_some() || donor.contradicted_by(name, &it.sidecar)?.is_some()
        }
        _ => false,
    };
    let facts = DonorFacts { root, collection, record, is_tombstone, is_put_back, may_be_original };
    Ok(Some((item, facts)))
}
