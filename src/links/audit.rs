//! Whether the links of an item lead to something.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::text::{Markup, bases, is_text, links};
use crate::collection::{Collection, CollectionError, Lookup, StoredItem};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::{Content, LinkedPath, PayloadPath, State};
use crate::layout;

/// A larger file is no text that people write.
const MAX_TEXT_BYTES: u64 = 16 * 1024 * 1024;

/// A relative link that leaves its item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The file or symbolic link that has it.
    pub file: PayloadPath,
    /// The line of the file; nothing for a symbolic link.
    pub line: Option<u64>,
    /// What it says.
    pub target: String,
    /// The item that it leads to, as it spells that; nothing if it leads to no item of the root.
    pub item: Option<RepositoryName>,
    /// What is there.
    pub end: LinkEnd,
}

impl Link {
    /// The item that it leads to, if that is in the collection and not deleted.
    pub fn leads_to_item(self) -> Option<RepositoryName> {
        let is_here = matches!(self.end, LinkEnd::Present | LinkEnd::OtherCase | LinkEnd::NoFile);
        self.item.filter(|_| is_here)
    }
}

/// What a link leads to, from the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkEnd {
    /// A file or directory of the item.
    Present,
    /// Something that is spelt in other case, which not every file system finds.
    OtherCase,
    /// The item is there and has no such file.
    NoFile,
    /// The item is deleted.
    Deleted,
    /// No such item is in the collection.
    NoItem,
    /// It leads out of the root, or to a directory that is no item.
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
        for entry in &sidecar.files {
            let path = &entry.path;
            match &entry.content {
                Content::Link { target } if !path.link_stays_inside(target) => {
                    let leads_to = path.linked_path(item.name(), target);
                    let target = String::from_utf8_lossy(target).into_owned();
                    let link = self.judge(path, None, target, leads_to, &[""])?;
                    found.extend((link.item.as_ref() != Some(item.name())).then_some(link));
                }
                Content::File { bytes, .. } if *bytes <= MAX_TEXT_BYTES => {
                    if let Some(markup) = Markup::of(path) {
                        self.add_links_of_text(item, path, markup, &mut found)?;
                    }
                }
                Content::File { .. } | Content::Link { .. } | Content::EmptyDirectory { .. } => {}
            }
        }
        Ok(found)
    }

    fn add_links_of_text(
        &self,
        item: &StoredItem,
        path: &PayloadPath,
        markup: Markup,
        found: &mut Vec<Link>,
    ) -> Result<(), CollectionError> {
        let bytes = item.open(path)?.read_all(MAX_TEXT_BYTES)?;
        if !is_text(&bytes) {
            return Ok(());
        }
        for link in links(&String::from_utf8_lossy(&bytes)) {
            let target = markup.path(link.target);
            let bases = bases(markup, path);
            if bases.iter().any(|base| base.link_stays_inside(&target)) {
                continue;
            }
            let mut best: Option<Link> = None;
            for base in &bases {
                let leads_to = base.linked_path(item.name(), &target);
                let target = link.target.to_owned();
                let judged =
                    self.judge(path, Some(link.line), target, leads_to, markup.endings())?;
                if best.as_ref().is_none_or(|best| judged.end < best.end) {
                    best = Some(judged);
                }
            }
            found.extend(best.filter(|link| link.item.as_ref() != Some(item.name())));
        }
        Ok(())
    }

    fn judge(
        &self,
        file: &PayloadPath,
        line: Option<u64>,
        target: String,
        leads_to: Option<LinkedPath>,
        endings: &[&str],
    ) -> Result<Link, CollectionError> {
        let end = match &leads_to {
            Some(leads_to) => self.end_of(leads_to, endings)?,
            None => LinkEnd::Outside,
        };
        Ok(Link { file: file.clone(), line, target, item: leads_to.map(|it| it.item), end })
    }

    fn end_of(&self, to: &LinkedPath, endings: &[&str]) -> Result<LinkEnd, CollectionError> {
        let Some(item) = self.lookup.item(&to.item)? else { return Ok(LinkEnd::NoItem) };
        // Verification says what is wrong with a sidecar that cannot be read.
        let sidecar = item.sidecar().ok().map(|(sidecar, _)| sidecar);
        if sidecar.as_ref().is_some_and(|sidecar| sidecar.state == State::Deleted) {
            return Ok(LinkEnd::Deleted);
        }
        let with = |ending: &&str| {
            let mut path = to.path.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        let paths: Vec<PathBuf> = endings.iter().map(with).collect();
        let is_spelt_alike = item.name().as_str() == to.item.as_str();
        for path in &paths {
            if self.is_there(&item, path)? {
                return Ok(if is_spelt_alike { LinkEnd::Present } else { LinkEnd::OtherCase });
            }
        }
        let is_like = |path: &Path| {
            let folded = |path: &Path| path.as_os_str().as_bytes().to_ascii_lowercase();
            let below = path.strip_prefix(layout::PAYLOAD).unwrap_or(path);
            let mut files = sidecar.iter().flat_map(|sidecar| &sidecar.files);
            files.any(|it| folded(it.path.as_path()) == folded(below))
        };
        let is_in_other_case = paths.iter().any(|path| is_like(path));
        Ok(if is_in_other_case { LinkEnd::OtherCase } else { LinkEnd::NoFile })
    }

    fn is_there(&self, item: &StoredItem, path: &Path) -> Result<bool, PathError> {
        if path.as_os_str().is_empty() {
            return Ok(true);
        }
        match item.dir().stat(path) {
            Ok(stat) => Ok(stat.is_some()),
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory || error.is_link() => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}
