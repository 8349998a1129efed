//! Relative links between items: from the payload of an item to other items of the same root.
//!
//! The layout of collections makes them possible: `../../../../../` leads from `doc/` to the root, in every
//! collection that holds both items [generation, 6]. Links are found in symbolic links, and in the text of
//! HTML and Markdown files. Only links that climb out of their item count; URLs do not.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;

use crate::collection::{Collection, CollectionError, Lookup, StoredItem};
use crate::disk::PathError;
use crate::identity::{RepositoryName, decode_path};
use crate::item::{Content, LinkedPath, PayloadPath, State};

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

/// The destinations of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// A file or directory of the item.
    Present,
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
            LinkEnd::NoFile => "no-file",
            LinkEnd::Deleted => "deleted",
            LinkEnd::NoItem => "no-item",
            LinkEnd::Outside => "outside",
        })
    }
}

/// Finds the links of items in one collection, and whether they lead anywhere.
pub struct Audit<'a> {
    lookup: Lookup<'a>,
    /// The linked items so far, and whether they are deleted.
    deleted: RefCell<HashMap<String, bool>>,
}

impl<'a> Audit<'a> {
    /// An audit of `collection`.
    pub fn new(collection: &'a Collection) -> Audit<'a> {
        Audit { lookup: Lookup::new(collection), deleted: RefCell::default() }
    }

    /// The links of `item` that leave it, in the order of its files. Tombstones and stubs have none.
    pub fn links(&self, item: &StoredItem) -> Result<Vec<Link>, CollectionError> {
        let (sidecar, _) = item.sidecar()?;
        let mut found = Vec::new();
        if !sidecar.state.has_payload() {
            return Ok(found);
        }
        for entry in &sidecar.files {
            let path = &entry.path;
            match &entry.content {
                Content::Link { target } => {
                    let text = String::from_utf8_lossy(target).into_owned();
                    found.extend(self.link(item, path, None, text, target)?);
                }
                Content::File { bytes, .. } if *bytes <= MAX_TEXT_BYTES && is_markup(path) => {
                    let bytes = item.open(path)?.read_all(MAX_TEXT_BYTES)?;
                    for (line, target) in links(&String::from_utf8_lossy(&bytes)) {
                        let text = target.to_owned();
                        found.extend(self.link(item, path, Some(line), text, &decoded(target))?);
                    }
                }
                Content::File { .. } | Content::EmptyDirectory { .. } => {}
            }
        }
        Ok(found)
    }

    /// The link to `path` in the file `from` of `item`, unless it stays inside.
    fn link(
        &self,
        item: &StoredItem,
        from: &PayloadPath,
        line: Option<u64>,
        target: String,
        path: &[u8],
    ) -> Result<Option<Link>, CollectionError> {
        let to = from.linked_path(item.name(), path);
        let is_own = to.as_ref().is_some_and(|to| to.item == *item.name());
        if is_own || from.link_stays_inside(path) {
            return Ok(None);
        }
        let end = match &to {
            Some(to) => self.end(to)?,
            None => LinkEnd::Outside,
        };
        Ok(Some(Link { file: from.clone(), line, target, item: to.map(|to| to.item), end }))
    }

    fn end(&self, to: &LinkedPath) -> Result<LinkEnd, CollectionError> {
        // Only some file systems find an item by another spelling.
        let item = self.lookup.item(&to.item)?;
        let Some(item) = item.filter(|it| it.name().as_str() == to.item.as_str()) else {
            return Ok(LinkEnd::NoItem);
        };
        if self.is_deleted(&item)? {
            return Ok(LinkEnd::Deleted);
        }
        Ok(if is_there(&item, to)? { LinkEnd::Present } else { LinkEnd::NoFile })
    }

    /// Whether the item is a tombstone. Verification says what is wrong with a damaged sidecar.
    fn is_deleted(&self, item: &StoredItem) -> Result<bool, PathError> {
        // Many links lead to the same item.
        let mut known = self.deleted.borrow_mut();
        if let Some(is_deleted) = known.get(item.name().as_str()) {
            return Ok(*is_deleted);
        }
        let sidecar = item.sidecar_if_sound()?;
        let is_deleted = sidecar.is_some_and(|sidecar| sidecar.state == State::Deleted);
        known.insert(item.name().to_string(), is_deleted);
        Ok(is_deleted)
    }
}

fn is_there(item: &StoredItem, to: &LinkedPath) -> Result<bool, PathError> {
    use std::io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory};
    if to.path.as_os_str().is_empty() {
        return Ok(true);
    }
    match item.stat(&to.path) {
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

/// Whether `path` is HTML or Markdown, by the ending of its name.
fn is_markup(path: &PayloadPath) -> bool {
    let ending = path.as_path().extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    ending.is_some_and(|it| ["html", "htm", "xhtml", "md", "markdown"].contains(&&*it))
}

/// The path in a link, which is a URL.
fn decoded(link: &str) -> Cow<'_, [u8]> {
    let path = link.split(['#', '?']).next().unwrap_or_default().replace("&amp;", "&");
    decode_path(&path).unwrap_or_else(|| path.into_bytes()).into()
}

/// The links in `text` that begin with `../`, each with the number of its line from 1.
fn links(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let lines = (1..).zip(text.lines());
    lines.flat_map(|(line, text)| links_in_line(text).map(move |target| (line, target)))
}

/// Links begin with `../` and go to the end of their string or word.
fn links_in_line(line: &str) -> impl Iterator<Item = &str> {
    let mut end = 0;
    line.match_indices("../").filter_map(move |(at, _)| {
        let before = &line[..at];
        let start = if before.ends_with("./") && !before.ends_with("../") { at - 2 } else { at };
        let before = &line[..start];
        // This must not be the next `../` of the same link, nor the middle of a path.
        if start < end || before.ends_with(|c: char| c.is_alphanumeric() || "/._-~".contains(c)) {
            return None;
        }
        let closing: &[char] = match before.chars().next_back() {
            Some('"') => &['"'],
            Some('\'') => &['\''],
            Some('<') => &['>'],
            Some('(') => &[')', ' ', '"'],
            _ => &[' ', '\t', '"', '\'', '>', ')', ']'],
        };
        let length = line[start..].find(closing).unwrap_or(line.len() - start);
        end = start + length;
        Some(&line[start..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_end_with_their_string_or_word() {
        for (line, found) in [
            (
                r#"<a href="../../x/a b.html">a</a> <img src='../c.png'>"#,
                &["../../x/a b.html", "../c.png"][..],
            ),
            ("<a href=../x>y</a>", &["../x"]),
            (
                "see [the class](../../a.cls \"title\") and <../b> or ![](./../c.png)",
                &["../../a.cls", "../b", "./../c.png"],
            ),
            ("[ref]: ../../d", &["../../d"]),
            ("http://example.org/a/../b and a/../c, ...", &[]),
            ("é(../é/ü)", &["../é/ü"]),
        ] {
            let links: Vec<_> = links_in_line(line).collect();
            assert_eq!(links, found, "{line}");
        }
    }

    #[test]
    fn urls_are_decoded_without_their_fragments() {
        assert_eq!(*decoded("../a%20b&amp;c?x#y"), *b"../a b&c");
        assert_eq!(*decoded("../100%"), *b"../100%");
    }

    #[test]
    fn lines_are_counted() {
        let links: Vec<_> = links("a\n\n(../b)\r\n").collect();
        assert_eq!(links, [(3, "../b")]);
    }
}
