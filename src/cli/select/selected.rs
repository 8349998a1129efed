//! The items of a selection, found one after the other.

use std::collections::HashSet;
use std::io::BufRead;
use std::ops::ControlFlow;

use urepo::collection::{Collection, Names};
use urepo::digest::Digest;
use urepo::disk::PathError;
use urepo::identity::{Identifier, RepositoryName};
use urepo::transfer::NameFeed;

use super::list::{self, Line};
use super::{LIST, Selection};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::typed;

/// The item of a text.
type Find<'a> = Box<dyn Fn(&str) -> Result<RepositoryName, Failure> + Send + 'a>;

/// Selected items, found one by one.
pub(crate) struct Selected<'a> {
    pub(super) selection: &'a Selection,
    /// The collection whose items are listed.
    pub(super) collection: Option<&'a Collection>,
    pub(super) listing: Names,
    pub(super) find: Find<'a>,
    pub(super) list: Option<(Box<dyn BufRead + Send>, u8)>,
    pub(super) context: &'a Context,
    /// Whether listed items without a payload are left out, which the run reports.
    pub(super) leaves_out_gone: bool,
}

impl<'a> Selected<'a> {
    /// Searches `other` for items that are not in the collection: an earlier run may have moved them there.
    pub(crate) fn or_of(self, other: &'a Collection) -> Selected<'a> {
        let Selected { find: first, .. } = self;
        let find = move |text: &str| match first(text) {
            Err(missing) if missing.exit == Exit::NoItem => match other.find(text) {
                Ok(item) => Ok(item.name().clone()),
                Err(_) => Err(missing),
            },
            found => found,
        };
        Selected { find: Box::new(find), ..self }
    }

    /// Leaves out listed tombstones and stubs, unless their state is selected: the list may be that of all items.
    pub(crate) fn with_payload(self) -> Selected<'a> {
        let leaves_out_gone = self.selection.flags.state.is_none();
        Selected { leaves_out_gone, ..self }
    }
}

impl Selected<'_> {
    /// Passes the names to `take`, until it breaks; for a collection, the names of items in the wanted state.
    fn feed(
        self,
        take: &mut dyn FnMut(RepositoryName) -> ControlFlow<()>,
    ) -> Result<(), PathError> {
        let (Some(state), Some(collection)) = (self.selection.flags.state, self.collection) else {
            return self.feed_any_state(take);
        };
        self.feed_any_state(&mut |name| {
            let read = collection.named_item(&name).and_then(|item| item.sidecar());
            // An item that is absent or cannot be read is reported in its turn.
            if read.is_ok_and(|(sidecar, _)| !state.contains(sidecar.state)) {
                ControlFlow::Continue(())
            } else {
                take(name)
            }
        })
    }

    fn feed_any_state(
        mut self,
        take: &mut dyn FnMut(RepositoryName) -> ControlFlow<()>,
    ) -> Result<(), PathError> {
        if self.selection.items.is_empty() && self.list.is_none() {
            return match self.collection {
                Some(collection) => {
                    let mut left_alone = collection.left_alone();
                    self.listing.feed(collection)(&mut |name| {
                        if left_alone.has(&name) { ControlFlow::Continue(()) } else { take(name) }
                    })
                }
                None => Ok(()),
            };
        }
        let list = self.list.take();
        // Each item once, even if it is named in several ways.
        let mut seen = HashSet::new();
        let mut take = |name: RepositoryName| {
            let is_new = seen.insert(Digest::of(name.folded().as_bytes()));
            if is_new { take(name) } else { ControlFlow::Continue(()) }
        };
        for text in self.selection.items.iter().filter(|it| *it != LIST) {
            if self.one(text, &mut take).is_break() {
                return Ok(());
            }
        }
        let Some((mut list, end)) = list else { return Ok(()) };
        let mut has_items = false;
        loop {
            let line = list::next(&mut *list, end);
            has_items |= matches!(&line, Ok(Line::Text(text)) if !text.is_empty());
            let flow = match line {
                Ok(Line::End) => {
                    if !has_items {
                        self.context.printer.note("the list of items is empty");
                    }
                    return Ok(());
                }
                Ok(Line::Text(text)) if text.is_empty() => ControlFlow::Continue(()),
                Ok(Line::Text(text)) => self.one(&text, &mut |name| {
                    if self.leaves_out(&name) { ControlFlow::Continue(()) } else { take(name) }
                }),
                Ok(Line::Unreadable(failure)) => {
                    has_items = true;
                    self.context.note_unresolved("", failure);
                    ControlFlow::Continue(())
                }
                // The end of the run reports it.
                Err(_) if self.context.interrupt.requested() => return Ok(()),
                Err(error) => {
                    let message = "cannot read the list of items on standard input";
                    let failure = Failure::new(Exit::Failure, message);
                    self.context.note_unresolved("", failure.caused_by(error.to_string()));
                    return Ok(());
                }
            };
            if flow.is_break() {
                return Ok(());
            }
        }
    }

    /// Whether the listed item `name` is left out, and notes it. One that cannot be read is reported in its turn.
    fn leaves_out(&self, name: &RepositoryName) -> bool {
        let collection = self.collection.filter(|_| self.leaves_out_gone);
        let read = collection.and_then(|it| it.named_item(name).and_then(|it| it.sidecar()).ok());
        let Some((sidecar, _)) = read.filter(|(sidecar, _)| !sidecar.state.has_payload()) else {
            return false;
        };
        self.context.note_left_out(sidecar.repository, sidecar.state);
        true
    }

    /// Passes on the name that `text` refers to.
    fn one(
        &self,
        text: &str,
        take: &mut dyn FnMut(RepositoryName) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let typed = typed::item(&self.context.current, text);
        // A whole name needs no search: its own turn shows whether the item exists. A path may lead elsewhere.
        if !typed.starts_with('/')
            && let Ok(Identifier::Repository(name)) = Identifier::read(text)
        {
            return take(name);
        }
        match (self.find)(&typed) {
            Ok(name) => take(name),
            Err(failure) => {
                self.context.note_unresolved(text, failure);
                ControlFlow::Continue(())
            }
        }
    }
}

impl<'a> Selected<'a> {
    /// The typed or listed names, all at once; `None` if items are selected by filters.
    pub(crate) fn into_names(self) -> Result<Option<Vec<RepositoryName>>, PathError> {
        if self.selection.items.is_empty() && self.list.is_none() {
            return Ok(None);
        }
        let mut names = Vec::new();
        self.feed(&mut |name| {
            names.push(name);
            ControlFlow::Continue(())
        })?;
        Ok(Some(names))
    }

    /// The same for the library.
    pub(crate) fn into_feed(self) -> Box<NameFeed<'a>> {
        Box::new(|take| self.feed(take))
    }
}
