//! Records in the tables: put, found, forgotten.

use rusqlite::{OptionalExtension, Row, named_params};

use super::tables::{Tables, unsigned};
use super::{IndexError, Mark, Place, Record};
use crate::item::State;

/// What of a record is told without reading the sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub number: i64,
    pub created: i64,
    pub mark: Option<Mark>,
    pub state: Option<State>,
    pub files: u64,
    pub bytes: u64,
    pub title: Option<String>,
}

/// Whether there is a record of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// There is none.
    Nothing,
    /// There is one, made from the sidecar of this mark.
    With(Option<Mark>),
}

/// The columns of [`Kept`], in its order.
pub(super) const KEPT: &str =
    "item.id, item.created, item.mark, item.state, item.files, item.bytes, item.title";

impl Kept {
    /// Reads the columns of [`KEPT`], of which the first is at `at`.
    pub(super) fn read(row: &Row<'_>, at: usize) -> rusqlite::Result<Kept> {
        Ok(Kept {
            number: row.get(at)?,
            created: row.get(at + 1)?,
            mark: row.get(at + 2)?,
            state: row.get::<_, Option<u8>>(at + 3)?.and_then(state_of),
            files: unsigned(row.get(at + 4)?),
            bytes: unsigned(row.get(at + 5)?),
            title: row.get(at + 6)?,
        })
    }
}

impl Tables<'_> {
    /// Whether there is a record of the item called `leaf` in `place`, and its mark.
    pub(crate) fn known(&self, place: Place, leaf: &str) -> Result<Known, IndexError> {
        let text = "SELECT mark FROM item WHERE place = ?1 AND leaf = ?2";
        let mut select = self.0.prepare_cached(text)?;
        let mark = select.query_row((place.0, leaf), |row| row.get(0)).optional()?;
        Ok(mark.map_or(Known::Nothing, Known::With))
    }

    /// What is kept of the item called `leaf` in `place`.
    pub(crate) fn kept(&self, place: Place, leaf: &str) -> Result<Option<Kept>, IndexError> {
        let text = format!("SELECT {KEPT} FROM item WHERE place = ?1 AND leaf = ?2");
        let mut select = self.0.prepare_cached(&text)?;
        Ok(select.query_row((place.0, leaf), |row| Kept::read(row, 0)).optional()?)
    }

    /// Keeps `record` of the item called `leaf` in `place`, in place of what was kept of it.
    pub(crate) fn put(&self, place: Place, leaf: &str, record: &Record) -> Result<(), IndexError> {
        let digest = record.digest.as_ref().map(|digest| &digest.as_bytes()[..]);
        let finders = record.finders();
        let mut same = self.0.prepare_cached(
            "SELECT id, finders = ?3 AND digest IS ?4 AND metadata IS ?5
             FROM item WHERE place = ?1 AND leaf = ?2",
        )?;
        let described = (place.0, leaf, finders, digest, &record.metadata);
        let before = same
            .query_row(described, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?)))
            .optional()?;
        match before {
            // All that it can be found by is as it was.
            Some((id, true)) => return self.update(id, record),
            Some((id, false)) => self.forget_item(id)?,
            None => {}
        }
        self.0
            .prepare_cached(
                "INSERT INTO item (place, leaf, mark, state, created, files, bytes, digest, title,
                   metadata, finders)
                 VALUES (:place, :leaf, :mark, :state, :created, :files, :bytes, :digest,
                   :title, :metadata, :finders)",
            )?
            .execute(named_params! {
                ":place": place.0,
                ":leaf": leaf,
                ":mark": record.mark,
                ":state": record.state.map(number_of),
                ":created": record.created,
                ":files": signed(record.files),
                ":bytes": signed(record.bytes),
                ":digest": digest,
                ":title": record.title,
                ":metadata": record.metadata,
                ":finders": finders,
            })?;
        self.put_what_finds_it(self.0.last_insert_rowid(), record)
    }

    fn update(&self, id: i64, record: &Record) -> Result<(), IndexError> {
        self.0
            .prepare_cached(
                "UPDATE item SET mark = ?2, state = ?3, created = ?4, files = ?5, bytes = ?6
                 WHERE id = ?1",
            )?
            .execute((
                id,
                record.mark,
                record.state.map(number_of),
                record.created,
                signed(record.files),
                signed(record.bytes),
            ))?;
        Ok(())
    }

    fn put_what_finds_it(&self, id: i64, record: &Record) -> Result<(), IndexError> {
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

    /// Forgets the item called `leaf` in `place`.
    pub(crate) fn remove(&self, place: Place, leaf: &str) -> Result<(), IndexError> {
        let text = "SELECT id FROM item WHERE place = ?1 AND leaf = ?2";
        let mut select = self.0.prepare_cached(text)?;
        let id = select.query_row((place.0, leaf), |row| row.get(0)).optional()?;
        id.map_or(Ok(()), |id| self.forget_item(id))
    }

    /// Its keys stay: no other item gets its number.
    pub(super) fn forget_item(&self, id: i64) -> Result<(), IndexError> {
        self.0.prepare_cached("DELETE FROM item WHERE id = ?1")?.execute([id])?;
        self.0.prepare_cached("DELETE FROM file WHERE item = ?1")?.execute([id])?;
        self.0.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([id])?;
        Ok(())
    }

    /// Notes that `writer` is going to change the item `name`.
    pub(crate) fn announce(&self, name: &str, writer: &str) -> Result<(), IndexError> {
        let text = "INSERT OR IGNORE INTO pending VALUES (?1, ?2)";
        self.0.prepare_cached(text)?.execute((name, writer))?;
        Ok(())
    }

    /// Forgets that `writer` was going to change the item `name`.
    pub(crate) fn withdraw(&self, name: &str, writer: &str) -> Result<(), IndexError> {
        let text = "DELETE FROM pending WHERE name = ?1 AND writer = ?2";
        self.0.prepare_cached(text)?.execute((name, writer))?;
        Ok(())
    }

    /// What writers are about to change: names, and the stage of each writer.
    pub(crate) fn announced(&self) -> Result<Vec<(String, String)>, IndexError> {
        let mut select = self.0.prepare_cached("SELECT name, writer FROM pending")?;
        let rows = select.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// How a state is kept.
pub(super) fn number_of(state: State) -> u8 {
    match state {
        State::Original => 1,
        State::Copy => 2,
        State::Deleted => 3,
    }
}

pub(super) fn state_of(number: u8) -> Option<State> {
    [State::Original, State::Copy, State::Deleted]
        .into_iter()
        .find(|state| number_of(*state) == number)
}

/// `SQLite` has no unsigned numbers; no file system has what does not fit.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
