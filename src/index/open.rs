//! Opening and creating an index.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::schema::{TABLES, VERSION};
use super::{Index, IndexError, Tables};
use crate::wait::LONGEST_PAUSE;

/// Size of the page cache.
const CACHE_KIB: i64 = 32 * 1024;

impl Index {
    /// Opens the index in the file `path`, which is created if it is missing. Without a path the index is temporary.
    pub(crate) fn open(path: Option<&Path>) -> Result<Index, IndexError> {
        connect(path.unwrap_or(Path::new("")), OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens the index in the file `path`, if it is there and was completed.
    pub(crate) fn open_existing(path: &Path) -> Result<Option<Index>, IndexError> {
        let index = match connect(path, OpenFlags::empty()) {
            Err(error) if error.is_unwritable() => return Ok(None),
            opened => opened?,
        };
        Ok(index.mark()?.map(|_| index))
    }

    /// Empties the file `path`, whatever is in it.
    pub(crate) fn empty(path: &Path) -> Result<(), IndexError> {
        use rusqlite::config::DbConfig::SQLITE_DBCONFIG_RESET_DATABASE;
        let connection = Connection::open_with_flags(path, flags())?;
        connection.busy_timeout(LONGEST_PAUSE)?;
        connection.set_db_config(SQLITE_DBCONFIG_RESET_DATABASE, true)?;
        Ok(connection.execute_batch("VACUUM")?)
    }

    /// [`Tables::mark`].
    pub(crate) fn mark(&self) -> Result<Option<String>, IndexError> {
        self.tables().mark()
    }
}

impl Tables<'_> {
    /// The end of the ledger up to which the index follows it, as text; `None` if it was never completed, or by
    /// another version of urepo.
    pub(crate) fn mark(&self) -> Result<Option<String>, IndexError> {
        let version: i32 = self.0.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version != VERSION {
            return Ok(None);
        }
        let text = "SELECT mark FROM about";
        let mark = self.0.query_row(text, (), |row| row.get(0)).optional()?;
        Ok(mark.flatten())
    }

    /// Makes empty tables, in place of whatever tables there are.
    pub(crate) fn make(&self) -> Result<(), IndexError> {
        // The tables behind the one of the words go with it.
        let text = "SELECT name FROM sqlite_schema
                    WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name <> 'words'";
        let mut select = self.0.prepare(text)?;
        let names: Vec<String> =
            select.query_map((), |row| row.get(0))?.collect::<Result<_, _>>()?;
        for name in names {
            self.0.execute(&format!("DROP TABLE IF EXISTS \"{name}\""), ())?;
        }
        self.0.execute_batch(TABLES)?;
        self.0.execute("INSERT INTO about (mark) VALUES (NULL)", ())?;
        Ok(self.0.pragma_update(None, "user_version", VERSION)?)
    }

    /// Notes that the index follows the ledger up to `mark`.
    pub(crate) fn set_mark(&self, mark: Option<&str>) -> Result<(), IndexError> {
        self.0.execute("UPDATE about SET mark = ?1", [mark])?;
        Ok(())
    }
}

/// Opens a database. Another process has it for a moment, or while it builds the index: its user waits, and looks after
/// every pause whether a stop was requested.
fn connect(path: &Path, further: OpenFlags) -> Result<Index, IndexError> {
    let connection = Connection::open_with_flags(path, flags() | further)?;
    connection.busy_timeout(LONGEST_PAUSE)?;
    connection.pragma_update(None, "journal_mode", "TRUNCATE")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(Index { connection })
}

fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
}
