//! The rows of items.

use rusqlite::{OptionalExtension, Row, named_params};

use super::directories::DirectoryId;
use super::record::Words;
use super::tables::{Tables, unsigned};
use super::{IndexError, Record};
use crate::disk::Version;
use crate::item::State;

/// The row of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ItemRow {
    pub number: i64,
    pub created: i64,
    pub version: Option<Version>,
    pub state: Option<State>,
    pub files: u64,
    pub bytes: u64,
    pub title: Option<String>,
}

/// The columns of [`ItemRow`], in its order.
pub(super) const ITEM_COLUMNS: &str =
    "item.id, item.created, item.version, item.state, item.files, item.bytes, item.title";

impl ItemRow {
    /// Reads the columns of [`ITEM_COLUMNS`], of which the first is at `at`.
    pub(super) fn read(row: &Row<'_>, at: usize) -> rusqlite::Result<ItemRow> {
        Ok(ItemRow {
            number: row.get(at)?,
            created: row.get(at + 1)?,
            version: row.get(at + 2)?,
            state: row.get::<_, Option<u8>>(at + 3)?.and_then(state_of),
            files: unsigned(row.get(at + 4)?),
            bytes: unsigned(row.get(at + 5)?),
            title: row.get(at + 6)?,
        })
    }
}

impl Tables<'_> {
    /// The rows of the items `leaves` in `directory`, one for each, are added to `rows`.
    pub(crate) fn add_items<'a>(
        &self,
        directory: DirectoryId,
        leaves: impl Iterator<Item = &'a str>,
        rows: &mut Vec<Option<ItemRow>>,
    ) -> Result<(), IndexError> {
        let text = format!("SELECT {ITEM_COLUMNS} FROM item WHERE directory = ?1 AND leaf = ?2");
        let mut select = self.0.prepare_cached(&text)?;
        for leaf in leaves {
            let row = select.query_row((directory.0, leaf), |row| ItemRow::read(row, 0));
            rows.push(row.optional()?);
        }
        Ok(())
    }

    /// Replaces the row of the item called `leaf` in the directory at `path` by `record`.
    pub(crate) fn put(&self, path: &str, leaf: &str, record: &Record) -> Result<(), IndexError> {
        let directory = self.directory(path)?;
        let digest = record.digest.as_ref().map(|digest| &digest.as_bytes()[..]);
        let search_keys_hash = record.search_keys_hash();
        let mut same = self.0.prepare_cached(
            "SELECT id, search_keys_hash = ?3 AND digest IS ?4 AND metadata IS ?5
             FROM item WHERE directory = ?1 AND leaf = ?2",
        )?;
        let described = (directory.0, leaf, search_keys_hash, digest, &record.metadata);
        let before = same
            .query_row(described, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?)))
            .optional()?;
        match before {
            // The search keys are unchanged.
            Some((id, true)) => return self.update(id, record),
            Some((id, false)) => self.forget_item(id)?,
            None => {}
        }
        self.0
            .prepare_cached(
                "INSERT INTO item (directory, leaf, version, state, created, files, bytes, digest, title,
                   metadata, source, search_keys_hash)
                 VALUES (:directory, :leaf, :version, :state, :created, :files, :bytes, :digest,
                   :title, :metadata, :source, :search_keys_hash)",
            )?
            .execute(named_params! {
                ":directory": directory.0,
                ":leaf": leaf,
                ":version": record.version,
                ":state": record.state.map(number_of),
                ":created": record.created,
                ":files": signed(record.files),
                ":bytes": signed(record.bytes),
                ":digest": digest,
                ":title": record.title,
                ":metadata": record.metadata,
                ":source": record.source,
                ":search_keys_hash": search_keys_hash,
            })?;
        self.put_search_keys(self.0.last_insert_rowid(), record)
    }

    fn update(&self, id: i64, record: &Record) -> Result<(), IndexError> {
        self.0
            .prepare_cached(
                "UPDATE item SET version = ?2, state = ?3, created = ?4, files = ?5, bytes = ?6
                 WHERE id = ?1",
            )?
            .execute((
                id,
                record.version,
                record.state.map(number_of),
                record.created,
                signed(record.files),
                signed(record.bytes),
            ))?;
        Ok(())
    }

    fn put_search_keys(&self, id: i64, record: &Record) -> Result<(), IndexError> {
        let mut insert = self.0.prepare_cached("INSERT OR IGNORE INTO key VALUES (?1, ?2)")?;
        for key in &record.keys {
            insert.execute((key, id))?;
        }
        let mut insert = self.0.prepare_cached("INSERT OR IGNORE INTO file VALUES (?1, ?2)")?;
        for path in &record.paths {
            insert.execute((id, path))?;
        }
        let text = "INSERT OR IGNORE INTO day VALUES (?1, ?2, ?3, ?4)";
        let mut insert = self.0.prepare_cached(text)?;
        for (term, first, last) in &record.days {
            insert.execute((term, first, last, id))?;
        }
        let Words { title, creator, subject, other, names } = &record.words;
        if [title, creator, subject, other, names].iter().any(|text| !text.is_empty()) {
            let text = "INSERT INTO words (rowid, title, creator, subject, other, names)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let mut insert = self.0.prepare_cached(text)?;
            insert.execute((id, title, creator, subject, other, names))?;
        }
        Ok(())
    }

    /// Removes the rows of the items called `leaf` in the spellings of the directory at `path`, unless that one is
    /// `present`.
    pub(crate) fn remove(
        &self,
        path: &str,
        leaf: &str,
        present: Option<&str>,
    ) -> Result<(), IndexError> {
        let present = present.map_or(Ok(None), |path| self.directory_if_known(path))?;
        let text = "SELECT id FROM item WHERE directory = ?1 AND leaf = ?2";
        let mut select = self.0.prepare_cached(text)?;
        for directory in self.spellings(path)? {
            if present == Some(directory) {
                continue;
            }
            let id = select.query_row((directory.0, leaf), |row| row.get(0)).optional()?;
            id.map_or(Ok(()), |id| self.forget_item(id))?;
        }
        Ok(())
    }

    /// Removes a row. Its keys stay, as no other item gets its number.
    pub(super) fn forget_item(&self, id: i64) -> Result<(), IndexError> {
        self.0.prepare_cached("DELETE FROM item WHERE id = ?1")?.execute([id])?;
        self.0.prepare_cached("DELETE FROM file WHERE item = ?1")?.execute([id])?;
        self.0.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([id])?;
        Ok(())
    }

    /// Notes that an item could not be read.
    pub(crate) fn put_unread(&self, name: &str) -> Result<(), IndexError> {
        self.0.prepare_cached("INSERT OR IGNORE INTO unread VALUES (?1)")?.execute([name])?;
        Ok(())
    }

    /// The names of items that could not be read.
    pub(crate) fn unread(&self) -> Result<Vec<String>, IndexError> {
        let mut select = self.0.prepare_cached("SELECT name FROM unread")?;
        let rows = select.query_map((), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Removes these names.
    pub(crate) fn clear_unread(&self) -> Result<(), IndexError> {
        self.0.execute("DELETE FROM unread", ())?;
        Ok(())
    }
}

/// The number that stands for a state.
pub(super) fn number_of(state: State) -> u8 {
    match state {
        State::Original => 1,
        State::Copy => 2,
        State::Deleted => 3,
        State::Elsewhere => 4,
    }
}

pub(super) fn state_of(number: u8) -> Option<State> {
    [State::Original, State::Copy, State::Elsewhere, State::Deleted]
        .into_iter()
        .find(|state| number_of(*state) == number)
}

/// `SQLite` has no unsigned integers. Larger numbers than fit do not occur on any file system.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
