//! The register: which collection of a machine issues a prefix. It has one small file for each prefix,
//! outside all collections.
//!
//! A memory coordinates the processes of one collection. Two collections with one host would each have a
//! memory, and issue the same names; the register makes them notice each other. The same applies to two hosts
//! with one address: their IBIps would be the same.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::elsewhere::Peer;
use super::entry::{Registration, entries_of, read, read_file};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::{Collection, CollectionError, Series, Settings, SettingsError, settings};
use crate::disk::{Dir, Lock, LockError, LockMode, PathError, StoredFile, Watcher, resolved};
use crate::distributor::{Notice, Patience};
use crate::identity::{IbipPrefix, Prefix};
use crate::interrupt::Interrupt;
use crate::layout;
use crate::wait::Waiter;

/// Locked while an entry is checked and replaced.
const LOCK: &str = "lock";

/// The register of a machine, or of one of its users.
#[derive(Clone, Debug, Default)]
pub struct Register {
    /// The directory of entries, created with the first; `None` if there is no place for it.
    pub dir: Option<PathBuf>,
    /// Other registers to check: that of the machine beside that of a user.
    pub others: Vec<PathBuf>,
    /// Roots of collections that may issue without having an entry.
    pub known: Vec<PathBuf>,
    /// Directories outside collections in which memories may lie: a foreign collection must not decide what
    /// is written outside of it.
    pub allowed: Vec<PathBuf>,
}

/// A collection that wants to issue the names of a prefix.
#[derive(Clone, Copy, Debug)]
pub(in crate::collection) struct Claimant<'a> {
    pub prefix: &'a Prefix,
    /// The prefix of their IBIps, if they have any.
    pub ibips: Option<&'a IbipPrefix>,
    /// The id of the collection, if it already has one.
    pub id: Option<&'a str>,
    pub root: &'a Path,
    /// The directory of its memory.
    pub memory: &'a Path,
}

impl Claimant<'_> {
    fn series(&self) -> impl Iterator<Item = Series> {
        let ibips = self.ibips.cloned().map(Series::Ibips);
        std::iter::once(Series::Names(self.prefix.clone())).chain(ibips)
    }

    /// Whether the dates of an entry come from the memory of the claimant.
    fn has_memory_of(&self, entry: &Registration) -> bool {
        entry.memory == self.memory && entry.prefix == self.prefix.subsystem()
    }
}

/// The rule for a prefix that another collection issues or has issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Takeover {
    /// Refuse, unless the memory is shared.
    #[default]
    Refuse,
    /// The same, but a missing collection counts as lost: its names are known from its mirrors.
    AcceptLost,
    /// From now on this collection issues its names, by the decision of a person.
    Accept,
}

/// A claim on a prefix: no other process can take the prefix while this is held.
#[derive(Debug)]
pub(in crate::collection) struct Claim {
    dir: Dir,
    _lock: Lock,
}

impl Register {
    /// Makes sure that no other collection issues the names or their IBIps, without writing anything.
    pub(in crate::collection) fn check(
        &self,
        claimant: &Claimant<'_>,
        takeover: Takeover,
    ) -> Result<(), CollectionError> {
        if takeover == Takeover::Accept {
            return Ok(());
        }
        claimant.series().try_for_each(|series| self.check_series(&series, claimant, takeover))
    }

    fn check_series(
        &self,
        series: &Series,
        claimant: &Claimant<'_>,
        takeover: Takeover,
    ) -> Result<(), CollectionError> {
        let entries = self.entries(series)?;
        // Older collections may share an address; the first to issue gets it.
        let may_be_known = matches!(series, Series::Names(_)) || claimant.id.is_none();
        let is_new = entries[0].is_none() && may_be_known;
        for entry in entries.into_iter().flatten() {
            match check_entry(&entry, series, claimant) {
                Err(CollectionError::PrefixLost { .. }) if takeover != Takeover::Refuse => {}
                checked => checked?,
            }
        }
        if is_new {
            self.known.iter().try_for_each(|root| check_known(root, series, claimant))?;
        }
        Ok(())
    }

    /// The entry of this register, and those of the others.
    fn entries(&self, series: &Series) -> Result<Vec<Option<Registration>>, CollectionError> {
        let mut entries = vec![self.entry(series)?];
        for dir in &self.others {
            entries.push(unless_refused(read(dir, series))?);
        }
        Ok(entries)
    }

    /// The collections of the settings.
    pub(super) fn known_peers(&self) -> Vec<Peer> {
        self.known.iter().map(|root| Peer { id: None, root: root.clone() }).collect()
    }

    /// The same, and those that have issued names of the claimant's prefix, or their IBIps.
    pub(in crate::collection) fn peers(
        &self,
        claimant: &Claimant<'_>,
    ) -> Result<Vec<Peer>, CollectionError> {
        let mut peers = self.known_peers();
        let entries = claimant.series().map(|series| self.entries(&series));
        for entry in entries.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().flatten() {
            // A copy of the claimant has its id, and those that share its memory are recorded there.
            let is_own = claimant.id == Some(&*entry.collection) || claimant.has_memory_of(&entry);
            let id = (!is_own).then_some(entry.collection);
            peers.push(Peer { id, root: entry.root });
        }
        Ok(peers)
    }

    /// [`Register::check`]s, and keeps other processes from taking the prefix until the claim is kept or dropped.
    /// `None` without a register.
    pub(in crate::collection) fn claim(
        &self,
        claimant: &Claimant<'_>,
        takeover: Takeover,
        agent: &Agent,
        clock: &dyn Clock,
        patience: Patience,
    ) -> Result<Option<Claim>, CollectionError> {
        let Some(dir) = &self.dir else {
            self.check(claimant, takeover)?;
            return Ok(None);
        };
        let holder = agent.holder(clock);
        let waiter = Waiter::new(clock, &Interrupt::default(), patience.lock);
        let locked =
            Dir::make_with_parents(dir, &Watcher::default()).map_err(LockError::from).and_then(
                |dir| Ok((Lock::take(&dir, LOCK, LockMode::Exclusive, &holder, &waiter)?, dir)),
            );
        let (lock, dir) = match locked {
            // Other registers may still refuse it.
            Err(LockError::Disk(error)) if error.is_refusal() => {
                self.check(claimant, takeover)?;
                return Err(error.into());
            }
            locked => locked.map_err(crate::distributor::DistributorError::from)?,
        };
        self.check(claimant, takeover)?;
        Ok(Some(Claim { dir, _lock: lock }))
    }

    /// The path of the collection with this id when it wrote its entries.
    pub fn roots_of(&self, id: &str) -> Result<BTreeSet<PathBuf>, CollectionError> {
        let mut roots = BTreeSet::new();
        for dir in self.dir.iter().chain(&self.others) {
            for path in unless_refused(entries_of(dir))? {
                let entry = unless_refused(read_file(path))?.filter(|entry| entry.collection == id);
                roots.extend(entry.map(|entry| entry.root));
            }
        }
        Ok(roots)
    }

    /// Whether the register already has the entries of the claim.
    pub(super) fn has(&self, claimant: &Claimant<'_>) -> Result<bool, CollectionError> {
        for series in claimant.series() {
            if !self.has_series(&series, claimant)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_series(
        &self,
        series: &Series,
        claimant: &Claimant<'_>,
    ) -> Result<bool, CollectionError> {
        let Some(entry) = self.entry(series)? else { return Ok(false) };
        if !claimant.has_memory_of(&entry) {
            return Ok(false);
        }
        // A collection that was moved is looked for at its new place from now on.
        if claimant.id != Some(entry.collection.as_str()) {
            return Ok(!claimant.memory.starts_with(claimant.root));
        }
        let is_in_place = entry.root == claimant.root
            || issuer_at(&entry.root, series).map_or(true, |found| found.is_some());
        Ok(is_in_place)
    }

    /// Whether the memory of the claimant had reserved dates when it last issued.
    pub(super) fn has_reserved(&self, claimant: &Claimant<'_>) -> Result<bool, CollectionError> {
        let entry = self.entry(&Series::Names(claimant.prefix.clone()))?;
        Ok(entry.is_some_and(|entry| {
            let is_own = claimant.id == Some(entry.collection.as_str());
            entry.reserved && (is_own || claimant.has_memory_of(&entry))
        }))
    }

    /// Records whether the memory of the claimant has reserved dates, so that they are missed if it is lost.
    pub(super) fn note_reserved(
        &self,
        claimant: &Claimant<'_>,
        reserved: bool,
        agent: &Agent,
        clock: &dyn Clock,
        patience: Patience,
    ) -> Result<(), CollectionError> {
        let names = Series::Names(claimant.prefix.clone());
        let outdated = |entry: Option<Registration>| {
            entry.filter(|entry| claimant.has_memory_of(entry) && entry.reserved != reserved)
        };
        if outdated(self.entry(&names)?).is_none() {
            return Ok(());
        }
        let noted = self.claim(claimant, Takeover::Accept, agent, clock, patience);
        let noted = noted.and_then(|claim| match (claim, outdated(self.entry(&names)?)) {
            (Some(Claim { dir, .. }), Some(entry)) => {
                Ok(Registration { reserved, ..entry }.write(&dir, &names)?)
            }
            _ => Ok(()),
        });
        // Without the right to write the register, only the memory knows.
        unless_refused(noted)
    }

    /// Whether a memory may lie in `dir`, which is outside all collections.
    pub(super) fn allows(&self, dir: &Path, prefix: &Prefix) -> Result<bool, CollectionError> {
        let names = Series::Names(prefix.clone());
        if self.entry(&names)?.is_some_and(|entry| entry.memory == dir) {
            return Ok(true);
        }
        let allowed = self.allowed.iter().filter_map(|allowed| resolved(allowed).ok());
        Ok(allowed.into_iter().any(|allowed| dir.starts_with(allowed)))
    }

    /// The entry of this register.
    fn entry(&self, series: &Series) -> Result<Option<Registration>, CollectionError> {
        self.dir.as_ref().map_or(Ok(None), |dir| read(dir, series))
    }
}

impl Claim {
    /// Writes the entries of the claimant for the names and their IBIps, durably.
    pub(super) fn keep(self, id: &str, claimant: &Claimant<'_>) -> Result<(), PathError> {
        let entry = Registration {
            prefix: claimant.prefix.subsystem(),
            collection: id.to_owned(),
            root: claimant.root.to_path_buf(),
            memory: claimant.memory.to_path_buf(),
            reserved: false,
        };
        claimant.series().try_for_each(|series| entry.write(&self.dir, &series))
    }
}

/// Keeps a claim, or says why the register could not be written: a machine may have no place for it.
pub(in crate::collection) fn keep(
    claim: Result<Option<Claim>, CollectionError>,
    id: &str,
    claimant: &Claimant<'_>,
) -> Result<Option<Notice>, CollectionError> {
    let kept = claim.and_then(|claim| {
        claim.map_or(Ok(()), |claim| claim.keep(id, claimant)).map_err(CollectionError::from)
    });
    let not_registered = |error: &PathError| Notice::NotRegistered {
        prefix: claimant.prefix.clone(),
        cause: error.to_string(),
    };
    match kept {
        Ok(()) => Ok(None),
        Err(CollectionError::Disk(error)) if error.is_refusal() => Ok(Some(not_registered(&error))),
        Err(error) => Err(error),
    }
}

/// `None` if permissions refuse: not every user may read the register of the machine.
fn unless_refused<T: Default>(read: Result<T, CollectionError>) -> Result<T, CollectionError> {
    match read {
        Err(CollectionError::Disk(error)) if error.is_refusal() => Ok(T::default()),
        read => read,
    }
}

/// Makes sure that an entry belongs to the claimant, or to a collection that shares its memory.
fn check_entry(
    entry: &Registration,
    series: &Series,
    claimant: &Claimant<'_>,
) -> Result<(), CollectionError> {
    // A memory in a collection was removed with it, though a new one may lie in its place.
    if claimant.has_memory_of(entry) && !claimant.memory.starts_with(claimant.root) {
        return Ok(());
    }
    let issuer = issuer_at(&entry.root, series);
    let is_there = issuer.as_ref().map_or(true, |it| it.as_ref() == Some(&entry.collection));
    // A collection that was moved, or is reached by another path, but not one that this is a copy of.
    if claimant.id == Some(entry.collection.as_str())
        && !(is_there && is_elsewhere(&entry.root, claimant.root)?)
    {
        return Ok(());
    }
    let (series, root) = (series.clone(), entry.root.clone());
    Err(match issuer {
        Err(error) if error.disk().is_some_and(|it| it.shortage().is_some()) => error,
        Ok(_) if !is_there => CollectionError::PrefixLost { series, root },
        issuer => CollectionError::PrefixInUse { series, root, unread: issuer.err().map(Box::new) },
    })
}

/// Whether these are two directories, by device numbers of now: they may change with each boot. One directory of a
/// server that is mounted twice counts as two: then a person decides.
fn is_elsewhere(one: &Path, other: &Path) -> Result<bool, PathError> {
    let identity = |path| Ok(Dir::open(path, Watcher::default())?.own_stat()?.identity);
    Ok(identity(one)? != identity(other)?)
}

/// Makes sure that the collection at `root`, which is known, does not issue the series.
fn check_known(
    root: &Path,
    series: &Series,
    claimant: &Claimant<'_>,
) -> Result<(), CollectionError> {
    // Its disk may not be mounted. Other code reports a collection that cannot be opened.
    let Ok(other) = Collection::open(root, &Watcher::default()) else { return Ok(()) };
    let Some(subsystem) = other.settings().subsystems.iter().find(|it| series.is_of(it)) else {
        return Ok(());
    };
    let memory =
        subsystem.distributor.as_ref().and_then(|shared| resolved(&root.join(shared)).ok());
    let is_shared = memory.as_deref() == Some(claimant.memory)
        && Series::Names(claimant.prefix.clone()).is_of(subsystem);
    if Some(other.id()) == claimant.id || is_shared {
        return Ok(());
    }
    let (series, root) = (series.clone(), root.to_path_buf());
    Err(CollectionError::PrefixInUse { series, root, unread: None })
}

/// The id of the collection at `root`, if it exists and issues `series`.
fn issuer_at(root: &Path, series: &Series) -> Result<Option<String>, CollectionError> {
    let path = root.join(layout::SETTINGS);
    let mut file = match StoredFile::open_no_follow(&path, Watcher::default()) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        opened => opened?,
    };
    let text = String::from_utf8_lossy(&file.read_all(settings::MAX_BYTES)?).into_owned();
    let settings = Settings::read(&text)
        .map_err(|cause| CollectionError::Settings { path, cause: SettingsError(cause) })?;
    let issues = settings.subsystems.iter().any(|subsystem| series.is_of(subsystem));
    Ok(issues.then_some(settings.id))
}
