//! Asking the ledger about items, also those that are not here.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{MutexGuard, PoisonError};

use super::chain::{self, ChainReader};
use super::replay::{LineHead, Replay};
use super::scan::Scan;
use super::{Collection, Event};
use crate::collection::CollectionError;
use crate::custody::CustodyId;
use crate::disk::PathError;
use crate::identity::{Instant, Prefix, RepositoryName};
use crate::layout;

impl Collection {
    /// The last line of the ledger about what this collection has of the item `name`.
    pub fn last_record(&self, name: &RepositoryName) -> Result<Option<Event>, PathError> {
        match self.scanned(name)? {
            ControlFlow::Break(line) => Ok(line),
            ControlFlow::Continue(()) => self.last_record_in(name, self.replay()?),
        }
    }

    /// The line of the deposit of the item `name`. The ledger is read for it.
    pub fn deposit_line(&self, name: &RepositoryName) -> Result<Option<Event>, PathError> {
        let Some(dir) = self.ledger()? else { return Ok(None) };
        Ok(Scan::of(dir, name)?.and_then(Scan::into_deposit))
    }

    /// The same by the ledger as far as this process has read it, which asks the disk for the line alone. Each change reads to
    /// the end of the ledger when it locks the collection.
    pub(crate) fn last_record_read(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<Event>, PathError> {
        match self.scanned(name)? {
            ControlFlow::Break(line) => Ok(line),
            ControlFlow::Continue(()) => self.last_record_in(name, self.replay_read()?),
        }
    }

    /// The last line about the item `name`, if that is the first item that this process asks for. It goes on if a replay is
    /// there, or is needed.
    fn scanned(&self, name: &RepositoryName) -> Result<ControlFlow<Option<Event>>, PathError> {
        if self.replay.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Ok(ControlFlow::Continue(()));
        }
        let mut scan = self.scan.lock().unwrap_or_else(PoisonError::into_inner);
        let stat = self.own()?.map_or(Ok(None), |own| own.stat(layout::LEDGER))?;
        let is_followed = match (scan.as_mut(), stat) {
            (_, None) => return Ok(ControlFlow::Continue(())),
            (Some(known), Some(_)) if !known.is_about(&name.folded()) => {
                // Its files are open, and the limit may be low.
                *scan = None;
                return Ok(ControlFlow::Continue(()));
            }
            (Some(scan), Some(stat)) => scan.follow(stat.identity)?,
            (None, Some(_)) => false,
        };
        if !is_followed {
            let Some(dir) = self.ledger()? else { return Ok(ControlFlow::Continue(())) };
            *scan = Scan::of(dir, name)?;
        }
        let line = scan.as_ref().map(Scan::line);
        Ok(line.map_or(ControlFlow::Continue(()), ControlFlow::Break))
    }

    fn last_record_in(
        &self,
        name: &RepositoryName,
        mut replay: MutexGuard<'_, Option<Replay>>,
    ) -> Result<Option<Event>, PathError> {
        let folded = name.folded();
        let found = {
            let Some(replay) = replay.as_mut() else { return Ok(None) };
            let Some(known) = replay.find(&folded) else { return Ok(None) };
            replay.file_of(known).map(|file| (file, known.position().offset))
        };
        drop(replay);
        // Several threads call this at a time: none waits for the disk because of another.
        let Some((file, offset)) = found else { return Ok(None) };
        let line = chain::line_at(&file, offset)?.unwrap_or_default();
        let event: Option<Event> = serde_json::from_slice(&line).ok();
        Ok(event.filter(|event| event.id.folded() == folded))
    }

    /// The custody ids of all lines about the item `name` since it was last a stub, the oldest first. What a line says follows
    /// them: each change of an item follows the contents that it replaces, and only a stub is replaced by any contents.
    pub(crate) fn recorded_ids(&self, name: &RepositoryName) -> Result<Vec<CustodyId>, PathError> {
        let mut replay = self.replay()?;
        let Some(replay) = replay.as_mut() else { return Ok(Vec::new()) };
        Ok(replay.ids_of(&name.folded())?.to_vec())
    }

    /// Whether the ledger has a line about the holding of the item `name`.
    pub(crate) fn is_recorded(&self, name: &RepositoryName) -> Result<bool, PathError> {
        Ok(self.replay()?.as_ref().is_some_and(|replay| replay.find(&name.folded()).is_some()))
    }

    /// Whether an item may have been here before its line: adopted, or registered.
    pub(in crate::collection) fn has_adopted(&self) -> Result<bool, PathError> {
        let Some(dir) = self.ledger()? else { return Ok(true) };
        // No text in a line looks like that: in texts, quotes are escaped.
        let signs = [r#""command":"urepo init"#, r#""event":"registration""#];
        let signs = signs.map(memchr::memmem::Finder::new);
        let mut found = false;
        chain::visit_from(&dir, chain::Position::default(), |line| {
            found = found || signs.iter().any(|sign| sign.find(line).is_some());
        })?;
        Ok(found)
    }

    /// The bytes of the ledger.
    pub(in crate::collection) fn ledger_bytes(&self) -> Result<u64, PathError> {
        let Some(dir) = self.ledger()? else { return Ok(0) };
        let bytes = |number| Ok(dir.stat(chain::file_name(number))?.map_or(0, |it| it.bytes));
        chain::numbers(&dir)?.into_iter().map(bytes).sum()
    }

    /// The years of which the ledger has items; `None` while it is lost.
    pub(super) fn recorded_years(&self) -> Result<Option<BTreeSet<String>>, PathError> {
        Ok(self.replay()?.as_ref().map(|replay| replay.years.clone()))
    }

    /// The replay of the ledger up to its present end; `None` while the ledger is lost.
    fn replay(&self) -> Result<MutexGuard<'_, Option<Replay>>, PathError> {
        let stat = self.own()?.map_or(Ok(None), |own| own.stat(layout::LEDGER))?;
        let mut cached = self.replay.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = match (cached.as_mut(), stat) {
            (Some(replay), Some(stat)) => replay.follow(stat.identity)?,
            _ => false,
        };
        if !is_current {
            *cached = self.ledger()?.map(Replay::of).transpose()?;
        }
        Ok(cached)
    }

    /// The replay as far as this process has read it; the first time, up to the present end of the ledger.
    fn replay_read(&self) -> Result<MutexGuard<'_, Option<Replay>>, PathError> {
        let cached = self.replay.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.is_some() {
            return Ok(cached);
        }
        drop(cached);
        self.replay()
    }

    /// Reads to the present end of the ledger, if the ledger was read before.
    pub(crate) fn follow_ledger(&self) -> Result<(), PathError> {
        let is_read = self.replay.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if is_read { self.replay().map(drop) } else { Ok(()) }
    }

    /// The last line about the item `name`, if by that line the item was given up as lost: its Original may be in another
    /// collection.
    pub(crate) fn loss(&self, name: &RepositoryName) -> Result<Option<Event>, PathError> {
        Ok(self.last_record(name)?.filter(Event::is_loss))
    }

    /// The error for an absent item `name`, with the reason from the ledger.
    pub(crate) fn absent(&self, name: &RepositoryName) -> CollectionError {
        let path = self.path().to_path_buf();
        let line = match self.last_record(name) {
            Ok(Some(line)) => Box::new(line),
            Ok(None) => return CollectionError::NoSuchItem { name: name.to_string(), path },
            Err(error) => return error.into(),
        };
        if line.is_loss() {
            return CollectionError::GivenUp { line, path };
        }
        // It may have arrived, or been displaced, since the lookup.
        match self.item(name) {
            Ok(_) => CollectionError::NoSuchItem { name: name.to_string(), path },
            Err(CollectionError::NoSuchItem { .. }) => CollectionError::Vanished { line, path },
            Err(error) => error,
        }
    }

    /// Makes sure that `name`, which no item here has, is not the name of an item that left or vanished: for
    /// another item, or a second Original, the name would be issued twice. If the item has arrived meanwhile,
    /// the error is [`CollectionError::Changed`].
    pub(crate) fn check_never_held(&self, name: &RepositoryName) -> Result<(), CollectionError> {
        match self.absent(name) {
            CollectionError::NoSuchItem { path, .. } => match self.last_record(name)? {
                Some(_) => Err(CollectionError::Changed { name: name.clone(), path }),
                None => Ok(()),
            },
            error => Err(error),
        }
    }

    /// Calls `visit` with the names of the subsystem of `prefix` in the ledger, including names without an item, from the
    /// year of `since` on.
    pub(in crate::collection) fn visit_recorded(
        &self,
        prefix: &Prefix,
        since: Option<Instant>,
        mut visit: impl FnMut(RepositoryName),
    ) -> Result<(), PathError> {
        let subsystem = prefix.subsystem();
        let first_year = since.map(|since| since.civil().year);
        self.visit_names_in_ledger(
            |_| true,
            |name| {
                let year = name.instant().civil().year;
                if name.prefix().subsystem() == subsystem && first_year.is_none_or(|it| it <= year)
                {
                    visit(name);
                }
            },
        )
    }

    /// The names of recorded items that end in `end`.
    pub(in crate::collection) fn recorded_names_ending_in(
        &self,
        end: &str,
    ) -> Result<BTreeSet<RepositoryName>, PathError> {
        let mut found = BTreeSet::new();
        let leaf = end.rsplit('/').next().unwrap_or_default();
        let leaf = memchr::memmem::Finder::new(leaf);
        // Most lines are about other items; searching for the leaf is cheaper than parsing.
        self.visit_names_in_ledger(
            |line| leaf.find(line).is_some() && LineHead::of_holding(line).is_some(),
            |name| {
                if name.folded().ends_with(end) {
                    found.insert(name);
                }
            },
        )?;
        Ok(found)
    }

    /// Calls `visit` with the item of each wanted line.
    fn visit_names_in_ledger(
        &self,
        is_wanted: impl Fn(&[u8]) -> bool,
        mut visit: impl FnMut(RepositoryName),
    ) -> Result<(), PathError> {
        #[derive(serde::Deserialize)]
        struct Named<'l> {
            #[serde(borrow)]
            id: std::borrow::Cow<'l, str>,
        }
        let Some(dir) = self.ledger()? else { return Ok(()) };
        ChainReader::new(dir).read_on(|_, line| {
            if is_wanted(line)
                && let Ok(Named { id }) = serde_json::from_slice(line)
                && let Ok((name, _)) = RepositoryName::parse_as_found(&id)
            {
                visit(name);
            }
        })
    }
}
