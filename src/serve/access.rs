//! Access statistics: how often items were acknowledged and fetched, by day. No address of a reader is in them.
//!
//! They are in `<state>/<collection id>/access/YYYY-MM.jsonl`, beside the host state, so that a collection that cannot be
//! written has them, too: a line for each item and day. What is counted is written each minute, and a kill loses a minute.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::disk::{Dir, Lock, LockError, LockMode, PathError, Watcher};
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::wait::Waiter;
use crate::web::head::Client;

/// Within this time, a reader counts once for an item.
const AGAIN: i128 = 30 * SECOND;
/// Readers that are remembered for that time; beyond them, nothing is counted.
const READERS: usize = 1 << 16;
/// How long the key of a URL is accepted, and the used ones that are remembered for that time.
const KEY_AGE: i128 = 600 * SECOND;
const KEYS: usize = 1 << 20;
const DAY: i128 = 24 * 3600 * SECOND;
/// Most bytes of the statistics of a month.
const MOST_BYTES: u64 = 1 << 30;

const DIRECTORY: &str = "access";
const LOCK: &str = "lock";

/// The accesses of an item in a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accesses {
    /// A resolver sent a reader.
    pub acknowledged: u64,
    /// A file was fetched from its first byte.
    pub fetched: u64,
    /// The same by robots.
    pub robots: u64,
    /// Bytes of files, ranges included.
    pub bytes: u64,
}

/// A line of the statistics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessLine {
    /// The day in UTC: `2026-12-01`.
    pub day: String,
    /// The item.
    pub id: RepositoryName,
    /// Its accesses.
    #[serde(flatten)]
    pub accesses: Accesses,
}

/// A file that was fetched, or a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetch<'a> {
    pub(super) bytes: u64,
    /// Whether it begins with the first byte.
    pub(super) is_begin: bool,
    /// The program that fetched it, as it calls itself.
    pub(super) program: &'a [u8],
}

impl Fetch<'_> {
    /// Whether the program says that it is a robot.
    fn is_robot(&self) -> bool {
        let name = self.program.to_ascii_lowercase();
        let has = |word: &[u8]| name.windows(word.len()).any(|part| part == word);
        [b"bot".as_slice(), b"crawl", b"spider", b"slurp"].into_iter().any(has)
    }
}

/// Counts that are not written yet.
#[derive(Debug, Default)]
pub(super) struct AccessCounter(Mutex<AccessCounts>);

#[derive(Debug, Default)]
struct AccessCounts {
    items: HashMap<RepositoryName, ItemCounts>,
    /// The readers of all items that are remembered.
    readers: usize,
    /// Used keys of the present ten minutes, and of those before.
    used: [HashSet<String>; 2],
    used_since: Option<Instant>,
}

#[derive(Debug, Default)]
struct ItemCounts {
    /// By the day since 1970.
    days: BTreeMap<i128, Accesses>,
    /// When a reader was last counted: by an acknowledgment, or a fetch.
    readers: HashMap<(bool, Client), Instant>,
}

impl Accesses {
    /// Adds others.
    pub fn add(&mut self, other: Accesses) {
        self.acknowledged += other.acknowledged;
        self.fetched += other.fetched;
        self.robots += other.robots;
        self.bytes += other.bytes;
    }
}

impl AccessCounter {
    /// Counts the acknowledgment of an item whose key has not been used, once for a reader.
    pub(super) fn acknowledged(
        &self,
        item: &RepositoryName,
        reader: Client,
        key: &str,
        now: Instant,
    ) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.uses(key, now) && counts.is_new(item, (true, reader), now) {
            counts.of(item).day(now).acknowledged += 1;
        }
    }

    /// Counts the bytes of a file, and the fetch itself once for a reader.
    pub(super) fn fetched(
        &self,
        item: &RepositoryName,
        reader: Client,
        fetch: Fetch<'_>,
        now: Instant,
    ) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = fetch.is_begin && counts.is_new(item, (false, reader), now);
        let accesses = counts.of(item).day(now);
        accesses.bytes += fetch.bytes;
        if is_new {
            *(if fetch.is_robot() { &mut accesses.robots } else { &mut accesses.fetched }) += 1;
        }
    }

    /// Adds what has been counted to the files in `dir`, and begins again. After an error, nothing is lost.
    pub(super) fn write(&self, dir: &Path, waiter: &Waiter<'_>) -> Result<(), LockError> {
        let mut months: BTreeMap<String, Vec<AccessLine>> = BTreeMap::new();
        for (day, id, accesses) in self.take() {
            let date = Instant::from_nanoseconds(day * DAY).to_string();
            let day = date[..date.find('T').unwrap_or(date.len())].to_owned();
            months.entry(day[..7].to_owned()).or_default().push(AccessLine { day, id, accesses });
        }
        while let Some((month, lines)) = months.pop_first() {
            if let Err(error) = add_to_month(dir, &month, &lines, waiter) {
                months.insert(month, lines);
                self.put_back(months.into_values().flatten());
                return Err(error);
            }
        }
        Ok(())
    }

    /// The counts so far, by day and item. Readers stay remembered.
    fn take(&self) -> Vec<(i128, RepositoryName, Accesses)> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        for (id, item) in &mut counts.items {
            let days = std::mem::take(&mut item.days).into_iter();
            all.extend(days.map(|(day, accesses)| (day, id.clone(), accesses)));
        }
        counts.items.retain(|_, item| !item.readers.is_empty());
        all
    }

    fn put_back(&self, lines: impl Iterator<Item = AccessLine>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for AccessLine { day, id, accesses } in lines {
            if let Ok(date) = format!("{day}T00:00:00Z").parse::<Instant>() {
                counts.of(&id).day(date).add(accesses);
            }
        }
    }
}

/// Adds lines to the file of a month, durably and under a lock.
fn add_to_month(
    dir: &Path,
    month: &str,
    lines: &[AccessLine],
    waiter: &Waiter<'_>,
) -> Result<(), LockError> {
    let dir = Dir::make_with_parents(&dir.join(DIRECTORY), &Watcher::default())?;
    let _lock = Lock::take_unsigned(&dir, LOCK, LockMode::Exclusive, waiter)?;
    let mut all: BTreeMap<(String, RepositoryName), Accesses> = BTreeMap::new();
    for AccessLine { day, id, accesses } in read_month(&dir, month)?.iter().chain(lines) {
        all.entry((day.clone(), id.clone())).or_default().add(*accesses);
    }
    let mut text = String::new();
    for ((day, id), accesses) in all {
        let line = serde_json::to_string(&AccessLine { day, id, accesses });
        text += &line.map_err(|error| invalid(&dir, month, &error))?;
        text.push('\n');
    }
    Ok(dir.replace_file(&format!("{month}.jsonl"), text.as_bytes())?)
}

impl ItemCounts {
    fn day(&mut self, now: Instant) -> &mut Accesses {
        self.days.entry(now.nanoseconds().div_euclid(DAY)).or_default()
    }
}

impl AccessCounts {
    /// The counts of an item. This is done for each file that is given out: only a new item is copied.
    fn of(&mut self, item: &RepositoryName) -> &mut ItemCounts {
        if !self.items.contains_key(item) {
            self.items.insert(item.clone(), ItemCounts::default());
        }
        self.items.get_mut(item).unwrap_or_else(|| unreachable!("because it was just inserted"))
    }

    /// Whether a reader counts for an item.
    fn is_new(&mut self, item: &RepositoryName, reader: (bool, Client), now: Instant) -> bool {
        let is_recent = |at: Instant| (0..AGAIN).contains(&(now.nanoseconds() - at.nanoseconds()));
        let known = self.of(item).readers.get_mut(&reader);
        if let Some(at) = known {
            let was_recent = is_recent(*at);
            *at = if was_recent { *at } else { now };
            return !was_recent;
        }
        if self.readers >= READERS {
            for item in self.items.values_mut() {
                item.readers.retain(|_, at| is_recent(*at));
            }
            self.readers = self.items.values().map(|item| item.readers.len()).sum();
        }
        if self.readers >= READERS {
            return false;
        }
        self.readers += 1;
        self.of(item).readers.insert(reader, now);
        true
    }

    /// Whether a key is used for the first time.
    fn uses(&mut self, key: &str, now: Instant) -> bool {
        let since = *self.used_since.get_or_insert(now);
        if now.nanoseconds() - since.nanoseconds() > KEY_AGE {
            self.used.swap(0, 1);
            self.used[0].clear();
            self.used_since = Some(now);
        }
        self.used[0].len() < KEYS
            && !self.used[1].contains(key)
            && self.used[0].insert(key.to_owned())
    }
}

/// The statistics in the state directory of a collection, by day and item.
pub fn access_lines(dir: &Path) -> Result<Vec<AccessLine>, PathError> {
    let above = match Dir::open(&dir.join(DIRECTORY), Watcher::default()) {
        Ok(above) => above,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut months = Vec::new();
    for entry in above.entries()? {
        let name = entry?.name.to_string_lossy().into_owned();
        months.extend(name.strip_suffix(".jsonl").map(str::to_owned));
    }
    months.sort_unstable();
    let lines = months.iter().map(|month| read_month(&above, month));
    Ok(lines.collect::<Result<Vec<_>, _>>()?.concat())
}

fn read_month(dir: &Dir, month: &str) -> Result<Vec<AccessLine>, PathError> {
    let Some(mut file) = dir.open_file_if_there(format!("{month}.jsonl"))? else {
        return Ok(Vec::new());
    };
    let bytes = file.read_all(MOST_BYTES)?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).map_err(|error| invalid(dir, month, &error)))
        .collect()
}

fn invalid(dir: &Dir, month: &str, error: &serde_json::Error) -> PathError {
    let error = std::io::Error::new(std::io::ErrorKind::InvalidData, error.to_string());
    PathError::new("read", dir.path_of(format!("{month}.jsonl")), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "2026-12-31T23:59:50Z";

    fn item(number: u32) -> RepositoryName {
        format!("example.org/archive/2026/11.21.02.{number:02}").parse().unwrap()
    }

    fn after(seconds: i128) -> Instant {
        let begin: Instant = BEGIN.parse().unwrap();
        Instant::from_nanoseconds(begin.nanoseconds() + seconds * SECOND)
    }

    fn reader(last: u8) -> Client {
        Client::At([192, 0, 2, last].into())
    }

    const FETCH: Fetch<'static> = Fetch { bytes: 10, is_begin: true, program: b"" };

    #[test]
    fn a_reader_counts_once_in_a_while_and_a_key_once() {
        let counter = AccessCounter::default();
        for (seconds, client, is_begin, is_robot) in [
            (0, 1, true, false),
            (1, 1, true, false),
            (1, 1, false, false),
            (2, 2, true, true),
            (8, 3, true, false),
            (40, 1, true, false),
        ] {
            let program: &[u8] = if is_robot { b"Example/1.0 (Googlebot)" } else { b"curl" };
            let fetch = Fetch { is_begin, program, ..FETCH };
            counter.fetched(&item(1), reader(client), fetch, after(seconds));
        }
        for (seconds, client, key) in
            [(0, 1, "a"), (1, 2, "a"), (1, 1, "b"), (1, 2, "c"), (650, 9, "a")]
        {
            counter.acknowledged(&item(2), reader(client), key, after(seconds));
        }
        counter.acknowledged(&item(2), reader(8), "a", after(1300));
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            counter.write(dir.path(), &Waiter::default()).unwrap();
            counter.fetched(&item(1), reader(7), Fetch { bytes: 1, ..FETCH }, after(0));
        }
        let found = access_lines(dir.path()).unwrap();
        let line =
            |day: &str, number, [acknowledged, fetched, robots, bytes]: [u64; 4]| AccessLine {
                day: day.to_owned(),
                id: item(number),
                accesses: Accesses { acknowledged, fetched, robots, bytes },
            };
        assert_eq!(
            found,
            [
                line("2026-12-31", 1, [0, 3, 1, 51]),
                line("2026-12-31", 2, [2, 0, 0, 0]),
                line("2027-01-01", 1, [0, 1, 0, 10]),
                line("2027-01-01", 2, [1, 0, 0, 0]),
            ]
        );
        let above = Dir::open(&dir.path().join("access"), Watcher::default()).unwrap();
        assert_eq!(above.entries().unwrap().count(), 3, "two months and the lock");
    }

    #[test]
    fn what_cannot_be_written_is_kept() {
        let counter = AccessCounter::default();
        counter.fetched(&item(1), reader(1), FETCH, after(0));
        let dir = tempfile::tempdir().unwrap();
        let above = Dir::open(dir.path(), Watcher::default()).unwrap();
        above.replace_file("access", b"not a directory").unwrap();
        assert!(counter.write(dir.path(), &Waiter::default()).is_err());
        above.remove_file(Path::new("access")).unwrap();
        counter.write(dir.path(), &Waiter::default()).unwrap();
        assert_eq!(access_lines(dir.path()).unwrap()[0].accesses.fetched, 1);
    }

    #[test]
    fn memory_is_bounded() {
        let mut counts = AccessCounts::default();
        for number in 0..READERS {
            let number = u32::try_from(number).unwrap();
            let reader = (false, Client::At(number.to_be_bytes().into()));
            assert!(counts.is_new(&item(1), reader, after(0)));
        }
        assert!(!counts.is_new(&item(2), (false, reader(1)), after(1)));
        assert!(counts.is_new(&item(2), (false, reader(1)), after(31)));
        assert_eq!((counts.readers, counts.items[&item(1)].readers.len()), (1, 0));
        for number in 0..KEYS {
            assert!(counts.uses(&number.to_string(), after(0)));
        }
        assert!(
            !counts.uses("0", after(1)) && !counts.uses("another", after(1)),
            "nothing is counted"
        );
        assert!(counts.uses("another", after(601)) && !counts.uses("0", after(601)));
        assert_eq!([counts.used[0].len(), counts.used[1].len()], [1, KEYS]);
    }
}
