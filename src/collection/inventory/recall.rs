//! What the inventory says of an item that is not here.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::sync::PoisonError;

use super::line::InventoryLine;
use super::recorded::{Certainty, Recorded};
use super::year::{Known, YearInventory, visit_lines, without_end};
use super::{Collection, Departure, Destination, InventoryChange, MAX_LINE_BYTES, year_file};
use crate::collection::CollectionError;
use crate::disk::{Dir, FileStat, Kind, PathError, StoredFile};
use crate::identity::{Instant, Prefix, RepositoryName};
use crate::item::State;
use crate::layout;

/// The inventory, asked for one item after the other: each line is read once.
///
/// It keeps a few bytes for each item of the years that it was asked for.
#[derive(Debug, Default)]
pub(in crate::collection) struct InventoryReader {
    years: HashMap<String, ReadYear>,
    /// What was read last, kept open: items are asked for in the order of their names.
    last: Option<OpenYear>,
}

/// The file of a year, open, and the directory that it lies in.
#[derive(Debug)]
struct OpenYear {
    dir: Dir,
    file_name: String,
    file: StoredFile,
    /// Of both: those of what took their place differ.
    identities: [(u64, u64); 2],
}

/// A file as far as it has been read.
#[derive(Debug)]
struct ReadYear {
    identity: (u64, u64),
    known: YearInventory,
    /// Where lines begin that were added since, by the last level of the name.
    later: HashMap<String, Vec<u64>>,
}

impl InventoryReader {
    /// The file about the year of `name`, with what it says by now; nothing where there is none.
    fn year(
        &mut self,
        own: &Dir,
        name: &RepositoryName,
    ) -> Result<Option<(&StoredFile, &ReadYear)>, PathError> {
        let file_name = year_file(name);
        let Some(FileStat { identity, bytes, .. }) = self.open(own, &file_name)? else {
            return Ok(None);
        };
        let Some(OpenYear { dir, file, .. }) = &self.last else { return Ok(None) };
        let is_same = |year: &ReadYear| year.identity == identity && year.known.end <= bytes;
        if !self.years.get(&file_name).is_some_and(is_same) {
            let known = YearInventory::read(dir, &file_name)?;
            self.years
                .insert(file_name.clone(), ReadYear { identity, known, later: HashMap::new() });
        }
        let Some(year) = self.years.get_mut(&file_name) else { return Ok(None) };
        if year.known.end < bytes {
            year.read_on(file, &file_name)?;
        }
        Ok(Some((file, year)))
    }

    fn last_record(
        &mut self,
        own: &Dir,
        name: &RepositoryName,
    ) -> Result<Option<Recorded>, PathError> {
        let Some((file, year)) = self.year(own, name)? else { return Ok(None) };
        let leaf = name.components()[3];
        let found = || year.known.find(leaf.as_bytes()).and_then(|(at, _)| year.known.line(at));
        let later = year.later.get(leaf).and_then(|lines| lines.last().copied());
        let Some(start) = later.or_else(found) else { return Ok(None) };
        let certainty = Certainty::of(start, year.known.last_rotten);
        Ok(line_at(file, start)?.map(|line| Recorded { line, certainty }))
    }

    /// The state of an item as far as the inventory was read: nothing is looked up on the disk.
    fn state_read(&self, name: &RepositoryName) -> Option<State> {
        let year = self.years.get(&year_file(name))?;
        let leaf = name.components()[3];
        match year.known.find(leaf.as_bytes()).filter(|_| !year.later.contains_key(leaf))? {
            (_, Known::Here(state)) => state,
            (_, Known::Left) => None,
        }
    }

    /// Opens the file of a year, unless it is open: others may have put a new file, or a new inventory, in
    /// its place.
    fn open(&mut self, own: &Dir, file_name: &str) -> Result<Option<FileStat>, PathError> {
        if let Some(last) = self.last.take()
            && last.file_name == file_name
            && let Some(dir_stat) = own.stat(layout::INVENTORY)?
            && let Some(stat) = last.dir.stat(file_name)?
            && [dir_stat.identity, stat.identity] == last.identities
        {
            self.last = Some(last);
            return Ok(Some(stat));
        }
        let Some(dir) = own.open_dir_if_there(layout::INVENTORY)? else { return Ok(None) };
        let Some(file) = dir.open_file_if_there(file_name)? else { return Ok(None) };
        let (dir_stat, stat) = (dir.own_stat()?, file.stat()?);
        let identities = [dir_stat.identity, stat.identity];
        self.last = Some(OpenYear { dir, file_name: file_name.to_owned(), file, identities });
        Ok(Some(stat))
    }

    fn departures(
        &mut self,
        own: &Dir,
        name: &RepositoryName,
    ) -> Result<Option<Vec<Destination>>, PathError> {
        let Some((file, year)) = self.year(own, name)? else { return Ok(None) };
        let leaf = name.components()[3];
        let found = year.known.find(leaf.as_bytes()).map(|(at, _)| at);
        let mut may_be_home = found.is_some_and(|at| year.known.may_be_home(at));
        let mut departures = Vec::new();
        let lines = found.into_iter().flat_map(|at| year.known.departure_lines(at));
        for start in lines.chain(year.later.get(leaf).into_iter().flatten().copied()) {
            let Some(line) = line_at(file, start)? else { continue };
            if line.state() == Some(State::Original) {
                departures.clear();
            }
            match line.change {
                InventoryChange::Left(Departure::Migrated(to) | Departure::Dropped(to)) => {
                    departures.push(to);
                }
                InventoryChange::Left(_) => {}
                _ => may_be_home |= line.state() != Some(State::Copy),
            }
        }
        Ok(may_be_home.then_some(departures))
    }
}

impl ReadYear {
    /// Reads what was added.
    fn read_on(&mut self, file: &StoredFile, file_name: &str) -> Result<(), PathError> {
        let ReadYear { known, later, .. } = self;
        known.end = visit_lines(file, known.end, |start, text| match InventoryLine::parse(text) {
            Some(line) if year_file(&line.name) == file_name => {
                later.entry(line.name.components()[3].to_owned()).or_default().push(start);
            }
            _ => known.last_rotten = Some(start),
        })?;
        Ok(())
    }
}

/// The line that begins at `start`.
fn line_at(file: &StoredFile, start: u64) -> Result<Option<InventoryLine>, PathError> {
    // Most lines are short.
    for length in [512, MAX_LINE_BYTES] {
        let mut bytes = vec![0; length];
        let filled = file.read_at(&mut bytes, start)?;
        let text = &bytes[..filled];
        let end = text.iter().position(|byte| *byte == b'\n');
        if end.is_some() || filled < length {
            let text = &text[..end.unwrap_or(filled)];
            let text = text.strip_suffix(b" torn").unwrap_or(text);
            return Ok(without_end(text).and_then(InventoryLine::parse));
        }
    }
    Ok(None)
}

impl Collection {
    /// What the inventory last recorded of the item `name`.
    pub fn last_record(&self, name: &RepositoryName) -> Result<Option<Recorded>, PathError> {
        let Some(own) = self.own()? else { return Ok(None) };
        let mut reader = self.inventory_reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.last_record(own, name)
    }

    /// The state of the item `name` that the inventory last recorded, if that was read before.
    pub(super) fn state_read(&self, name: &RepositoryName) -> Option<State> {
        self.inventory_reader.lock().unwrap_or_else(PoisonError::into_inner).state_read(name)
    }

    /// The last line about the item `name`, if it says that the item left for another collection.
    pub(crate) fn departure(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<InventoryLine>, PathError> {
        let line = self.last_record(name)?.map(|recorded| recorded.line);
        Ok(line.filter(|line| {
            let change = &line.change;
            matches!(change, InventoryChange::Left(Departure::Migrated(_) | Departure::Dropped(_)))
        }))
    }

    /// The collections that the item `name` left for since its Original was last here: none of them may hold
    /// it by now, but each knows where it went. Nothing if it has never been more than a Copy here.
    pub(crate) fn departures(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<Vec<Destination>>, PathError> {
        let Some(own) = self.own()? else { return Ok(None) };
        let mut reader = self.inventory_reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.departures(own, name)
    }

    /// That the item `name` is not here, and why, as far as the inventory knows.
    pub(crate) fn absent(&self, name: &RepositoryName) -> CollectionError {
        let path = self.path().to_path_buf();
        let recorded = match self.last_record(name) {
            Ok(Some(recorded)) => recorded,
            Ok(None) => return CollectionError::NoSuchItem { name: name.to_string(), path },
            Err(error) => return error.into(),
        };
        if matches!(recorded.line.change, InventoryChange::Left(_)) {
            return CollectionError::Left { line: Box::new(recorded.line), path };
        }
        // It may have come, or been displaced, since it was looked for.
        match self.item(name) {
            Ok(_) => CollectionError::NoSuchItem { name: name.to_string(), path },
            Err(CollectionError::NoSuchItem { .. }) => {
                CollectionError::Vanished { recorded: Box::new(recorded), path }
            }
            Err(error) => error,
        }
    }

    /// Makes sure that `name`, which no item here has, is not that of one that left or vanished: as another
    /// item's, or as a second Original's, it would be given twice. One that came meanwhile is
    /// [`CollectionError::Changed`].
    pub(crate) fn check_never_held(&self, name: &RepositoryName) -> Result<(), CollectionError> {
        match self.absent(name) {
            CollectionError::NoSuchItem { path, .. } => match self.last_record(name)? {
                Some(_) => Err(CollectionError::Changed { name: name.clone(), path }),
                None => Ok(()),
            },
            error => Err(error),
        }
    }

    /// Calls `visit` with the names of the subsystem of `prefix` in the inventory, those included that left:
    /// of years before that of `since`, none.
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
                // Most lines are of other items; to look for the leaf is cheaper than to add up.
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
