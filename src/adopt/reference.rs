//! The references of an item in BibTeX: their places in the item, and the description they give together.

use std::path::Path;

use super::describe::Description;
use super::{Note, bibtex};
use crate::collection::StoredItem;
use crate::disk::{Dir, FileStat, Kind, PathError};
use crate::identity::Ibip;
use crate::item::State;
use crate::sidecar::Metadata;

/// The record that the service of the archive keeps: repository, target and state of the item there.
const OF_SERVICE: &str = ".reserved/@";

/// The places of references in the item. Later references complete earlier ones.
const REFERENCES: [&str; 3] = ["doc/@reference.bib", "@reference.bib", OF_SERVICE];

/// A larger file is not read as a reference.
const MAX_REFERENCE_BYTES: u64 = 1024 * 1024;

/// The description of an item from all its references, and the place of the first one that was read.
pub(super) fn describe(
    item: &StoredItem,
) -> Result<(Option<&'static str>, Description), PathError> {
    let mut place = None;
    let mut found = Description::default();
    for path in REFERENCES {
        let Some(bytes) = read_reference(item.dir(), path)? else { continue };
        let mut other = match bytes {
            Ok(bytes) => {
                place = place.or(Some(path));
                let (text, is_utf8) = bibtex::decode(&bytes);
                let mut read = Description::of(&bibtex::read(&text), item.name());
                if !is_utf8 {
                    read.notes.insert(0, Note::Latin1);
                }
                read
            }
            Err(reason) => Description::noting(Note::Unread { path, reason }),
        };
        if path == OF_SERVICE {
            if !other.is_clear {
                other.hold_as(None);
            }
            // The service offers this target.
            found.target = other.target.take().or(found.target);
        }
        found.complete_with(other);
    }
    Ok((place, found))
}

impl Description {
    /// Takes a statement about the state, `None` if it is not understood. What may be a Copy is not made an
    /// Original.
    pub(super) fn hold_as(&mut self, state: Option<State>) {
        let is_unclear = state.is_none();
        let differs = !is_unclear && self.state.is_some_and(|held| state != Some(held));
        self.state = if is_unclear || differs { Some(State::Copy) } else { state };
        if is_unclear {
            self.note(Note::UnclearState);
        } else if differs && !self.notes.contains(&Note::UnclearState) {
            self.note(Note::TwoStates);
        }
    }

    /// Adds the statements of `other` that are missing here.
    fn complete_with(&mut self, other: Description) {
        let mut aliases = identifiers(&other.metadata);
        aliases.extend(other.ibip.iter().filter(|_| self.ibip.is_some()).map(Ibip::to_string));
        let own = std::mem::replace(&mut self.metadata, other.metadata);
        self.metadata.override_with(own);
        self.ibip = self.ibip.take().or(other.ibip);
        for alias in aliases {
            let is_known = |ibip: &Ibip| ibip.to_string() == alias;
            if !identifiers(&self.metadata).contains(&alias)
                && !self.ibip.as_ref().is_some_and(is_known)
            {
                let _ = self.metadata.add("identifier", &alias);
            }
        }
        self.target = self.target.take().or(other.target);
        self.updated = self.updated.or(other.updated);
        self.relations.complete_with(other.relations);
        other.notes.into_iter().for_each(|note| self.note(note));
        if other.state.is_some() {
            self.hold_as(other.state);
        }
    }

    fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn identifiers(metadata: &Metadata) -> Vec<String> {
    match metadata.table().get("identifier") {
        Some(toml::Value::Array(values)) => {
            values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
        }
        value => value.and_then(|value| value.as_str()).map(str::to_owned).into_iter().collect(),
    }
}

/// The bytes of a reference, if there is one, or why it is not read as one. An error ends the adoption of the
/// item: the next run may be able to read the reference, but skips adopted items.
fn read_reference(dir: &Dir, path: &str) -> Result<Option<Result<Vec<u8>, String>>, PathError> {
    let refused = |reason: &str| Ok(Some(Err(reason.to_owned())));
    let path = Path::new(path);
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        match dir.stat(above)?.map(|stamp| stamp.kind) {
            Some(Kind::Directory) => {}
            Some(Kind::Link) => return refused("its directory is a symbolic link"),
            _ => return Ok(None),
        }
    }
    if dir.stat(path)?.is_none() {
        return Ok(None);
    }
    let mut file = match dir.open_file(path) {
        Err(error) if error.is_link() => return refused("it is a symbolic link"),
        outcome => outcome?,
    };
    match file.stat()? {
        FileStat { kind: Kind::File, bytes, .. } if bytes <= MAX_REFERENCE_BYTES => {}
        FileStat { kind: Kind::File, .. } => {
            return refused(&format!("it is larger than {} MiB", MAX_REFERENCE_BYTES >> 20));
        }
        _ => return refused("it is not a file"),
    }
    Ok(Some(Ok(file.read_all(MAX_REFERENCE_BYTES)?)))
}
