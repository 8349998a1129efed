//! Items that were found damaged, whose dates of verification are removed.
//!
//! The dates belong to the run that holds their lock. Other runs note damaged items in files of their own
//! beside the dates, which the lock holder or the next run reads and removes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::dates::{forget, leaf_of, year_file};
use crate::disk::{Dir, IoContext, PathError, random_hex};
use crate::identity::RepositoryName;

/// Prefix of a note's name. The files of years begin with a name or a digest, those of rounds with `round`.
const NOTE: &str = "+damaged-";

/// The leaves of damaged items, by the files of their years.
#[derive(Debug, Default)]
pub(super) struct Damaged(BTreeMap<String, BTreeSet<String>>);

impl Damaged {
    pub(super) fn of(names: &[RepositoryName]) -> Damaged {
        let mut damaged = Damaged::default();
        for name in names {
            damaged.insert(name);
        }
        damaged
    }

    /// The items noted in `dir`.
    pub(super) fn noted(dir: &Dir) -> Damaged {
        let mut damaged = Damaged::default();
        for note in notes(dir) {
            damaged.read(dir, &note);
        }
        damaged
    }

    /// Removes the dates of the items noted in `dir`, then the notes. The caller holds the lock of the dates.
    pub(super) fn settle(dir: &Dir) {
        for note in notes(dir) {
            let mut damaged = Damaged::default();
            if damaged.read(dir, &note) {
                damaged.forget(dir);
                // If it stays, the next run reads it again.
                let _ = dir.remove_file_if_there(&note);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, name: &RepositoryName) -> bool {
        !self.is_empty()
            && self.0.get(&year_file(name)).is_some_and(|leaves| leaves.contains(leaf_of(name)))
    }

    /// Removes the dates of these items in `dir`. The caller holds the lock of the dates.
    pub(super) fn forget(&self, dir: &Dir) {
        for (file, leaves) in &self.0 {
            if forget(dir, file, leaves).is_err() {
                let _ = dir.remove_file_if_there(Path::new(file));
            }
        }
    }

    /// Adds the names in `note`, which may be those of adopted items, and returns whether it could be read.
    fn read(&mut self, dir: &Dir, note: &Path) -> bool {
        let Ok(Some(file)) = dir.open_file_if_there(note) else { return false };
        for line in BufReader::new(file).lines() {
            let Ok(line) = line else { return false };
            if let Ok((name, _)) = RepositoryName::parse_as_found(&line) {
                self.insert(&name);
            }
        }
        true
    }

    fn insert(&mut self, name: &RepositoryName) {
        self.0.entry(year_file(name)).or_default().insert(leaf_of(name).to_owned());
    }
}

/// Notes in `dir` that `names` are damaged, for the lock holder there.
pub(super) fn note(dir: &Dir, names: &[RepositoryName]) -> Result<(), PathError> {
    let text: String = names.iter().flat_map(|name| [name.as_str(), "\n"]).collect();
    let note = NOTE.to_owned() + &random_hex::<8>().on("name a note in", dir.path())?;
    dir.replace_file(&note, text.as_bytes())
}

/// The notes in `dir`.
fn notes(dir: &Dir) -> Vec<PathBuf> {
    let Ok(entries) = dir.entries() else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.name.into_string().ok());
    // A note that is being written has an extension.
    let is_note = |name: &String| name.starts_with(NOTE) && !name.contains('.');
    names.filter(is_note).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Watcher;

    #[test]
    fn names_that_adopted_trees_have_are_noted() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path(), Watcher::default()).unwrap();
        let (name, _) =
            RepositoryName::parse_as_found("example.org/old_word/2026/11.21.02.13").unwrap();
        assert!(name.as_str().parse::<RepositoryName>().is_err());
        note(&dir, std::slice::from_ref(&name)).unwrap();
        assert!(Damaged::noted(&dir).contains(&name));
        Damaged::settle(&dir);
        assert!(Damaged::noted(&dir).is_empty());
    }
}
