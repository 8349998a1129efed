//! The directories above items: the root, both levels of a prefix, and years.

use rusqlite::OptionalExtension;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use super::IndexError;
use super::tables::{Tables, unsigned};
use crate::disk::Version;

/// The row number of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DirectoryId(pub(super) i64);

/// The currency of the rows of a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectoryState {
    /// The version up to which changes of known entries are recorded; `None` if it has to be listed and
    /// every sidecar in it compared.
    pub version: Option<Version>,
    /// Whether every entry of that version has a row. Otherwise it has to be listed.
    pub complete: bool,
}

/// The directory at `?1`, and those with paths between `?2` and `?3`.
const BELOW: &str = "SELECT id FROM directory WHERE path = ?1 OR (path > ?2 AND path < ?3)";

impl Tables<'_> {
    /// The directory at `path`, relative to the root, and its state; added if it is new.
    pub(crate) fn directory(
        &self,
        path: &str,
    ) -> Result<(DirectoryId, DirectoryState), IndexError> {
        if let Some(found) = self.directory_if_known(path)? {
            return Ok(found);
        }
        let mut insert =
            self.0.prepare_cached("INSERT INTO directory (path, folded) VALUES (?1, ?2)")?;
        insert.execute((path, folded(path)))?;
        Ok((DirectoryId(self.0.last_insert_rowid()), DirectoryState::default()))
    }

    /// The directory at `path`, if it has a row.
    pub(crate) fn directory_if_known(
        &self,
        path: &str,
    ) -> Result<Option<(DirectoryId, DirectoryState)>, IndexError> {
        let text = "SELECT id, version, complete FROM directory WHERE path = ?1";
        let mut select = self.0.prepare_cached(text)?;
        let found = select
            .query_row([path], |row| Ok((DirectoryId(row.get(0)?), DirectoryState::read(row)?)));
        Ok(found.optional()?)
    }

    /// All spellings of the directory at `path`.
    pub(crate) fn spellings(&self, path: &str) -> Result<Vec<DirectoryId>, IndexError> {
        let mut select = self.0.prepare_cached("SELECT id FROM directory WHERE folded = ?1")?;
        let rows = select.query_map([folded(path)], |row| Ok(DirectoryId(row.get(0)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Every directory, in order of the paths.
    pub(crate) fn directories(&self) -> Result<Vec<(String, DirectoryState)>, IndexError> {
        let text = "SELECT path, version, complete FROM directory ORDER BY path";
        let mut select = self.0.prepare_cached(text)?;
        let rows = select.query_map((), |row| Ok((row.get(0)?, DirectoryState::read(row)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Records the state of a directory.
    pub(crate) fn set_directory_state(
        &self,
        directory: DirectoryId,
        state: DirectoryState,
    ) -> Result<(), IndexError> {
        let text = "UPDATE directory SET version = ?2, complete = ?3 WHERE id = ?1";
        self.0.prepare_cached(text)?.execute((directory.0, state.version, state.complete))?;
        Ok(())
    }

    /// The number of items in a directory that have rows.
    pub(crate) fn count_in(&self, directory: DirectoryId) -> Result<u64, IndexError> {
        let mut count = self.0.prepare_cached("SELECT count(*) FROM item WHERE directory = ?1")?;
        Ok(unsigned(count.query_row([directory.0], |row| row.get(0))?))
    }

    /// Names in a directory after `after`, in order of their bytes, at most `limit`.
    pub(crate) fn names_in(
        &self,
        directory: DirectoryId,
        after: &str,
        limit: usize,
    ) -> Result<Vec<String>, IndexError> {
        let mut select = self.0.prepare_cached(
            "SELECT leaf FROM item WHERE directory = ?1 AND leaf > ?2 ORDER BY leaf LIMIT ?3",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = select.query_map((directory.0, after, limit), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Removes the directory at `path`, all directories below it, and their items. Returns the number of
    /// items removed.
    pub(crate) fn remove_directory(&self, path: &str) -> Result<u64, IndexError> {
        let mut select = self.0.prepare_cached(BELOW)?;
        // `0` is the character after `/`.
        let (below, end) = (format!("{path}/"), format!("{path}0"));
        let directories: Vec<i64> =
            select.query_map((path, &below, &end), |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut removed = 0;
        for directory in directories {
            let items = "(SELECT id FROM item WHERE directory = ?1)";
            self.0.execute(&format!("DELETE FROM file WHERE item IN {items}"), [directory])?;
            self.0.execute(&format!("DELETE FROM words WHERE rowid IN {items}"), [directory])?;
            removed += self.0.execute("DELETE FROM item WHERE directory = ?1", [directory])?;
            self.0.execute("DELETE FROM directory WHERE id = ?1", [directory])?;
        }
        Ok(removed as u64)
    }
}

impl DirectoryState {
    /// Reads the columns after the first.
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<DirectoryState> {
        Ok(DirectoryState { version: row.get(1)?, complete: row.get(2)? })
    }
}

impl ToSql for Version {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_bytes())))
    }
}

impl FromSql for Version {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Version> {
        let bytes = value.as_blob()?;
        bytes.try_into().map(Version::from_bytes).map_err(|_| FromSqlError::InvalidType)
    }
}

/// The common form of all spellings of a path: lower case, without a dot at the end of the subdomain.
fn folded(path: &str) -> String {
    let lower = path.to_ascii_lowercase();
    match lower.split_once('/') {
        Some((subdomain, rest)) => format!("{}/{rest}", subdomain.trim_end_matches('.')),
        None => lower,
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema;
    use super::*;

    /// Otherwise, removing many directories one by one takes time by their number squared.
    #[test]
    fn directories_below_another_are_looked_up_in_the_index_of_the_paths() {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        database.execute_batch(schema::TABLES).unwrap();
        let mut explain = database.prepare(&format!("EXPLAIN QUERY PLAN {BELOW}")).unwrap();
        let steps = explain.query_map(("a", "a/", "a0"), |row| row.get(3)).unwrap();
        let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
        assert!(steps.iter().any(|step| step.starts_with("SEARCH directory")), "{steps:?}");
        assert!(!steps.iter().any(|step| step.starts_with("SCAN")), "{steps:?}");
    }

    #[test]
    fn a_directory_goes_with_those_below_it_and_no_others() {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        database.execute_batch(schema::TABLES).unwrap();
        let tables = Tables(&database);
        for path in ["a", "a/b", "a/b/c", "a-b", "a0", "ab", "A"] {
            tables.directory(path).unwrap();
        }
        tables.remove_directory("a").unwrap();
        let left = tables.directories().unwrap().into_iter().map(|(path, _)| path);
        assert_eq!(left.collect::<Vec<_>>(), ["A", "a-b", "a0", "ab"]);
    }
}
