//! The facts: the present sidecar of the item, and the sidecars of donors.

use std::path::PathBuf;

use super::RepairError;
use super::scan::{PayloadScan, is_of_the_item};
use crate::collection::{Collection, SidecarFileError, StoredItem, read_sidecar};
use crate::custody::{Custody, CustodyId, Has, Holding};
use crate::disk::{Dir, FileStat, PathError, Version};
use crate::identity::{Instant, RepositoryName};
use crate::item::{State, Totals};
use crate::layout;
use crate::sidecar::{Seal, Sidecar, SidecarError, SidecarText};

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

/// The item to be repaired.
#[derive(Debug)]
pub(super) struct Facts {
    /// The name, as it is spelt on disk.
    pub name: RepositoryName,
    /// The id of its collection.
    pub collection: String,
    /// Whether its directory is there.
    pub in_place: bool,
    pub record: SidecarStatus,
    /// Its holding, if its own sidecar is sealed.
    pub own: Option<Holding>,
    /// The latest line of the ledger about it.
    pub line: Option<Holding>,
    /// The ids of its lines since the last stub.
    pub recorded: Vec<CustodyId>,
    /// The sealed sidecars of its entries in the trash, if what speaks is a deletion.
    pub trashed: Vec<Written>,
    /// Who deleted it, and the reason, if what speaks is a deletion that the ledger has.
    pub deletion: Option<(String, Option<String>)>,
    /// Whether that line says that the item is elsewhere.
    pub was_elsewhere: bool,
    pub payload: PayloadScan,
    /// Other entries of its directory.
    pub strays: Vec<PathBuf>,
}

impl Facts {
    /// The state of payload here under `custody`.
    pub(super) fn state_under(&self, custody: &Custody) -> State {
        if custody.holder() == self.collection { State::Original } else { State::Copy }
    }
}

/// The same item in another collection.
#[derive(Debug)]
pub(super) struct DonorFacts {
    /// The root of its collection.
    pub root: PathBuf,
    /// Its sidecar, if that is sealed.
    pub record: Option<Written>,
    /// Its holding. Its custody is the one that the repaired item gets.
    pub rule: Holding,
}

impl DonorFacts {
    /// Takes the giver of an interrupted migration for what it offered, where the `line` of the receiver says that this
    /// arrived: then the giver has these very bytes.
    pub(super) fn as_received(&mut self, line: Option<&Holding>) {
        let Some(offered) = self.rule.custody.offered() else { return };
        let is_it =
            |line: &Holding| line.at == offered.holder() && line.custody.id() == offered.id();
        if line.is_some_and(is_it) {
            self.rule.custody = offered;
        }
    }
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

/// The holding of an item with this sealed sidecar in the collection with the id `at`. Whether the payload is whole is found
/// out file by file.
pub(super) fn holding_of(at: &str, sidecar: &Sidecar) -> Holding {
    let has = match sidecar.state {
        State::Original | State::Copy => Has::Payload,
        State::Elsewhere => Has::Stub,
        State::Deleted => Has::Tombstone,
    };
    let changed = sidecar.changed();
    Holding { at: at.to_owned(), has, custody: sidecar.custody.clone(), changed }
}

/// The identity of an item's directory, and the version of the sidecar in it.
pub(super) type SidecarVersion = ((u64, u64), Option<Version>);

/// The identity of the sidecar of `item`, which is the same later if the sidecar is unchanged.
pub(super) fn seen(item: &StoredItem) -> Result<SidecarVersion, PathError> {
    Ok((item.dir().own_stat()?.identity, item.version()?))
}

/// The item `name` in `donor`, if it exists.
///
/// A donor without a sealed sidecar may still have good files. A sidecar that cannot be read is an error, unless
/// `is_lenient`.
pub(super) fn find(
    name: &RepositoryName,
    donor: &Collection,
    is_lenient: bool,
) -> Result<Option<(StoredItem, DonorFacts)>, RepairError> {
    let item = match donor.item(name) {
        Err(error) if error.is_absence() => return Ok(None),
        outcome => outcome?,
    };
    let status = match read(item.dir()) {
        Err(SidecarFileError::Disk(error)) if is_lenient && is_of_the_item(&error) => {
            return Ok(Some((item, DonorFacts::unreadable(donor))));
        }
        Err(SidecarFileError::Disk(error)) => return Err(error.into()),
        outcome => SidecarStatus::of(name, outcome)?,
    };
    let mut rule = match status.written() {
        Some(written) => holding_of(donor.id(), &written.sidecar),
        None => return Ok(Some((item, DonorFacts::unreadable(donor)))),
    };
    let record = match status {
        SidecarStatus::Sealed(written) => Some(*written),
        SidecarStatus::Doubtful(_) | SidecarStatus::Lost(_) => {
            rule.has = Has::Damaged;
            None
        }
    };
    Ok(Some((item, DonorFacts { root: donor.path().to_path_buf(), record, rule })))
}

impl DonorFacts {
    /// A donor without a readable sidecar.
    fn unreadable(donor: &Collection) -> DonorFacts {
        let custody = Custody::first(CustodyId::from([0; 8]), "");
        let changed = Instant::from_seconds(0);
        let rule = Holding { at: donor.id().to_owned(), has: Has::Damaged, custody, changed };
        DonorFacts { root: donor.path().to_path_buf(), record: None, rule }
    }
}
