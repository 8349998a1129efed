//! Inspecting one directory: whether it is an item, whether it is in order, and its description. Nothing is
//! written.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use super::bibtex::decode;
use super::describe::Description;
use super::reference::describe;
use super::{AdoptError, Note, Plan, Planned};
use crate::collection::{Collection, CollectionError, StoredItem, strays_in};
use crate::disk::{Dir, DirEntry, Kind};
use crate::holdings::{Arrival, Peers};
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::item::{PayloadPath, State, twins};
use crate::layout;
use crate::sidecar::{Seal, Sidecar};

/// The kind of a directory with the name of an item.
#[derive(Debug)]
pub(super) enum Look {
    /// An item without a sidecar.
    New(Box<Plan>),
    /// An item with its sidecar.
    Adopted {
        /// Its state.
        state: State,
        /// The bytes of its payload.
        bytes: u64,
    },
    /// Not an item, and why.
    NoItem(&'static str),
}

/// Inspects `name`, as it is spelt in the tree at `root`. With `copies_of`, the items are Copies, whatever their
/// references say.
pub(super) fn look(
    root: &Dir,
    name: &RepositoryName,
    copies_of: Option<&str>,
) -> Result<Look, AdoptError> {
    match root.stat(name.as_str())?.map(|stamp| stamp.kind) {
        Some(Kind::Directory) => {}
        None => return Ok(Look::NoItem("it has just gone")),
        Some(Kind::Link) => return Ok(Look::NoItem("it is a symbolic link")),
        Some(_) => return Ok(Look::NoItem("it is not a directory")),
    }
    let item = StoredItem::at(bare(name), root.open_dir(name.as_str())?);
    if let Some(Sidecar { state, payload, .. }) = sidecar_of(&item)? {
        return Ok(Look::Adopted { state, bytes: payload.bytes });
    }
    let mut beside = Vec::new();
    let mut has_files = false;
    for entry in strays_in(item.dir())? {
        let DirEntry { name, kind } = entry?;
        has_files |= kind != Kind::Directory && name != "@reference.bib";
        beside.push(PathBuf::from(name));
    }
    beside.sort();
    let doc = match item.stat(layout::PAYLOAD)?.map(|stamp| stamp.kind) {
        Some(Kind::Directory) => item.dir().open_dir(layout::PAYLOAD)?,
        None if !has_files => return Ok(Look::NoItem("it has neither `doc` nor files")),
        None => return Err(AdoptError::NoPayload { name: name.to_string() }),
        Some(kind) => {
            let kind = match kind {
                Kind::Link => "symbolic link",
                Kind::Special(kind) => kind,
                Kind::File | Kind::Directory => "file",
            };
            return Err(AdoptError::NotADirectory { kind, path: item.payload_path() });
        }
    };
    let (reference, description) = describe(&item)?;
    let Description { metadata, ibip, target, state: told, updated, relations, notes, .. } =
        description;
    let mut plan = Plan {
        name: item.name().clone(),
        spelt: name.clone(),
        state: if copies_of.is_some() { State::Copy } else { told.unwrap_or(State::Original) },
        entries: Vec::new(),
        files: 0,
        bytes: 0,
        reference,
        metadata,
        ibip,
        target: None,
        relations,
        updated: item.name().instant(),
        beside,
        notes: odd_name(name),
    };
    plan.notes.extend(notes);
    let newest = plan.walk(&doc)?;
    // The files existed before the item, so its last update cannot be older than its name.
    let updated = updated.or(newest).map_or(plan.updated, |it| it.floor(SECOND));
    plan.updated = updated.max(plan.updated);
    plan.settle(target);
    Ok(Look::New(Box::new(plan)))
}

/// Makes sure that the ledger and other collections allow the item. Adopted without a sidecar, an item
/// that left would become a second Original, and a damaged item would count as whole.
pub(super) fn check_ledger(
    (collection, peers): (Option<&Collection>, &Peers<'_>),
    name: &RepositoryName,
    found: &Look,
) -> Result<(), AdoptError> {
    match (found, collection) {
        (Look::New(plan), _) => {
            match collection.map_or(Ok(()), |it| it.check_never_held(&plan.name)) {
                // It is here, and recorded.
                Err(CollectionError::Changed { name, .. }) => {
                    return Err(AdoptError::SidecarLost { name: name.to_string() });
                }
                outcome => outcome?,
            }
            match plan.state {
                State::Original => {
                    Ok(peers.check_unused(&plan.name, collection, Arrival::InPlace)?)
                }
                State::Copy | State::Elsewhere | State::Deleted => Ok(()),
            }
        }
        (Look::Adopted { state: State::Original, .. }, Some(collection)) => {
            let path = || collection.path().to_path_buf();
            let left = |line| CollectionError::GivenUp { line: Box::new(line), path: path() };
            collection.contradicting_line(name)?.map_or(Ok(()), |line| Err(left(line).into()))
        }
        (Look::Adopted { .. } | Look::NoItem(_), _) => Ok(()),
    }
}

/// The name without the trailing dot that its subdomain may have.
fn bare(name: &RepositoryName) -> RepositoryName {
    let path = layout::item_directory(name);
    let parsed = path.to_str().and_then(|text| RepositoryName::parse_as_found(text).ok());
    parsed.map_or_else(|| name.clone(), |(bare, _)| bare)
}

fn odd_name(name: &RepositoryName) -> Vec<Note> {
    let oddities = RepositoryName::parse_as_found(name.as_str()).map(|(_, oddities)| oddities);
    oddities.unwrap_or_default().into_iter().map(Note::OddName).collect()
}

/// The sidecar of the item, if it has one, whole and sealed. Any other entry of that name is an error,
/// because it must not be overwritten.
pub(super) fn sidecar_of(item: &StoredItem) -> Result<Option<Sidecar>, AdoptError> {
    let other = |cause| AdoptError::OtherFile { name: item.name().to_string(), cause };
    match item.read_sidecar() {
        Ok(read) if read.seal == Seal::Intact => Ok(Some(read.sidecar)),
        Ok(_) => Err(other(None)),
        Err(CollectionError::NoSidecar { .. }) => Ok(None),
        Err(CollectionError::Disk(error))
            if error.is_link() || error.kind() == std::io::ErrorKind::IsADirectory =>
        {
            Err(other(None))
        }
        Err(CollectionError::Sidecar { cause, .. }) => Err(other(Some(cause))),
        Err(error) => Err(error.into()),
    }
}

impl Plan {
    /// Lists the entries below `doc`, without following links, and returns when the newest file was modified.
    fn walk(&mut self, doc: &Dir) -> Result<Option<Instant>, AdoptError> {
        let mut pending = vec![PathBuf::new()];
        let (mut odd, mut special, mut outward) = (0, 0, 0);
        let mut newest = None;
        while let Some(path) = pending.pop() {
            let dir = doc.open_dir(&path)?;
            let mut is_empty = true;
            for entry in dir.entries()? {
                let entry = entry?;
                is_empty = false;
                odd += u64::from(is_odd(&entry.name));
                let below = path.join(&entry.name);
                match entry.kind {
                    Kind::Directory => pending.push(below),
                    Kind::Special(kind) => {
                        return Err(AdoptError::Special { kind, path: doc.path_of(below) });
                    }
                    Kind::Link => {
                        let target = dir.read_link(Path::new(&entry.name))?;
                        outward += u64::from(self.add_link(&below, &target));
                    }
                    Kind::File => {
                        let Some(stamp) = dir.stat(&entry.name)? else { continue };
                        special += u64::from(stamp.mode != stamp.permission_bits());
                        newest = newest.max(Some(stamp.modified));
                        self.files += 1;
                        self.bytes += stamp.bytes;
                        self.add(&below, Planned::File { bytes: stamp.bytes });
                    }
                }
            }
            if is_empty && !path.as_os_str().is_empty() {
                let stamp = dir.own_stat()?;
                let (modified, mode) = (stamp.modified, stamp.permission_bits());
                special += u64::from(stamp.mode != mode);
                stamp.check_time(dir.path())?;
                self.add(&path, Planned::EmptyDirectory { modified, mode });
            }
        }
        if odd > 0 {
            self.notes.push(Note::OddFileNames(odd));
        }
        if outward > 0 {
            self.notes.push(Note::OutwardLinks(outward));
        }
        if special > 0 {
            self.notes.push(Note::SpecialModes(special));
        }
        Ok(newest)
    }

    fn add(&mut self, path: &Path, planned: Planned) {
        let path = PayloadPath::new(path)
            .expect("because names of directory entries are neither empty nor dots");
        self.entries.push((path, planned));
    }

    /// Adds a link. Returns whether it leads out of the item, and to no other one: the tree is kept as it is, so that is no
    /// reason to leave the item out.
    fn add_link(&mut self, path: &Path, target: &OsStr) -> bool {
        let leads_to_an_item = PayloadPath::new(path).is_ok_and(|it| {
            it.link_stays_inside(target.as_bytes())
                || it
                    .linked_path(&self.spelt, target.as_bytes())
                    .is_some_and(|to| to.item != self.spelt)
        });
        self.add(path, Planned::Link { target: target.as_bytes().to_vec() });
        !leads_to_an_item
    }

    /// Adds the notes that need the whole plan.
    fn settle(&mut self, target: Option<[String; 2]>) {
        self.entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        if let Some(found) = twins::find(self.entries.iter().map(|(path, _)| path)) {
            self.notes.push(Note::Twins(found));
        }
        if self.entries.is_empty() {
            self.notes.push(Note::Empty);
        }
        self.target = match target {
            None => self.only_file(),
            Some(names) => names.iter().find_map(|name| self.named(name)).or_else(|| {
                let [name, _] = names;
                self.notes.push(Note::NoTarget(name));
                self.only_file()
            }),
        };
    }

    /// The file or link that `name` means. Names on disk may be Latin-1, or UTF-8 with other accents
    /// [resolution standard, Example 6.2].
    fn named(&self, name: &str) -> Option<PayloadPath> {
        let composed = |text: &str| text.nfc().collect::<String>();
        let wanted = composed(name);
        let leads = |entry: &&(_, _)| !matches!(entry.1, Planned::EmptyDirectory { .. });
        let files = self.entries.iter().filter(leads).map(|(path, _)| path);
        let same = files.filter(|path| composed(&decode(path.as_bytes()).0) == wanted);
        same.min_by_key(|path| path.as_bytes() != name.as_bytes()).cloned()
    }

    /// The only file that the bare identifier can open. A reference that describes the item does not count.
    fn only_file(&self) -> Option<PayloadPath> {
        let mut files = self.entries.iter().filter_map(|(path, planned)| match planned {
            Planned::File { .. } if path.as_bytes() != b"@reference.bib" => Some(path),
            _ => None,
        });
        match (files.next(), files.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => None,
        }
    }

    /// The bytes of the file at `at`; `None` for another entry.
    pub(super) fn size(&self, at: usize) -> Option<u64> {
        match self.entries[at].1 {
            Planned::File { bytes } => Some(bytes),
            Planned::Link { .. } | Planned::EmptyDirectory { .. } => None,
        }
    }
}

fn is_odd(name: &OsStr) -> bool {
    name.to_str().is_none_or(|name| name.contains(char::is_control))
}
