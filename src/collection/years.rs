//! Directories of years, held open for those who look at many items.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::Collection;
use crate::disk::{Dir, PathError, open_at_most};

/// At most this many are open at a time.
const MOST_OPEN: usize = 64;

/// Directories of years, each opened once, unless there are so many that those of which nothing was wanted
/// for the longest time have to be closed.
pub(crate) struct Years<'a> {
    collection: &'a Collection,
    /// With the number of the call that wanted it last.
    dirs: HashMap<PathBuf, (u64, Option<Dir>)>,
    calls: u64,
    most: usize,
}

impl<'a> Years<'a> {
    pub(crate) fn new(collection: &'a Collection) -> Years<'a> {
        Years { collection, dirs: HashMap::new(), calls: 0, most: open_at_most(MOST_OPEN) }
    }

    /// The directory at `path`, if there is one.
    pub(crate) fn dir(&mut self, path: &Path) -> Result<Option<&Dir>, PathError> {
        self.calls += 1;
        if !self.dirs.contains_key(path) {
            let oldest = self.dirs.iter().min_by_key(|(_, (call, _))| *call);
            if let Some(oldest) = oldest.map(|(oldest, _)| oldest.clone())
                && self.dirs.len() >= self.most
            {
                self.dirs.remove(&oldest);
            }
            let dir = match self.collection.root().open_dir_if_there(path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => None,
                outcome => outcome?,
            };
            self.dirs.insert(path.to_path_buf(), (self.calls, dir));
        }
        let Some((call, dir)) = self.dirs.get_mut(path) else { return Ok(None) };
        *call = self.calls;
        Ok(dir.as_ref())
    }
}
