//! Arrivals: an item is published before its arrival is recorded, and may change or leave in between.
//!
//! Other processes may have recorded such a change by then, and it comes after the arrival. So the lines
//! about the item that were added since it was published are repeated below the line of the arrival, under
//! the lock of the file.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use super::line::InventoryLine;
use super::year::visit_lines;
use super::year_file;
use crate::collection::Collection;
use crate::disk::{FileStat, PathError, StoredFile};
use crate::identity::RepositoryName;

/// The ends of the inventory files about some items, before those were published or inspected.
#[derive(Debug)]
pub(crate) struct InventoryEnd {
    /// By file name; a missing file has no entry.
    files: BTreeMap<String, Option<FileStat>>,
}

impl Collection {
    /// The end of the inventory of the years of `names`, before items of these years are published or
    /// inspected.
    pub(crate) fn inventory_end<'n>(
        &self,
        names: impl IntoIterator<Item = &'n RepositoryName>,
    ) -> Result<InventoryEnd, PathError> {
        let (dir, mut files) = (self.inventory()?, BTreeMap::new());
        for file in names.into_iter().map(year_file) {
            if let Entry::Vacant(entry) = files.entry(file) {
                let stat = dir.as_ref().map_or(Ok(None), |dir| dir.stat(entry.key()))?;
                entry.insert(stat);
            }
        }
        Ok(InventoryEnd { files })
    }
}

impl InventoryEnd {
    /// The lines since then about the items of the lines `arrivals`, in `file` with the metadata `now`.
    pub(super) fn later_lines(
        &self,
        arrivals: &str,
        file_name: &str,
        (file, now): (&StoredFile, FileStat),
    ) -> Result<String, PathError> {
        let from = match self.files.get(file_name) {
            Some(None) => 0,
            Some(Some(stat)) if stat.identity == now.identity => stat.bytes,
            // A repair has replaced the file: nothing shows which lines are later.
            Some(Some(_)) | None => return Ok(String::new()),
        };
        let mut lines = String::new();
        if now.bytes <= from {
            return Ok(lines);
        }
        let names = arrivals.lines().filter_map(|line| InventoryLine::parse(line.as_bytes()));
        let names: HashSet<_> = names.map(|line| line.name.folded()).collect();
        visit_lines(file, from, |_, text| {
            let line = InventoryLine::parse(text).filter(|it| names.contains(&it.name.folded()));
            lines.extend(line.map(|line| line.to_text()));
        })?;
        Ok(lines)
    }
}
