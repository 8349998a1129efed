//! Sources that are directories, whose entries become items.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::candidate::{Candidate, FoundCandidate, Refused};
use super::{ImportError, bag};
use crate::deposit::SourcePlace;
use crate::disk::{
    Dir, Exclusion, ExclusionRule, Kind, Links, PathError, Watcher, resolved, stat_of,
};

/// The entries of a directory that become items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Its own entries.
    #[default]
    Entries,
    /// Each file, at any depth.
    EachFile,
}

/// A directory on the path of the walk.
struct OpenLevel {
    /// The remaining entries, in reverse.
    entries: Vec<(PathBuf, Kind)>,
    /// The exclusions from it.
    exclusion: Exclusion,
}

/// Walks a directory in the order of names, with the entries of each open level in memory.
pub struct SourceTree {
    root: Arc<Dir>,
    units: Units,
    links: Links,
    /// The directories on the way.
    open: Vec<OpenLevel>,
    /// A source that is a single item.
    alone: Option<Candidate>,
}

impl SourceTree {
    /// The items of `path`: the entries of a directory, or a single file or bag.
    pub fn open(
        path: &Path,
        units: Units,
        links: Links,
        exclusion: &Exclusion,
        watcher: &Watcher,
    ) -> Result<SourceTree, PathError> {
        let path = resolved(path)?;
        let is_directory = stat_of(&path, Links::Follow)?.kind == Kind::Directory;
        if is_directory {
            let root = Arc::new(Dir::open(&path, watcher.clone())?);
            if units == Units::EachFile || !bag::is_bag(&root)? {
                let mut tree = SourceTree { root, units, links, open: Vec::new(), alone: None };
                tree.enter(Path::new(""), exclusion)?;
                return Ok(tree);
            }
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            let cause = std::io::Error::other("it has no name");
            return Err(PathError::new("import", path, cause));
        };
        let root = Arc::new(Dir::open(parent, watcher.clone())?);
        let alone = Some(Candidate::new(place(&root, PathBuf::from(name), links)));
        Ok(SourceTree { root, units, links, open: Vec::new(), alone })
    }

    /// Lists a directory, whose entries come next.
    fn enter(&mut self, relative: &Path, exclusion: &Exclusion) -> Result<(), PathError> {
        let below = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let dir = self.root.open_dir(below)?;
        let mut entries = Vec::new();
        for entry in dir.entries()? {
            let entry = entry?;
            entries.push((relative.join(&entry.name), entry.kind));
        }
        entries.sort_unstable_by(|a, b| b.0.cmp(&a.0));
        let exclusion = exclusion.entered(&self.root, relative, self.links == Links::Follow)?;
        self.open.push(OpenLevel { entries, exclusion });
        Ok(())
    }

    /// The kind of an entry for patterns: if links are followed, the kind of the target.
    fn seen(&self, relative: &Path, kind: Kind) -> Kind {
        if kind != Kind::Link || self.links != Links::Follow {
            return kind;
        }
        // A broken link stays one.
        stat_of(&self.root.path_of(relative), Links::Follow).map_or(kind, |stamp| stamp.kind)
    }

    /// Lists a directory that contains items. Returns whether it does.
    fn entered(&mut self, relative: &Path, exclusion: &Exclusion) -> Result<bool, PathError> {
        let contains_items = self.units == Units::EachFile;
        if contains_items {
            self.enter(relative, exclusion)?;
        }
        Ok(contains_items)
    }
}

impl Iterator for SourceTree {
    type Item = FoundCandidate;

    fn next(&mut self) -> Option<FoundCandidate> {
        if let Some(alone) = self.alone.take() {
            return Some(Ok(alone));
        }
        loop {
            let level = self.open.last_mut()?;
            let Some((relative, kind)) = level.entries.pop() else {
                self.open.pop();
                continue;
            };
            let exclusion = level.exclusion.clone();
            let seen = self.seen(&relative, kind);
            let left_out = match exclusion.rule(&relative, seen) {
                None if kind == Kind::Link && self.links == Links::Skip => {
                    Some(ExclusionRule::Link)
                }
                rule => rule,
            };
            let is_directory = kind == Kind::Directory && left_out.is_none();
            let entered =
                if is_directory { self.entered(&relative, &exclusion) } else { Ok(false) };
            match entered {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => {
                    let path = self.root.path_of(&relative);
                    return Some(Err(Box::new(Refused {
                        source: path.display().to_string(),
                        path: Some(path),
                        row: None,
                        error: ImportError::Disk(error),
                    })));
                }
            }
            let exclusion = exclusion.of_source(&relative);
            let found = Candidate::new(place(&self.root, relative, self.links));
            return Some(Ok(Candidate { exclusion, left_out, ..found }));
        }
    }
}

/// If links are followed, a path may lead anywhere.
pub(super) fn place(root: &Arc<Dir>, relative: PathBuf, links: Links) -> SourcePlace {
    match links {
        Links::Follow => SourcePlace::Path(root.path_of(relative)),
        Links::Keep | Links::AsIs | Links::Skip | Links::Refuse => {
            SourcePlace::Beneath { root: Arc::clone(root), relative }
        }
    }
}
