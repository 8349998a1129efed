//! Arrivals: an item is in place before that is recorded, and may be changed or taken on in between.
//!
//! Other processes may have recorded such a change by then, and it comes after the arrival. So the lines about the item
//! that were added since it was put in place are repeated below that of the arrival, under the lock of the file.

use std::collections::HashSet;

use super::line::InventoryLine;
use super::year::visit_lines;
use super::year_file;
use crate::collection::Collection;
use crate::disk::{FileStat, PathError, StoredFile};
use crate::identity::RepositoryName;

/// Where the inventory of a year ended before items were put in place.
#[derive(Debug)]
pub(crate) struct InventoryEnd {
    file_name: String,
    /// Nothing if there was no file.
    stat: Option<FileStat>,
}

impl Collection {
    /// The end of the inventory of the year of `name`, before that and others of the year are put in place.
    pub(crate) fn inventory_end(&self, name: &RepositoryName) -> Result<InventoryEnd, PathError> {
        let file_name = year_file(name);
        let dir = self.inventory()?;
        let stat = dir.map_or(Ok(None), |dir| dir.stat(&file_name))?;
        Ok(InventoryEnd { file_name, stat })
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
        let from = match self.stat {
            _ if file_name != self.file_name => return Ok(String::new()),
            None => 0,
            Some(stat) if stat.identity == now.identity => stat.bytes,
            // A repair has put another file in its place: nothing tells which lines are later.
            Some(_) => return Ok(String::new()),
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
