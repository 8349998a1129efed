//! The schema of the database.

/// Marks a file as an index of urepo: `urpo`.
pub(super) const APPLICATION: i32 = 0x7572_706f;

/// The version of the schema. An index of another version is rebuilt.
pub(super) const VERSION: i32 = 7;

/// The tables.
///
/// - `about`: the id of the collection, the inode of the index file, and the number of logs begun.
/// - `directory`: the directories above items. `version`: the version last synchronised; `complete`: every
///   entry of that version has a row. `folded` is the common form of all spellings of the path.
/// - `item`: one row an item; `source` is case-folded. Row numbers are not reused, so that a row of `key` that outlived its item is
///   harmless. `search_keys_hash` covers the source and the contents of the tables below.
/// - `key`: exact search keys, such as the targets of relations, as the first 64 bits of their SHA-256.
/// - `file`: the paths of the payload, case-folded.
/// - `words`: full-text search of the descriptions; it stores no text.
/// - `pending`: items that writers are about to change, with the stage of each writer, which is empty for
///   a sidecar that could not be read.
pub(super) const TABLES: &str = "
CREATE TABLE about (
  collection TEXT NOT NULL, inode INTEGER, logged INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE directory (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, folded TEXT NOT NULL, version BLOB,
  complete INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX directory_by_folded ON directory (folded);
CREATE TABLE item (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  directory INTEGER NOT NULL, leaf TEXT NOT NULL, version BLOB, state INTEGER,
  created INTEGER NOT NULL,
  files INTEGER NOT NULL, bytes INTEGER NOT NULL,
  digest BLOB, title TEXT, metadata TEXT NOT NULL, source TEXT NOT NULL DEFAULT '', search_keys_hash INTEGER NOT NULL,
  UNIQUE (directory, leaf)
) STRICT;
CREATE INDEX item_by_date ON item (created);
CREATE TABLE key (
  hash INTEGER NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (hash, item)
) STRICT, WITHOUT ROWID;
CREATE TABLE file (
  item INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (item, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE pending (
  name TEXT NOT NULL, writer TEXT NOT NULL, PRIMARY KEY (name, writer)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
  title, creator, subject, other,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
";
