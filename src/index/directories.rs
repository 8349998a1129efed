//! The directories of items: the years.

use rusqlite::OptionalExtension;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use super::IndexError;
use super::tables::Tables;
use crate::disk::Version;

/// The row number of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DirectoryId(pub(super) i64);

impl Tables<'_> {
    /// The directory at `path`, relative to the root; added if it is new.
    pub(super) fn directory(&self, path: &str) -> Result<DirectoryId, IndexError> {
        if let Some(found) = self.directory_if_known(path)? {
            return Ok(found);
        }
        let mut insert =
            self.0.prepare_cached("INSERT INTO directory (path, folded) VALUES (?1, ?2)")?;
        insert.execute((path, folded(path)))?;
        Ok(DirectoryId(self.0.last_insert_rowid()))
    }

    /// The directory at `path`, if it has a row.
    pub(crate) fn directory_if_known(&self, path: &str) -> Result<Option<DirectoryId>, IndexError> {
        let mut select = self.0.prepare_cached("SELECT id FROM directory WHERE path = ?1")?;
        Ok(select.query_row([path], |row| Ok(DirectoryId(row.get(0)?))).optional()?)
    }

    /// All spellings of the directory at `path`.
    pub(super) fn spellings(&self, path: &str) -> Result<Vec<DirectoryId>, IndexError> {
        let mut select = self.0.prepare_cached("SELECT id FROM directory WHERE folded = ?1")?;
        let rows = select.query_map([folded(path)], |row| Ok(DirectoryId(row.get(0)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
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
