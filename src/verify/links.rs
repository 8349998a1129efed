//! Relative links between items: from the payload of an item to other items of the same root.
//!
//! The layout of collections makes them possible: `../../../../../` leads from `doc/` to the root, in every
//! collection that holds both items [generation, 6]. Links are found in symbolic links, and in the text of
//! HTML and Markdown files. Only links that climb out of their item count; URLs do not.

use std::borrow::Cow;
use std::path::Path;

use super::finding::{Finding, Findings, Place};
use super::markup::Markup;
use super::{Code, Context};
use crate::collection::{Collection, CollectionError, Lookup, StoredItem};
use crate::disk::PathError;
use crate::identity::{RepositoryName, decode_path};
use crate::item::{Content, Entry, LinkedPath, PayloadPath, State, escape};
use crate::layout;

/// Limit on the size of a file; a larger one was not written by people.
const MAX_TEXT_BYTES: u64 = 16 * 1024 * 1024;

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
        let Some(markup) = Markup::of(file.as_path()) else { return };
        for (line, target) in markup.links(&String::from_utf8_lossy(text)) {
            if context.is_stopped() {
                return;
            }
            let link = Link { item, file, line: Some(line), written: target.as_bytes() };
            self.check(&link, &decoded(&target), findings);
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
    bytes <= MAX_TEXT_BYTES && Markup::of(path.as_path()).is_some()
}

/// The path in a link, which is a URL.
fn decoded(link: &str) -> Cow<'_, [u8]> {
    let path = link.split(['#', '?']).next().unwrap_or_default();
    decode_path(path).map_or_else(|| path.as_bytes().into(), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_decoded_without_their_fragments() {
        assert_eq!(*decoded("../a%20b&c?x#y"), *b"../a b&c");
        assert_eq!(*decoded("../100%"), *b"../100%");
    }
}
