//! Synchronising an index with the tree.

mod group;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::ops::Bound;
use std::path::Path;

use super::pool::Pool;
use super::{CatalogError, RefreshContext, RefreshDepth, RefreshReport};
use crate::collection::{Collection, Lookup, Window, YearDirCache, belongs};
use crate::disk::{Dir, Kind, PathError};
use crate::identity::RepositoryName;
use crate::index::{
    DirectoryId, DirectoryState, Index, IndexError, RecordedVersion, is_sidecar_current,
};

/// Maximum number of items read in one transaction, for which other writers wait.
const AT_A_TIME: usize = 4096;

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
    /// The directory has the recorded version, so the rows are as current as the directory.
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
            let Some(name) = entry.name.to_str().filter(|name| belongs(name, level)) else {
                continue;
            };
            match entry.kind {
                Kind::Directory => {
                    found.insert(below(path, name));
                }
                Kind::Link if self.collection.has_level(Path::new(path), name) => {
                    return Err(PathError::link("list", dir.path_of(Path::new(name))).into());
                }
                _ => {}
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

    fn check_interrupt(&self) -> Result<(), CatalogError> {
        if self.context.caller.interrupt.requested() {
            Err(CatalogError::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// Whether the sidecar of an item has the version `recorded`. If the sidecar cannot be inspected, the answer
/// is no, and reading it reports the error.
fn has_version(year: &Dir, leaf: &str, recorded: RecordedVersion) -> bool {
    is_sidecar_current(year, leaf, recorded.0).unwrap_or(false)
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
}
