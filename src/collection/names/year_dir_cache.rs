//! A cache of open year directories.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::collection::Collection;
use crate::collection::item::read_sidecar;
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

/// What items have, found without opening their directories.
pub struct Payloads<'a>(pub(in crate::collection) YearDirCache<'a>);

impl Payloads<'_> {
    /// Whether the item `name` has a directory of files. It has none if it was deleted or has moved, or is damaged.
    pub fn has(&mut self, name: &RepositoryName) -> bool {
        let found = self.of(name, layout::PAYLOAD);
        found.is_some_and(|(dir, path)| dir.glance(&path).is_some())
    }

    /// Whether the item `name` is a stub or a tombstone by its sidecar; `None` if that cannot be read in the place of the name.
    pub fn is_gone(&mut self, name: &RepositoryName) -> Option<bool> {
        let (dir, path) = self.of(name, layout::SIDECAR)?;
        let (sidecar, ..) = read_sidecar(&mut dir.open_file(path).ok()?).ok()?;
        (sidecar.repository == *name).then(|| !sidecar.state.has_payload())
    }

    /// The year of the item `name`, and the path of `part` of the item there.
    fn of(&mut self, name: &RepositoryName, part: &str) -> Option<(&Dir, String)> {
        let (path, leaf) = name.as_str().rsplit_once('/').unwrap_or((name.as_str(), ""));
        let dir = self.0.dir(Path::new(path)).ok().flatten()?;
        Some((dir, [leaf, part].join("/")))
    }
}
