//! A cache of open year directories.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::collection::Collection;
use crate::disk::{Dir, PathError, open_at_most};
use crate::identity::RepositoryName;
use crate::layout;

/// Maximum number of open directories.
const MOST_OPEN: usize = 64;

/// Open year directories; beyond the limit, the least recently used one is closed.
pub(crate) struct YearDirCache<'a> {
    collection: &'a Collection,
    /// Each with the number of the call that used it last.
    dirs: HashMap<PathBuf, (u64, Option<Dir>)>,
    calls: u64,
    most: usize,
}

impl<'a> YearDirCache<'a> {
    pub(crate) fn new(collection: &'a Collection) -> YearDirCache<'a> {
        YearDirCache { collection, dirs: HashMap::new(), calls: 0, most: open_at_most(MOST_OPEN) }
    }

    /// The directory at `path`, if it exists.
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

/// Which items have a directory of files.
pub struct Payloads<'a>(pub(in crate::collection) YearDirCache<'a>);

impl Payloads<'_> {
    /// Whether the item `name` has one. It has none if it was deleted or has moved, or is damaged.
    pub fn has(&mut self, name: &RepositoryName) -> bool {
        let (path, leaf) = name.as_str().rsplit_once('/').unwrap_or((name.as_str(), ""));
        let dir = self.0.dir(Path::new(path)).ok().flatten();
        dir.is_some_and(|dir| dir.glance(&[leaf, layout::PAYLOAD].join("/")).is_some())
    }
}
