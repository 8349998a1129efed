//! Places: the directories above items, and whether they have been listed since they last changed.

use rusqlite::OptionalExtension;

use super::tables::{Tables, unsigned};
use super::{IndexError, Mark};

/// The number of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(pub(super) i64);

/// What is known of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// All that was changed before it had this mark is known.
    pub mark: Option<Mark>,
    /// Nothing has been added since it was listed but by urepo.
    pub listed: bool,
}

impl Tables<'_> {
    /// The place at `path`, relative to the root, and what is known of it; noted if it is new.
    pub(crate) fn place(&self, path: &str) -> Result<(Place, Seen), IndexError> {
        if let Some(found) = self.place_if_there(path)? {
            return Ok(found);
        }
        let mut insert =
            self.0.prepare_cached("INSERT INTO place (path, folded) VALUES (?1, ?2)")?;
        insert.execute((path, folded(path)))?;
        Ok((Place(self.0.last_insert_rowid()), Seen::default()))
    }

    /// The place at `path`, unless nothing is known of it.
    pub(crate) fn place_if_there(&self, path: &str) -> Result<Option<(Place, Seen)>, IndexError> {
        let text = "SELECT id, mark, listed FROM place WHERE path = ?1";
        let mut select = self.0.prepare_cached(text)?;
        let found = select.query_row([path], |row| Ok((Place(row.get(0)?), Seen::read(row)?)));
        Ok(found.optional()?)
    }

    /// All spellings of the place at `path`.
    pub(crate) fn spellings(&self, path: &str) -> Result<Vec<Place>, IndexError> {
        let mut select = self.0.prepare_cached("SELECT id FROM place WHERE folded = ?1")?;
        let rows = select.query_map([folded(path)], |row| Ok(Place(row.get(0)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Every place, those above before those below.
    pub(crate) fn places(&self) -> Result<Vec<(String, Seen)>, IndexError> {
        let text = "SELECT path, mark, listed FROM place ORDER BY path";
        let mut select = self.0.prepare_cached(text)?;
        let rows = select.query_map((), |row| Ok((row.get(0)?, Seen::read(row)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes what is known of `place`.
    pub(crate) fn mark_place(&self, place: Place, seen: Seen) -> Result<(), IndexError> {
        let text = "UPDATE place SET mark = ?2, listed = ?3 WHERE id = ?1";
        self.0.prepare_cached(text)?.execute((place.0, seen.mark, seen.listed))?;
        Ok(())
    }

    /// How many items are known in `place`.
    pub(crate) fn count_in(&self, place: Place) -> Result<u64, IndexError> {
        let mut count = self.0.prepare_cached("SELECT count(*) FROM item WHERE place = ?1")?;
        Ok(unsigned(count.query_row([place.0], |row| row.get(0))?))
    }

    /// Calls `visit` with the names in `place` that come after `after`, in the order of their bytes,
    /// `limit` at most.
    pub(crate) fn names_in(
        &self,
        place: Place,
        after: &str,
        limit: usize,
    ) -> Result<Vec<String>, IndexError> {
        let mut select = self.0.prepare_cached(
            "SELECT leaf FROM item WHERE place = ?1 AND leaf > ?2 ORDER BY leaf LIMIT ?3",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = select.query_map((place.0, after, limit), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Forgets the place at `path`, all places below it, and their items: so many.
    pub(crate) fn remove_place(&self, path: &str) -> Result<u64, IndexError> {
        let mut select = self
            .0
            .prepare_cached("SELECT id FROM place WHERE path = ?1 OR (path > ?2 AND path < ?3)")?;
        // `0` is the character after `/`.
        let (below, end) = (format!("{path}/"), format!("{path}0"));
        let places: Vec<i64> =
            select.query_map((path, &below, &end), |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut gone = 0;
        for place in places {
            let items = "(SELECT id FROM item WHERE place = ?1)";
            self.0.execute(&format!("DELETE FROM file WHERE item IN {items}"), [place])?;
            self.0.execute(&format!("DELETE FROM words WHERE rowid IN {items}"), [place])?;
            gone += self.0.execute("DELETE FROM item WHERE place = ?1", [place])?;
            self.0.execute("DELETE FROM place WHERE id = ?1", [place])?;
        }
        Ok(gone as u64)
    }
}

impl Seen {
    /// Reads the columns after the first.
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Seen> {
        Ok(Seen { mark: row.get(1)?, listed: row.get(2)? })
    }
}

/// What all spellings of a path share: lower case, no dot at the end of the subdomain.
fn folded(path: &str) -> String {
    let lower = path.to_ascii_lowercase();
    match lower.split_once('/') {
        Some((subdomain, rest)) => format!("{}/{rest}", subdomain.trim_end_matches('.')),
        None => lower,
    }
}
