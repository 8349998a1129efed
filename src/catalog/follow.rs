//! Following the ledger: the index reads the items that the ledger names, or all of them.

use std::convert::Infallible;
use std::mem::take;
use std::ops::ControlFlow::{Break, Continue};
use std::panic::resume_unwind;
use std::sync::mpsc;

use super::reader::{AT_A_TIME, Reader};
use super::{CatalogError, RefreshReport};
use crate::collection::{Collection, Listed, Names};
use crate::index::{Index, Tables};
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Groups of items that are read before they are taken in.
const AHEAD: usize = 2;

/// Lets an index follow the ledger.
pub(super) struct Follower<'a> {
    collection: &'a Collection,
    reader: Reader<'a>,
    report: &'a mut RefreshReport,
}

impl<'a> Follower<'a> {
    pub(super) fn new(
        collection: &'a Collection,
        jobs: usize,
        watched: (&'a dyn Progress, &'a Interrupt),
        report: &'a mut RefreshReport,
    ) -> Follower<'a> {
        let reader = Reader::new(collection, jobs, watched);
        Follower { collection, reader, report }
    }

    /// Reads the items that the ledger names since the mark of the index, or all of them. Either is complete or undone.
    pub(super) fn follow(self, index: &mut Index, is_rebuild: bool) -> Result<(), CatalogError> {
        let mark = index.mark()?;
        if !is_rebuild
            && mark.is_some()
            && mark == self.collection.ledger_mark()?
            && index.tables().unread()?.is_empty()
        {
            return Ok(());
        }
        index.write(|tables| {
            // Another process may have followed the ledger meanwhile.
            let mark = if is_rebuild { None } else { tables.mark()? };
            let since = mark.map_or(Ok(None), |mark| self.collection.ledger_since(&mark))?;
            let end = if let Some(since) = since {
                let unread = tables.unread()?;
                tables.clear_unread()?;
                let unread = unread.iter().filter_map(|name| name.parse().ok());
                let names: Vec<_> = since.names.into_values().chain(unread).collect();
                self.reader.read(tables, &names, self.report)?;
                Some(since.end)
            } else {
                let end = self.collection.ledger_mark()?;
                tables.make()?;
                self.report.built = true;
                // The next user of the index lists the rest.
                if self.read_tree(tables)? { end } else { None }
            };
            Ok(tables.set_mark(end.as_deref())?)
        })
    }

    /// Reads all items. Returns whether every directory could be listed.
    fn read_tree(self, tables: Tables<'_>) -> Result<bool, CatalogError> {
        let Follower { collection, reader, report } = self;
        let (send, read) = mpsc::sync_channel(AHEAD);
        let visit = || {
            let (mut names, mut unlisted) = (Vec::new(), Vec::new());
            // A send fails when the other side has ended with an error.
            let flow =
                |sent: bool| Ok::<_, Infallible>(if sent { Continue(()) } else { Break(()) });
            let visited = collection.visit_all(&Names::default(), |listed| {
                match listed {
                    Listed::Item(name) => names.push(name),
                    Listed::Stray(_) => {}
                    Listed::Link(_, error) | Listed::Unreadable(error) => unlisted.push(error),
                }
                flow(names.len() < AT_A_TIME || send.send(reader.find(take(&mut names))).is_ok())
            });
            if matches!(visited, Ok(Continue(()))) {
                let _ = send.send(reader.find(names));
            }
            drop(send);
            unlisted
        };
        std::thread::scope(|threads| {
            let visiting = threads.spawn(visit);
            let taken = read.into_iter().try_for_each(|read| reader.take_in(tables, read, report));
            let unlisted = visiting.join().unwrap_or_else(|panic| resume_unwind(panic));
            taken?;
            let is_complete = unlisted.is_empty();
            for error in unlisted {
                report.cannot_read(error);
            }
            Ok(is_complete)
        })
    }
}
