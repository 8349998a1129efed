//! Access statistics: how often items were acknowledged and fetched, by day. No address of a reader is in them.
//!
//! They are in `<state>/<collection id>/access/YYYY-MM.jsonl`, beside the host state, so that a collection that cannot be
//! written has them, too: a line for each item and day. What is counted is written each minute, and a kill loses a minute.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::disk::{Dir, Lock, LockError, LockMode, PathError, Watcher};
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::wait::Waiter;

/// Within this time, a reader counts once for an item.
const AGAIN: i128 = 30 * SECOND;
/// Readers that are remembered for that time; beyond them, nothing is counted.
const READERS: usize = 1 << 16;
/// How long the key of a URL is accepted, and the used ones that are remembered for that time.
const KEY_AGE: i128 = 600 * SECOND;
const KEYS: usize = 1 << 20;
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
pub(super) struct Fetch {
    pub(super) bytes: u64,
    /// Whether it begins with the first byte.
    pub(super) is_begin: bool,
    pub(super) is_robot: bool,
}

/// What has been counted and is not written yet.
#[derive(Debug, Default)]
pub(super) struct AccessCounter(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    days: BTreeMap<String, HashMap<RepositoryName, Accesses>>,
    /// When a reader was last counted for an item: by an acknowledgment, or a fetch.
    readers: HashMap<(bool, IpAddr, RepositoryName), Instant>,
    /// Used keys of the present ten minutes, and of those before.
    used: [HashSet<String>; 2],
    used_since: Option<Instant>,
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
        reader: IpAddr,
        key: &str,
        now: Instant,
    ) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.uses(key, now) && counts.is_new(true, reader, item, now) {
            counts.of(item, now).acknowledged += 1;
        }
    }

    /// Counts the bytes of a file, and the fetch itself once for a reader.
    pub(super) fn fetched(
        &self,
        item: &RepositoryName,
        reader: IpAddr,
        fetch: Fetch,
        now: Instant,
    ) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = fetch.is_begin && counts.is_new(false, reader, item, now);
        let accesses = counts.of(item, now);
        accesses.bytes += fetch.bytes;
        accesses.robots += u64::from(is_new && fetch.is_robot);
        accesses.fetched += u64::from(is_new && !fetch.is_robot);
    }

    /// Adds what has been counted to the files in `dir`, and begins again. After an error, nothing is lost.
    pub(super) fn write(&self, dir: &Path, waiter: &Waiter<'_>) -> Result<(), LockError> {
        let days = {
            let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut counts.days)
        };
        let mut months: BTreeMap<&str, Vec<(&String, _)>> = BTreeMap::new();
        for (day, items) in &days {
            months.entry(&day[..7]).or_default().push((day, items));
        }
        let written = months.into_iter().try_for_each(|(month, days)| {
            let dir = Dir::make_with_parents(&dir.join(DIRECTORY), &Watcher::default())?;
            let _lock = Lock::take_unsigned(&dir, LOCK, LockMode::Exclusive, waiter)?;
            let mut all = BTreeMap::new();
            for line in read_month(&dir, month)? {
                all.insert((line.day, line.id), line.accesses);
            }
            for (day, items) in days {
                for (id, accesses) in items {
                    all.entry((day.clone(), id.clone())).or_default().add(*accesses);
                }
            }
            let mut text = String::new();
            for ((day, id), accesses) in all {
                let line = serde_json::to_string(&AccessLine { day, id, accesses });
                text += &line.map_err(|error| invalid(&dir, month, &error))?;
                text.push('\n');
            }
            Ok(dir.replace_file(&format!("{month}.jsonl"), text.as_bytes())?)
        });
        if written.is_err() {
            let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for (day, items) in days {
                let all = counts.days.entry(day).or_default();
                for (id, accesses) in items {
                    all.entry(id).or_default().add(accesses);
                }
            }
        }
        written
    }
}

impl Counts {
    /// The accesses of an item today.
    fn of(&mut self, item: &RepositoryName, now: Instant) -> &mut Accesses {
        let now = now.to_string();
        let day = &now[..now.find('T').unwrap_or(now.len())];
        if !self.days.contains_key(day) {
            self.days.insert(day.to_owned(), HashMap::new());
        }
        let items = self.days.entry(day.to_owned()).or_default();
        items.entry(item.clone()).or_default()
    }

    /// Whether a reader counts for an item.
    fn is_new(
        &mut self,
        is_acknowledgment: bool,
        reader: IpAddr,
        item: &RepositoryName,
        now: Instant,
    ) -> bool {
        let is_recent = |at: Instant| (0..AGAIN).contains(&(now.nanoseconds() - at.nanoseconds()));
        if self.readers.len() >= READERS {
            self.readers.retain(|_, at| is_recent(*at));
        }
        let key = (is_acknowledgment, reader, item.clone());
        if self.readers.get(&key).is_some_and(|at| is_recent(*at)) || self.readers.len() >= READERS
        {
            return false;
        }
        self.readers.insert(key, now);
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

    fn reader(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    const FETCH: Fetch = Fetch { bytes: 10, is_begin: true, is_robot: false };

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
            let fetch = Fetch { is_begin, is_robot, ..FETCH };
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
        let mut counts = Counts::default();
        for number in 0..READERS {
            let number = u32::try_from(number).unwrap();
            assert!(counts.is_new(false, IpAddr::from(number.to_be_bytes()), &item(1), after(0)));
        }
        assert!(!counts.is_new(false, reader(1), &item(2), after(1)));
        assert!(counts.is_new(false, reader(1), &item(2), after(31)));
        assert_eq!(counts.readers.len(), 1);
    }
}
