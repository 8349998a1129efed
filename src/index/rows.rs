//! The rows of items.

use rusqlite::{OptionalExtension, Row, named_params};

use super::tables::{Tables, unsigned};
use super::{DirectoryId, IndexError, Record};
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

/// The version of the sidecar that a row was made from; `None` if the item had no readable sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordedVersion(pub Option<Version>);

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
    /// The version recorded for the item `leaf` in `directory`, if it has a row.
    pub(crate) fn recorded_version(
        &self,
        directory: DirectoryId,
        leaf: &str,
    ) -> Result<Option<RecordedVersion>, IndexError> {
        let text = "SELECT version FROM item WHERE directory = ?1 AND leaf = ?2";
        let mut select = self.0.prepare_cached(text)?;
        let found = select.query_row((directory.0, leaf), |row| Ok(RecordedVersion(row.get(0)?)));
        Ok(found.optional()?)
    }

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

    /// Replaces the row of the item `leaf` in `directory` by `record`.
    pub(crate) fn put(
        &self,
        directory: DirectoryId,
        leaf: &str,
        record: &Record,
    ) -> Result<(), IndexError> {
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
        let words = &record.words;
        let texts = [&words.title, &words.creator, &words.subject, &words.other];
        if texts.iter().any(|text| !text.is_empty()) {
            let text = "INSERT INTO words (rowid, title, creator, subject, other)
                        VALUES (?1, ?2, ?3, ?4, ?5)";
            let mut insert = self.0.prepare_cached(text)?;
            insert.execute((id, texts[0], texts[1], texts[2], texts[3]))?;
        }
        Ok(())
    }

    /// Removes the row of the item `leaf` in `directory`, if there is one.
    pub(crate) fn remove(&self, directory: DirectoryId, leaf: &str) -> Result<(), IndexError> {
        let text = "SELECT id FROM item WHERE directory = ?1 AND leaf = ?2";
        let mut select = self.0.prepare_cached(text)?;
        let id = select.query_row((directory.0, leaf), |row| row.get(0)).optional()?;
        id.map_or(Ok(()), |id| self.forget_item(id))
    }

    /// Removes a row. Its keys stay, as no other item gets its number.
    pub(super) fn forget_item(&self, id: i64) -> Result<(), IndexError> {
        self.0.prepare_cached("DELETE FROM item WHERE id = ?1")?.execute([id])?;
        self.0.prepare_cached("DELETE FROM file WHERE item = ?1")?.execute([id])?;
        self.0.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([id])?;
        Ok(())
    }

    /// Logs that `writer` is about to change the item `name`.
    pub(crate) fn log_intent(&self, name: &str, writer: &str) -> Result<(), IndexError> {
        let text = "INSERT OR IGNORE INTO pending VALUES (?1, ?2)";
        self.0.prepare_cached(text)?.execute((name, writer))?;
        Ok(())
    }

    /// Clears the intent of `writer` to change the item `name`.
    pub(crate) fn clear_intent(&self, name: &str, writer: &str) -> Result<(), IndexError> {
        let text = "DELETE FROM pending WHERE name = ?1 AND writer = ?2";
        self.0.prepare_cached(text)?.execute((name, writer))?;
        Ok(())
    }

    /// The items that writers are about to change, each with the stage of its writer.
    pub(crate) fn intents(&self) -> Result<Vec<(String, String)>, IndexError> {
        let mut select = self.0.prepare_cached("SELECT name, writer FROM pending")?;
        let rows = select.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
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
