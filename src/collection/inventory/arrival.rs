//! Arrivals: an item is in place before that is recorded, and may be changed or taken on in between.
//!
//! Other processes may have recorded such a change by then, and it comes after the arrival. So the lines about the item
//! that were added since it was put in place are repeated below that of the arrival, under the lock of the file.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use super::line::InventoryLine;
use super::year::visit_lines;
use super::year_file;
use crate::collection::Collection;
use crate::disk::{FileStat, PathError, StoredFile};
use crate::identity::RepositoryName;

/// Where the files of the inventory about some items ended before those were put in place or looked at.
#[derive(Debug)]
pub(crate) struct InventoryEnd {
    /// By name; nothing where there was no file.
    files: BTreeMap<String, Option<FileStat>>,
}

impl Collection {
    /// The end of the inventory of the years of `names`, before these and others of the years are put in place or
    /// looked at.
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
    /// The lines since then about the items of `arrivals`, lines as well, in `file`, which is as `now` says.
    pub(super) fn later_lines(
        &self,
        arrivals: &str,
        file_name: &str,
        (file, now): (&StoredFile, FileStat),
    ) -> Result<String, PathError> {
        let from = match self.files.get(file_name) {
            Some(None) => 0,
            Some(Some(stat)) if stat.identity == now.identity => stat.bytes,
            // A repair has put another file in its place: nothing tells which lines are later.
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
