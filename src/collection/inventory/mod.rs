//! The inventory: the items that a collection should hold, and those that were given up as lost [protocol: P11].
//!
//! `.urepo/inventory` has one text file for each year of a prefix, to which lines are only appended (`line`);
//! the last line of an item counts. No other record shows that an item vanished: everything else is derived
//! from the existing items.
//!
//! # Order
//!
//! - An arrival is recorded once the item is durable, before it is reported. A crash between the two leaves
//!   an item without a record, which `verify` notices and records.
//! - Any other change is recorded once it is durable as well. After a killed run, the next writer adds the missing
//!   lines (`collection::change::change_note`).
//!
//! So after a crash no existing item looks missing, and a process that recovers after a killed one records
//! the items that it had published. [`Collection::record`] is durable when it returns: one sync for each year
//! that a group of items touches.
//!
//! # When it is damaged or lost
//!
//! A line without the right checksum is counted and not believed ([`Discrepancy::Rotten`]). It may have given up
//! any item with an earlier line. So if such an item is missing, it is not reported as
//! vanished but as [`Certainty::Doubtful`], which is damage as well. When a person gives up missing items,
//! such lines are removed ([`Collection::correct_inventory`]).
//!
//! A line without an end was being written when the process or the machine stopped. No process had relied on
//! it, and the next writer marks it as torn. It counts only if nothing but its end is lost. If the directory
//! is missing, the whole inventory is lost: the next change builds it from the items
//! ([`Collection::rebuild`]).

mod arrival;
mod compare;
mod correct;
mod line;
mod mend;
mod reader;
mod rebuild;
mod recall;
mod recorded;
mod states;
mod year;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::Collection;
use crate::clock::Clock;
use crate::digest::Digest;
use crate::disk::{Dir, Lock, PathError};
use crate::identity::{Prefix, RepositoryName};
use crate::interrupt::Interrupt;
use crate::layout;
use crate::wait::{Waited, Waiter};

pub(crate) use arrival::InventoryEnd;
pub use compare::Discrepancy;
pub(crate) use compare::Writers;
pub use correct::{Corrected, Correction};
use line::TORN;
pub use line::{CollectionRef, Here, InventoryChange, InventoryLine};
pub use mend::RottenLine;
pub(super) use reader::InventoryReader;
pub use recorded::{Certainty, Recorded};

/// Other processes hold a file only while they append to it.
const PATIENCE: Duration = Duration::from_secs(30);
/// A longer name of a file is replaced by its digest.
const LONGEST_NAME: usize = 230;
/// Limit on a line: an identifier has at most some 600 bytes, and the name of a collection is short.
const MAX_LINE_BYTES: usize = 1 << 16;

/// The name of the file about the year of `name`, in each directory that has one for each year.
pub(crate) fn year_file(name: &RepositoryName) -> String {
    let [subdomain, word, year, _] = name.components();
    file_of(subdomain, word, year)
}

/// The same for the directory of a year. `+` occurs in no name.
fn file_of(subdomain: &str, word: &str, year: &str) -> String {
    let bare = |text: &str| text.trim_end_matches('.').to_ascii_lowercase();
    let text = format!("{}+{}+{year}", bare(subdomain), word.to_ascii_lowercase());
    if text.len() > LONGEST_NAME { Digest::of(text.as_bytes()).to_string() } else { text }
}

impl Collection {
    /// Appends changes of items, dated now, to the inventory and syncs it.
    ///
    /// Every change of the holdings of a collection calls this: with [`InventoryChange::Entered`] or
    /// [`InventoryChange::Became`] once the change is durable and before it is reported. A lost inventory stays lost until
    /// it is rebuilt, and no item is given up before that.
    pub(crate) fn record(
        &self,
        changes: impl IntoIterator<Item = (RepositoryName, InventoryChange)>,
        clock: &dyn Clock,
    ) -> Result<(), PathError> {
        let date = clock.now();
        self.append_lines(
            changes.into_iter().map(|(name, change)| InventoryLine { date, name, change }),
            None,
            clock,
        )
    }

    /// [`Collection::record`]s items that were published or inspected after the inventory ended at `before`,
    /// and that other processes may have changed meanwhile.
    pub(crate) fn record_arrivals(
        &self,
        before: &InventoryEnd,
        changes: impl IntoIterator<Item = (RepositoryName, InventoryChange)>,
        clock: &dyn Clock,
    ) -> Result<(), PathError> {
        let date = clock.now();
        let line = |(name, change)| InventoryLine { date, name, change };
        self.append_lines(changes.into_iter().map(line), Some(before), clock)
    }

    /// This collection, as other collections name it.
    pub(crate) fn reference(&self) -> CollectionRef {
        CollectionRef { id: self.id().to_owned(), name: self.settings().name.clone() }
    }

    fn append_lines(
        &self,
        lines: impl Iterator<Item = InventoryLine>,
        before: Option<&InventoryEnd>,
        clock: &dyn Clock,
    ) -> Result<(), PathError> {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for line in lines {
            files.entry(year_file(&line.name)).or_default().push_str(&line.to_text());
        }
        if files.is_empty() {
            return Ok(());
        }
        let Some(dir) = self.inventory()? else { return Ok(()) };
        files.into_iter().try_for_each(|(file, text)| append(&dir, &file, text, before, clock))
    }

    /// The directory of the inventory, unless it is lost.
    pub(crate) fn inventory(&self) -> Result<Option<Dir>, PathError> {
        self.own_dir(layout::INVENTORY)
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
        // Names that are too long for names of files are missed.
        let is_recorded = || {
            let Some(dir) = self.inventory()? else { return Ok(levels.len() > 1) };
            let mut files = dir.entries()?;
            files.try_fold(false, |any, file| {
                let is_below = |file: &str| is_level(&mut file.split('+'));
                Ok::<_, PathError>(any || file?.name.to_str().is_some_and(is_below))
            })
        };
        prefixes.any(is_own) || is_recorded().unwrap_or(true)
    }
}

fn append(
    dir: &Dir,
    name: &str,
    mut text: String,
    before: Option<&InventoryEnd>,
    clock: &dyn Clock,
) -> Result<(), PathError> {
    let mut lock = lock(dir, name, clock)?;
    let file = lock.file();
    let stat = file.stat()?;
    let end = stat.bytes;
    if let Some(before) = before {
        let later = before.later_lines(&text, name, (file, stat))?;
        text.push_str(&later);
    }
    if end == 0 {
        // So the name of a file with content is on the disk.
        dir.sync()?;
    } else if !file.ends_with(b'\n')? {
        text.insert_str(0, TORN);
    }
    file.write_all_at(text.as_bytes(), end)?;
    file.sync_data()
}

/// Locks the present file `name`, which a repair may have replaced.
fn lock(dir: &Dir, name: &str, clock: &dyn Clock) -> Result<Lock, PathError> {
    // A published item is recorded even if a stop was requested meanwhile.
    let waiter = Waiter::new(clock, &Interrupt::default(), PATIENCE);
    let locked = waiter.poll(|| {
        let file = match dir.open_to_append_if_there(Path::new(name))? {
            Some(file) => file,
            None => dir.open_lock_file(name)?,
        };
        let Some(mut lock) = Lock::of_file(file)? else { return Ok(None) };
        let held = lock.file().stat()?.identity;
        let is_current = dir.stat(name)?.is_some_and(|stamp| stamp.identity == held);
        Ok(is_current.then_some(lock))
    })?;
    match locked {
        Waited::Ready(lock) => Ok(lock),
        Waited::TimedOut | Waited::Interrupted => {
            let held = std::io::Error::other("another process has held it for half a minute");
            Err(PathError::new("lock", dir.path_of(name), held))
        }
    }
}
