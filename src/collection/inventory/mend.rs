//! Removing damaged lines from the inventory: their meaning is lost, and nothing else ends the finding.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::year::YearInventory;
use super::{Collection, InventoryReader};
use crate::clock::Clock;
use crate::disk::{Dir, Kind, PathError, StoredFile};
use crate::layout;

/// The file without its damaged lines, in urepo's own directory: a file in the directory of the inventory
/// would be read.
const STAGED: &str = "inventory.mended.new";

/// Limit on bytes of a damaged line that are reported.
const SHOWN_BYTES: usize = 512;

/// A damaged line of the inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RottenLine {
    /// The file, relative to the root.
    pub path: PathBuf,
    /// The first 512 bytes of the line.
    pub text: Vec<u8>,
}

impl Collection {
    /// The damaged lines of the inventory: those of the files in `compared`, and all others.
    pub(super) fn rotten_lines(
        &self,
        compared: &HashSet<PathBuf>,
    ) -> Result<(Vec<RottenLine>, Vec<RottenLine>), PathError> {
        let mut found = Vec::new();
        if let Some(dir) = self.inventory()? {
            for name in file_names(&dir)? {
                if let Some(file) = dir.open_file_if_there(&name)? {
                    visit(&file, &name, |_, line| found.push(line))?;
                }
            }
        }
        Ok(found.into_iter().partition(|line: &RottenLine| compared.contains(&line.path)))
    }

    /// Removes the damaged lines of the files in `compared`, and returns them. No other process writes.
    pub(super) fn remove_rotten_lines(
        &self,
        compared: &HashSet<PathBuf>,
        own: &Dir,
        clock: &dyn Clock,
    ) -> Result<Vec<RottenLine>, PathError> {
        let mut removed = Vec::new();
        let Some(dir) = self.inventory()? else { return Ok(removed) };
        for name in file_names(&dir)?.into_iter().filter(|it| compared.contains(&path_of(it))) {
            // `verify` records found items without being a writer.
            let mut lock = super::lock(&dir, &name, clock)?;
            let mut ranges = Vec::new();
            visit(lock.file(), &name, |range, line| {
                ranges.push(range);
                removed.push(line);
            })?;
            if ranges.is_empty() {
                continue;
            }
            own.remove_file_if_there(Path::new(STAGED))?;
            let mut staged = own.create_file(STAGED)?;
            copy_without(lock.file(), &ranges, &mut staged)?;
            staged.sync()?;
            own.rename_over(Path::new(STAGED), &dir, Path::new(&name))?;
            dir.sync()?;
        }
        if !removed.is_empty() {
            own.sync()?;
            // It has the old positions of lines.
            *self.inventory_reader() = InventoryReader::default();
        }
        Ok(removed)
    }
}

/// The names of the files, in order.
fn file_names(dir: &Dir) -> Result<Vec<String>, PathError> {
    let mut names = dir.names_of(Kind::File, |_| true)?;
    names.sort();
    Ok(names)
}

/// The path of the file `name`, relative to the root.
pub(super) fn path_of(name: &str) -> PathBuf {
    Path::new(layout::OWN).join(layout::INVENTORY).join(name)
}

fn visit(
    file: &StoredFile,
    name: &str,
    mut visit: impl FnMut(Range<u64>, RottenLine),
) -> Result<(), PathError> {
    let path = path_of(name);
    YearInventory::visit_rotten(file, name, |range, text| {
        let text = text[..text.len().min(SHOWN_BYTES)].to_vec();
        visit(range, RottenLine { path: path.clone(), text });
    })
}

/// Copies `file` without the bytes in `left_out`, which are in order.
fn copy_without(
    file: &StoredFile,
    left_out: &[Range<u64>],
    to: &mut StoredFile,
) -> Result<(), PathError> {
    let end = file.stat()?.bytes;
    let starts = std::iter::once(0).chain(left_out.iter().map(|range| range.end));
    let ends = left_out.iter().map(|range| range.start).chain(std::iter::once(end));
    let mut buffer = vec![0; 1 << 16];
    for (mut start, end) in starts.zip(ends) {
        while start < end {
            let wanted = usize::try_from(end - start).unwrap_or(usize::MAX).min(buffer.len());
            let filled = file.read_at(&mut buffer[..wanted], start)?;
            if filled == 0 {
                let short = std::io::ErrorKind::UnexpectedEof.into();
                return Err(PathError::new("read", file.path(), short));
            }
            to.write_all(&buffer[..filled])?;
            start += filled as u64;
        }
    }
    Ok(())
}
