//! Whether the links of an item lead anywhere.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::text::{Markup, bases, is_text, links};
use crate::collection::{Collection, CollectionError, Lookup, StoredItem};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::{Content, LinkedPath, PayloadPath, State};
use crate::layout;

/// Limit on the size of a file; a larger one was not written by people.
const MAX_TEXT_BYTES: u64 = 16 * 1024 * 1024;

/// A relative link that leaves its item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The file or symbolic link that has it.
    pub file: PayloadPath,
    /// The line of the file; `None` for a symbolic link.
    pub line: Option<u64>,
    /// Its target as written.
    pub target: String,
    /// The linked item, in the spelling of the link; `None` if it is not an item of the root.
    pub item: Option<RepositoryName>,
    /// The destination.
    pub end: LinkEnd,
}

impl Link {
    /// The linked item, if it is in the collection and not deleted.
    pub fn leads_to_item(self) -> Option<RepositoryName> {
        let is_here = matches!(self.end, LinkEnd::Present | LinkEnd::OtherCase | LinkEnd::NoFile);
        self.item.filter(|_| is_here)
    }
}

/// The destinations of a link, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkEnd {
    /// A file or directory of the item.
    Present,
    /// An entry spelt in another case, which not every file system finds.
    OtherCase,
    /// The item exists, but not the file.
    NoFile,
    /// The item is deleted.
    Deleted,
    /// No such item is in the collection.
    NoItem,
    /// It leads out of the root, or to a directory that is not an item.
    Outside,
}

impl std::fmt::Display for LinkEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            LinkEnd::Present => "present",
            LinkEnd::OtherCase => "other-case",
            LinkEnd::NoFile => "no-file",
            LinkEnd::Deleted => "deleted",
            LinkEnd::NoItem => "no-item",
            LinkEnd::Outside => "outside",
        })
    }
}

/// Finds the links of items in one collection.
pub struct Audit<'a> {
    lookup: Lookup<'a>,
}

impl<'a> Audit<'a> {
    /// An audit of `collection`.
    pub fn new(collection: &'a Collection) -> Audit<'a> {
        Audit { lookup: Lookup::new(collection) }
    }

    /// The links of `item` that leave it, in the order of its files. A tombstone has none.
    pub fn links(&self, item: &StoredItem) -> Result<Vec<Link>, CollectionError> {
        let (sidecar, _) = item.sidecar()?;
        let mut found = Vec::new();
        if sidecar.state == State::Deleted {
            return Ok(found);
        }
        let mut ends = Ends { lookup: &self.lookup, last: None, known: HashMap::new() };
        for entry in &sidecar.files {
            let path = &entry.path;
            match &entry.content {
                Content::Link { target } if !path.link_stays_inside(target) => {
                    let leads_to = path.linked_path(item.name(), target);
                    let target = String::from_utf8_lossy(target).into_owned();
                    let end = ends.of(leads_to.as_ref(), &[""])?;
                    let leads_to = leads_to.map(|it| it.item);
                    let link = Link { file: path.clone(), line: None, target, item: leads_to, end };
                    found.extend((link.item.as_ref() != Some(item.name())).then_some(link));
                }
                Content::File { bytes, .. } if *bytes <= MAX_TEXT_BYTES => {
                    if let Some(markup) = Markup::of(path) {
                        add_links_of_text(item, path, markup, &mut ends, &mut found)?;
                    }
                }
                Content::File { .. } | Content::Link { .. } | Content::EmptyDirectory { .. } => {}
            }
        }
        Ok(found)
    }
}

fn add_links_of_text(
    item: &StoredItem,
    path: &PayloadPath,
    markup: Markup,
    ends: &mut Ends<'_>,
    found: &mut Vec<Link>,
) -> Result<(), CollectionError> {
    let bytes = item.open(path)?.read_all(MAX_TEXT_BYTES)?;
    if !is_text(&bytes) {
        return Ok(());
    }
    let bases = bases(markup, path);
    for link in links(&String::from_utf8_lossy(&bytes)) {
        let target = markup.path(link.target);
        if bases.iter().any(|base| base.link_stays_inside(&target)) {
            continue;
        }
        let mut best = (LinkEnd::Outside, None);
        for base in &bases {
            let leads_to = base.linked_path(item.name(), &target);
            let end = ends.of(leads_to.as_ref(), markup.endings())?;
            if end < best.0 {
                best = (end, leads_to.map(|it| it.item));
            }
        }
        let (end, leads_to) = best;
        if leads_to.as_ref() != Some(item.name()) {
            let (line, target) = (Some(link.line), link.target.to_owned());
            found.push(Link { file: path.clone(), line, target, item: leads_to, end });
        }
    }
    Ok(())
}

/// The destinations of the links of one item; each is looked up once.
struct Ends<'a> {
    lookup: &'a Lookup<'a>,
    /// The last linked item: many links lead to the same item.
    last: Option<(String, Option<Target>)>,
    known: HashMap<(String, PathBuf, usize), LinkEnd>,
}

/// An item that links lead to.
struct Target {
    item: StoredItem,
    is_deleted: bool,
    /// The paths of its payload, in lower case.
    folded: HashSet<Vec<u8>>,
}

impl Ends<'_> {
    fn of(
        &mut self,
        leads_to: Option<&LinkedPath>,
        endings: &[&str],
    ) -> Result<LinkEnd, CollectionError> {
        let Some(to) = leads_to else { return Ok(LinkEnd::Outside) };
        let key = (to.item.to_string(), to.path.clone(), endings.len());
        if let Some(end) = self.known.get(&key) {
            return Ok(*end);
        }
        let end = match self.target(&to.item)? {
            None => LinkEnd::NoItem,
            Some(target) if target.is_deleted => LinkEnd::Deleted,
            Some(target) => target.end(to, endings)?,
        };
        self.known.insert(key, end);
        Ok(end)
    }

    fn target(&mut self, name: &RepositoryName) -> Result<Option<&Target>, CollectionError> {
        if self.last.as_ref().is_none_or(|(last, _)| last != name.as_str()) {
            let target = self.lookup.item(name)?.map(Target::read);
            self.last = Some((name.to_string(), target));
        }
        Ok(self.last.as_ref().and_then(|(_, target)| target.as_ref()))
    }
}

impl Target {
    /// Reads the sidecar of `item`. Verification says what is wrong with one that cannot be read.
    fn read(item: StoredItem) -> Target {
        let sidecar = item.sidecar().ok().map(|(sidecar, _)| sidecar);
        let is_deleted = sidecar.as_ref().is_some_and(|it| it.state == State::Deleted);
        let files = sidecar.iter().flat_map(|sidecar| &sidecar.files);
        let folded = files.map(|entry| entry.path.as_bytes().to_ascii_lowercase()).collect();
        Target { item, is_deleted, folded }
    }

    fn end(&self, to: &LinkedPath, endings: &[&str]) -> Result<LinkEnd, PathError> {
        let with = |ending: &&str| {
            let mut path = to.path.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        let paths: Vec<PathBuf> = endings.iter().map(with).collect();
        for path in &paths {
            if is_there(&self.item, path)? {
                let is_spelt_alike = self.item.name().as_str() == to.item.as_str();
                return Ok(if is_spelt_alike { LinkEnd::Present } else { LinkEnd::OtherCase });
            }
        }
        let is_like = |path: &PathBuf| {
            let below = path.strip_prefix(layout::PAYLOAD).unwrap_or(path);
            self.folded.contains(&below.as_os_str().as_bytes().to_ascii_lowercase())
        };
        Ok(if paths.iter().any(is_like) { LinkEnd::OtherCase } else { LinkEnd::NoFile })
    }
}

fn is_there(item: &StoredItem, path: &Path) -> Result<bool, PathError> {
    use std::io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory};
    if path.as_os_str().is_empty() {
        return Ok(true);
    }
    match item.stat(path) {
        Ok(stat) => Ok(stat.is_some()),
        // A text may contain an impossible file name.
        Err(error)
            if [NotADirectory, InvalidFilename, InvalidInput].contains(&error.kind())
                || error.is_link() =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
