//! Dates that are skipped although they are later than the last one, in a file beside the memory.
//!
//! A person resets a memory that a wrong clock has put into the future, and a new memory may follow a collection
//! whose clock was wrong. Names dated in the future that only other collections have are recorded here first:
//! nothing else keeps them from being issued again when the clock reaches them. The file is replaced in one step,
//! before the memory is written, so a crash in between reserves too much, never too little. The memory then records
//! that the file exists: if it is lost, nothing is issued until a person has named the other collections again.
//!
//! ```text
//! urepo-reserved 1
//! collection 60cb73fd60cb73fd60cb73fd60cb73fd /srv/maps
//! date 2026/11.21.03.13.20
//! sha256 (64 hexadecimal digits over all that precedes)
//! ```
//!
//! `collection` is one that shares the memory: its names are read when the memory is reset or in doubt.
//! Lines that begin with another word are kept. A date stays until a person who accepts the memory confirms that it
//! has passed: a clock that is ahead for a while must not drop it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::DistributorError;
use crate::digest::Digest;
use crate::disk::Dir;
use crate::identity::{Instant, Prefix, parse_suffix};
use crate::layout;

/// The first line, without its version.
const TAG: &str = "urepo-reserved ";

/// The version of the format that this module reads and writes.
const VERSION: &str = "1";

/// Maximum number of dates: every request reads them.
const MOST_RESERVED: usize = 10_000;

/// A file larger than this is damaged.
const LARGEST: u64 = 2 * 1024 * 1024;

/// The file beside the memory of a prefix: reserved dates, and the collections that share the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reserved {
    /// The dates.
    pub(super) dates: BTreeSet<Instant>,
    /// The collections that share the memory, by id.
    pub(super) sharing: BTreeMap<String, PathBuf>,
    /// Lines of a later version.
    others: Vec<String>,
}

impl Reserved {
    /// Reads the file of `prefix` in `dir`, if there is one.
    pub(super) fn read(dir: &Dir, prefix: &Prefix) -> Result<Option<Reserved>, DistributorError> {
        let Some(mut file) = dir.open_file_if_there(layout::reserved_file(prefix))? else {
            return Ok(None);
        };
        let bytes = file.read_all(LARGEST)?;
        let damaged = || DistributorError::ReservedDamaged {
            prefix: prefix.clone(),
            path: file.path().to_path_buf(),
        };
        let text = std::str::from_utf8(&bytes).ok().and_then(unsealed).ok_or_else(damaged)?;
        match text.lines().next().and_then(|line| line.strip_prefix(TAG)) {
            Some(VERSION) => Reserved::parse(text).map(Some).ok_or_else(damaged),
            Some(_) => Err(DistributorError::NewerMemory { prefix: prefix.clone() }),
            None => Err(damaged()),
        }
    }

    fn parse(text: &str) -> Option<Reserved> {
        let mut reserved = Reserved::default();
        for line in text.lines().skip(1) {
            match line.split_once(' ') {
                Some(("date", date)) => drop(reserved.dates.insert(parse_suffix(date).ok()?)),
                Some(("collection", it)) => {
                    let (id, root) = it.split_once(' ')?;
                    reserved.sharing.insert(id.to_owned(), root.into());
                }
                _ => reserved.others.push(line.to_owned()),
            }
        }
        Some(reserved)
    }

    /// Whether its loss could cause a date to be issued twice: a date is still to come, or other collections share
    /// the memory.
    pub(super) fn counts(&self, now: Instant) -> bool {
        !self.sharing.is_empty() || self.dates.last().is_some_and(|date| *date > now)
    }

    /// Replaces the file durably. The caller holds the lock of the memory.
    pub(super) fn write(&self, dir: &Dir, prefix: &Prefix) -> Result<(), DistributorError> {
        if self.dates.len() > MOST_RESERVED {
            let (count, most) = (self.dates.len(), MOST_RESERVED);
            return Err(DistributorError::TooManyReserved { prefix: prefix.clone(), count, most });
        }
        let mut text = format!("{TAG}{VERSION}\n");
        for (id, root) in &self.sharing {
            text += &format!("collection {id} {}\n", in_one_line(root));
        }
        for date in &self.dates {
            text += &format!("date {}\n", date.suffix());
        }
        for line in &self.others {
            text += &format!("{line}\n");
        }
        text += &format!("sha256 {}\n", Digest::of(text.as_bytes()));
        Ok(dir.replace_file(&layout::reserved_file(prefix), text.as_bytes())?)
    }
}

/// The text before the checksum line, if the checksum matches.
fn unsealed(text: &str) -> Option<&str> {
    let (body, seal) = text.split_at(text.rfind("sha256 ")?);
    (seal == format!("sha256 {}\n", Digest::of(body.as_bytes()))).then_some(body)
}

/// The path as one line of UTF-8. If that changes it, its collection is not found again, and a person has to decide.
fn in_one_line(root: &Path) -> String {
    root.to_string_lossy().replace('\n', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test damages the file beside the library")]

    use super::*;
    use crate::disk::Watcher;

    #[test]
    fn lines_of_a_later_version_are_kept_and_damage_is_noticed() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path(), Watcher::default()).unwrap();
        let prefix: Prefix = "example.org/archive".parse().unwrap();
        assert_eq!(Reserved::read(&dir, &prefix).unwrap(), None);
        let text = "collection 60cb /srv/all maps\ndate 2026/11.21.03.13\ndate 2199/01.01.00.00.00.5\nfuture word\n";
        let reserved = Reserved::parse(&format!("urepo-reserved 1\n{text}")).unwrap();
        assert_eq!((reserved.dates.len(), reserved.sharing.len()), (2, 1));
        reserved.write(&dir, &prefix).unwrap();
        assert_eq!(Reserved::read(&dir, &prefix).unwrap(), Some(reserved));
        let path = scratch.path().join(layout::reserved_file(&prefix));
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(written.starts_with(&format!("urepo-reserved 1\n{text}sha256 ")), "{written}");
        for (from, to) in [("13\n", "14\n"), ("date", "dat"), ("sha256 ", "sha256  ")] {
            std::fs::write(&path, written.replacen(from, to, 1)).unwrap();
            let error = Reserved::read(&dir, &prefix).unwrap_err();
            assert!(matches!(error, DistributorError::ReservedDamaged { .. }), "{error}");
        }
        let newer = "urepo-reserved 2\n";
        std::fs::write(&path, format!("{newer}sha256 {}\n", Digest::of(newer.as_bytes()))).unwrap();
        let error = Reserved::read(&dir, &prefix).unwrap_err();
        assert!(matches!(error, DistributorError::NewerMemory { .. }), "{error}");
    }

    #[test]
    fn more_dates_than_each_request_can_read_are_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path(), Watcher::default()).unwrap();
        let prefix: Prefix = "example.org/archive".parse().unwrap();
        let most = i64::try_from(MOST_RESERVED).unwrap();
        let mut reserved = Reserved::default();
        // With nine digits of a fraction, as long as a date can be.
        let date = |at| {
            Instant::from_nanoseconds(Instant::from_seconds(4_000_000_000 + at).nanoseconds() + 1)
        };
        reserved.dates = (0..most).map(date).collect();
        reserved.write(&dir, &prefix).unwrap();
        assert_eq!(Reserved::read(&dir, &prefix).unwrap().as_ref(), Some(&reserved));
        reserved.dates.insert(date(most));
        let error = reserved.write(&dir, &prefix).unwrap_err();
        assert!(
            matches!(error, DistributorError::TooManyReserved { count, .. } if count == MOST_RESERVED + 1)
        );
        assert_eq!(Reserved::read(&dir, &prefix).unwrap().unwrap().dates.len(), MOST_RESERVED);
    }
}
