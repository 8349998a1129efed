//! Making a collection.

use std::path::Path;

use super::{Collection, CollectionError, Settings, Subsystem};
use crate::disk::{Dir, IoContext, PathError, Watcher, random_hex};
use crate::layout;

/// Makes a collection in the directory `root`, an absolute path, which may exist.
///
/// `name` is its name for people. The settings are written last: until then there is no collection,
/// and a repetition goes on where this one stopped.
pub fn init(
    root: &Path,
    name: &str,
    subsystem: Subsystem,
    watcher: &Watcher,
) -> Result<Collection, CollectionError> {
    // What can be refused is refused before anything is made.
    subsystem.prefix()?;
    subsystem.ibip_prefix()?;
    make(root, name, vec![subsystem], watcher)
}

/// Makes a collection that issues no names: one that keeps items which have them already.
pub fn init_without_names(
    root: &Path,
    name: &str,
    watcher: &Watcher,
) -> Result<Collection, CollectionError> {
    make(root, name, Vec::new(), watcher)
}

fn make(
    root: &Path,
    name: &str,
    subsystems: Vec<Subsystem>,
    watcher: &Watcher,
) -> Result<Collection, CollectionError> {
    let settings = Settings::new(random_id()?, name.to_owned(), subsystems);
    check_place(root)?;
    let dir = make_with_parents(root, watcher)?;
    make_own(&dir)?;
    dir.replace_file(layout::SETTINGS, settings.to_text().as_bytes())?;
    Collection::open(root, watcher)
}

/// Makes what is missing of urepo's own directory in the collection at `root`: a tree may have been
/// copied without what is hidden.
///
/// Names are not given twice for all that: those on the disk are looked at before the next is given.
pub fn restore_own(root: &Path, watcher: &Watcher) -> Result<(), CollectionError> {
    Ok(make_own(&Dir::open(root, watcher.clone())?)?)
}

fn make_own(root: &Dir) -> Result<(), PathError> {
    let own = root.ensure_dir(layout::OWN)?;
    own.ensure_dir(layout::DISTRIBUTOR)?;
    own.ensure_dir(layout::STAGING)?;
    own.open_lock_file(layout::LOCK)?;
    own.sync()
}

/// Makes sure that a collection can be made at `root`: there is none there, above or below.
pub fn check_place(root: &Path) -> Result<(), CollectionError> {
    match super::discover::enclosing_or_enclosed(root)? {
        None => Ok(()),
        Some(other) if other == root => Err(CollectionError::ExistsAlready { path: other }),
        Some(other) => Err(CollectionError::Nested { other }),
    }
}

/// Makes `path` and what is missing above it, each synced into its parent.
fn make_with_parents(path: &Path, watcher: &Watcher) -> Result<Dir, PathError> {
    match Dir::open(path, watcher.clone()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        outcome => return outcome,
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Dir::open(path, watcher.clone());
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let parent = make_with_parents(parent, watcher)?;
    parent.make_dir(name)?;
    parent.sync()?;
    Dir::open(path, watcher.clone())
}

fn random_id() -> Result<String, PathError> {
    random_hex::<16>().on("draw a random id from", "/dev/urandom")
}
