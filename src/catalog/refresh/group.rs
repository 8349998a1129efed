//! Reading the items of a year into the index, a group to a transaction.

use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::super::CatalogError;
use super::{AT_A_TIME, IndexedYear, Refresh, below};
use crate::disk::Kind;
use crate::identity::RepositoryName;
use crate::index::{Index, Record};
use crate::layout;

/// Maximum size in bytes of the sidecars read in one transaction, unless a single one is larger: their records
/// are in memory until its end.
const BYTES_AT_A_TIME: u64 = 8 * 1024 * 1024;

impl Refresh<'_> {
    /// Reads items into the index, in several transactions if their sidecars are large. Returns the number
    /// of items that exist.
    pub(super) fn read(
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
    pub(super) fn remove_gone(
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

#[cfg(test)]
mod tests {
    use super::*;

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
