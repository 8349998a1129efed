//! Deciding about a candidate: the plan, which a dry run prints and an import carries out.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::bag::{self, Bag, BagError};
use super::candidate::{Candidate, Keys, path_of_key};
use super::checks::{KnownSource, check_translations, checks, wrong_bag};
use super::look::{Scanner, SourceScan};
use super::source_lookup::SourceQuery;
use super::sources::{Entry, Imported, ItemPresence};
use super::{Bags, DefaultTitle, Defaults, ImportError};
use crate::clock::Clock;
use crate::collection::{Collection, Departed, IMPORTED, Lookup, SOURCE};
use crate::deposit::source_removal::{Closeness, SourceKept, Times};
use crate::deposit::{
    self, DepositError, DepositTarget, LEFT_OUT, LeftOut, Plan, Preset, Request, Source,
    SourcePlace, check_ibip, not_yet_issued,
};
use crate::disk::copy::CopyError;
use crate::disk::{Exclusion, ExclusionRule, Kind, Links};
use crate::identity::{Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::item::{PayloadPath, Shape, escape};
use crate::progress::Progress;
use crate::sidecar::{Metadata, source_digests};

/// The decision about a candidate.
#[derive(Debug)]
pub(super) enum Decision {
    /// It becomes an item.
    Deposit(Box<PlannedItem>),
    /// It is already this item. The line is missing from the ledger.
    There(RepositoryName, Option<Entry>),
    /// It is already this item, made by other rules of links and patterns. The line is missing from the
    /// ledger.
    OtherRules(Entry),
    /// It became an item that has left since.
    Left(Box<Departed>),
    /// It is left out.
    LeftOut(ExclusionRule),
    /// It was changed a moment ago.
    Unsettled,
    /// It is in the directory of rejected sources.
    Rejected,
    /// It became this item, and an earlier run has removed it.
    Taken(RepositoryName),
}

/// A source that is to become an item.
#[derive(Debug)]
pub(super) struct PlannedItem {
    pub request: Request,
    /// The place of its files: for a bag, its payload.
    pub payload: SourcePlace,
    pub files: u64,
    pub bytes: u64,
}

/// Decides what is done with candidates.
pub(super) struct Planner<'a> {
    clock: &'a dyn Clock,
    lookup: Lookup<'a>,
    target: DepositTarget<'a>,
    keys: Keys,
    begun: Instant,
    pub rules: Criteria,
    /// Receives the progress for sources that need not be read.
    progress: &'a dyn Progress,
    interrupt: &'a Interrupt,
}

/// The context of a decision.
pub(super) struct Criteria {
    pub looker: Scanner,
    pub deposit: deposit::Options,
    pub bags: Bags,
    pub settle: Option<Duration>,
    /// The directory for rejected sources.
    pub rejected: Option<PathBuf>,
    /// Whether sources of items are removed.
    pub takes_sources: bool,
    pub defaults: Defaults,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        (collection, peers): (&'a Collection, crate::holdings::Peers<'a>),
        clock: &'a dyn Clock,
        rules: Criteria,
        (progress, interrupt): (&'a dyn Progress, &'a Interrupt),
    ) -> Result<Planner<'a>, ImportError> {
        Ok(Planner {
            clock,
            lookup: Lookup::new(collection),
            target: DepositTarget::new(collection, peers, clock)?,
            keys: Keys::default(),
            begun: clock.now(),
            rules,
            progress,
            interrupt,
        })
    }

    /// The key of a candidate in the ledger.
    pub(super) fn key(&mut self, candidate: &Candidate) -> Result<Vec<u8>, ImportError> {
        Ok(self.keys.of(&candidate.place)?)
    }

    /// Decides about a candidate, which is inspected, and read only if it is an item already and is to go.
    ///
    /// A source that is still being written may have temporary faults.
    pub(super) fn decide(
        &self,
        candidate: &Candidate,
        key: &[u8],
        known: &SourceQuery<'_>,
    ) -> Result<Decision, ImportError> {
        match self.decide_at_once(candidate, key, known) {
            Err(error)
                if error.is_of_source(&candidate.place.path())
                    && let Ok(times) = self.rules.looker.times(&candidate.place)
                    && times.into_iter().any(|time| self.is_recent(time)) =>
            {
                Ok(Decision::Unsettled)
            }
            decided => decided,
        }
    }

    fn decide_at_once(
        &self,
        candidate: &Candidate,
        key: &[u8],
        known: &SourceQuery<'_>,
    ) -> Result<Decision, ImportError> {
        if self.is_rejected(candidate, key)? {
            return Ok(Decision::Rejected);
        }
        if let Some(rule) = &candidate.left_out {
            return Ok(Decision::LeftOut(rule.clone()));
        }
        // Before anything else can fail, because a failed source may be moved, too.
        if self.rules.takes_sources || self.rules.rejected.is_some() {
            self.target.check_takeable(&candidate.place.path(), path_of_key(key))?;
        }
        if self.rules.takes_sources
            && let Some(taken) = self.taken(candidate, key, known)?
        {
            return Ok(taken);
        }
        let bag = self.bag(candidate)?;
        let place = match &bag {
            Some(_) => candidate.place.join(bag::PAYLOAD),
            None => candidate.place.clone(),
        };
        // A bag is whole or none: its lists name every file.
        let exclusion = match &bag {
            Some(_) => Exclusion::default(),
            None => candidate.exclusion.clone(),
        };
        let look = self.rules.looker.look(&place, &exclusion, &|time| self.is_recent(time))?;
        if look.is_recent {
            self.progress.skip(look.bytes);
            return Ok(Decision::Unsettled);
        }
        let there = self.there((candidate, &place, &exclusion), key, &look, known)?;
        if let Some((entry, there)) = there {
            let known = self.known(candidate, &entry);
            // A source that goes must be in an item with all its bytes: sizes and times do not prove it.
            if !self.rules.takes_sources || known.has_bytes(&place)? {
                known.check_row(Some(&look))?;
                bag.iter().try_for_each(|bag| known.check_bag(bag))?;
                self.progress.skip(look.bytes);
                return Ok(there);
            }
        }
        if let Some(label) = &candidate.label {
            check_ibip(&self.target, label)?;
        }
        if let Some(bag) = &bag {
            let counted = bag.check_counts(look.bytes, look.files);
            counted.map_err(|cause| wrong_bag(candidate, cause))?;
        }
        let mut origin = toml::Table::new();
        origin.insert(SOURCE.to_owned(), escape(key).into_owned().into());
        origin.insert(IMPORTED.to_owned(), self.begun.to_string().into());
        let (checks, mut metadata, conditions) = match bag {
            Some(bag) => {
                let files = bag.checks.files.iter().flatten();
                let digests = source_digests::table_of(files);
                if !digests.is_empty() {
                    origin.insert(source_digests::DIGESTS.to_owned(), digests.into());
                }
                (bag.checks, bag.metadata, bag.conditions)
            }
            None => (checks(candidate, &look), Metadata::default(), Ok(None)),
        };
        metadata.override_with(self.rules.defaults.metadata.clone());
        metadata.override_with(candidate.metadata.clone());
        if self.rules.defaults.title == DefaultTitle::SourceName {
            metadata.set_default_title(path_of_key(key));
        }
        check_translations(candidate, &metadata, self.target.collection(), known)?;
        let mut relations = candidate.relations.clone();
        relations.complete_with(self.rules.defaults.relations.clone());
        let given = Preset {
            label: candidate.label.clone(),
            relations,
            conditions: candidate
                .conditions_over(&self.rules.defaults, conditions)
                .map_err(|cause| wrong_bag(candidate, cause))?,
            origin,
            checks: Arc::new(checks),
            exclusion,
        };
        let request = Request { source: Source::At(place.clone()), target: None, metadata, given };
        let SourceScan { files, bytes, .. } = look;
        Ok(Decision::Deposit(Box::new(PlannedItem { request, payload: place, files, bytes })))
    }

    /// Makes the remaining checks of a deposit, without depositing.
    ///
    /// Returns the entries that would be left out.
    pub(super) fn rehearse(&self, wanted: &PlannedItem) -> Result<Vec<LeftOut>, ImportError> {
        let (options, place) = (&self.rules.deposit, &self.target);
        Ok(Plan::of_request(&wanted.request, options, place, self.progress)?.left_out)
    }

    /// Whether a source lies in the directory of rejected sources, which may lie in a directory of sources.
    fn is_rejected(&self, candidate: &Candidate, key: &[u8]) -> Result<bool, ImportError> {
        let Some(rejected) = &self.rules.rejected else { return Ok(false) };
        let path = path_of_key(key);
        let is_within = path.starts_with(rejected);
        let reason = match (is_within && candidate.is_named, rejected.starts_with(path)) {
            (true, _) => "what lies in it is not imported",
            (false, true) if !is_within => "it lies in what is to be imported",
            _ => return Ok(is_within),
        };
        Err(ImportError::RejectDirectory { path: rejected.clone(), reason })
    }

    fn bag(&self, candidate: &Candidate) -> Result<Option<Bag>, ImportError> {
        let looker = &self.rules.looker;
        let wrong = |cause| wrong_bag(candidate, cause);
        if looker.kind(&candidate.place)? != Kind::Directory {
            return match self.rules.bags {
                Bags::Only => Err(wrong(BagError::Declaration)),
                Bags::Detect => Ok(None),
            };
        }
        let dir = candidate.place.dir(looker.links, &looker.watcher)?;
        if self.rules.bags == Bags::Detect && !bag::is_bag(&dir)? {
            return Ok(None);
        }
        let mut bag = Bag::read(&dir).map_err(wrong)?;
        bag.checks.payload = candidate.sha256;
        Ok(Some(bag))
    }

    /// The item of a missing source that a list still names.
    fn taken(
        &self,
        candidate: &Candidate,
        key: &[u8],
        known: &SourceQuery<'_>,
    ) -> Result<Option<Decision>, ImportError> {
        match self.rules.looker.kind(&candidate.place) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            _ => return Ok(None),
        }
        match known(key, &|entry| candidate.may_be(&entry.name))? {
            None => Ok(None),
            Some(Imported { entry, standing, .. }) => {
                self.known(candidate, &entry).check_row(None)?;
                match standing {
                    ItemPresence::Here | ItemPresence::Deleted => {
                        Ok(Some(Decision::Taken(entry.name)))
                    }
                    ItemPresence::Left(line) => Ok(Some(Decision::Left(line))),
                    ItemPresence::Vanished(error) => Err((*error).into()),
                }
            }
        }
    }

    /// Whether something changed so recently that it may still be written, by one of its times.
    fn is_recent(&self, changed: Instant) -> bool {
        let Some(settle) = self.rules.settle else { return false };
        match self.clock.now().duration_since(changed) {
            Some(age) => age < settle,
            // A future time says nothing about age, unless it is so near that the clocks only differ.
            None => changed.duration_since(self.clock.now()).is_some_and(|ahead| ahead < settle),
        }
    }

    fn known<'b>(&'b self, candidate: &'b Candidate, entry: &'b Entry) -> KnownSource<'b> {
        let Planner { lookup, rules: Criteria { looker, .. }, interrupt, .. } = self;
        KnownSource { candidate, entry, lookup, looker, interrupt }
    }

    /// The existing item of a candidate, with its line.
    fn there(
        &self,
        (candidate, place, exclusion): (&Candidate, &SourcePlace, &Exclusion),
        key: &[u8],
        look: &SourceScan,
        known: &SourceQuery<'_>,
    ) -> Result<Option<(Entry, Decision)>, ImportError> {
        let is_named = |entry: &Entry| candidate.may_be(&entry.name);
        let is_it = |entry: &Entry| entry.shape == look.shape && is_named(entry);
        if let Some(Imported { entry, standing, .. }) = known(key, &is_it)? {
            let there = match standing {
                ItemPresence::Here => Decision::There(entry.name.clone(), None),
                ItemPresence::Deleted => {
                    return Err(DepositError::DeletedHere { name: entry.name }.into());
                }
                ItemPresence::Left(line) => Decision::Left(line),
                ItemPresence::Vanished(error) => return Err((*error).into()),
            };
            return Ok(Some((entry, there)));
        }
        if look.kind == Kind::Directory
            && let Some(Imported { entry, .. }) = known(key, &is_named)?
            && self.is_by_other_rules(&entry, place, exclusion)?
        {
            let entry = Entry { is_same: true, shape: look.shape, ..entry };
            return Ok(Some((entry.clone(), Decision::OtherRules(entry))));
        }
        if self.rules.takes_sources
            && look.kind == Kind::Directory
            && let Some(Imported { entry, standing: ItemPresence::Here, .. }) =
                known(key, &is_named)?
            && self.is_rest(&entry, place)?
        {
            return Ok(Some((entry.clone(), Decision::There(entry.name, None))));
        }
        let Some(label) = &candidate.label else { return Ok(None) };
        let Some(item) = self.lookup.item(&label.name)? else {
            self.target.check_never_held(&label.name)?;
            return match not_yet_issued(&self.target, label, self.clock.now())? {
                Some(identifier) => Err(ImportError::NotYetIssued { identifier }),
                None => Ok(None),
            };
        };
        // Published by an import that ended before its line was written.
        let entry = Entry::of_item(&item.sidecar()?.0);
        match entry.filter(|entry| entry.source == key && entry.shape == look.shape) {
            Some(entry) => {
                let there = Decision::There(entry.name.clone(), Some(entry.clone()));
                Ok(Some((entry, there)))
            }
            None => Err(ImportError::NameExists { name: label.name.clone() }),
        }
    }

    /// Whether a directory is what a killed run left of the source of the item of `entry`, which it was removing:
    /// everything in it is in that item, byte by byte.
    fn is_rest(&self, entry: &Entry, place: &SourcePlace) -> Result<bool, ImportError> {
        let item = self.lookup.item(&entry.name)?;
        let sidecar = item.map_or(Ok(None), |item| item.sidecar_if_sound())?;
        let Some(sidecar) = sidecar else { return Ok(false) };
        let how = (Times::Any, Closeness::Bytes, self.interrupt);
        match self.rules.looker.compare(place, &sidecar.files, None, how) {
            Ok(_) => Ok(true),
            // Another import has removed it meanwhile.
            Err(SourceKept::Disk(error)) if error.kind() == ErrorKind::NotFound => Ok(true),
            // What cannot be compared is not taken for something else, of which a second item would be made.
            Err(SourceKept::Disk(error)) => Err(CopyError::Disk(error).into()),
            Err(SourceKept::Copy(error)) => Err(error.into()),
            Err(_) => Ok(false),
        }
    }

    /// Whether the source of the item of `entry` is unchanged, and only the rules differ now.
    fn is_by_other_rules(
        &self,
        entry: &Entry,
        place: &SourcePlace,
        exclusion: &Exclusion,
    ) -> Result<bool, ImportError> {
        let looker = &self.rules.looker;
        let item = self.lookup.item(&entry.name)?;
        // `verify` reports the faults of a sidecar.
        let sidecar = item.map_or(Ok(None), |item| item.sidecar_if_sound())?;
        let Some(sidecar) = sidecar else {
            let keeps_links = Scanner { links: Links::Keep, ..looker.clone() };
            return Ok(keeps_links.look(place, exclusion, &|_| false)?.shape == entry.shape);
        };
        let listed = sidecar.origin.get(LEFT_OUT).and_then(|it| it.as_array());
        let path_of = |text: &toml::Value| PayloadPath::from_text(text.as_str()?).ok();
        let listed = listed.into_iter().flatten().filter_map(path_of).map(PathBuf::from);
        let mut left_out: HashSet<_> = listed.collect();
        for found in place.walk(looker.links, &looker.watcher)?.entries(exclusion) {
            let found = found?;
            if found.left_out.is_some() {
                left_out.insert(found.relative);
            }
        }
        let passes = |path: &Path, _| path.ancestors().any(|it| left_out.contains(it));
        let how = (Times::Any, Closeness::Stamps, self.interrupt);
        let compared = looker.compare(place, &sidecar.files, Some(&passes), how);
        match compared.map(|it| it.shape(&sidecar.files)) {
            Ok(shape) => Ok([entry.shape, Shape::of(&sidecar.files)].map(Some).contains(&shape)),
            Err(SourceKept::Disk(error)) => Err(CopyError::Disk(error).into()),
            Err(SourceKept::Copy(error)) => Err(error.into()),
            Err(_) => Ok(false),
        }
    }
}
