//! Keeping the index current while items change.
//!
//! A writer holds an [`IndexUpdate`] during a change. It logs the intent before the change, and reads the
//! changed items when it is dropped, however the change ended. The next user of the index reads the items of
//! a killed writer. No change fails because of the index: if the index cannot be written, `index.stale` says
//! so, and the next user compares every sidecar.
//!
//! A new item also changes the directories above it, by whose versions the changes of other programs are
//! noticed. After a short change these directories are recorded as current without being listed again. An
//! entry that another program adds in that moment is missed until the directory changes again, or until
//! every sidecar is compared. So after a longer change they are listed again, without comparing the sidecars.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::collection::{Collection, Lookup, Writer, YearDirCache};
use crate::disk::{FileStat, Version};
use crate::identity::RepositoryName;
use crate::index::{DirectoryState, Index, IndexError, Record, Tables};
use crate::layout;

/// Maximum number of new items after which directories are recorded as current.
const SHORT: usize = 16;

/// The index's share in a change of some items.
#[must_use]
pub(crate) struct IndexUpdate<'a> {
    collection: &'a Collection,
    writer: String,
    names: Vec<RepositoryName>,
    /// Records of items whose new sidecars the writer knows, by folded name.
    expected: HashMap<String, Record>,
    /// The versions of the directories above the items before the change; `None` for a missing directory.
    before: BTreeMap<PathBuf, Option<Version>>,
    /// Whether the directories may be recorded as current after the change.
    is_short: bool,
    /// Whether the intent is logged, or there was no index. An index that is built meanwhile may have read
    /// the items before the change.
    is_logged: bool,
}

impl Writer {
    /// Logs that the items `names` of `collection` are about to change.
    pub(crate) fn changing<'a>(
        &self,
        collection: &'a Collection,
        names: Vec<RepositoryName>,
    ) -> IndexUpdate<'a> {
        // The directories do not show that an item changed in place: the intent has to survive a power cut.
        IndexUpdate::new(collection, self.name(), names)
            .logged(|index, update| index.write_durably(|tables| update.log_intents(tables)))
    }

    /// Logs that new items `names` are about to be published. The directories above show that as well, so
    /// that the intent need not survive a power cut.
    pub(crate) fn adding<'a>(
        &self,
        collection: &'a Collection,
        names: Vec<RepositoryName>,
    ) -> IndexUpdate<'a> {
        let mut update = IndexUpdate::new(collection, self.name(), names)
            .logged(|index, update| index.write(|tables| update.log_intents(tables)));
        update.is_short = update.names.len() <= SHORT;
        update
    }
}

impl<'a> IndexUpdate<'a> {
    fn new(
        collection: &'a Collection,
        writer: &str,
        names: Vec<RepositoryName>,
    ) -> IndexUpdate<'a> {
        IndexUpdate {
            collection,
            writer: writer.to_owned(),
            names,
            expected: HashMap::new(),
            before: BTreeMap::new(),
            is_short: false,
            is_logged: false,
        }
    }

    fn log_intents(&self, tables: Tables<'_>) -> Result<(), IndexError> {
        self.names.iter().try_for_each(|name| tables.log_intent(&name.folded(), &self.writer))
    }

    /// Logs the intents with `log`, if there is an index.
    fn logged(
        mut self,
        log: impl FnOnce(&mut Index, &IndexUpdate<'_>) -> Result<(), IndexError>,
    ) -> IndexUpdate<'a> {
        let collection = self.collection;
        if collection.index.is_disabled() {
            return self;
        }
        match collection.with_index(|index| log(index, &self)) {
            Ok(logged) => {
                self.is_logged = true;
                if logged.is_some() {
                    self.before = collection.versions_above(&self.names);
                }
            }
            Err(error) => collection.miss(&error),
        }
        self
    }

    /// Announces the record that an item will have after the change, so that its sidecar need not be read.
    pub(crate) fn will_be(&mut self, name: &RepositoryName, record: Record) {
        self.expected.insert(name.folded(), record);
    }
}

impl Drop for IndexUpdate<'_> {
    fn drop(&mut self) {
        // Another process may have handled and removed an earlier note before the change.
        if !self.is_logged {
            return self.collection.note_stale();
        }
        let updated = self.collection.with_index(|index| {
            index.write(|tables| self.collection.take_in_changed(tables, self))
        });
        match updated {
            Ok(Some(())) => {}
            Ok(None) => self.collection.note_stale(),
            Err(error) => self.collection.miss(&error),
        }
    }
}

impl Collection {
    /// Whether there is an index that this process keeps current.
    pub(crate) fn tells_index(&self) -> bool {
        !self.index.is_disabled() && matches!(self.has_index(), Ok(true))
    }

    /// Notes that the index has missed a change.
    fn miss(&self, error: &IndexError) {
        if error.is_busy() {
            self.index.disable();
        }
        self.note_stale();
    }

    fn take_in_changed(
        &self,
        tables: Tables<'_>,
        IndexUpdate { writer, names, expected, before, is_short, .. }: &IndexUpdate<'_>,
    ) -> Result<(), IndexError> {
        let lookup = Lookup::new(self);
        let mut years = YearDirCache::new(self);
        for name in names {
            let folded = name.folded();
            self.take_in_named(tables, &lookup, &mut years, (name, expected.get(&folded)))?;
            tables.clear_intent(&folded, writer)?;
        }
        for (path, version) in before {
            let Some(text) = path.to_str() else { continue };
            let after = self.root().stat(or_dot(path))?.as_ref().map(FileStat::version);
            // Changing an item in place leaves the directories unchanged.
            if after.is_none() || after == *version {
                continue;
            }
            let (directory, known) = tables.directory(text)?;
            // If nobody else has changed the directory, its rows are as current as before.
            if known.version == *version {
                let complete = *is_short && (known.complete || version.is_none());
                tables
                    .set_directory_state(directory, DirectoryState { version: after, complete })?;
            }
        }
        Ok(())
    }

    /// Reads the item `name` into the index, in every spelling on disk. If the sidecar is that of the record
    /// `expected`, it is not read.
    pub(crate) fn take_in_named(
        &self,
        tables: Tables<'_>,
        lookup: &Lookup<'_>,
        years: &mut YearDirCache<'_>,
        (name, expected): (&RepositoryName, Option<&Record>),
    ) -> Result<(), IndexError> {
        let [.., leaf] = name.components();
        let mut found = Vec::new();
        for prefix in &*lookup.directories(name)? {
            let [_, _, year, _] = name.components();
            let path = prefix.join(year);
            let Some(text) = path.to_str() else { continue };
            let Some(dir) = years.dir(&path)? else { continue };
            let (directory, _) = tables.directory(text)?;
            match expected {
                Some(record) if record.is_of(dir, leaf)? => tables.put(directory, leaf, record)?,
                _ => self.take_in(tables, directory, (text, dir), leaf)?,
            }
            found.push(directory);
        }
        let path = layout::item_directory(name);
        let above = path.parent().and_then(Path::to_str).unwrap_or_default();
        for directory in tables.spellings(above)? {
            if !found.contains(&directory) {
                tables.remove(directory, leaf)?;
            }
        }
        Ok(())
    }

    /// The versions of the directories above `names`, without those that cannot be inspected.
    fn versions_above(&self, names: &[RepositoryName]) -> BTreeMap<PathBuf, Option<Version>> {
        let mut versions = BTreeMap::new();
        let lookup = Lookup::new(self);
        for name in names {
            let Ok((year, _)) = lookup.place_of(name) else { continue };
            for above in year.ancestors() {
                if !versions.contains_key(above)
                    && let Ok(stat) = self.root().stat(or_dot(above))
                {
                    versions.insert(above.to_path_buf(), stat.as_ref().map(FileStat::version));
                }
            }
        }
        versions
    }
}

/// The path of the root is empty.
fn or_dot(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
