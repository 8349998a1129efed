//! Opening an index, and making one.

use std::path::Path;
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
    /// Opens an index, and says whether it can be relied on: not if it may be older than it seems.
    pub(crate) fn open(opening: &Opening<'_>) -> Result<(Index, bool), IndexError> {
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
        let (of, known): (String, Option<i64>) =
            connection.query_row("SELECT collection, inode FROM about", (), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        if of != collection {
            return Err(useless(Uselessness::OtherCollection(of)));
        }
        let before: String = connection.pragma_query_value(None, "journal_mode", |it| it.get(0))?;
        let lacks_log = before == "wal" && !has_log;
        let journal = match footing {
            Footing::Local => "WAL",
            Footing::Network => "TRUNCATE",
        };
        connection.pragma_update(None, "journal_mode", journal)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let is_that_file = known == Some(inode.cast_signed());
        Ok((Index { connection, inode: Some(inode) }, is_that_file && !lacks_log))
    }

    /// Notes that the index is right, as the file that it is now. That is always a change: from then on
    /// there is a log, and one that has nothing in it has been emptied.
    pub(crate) fn vouch(&self) -> Result<(), IndexError> {
        let inode = self.inode.map(u64::cast_signed);
        let text = "UPDATE about SET inode = ?1, vouched = vouched + 1";
        self.connection.execute(text, [inode])?;
        Ok(())
    }

    /// Opens an index that this process has made and that is not in its place yet.
    pub(crate) fn reopen(path: &Path) -> Result<Index, IndexError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        harden(&connection)?;
        Ok(Index { connection, inode: None })
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
        connection.execute("INSERT INTO about (collection) VALUES (?1)", [collection])?;
        connection.pragma_update(None, "application_id", APPLICATION)?;
        connection.pragma_update(None, "user_version", VERSION)?;
        Ok(Index { connection, inode: None })
    }

    /// Says as which file an index is made, that nobody else sees yet.
    pub(crate) fn is_made_as(&mut self, inode: u64) -> Result<(), IndexError> {
        self.inode = Some(inode);
        self.vouch()
    }
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
