//! The inventory of one year of a prefix, in a few bytes for each item.

use std::ops::Range;
use std::path::Path;

use super::line::Fields;
use super::{Certainty, MAX_LINE_BYTES, file_of};
use crate::disk::{Dir, PathError, StoredFile};
use crate::identity::{RepositoryName, is_suffix_leaf};
use crate::item::State;

/// Minimum number of superseded lines before they are compacted.
const FEWEST_TO_CLEAR: usize = 1 << 16;

/// Whether an item should be in the collection, and in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It should, in this state if known.
    Here(Option<State>),
    /// It was given up as lost.
    Lost,
}

/// The last record of each item of one year of a prefix, in order.
#[derive(Debug, Default)]
pub(super) struct YearInventory {
    /// The path of the year, as the last line spells it.
    year: String,
    /// The last levels of names, one after another.
    leaves: Vec<u8>,
    spans: Vec<ItemLines>,
    /// Number of damaged lines.
    pub rotten: u64,
    /// The beginning of the last damaged line.
    pub last_rotten: Option<u64>,
    /// The end of the lines read.
    pub end: u64,
}

/// The position of a leaf, and the record of its item.
#[derive(Clone, Copy, Debug)]
struct ItemLines {
    start: u32,
    length: u16,
    known: Known,
    /// The beginning of the line with the record.
    line: u64,
}

impl YearInventory {
    /// An empty year whose directory is `path`.
    pub(super) fn of(path: &Path) -> YearInventory {
        YearInventory { year: path.to_string_lossy().into_owned(), ..YearInventory::default() }
    }

    /// Reads the file `name` in `dir`; empty if it does not exist.
    pub(super) fn read(dir: &Dir, name: &str) -> Result<YearInventory, PathError> {
        let file = dir.open_file_if_there(name)?;
        file.map_or_else(
            || Ok(YearInventory::default()),
            |file| YearInventory::of_file(&file, name),
        )
    }

    /// The records in `file`, called `name`.
    pub(super) fn of_file(file: &StoredFile, name: &str) -> Result<YearInventory, PathError> {
        let mut inventory = YearInventory::default();
        let mut clear_at = FEWEST_TO_CLEAR;
        inventory.end = visit_lines(file, 0, |line, text| {
            if inventory.take(name, line, text).is_none() {
                inventory.rotten += 1;
                inventory.last_rotten = Some(line);
            } else if inventory.spans.len() >= clear_at {
                inventory.clear();
                clear_at = FEWEST_TO_CLEAR.max(2 * inventory.spans.len());
            }
        })?;
        inventory.clear();
        Ok(inventory)
    }

    /// Adds the line that begins at `line`, if it belongs to the file called `file`.
    fn take(&mut self, file: &str, line: u64, text: &[u8]) -> Option<()> {
        let (leaf, known) = self.judge(file, text)?;
        self.push(leaf.as_bytes(), known, line);
        Some(())
    }

    /// The entry in a line, if it belongs to the file called `file`.
    fn judge<'t>(&mut self, file: &str, text: &'t [u8]) -> Option<(&'t str, Known)> {
        let Fields { what, name, details, .. } = Fields::of(text)?;
        let known = match what {
            "left" => Known::Lost,
            "entered" | "found" | "became" => {
                Known::Here(details.split(' ').next().and_then(|state| state.parse().ok()))
            }
            _ => return None,
        };
        let (year, leaf) = name.rsplit_once('/')?;
        if self.year != year {
            // A line of another file does not count here, even with the right checksum.
            let [subdomain, word, digits] = *year.split('/').collect::<Vec<_>>() else {
                return None;
            };
            if file_of(subdomain, word, digits) != file {
                return None;
            }
            year.clone_into(&mut self.year);
        }
        let digits = year.rsplit_once('/')?.1;
        is_suffix_leaf(digits, leaf).then_some((leaf, known))
    }

    /// Calls `visit` for every damaged line of `file`, called `name`, with the range of its bytes.
    pub(super) fn visit_rotten(
        file: &StoredFile,
        name: &str,
        mut visit: impl FnMut(Range<u64>, &[u8]),
    ) -> Result<(), PathError> {
        let mut inventory = YearInventory::default();
        visit_ranges(file, 0, |range, text| {
            if inventory.judge(name, text).is_none() {
                visit(range, text);
            }
        })?;
        Ok(())
    }

    /// Adds an item at the end, whatever its order.
    pub(super) fn push(&mut self, leaf: &[u8], known: Known, line: u64) {
        // Four GiB of names of one year are more than any file system lists.
        let (Ok(start), Ok(length)) = (self.leaves.len().try_into(), leaf.len().try_into()) else {
            return;
        };
        self.leaves.extend_from_slice(leaf);
        self.spans.push(ItemLines { start, length, known, line });
    }

    /// Sorts the items; the last record of an item stays last.
    pub(super) fn sort(&mut self) {
        let YearInventory { leaves, spans, .. } = self;
        spans.sort_by(|a, b| leaf(leaves, a).cmp(leaf(leaves, b)));
    }

    /// Forgets the items that `keep` refuses.
    pub(super) fn retain(&mut self, keep: impl Fn(&[u8]) -> bool) {
        let YearInventory { leaves, spans, .. } = self;
        spans.retain(|span| keep(leaf(leaves, span)));
    }

    /// Keeps the last line of each item, in order.
    fn clear(&mut self) {
        if self.is_clear() {
            self.leaves.shrink_to_fit();
            self.spans.shrink_to_fit();
            return;
        }
        self.sort();
        let YearInventory { leaves, spans, .. } = &*self;
        let mut kept = YearInventory::default();
        for lines in spans.chunk_by(|a, b| leaf(leaves, a) == leaf(leaves, b)) {
            if let Some(last) = lines.last() {
                kept.push(leaf(leaves, last), last.known, last.line);
            }
        }
        (self.leaves, self.spans) = (kept.leaves, kept.spans);
    }

    /// Whether each item has one line, in order, as in most years.
    fn is_clear(&self) -> bool {
        let YearInventory { leaves, spans, .. } = self;
        spans.is_sorted_by(|a, b| leaf(leaves, a) < leaf(leaves, b))
    }

    /// The record of the item called `leaf` in this year, and its number.
    pub(super) fn find(&self, wanted: &[u8]) -> Option<(usize, Known)> {
        let at = self.spans.binary_search_by(|span| leaf(&self.leaves, span).cmp(wanted)).ok()?;
        Some((at, self.spans[at].known))
    }

    /// The beginning of the line with the record of the item of this number.
    pub(super) fn line(&self, at: usize) -> Option<u64> {
        self.spans.get(at).map(|span| span.line)
    }

    /// Whether the item of this number may have left since.
    pub(super) fn certainty(&self, at: usize) -> Certainty {
        self.line(at).map_or(Certainty::Certain, |line| Certainty::of(line, self.last_rotten))
    }

    /// Number of items.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The last level of the name of the item of this number.
    pub(super) fn leaf(&self, at: usize) -> Option<&[u8]> {
        self.spans.get(at).map(|span| leaf(&self.leaves, span))
    }

    /// The item of this number, with its record.
    pub(super) fn item(&self, at: usize) -> Option<(RepositoryName, Known)> {
        let span = self.spans.get(at)?;
        let leaf = std::str::from_utf8(leaf(&self.leaves, span)).ok()?;
        let (name, _) =
            RepositoryName::parse_as_found(&Path::new(&self.year).join(leaf).to_string_lossy())
                .ok()?;
        Some((name, span.known))
    }
}

fn leaf<'a>(leaves: &'a [u8], span: &ItemLines) -> &'a [u8] {
    let start = span.start as usize;
    &leaves[start..start + usize::from(span.length)]
}

/// Calls `visit` for every line from offset `from` on, with its beginning. A line without its end is visited
/// only if nothing else of it is lost. Returns the offset from which to continue when the file has grown.
pub(super) fn visit_lines(
    file: &StoredFile,
    from: u64,
    mut visit: impl FnMut(u64, &[u8]),
) -> Result<u64, PathError> {
    visit_ranges(file, from, |range, text| visit(range.start, text))
}

/// The same with the range of the bytes of the line, including its end.
fn visit_ranges(
    file: &StoredFile,
    from: u64,
    mut visit: impl FnMut(Range<u64>, &[u8]),
) -> Result<u64, PathError> {
    let mut start = from;
    let mut buffer = vec![0; MAX_LINE_BYTES];
    loop {
        let filled = file.read_at(&mut buffer, start)?;
        let mut rest = &buffer[..filled];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let text = match rest[..=end].strip_suffix(super::TORN.as_bytes()) {
                Some(torn) => without_end(torn),
                None => Some(&rest[..end]),
            };
            let next = start + end as u64 + 1;
            if let Some(text) = text {
                visit(start..next, text);
            }
            rest = &rest[end + 1..];
            start = next;
        }
        if filled < buffer.len() {
            // The end of a line that is being written.
            if let Some(text) = without_end(rest) {
                visit(start..start + rest.len() as u64, text);
            }
            return Ok(start);
        }
        if rest.len() == filled {
            // Too long for one of ours.
            let next = start + filled as u64;
            visit(start..next, rest);
            start = next;
        }
    }
}

/// The text of a line that has lost its end, if nothing else of it is lost: the end may have been
/// overwritten.
pub(super) fn without_end(line: &[u8]) -> Option<&[u8]> {
    let all_but_end = line.split_last().map_or(line, |(_, before)| before);
    [line, all_but_end].into_iter().find(|text| Fields::of(text).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_recorded_in_order_takes_no_more_than_its_lines() {
        let mut inventory = YearInventory::default();
        let minutes = 10_u64..60;
        minutes.clone().for_each(|minute| {
            inventory.push(format!("11.21.02.{minute}").as_bytes(), Known::Lost, minute);
        });
        inventory.clear();
        let YearInventory { leaves, spans, .. } = &inventory;
        assert_eq!((leaves.len(), spans.len()), (leaves.capacity(), spans.capacity()));
        assert_eq!(inventory.find(b"11.21.02.13"), Some((3, Known::Lost)));
        inventory.push(b"11.21.02.13", Known::Here(None), 61);
        inventory.clear();
        assert_eq!(inventory.len(), minutes.count());
        assert_eq!(inventory.find(b"11.21.02.13"), Some((3, Known::Here(None))));
    }
}
