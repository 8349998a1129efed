//! Counts over all records.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::IndexError;
use super::rows::state_of;
use super::search::list;
use super::tables::{Tables, unsigned};
use crate::identity::Prefix;
use crate::item::State;

/// Counts of a part of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Items.
    pub items: u64,
    /// Their files.
    pub files: u64,
    /// The bytes of these.
    pub bytes: u64,
}

/// Counts of a collection, in total and by its parts.
///
/// Deleted items have no payload: they are counted among the states only, without files and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Everything that has a payload.
    pub total: Count,
    /// By state; `None`: items whose sidecars cannot be read.
    pub states: BTreeMap<Option<State>, Count>,
    /// By prefix, in lower case.
    pub prefixes: BTreeMap<String, Count>,
    /// By the year of the name.
    pub years: BTreeMap<u64, Count>,
    /// Number of files by the ending of their names, in lower case; empty: without one.
    pub formats: BTreeMap<String, u64>,
    /// Items whose payload equals, byte for byte, that of another counted item.
    pub repeated: u64,
}

/// A longer ending is a part of the name.
const LONGEST_FORMAT: usize = 12;

impl Tables<'_> {
    /// Counts all records, or those of `prefix`, in one pass over items and one over files. The digests of the payloads are in memory
    /// meanwhile, half of each.
    pub(crate) fn counts(&self, prefix: Option<&Prefix>) -> Result<Counts, IndexError> {
        let mut counts = Counts::default();
        let of_prefix = match prefix {
            Some(prefix) => format!("item.directory IN ({})", list(&self.years_of(prefix)?)),
            None => "1".to_owned(),
        };
        self.count_items(&mut counts, &of_prefix)?;
        self.count_formats(&mut counts, &of_prefix)?;
        Ok(counts)
    }

    /// Counts the records of items that meet `condition`.
    fn count_items(&self, counts: &mut Counts, condition: &str) -> Result<(), IndexError> {
        let mut select = self.0.prepare("SELECT id, folded FROM directory")?;
        let directories = select.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let directories: HashMap<i64, String> = directories.collect::<Result<_, _>>()?;
        let (mut groups, mut digests) = (HashMap::<_, Count>::new(), Vec::new());
        let text =
            format!("SELECT directory, state, files, bytes, digest FROM item WHERE {condition}");
        let mut select = self.0.prepare(&text)?;
        let mut rows = select.query(())?;
        while let Some(row) = rows.next()? {
            let state = row.get::<_, Option<u8>>(1)?.and_then(state_of);
            let (files, bytes) = (unsigned(row.get(2)?), unsigned(row.get(3)?));
            groups.entry((row.get(0)?, state)).or_default().add(Count { items: 1, files, bytes });
            if has_payload(state) && files > 0 {
                let digest = row.get_ref(4)?.as_blob_or_null().ok().flatten();
                let half = digest.and_then(|digest| digest.first_chunk());
                digests.extend(half.map(|half| u128::from_be_bytes(*half)));
            }
        }
        counts.repeated = repeated(digests);
        for ((directory, state), count) in groups {
            let Some(directory) = directories.get(&directory) else { continue };
            if !has_payload(state) {
                let items = Count { items: count.items, ..Count::default() };
                counts.states.entry(state).or_default().add(items);
                continue;
            }
            counts.total.add(count);
            counts.states.entry(state).or_default().add(count);
            if let Some((prefix, year)) = directory.rsplit_once('/') {
                counts.prefixes.entry(prefix.to_owned()).or_default().add(count);
                counts.years.entry(year.parse().unwrap_or(u64::MAX)).or_default().add(count);
            }
        }
        Ok(())
    }

    fn count_formats(&self, counts: &mut Counts, condition: &str) -> Result<(), IndexError> {
        let text = format!(
            "SELECT path FROM file JOIN item ON item.id = file.item
             WHERE item.state IN (1, 2) AND {condition}"
        );
        let mut select = self.0.prepare(&text)?;
        let mut rows = select.query(())?;
        while let Some(row) = rows.next()? {
            let format = format_of(row.get_ref(0)?.as_str().unwrap_or_default());
            match counts.formats.get_mut(&*format) {
                Some(count) => *count += 1,
                None => {
                    counts.formats.insert(format.into_owned(), 1);
                }
            }
        }
        Ok(())
    }
}

/// The ending of a file's name, in lower case.
fn format_of(path: &str) -> std::borrow::Cow<'_, str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => ending,
        _ => "",
    };
    if ending.len() > LONGEST_FORMAT || !ending.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return "".into();
    }
    if ending.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return ending.to_ascii_lowercase().into();
    }
    ending.into()
}

fn has_payload(state: Option<State>) -> bool {
    matches!(state, Some(State::Original | State::Copy))
}

/// The number of `digests` that occur more than once.
fn repeated(mut digests: Vec<u128>) -> u64 {
    let all = digests.len();
    digests.sort_unstable();
    digests.dedup();
    (all - digests.len()) as u64
}

impl Count {
    fn add(&mut self, more: Count) {
        self.items = self.items.saturating_add(more.items);
        self.files = self.files.saturating_add(more.files);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}
