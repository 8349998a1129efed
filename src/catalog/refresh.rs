//! Bringing an index up to what is on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::prelude::*;

use super::{CatalogError, Look, Means, News};
use crate::collection::{Collection, Lookup, Years, belongs};
use crate::disk::{Dir, Kind, PathError};
use crate::identity::RepositoryName;
use crate::index::{Index, IndexError, Mark, Place, Tables};
use crate::layout;

/// So many items are read in one transaction: other writers wait for it.
const AT_A_TIME: usize = 4096;

/// Levels of directories above the items.
const LEVELS: usize = 3;

/// Bringing an index up to what is on disk.
pub(super) struct Refresh<'a> {
    pub collection: &'a Collection,
    pub means: &'a Means<'a>,
    pub news: &'a mut News,
}

/// What is known of the places: their marks, by path.
type Marks = BTreeMap<String, Option<Mark>>;

impl Refresh<'_> {
    /// Takes in what writers announced and what has changed; with [`Look::Full`], every sidecar that is
    /// not as it was.
    pub(super) fn bring_up(mut self, index: &mut Index, look: Look) -> Result<(), CatalogError> {
        let stale = self.collection.stale_note()?;
        self.take_in_announced(index)?;
        let marks: Marks = index.tables().places()?.into_iter().collect();
        self.level(index, &marks, "", 0)?;
        if look == Look::Full || stale.is_some() {
            self.look_at_all(index)?;
        }
        match stale {
            Some(note) => Ok(self.collection.remove_stale_note(note)?),
            None => Ok(()),
        }
    }

    /// Reads what writers are about to change, or were when they were killed.
    fn take_in_announced(&mut self, index: &mut Index) -> Result<(), CatalogError> {
        if index.tables().announced()?.is_empty() {
            return Ok(());
        }
        let collection = self.collection;
        index.write::<_, CatalogError>(|tables| {
            let lookup = Lookup::new(collection);
            let mut years = Years::new(collection);
            for (name, writer) in tables.announced()? {
                if let Ok((item, _)) = RepositoryName::parse_as_found(&name) {
                    collection.take_in_named(tables, &lookup, &mut years, (&item, None))?;
                }
                // Who is still at work withdraws it when the change is done.
                if !collection.has_stage(&writer)? {
                    tables.withdraw(&name, &writer)?;
                }
            }
            Ok(())
        })
    }

    /// Looks at the place at `path`, so many levels below the root, and at those below it.
    fn level(
        &mut self,
        index: &mut Index,
        marks: &Marks,
        path: &str,
        depth: usize,
    ) -> Result<(), CatalogError> {
        self.check_interrupt()?;
        let root = self.collection.root();
        let stamp = root.stamp(if path.is_empty() { "." } else { path })?;
        let Some(stamp) = stamp.filter(|stamp| stamp.kind == Kind::Directory) else {
            return Ok(index.write(|tables| tables.remove_place(path))?);
        };
        let is_as_it_was = marks.get(path).copied().flatten() == Some(Mark::of(&stamp));
        if is_as_it_was {
            for below in children(marks, path) {
                self.level(index, marks, &below, depth + 1)?;
            }
            return Ok(());
        }
        let quiet = Mark::of_quiet(&stamp, self.means.clock.now());
        let listed = if depth == LEVELS {
            self.year(index, path)
        } else {
            self.directories(index, marks, path, depth)
        };
        let mark = match listed {
            Ok(()) => quiet,
            Err(CatalogError::Disk(error)) if error.path() == root.path_of(path) => {
                self.news.unlisted.push(error);
                None
            }
            Err(error) => return Err(error),
        };
        Ok(index.write::<_, IndexError>(|tables| {
            let (place, _) = tables.place(path)?;
            tables.mark_place(place, mark)
        })?)
    }

    /// Lists a place above years.
    fn directories(
        &mut self,
        index: &mut Index,
        marks: &Marks,
        path: &str,
        depth: usize,
    ) -> Result<(), CatalogError> {
        let dir = self.collection.root().open_dir(path)?;
        let mut found = BTreeSet::new();
        for entry in dir.entries()? {
            let entry = entry?;
            if let (Kind::Directory, Some(name)) = (entry.kind, entry.name.to_str())
                && belongs(name, depth)
            {
                found.insert(below(path, name));
            }
        }
        for gone in children(marks, path).difference(&found) {
            index.write(|tables| tables.remove_place(gone))?;
        }
        for below in found {
            self.level(index, marks, &below, depth + 1)?;
        }
        Ok(())
    }

    /// Lists a year.
    fn year(&mut self, index: &mut Index, path: &str) -> Result<(), CatalogError> {
        let dir = self.collection.root().open_dir(path)?;
        let place = index.write::<_, IndexError>(|tables| Ok(tables.place(path)?.0))?;
        let year = Year { path, dir: &dir, place };
        let (mut new, mut known) = (Vec::new(), 0);
        if self.means.progress.is_shown() {
            self.means.progress.expect(dir.entries()?.count() as u64, 0);
        }
        for entry in dir.entries()? {
            let entry = entry?;
            let (Kind::Directory, Some(leaf)) = (entry.kind, entry.name.to_str()) else { continue };
            if index.tables().has(place, leaf)? {
                known += 1;
                self.means.progress.finish_item(leaf);
            } else if RepositoryName::parse_as_found(&below(path, leaf)).is_ok() {
                new.push(leaf.to_owned());
            }
            if new.len() == AT_A_TIME {
                known += self.read(index, &year, &std::mem::take(&mut new))?;
            }
        }
        known += self.read(index, &year, &new)?;
        if index.tables().count_in(place)? > known {
            self.forget_gone(index, &year)?;
        }
        Ok(())
    }

    /// Reads items into the index, and says how many there are.
    fn read(
        &mut self,
        index: &mut Index,
        year: &Year<'_>,
        leaves: &[String],
    ) -> Result<u64, CatalogError> {
        self.check_interrupt()?;
        if leaves.is_empty() {
            return Ok(0);
        }
        let (collection, progress) = (self.collection, self.means.progress);
        let read = index.write::<_, CatalogError>(|tables| {
            let read = |leaf: &String| {
                let record = collection.record_of(year.path, year.dir, leaf);
                progress.finish_item(leaf);
                record
            };
            let records: Vec<_> = leaves.par_iter().map(read).collect();
            let mut there = 0;
            for (leaf, record) in leaves.iter().zip(records) {
                match record? {
                    Some(record) => {
                        tables.put(year.place, leaf, &record)?;
                        there += 1;
                    }
                    None => tables.remove(year.place, leaf)?,
                }
            }
            Ok(there)
        })?;
        self.news.read += read;
        Ok(read)
    }

    /// Forgets what is not in the year any more.
    fn forget_gone(&mut self, index: &mut Index, year: &Year<'_>) -> Result<(), CatalogError> {
        let mut after = String::new();
        loop {
            let leaves = index.tables().names_in(year.place, &after, AT_A_TIME)?;
            let Some(last) = leaves.last() else { return Ok(()) };
            after.clone_from(last);
            self.news.gone += index.write::<_, CatalogError>(|tables| {
                let mut gone = 0;
                for leaf in &leaves {
                    let there = year.dir.stamp(leaf)?;
                    if there.is_none_or(|there| there.kind != Kind::Directory) {
                        tables.remove(year.place, leaf)?;
                        gone += 1;
                    }
                }
                Ok(gone)
            })?;
        }
    }

    /// Reads every item again whose sidecar is not as it was.
    fn look_at_all(&mut self, index: &mut Index) -> Result<(), CatalogError> {
        for (path, _) in index.tables().places()? {
            if path.split('/').count() != LEVELS {
                continue;
            }
            let Some(dir) = self.collection.root().open_dir_if_there(&path)? else { continue };
            let Some((place, _)) = index.tables().place_if_there(&path)? else { continue };
            let year = Year { path: &path, dir: &dir, place };
            let mut after = String::new();
            loop {
                let leaves = index.tables().names_in(place, &after, AT_A_TIME)?;
                let Some(last) = leaves.last() else { break };
                after.clone_from(last);
                self.means.progress.expect(leaves.len() as u64, 0);
                let changed = year.changed(index.tables(), &leaves)?;
                for _ in changed.len()..leaves.len() {
                    self.means.progress.finish_item(path.as_str());
                }
                self.read(index, &year, &changed)?;
            }
        }
        Ok(())
    }

    fn check_interrupt(&self) -> Result<(), CatalogError> {
        if self.means.interrupt.requested() { Err(CatalogError::Interrupted) } else { Ok(()) }
    }
}

/// A directory of items.
pub(super) struct Year<'a> {
    /// Relative to the root.
    pub path: &'a str,
    pub dir: &'a Dir,
    pub place: Place,
}

impl Year<'_> {
    /// Those of `leaves` whose sidecars are not as they were.
    fn changed(&self, tables: Tables<'_>, leaves: &[String]) -> Result<Vec<String>, CatalogError> {
        let mut changed = Vec::new();
        for leaf in leaves {
            let kept = tables.kept(self.place, leaf)?;
            if kept.is_some_and(|kept| kept.mark != mark_of(self.dir, leaf).unwrap_or(None)) {
                changed.push(leaf.clone());
            }
        }
        Ok(changed)
    }
}

/// The mark that the sidecar of an item has now.
pub(super) fn mark_of(year: &Dir, leaf: &str) -> Result<Option<Mark>, PathError> {
    let stamp = year.stamp(Path::new(leaf).join(layout::SIDECAR))?;
    Ok(stamp.map(|stamp| Mark::of(&stamp)))
}

/// The places right below `path` that are known.
fn children(marks: &Marks, path: &str) -> BTreeSet<String> {
    let is_child = |known: &&String| match known.strip_prefix(path) {
        Some(rest) if path.is_empty() => !rest.is_empty() && !rest.contains('/'),
        Some(rest) => rest.strip_prefix('/').is_some_and(|name| !name.contains('/')),
        None => false,
    };
    marks.keys().filter(is_child).cloned().collect()
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
