//! Marks: what tells without reading whether a file or directory is still as it was.

use std::path::Path;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::disk::{Dir, PathError, Stamp};
use crate::identity::SECOND;
use crate::layout;

/// Size, times and inode.
///
/// The device is left out: its number may change whenever a disk is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark([u8; 32]);

/// Some file systems keep times to two seconds only.
const COARSEST_TIME: i128 = 2 * SECOND;

impl Mark {
    pub(crate) fn of(stamp: &Stamp) -> Mark {
        let mut mark = [0; 32];
        mark[..8].copy_from_slice(&stamp.bytes.to_be_bytes());
        mark[8..16].copy_from_slice(&low_bytes(stamp.modified.nanoseconds()));
        mark[16..24].copy_from_slice(&low_bytes(stamp.changed.nanoseconds()));
        mark[24..].copy_from_slice(&stamp.identity.1.to_be_bytes());
        Mark(mark)
    }

    /// The mark that the sidecar of the item `leaf` in `year` has now, if it has one.
    pub(crate) fn of_sidecar(year: &Dir, leaf: &str) -> Result<Option<Mark>, PathError> {
        let stamp = year.stamp(Path::new(leaf).join(layout::SIDECAR))?;
        Ok(stamp.as_ref().map(Mark::of))
    }

    /// The mark of a directory that is about to be listed at `now`; none if what changes right
    /// afterwards could leave it as it is.
    pub(crate) fn of_quiet(stamp: &Stamp, now: crate::identity::Instant) -> Option<Mark> {
        // Who sets the first of these back, as a backup that is restored does, changes the second.
        let last = stamp.modified.max(stamp.changed);
        let quiet = now.nanoseconds() - last.nanoseconds() > COARSEST_TIME;
        quiet.then(|| Mark::of(stamp))
    }
}

/// All that differs between two times of our days.
fn low_bytes(nanoseconds: i128) -> [u8; 8] {
    let [_, _, _, _, _, _, _, _, low @ ..] = nanoseconds.to_be_bytes();
    low
}

impl ToSql for Mark {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl FromSql for Mark {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Mark> {
        let bytes = value.as_blob()?;
        bytes.try_into().map(Mark).map_err(|_| FromSqlError::InvalidType)
    }
}
