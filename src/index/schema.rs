//! The schema of the database.

/// The version of the schema. An index of another version is rebuilt.
pub(super) const VERSION: i32 = 9;

/// The tables.
///
/// - `about`: one row, with the end of the ledger up to which the index follows it.
/// - `directory`: the years. `folded` is the common form of all spellings of the path.
/// - `item`: one row an item; `source` is case-folded. Row numbers are not reused, so that a row of `key` or `day` that outlived its item
///   is harmless. `search_keys_hash` covers the source and the contents of the tables below.
/// - `key`: exact search keys, such as the targets of relations, as the first 64 bits of their SHA-256.
/// - `file`: the paths of the payload, case-folded.
/// - `day`: the days that the dates of an item may be, from the first to the last.
/// - `words`: full-text search of folded words, of which every one stands between blanks; it stores no text.
/// - `unread`: the names of items that could not be read because of an I/O error.
pub(super) const TABLES: &str = "
CREATE TABLE about (mark TEXT) STRICT;
CREATE TABLE directory (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, folded TEXT NOT NULL
) STRICT;
CREATE INDEX directory_by_folded ON directory (folded);
CREATE TABLE item (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  directory INTEGER NOT NULL, leaf TEXT NOT NULL, version BLOB, state INTEGER,
  created INTEGER NOT NULL,
  files INTEGER NOT NULL, bytes INTEGER NOT NULL,
  digest BLOB, title TEXT, metadata TEXT NOT NULL, source TEXT NOT NULL, search_keys_hash INTEGER NOT NULL,
  UNIQUE (directory, leaf)
) STRICT;
CREATE INDEX item_by_date ON item (created);
CREATE TABLE key (
  hash INTEGER NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (hash, item)
) STRICT, WITHOUT ROWID;
CREATE TABLE file (
  item INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (item, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE day (
  term TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, item INTEGER NOT NULL,
  PRIMARY KEY (term, first, last, item)
) STRICT, WITHOUT ROWID;
CREATE TABLE unread (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
  title, creator, subject, other, names,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);
";
