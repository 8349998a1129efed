//! Bringing an index up to what is on disk.

use std::collections::BTreeSet;
use std::path::Path;

use rayon::prelude::*;

use super::places::{Marks, children};
use super::{CatalogError, Look, Means, News};
use crate::collection::{Collection, Lookup, Years, belongs};
use crate::disk::{Dir, Kind, PathError};
use crate::identity::RepositoryName;
use crate::index::{Index, IndexError, Known, Mark, Place, Record, Seen, Tables};
use crate::layout;

/// So many items are read in one transaction: other writers wait for it.
const AT_A_TIME: usize = 4096;

/// Sidecars of no more bytes in all are read in one transaction, unless it is a single one: what is kept of
/// them is held till its end.
const BYTES_AT_A_TIME: u64 = 8 * 1024 * 1024;

/// So many are read sooner than threads are started.
const FEW: usize = 64;

/// Levels of directories above the items.
const LEVELS: usize = 3;

/// Bringing an index up to what is on disk.
pub(super) struct Refresh<'a> {
    collection: &'a Collection,
    means: &'a Means<'a>,
    news: &'a mut News,
    /// Threads that read sidecars, once there are many to be read.
    pool: Option<rayon::ThreadPool>,
}

/// How closely a directory is looked at that is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closeness {
    /// What is known in it is as it was.
    New,
    /// It may be that others have replaced what is in it.
    All,
}

impl<'a> Refresh<'a> {
    pub(super) fn new(
        collection: &'a Collection,
        means: &'a Means<'a>,
        news: &'a mut News,
    ) -> Refresh<'a> {
        Refresh { collection, means, news, pool: None }
    }
}

impl Refresh<'_> {
    /// Takes in what writers announced and what has changed; with [`Look::Full`], every sidecar that is
    /// not as it was.
    pub(super) fn bring_up(mut self, index: &mut Index, look: Look) -> Result<(), CatalogError> {
        let stale = self.collection.stale_note()?;
        let looks_at_all = look == Look::Full || stale.is_some();
        self.take_in_announced(index)?;
        let mut marks: Marks = index.tables().places()?.into_iter().collect();
        if looks_at_all {
            for seen in marks.values_mut() {
                seen.listed = false;
            }
        }
        self.level(index, &marks, "", 0)?;
        if looks_at_all {
            self.look_at_all(index)?;
        }
        if let Some(note) = stale {
            self.collection.remove_stale_note(note);
        }
        Ok(())
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
                // Who is still at work withdraws it when the change is done.
                let is_at_work = collection.has_stage(&writer)?;
                if let Ok((item, _)) = RepositoryName::parse_as_found(&name) {
                    let taken =
                        collection.take_in_named(tables, &lookup, &mut years, (&item, None));
                    if let Err(IndexError::Disk(error)) = taken {
                        self.news.can_not_read(error);
                        continue;
                    }
                    taken?;
                }
                if !is_at_work {
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
            return self.forget_place(index, path);
        };
        let seen = marks.get(path).copied().unwrap_or_default();
        let is_as_it_was = seen.mark == Some(Mark::of(&stamp));
        if is_as_it_was && seen.listed {
            for below in children(marks, path) {
                self.level(index, marks, &below, depth + 1)?;
            }
            return Ok(());
        }
        let quiet = Mark::of_quiet(&stamp, self.means.clock.now());
        let listed = if depth == LEVELS {
            self.year(index, path, if is_as_it_was { Closeness::New } else { Closeness::All })
        } else {
            self.directories(index, marks, path, depth)
        };
        let seen = match listed {
            Ok(()) => Seen { mark: quiet, listed: quiet.is_some() },
            Err(CatalogError::Disk(error)) if error.path() == root.path_of(path) => {
                self.news.can_not_read(error);
                Seen::default()
            }
            Err(error) => return Err(error),
        };
        Ok(index.write::<_, IndexError>(|tables| {
            let (place, _) = tables.place(path)?;
            tables.mark_place(place, seen)
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
            self.forget_place(index, gone)?;
        }
        for below in found {
            self.level(index, marks, &below, depth + 1)?;
        }
        Ok(())
    }

    fn forget_place(&mut self, index: &mut Index, path: &str) -> Result<(), CatalogError> {
        self.news.gone += index.write::<_, IndexError>(|tables| tables.remove_place(path))?;
        Ok(())
    }

    /// Lists a year.
    fn year(
        &mut self,
        index: &mut Index,
        path: &str,
        closeness: Closeness,
    ) -> Result<(), CatalogError> {
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
            if let Known::With(mark) = index.tables().known(place, leaf)? {
                if closeness == Closeness::All && is_changed(&dir, leaf, mark) {
                    new.push(leaf.to_owned());
                } else {
                    known += 1;
                    self.means.progress.finish_item(leaf);
                }
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

    /// Reads items into the index, in several transactions if they have much to say, and says how many
    /// there are.
    fn read(
        &mut self,
        index: &mut Index,
        year: &Year<'_>,
        leaves: &[String],
    ) -> Result<u64, CatalogError> {
        let (mut start, mut bytes, mut there) = (0, 0, 0);
        for (at, leaf) in leaves.iter().enumerate() {
            // The reader of the sidecar reports the error.
            let stamp = year.dir.stamp(Path::new(leaf).join(layout::SIDECAR)).unwrap_or(None);
            let size = stamp.map_or(0, |stamp| stamp.bytes);
            if bytes > 0 && bytes + size > BYTES_AT_A_TIME {
                there += self.read_group(index, year, &leaves[start..at])?;
                (start, bytes) = (at, 0);
            }
            bytes += size;
        }
        Ok(there + self.read_group(index, year, &leaves[start..])?)
    }

    /// Reads items into the index in one transaction, and says how many there are.
    fn read_group(
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
        if self.pool.is_none() && leaves.len() > FEW && self.means.jobs > 1 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(self.means.jobs).build();
            // Without more threads it takes longer, and that is all.
            self.pool = pool.ok();
        }
        let news = &mut *self.news;
        let read = index.write::<_, CatalogError>(|tables| {
            let read = |leaf: &String| {
                let record = collection.record_of(year.path, year.dir, leaf);
                progress.finish_item(leaf);
                record
            };
            let records: Vec<_> = match &self.pool {
                Some(pool) => pool.install(|| leaves.par_iter().map(read).collect()),
                None => leaves.iter().map(read).collect(),
            };
            let mut there = 0;
            for (leaf, record) in leaves.iter().zip(records) {
                match record {
                    Ok(Some(record)) => {
                        tables.put(year.place, leaf, &record)?;
                        there += 1;
                    }
                    Ok(None) => tables.remove(year.place, leaf)?,
                    // It is there, and will be read when that can be done.
                    Err(error) => {
                        news.can_not_read(error);
                        let path = below(year.path, leaf);
                        if let Ok((name, _)) = RepositoryName::parse_as_found(&path) {
                            tables.put(year.place, leaf, &Record::unreadable(&name, None))?;
                            tables.announce(&path, "")?;
                            there += 1;
                        }
                    }
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
            let dir = match self.collection.root().open_dir_if_there(&path) {
                Ok(Some(dir)) => dir,
                Ok(None) => continue,
                Err(error) => {
                    self.news.can_not_read(error);
                    continue;
                }
            };
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
                    self.means.progress.finish_item(&path);
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
            if let Known::With(mark) = tables.known(self.place, leaf)?
                && is_changed(self.dir, leaf, mark)
            {
                changed.push(leaf.clone());
            }
        }
        Ok(changed)
    }
}

/// The mark that the sidecar of an item has now; none where there is none, or where it may not be looked
/// at: such an item is kept without a mark. Any other error says nothing of the sidecar.
pub(super) fn mark_of(year: &Dir, leaf: &str) -> Result<Option<Mark>, PathError> {
    match Mark::of_sidecar(year, leaf) {
        Err(error) if error.is_refusal() || error.is_link() => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
        outcome => outcome,
    }
}

/// Whether the sidecar of an item has another mark than `known`, or cannot be looked at: whoever reads it
/// learns why.
fn is_changed(year: &Dir, leaf: &str, known: Option<Mark>) -> bool {
    mark_of(year, leaf).map_or(true, |mark| mark != known)
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
