//! Relative links between items: from the payload of an item to other items of the same root.
//!
//! The layout of collections makes them possible: `../../../../../` leads from `doc/` to the root, in every
//! collection that holds both items [generation, 6]. Links are found in symbolic links, and in the text of
//! HTML and Markdown files. Only links that climb out of their item count; URLs do not.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use super::finding::{Finding, Findings, Place};
use super::{Code, Context};
use crate::collection::{Collection, CollectionError, Lookup, StoredItem};
use crate::disk::PathError;
use crate::identity::{RepositoryName, decode_path};
use crate::item::{Content, Entry, LinkedPath, PayloadPath, State, escape};
use crate::layout;

/// Limit on the size of a file; a larger one was not written by people.
const MAX_TEXT_BYTES: u64 = 16 * 1024 * 1024;

/// The endings of the names of files with links, in lower case.
const MARKUP: [&str; 5] = ["html", "htm", "xhtml", "md", "markdown"];

/// Limit on the characters of a link in a finding. A file of one line would fill the memory a thousand times.
const SHOWN_CHARACTERS: usize = 500;

/// Finds the broken links of items in one collection.
#[derive(Debug)]
pub(super) struct LinkCheck<'a>(Lookup<'a>);

/// A link of an item.
struct Link<'a> {
    item: &'a RepositoryName,
    file: &'a PayloadPath,
    /// The line of the file; `None` for a symbolic link.
    line: Option<u64>,
    /// The target as written.
    written: &'a [u8],
}

impl<'a> LinkCheck<'a> {
    pub(super) fn new(collection: &'a Collection) -> LinkCheck<'a> {
        LinkCheck(Lookup::new(collection))
    }

    /// Reports the broken ones of the symbolic links among the `entries` of `item`, until stopped.
    pub(super) fn symbolic(
        &self,
        item: &RepositoryName,
        entries: &[Entry],
        context: &Context<'_>,
        findings: &mut Findings,
    ) {
        for Entry { path: file, content } in entries {
            let Content::Link { target } = content else { continue };
            if context.is_stopped() {
                return;
            }
            let link = Link { item, file, line: None, written: target };
            self.check(&link, target, findings);
        }
    }

    /// Reports the broken links in the `text` of the `file` of `item`, until stopped.
    pub(super) fn written(
        &self,
        item: &RepositoryName,
        (file, text): (&PayloadPath, &[u8]),
        context: &Context<'_>,
        findings: &mut Findings,
    ) {
        for (line, target) in links(&String::from_utf8_lossy(text)) {
            if context.is_stopped() {
                return;
            }
            let link = Link { item, file, line: Some(line), written: target.as_bytes() };
            self.check(&link, &decoded(target), findings);
        }
    }

    /// Reports `link`, which leads to `path`, if it is broken.
    fn check(&self, link: &Link<'_>, path: &[u8], findings: &mut Findings) {
        let to = link.file.linked_path(link.item, path);
        let is_own = to.as_ref().is_some_and(|to| to.item == *link.item);
        if is_own || link.file.link_stays_inside(path) {
            return;
        }
        let fault = match &to {
            Some(to) => self.fault(to),
            None => Ok(Some("it leads to no item of this collection")),
        };
        match fault {
            Ok(None) => {}
            Ok(Some(fault)) => findings.push(link.finding(fault)),
            // Nothing is known of the other item then, whose own report says why.
            Err(error) if error.shortage().is_none() => {}
            Err(error) => findings.push(Finding::of_error(link.place(), &error)),
        }
    }

    /// The fault of a link to `to`, if it has one.
    fn fault(&self, to: &LinkedPath) -> Result<Option<&'static str>, PathError> {
        let item = match self.0.item(&to.item) {
            // Only some file systems find an item by another spelling.
            Ok(item) => item.filter(|it| it.name().as_str() == to.item.as_str()),
            Err(CollectionError::Disk(error)) => return Err(error),
            // It was displaced by an interrupted swap, and will be back.
            Err(_) => return Ok(None),
        };
        let Some(item) = item else { return Ok(Some("this collection has no such item")) };
        let path =
            if to.path.as_os_str().is_empty() { layout::PAYLOAD.as_ref() } else { &*to.path };
        if is_there(&item, path)? {
            return Ok(None);
        }
        Ok(match item.sidecar_if_sound()?.map(|sidecar| sidecar.state) {
            Some(State::Deleted) => Some("that item is deleted"),
            Some(State::Elsewhere) => Some("that item has migrated"),
            Some(State::Original | State::Copy) | None => Some("that item has no such file"),
        })
    }
}

impl Link<'_> {
    fn place(&self) -> Place {
        Place::Payload(self.file.clone())
    }

    fn finding(&self, fault: &str) -> Finding {
        let line = self.line.map_or(String::new(), |line| format!("line {line}, "));
        let written = escape(self.written);
        let end = written.char_indices().nth(SHOWN_CHARACTERS).map(|(end, _)| end);
        let (shown, rest) = written.split_at(end.unwrap_or(written.len()));
        let rest = if rest.is_empty() { "" } else { "…" };
        let detail = format!("{line}`{shown}{rest}`: {fault}");
        Finding::new(Code::LinkBroken, self.place(), detail)
    }
}

fn is_there(item: &StoredItem, path: &Path) -> Result<bool, PathError> {
    use std::io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory};
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

/// Whether the file at `path`, of `bytes`, is HTML or Markdown, by the ending of its name.
pub(super) fn may_have_links(path: &PayloadPath, bytes: u64) -> bool {
    let ending = path.as_path().extension().and_then(OsStr::to_str);
    let is_markup = |it: &str| MARKUP.iter().any(|markup| it.eq_ignore_ascii_case(markup));
    bytes <= MAX_TEXT_BYTES && ending.is_some_and(is_markup)
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
