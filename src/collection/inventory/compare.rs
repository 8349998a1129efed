//! The comparison of the inventory with the items, one year of a prefix at a time.

use std::collections::{BTreeMap, HashSet};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::year::{Known, YearInventory};
use super::{Certainty, Collection, Here, InventoryChange, InventoryLine, file_of};
use crate::clock::Clock;
use crate::collection::TrashContents;
use crate::collection::names::list::{Names, years};
use crate::disk::{Dir, Kind, PathError};
use crate::identity::{RepositoryName, is_suffix_leaf};
use crate::item::State;
use crate::layout;

/// Limit on unrecorded items reported in one batch.
const AT_A_TIME: usize = 1024;

/// A discrepancy between the inventory and the items.
#[derive(Debug)]
pub enum Discrepancy {
    /// The inventory is missing.
    NoInventory,
    /// Damaged lines of a file, by its path; their meaning is lost.
    Rotten(PathBuf, u64),
    /// A recorded item is missing; with its state, if known, and whether it may have been given up.
    Missing(RepositoryName, Option<State>, Certainty),
    /// Items that exist, but have no record, or were given up.
    Unrecorded(Vec<RepositoryName>),
    /// An Original that was given up as lost.
    Returned(RepositoryName, InventoryLine),
    /// An item in another state than the recorded one, and not below that line. Finding it takes every sidecar: only
    /// [`Collection::inventory_corrections`] does that.
    OtherState(RepositoryName, Option<State>, Here),
}

/// Whether other processes may be changing the collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    None,
    Perhaps,
}

/// Whether recorded states are compared with those in the sidecars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum States {
    Ignored,
    Compared,
}

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
        visit: impl FnMut(Discrepancy) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PathError> {
        self.discrepancies(wanted, (Writers::Perhaps, States::Ignored), visit)
    }

    /// Records the items that killed processes had published. No other process writes.
    ///
    /// An Original that was given up, and is here, is not recorded: a person may have put it back, and another collection
    /// may hold it.
    pub(in crate::collection) fn record_what_is_there(
        &self,
        clock: &dyn Clock,
    ) -> Result<(), PathError> {
        let mut recorded = Ok(());
        let flow =
            self.discrepancies(&Names::default(), (Writers::None, States::Ignored), |found| {
                if let Discrepancy::Unrecorded(names) = found {
                    recorded = self.record_found(&names, Writers::None, clock).map(drop);
                }
                if recorded.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
        flow.and(recorded)
    }

    pub(super) fn discrepancies(
        &self,
        wanted: &Names,
        (writers, states): (Writers, States),
        mut visit: impl FnMut(Discrepancy) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PathError> {
        // All items may have vanished with it.
        let Some(dir) = self.inventory()? else { return Ok(visit(Discrepancy::NoInventory)) };
        let (years, errors) = years(self, wanted);
        let mut places: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for year in years.into_iter().flatten() {
            let file = file_of_directory(&year);
            places.entry(file).or_default().push(year);
        }
        if errors.is_empty() {
            for name in dir.names_of(Kind::File, |_| true)? {
                places.entry(name).or_default();
            }
        }
        let mut failed = errors.into_iter().find(|error| !is_reported(error));
        for (file, directories) in places {
            let directories = &directories;
            let (collection, dir, file) = (self, &dir, &*file);
            let year = ComparedYear { collection, dir, file, directories, writers, states };
            match year.visit(wanted, &mut visit) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(ControlFlow::Continue(())), Err)
    }

    /// The line by which the item `name` was given up, if it is nevertheless here as an Original.
    ///
    /// `None` while other processes may be changing the collection: a run records an arrival after it published the item.
    pub(crate) fn returned(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<InventoryLine>, PathError> {
        let Some(line) = self.seems_returned(name)? else { return Ok(None) };
        if self.has_writers()? {
            return Ok(None);
        }
        // One run may have ended just before, and another may have begun since.
        let is_so = self.seems_returned(name)?.as_ref() == Some(&line) && !self.has_writers()?;
        Ok(is_so.then_some(line))
    }

    /// The same without waiting for other processes.
    pub(super) fn seems_returned(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<InventoryLine>, PathError> {
        let Some(line) = self.loss(name)? else { return Ok(None) };
        let found = match self.found(name) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                Some(InventoryChange::Found(None))
            }
            found => found?,
        };
        let is_odd = match found {
            None => false,
            // Nobody made another Original of a tombstone that was given up.
            Some(found) => found.here().is_none_or(|here| here.state == State::Original),
        };
        Ok(is_odd.then_some(line))
    }

    /// Whether a process is changing the collection, or was killed and not yet recovered.
    pub(crate) fn has_writers(&self) -> Result<bool, PathError> {
        let staging = self.own_dir(layout::STAGING)?;
        staging.map_or(Ok(false), |staging| Ok(staging.entries()?.next().is_some()))
    }

    /// The items that are set aside while they are replaced.
    fn items_aside(&self) -> Result<HashSet<RepositoryName>, PathError> {
        let mut aside = HashSet::new();
        self.visit_trash(|trashed| {
            let held = trashed.and_then(|trashed| Ok((self.held(&trashed)?, trashed.name)));
            match held {
                Ok((TrashContents::SetAside, name)) => drop(aside.insert(name)),
                Ok(_) => {}
                // Purged since it was listed, or closed by another user.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::NotFound | ErrorKind::PermissionDenied
                    ) => {}
                Err(error) => return Err(error),
            }
            Ok(())
        })?;
        Ok(aside)
    }
}

/// Whether every listing of the items has this error too, and reports it.
fn is_reported(error: &PathError) -> bool {
    error.is_link() || error.kind() == ErrorKind::PermissionDenied
}

fn file_of_directory(year: &Path) -> String {
    let mut levels = year.iter().map(|level| level.to_string_lossy());
    let mut level = || levels.next().unwrap_or_default();
    file_of(&level(), &level(), &level())
}

/// A year of a prefix: its file in the inventory, and its directories, one for each spelling.
struct ComparedYear<'a> {
    collection: &'a Collection,
    dir: &'a Dir,
    file: &'a str,
    directories: &'a [PathBuf],
    writers: Writers,
    states: States,
}

impl ComparedYear<'_> {
    fn visit(
        &self,
        wanted: &Names,
        visit: &mut impl FnMut(Discrepancy) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PathError> {
        let Some(mut look) = self.look()? else { return Ok(ControlFlow::Continue(())) };
        let mut aside = HashSet::new();
        if look.is_odd() {
            let is_quiet = self.writers == Writers::None || !self.collection.has_writers()?;
            aside = self.collection.items_aside()?;
            let Some(later) = self.look()? else { return Ok(ControlFlow::Continue(())) };
            look = look.confirmed_by(later);
            if !is_quiet {
                // A new item is recorded a moment after it is published.
                look.unrecorded.clear();
            }
        }
        if look.recorded.rotten > 0 {
            let path = super::mend::path_of(self.file);
            if visit(Discrepancy::Rotten(path, look.recorded.rotten)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        for (name, state, certainty) in look.missing() {
            if wanted.contains(&name)
                && !aside.contains(&name)
                && visit(Discrepancy::Missing(name, state, certainty)).is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        if self.states == States::Compared {
            for (name, was) in look.present().filter(|(name, _)| wanted.contains(name)) {
                let found = match self.collection.found(&name) {
                    // The sidecar of another user: only its state is unknown.
                    Err(error) if error.kind() == ErrorKind::PermissionDenied => None,
                    found => found?,
                };
                if let Some(here) = found.as_ref().and_then(InventoryChange::here)
                    && was != Some(here.state)
                    && self.collection.contradicting_line(&name)?.is_none()
                    && visit(Discrepancy::OtherState(name, was, here.clone())).is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        for found in &look.unrecorded {
            for begin in (0..found.len()).step_by(AT_A_TIME) {
                let some = begin..found.len().min(begin + AT_A_TIME);
                let mut names = Vec::with_capacity(some.len());
                let items = some.filter_map(|at| found.item(at));
                for (name, _) in items.filter(|(name, _)| wanted.contains(name)) {
                    match self.collection.seems_returned(&name)? {
                        None => names.push(name),
                        Some(line) => {
                            let is_so = self.writers == Writers::None
                                || self.collection.returned(&name)?.is_some();
                            if is_so && visit(Discrepancy::Returned(name, line)).is_break() {
                                return Ok(ControlFlow::Break(()));
                            }
                        }
                    }
                }
                if !names.is_empty() && visit(Discrepancy::Unrecorded(names)).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads the inventory, then lists the directories; `None` if one is closed to this user or a link.
    fn look(&self) -> Result<Option<YearScan>, PathError> {
        let recorded = YearInventory::read(self.dir, self.file)?;
        let is_there = vec![false; recorded.len()];
        let mut look = YearScan { recorded, is_there, unrecorded: Vec::new() };
        for path in self.directories {
            match look.list(self.collection.root(), path) {
                Err(error) if is_reported(&error) => return Ok(None),
                listed => listed?,
            }
        }
        Ok(Some(look))
    }
}

/// A look at one year: the recorded items, and the existing ones.
struct YearScan {
    recorded: YearInventory,
    /// Which of the recorded items exist.
    is_there: Vec<bool>,
    /// Other items, by directory.
    unrecorded: Vec<YearInventory>,
}

impl YearScan {
    /// Takes in the entries of the directory `path`.
    fn list(&mut self, root: &Dir, path: &Path) -> Result<(), PathError> {
        let Some(dir) = root.open_dir_if_there(path)? else { return Ok(()) };
        let year = path.file_name().unwrap_or_default().to_string_lossy();
        let mut unrecorded = YearInventory::of(path);
        for entry in dir.entries()? {
            let entry = entry?;
            let Some(leaf) = entry.name.to_str() else { continue };
            if entry.kind != Kind::Directory || !is_suffix_leaf(&year, leaf) {
                continue;
            }
            match self.recorded.find(leaf.as_bytes()) {
                Some((at, Known::Here(_))) => self.is_there[at] = true,
                // A directory without a sidecar was never an item; `verify` reports it.
                Some((_, Known::Lost)) | None => {
                    // One item that cannot be read must not hide the losses of a year.
                    if let Ok(Some(_)) = dir.stat(Path::new(leaf).join(layout::SIDECAR)) {
                        unrecorded.push(leaf.as_bytes(), Known::Here(None), 0);
                    }
                }
            }
        }
        unrecorded.sort();
        self.unrecorded.push(unrecorded);
        Ok(())
    }

    /// Whether a discrepancy was found.
    fn is_odd(&self) -> bool {
        self.missing().next().is_some() || self.unrecorded.iter().any(|found| found.len() > 0)
    }

    /// The recorded items that are missing, with their states.
    fn missing(&self) -> impl Iterator<Item = (RepositoryName, Option<State>, Certainty)> + '_ {
        let absent = (0..self.recorded.len()).filter(|at| !self.is_there[*at]);
        absent.filter_map(|at| match self.recorded.item(at)? {
            (name, Known::Here(state)) => Some((name, state, self.recorded.certainty(at))),
            (_, Known::Lost) => None,
        })
    }

    /// The recorded items that exist, with the recorded states.
    fn present(&self) -> impl Iterator<Item = (RepositoryName, Option<State>)> + '_ {
        let present = (0..self.recorded.len()).filter(|at| self.is_there[*at]);
        present.filter_map(|at| match self.recorded.item(at)? {
            (name, Known::Here(state)) => Some((name, state)),
            (_, Known::Lost) => None,
        })
    }

    /// Takes a look at the same year a moment later, and keeps the discrepancies that both have.
    fn confirmed_by(&self, mut later: YearScan) -> YearScan {
        for at in 0..later.recorded.len() {
            let was_missing = later.recorded.leaf(at).and_then(|leaf| self.recorded.find(leaf));
            later.is_there[at] |=
                !was_missing.is_some_and(|(at, known)| known != Known::Lost && !self.is_there[at]);
        }
        for (found, before) in later.unrecorded.iter_mut().zip(&self.unrecorded) {
            found.retain(|leaf| before.find(leaf).is_some());
        }
        later
    }
}
