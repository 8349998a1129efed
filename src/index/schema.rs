//! The tables.

/// Says that a file is an index of ours: `urpo`.
pub(super) const APPLICATION: i32 = 0x7572_706f;

/// Another number, another schema: an index of another one is made anew.
pub(super) const VERSION: i32 = 4;

/// The tables.
///
/// - `about`: whose index it is, the inode of the file that it was made as, and how many logs were begun.
/// - `place`: the directories above items. `mark` is that up to which its changes are known, `listed`
///   that nothing can be in it that is not. `folded` is what all spellings of its path share.
/// - `item`: a record each. Identity numbers are not given again, so that a row of `key` that has
///   outlived its item means nothing. `finders` stands for all that is in the tables below.
/// - `key`: exact things an item can be found by, as the first 64 bits of their SHA-256.
/// - `file`: the paths of the payload, folded.
/// - `words`: the description, for full text; it keeps no texts.
/// - `pending`: items that writers are about to change, and the stage of each writer; none: one that
///   could not be read.
pub(super) const TABLES: &str = "
CREATE TABLE about (
  collection TEXT NOT NULL, inode INTEGER, logged INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE place (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, folded TEXT NOT NULL, mark BLOB,
  listed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX place_by_folded ON place (folded);
CREATE TABLE item (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  place INTEGER NOT NULL, leaf TEXT NOT NULL, mark BLOB, state INTEGER,
  created INTEGER NOT NULL,
  files INTEGER NOT NULL, bytes INTEGER NOT NULL,
  digest BLOB, title TEXT, metadata TEXT NOT NULL, finders INTEGER NOT NULL,
  UNIQUE (place, leaf)
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
