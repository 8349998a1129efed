//! Comparing the ledger with the items.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;

use super::replay::Replay;
use super::{
    Collection, Correction, Deviation, Event, Found, Here, LedgerStanding, NoteFault, Unlogged,
};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::names::list::{Names, years};
use crate::collection::{CollectionError, Trashed};
use crate::disk::{Kind, PathError};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;

/// Limit on unrecorded items reported in one batch.
const AT_A_TIME: usize = 1024;

/// A discrepancy between the ledger and the items, or within the ledger.
#[derive(Debug)]
pub enum Discrepancy {
    /// The ledger is missing.
    NoLedger,
    /// Lines are damaged or missing.
    Broken {
        /// Number of damaged lines.
        damaged: u64,
        /// Whether a person has accepted them.
        is_accepted: bool,
    },
    /// It was shortened, or put back from a backup, since this machine wrote it.
    PutBack,
    /// This file, in which the machine noted the end of the ledger, cannot be read.
    NoteFault(NoteFault),
    /// A recorded item is missing; with its state, if known.
    Missing(RepositoryName, Option<State>),
    /// Items that exist, but have no line, or were given up.
    Unrecorded(Vec<RepositoryName>),
    /// An Original that was given up as lost.
    Returned(RepositoryName, Box<Event>),
    /// An item in another state than the recorded one, and not below that line. Finding it takes every sidecar: only
    /// [`Collection::ledger_corrections`] does that.
    OtherState(RepositoryName, Option<State>, Here),
    /// An item above its line, whose last change is not recorded. Finding it takes every sidecar as well.
    Unlogged(Box<Unlogged>),
}

/// Whether other processes may be changing the collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writers {
    None,
    Perhaps,
}

/// Whether recorded states are compared with those in the sidecars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum States {
    Ignored,
    Compared,
}

/// The receiver of discrepancies.
type Visitor<'v> = &'v mut dyn FnMut(Discrepancy) -> ControlFlow<()>;

impl Collection {
    /// Calls `visit` for every discrepancy among the `wanted` names.
    ///
    /// An apparent discrepancy is checked twice, because other processes may be at work: an item that is just
    /// being published or swapped is not reported. Items in a directory that is closed to this user, or is a link, are
    /// not compared: every listing of the items reports it. Any other error may pass before the items are listed, as
    /// on a network file system, so the first one is returned at the end.
    pub fn visit_discrepancies(
        &self,
        wanted: &Names,
        mut visit: impl FnMut(Discrepancy) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PathError> {
        self.discrepancies(wanted, (Writers::Perhaps, States::Ignored), &mut visit)
    }

    /// Records the items that have no line, copied in by hand or published before a power cut, and the states that follow
    /// those of their lines. No other process writes. Returns their number, and the corrections for items above lines that they do
    /// not follow.
    ///
    /// An Original that was given up, and is here, is one of these: a person may have put it back, and another collection
    /// may hold it.
    pub(in crate::collection) fn record_what_is_there(
        &self,
        agent: &Agent,
        clock: &dyn Clock,
    ) -> Result<(usize, Vec<Correction>), CollectionError> {
        let (mut recorded, mut foreign, mut events) = (Ok(()), Vec::new(), Vec::new());
        let mut found_here = 0;
        let flow = self.discrepancies(
            &Names::default(),
            (Writers::None, States::Compared),
            &mut |found| {
                match found {
                    Discrepancy::Unrecorded(names) => {
                        found_here += names.len();
                        recorded = self.record_found(&names, agent, clock);
                    }
                    Discrepancy::Unlogged(unlogged) if unlogged.is_continued => {
                        found_here += 1;
                        events.push(unlogged.missing_line(clock.now(), agent));
                    }
                    Discrepancy::Unlogged(unlogged) => {
                        foreign.push(Correction::of_unlogged(*unlogged));
                    }
                    Discrepancy::Returned(name, _) => match self.found(&name) {
                        Ok(found) => {
                            let here = found.and_then(|found| found.here);
                            foreign.extend(here.map(|here| Correction::of_returned(name, here)));
                        }
                        Err(error) => recorded = Err(error.into()),
                    },
                    _ => {}
                }
                if recorded.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        let logged = self.log(&events);
        flow.map_err(CollectionError::from)
            .and(recorded)
            .and(logged)
            .map(|()| (found_here, foreign))
    }

    pub(super) fn discrepancies(
        &self,
        wanted: &Names,
        (writers, states): (Writers, States),
        visit: Visitor<'_>,
    ) -> Result<ControlFlow<()>, PathError> {
        let found = match self.ledger_standing()? {
            LedgerStanding::Known => None,
            LedgerStanding::PutBack => Some(Discrepancy::PutBack),
            LedgerStanding::Unknown(fault) => Some(Discrepancy::NoteFault(fault)),
        };
        if found.is_some_and(|found| visit(found).is_break()) {
            return Ok(ControlFlow::Break(()));
        }
        // All items may have vanished with it.
        let Some(dir) = self.ledger()? else { return Ok(visit(Discrepancy::NoLedger)) };
        let replay = Replay::of(dir)?;
        let damaged = replay.chain.damaged;
        if damaged > 0 {
            let is_accepted = damaged <= replay.accepted;
            if visit(Discrepancy::Broken { damaged, is_accepted }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let (years, errors) = years(self, wanted);
        let mut comparison = Comparison {
            collection: self,
            replay,
            present: HashSet::new(),
            listed: HashSet::new(),
            closed: HashSet::new(),
            wanted,
            writers,
            states,
        };
        let mut failed = None;
        for year in years.into_iter().flatten() {
            match comparison.year(&year, visit) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        for name in comparison.candidates(errors.is_empty())? {
            match comparison.missing(name) {
                Ok(Some(missing)) => {
                    if visit(missing).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(None) => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let failed = failed.or_else(|| errors.into_iter().find(|error| !is_reported(error)));
        failed.map_or(Ok(ControlFlow::Continue(())), Err)
    }

    /// The line by which the item `name` was given up, if it is nevertheless here as an Original.
    ///
    /// `None` while other processes may be changing the collection: a run records an arrival after it published the item.
    pub(crate) fn returned(&self, name: &RepositoryName) -> Result<Option<Event>, PathError> {
        let Some(line) = self.seems_returned(name)? else { return Ok(None) };
        if self.has_writers()? {
            return Ok(None);
        }
        // One run may have ended just before, and another may have begun since.
        let is_so = self.seems_returned(name)?.as_ref() == Some(&line) && !self.has_writers()?;
        Ok(is_so.then_some(line))
    }

    /// The same without waiting for other processes.
    pub(super) fn seems_returned(&self, name: &RepositoryName) -> Result<Option<Event>, PathError> {
        let Some(line) = self.loss(name)? else { return Ok(None) };
        let found = match self.found(name) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Some(Found::default()),
            found => found?,
        };
        let is_odd = match found {
            None => false,
            // Nobody made another Original of a tombstone that was given up.
            Some(Found { here, .. }) => here.is_none_or(|here| here.state == State::Original),
        };
        Ok(is_odd.then_some(line))
    }

    /// Whether a process is changing the collection, or was killed and not yet recovered.
    pub(crate) fn has_writers(&self) -> Result<bool, PathError> {
        let staging = self.own_dir(layout::STAGING)?;
        staging.map_or(Ok(false), |staging| Ok(staging.entries()?.next().is_some()))
    }
}

/// Whether every listing of the items has this error too, and reports it.
fn is_reported(error: &PathError) -> bool {
    error.is_link() || error.kind() == ErrorKind::PermissionDenied
}

/// The one spelling of the path of a year.
fn folded_year<L: AsRef<str>>(levels: impl Iterator<Item = L>) -> String {
    let levels: Vec<_> =
        levels.map(|level| level.as_ref().trim_end_matches('.').to_ascii_lowercase()).collect();
    levels.join("/")
}

/// One pass over the directories of all years, after the ledger was read.
struct Comparison<'a> {
    collection: &'a Collection,
    replay: Replay,
    /// The recorded items that are here, by their keys in the replay.
    present: HashSet<u64>,
    /// The years whose directories were listed, and those with a directory that could not be.
    listed: HashSet<String>,
    closed: HashSet<String>,
    wanted: &'a Names,
    writers: Writers,
    states: States,
}

impl Comparison<'_> {
    /// Compares the items in the directory `path` of a year.
    fn year(&mut self, path: &Path, visit: Visitor<'_>) -> Result<ControlFlow<()>, PathError> {
        let (mut found, mut unrecorded) = (Vec::new(), Vec::new());
        match self.list(path, &mut found, &mut unrecorded) {
            Err(error) if is_reported(&error) => return Ok(ControlFlow::Continue(())),
            listed => listed?,
        }
        for name in found {
            if let Some(other) = self.other_state(name)?
                && visit(other).is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        unrecorded.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        // A new item is recorded a moment after it is published.
        if unrecorded.is_empty()
            || (self.writers == Writers::Perhaps && self.collection.has_writers()?)
        {
            return Ok(ControlFlow::Continue(()));
        }
        for some in unrecorded.chunks(AT_A_TIME) {
            let mut names = Vec::with_capacity(some.len());
            for name in some {
                match self.collection.last_record(name)? {
                    None => names.push(name.clone()),
                    Some(line) if !line.is_loss() => {}
                    Some(_) => match self.collection.seems_returned(name)? {
                        None => names.push(name.clone()),
                        Some(line) => {
                            let is_so = self.writers == Writers::None
                                || self.collection.returned(name)?.is_some();
                            let returned = Discrepancy::Returned(name.clone(), Box::new(line));
                            if is_so && visit(returned).is_break() {
                                return Ok(ControlFlow::Break(()));
                            }
                        }
                    },
                }
            }
            if !names.is_empty() && visit(Discrepancy::Unrecorded(names)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Lists a year. Recorded items count as present; with [`States::Compared`] the wanted ones are in `found`. Wanted
    /// items without a line, or given up, are in `unrecorded`.
    fn list(
        &mut self,
        path: &Path,
        found: &mut Vec<RepositoryName>,
        unrecorded: &mut Vec<RepositoryName>,
    ) -> Result<(), PathError> {
        let listed = (|| {
            let Some(dir) = self.collection.root().open_dir_if_there(path)? else { return Ok(()) };
            for entry in dir.entries()? {
                let entry = entry?;
                let Some(leaf) = entry.name.to_str().filter(|_| entry.kind == Kind::Directory)
                else {
                    continue;
                };
                let text = path.join(leaf);
                let Ok((name, _)) = RepositoryName::parse_as_found(&text.to_string_lossy()) else {
                    continue;
                };
                let folded = name.folded();
                let known = self.replay.find(&folded);
                if known.is_some_and(|known| !known.is_loss()) {
                    self.present.insert(self.replay.key(&folded));
                    if self.states == States::Compared && self.wanted.contains(&name) {
                        found.push(name);
                    }
                } else if self.wanted.contains(&name)
                    // A directory without a sidecar was never an item; `verify` reports it. One item that cannot be
                    // read must not hide the losses of a year.
                    && let Ok(Some(_)) = dir.stat(Path::new(leaf).join(layout::SIDECAR))
                {
                    unrecorded.push(name);
                }
            }
            Ok(())
        })();
        let year = folded_year(path.iter().map(|level| level.to_string_lossy()));
        match &listed {
            Ok(()) => self.listed.insert(year),
            Err(_) => self.closed.insert(year),
        };
        listed
    }

    /// The item, if its sidecar has another state than its line, or a newer one.
    fn other_state(&self, name: RepositoryName) -> Result<Option<Discrepancy>, PathError> {
        let deviation = match self.writers {
            Writers::None => self.collection.deviation_at_rest(&name),
            Writers::Perhaps => self.collection.deviation(&name),
        };
        let deviation = match deviation {
            // The sidecar of another user: only its state is unknown.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => None,
            Err(error) if error.is_link() => None,
            deviation => deviation?,
        };
        Ok(match deviation {
            None | Some(Deviation::Below(_)) => None,
            Some(Deviation::State(was, is)) => Some(Discrepancy::OtherState(name, was, is)),
            Some(Deviation::Above(unlogged)) => Some(Discrepancy::Unlogged(unlogged)),
        })
    }

    /// The wanted items that should be here and were not listed, in the order of their last lines. Of years without a
    /// directory only if `is_whole`: the directories above all years were listed.
    fn candidates(&self, is_whole: bool) -> Result<Vec<RepositoryName>, PathError> {
        if self.present.len() == self.replay.len() {
            return Ok(Vec::new());
        }
        let mut candidates = Vec::new();
        self.replay.visit_last_lines(|key, known, head| {
            if known.is_loss() || self.present.contains(&key) {
                return;
            }
            let Ok((name, _)) = RepositoryName::parse_as_found(&head.id) else { return };
            let year = folded_year(name.components().into_iter().take(3));
            let is_compared =
                !self.closed.contains(&year) && (is_whole || self.listed.contains(&year));
            if is_compared && self.wanted.contains(&name) {
                candidates.push(name);
            }
        })?;
        Ok(candidates)
    }

    /// An item that was not listed, if it is missing indeed: it may have been given up, or come back, meanwhile.
    fn missing(&self, name: RepositoryName) -> Result<Option<Discrepancy>, PathError> {
        let collection = self.collection;
        let Some(line) = collection.last_record(&name)?.filter(|line| !line.is_loss()) else {
            return Ok(None);
        };
        if collection.trashed_of(&name)?.iter().any(Trashed::is_aside) {
            return Ok(None);
        }
        match collection.root().stat(layout::item_directory(&name)) {
            Ok(None) => Ok(Some(Discrepancy::Missing(name, line.state()))),
            Ok(Some(_)) => Ok(None),
            Err(error) if is_reported(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
