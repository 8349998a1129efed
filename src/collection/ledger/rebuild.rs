//! Building the ledger from the existing items, if it is lost or never existed.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;

use super::chain::Tail;
use super::imported::ImportedSource;
use super::{Collection, Event, EventKind, Here};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::names::list::{Listed, Names};
use crate::collection::{BuiltLedger, CollectionError};
use crate::disk::{Dir, PathError};
use crate::identity::RepositoryName;
use crate::layout;
use crate::sidecar::Seal;

/// The ledger being built.
const STAGED: &str = "ledger.new";
/// Number of lines that are written at a time.
const LINES_AT_A_TIME: usize = 4096;

impl Collection {
    /// Builds the missing ledger in `own`.
    ///
    /// It appears in one step. The caller holds [`layout::CHANGE_LOCK`], and no process writes.
    pub(in crate::collection) fn build_ledger(
        &self,
        own: &Dir,
        agent: &Agent,
        clock: &dyn Clock,
    ) -> Result<BuiltLedger, PathError> {
        own.remove_tree(Path::new(STAGED))?;
        let built = self.build_in(own, agent, clock);
        if built.is_err() {
            // On a full disk, a deletion needs the little room that is left.
            let _ = own.remove_tree(Path::new(STAGED));
        }
        built
    }

    fn build_in(
        &self,
        own: &Dir,
        agent: &Agent,
        clock: &dyn Clock,
    ) -> Result<BuiltLedger, PathError> {
        let staged = own.ensure_dir(STAGED)?;
        let mut tail = Tail::find(&staged)?;
        // A ledger without items has its header.
        tail.append(&[], self.header(), false)?;
        let mut lines = Vec::new();
        let mut built = BuiltLedger::default();
        let _whole = self.visit_all(&Names::default(), |listed| {
            match listed {
                Listed::Item(name) => {
                    let found = match self.found(&name) {
                        // The item is here, and its loss would be damage.
                        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                            built.closed.push(error.path().to_path_buf());
                            Some(Found::default())
                        }
                        found => found?,
                    };
                    if let Some(found) = found {
                        let event = registration(&name, found, agent, clock);
                        lines.extend(serde_json::to_string(&event).ok());
                        built.items += 1;
                    }
                    if lines.len() >= LINES_AT_A_TIME {
                        tail.append(&lines, self.header(), false)?;
                        lines.clear();
                    }
                }
                // An item closed by another user is recorded when it is found later.
                Listed::Unreadable(error) if error.kind() == ErrorKind::PermissionDenied => {
                    built.closed.push(error.path().to_path_buf());
                }
                Listed::Link(_, error) | Listed::Unreadable(error) => return Err(error),
                Listed::Stray(_) => {}
            }
            Ok::<_, PathError>(ControlFlow::Continue(()))
        })?;
        if !lines.is_empty() {
            tail.append(&lines, self.header(), false)?;
        }
        // A directory without a file is no ledger either.
        if own.stat(layout::LEDGER)?.is_some() {
            own.remove_dir(Path::new(layout::LEDGER))?;
        }
        own.rename_new(Path::new(STAGED), own, Path::new(layout::LEDGER))?;
        own.sync()?;
        Ok(built)
    }

    /// Records items without a line, in their present state. No other process writes.
    pub(super) fn record_found(
        &self,
        names: &[RepositoryName],
        agent: &Agent,
        clock: &dyn Clock,
    ) -> Result<(), CollectionError> {
        let mut events = Vec::new();
        for name in names {
            if let Some(found) = self.found(name)?
                && self.seems_returned(name)?.is_none()
            {
                events.push(registration(name, found, agent, clock));
            }
        }
        self.log(&events)
    }

    /// The holding of an item, by its sidecar; `None` if it has none.
    pub(in crate::collection) fn found(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<Found>, PathError> {
        let item = match self.item(name) {
            Ok(item) => item,
            Err(CollectionError::Disk(error)) if error.is_link() => return Ok(None),
            Err(CollectionError::Disk(error)) => return Err(error),
            Err(_) => return Ok(None),
        };
        match item.read_sidecar() {
            Ok(read) if read.seal == Seal::Intact => {
                let import = self.imported_source(&read.sidecar);
                Ok(Some(Found { here: Some(Here::of(&read.sidecar)), import }))
            }
            Err(CollectionError::Disk(error)) => Err(error),
            // It is not an item for `verify` either.
            Err(CollectionError::NoSidecar { .. }) => Ok(None),
            // An item whose sidecar cannot be read exists nevertheless.
            Ok(_) | Err(_) => Ok(Some(Found::default())),
        }
    }
}

/// An item that was found here.
#[derive(Clone, Debug, Default)]
pub(in crate::collection) struct Found {
    /// The holding; `None` if its sidecar cannot be read or is not sealed.
    pub here: Option<Here>,
    /// The source that it was made of, if an import here made it.
    pub import: Option<ImportedSource>,
}

/// The line about an item that was found here.
pub(in crate::collection) fn registration(
    name: &RepositoryName,
    Found { here, import }: Found,
    agent: &Agent,
    clock: &dyn Clock,
) -> Event {
    Event { holding: here, import, ..Event::new(EventKind::Registration, name, clock.now(), agent) }
}
