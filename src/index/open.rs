//! Opening an index, and making one.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::Uselessness;
use super::schema::{APPLICATION, TABLES, VERSION};
use super::{Index, IndexError};

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

/// How an index is to be opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening<'a> {
    /// Where it is, without links on the way.
    pub path: &'a Path,
    /// The id of the collection.
    pub collection: &'a str,
    pub footing: Footing,
    /// The inode of the file.
    pub inode: u64,
    /// Whether there is a log that belongs to a database.
    pub has_log: bool,
    /// How long to wait for others that write.
    pub patience: Duration,
}

impl Index {
    /// Opens an index.
    pub(crate) fn open(opening: &Opening<'_>) -> Result<Index, IndexError> {
        let Opening { path, collection, footing, inode, has_log, patience } = *opening;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        harden(&connection)?;
        connection.busy_timeout(patience)?;
        // Whoever writes a single item does not pay for bringing the log into the database.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        let useless = |cause| IndexError::Useless { path: path.to_path_buf(), cause };
        let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        if number("application_id")? != APPLICATION || number("user_version")? != VERSION {
            return Err(useless(Uselessness::Foreign));
        }
        if shape(&connection)? != expected_shape()? {
            return Err(useless(Uselessness::Foreign));
        }
        let (of, known): (String, Option<i64>) =
            connection.query_row("SELECT collection, inode FROM about", (), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        if of != collection {
            return Err(useless(Uselessness::OtherCollection(of)));
        }
        let before: String = connection.pragma_query_value(None, "journal_mode", |it| it.get(0))?;
        if known != Some(inode.cast_signed()) {
            return Err(useless(Uselessness::Moved));
        }
        if before == "wal" && !has_log {
            return Err(useless(Uselessness::LostLog));
        }
        let journal = match footing {
            Footing::Local => "WAL",
            Footing::Network => "TRUNCATE",
        };
        connection.pragma_update(None, "journal_mode", journal)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        if !before.eq_ignore_ascii_case(journal) {
            // From now on a log that has nothing in it has been emptied.
            connection.execute("UPDATE about SET logged = logged + 1", ())?;
        }
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

    /// Makes an empty index at `path`, an empty file, for one process to fill; it is not synced.
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
        connection.execute("INSERT INTO about (collection) VALUES (?1)", [collection])?;
        connection.pragma_update(None, "application_id", APPLICATION)?;
        connection.pragma_update(None, "user_version", VERSION)?;
        Ok(Index { connection })
    }

    /// Says as which file an index is made, that nobody else sees yet.
    pub(crate) fn is_made_as(&mut self, inode: u64) -> Result<(), IndexError> {
        self.connection.execute("UPDATE about SET inode = ?1", [inode.cast_signed()])?;
        Ok(())
    }
}

/// The text of the schema, all of it.
fn shape(connection: &Connection) -> rusqlite::Result<String> {
    let text = "SELECT coalesce(group_concat(type || name || sql, ';'), '')
                FROM (SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name)";
    connection.query_row(text, (), |row| row.get(0))
}

/// What [`shape`] is of an index of ours.
fn expected_shape() -> rusqlite::Result<&'static str> {
    static EXPECTED: OnceLock<String> = OnceLock::new();
    if let Some(expected) = EXPECTED.get() {
        return Ok(expected);
    }
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(TABLES)?;
    let shape = shape(&connection)?;
    Ok(EXPECTED.get_or_init(|| shape))
}

/// What holds for any file, whoever made it.
fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}
