//! Directories of years, each opened once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Collection;
use crate::disk::{Dir, PathError};

/// Directories of years, each opened once, for those who look at many items.
pub(crate) struct Years<'a> {
    collection: &'a Collection,
    dirs: BTreeMap<PathBuf, Option<Dir>>,
}

impl<'a> Years<'a> {
    pub(crate) fn new(collection: &'a Collection) -> Years<'a> {
        Years { collection, dirs: BTreeMap::new() }
    }

    /// The directory at `path`, if there is one.
    pub(crate) fn dir(&mut self, path: &Path) -> Result<Option<&Dir>, PathError> {
        if !self.dirs.contains_key(path) {
            let dir = match self.collection.root().open_dir_if_there(path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => None,
                outcome => outcome?,
            };
            self.dirs.insert(path.to_path_buf(), dir);
        }
        Ok(self.dirs.get(path).and_then(Option::as_ref))
    }
}
