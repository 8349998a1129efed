//! The inventory's record of an item that is not here.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::line::InventoryLine;
use super::reader::{FileChange, InventoryReader, OpenYear, ReadYear};
use super::recorded::Recorded;
use super::year::visit_lines;
use super::{Collection, InventoryChange, year_file};
use crate::collection::CollectionError;
use crate::disk::{Dir, FileStat, Kind, PathError, StoredFile};
use crate::identity::{Instant, Prefix, RepositoryName};

impl Collection {
    /// The last record of the item `name` in the inventory.
    pub fn last_record(&self, name: &RepositoryName) -> Result<Option<Recorded>, PathError> {
        self.recall(name, ReadYear::last_record)
    }

    /// Whether the inventory has a record of the item `name`. For names in order, it reads each year once, and its
    /// file is not even inspected for most of them.
    pub(crate) fn is_recorded(&self, name: &RepositoryName) -> Result<bool, PathError> {
        Ok(self.inventory_reader().has_read(name) || self.last_record(name)?.is_some())
    }

    /// The result of `ask` for the item `name` in the present file of its year.
    fn recall<T>(
        &self,
        name: &RepositoryName,
        ask: impl FnOnce(&ReadYear, &StoredFile, &str) -> Result<Option<T>, PathError>,
    ) -> Result<Option<T>, PathError> {
        let Some(own) = self.own()? else { return Ok(None) };
        let file_name = year_file(name);
        // Several threads call this at a time: none waits for the disk because of another.
        let Some((open, stat)) = self.open_year(own, &file_name)? else { return Ok(None) };
        let Some(file) = &open.file else { return Ok(None) };
        let mut reader = self.inventory_reader();
        ask(reader.year(file, &file_name, stat)?, file, name.components()[3])
    }

    /// Opens the file of a year, unless it is open, and inspects it; `None` if it does not exist.
    fn open_year(
        &self,
        own: &Dir,
        file_name: &str,
    ) -> Result<Option<(Arc<OpenYear>, FileStat)>, PathError> {
        let open = self.inventory_reader().open.clone();
        if let Some(open) = open.filter(|open| open.file_name == file_name)
            && let FileChange::Same(stat) = open.look(own)?
        {
            return Ok(stat.map(|stat| (open, stat)));
        }
        let Some(open) = OpenYear::open(own, file_name)?.map(Arc::new) else { return Ok(None) };
        self.inventory_reader().open = Some(Arc::clone(&open));
        let stat = open.file.as_ref().map(StoredFile::stat).transpose()?;
        Ok(stat.map(|stat| (open, stat)))
    }

    pub(super) fn inventory_reader(&self) -> MutexGuard<'_, InventoryReader> {
        self.inventory_reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last line about the item `name`, if by that line the item was given up as lost: its Original may be in another
    /// collection.
    pub(crate) fn loss(&self, name: &RepositoryName) -> Result<Option<InventoryLine>, PathError> {
        let line = self.last_record(name)?.map(|recorded| recorded.line);
        Ok(line.filter(|line| line.change == InventoryChange::Lost))
    }

    /// The error for an absent item `name`, with the reason from the inventory.
    pub(crate) fn absent(&self, name: &RepositoryName) -> CollectionError {
        let path = self.path().to_path_buf();
        let recorded = match self.last_record(name) {
            Ok(Some(recorded)) => recorded,
            Ok(None) => return CollectionError::NoSuchItem { name: name.to_string(), path },
            Err(error) => return error.into(),
        };
        if recorded.line.change == InventoryChange::Lost {
            return CollectionError::GivenUp { line: Box::new(recorded.line), path };
        }
        // It may have arrived, or been displaced, since the lookup.
        match self.item(name) {
            Ok(_) => CollectionError::NoSuchItem { name: name.to_string(), path },
            Err(CollectionError::NoSuchItem { .. }) => {
                CollectionError::Vanished { recorded: Box::new(recorded), path }
            }
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

    /// Calls `visit` with the names of the subsystem of `prefix` in the inventory, including items that left,
    /// from the year of `since` on.
    pub(in crate::collection) fn visit_recorded(
        &self,
        prefix: &Prefix,
        since: Option<Instant>,
        mut visit: impl FnMut(RepositoryName),
    ) -> Result<(), PathError> {
        let subsystem = prefix.subsystem();
        let first_year = since.map(|since| since.civil().year);
        let is_wanted = |file: &OsStr| {
            let year = file.to_str().and_then(|file| file.rsplit_once('+')?.1.parse::<i128>().ok());
            year.zip(first_year).is_none_or(|(year, first)| year >= first)
        };
        self.visit_inventory(is_wanted, |text| {
            if let Some(line) = InventoryLine::parse(text)
                && line.name.prefix().subsystem() == subsystem
            {
                visit(line.name);
            }
        })
    }

    /// Calls `visit` for every line of the files that are wanted.
    fn visit_inventory(
        &self,
        is_wanted: impl Fn(&OsStr) -> bool,
        mut visit: impl FnMut(&[u8]),
    ) -> Result<(), PathError> {
        let Some(dir) = self.inventory()? else { return Ok(()) };
        for entry in dir.entries()? {
            let entry = entry?;
            if entry.kind == Kind::File
                && is_wanted(&entry.name)
                && let Some(file) = dir.open_file_if_there(&entry.name)?
            {
                visit_lines(&file, 0, |_, text| visit(text))?;
            }
        }
        Ok(())
    }

    /// The recorded names that end in `end`.
    pub(in crate::collection) fn recorded_names_ending_in(
        &self,
        end: &str,
    ) -> Result<BTreeSet<RepositoryName>, PathError> {
        let mut found = BTreeSet::new();
        let leaf = end.rsplit('/').next().unwrap_or_default().as_bytes();
        self.visit_inventory(
            |_| true,
            |text| {
                // Most lines are about other items; searching for the leaf is cheaper than a checksum.
                if text.windows(leaf.len().max(1)).any(|window| window == leaf)
                    && let Some(line) = InventoryLine::parse(text)
                    && line.name.folded().ends_with(end)
                {
                    found.insert(line.name);
                }
            },
        )?;
        Ok(found)
    }
}
