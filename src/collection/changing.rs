//! Telling the index of changes: beforehand what is going to change, afterwards what it has become.
//!
//! A writer holds a [`Changing`] over the change. When that is dropped, however the change ended, the
//! items are read anew into the index. What a killed writer had announced is read anew by whoever
//! uses the index next. No change fails because of the index: what it cannot be told is noted in
//! `index.stale`, and whoever uses it next looks at every item.
//!
//! A new item also changes the directory it comes to lie in, by which those who use the index notice
//! what others have done. The marks of these directories are carried over a short change, so that they
//! need not be listed again. What others than urepo add in that very moment is
//! missed until somebody has a full look, or adds something else there. So after a change that takes
//! longer they are listed again; but what was known in them before need not be looked at.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::{Collection, Lookup, Writer, Years};
use crate::identity::RepositoryName;
use crate::index::{Index, IndexError, Mark, Record, Seen, Tables};
use crate::layout;

/// After a change of more items the directories are listed again.
const BRIEF: usize = 16;

/// A change of some items that is going on.
#[must_use]
pub(crate) struct Changing<'a> {
    collection: &'a Collection,
    writer: String,
    names: Vec<RepositoryName>,
    /// What the writer knows that items have become, by their names.
    expected: HashMap<String, Record>,
    /// The marks that the directories above the items had, where there are such.
    before: BTreeMap<PathBuf, Option<Mark>>,
    /// Whether they were taken a moment ago.
    is_brief: bool,
    /// Whether the index can be told when it is done. It may be that there was none to be told at
    /// first: one that is made meanwhile may have read the items before they were changed.
    can_be_told: bool,
}

impl Writer {
    /// Tells the index of `collection` that `names` are going to change.
    pub(crate) fn changing<'a>(
        &self,
        collection: &'a Collection,
        names: Vec<RepositoryName>,
    ) -> Changing<'a> {
        // An item that is changed in place leaves no other trace: after a power cut the index may be
        // as it was a while ago, but has to know of this.
        Changing::new(collection, self.name(), names)
            .announced(|index, changing| index.write_durably(|tables| changing.announce_to(tables)))
    }

    /// The same of new items, of which the directories they come to lie in tell as well. They are put in
    /// place right afterwards, which takes a moment only.
    pub(crate) fn adding<'a>(
        &self,
        collection: &'a Collection,
        names: Vec<RepositoryName>,
    ) -> Changing<'a> {
        let mut changing = Changing::new(collection, self.name(), names)
            .announced(|index, changing| index.write(|tables| changing.announce_to(tables)));
        changing.is_brief = changing.names.len() <= BRIEF;
        changing
    }
}

impl<'a> Changing<'a> {
    fn new(collection: &'a Collection, writer: &str, names: Vec<RepositoryName>) -> Changing<'a> {
        Changing {
            collection,
            writer: writer.to_owned(),
            names,
            expected: HashMap::new(),
            before: BTreeMap::new(),
            is_brief: false,
            can_be_told: false,
        }
    }

    fn announce_to(&self, tables: Tables<'_>) -> Result<(), IndexError> {
        self.names.iter().try_for_each(|name| tables.announce(&name.folded(), &self.writer))
    }

    /// The same, once the index has been told by `tell`, if there is one.
    fn announced(
        mut self,
        tell: impl FnOnce(&mut Index, &Changing<'_>) -> Result<(), IndexError>,
    ) -> Changing<'a> {
        let collection = self.collection;
        if collection.index.is_given_up() {
            return self;
        }
        match collection.with_index(|index| tell(index, &self)) {
            Ok(there) => {
                self.can_be_told = true;
                if there.is_some() {
                    self.before = collection.marks_above(&self.names);
                }
            }
            Err(error) => collection.miss(&error),
        }
        self
    }

    /// Says what an item will have become when the change is done, so that it need not be read.
    pub(crate) fn will_be(&mut self, name: &RepositoryName, record: Record) {
        self.expected.insert(name.folded(), record);
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        // The note of before may have been seen, and removed, before the change.
        if !self.can_be_told {
            return self.collection.note_stale();
        }
        let told = self.collection.with_index(|index| {
            index.write(|tables| self.collection.take_in_changed(tables, self))
        });
        match told {
            Ok(Some(())) => {}
            Ok(None) => self.collection.note_stale(),
            Err(error) => self.collection.miss(&error),
        }
    }
}

impl Collection {
    /// Whether changes are told to an index now.
    pub(crate) fn tells_index(&self) -> bool {
        !self.index.is_given_up() && matches!(self.has_index(), Ok(true))
    }

    /// Notes that the index could not be told of a change.
    fn miss(&self, error: &IndexError) {
        if error.is_busy() {
            self.index.give_up();
        }
        self.note_stale();
    }

    fn take_in_changed(
        &self,
        tables: Tables<'_>,
        Changing { writer, names, expected, before, is_brief, .. }: &Changing<'_>,
    ) -> Result<(), IndexError> {
        let lookup = Lookup::new(self);
        let mut years = Years::new(self);
        for name in names {
            let folded = name.folded();
            self.take_in_named(tables, &lookup, &mut years, (name, expected.get(&folded)))?;
            tables.withdraw(&folded, writer)?;
        }
        for (path, mark) in before {
            let Some(text) = path.to_str() else { continue };
            let after = self.root().stamp(or_dot(path))?.map(|stamp| Mark::of(&stamp));
            // An item that is changed in place leaves them as they are.
            if after.is_none() || after == *mark {
                continue;
            }
            let (place, known) = tables.place(text)?;
            // Only if nobody else has changed it: then its list was as true before as it is now.
            if known.mark == *mark {
                let listed = *is_brief && (known.listed || mark.is_none());
                tables.mark_place(place, Seen { mark: after, listed })?;
            }
        }
        Ok(())
    }

    /// Reads the item called `name` into the index, in every spelling it has on disk; one with the
    /// sidecar that is expected need not be read.
    pub(crate) fn take_in_named(
        &self,
        tables: Tables<'_>,
        lookup: &Lookup<'_>,
        years: &mut Years<'_>,
        (name, expected): (&RepositoryName, Option<&Record>),
    ) -> Result<(), IndexError> {
        let [.., leaf] = name.components();
        let mut found = Vec::new();
        for directory in &*lookup.directories(name)? {
            let [_, _, year, _] = name.components();
            let path = directory.join(year);
            let Some(text) = path.to_str() else { continue };
            let Some(dir) = years.dir(&path)? else { continue };
            let (place, _) = tables.place(text)?;
            match expected {
                Some(record) if record.is_of(dir, leaf)? => tables.put(place, leaf, record)?,
                _ => self.take_in(tables, place, (text, dir), leaf)?,
            }
            found.push(place);
        }
        let path = layout::item_directory(name);
        let above = path.parent().and_then(Path::to_str).unwrap_or_default();
        for place in tables.spellings(above)? {
            if !found.contains(&place) {
                tables.remove(place, leaf)?;
            }
        }
        Ok(())
    }

    /// The marks of the directories above `names`, as far as these can be told.
    fn marks_above(&self, names: &[RepositoryName]) -> BTreeMap<PathBuf, Option<Mark>> {
        let mut marks = BTreeMap::new();
        let lookup = Lookup::new(self);
        for name in names {
            let Ok((year, _)) = lookup.place_of(name) else { continue };
            for above in year.ancestors() {
                if !marks.contains_key(above)
                    && let Ok(stamp) = self.root().stamp(or_dot(above))
                {
                    marks.insert(above.to_path_buf(), stamp.map(|stamp| Mark::of(&stamp)));
                }
            }
        }
        marks
    }
}

/// The root itself is the empty path.
fn or_dot(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
