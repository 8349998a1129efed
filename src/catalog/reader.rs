//! Reading items into the index.

use std::io::ErrorKind;

use rayon::prelude::*;

use super::pool::Pool;
use super::{CatalogError, RefreshReport};
use crate::collection::{Collection, CollectionError, Lookup, ReadSidecar};
use crate::disk::{Kind, PathError};
use crate::identity::RepositoryName;
use crate::index::{Record, Tables};
use crate::interrupt::Interrupt;
use crate::layout;
use crate::progress::Progress;

/// Items that are read side by side. Their records are in memory.
pub(super) const AT_A_TIME: usize = 1024;

/// Size in bytes of a sidecar that is read for itself.
const LARGE: u64 = 64 * 1024;

/// Reads items into an index.
pub(super) struct Reader<'a> {
    lookup: Lookup<'a>,
    pool: Pool,
    progress: &'a dyn Progress,
    interrupt: &'a Interrupt,
}

/// Items that were read, by the names that were asked for.
pub(super) type Read = Vec<(RepositoryName, Result<Found, PathError>)>;

/// The name of an item as spelt on disk, and its record unless the sidecar is large; `None` if there is no item.
pub(super) type Found = Option<(RepositoryName, Option<Record>)>;

impl<'a> Reader<'a> {
    pub(super) fn new(
        collection: &'a Collection,
        jobs: usize,
        (progress, interrupt): (&'a dyn Progress, &'a Interrupt),
    ) -> Reader<'a> {
        let (lookup, pool) = (Lookup::new(collection), Pool::new(jobs));
        Reader { lookup, pool, progress, interrupt }
    }

    /// Reads the items `names` into the index.
    pub(super) fn read(
        &self,
        tables: Tables<'_>,
        names: &[RepositoryName],
        report: &mut RefreshReport,
    ) -> Result<(), CatalogError> {
        let groups = names.chunks(AT_A_TIME);
        groups
            .map(|names| self.find(names.to_vec()))
            .try_for_each(|read| self.take_in(tables, read, report))
    }

    /// Reads the items `names`, except those with large sidecars.
    pub(super) fn find(&self, names: Vec<RepositoryName>) -> Read {
        self.progress.expect(names.len() as u64, 0);
        let read = |name: RepositoryName| {
            let found = read_item(&self.lookup, &name, LARGE);
            (name, found)
        };
        match self.pool.for_many(names.len()) {
            Some(pool) => pool.install(|| names.into_par_iter().map(read).collect()),
            None => names.into_iter().map(read).collect(),
        }
    }

    /// Takes items into the index.
    pub(super) fn take_in(
        &self,
        tables: Tables<'_>,
        read: Read,
        report: &mut RefreshReport,
    ) -> Result<(), CatalogError> {
        if self.interrupt.requested() {
            return Err(CatalogError::Interrupted);
        }
        for (name, found) in read {
            let name = &name;
            let (path, leaf) = split(name);
            let found = match found {
                Ok(Some((_, None))) => read_item(&self.lookup, name, u64::MAX),
                found => found,
            };
            match found {
                Ok(Some((name, Some(record)))) => {
                    let (path, leaf) = split(&name);
                    tables.put(path, leaf, &record)?;
                    if !report.built {
                        tables.remove(path, leaf, Some(path))?;
                    }
                    report.read += 1;
                }
                Ok(_) => tables.remove(path, leaf, None)?,
                // It exists. The next user of the index reads it again.
                Err(error) => {
                    report.cannot_read(error);
                    tables.put(path, leaf, &Record::unreadable(name, None))?;
                    tables.put_unread(name.as_str())?;
                }
            }
            self.progress.finish_item(leaf);
        }
        Ok(())
    }
}

/// Reads the item `name`, unless its sidecar has more than `limit` bytes.
fn read_item(lookup: &Lookup<'_>, name: &RepositoryName, limit: u64) -> Result<Found, PathError> {
    let item = match lookup.item(name) {
        Ok(Some(item)) => item,
        // A link, which is no item.
        Err(CollectionError::Disk(error)) if error.is_link() => return Ok(None),
        // Access may be granted later: the record gets no version.
        Err(CollectionError::Disk(error)) if error.kind() == ErrorKind::PermissionDenied => {
            return Ok(Some((name.clone(), Some(Record::unreadable(name, None)))));
        }
        Err(CollectionError::Disk(error)) => return Err(error),
        // None, or an interrupted swap has displaced it.
        Ok(None) | Err(_) => return Ok(None),
    };
    let stat = item.stat(layout::SIDECAR).unwrap_or(None);
    if stat.is_some_and(|stat| stat.bytes > limit) {
        return Ok(Some((item.name().clone(), None)));
    }
    let unreadable = |version| Record::unreadable(item.name(), version);
    let record = match item.read_sidecar() {
        Ok(ReadSidecar { sidecar, version, .. }) => Record::of(&sidecar, &sidecar.files, version),
        Err(CollectionError::Disk(error)) if error.kind() == ErrorKind::PermissionDenied => {
            unreadable(None)
        }
        Err(CollectionError::Disk(error)) => match item.stat(layout::SIDECAR)? {
            // A link in place of the sidecar, or a directory.
            Some(stat) if stat.kind != Kind::File => unreadable(Some(stat.version())),
            _ => return Err(error),
        },
        // That is the fault of the sidecar.
        Err(_) => unreadable(item.version()?),
    };
    Ok(Some((item.name().clone(), Some(record))))
}

/// The path of the year of an item, and the name of the item in it.
pub(super) fn split(name: &RepositoryName) -> (&str, &str) {
    name.as_str().rsplit_once('/').unwrap_or((name.as_str(), ""))
}
