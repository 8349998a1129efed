//! Opening an index, and making one.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::Uselessness;
use super::schema::{APPLICATION, TABLES, VERSION};
use super::{Index, IndexError};

/// Writers hold the database for the time it takes to read a group of sidecars.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many bytes of the database are kept in memory.
const CACHE_KIB: i64 = 32 * 1024;

/// How far a file system can be trusted with a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Footing {
    /// Readers and a writer at once, by memory that processes share.
    Local,
    /// Memory is not shared between machines: one at a time.
    Network,
}

impl Index {
    /// Opens the index at `path`, which has no links in it, of the collection with the id `collection`.
    pub(crate) fn open(
        path: &Path,
        collection: &str,
        footing: Footing,
    ) -> Result<Index, IndexError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        harden(&connection)?;
        let useless = |cause| IndexError::Useless { path: path.to_path_buf(), cause };
        let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        if number("application_id")? != APPLICATION || number("user_version")? != VERSION {
            return Err(useless(Uselessness::Foreign));
        }
        let of: String =
            connection.query_row("SELECT collection FROM about", (), |row| row.get(0))?;
        if of != collection {
            return Err(useless(Uselessness::OtherCollection(of)));
        }
        let journal = match footing {
            Footing::Local => "WAL",
            Footing::Network => "TRUNCATE",
        };
        connection.pragma_update(None, "journal_mode", journal)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // Whoever writes a single item does not pay for bringing the log into the database.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Ok(Index { connection })
    }

    /// Opens an index that this process has made and that is not in its place yet.
    pub(crate) fn reopen(path: &Path) -> Result<Index, IndexError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        harden(&connection)?;
        Ok(Index { connection })
    }

    /// Makes an empty index at `path`, where nothing is, for one process to fill; it is not synced.
    /// Without a path it is kept in a place that is gone with it.
    pub(crate) fn create(path: Option<&Path>, collection: &str) -> Result<Index, IndexError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path.unwrap_or(Path::new("")), flags)?;
        harden(&connection)?;
        connection.pragma_update(None, "journal_mode", "OFF")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.execute_batch(TABLES)?;
        connection.execute("INSERT INTO about VALUES (?1)", [collection])?;
        connection.pragma_update(None, "application_id", APPLICATION)?;
        connection.pragma_update(None, "user_version", VERSION)?;
        Ok(Index { connection })
    }
}

/// What holds for any file, whoever made it.
fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}
