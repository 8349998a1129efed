//! Opening and creating an index.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::Invalid;
use super::schema::{APPLICATION, TABLES, VERSION};
use super::{Index, IndexError};

/// Size of the page cache.
const CACHE_KIB: i64 = 32 * 1024;

/// The journal that the file system allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalMode {
    /// A write-ahead log: readers run beside a writer, by shared memory.
    Local,
    /// A rollback journal: machines share no memory, so one process at a time has access.
    Network,
}

/// Whether the database has a write-ahead log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogState {
    /// There is a log that begins as `SQLite`'s do.
    Present,
    /// There is neither a log nor shared memory: the state after the last user closed the database cleanly,
    /// which urepo never does.
    Removed,
    /// The log is gone or damaged.
    Lost,
}

/// Options for opening an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenOptions<'a> {
    /// Its path, without symbolic links.
    pub path: &'a Path,
    /// The id of the collection.
    pub collection: &'a str,
    pub journal_mode: JournalMode,
    /// The inode of the file.
    pub inode: u64,
    pub log: LogState,
    /// Time limit for waiting for other writers.
    pub patience: Duration,
}

impl Index {
    /// Opens an index.
    pub(crate) fn open(opening: &OpenOptions<'_>) -> Result<Index, IndexError> {
        let OpenOptions { path, collection, journal_mode, inode, log, patience } = *opening;
        let connection = connect(path, OpenFlags::empty())?;
        connection.busy_timeout(patience)?;
        // Writing a single item does not pay for a checkpoint.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        let invalid = |cause| IndexError::Invalid { path: path.to_path_buf(), cause };
        let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        if number("application_id")? != APPLICATION || number("user_version")? != VERSION {
            return Err(invalid(Invalid::Foreign));
        }
        if shape(&connection)? != expected_shape()? {
            return Err(invalid(Invalid::Foreign));
        }
        let (of, known): (String, Option<i64>) =
            connection.query_row("SELECT collection, inode FROM about", (), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        if of != collection {
            return Err(invalid(Invalid::OtherCollection(of)));
        }
        let mut before: String =
            connection.pragma_query_value(None, "journal_mode", |it| it.get(0))?;
        if known != Some(inode.cast_signed()) {
            return Err(invalid(Invalid::Moved));
        }
        if before == "wal" {
            match log {
                LogState::Present => {}
                LogState::Removed if adopt_closed(&connection)? => "delete".clone_into(&mut before),
                LogState::Removed | LogState::Lost => return Err(invalid(Invalid::LostLog)),
            }
        }
        let journal = match journal_mode {
            JournalMode::Local => "WAL",
            JournalMode::Network => "TRUNCATE",
        };
        connection.pragma_update(None, "journal_mode", journal)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        if !before.eq_ignore_ascii_case(journal) {
            // The log gets its first frame now: from here on an empty log has lost something.
            connection.execute("UPDATE about SET logged = logged + 1", ())?;
        }
        Ok(Index { connection })
    }

    /// Opens an index that this process has built and not yet published.
    pub(crate) fn reopen(path: &Path) -> Result<Index, IndexError> {
        Ok(Index { connection: connect(path, OpenFlags::empty())? })
    }

    /// Creates an index in the empty file `path`, for one process to fill; it is not synced. Without a
    /// path the index is temporary.
    pub(crate) fn create(path: Option<&Path>, collection: &str) -> Result<Index, IndexError> {
        let path = path.unwrap_or(Path::new(""));
        let connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        connection.pragma_update(None, "journal_mode", "OFF")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.execute_batch(TABLES)?;
        connection.execute("INSERT INTO about (collection) VALUES (?1)", [collection])?;
        connection.pragma_update(None, "application_id", APPLICATION)?;
        connection.pragma_update(None, "user_version", VERSION)?;
        Ok(Index { connection })
    }

    /// Records the inode of the file of an unpublished index.
    pub(crate) fn set_inode(&mut self, inode: u64) -> Result<(), IndexError> {
        self.connection.execute("UPDATE about SET inode = ?1", [inode.cast_signed()])?;
        Ok(())
    }
}

/// Takes over a database whose log another program removed. `false` if the database is in use or damaged:
/// then its log was not removed by a clean close.
///
/// The contents of the lost log are unknown, so every sidecar has to be compared.
fn adopt_closed(connection: &Connection) -> Result<bool, IndexError> {
    let read = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    // Leaving WAL mode takes an exclusive lock, which fails while anybody has the database open.
    match connection.pragma_update_and_check(None, "journal_mode", "DELETE", read) {
        Ok(mode) if mode == "delete" => {}
        Ok(_) => return Ok(false),
        Err(error) if IndexError::is_lock_error(&error) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    if connection.query_row("PRAGMA integrity_check(1)", (), read)? != "ok" {
        return Ok(false);
    }
    connection.execute("UPDATE directory SET version = NULL, complete = 0", ())?;
    Ok(true)
}

/// The text of the schema, all of it.
fn shape(connection: &Connection) -> rusqlite::Result<String> {
    let text = "SELECT coalesce(group_concat(type || name || sql, ';'), '')
                FROM (SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name)";
    connection.query_row(text, (), |row| row.get(0))
}

/// The [`shape`] of an index of this version.
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

/// Opens a database, with settings against hostile files.
fn connect(path: &Path, further: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags | further)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}
