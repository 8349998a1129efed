//! Which source became which item, by the ledger of the collection, so that nothing is imported twice.
//!
//! The line about an item that an import makes has its source, and a line without a holding says that a source is the same
//! as an existing item. Items without a line, which a killed run left, count by their sidecars, which have the same data
//! (`[origin]`); so a lost ledger is rebuilt from them.
//!
//! Other imports may add lines at the same time. They are taken in before each group is published, under the change lock:
//! a source that another import has made an item of since is no second one.

mod presence;
mod table;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;

use super::ImportError;
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::{
    Collection, CollectionError, Event, EventKind, ImportReader, ImportedSource, Names,
};
use crate::digest::Digest;
use crate::identity::RepositoryName;
use crate::item::{escape, unescape};
use crate::sidecar::Sidecar;
use table::SourceTable;

pub(crate) use presence::ItemPresence;

/// Sources and the items that they became, as far as the ledger was read.
#[derive(Debug)]
pub struct KnownSources<'a> {
    collection: &'a Collection,
    reader: Option<ImportReader>,
    /// The place from which on the lines were added since it was opened.
    begun: u64,
    /// The place behind the last line of a source.
    end: u64,
    sources: SourceTable,
    contents: SourceTable,
    absent: HashMap<Digest, Absent>,
    /// Entries without a line: of items that a killed run left, and those that a dry run would write.
    unwritten: Vec<Entry>,
    /// Adds lines; `None` in a dry run.
    agent: Option<Agent>,
}

/// A source, and the item that it became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The item.
    pub name: RepositoryName,
    /// Whether the source is only the same as the item, which was made of another one.
    pub is_same: bool,
    /// The shape of the source, without reading it.
    pub shape: Digest,
    /// The digest of its [`content`](crate::item::content).
    pub content: Digest,
    /// The bytes of all files.
    pub bytes: u64,
    /// The absolute path of the source.
    pub source: Vec<u8>,
}

/// An entry, and the place of its item.
#[derive(Debug)]
pub(crate) struct Imported {
    pub entry: Entry,
    pub standing: ItemPresence,
    /// Whether its item was made since the run began.
    pub is_new: bool,
}

/// A content without an item here: among its lines up to `newest`, only the `best` one has to be checked
/// again.
#[derive(Debug)]
struct Absent {
    newest: u64,
    best: Option<u64>,
}

/// Places from here on refer to entries without a line.
const UNWRITTEN: u64 = 1 << 63;

impl<'a> KnownSources<'a> {
    /// Reads the ledger for an import by `agent`, or for a dry run.
    pub fn open(
        collection: &'a Collection,
        agent: Option<&Agent>,
    ) -> Result<KnownSources<'a>, ImportError> {
        let mut known = KnownSources {
            collection,
            reader: collection.import_reader()?,
            begun: 0,
            end: 0,
            sources: SourceTable::default(),
            contents: SourceTable::default(),
            absent: HashMap::new(),
            unwritten: Vec::new(),
            agent: agent.cloned(),
        };
        let keys = RandomState::new();
        let mut recorded = HashSet::new();
        known.read_on(|name| {
            recorded.insert(keys.hash_one(name));
        })?;
        known.begun = known.end;
        known.add_unrecorded(|name| recorded.contains(&keys.hash_one(name.folded())))?;
        Ok(known)
    }

    /// Reads the lines that were added since, and calls `visit` with the folded names of recorded items.
    fn read_on(&mut self, mut visit: impl FnMut(&str)) -> Result<(), ImportError> {
        let KnownSources { reader, sources, contents, end, .. } = self;
        let Some(reader) = reader else { return Ok(()) };
        reader.read_on(|name, is_of_holding, source| {
            if is_of_holding {
                visit(name);
            }
            if let Some((ImportedSource { source, content, .. }, place)) = source
                && let Some(source) = unescape(&source)
            {
                sources.add(&source, place);
                contents.add(content.as_bytes(), place);
                *end = place + 1;
            }
        })?;
        Ok(())
    }

    /// Adds items of imports that have no line: their runs were killed, and no writer was alone since.
    fn add_unrecorded(
        &mut self,
        is_recorded: impl Fn(&RepositoryName) -> bool,
    ) -> Result<(), ImportError> {
        let (collection, mut found) = (self.collection, Vec::new());
        let mut prefixes = Vec::new();
        for subsystem in &collection.settings().subsystems {
            let prefix = subsystem.prefix().map_err(CollectionError::from)?;
            if prefixes.iter().all(|other| *other != prefix.folded()) {
                prefixes.push(prefix.folded());
                collection.visit_names(&Names::of(Some(prefix)), |name| {
                    if !is_recorded(&name) {
                        found.extend(imported(collection, &name)?);
                    }
                    Ok::<_, ImportError>(ControlFlow::Continue(()))
                })?;
            }
        }
        self.confirm(&found.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>())?;
        for entry in found {
            self.remember(entry);
        }
        Ok(())
    }

    /// Syncs the names of items: a killed run may not have done that, and the source of a known item may be removed.
    pub(crate) fn confirm(&self, names: &[RepositoryName]) -> Result<(), ImportError> {
        if names.is_empty() || self.agent.is_none() {
            return Ok(());
        }
        Ok(self.collection.confirm_names(names.iter().map(RepositoryName::as_str))?)
    }

    /// The collection of the items.
    pub fn collection(&self) -> &'a Collection {
        self.collection
    }

    /// The latest entry of a source that `fits`, if it still counts.
    pub(crate) fn of_source(
        &self,
        source: &[u8],
        fits: &dyn Fn(&Entry) -> bool,
    ) -> Result<Option<Imported>, ImportError> {
        let places = self.sources.find(source);
        let found = self.find(places, |entry| entry.source == source && fits(entry))?;
        Ok(found.map(|(_, imported)| imported))
    }

    /// The existing items made of `source`, and tombstones.
    pub(crate) fn items_of_source(
        &self,
        source: &[u8],
    ) -> Result<BTreeSet<RepositoryName>, ImportError> {
        let mut names = BTreeSet::new();
        for place in self.sources.find(source) {
            let entry = self.entry_at(place)?.filter(|entry| entry.source == source);
            let Some(Entry { name, .. }) = entry else { continue };
            if matches!(self.standing(&name)?, Some(ItemPresence::Here | ItemPresence::Deleted)) {
                names.insert(name);
            }
        }
        Ok(names)
    }

    /// The latest entry of a source with this content, if it still counts.
    pub(crate) fn of_content(&mut self, content: &Digest) -> Result<Option<Imported>, ImportError> {
        let text = content.to_string();
        let before = self.absent.get(content);
        let newest = self.contents.find(text.as_bytes()).next();
        let places = self.contents.find(text.as_bytes());
        let places = places.take_while(|place| before.is_none_or(|it| *place > it.newest));
        let places = places.chain(before.and_then(|it| it.best));
        let found = self.find(places, |entry| entry.content == *content)?;
        if let Some(newest) = newest
            && !matches!(&found, Some((_, Imported { standing: ItemPresence::Here, .. })))
        {
            let best = found.as_ref().map(|(place, _)| *place);
            self.absent.insert(*content, Absent { newest, best });
        }
        Ok(found.map(|(_, imported)| imported))
    }

    /// Among several entries, one with an existing item counts most, then one with a missing item: the source
    /// may be its last copy.
    fn find(
        &self,
        places: impl Iterator<Item = u64>,
        fits: impl Fn(&Entry) -> bool,
    ) -> Result<Option<(u64, Imported)>, ImportError> {
        let mut best: Option<(u64, Imported)> = None;
        for place in places {
            let Some(entry) = self.entry_at(place)?.filter(&fits) else { continue };
            let Some(standing) = self.standing(&entry.name)? else { continue };
            if best.as_ref().is_none_or(|(_, it)| standing.rank() > it.standing.rank()) {
                let is_here = matches!(standing, ItemPresence::Here);
                let is_new = place >= self.begun && place < UNWRITTEN && !entry.is_same;
                best = Some((place, Imported { entry, standing, is_new }));
                if is_here {
                    break;
                }
            }
        }
        Ok(best)
    }

    fn entry_at(&self, place: u64) -> Result<Option<Entry>, ImportError> {
        if let Some(at) = place.checked_sub(UNWRITTEN) {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            return Ok(self.unwritten.get(at).cloned());
        }
        let Some(reader) = &self.reader else { return Ok(None) };
        Ok(reader.event_at(place)?.and_then(Entry::of))
    }

    /// Takes in the lines that were added since, of this run and of others.
    pub(crate) fn follow(&mut self) -> Result<(), ImportError> {
        if self.reader.is_none() {
            // It was lost, and the writer has built it since.
            self.reader = self.collection.import_reader()?;
        }
        self.read_on(|_| ())
    }

    /// The place behind the last line of a source that was read.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The item that was made of `source` since the lines ended at `end`, if its name `fits`.
    pub(crate) fn made_since(
        &self,
        end: u64,
        source: &[u8],
        fits: impl Fn(&RepositoryName) -> bool,
    ) -> Result<Option<RepositoryName>, ImportError> {
        for place in self.sources.find(source).filter(|place| (end..UNWRITTEN).contains(place)) {
            let entry = self.entry_at(place)?;
            if let Some(entry) = entry.filter(|it| it.source == source && fits(&it.name)) {
                return Ok(Some(entry.name));
            }
        }
        Ok(None)
    }

    /// The lines which say that sources are the same as existing items.
    pub(crate) fn duplications(&self, entries: &[Entry], clock: &dyn Clock) -> Vec<Event> {
        let line = |entry: &Entry| {
            let agent = self.agent.as_ref()?;
            let event = Event::new(EventKind::Duplication, &entry.name, clock.now(), agent);
            Some(Event { import: Some(entry.to_source()), ..event })
        };
        entries.iter().filter_map(line).collect()
    }

    /// Remembers an entry without a line.
    fn remember(&mut self, entry: Entry) {
        let place = UNWRITTEN + self.unwritten.len() as u64;
        self.sources.add(&entry.source, place);
        self.contents.add(entry.content.to_string().as_bytes(), place);
        self.unwritten.push(entry);
    }
}

/// The entry of an item without a line, if an import made it.
fn imported(collection: &Collection, name: &RepositoryName) -> Result<Option<Entry>, ImportError> {
    let item = collection.item(name)?;
    match item.read_sidecar() {
        Ok(read) => Ok(Entry::of_item(&read.sidecar)),
        // `verify` reports that.
        Err(CollectionError::Disk(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

impl Entry {
    /// The entry of the item with this sidecar, if an import made it.
    pub(crate) fn of_item(sidecar: &Sidecar) -> Option<Entry> {
        let source = ImportedSource::of_item(sidecar)?;
        Entry::new(sidecar.repository.clone(), &source, false)
    }

    /// The entry in a line.
    fn of(event: Event) -> Option<Entry> {
        Entry::new(event.id, event.import.as_ref()?, event.event == EventKind::Duplication)
    }

    fn new(name: RepositoryName, source: &ImportedSource, is_same: bool) -> Option<Entry> {
        let ImportedSource { source, shape, content, bytes } = source;
        let (shape, content) = (shape.parse().ok()?, content.parse().ok()?);
        Some(Entry { name, is_same, shape, content, bytes: *bytes, source: unescape(source)? })
    }

    fn to_source(&self) -> ImportedSource {
        ImportedSource {
            source: escape(&self.source).into_owned(),
            shape: self.shape.to_string(),
            content: self.content.to_string(),
            bytes: self.bytes,
        }
    }
}
