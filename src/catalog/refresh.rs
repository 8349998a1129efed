//! Synchronising an index with the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::ops::{Bound, Range};
use std::path::Path;

use rayon::prelude::*;

use super::pool::Pool;
use super::{CatalogError, RefreshContext, RefreshDepth, RefreshReport};
use crate::collection::{Collection, Lookup, Window, YearDirCache, belongs};
use crate::disk::{Dir, Kind};
use crate::identity::RepositoryName;
use crate::index::{
    DirectoryId, DirectoryState, Index, IndexError, Record, RecordedVersion, sidecar_version,
};
use crate::layout;

/// Maximum number of items read in one transaction, for which other writers wait.
const AT_A_TIME: usize = 4096;

/// Maximum size in bytes of the sidecars read in one transaction, unless a single one is larger: their records
/// are in memory until its end.
const BYTES_AT_A_TIME: u64 = 8 * 1024 * 1024;

/// Levels of directories above the items.
const LEVELS: usize = 3;

/// The indexed directories, by path.
type Directories = BTreeMap<String, DirectoryState>;

/// One synchronisation of an index with the tree.
pub(super) struct Refresh<'a> {
    collection: &'a Collection,
    context: &'a RefreshContext<'a>,
    report: &'a mut RefreshReport,
    depth: RefreshDepth,
    pool: Pool,
}

/// A directory of items.
struct IndexedYear<'a> {
    /// Relative to the root.
    path: &'a str,
    dir: &'a Dir,
    id: DirectoryId,
}

/// Treatment of the rows of known items when a year is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownItems {
    /// The directory is of the recorded version: they are as current as it is.
    Keep,
    /// Their directories may have been replaced.
    Compare,
}

impl<'a> Refresh<'a> {
    pub(super) fn new(
        collection: &'a Collection,
        context: &'a RefreshContext<'a>,
        report: &'a mut RefreshReport,
    ) -> Refresh<'a> {
        Refresh {
            collection,
            context,
            report,
            depth: RefreshDepth::Directories,
            pool: Pool::new(context.jobs),
        }
    }

    /// Takes in logged items and lists changed directories; with [`RefreshDepth::Sidecars`], lists all of them
    /// and compares every sidecar.
    pub(super) fn run(
        mut self,
        index: &mut Index,
        depth: RefreshDepth,
    ) -> Result<(), CatalogError> {
        let stale = self.collection.stale_note()?;
        self.depth = if stale.is_some() { depth.max(RefreshDepth::Sidecars) } else { depth };
        self.take_in_intents(index)?;
        let known: Directories = index.tables().directories()?.into_iter().collect();
        self.directory(index, &known, "", 0)?;
        if let Some(note) = stale {
            self.collection.remove_stale_note(note);
        }
        Ok(())
    }

    /// Takes in the items that writers are about to change, or were when they were killed.
    fn take_in_intents(&mut self, index: &mut Index) -> Result<(), CatalogError> {
        if index.tables().intents()?.is_empty() {
            return Ok(());
        }
        let collection = self.collection;
        index.write::<_, CatalogError>(|tables| {
            let lookup = Lookup::new(collection);
            let mut years = YearDirCache::new(collection);
            for (name, writer) in tables.intents()? {
                // A writer that is still at work clears its intent itself.
                let is_at_work = collection.has_stage(&writer)?;
                if let Ok((item, _)) = RepositoryName::parse_as_found(&name) {
                    let taken =
                        collection.take_in_named(tables, &lookup, &mut years, (&item, None));
                    if let Err(IndexError::Disk(error)) = taken {
                        self.report.cannot_read(error);
                        continue;
                    }
                    taken?;
                }
                if !is_at_work {
                    tables.clear_intent(&name, &writer)?;
                }
            }
            Ok(())
        })
    }

    /// Synchronises the directory at `path`, `level` levels below the root, and those below it.
    fn directory(
        &mut self,
        index: &mut Index,
        known: &Directories,
        path: &str,
        level: usize,
    ) -> Result<(), CatalogError> {
        self.check_interrupt()?;
        let root = self.collection.root();
        let stat = root.stat(if path.is_empty() { "." } else { path })?;
        let Some(stat) = stat.filter(|stat| stat.kind == Kind::Directory) else {
            return self.remove_directory(index, path);
        };
        let state = known.get(path).copied().unwrap_or_default();
        let is_current =
            self.depth == RefreshDepth::Directories && state.version == Some(stat.version());
        if is_current && state.complete {
            for child in children(known, path) {
                self.directory(index, known, &child, level + 1)?;
            }
            return Ok(());
        }
        let version = stat.settled_version(self.context.caller.clock.now());
        let listed = if level == LEVELS {
            let known_items = if is_current { KnownItems::Keep } else { KnownItems::Compare };
            self.year(index, path, known_items)
        } else {
            self.children(index, known, path, level)
        };
        let state = match listed {
            Ok(()) => DirectoryState { version, complete: version.is_some() },
            Err(CatalogError::Disk(error)) if error.path() == root.path_of(path) => {
                self.report.cannot_read(error);
                DirectoryState::default()
            }
            Err(error) => return Err(error),
        };
        Ok(index.write::<_, IndexError>(|tables| {
            let (directory, _) = tables.directory(path)?;
            tables.set_directory_state(directory, state)
        })?)
    }

    /// Lists a directory above years.
    fn children(
        &mut self,
        index: &mut Index,
        known: &Directories,
        path: &str,
        level: usize,
    ) -> Result<(), CatalogError> {
        let dir = self.collection.root().open_dir(path)?;
        let mut found = BTreeSet::new();
        for entry in dir.entries()? {
            let entry = entry?;
            if let (Kind::Directory, Some(name)) = (entry.kind, entry.name.to_str())
                && belongs(name, level)
            {
                found.insert(below(path, name));
            }
        }
        // Items are in years only; other rows are not of urepo's making.
        let id = index.write::<_, IndexError>(|tables| Ok(tables.directory(path)?.0))?;
        if index.tables().count_in(id)? > 0 {
            self.remove_gone(index, &IndexedYear { path, dir: &dir, id })?;
        }
        for gone in children(known, path).difference(&found) {
            self.remove_directory(index, gone)?;
        }
        for child in found {
            self.directory(index, known, &child, level + 1)?;
        }
        Ok(())
    }

    fn remove_directory(&mut self, index: &mut Index, path: &str) -> Result<(), CatalogError> {
        self.report.gone += index.write::<_, IndexError>(|tables| tables.remove_directory(path))?;
        Ok(())
    }

    /// Lists a year.
    fn year(
        &mut self,
        index: &mut Index,
        path: &str,
        known_items: KnownItems,
    ) -> Result<(), CatalogError> {
        let dir = self.collection.root().open_dir(path)?;
        let id = index.write::<_, IndexError>(|tables| Ok(tables.directory(path)?.0))?;
        let year = IndexedYear { path, dir: &dir, id };
        let (mut changed, mut current) = (Vec::new(), 0);
        let mut after: Option<OsString> = None;
        loop {
            // In the order of names, neighbours have their rows, and mostly their sidecars, side by side.
            let last = after.as_deref().map(|name| (name, 0));
            let window =
                Window::of([(0, &dir)], last, Window::LIMIT).map_err(|(_, error)| error)?;
            self.context.caller.progress.expect(window.len() as u64, 0);
            for (leaf, _) in window.iter() {
                let Some(leaf) = leaf.to_str() else { continue };
                match index.tables().recorded_version(id, leaf)? {
                    Some(recorded)
                        if known_items == KnownItems::Keep || has_version(&dir, leaf, recorded) =>
                    {
                        current += 1;
                        self.context.caller.progress.finish_item(leaf);
                    }
                    Some(_) => changed.push(leaf.to_owned()),
                    None if RepositoryName::parse_as_found(&below(path, leaf)).is_ok() => {
                        changed.push(leaf.to_owned());
                    }
                    None => {}
                }
                if changed.len() == AT_A_TIME {
                    current += self.read(index, &year, &std::mem::take(&mut changed))?;
                }
            }
            if window.len() < Window::LIMIT {
                break;
            }
            after = window.iter().next_back().map(|(name, _)| name.to_owned());
        }
        current += self.read(index, &year, &changed)?;
        if index.tables().count_in(id)? > current {
            self.remove_gone(index, &year)?;
        }
        Ok(())
    }

    /// Reads items into the index, in several transactions if their sidecars are large. Returns the number
    /// of items that exist.
    fn read(
        &mut self,
        index: &mut Index,
        year: &IndexedYear<'_>,
        leaves: &[String],
    ) -> Result<u64, CatalogError> {
        let size = |leaf: &String| {
            // Reading the sidecar reports the error.
            let stat = year.dir.stat(Path::new(leaf).join(layout::SIDECAR)).unwrap_or(None);
            stat.map_or(0, |stat| stat.bytes)
        };
        let groups = groups_by_size(leaves.iter().map(size));
        groups
            .into_iter()
            .try_fold(0, |there, group| Ok(there + self.read_group(index, year, &leaves[group])?))
    }

    /// Reads items into the index in one transaction. Returns the number of items that exist.
    fn read_group(
        &mut self,
        index: &mut Index,
        year: &IndexedYear<'_>,
        leaves: &[String],
    ) -> Result<u64, CatalogError> {
        self.check_interrupt()?;
        if leaves.is_empty() {
            return Ok(0);
        }
        let (collection, progress) = (self.collection, self.context.caller.progress);
        let pool = self.pool.for_many(leaves.len());
        let report = &mut *self.report;
        let read = index.write::<_, CatalogError>(|tables| {
            let read = |leaf: &String| {
                let record = collection.record_of(year.path, year.dir, leaf);
                progress.finish_item(leaf);
                record
            };
            let records: Vec<_> = match pool {
                Some(pool) => pool.install(|| leaves.par_iter().map(read).collect()),
                None => leaves.iter().map(read).collect(),
            };
            let mut there = 0;
            for (leaf, record) in leaves.iter().zip(records) {
                match record {
                    Ok(Some(record)) => {
                        tables.put(year.id, leaf, &record)?;
                        there += 1;
                    }
                    Ok(None) => tables.remove(year.id, leaf)?,
                    // It exists. The intent makes the next refresh read it.
                    Err(error) => {
                        report.cannot_read(error);
                        let path = below(year.path, leaf);
                        if let Ok((name, _)) = RepositoryName::parse_as_found(&path) {
                            tables.put(year.id, leaf, &Record::unreadable(&name, None))?;
                            tables.log_intent(&path, "")?;
                            there += 1;
                        }
                    }
                }
            }
            Ok(there)
        })?;
        self.report.read += read;
        Ok(read)
    }

    /// Removes the rows of items that are gone from the year.
    fn remove_gone(
        &mut self,
        index: &mut Index,
        year: &IndexedYear<'_>,
    ) -> Result<(), CatalogError> {
        let mut after = String::new();
        loop {
            let leaves = index.tables().names_in(year.id, &after, AT_A_TIME)?;
            let Some(last) = leaves.last() else { return Ok(()) };
            after.clone_from(last);
            self.report.gone += index.write::<_, CatalogError>(|tables| {
                let mut gone = 0;
                for leaf in &leaves {
                    // A row of another program's making may name anything.
                    let is_name = RepositoryName::parse_as_found(&below(year.path, leaf)).is_ok();
                    let there = if is_name { year.dir.stat(leaf)? } else { None };
                    if there.is_none_or(|there| there.kind != Kind::Directory) {
                        tables.remove(year.id, leaf)?;
                        gone += 1;
                    }
                }
                Ok(gone)
            })?;
        }
    }

    fn check_interrupt(&self) -> Result<(), CatalogError> {
        if self.context.caller.interrupt.requested() {
            Err(CatalogError::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// Splits sidecars of these sizes, in bytes, into groups for one transaction each.
fn groups_by_size(sizes: impl IntoIterator<Item = u64>) -> Vec<Range<usize>> {
    let (mut groups, mut group, mut bytes) = (Vec::new(), 0..0, 0_u64);
    for size in sizes {
        bytes = bytes.saturating_add(size);
        if bytes > BYTES_AT_A_TIME && !group.is_empty() {
            let end = group.end;
            groups.push(std::mem::replace(&mut group, end..end));
            bytes = size;
        }
        group.end += 1;
    }
    groups.push(group);
    groups
}

/// Whether the sidecar of an item has the version `recorded`. A sidecar that cannot be inspected has not:
/// reading it reports the error.
fn has_version(year: &Dir, leaf: &str, recorded: RecordedVersion) -> bool {
    sidecar_version(year, leaf).is_ok_and(|version| version == recorded.0)
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// The children of `path` among the known directories.
pub(super) fn children(directories: &Directories, path: &str) -> BTreeSet<String> {
    let above = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut found = BTreeSet::new();
    let mut next = Bound::Excluded(above.clone());
    while let Some((known, _)) = directories.range((next, Bound::Unbounded)).next()
        && let Some(rest) = known.strip_prefix(&above)
    {
        let child = format!("{above}{}", rest.split('/').next().unwrap_or(rest));
        next = if *known == child {
            found.insert(child.clone());
            Bound::Excluded(child)
        } else {
            // Skips everything below the child: `0` is the character after `/`.
            Bound::Included(format!("{child}0"))
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_those_right_below() {
        let places = ["", "a", "a-b", "a-b/x", "a/b", "a/b-c", "a/b/2026", "a/b0", "a0", "b/c/d"];
        let directories: Directories =
            places.map(|path| (path.to_owned(), DirectoryState::default())).into();
        for path in ["", "a", "a/b", "a/b-c", "b", "b/c", "c"] {
            let is_child = |known: &&String| {
                let above = known.rsplit_once('/').map_or("", |(above, _)| above);
                !known.is_empty() && above == path
            };
            let expected: BTreeSet<String> = directories.keys().filter(is_child).cloned().collect();
            assert_eq!(children(&directories, path), expected, "{path}");
        }
    }

    #[test]
    fn a_transaction_has_few_large_sidecars_and_many_small_ones() {
        let large = BYTES_AT_A_TIME;
        let ends = |sizes: &[u64]| -> Vec<usize> {
            let groups = groups_by_size(sizes.iter().copied());
            groups.into_iter().map(|group| group.end).collect()
        };
        assert_eq!(ends(&[]), [0]);
        assert_eq!(ends(&[1; 512]), [512]);
        assert_eq!(ends(&[large / 2; 5]), [2, 4, 5]);
        assert_eq!(ends(&[large + 1, 1, 1, large, u64::MAX, u64::MAX]), [1, 3, 4, 5, 6]);
    }
}
