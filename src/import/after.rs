//! What becomes of a source that is an item: it goes only when the item was read back from the disk.

use std::path::{Path, PathBuf};

use super::After;
use super::candidate::Place;
use super::look::Looker;
use crate::collection::{Collection, CollectionError};
use crate::disk::copy::{BUFFER_BYTES, CopyError, digest};
use crate::disk::{Dir, Kind, Links, PathError, Watcher, resolved};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, Shape};
use crate::progress::NoProgress;
use crate::sidecar::Seal;
use crate::verify::{Depth, ProofError, prove};

/// A directory that takes the sources that are done with.
#[derive(Debug)]
pub struct DoneDirectory {
    dir: Dir,
}

/// Sources of one name are numbered up to here.
const MOST_OF_A_NAME: usize = 100_000;

impl DoneDirectory {
    /// Opens the directory.
    pub fn open(path: &Path, watcher: &Watcher) -> Result<DoneDirectory, PathError> {
        Ok(DoneDirectory { dir: Dir::open(&resolved(path)?, watcher.clone())? })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Moves what is called `name` in `from` here, below the same directories as in its source; what has
    /// the name already stays.
    fn take(&self, place: &Place, from: &Dir, name: &Path) -> Result<(), PathError> {
        let mut to = self.dir.try_clone()?;
        if let Place::Beneath(beneath) = place {
            for level in beneath.relative.parent().into_iter().flatten() {
                match to.make_dir(level) {
                    Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    _ => to = to.open_dir(level)?,
                }
            }
        }
        let mut wanted = name.to_path_buf();
        for number in 1..MOST_OF_A_NAME {
            match from.rename_new(name, &to, &wanted) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                outcome => return outcome,
            }
            let mut next = name.as_os_str().to_owned();
            next.push(format!(".{number}"));
            wanted = PathBuf::from(next);
        }
        from.rename_new(name, &to, name)
    }
}

/// Why a source is still where it was.
#[derive(Debug, thiserror::Error)]
enum LeftError {
    #[error("the item does not read back as it was written")]
    NotProven,
    #[error("it has changed since it was imported")]
    Changed,
    #[error("links are followed, so that it may lie elsewhere")]
    Followed,
    #[error("a bag is more than its payload; it can be moved, and not removed")]
    Bag,
    #[error(transparent)]
    Collection(#[from] CollectionError),
    #[error(transparent)]
    Proof(#[from] ProofError),
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Disk(#[from] PathError),
}

/// Does with the source of the item `name` what was asked for, and says what it could not.
///
/// `payload` is where the files of the item came from, `place` what the source is as a whole.
pub(super) fn release(
    after: &After,
    collection: &Collection,
    name: &RepositoryName,
    (place, payload): (&Place, &Place),
    looker: &Looker,
    interrupt: &Interrupt,
) -> Vec<String> {
    let released = match after {
        After::Keep => return Vec::new(),
        After::Move(done) => proven(collection, name, interrupt).and_then(|entries| {
            is_same(looker, payload, &entries)?;
            let (from, own) = looker.parent(place)?;
            Ok(done.take(place, &from, &own)?)
        }),
        After::Remove => proven(collection, name, interrupt).and_then(|entries| {
            is_same(looker, payload, &entries)?;
            remove(looker, place, payload, &entries, interrupt)
        }),
    };
    released.err().map(|error| with_causes(&error)).into_iter().collect()
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// What the item holds, read back from the disk.
fn proven(
    collection: &Collection,
    name: &RepositoryName,
    interrupt: &Interrupt,
) -> Result<crate::sidecar::Files, LeftError> {
    let item = collection.item(name)?;
    let (sidecar, seal) = item.sidecar()?;
    if seal != Seal::Intact {
        return Err(LeftError::NotProven);
    }
    prove(&item, Depth::FromDisk, &NoProgress, interrupt)?;
    Ok(sidecar.files)
}

fn is_same(looker: &Looker, payload: &Place, entries: &[Entry]) -> Result<(), LeftError> {
    if looker.look(payload)?.shape == Shape::of(entries) { Ok(()) } else { Err(LeftError::Changed) }
}

/// Removes a source whose bytes are those of the item, which is found out by reading them once more.
fn remove(
    looker: &Looker,
    place: &Place,
    payload: &Place,
    entries: &[Entry],
    interrupt: &Interrupt,
) -> Result<(), LeftError> {
    if looker.links == Links::Follow {
        return Err(LeftError::Followed);
    }
    if place.path() != payload.path() {
        return Err(LeftError::Bag);
    }
    let (parent, own) = looker.parent(payload)?;
    let is_directory = looker.kind(payload)? == Kind::Directory;
    let dir = if is_directory { looker.dir(payload)? } else { parent.try_clone()? };
    let mut buffer = vec![0; BUFFER_BYTES];
    for Entry { path, content } in entries {
        let path = if is_directory { path.as_path() } else { own.as_path() };
        let Content::File { bytes, digest: expected, .. } = content else { continue };
        let mut file = dir.open_file(path)?;
        let before = file.stamp()?;
        let found = digest(&mut file, &mut buffer, &NoProgress, interrupt)?;
        let is_so = found.digest == *expected && found.bytes == *bytes;
        let above = dir.open_dir(path.parent().unwrap_or(Path::new("")))?;
        let name = Path::new(path.file_name().unwrap_or_default());
        if !is_so || above.stamp(name)? != Some(before) {
            return Err(LeftError::Changed);
        }
        above.remove_file(name)?;
    }
    if !is_directory {
        return Ok(());
    }
    for Entry { path, content } in entries {
        if let Content::Link { .. } = content {
            let above = dir.open_dir(path.as_path().parent().unwrap_or(Path::new("")))?;
            above.remove_file(Path::new(path.as_path().file_name().unwrap_or_default()))?;
        }
    }
    Ok(remove_empty(&parent, &own)?)
}

/// Removes directories with nothing in them, the deepest first; one with something in it is an error.
fn remove_empty(parent: &Dir, own: &Path) -> Result<(), PathError> {
    let (mut found, mut at) = (vec![own.to_path_buf()], 0);
    while at < found.len() {
        let path = found[at].clone();
        for entry in parent.open_dir(&path)?.entries()? {
            let entry = entry?;
            if entry.kind == Kind::Directory {
                found.push(path.join(entry.name));
            }
        }
        at += 1;
    }
    found.iter().rev().try_for_each(|path| {
        let above = parent.open_dir(path.parent().unwrap_or(Path::new("")))?;
        above.remove_dir(Path::new(path.file_name().unwrap_or_default()))
    })
}
