//! The ledger: what happened in a collection, and so which items it should have [protocol: P11].
//!
//! `.urepo/ledger` has JSON lines in a chain of sums (`chain`), to which lines are only appended (`event`). No other record
//! shows that an item vanished: everything else is derived from the existing items.
//!
//! # Order
//!
//! A change is recorded once it is durable, before it is reported. After a killed run, the next writer that is alone adds
//! the missing lines (`collection::change::change_note`). After a power cut, or if an item was copied in by hand, an item
//! may lack its line: `verify` reports it, and `recover` records it.
//!
//! So after a crash no existing item looks missing. [`Collection::record`] is durable when it returns: one sync for a
//! group of items.
//!
//! # When it is damaged or lost
//!
//! A line that is changed, missing or inserted breaks the chain, and does not count. That is damage until a person accepts
//! it: then a line says how many lines were damaged ([`Collection::correct_ledger`]). If the directory is missing, the next
//! change builds the ledger from the items ([`Collection::rebuild`]).

mod chain;
pub(super) mod changed;
mod compare;
mod contradiction;
mod correct;
mod correction;
mod event;
mod followed;
mod head;
mod import_reader;
mod imported;
mod rebuild;
mod recall;
mod replay;
mod scan;

use std::path::Path;
use std::sync::PoisonError;

use super::{ChangeLocks, Collection, CollectionError};
use crate::disk::{Dir, Lock, LockMode, PathError};
use crate::identity::{Instant, Prefix};
use crate::layout;

use chain::{ChainReader, Header, Tail};
pub use compare::Discrepancy;
pub use contradiction::{Deviation, Unlogged};
pub use correct::Corrected;
pub use correction::{Actual, Correction};
pub use event::{CollectionRef, Departed, Event, EventKind, Here, of_id};
pub(super) use head::HeadNote;
pub use head::{LedgerStanding, NoteFault};
pub(crate) use import_reader::ImportReader;
pub use imported::ImportedSource;
pub(crate) use imported::{IMPORTED, SOURCE};
pub(super) use rebuild::{Found, registration};
pub(super) use replay::Replay;
pub(super) use scan::Scan;

/// The ledger in `own`, unless it is lost: it has a file at least.
pub(super) fn ledger_in(own: &Dir) -> Result<Option<Dir>, PathError> {
    let Some(dir) = own.open_dir_if_there(layout::LEDGER)? else { return Ok(None) };
    Ok(if chain::numbers(&dir)?.is_empty() { None } else { Some(dir) })
}

/// The id in the ledger in `own`; `None` if it is lost, or its last header is damaged.
pub(super) fn id_in(own: &Dir) -> Result<Option<String>, PathError> {
    let header = ledger_in(own)?.map_or(Ok(None), |dir| chain::last_header(&dir))?;
    Ok(header.map(|header| header.collection))
}

/// Whether the ledger in `own` tells more than that a collection was to begin.
pub(super) fn has_lines(own: &Dir) -> Result<bool, PathError> {
    let Some(dir) = ledger_in(own)? else { return Ok(false) };
    let mut found = false;
    chain::visit_from(&dir, chain::Position::default(), |line| {
        found |= !replay::is_structure(line);
    })?;
    Ok(found)
}

/// Begins the ledger of a new collection in `own`, with the new `id`. Returns the id that it has: that of the header, if a
/// killed run had begun the ledger.
pub(super) fn begin(own: &Dir, id: String) -> Result<String, PathError> {
    if let Some(found) = id_in(own)? {
        return Ok(found);
    }
    let dir = own.ensure_dir(layout::LEDGER)?;
    Tail::find(&dir)?.append(&[], Header::of(&id), true)?;
    own.sync()?;
    Ok(id)
}

impl Collection {
    /// Appends `events` to the ledger, durably.
    ///
    /// Every change of the holdings of a collection calls this under the lock of the change, once that is durable and before
    /// it is reported. A lost ledger stays lost until it is rebuilt, and no item is given up before that.
    pub(crate) fn record(&self, locks: &ChangeLocks, events: &[Event]) -> Result<(), PathError> {
        if !locks.cover(self) {
            let cause = std::io::Error::other("its change lock is not held");
            return Err(PathError::new("record in", self.path(), cause));
        }
        self.append(events)
    }

    /// The same for events that change no holding: the lock is taken for them alone.
    pub(crate) fn log(&self, events: &[Event]) -> Result<(), CollectionError> {
        if events.is_empty() {
            return Ok(());
        }
        let _lock = self.lock_ledger()?;
        Ok(self.append(events)?)
    }

    /// This collection, as other collections name it.
    pub(crate) fn reference(&self) -> CollectionRef {
        CollectionRef { id: self.id().to_owned(), name: self.settings().name.clone() }
    }

    fn append(&self, events: &[Event]) -> Result<(), PathError> {
        if events.is_empty() {
            return Ok(());
        }
        // Names and texts are plain strings, which JSON can represent.
        let lines: Vec<_> =
            events.iter().filter_map(|event| serde_json::to_string(event).ok()).collect();
        self.append_lines(&lines)
    }

    /// Appends `lines`, JSON objects. The change lock is held.
    fn append_lines(&self, lines: &[String]) -> Result<(), PathError> {
        let Some(dir) = self.ledger()? else { return Ok(()) };
        let goes_on = self.head_note.as_ref().map_or(Ok(false), |note| note.goes_on_with(&dir))?;
        let mut tail = Tail::find(&dir)?;
        let mut is_unsure = self.is_ledger_unsure.lock().unwrap_or_else(PoisonError::into_inner);
        let appended = tail.append(lines, self.header(), *is_unsure);
        *is_unsure = appended.is_err();
        // A ledger that was put back is one until a person says so.
        if let Some(note) = self.head_note.as_ref().filter(|_| goes_on && !*is_unsure) {
            note.follow(&tail);
        }
        appended
    }

    /// The header of a new file.
    fn header(&self) -> Header {
        Header::of(self.id())
    }

    /// Begins a new file of the ledger whose header gives the collection another id. Nobody else writes.
    pub(super) fn begin_with_id(&self, id: &str) -> Result<(), PathError> {
        let Some(dir) = self.ledger()? else { return Ok(()) };
        Tail::find(&dir)?.append(&[], Header::of(id).after(self.id()), true)
    }

    /// Takes the change lock for a line of the ledger, which other processes have only while they change items. A free lock
    /// is taken even if a stop was requested meanwhile: what was done is recorded.
    pub(in crate::collection) fn lock_ledger(&self) -> Result<Lock, CollectionError> {
        let (own, mode) = (self.ensure_own()?, LockMode::Exclusive);
        let lock = Lock::take_unsigned(own, layout::CHANGE_LOCK, mode, self.waiter());
        lock.map_err(|error| CollectionError::locked(&self.settings().name, error))
    }

    /// The directory of the ledger, unless it is lost.
    pub(crate) fn ledger(&self) -> Result<Option<Dir>, PathError> {
        self.own()?.map_or(Ok(None), ledger_in)
    }

    /// Calls `visit` for every event since a date, in the order of the ledger. Returns the number of lines that are not
    /// events: damaged, or of a later version.
    pub fn visit_events<E: From<PathError>>(
        &self,
        since: Option<Instant>,
        mut visit: impl FnMut(Event) -> Result<(), E>,
    ) -> Result<u64, E> {
        let Some(dir) = self.ledger()? else { return Ok(0) };
        let (mut skipped, mut ended) = (0, Ok(()));
        let mut reader = ChainReader::new(dir);
        reader.read_on(|_, line| {
            if ended.is_ok() {
                match serde_json::from_slice::<Event>(line) {
                    Ok(event) if since.is_some_and(|since| event.date < since) => {}
                    Ok(event) => ended = visit(event),
                    Err(_) => skipped += u64::from(!replay::is_structure(line)),
                }
            }
        })?;
        ended.map(|()| skipped + reader.damaged)
    }

    /// Whether items belong below the link `name` in `path`, a directory above items: those of a subsystem,
    /// or recorded ones. Other links belong to people.
    pub(crate) fn has_level(&self, path: &Path, name: &str) -> bool {
        let levels = path.iter().map(|level| level.to_string_lossy()).chain([name.into()]);
        let levels: Vec<_> =
            levels.map(|level| level.trim_end_matches('.').to_ascii_lowercase()).collect();
        let is_level = |other: &mut dyn Iterator<Item = &str>| {
            other.zip(&levels).all(|(other, level)| other.eq_ignore_ascii_case(level))
        };
        let is_own = |prefix: Prefix| {
            let (subdomain, word) = prefix.path_components();
            is_level(&mut [&*subdomain, &*word].into_iter())
        };
        let mut prefixes = self.settings().subsystems.iter().filter_map(|it| it.prefix().ok());
        let is_recorded = || match self.recorded_years()? {
            Some(years) => Ok(years.iter().any(|year| is_level(&mut year.split('/')))),
            None => Ok::<_, PathError>(levels.len() > 1),
        };
        prefixes.any(is_own) || is_recorded().unwrap_or(true)
    }
}
