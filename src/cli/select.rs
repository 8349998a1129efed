//! Which items a command is about: named one by one, in a list, or all that fit.

use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use urepo::collection::{Collection, Names};
use urepo::disk::{PathError, StoredFile, Watcher};
use urepo::identity::{Identifier, Instant, Prefix, RepositoryName};
use urepo::item::State;
use urepo::transfer::{Feed, Listing};

use super::command::list::parse_time;
use super::context::Context;
use super::failure::Failure;

/// A line longer than this is no identifier.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// Which items are meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Selection {
    /// The items: names, opaque names, links, paths in the collection, or the ends of names
    #[arg(value_name = "ITEM")]
    pub(crate) items: Vec<String>,
    /// All items
    #[arg(long, conflicts_with_all = ["items", "files_from", "files_from0"], help_heading = "Selection")]
    all: bool,
    /// Only items of this prefix: subdomain/word[.port]
    #[arg(long, conflicts_with_all = ["items", "files_from", "files_from0"], help_heading = "Selection")]
    prefix: Option<Prefix>,
    /// Only items in this state: Original or Copy
    #[arg(long, help_heading = "Selection")]
    pub(crate) state: Option<State>,
    /// Only items named at or after this time, such as 2026-01-31 or 2026-01-31T12:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with_all = ["items", "files_from", "files_from0"], help_heading = "Selection")]
    since: Option<Instant>,
    /// Read more items from FILE, or standard input (-), one a line
    #[arg(long, value_name = "FILE", conflicts_with = "files_from0", help_heading = "Selection")]
    files_from: Option<PathBuf>,
    /// The same, each ended by a NUL byte
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    files_from0: Option<PathBuf>,
}

/// Items that are meant, found as they are asked for.
pub(crate) struct Selected<'a> {
    selection: &'a Selection,
    collection: &'a Collection,
    listing: Listing,
    list: Option<(Box<dyn BufRead + Send>, u8)>,
    /// Texts that mean no item, and a list that could not be read to its end.
    failures: &'a Mutex<Vec<Failure>>,
}

impl Selection {
    /// The listing that is meant, if it is not single items: its size can be told beforehand.
    pub(crate) fn listing(&self) -> Option<Listing> {
        let names = Names { prefix: self.prefix.clone() };
        (self.items.is_empty() && self.list().is_none() && self.state.is_none())
            .then_some(Listing { names, since: self.since })
    }

    /// Whether something is meant at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.list().is_none() && !self.is_listing()
    }

    /// Whether one item was named, which then ends with its own failure.
    pub(crate) fn is_single(&self) -> bool {
        self.items.len() == 1 && self.list().is_none()
    }

    /// Whether the items are named, one by one or in a list.
    pub(crate) fn names_items(&self) -> bool {
        !self.items.is_empty() || self.list().is_some()
    }

    fn is_listing(&self) -> bool {
        self.all || self.prefix.is_some() || self.since.is_some() || self.state.is_some()
    }

    fn list(&self) -> Option<(&Path, u8)> {
        let lines = self.files_from.as_deref().map(|path| (path, b'\n'));
        lines.or(self.files_from0.as_deref().map(|path| (path, 0)))
    }

    /// The items of `collection` that are meant. What means none goes to `failures`.
    pub(crate) fn of<'a>(
        &'a self,
        collection: &'a Collection,
        failures: &'a Mutex<Vec<Failure>>,
    ) -> Result<Selected<'a>, Failure> {
        let list =
            self.list().map(|(path, end)| Ok::<_, Failure>((open(path)?, end))).transpose()?;
        let names = Names { prefix: self.prefix.clone() };
        let listing = Listing { names, since: self.since };
        Ok(Selected { selection: self, collection, listing, list, failures })
    }
}

impl Selected<'_> {
    /// Hands the names to `take`, until that has enough.
    fn feed(
        self,
        take: &mut dyn FnMut(RepositoryName) -> ControlFlow<()>,
    ) -> Result<(), PathError> {
        if self.selection.items.is_empty() && self.list.is_none() {
            return self.listing.feed(self.collection)(take);
        }
        for text in &self.selection.items {
            if self.one(text, take).is_break() {
                return Ok(());
            }
        }
        let Some((mut list, end)) = self.list else { return Ok(()) };
        loop {
            match next(&mut *list, end) {
                Ok(None) => return Ok(()),
                Ok(Some(text)) if text.is_empty() => {}
                Ok(Some(text)) => {
                    if one(self.collection, self.failures, &text, take).is_break() {
                        return Ok(());
                    }
                }
                Err(failure) => {
                    note(self.failures, failure);
                    return Ok(());
                }
            }
        }
    }

    fn one(
        &self,
        text: &str,
        take: &mut dyn FnMut(RepositoryName) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        one(self.collection, self.failures, text, take)
    }
}

impl<'a> Selected<'a> {
    /// The same for the library.
    pub(crate) fn into_feed(self) -> Box<Feed<'a>> {
        Box::new(|take| self.feed(take))
    }
}

/// Hands on the name that `text` means.
fn one(
    collection: &Collection,
    failures: &Mutex<Vec<Failure>>,
    text: &str,
    take: &mut dyn FnMut(RepositoryName) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // A whole name needs no search: whether it is there is told when it is its turn.
    if let Ok(Identifier::Repository(name)) = Identifier::read(text) {
        return take(name);
    }
    match collection.find(text) {
        Ok(item) => take(item.name().clone()),
        Err(error) => {
            note(failures, error.into());
            ControlFlow::Continue(())
        }
    }
}

fn note(failures: &Mutex<Vec<Failure>>, failure: Failure) {
    failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
}

fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    Ok(Box::new(BufReader::new(StoredFile::open_stream(path, Watcher::default())?)))
}

/// The next text of a list; nothing at its end.
fn next(list: &mut dyn BufRead, end: u8) -> Result<Option<String>, Failure> {
    let broken = |cause: String| {
        Failure::new(super::exit::Exit::Failure, "cannot read the list of items").caused_by(cause)
    };
    let mut bytes = Vec::new();
    let mut limited = list.take(MAX_LINE_BYTES);
    let length = limited.read_until(end, &mut bytes).map_err(|error| broken(error.to_string()))?;
    if length == 0 {
        return Ok(None);
    }
    if bytes.last() == Some(&end) {
        bytes.pop();
    } else if length as u64 == MAX_LINE_BYTES {
        return Err(broken("one of its lines is longer than any identifier".to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|_| broken("it is not UTF-8".to_owned()))?;
    Ok(Some(text.trim().to_owned()))
}

impl Context {
    /// That nothing was selected.
    pub(crate) fn nothing_selected(&self, command: &str) -> Failure {
        Failure::usage("no item was given")
            .hint(format!("`urepo {command} ITEM…`, or `--all` for every item"))
    }
}
