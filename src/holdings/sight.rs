//! The holdings of one item in the collections in sight, as the rule of custody judges them.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::collection::{Collection, CollectionError, Event, Lookup, of_id};
use crate::custody::{Has, Holding, Refusal};
use crate::disk::PathError;
use crate::identity::RepositoryName;

/// The neighbours of a collection: the other collections that a command opened, once, before its first change.
#[derive(Debug)]
pub struct Sight<'a> {
    neighbours: Vec<&'a Collection>,
    looks_first: LooksFirst,
    unseen: Mutex<Vec<Unseen>>,
}

/// Items that could not be read at a neighbour. Its ledger spoke for them alone.
#[derive(Debug)]
pub struct Unseen {
    /// The neighbour.
    pub at: PathBuf,
    /// The first of the items, and why it could not be read; `None` for one that is damaged.
    pub first: (RepositoryName, Option<CollectionError>),
    /// The number of the items.
    pub items: usize,
    last: RepositoryName,
}

/// The first look at a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LooksFirst {
    /// At its ledger, which is read once for many items.
    AtLines,
    /// At the directory of the item: the ledger of a large neighbour takes longer than a change.
    AtDirectory,
}

impl<'a> Sight<'a> {
    /// A command that changes many items.
    pub fn of_many(neighbours: impl IntoIterator<Item = &'a Collection>) -> Sight<'a> {
        let neighbours = neighbours.into_iter().collect();
        Sight { neighbours, looks_first: LooksFirst::AtLines, unseen: Mutex::default() }
    }

    /// A command that changes one item.
    pub fn of_one(neighbours: impl IntoIterator<Item = &'a Collection>) -> Sight<'a> {
        Sight { looks_first: LooksFirst::AtDirectory, ..Sight::of_many(neighbours) }
    }

    /// No neighbour is known.
    pub fn alone() -> &'static Sight<'static> {
        static ALONE: Sight<'static> = Sight {
            neighbours: Vec::new(),
            looks_first: LooksFirst::AtLines,
            unseen: Mutex::new(Vec::new()),
        };
        &ALONE
    }

    /// The neighbours.
    pub fn neighbours(&self) -> &[&'a Collection] {
        &self.neighbours
    }

    /// The items that could not be read since the last call, by neighbours.
    pub fn unseen(&self) -> Vec<Unseen> {
        std::mem::take(&mut self.unseen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the ledger of `own` and those of the neighbours on to their ends. An error is met again with an item.
    pub(crate) fn follow_with(&self, own: &Collection) {
        let _ = own.follow_ledger();
        self.follow();
    }

    /// Reads the ledgers of the neighbours on to their ends, as far as they can be read: once a group of items.
    pub(crate) fn follow(&self) {
        for neighbour in &self.neighbours {
            // One that can no longer be read speaks by what was read.
            let _ = neighbour.follow_ledger();
        }
    }

    /// The neighbours' holdings of the item `name` that may stand against `own`. It needs no lock: a neighbour that changes
    /// later does so by its own look, and the end is a fork or a holding that is behind, both of which are reported.
    ///
    /// A holding that cannot be read is not seen; its line still speaks. A neighbour whose line is covered by what is here has
    /// nothing against it, and its directory is not read.
    pub(crate) fn look(&self, name: &RepositoryName, own: &Holding) -> Vec<Holding> {
        let mut seen = Vec::new();
        for neighbour in self.beside(&own.at) {
            let line = || self.read(name, neighbour, line_below(name, neighbour, None));
            let directory = || {
                let found = self.read(name, neighbour, own_holding(name, neighbour))?;
                // A damaged holding does not speak.
                if found.has == Has::Damaged {
                    self.note(name, neighbour, None);
                    return None;
                }
                Some(found)
            };
            match self.looks_first {
                LooksFirst::AtLines => match line() {
                    Some(line) if own.covers(&line) => {}
                    line => seen.extend(directory().into_iter().chain(line)),
                },
                LooksFirst::AtDirectory => seen.extend(directory().or_else(line)),
            }
        }
        seen
    }

    /// All that the neighbours of the collection with the id `own` have of the item `name`, and their lines: for a change that
    /// takes over, or gives up, what they have.
    pub(crate) fn see(&self, name: &RepositoryName, own: &str) -> Vec<Holding> {
        let mut seen = Vec::new();
        for neighbour in self.beside(own) {
            let found = Seen::of(name, &[neighbour]);
            if found.holdings.iter().any(|it| it.has == Has::Damaged) {
                self.note(name, neighbour, None);
            }
            seen.extend(found.holdings);
            for (_, error) in found.unread {
                self.note(name, neighbour, Some(error));
            }
        }
        seen
    }

    /// The refusal with the paths of the collections in sight, `own` included, in place of their ids.
    pub(crate) fn named(&self, own: &[&Collection], refusal: Refusal) -> Refusal {
        refusal.with_names(|id| {
            let known = own.iter().chain(&self.neighbours).find(|it| it.id() == id);
            Some(known.map_or_else(|| of_id(id), |it| format!("`{}`", it.path().display())))
        })
    }

    /// The neighbours without the collection with the id `own`.
    fn beside(&self, own: &str) -> impl Iterator<Item = &'a Collection> {
        self.neighbours.iter().copied().filter(move |neighbour| neighbour.id() != own)
    }

    /// The holding that was read; an error is noted.
    fn read(
        &self,
        name: &RepositoryName,
        neighbour: &Collection,
        holding: Result<Option<Holding>, impl Into<CollectionError>>,
    ) -> Option<Holding> {
        holding.unwrap_or_else(|error| {
            self.note(name, neighbour, Some(error.into()));
            None
        })
    }

    /// Notes that the item `name` could not be read at `neighbour`, once for each item.
    fn note(&self, name: &RepositoryName, neighbour: &Collection, error: Option<CollectionError>) {
        let mut unseen = self.unseen.lock().unwrap_or_else(PoisonError::into_inner);
        match unseen.iter_mut().find(|it| it.at == neighbour.path()) {
            Some(known) if known.last == *name => {}
            Some(known) => {
                known.items += 1;
                known.last = name.clone();
            }
            None => unseen.push(Unseen {
                at: neighbour.path().to_path_buf(),
                first: (name.clone(), error),
                items: 1,
                last: name.clone(),
            }),
        }
    }
}

/// The holdings of one item in the collections in sight.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Each with the id of its collection.
    pub holdings: Vec<Holding>,
    /// Collections whose holding cannot be read, by their places, and why.
    pub unread: Vec<(usize, CollectionError)>,
}

impl Seen {
    /// Looks for the item `name` in `collections`. Where the item cannot be read, its line still speaks.
    pub(crate) fn of(name: &RepositoryName, collections: &[&Collection]) -> Seen {
        let mut seen = Seen::default();
        for (at, collection) in collections.iter().enumerate() {
            let own = own_holding(name, collection).unwrap_or_else(|error| {
                seen.unread.push((at, error));
                None
            });
            let line = collection.follow_ledger();
            match line.and_then(|()| line_below(name, collection, own.as_ref())) {
                Ok(line) => seen.holdings.extend(own.into_iter().chain(line)),
                Err(error) => seen.unread.push((at, error.into())),
            }
        }
        seen
    }
}

/// The holding in the directory of the item.
fn own_holding(
    name: &RepositoryName,
    collection: &Collection,
) -> Result<Option<Holding>, CollectionError> {
    let Some(item) = Lookup::new(collection).item(name)? else { return Ok(None) };
    match item.read_sidecar() {
        Ok(read) => Ok(Some(item.holding(&read, collection.id())?)),
        Err(CollectionError::NoSidecar { .. }) if item.is_no_item(collection)? => Ok(None),
        Err(error) => Err(error),
    }
}

/// The latest line of the ledger about the item `name`, as a holding without a directory.
pub(crate) fn line_of(
    collection: &Collection,
    name: &RepositoryName,
) -> Result<Option<Holding>, PathError> {
    collection.follow_ledger()?;
    line_below(name, collection, None)
}

/// The same by the ledger as far as it was read, with what it follows of `own`, which lies in the directory of the item. A line lists no ids, but a change follows
/// the contents that it replaces: those that have a line of their own here. What was put into the directory by hand has none.
pub(crate) fn line_below(
    name: &RepositoryName,
    collection: &Collection,
    own: Option<&Holding>,
) -> Result<Option<Holding>, PathError> {
    line_in(collection.last_record_read(name)?.as_ref(), (collection, name), own)
}

/// The same of the last line that was `recorded`.
pub(crate) fn line_in(
    recorded: Option<&Event>,
    (collection, name): (&Collection, &RepositoryName),
    own: Option<&Holding>,
) -> Result<Option<Holding>, PathError> {
    let Some(mut line) = recorded.and_then(|line| line.as_holding(collection.id())) else {
        return Ok(None);
    };
    let is_older = |own: &&Holding| {
        own.custody.id() != line.custody.id()
            && own.rank() <= line.rank()
            && (own.has_payload() || own.has == Has::Tombstone)
    };
    if let Some(own) = own.filter(is_older)
        && collection.recorded_ids(name)?.contains(&own.custody.id())
    {
        line.custody = line.custody.following(&own.custody);
    }
    Ok(Some(line))
}

/// The holding `own` with the line of its collection: what a change of it alone has in sight.
pub(crate) fn with_line(
    collection: &Collection,
    name: &RepositoryName,
    own: &Holding,
) -> Result<Vec<Holding>, PathError> {
    collection.follow_ledger()?;
    with_line_read(collection, name, own)
}

/// The same by the ledger as far as it was read, for a change that looks again under the lock.
pub(crate) fn with_line_read(
    collection: &Collection,
    name: &RepositoryName,
    own: &Holding,
) -> Result<Vec<Holding>, PathError> {
    let line = line_below(name, collection, Some(own))?;
    Ok([own.clone()].into_iter().chain(line).collect())
}
