//! All items of several collections, each judged once, unless a collection cannot be listed completely.
//!
//! A thread for each collection lists its names; the streams, which are in one order, are merged. Each channel is
//! short, so that memory is bounded.

use std::borrow::Borrow;
use std::convert::Infallible;
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, SyncSender};

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use super::{Holdings, JudgedHolding, Ledgers, holdings_with};
use crate::collection::{Collection, Listed, Lookup, Names, listing_order};
use crate::disk::{IoContext, PathError};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;

/// Number of items looked up at a time, and reported in their order.
const AT_A_TIME: usize = 512;

/// A survey of all items of several collections.
pub struct Survey<'a, C = Collection> {
    /// The collections.
    pub collections: &'a [C],
    /// Which items.
    pub names: &'a Names,
    /// Number of threads; 0 means one for each processor.
    pub jobs: usize,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// A report of a survey.
#[derive(Debug)]
pub enum Report {
    /// An item, with its holdings in all collections.
    Item(Holdings),
    /// A part of a collection could not be listed: items that only it holds may be missing.
    Unlisted {
        /// The collection.
        collection: usize,
        /// Why.
        error: PathError,
    },
}

/// A name, or the reason why some names are unknown, which comes before the names that follow.
type ListedName = Result<RepositoryName, PathError>;

impl<C: Borrow<Collection>> Survey<'_, C> {
    /// Calls `report` for each item, at the first collection that holds it, in the order of names
    /// there, and for each part of a collection that cannot be listed. It says whether to go on.
    ///
    /// `Break` means that it was stopped before its end. An error means that no threads can be started.
    pub fn run(
        &self,
        mut report: impl FnMut(Report) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PathError> {
        let mut listed = Vec::new();
        for last in 0..self.collections.len() {
            listed.push(last);
            let (mut is_whole, earlier) = (true, &listed[..listed.len() - 1]);
            let is_earlier =
                |it: &JudgedHolding| it.record.is_ok() && earlier.contains(&it.collection);
            let report = |found| {
                match &found {
                    // An earlier collection could not be listed again, and its items look like those of this one.
                    Report::Item(item) if item.all.iter().any(is_earlier) => {
                        return ControlFlow::Continue(());
                    }
                    Report::Item(_) => {}
                    Report::Unlisted { collection, .. } => is_whole &= *collection != last,
                }
                report(found)
            };
            // Names are listed again to find the reported ones: that costs less than looking them up.
            if self.merge(&listed, |first| first == last, report)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            // It is better to report an item twice than never.
            if !is_whole {
                listed.pop();
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The same in the order of names, whichever collection holds them.
    pub(crate) fn run_in_order(
        &self,
        report: impl FnMut(Report) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PathError> {
        let all: Vec<_> = (0..self.collections.len()).collect();
        self.merge(&all, |_| true, report)
    }

    /// Reports the items whose first collection among `listed` is a wanted one.
    fn merge(
        &self,
        listed: &[usize],
        is_wanted: impl Fn(usize) -> bool,
        mut report: impl FnMut(Report) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PathError> {
        let lookups: Vec<_> = self.collections.iter().map(|it| Lookup::new(it.borrow())).collect();
        let Some(first) = lookups.first() else { return Ok(ControlFlow::Continue(())) };
        let (names, interrupt) = (self.names, self.interrupt);
        let started = "start threads to look into";
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build();
        let pool = pool.map_err(std::io::Error::other).on(started, first.collection().path())?;
        std::thread::scope(|threads| {
            let mut streams = Vec::new();
            for at in listed {
                let (queue, stream) = mpsc::sync_channel(AT_A_TIME);
                let collection = lookups[*at].collection();
                std::thread::Builder::new()
                    .spawn_scoped(threads, move || list(collection, names, &queue, interrupt))
                    .on(started, collection.path())?;
                streams.push((*at, stream.into_iter().peekable()));
            }
            loop {
                let next = std::iter::from_fn(|| next_of(&mut streams));
                let is_news =
                    |(at, listed): &(usize, ListedName)| listed.is_err() || is_wanted(*at);
                let batch: Vec<_> = next.filter(is_news).take(AT_A_TIME).collect();
                if batch.is_empty() {
                    break;
                }
                let followed = lookups.iter().all(|it| it.collection().follow_ledger().is_ok());
                // What cannot be read is said of each item.
                let ledgers = if followed { Ledgers::AsRead } else { Ledgers::Follow };
                let look_up = |listed| look_up(listed, &lookups, ledgers);
                let found: Vec<_> =
                    pool.install(|| batch.into_par_iter().filter_map(look_up).collect());
                for found in found {
                    if interrupt.requested() || report(found).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            // A stopped list has ended early.
            Ok(interrupt.flow())
        })
    }
}

/// Sends the names in `collection`, in the order of its list.
fn list(
    collection: &Collection,
    names: &Names,
    queue: &SyncSender<ListedName>,
    interrupt: &Interrupt,
) {
    let Ok(_) = collection.visit_all(names, |listed| {
        let goes_on = match listed {
            Listed::Item(name) => queue.send(Ok(name)).is_ok(),
            Listed::Stray(_) => true,
            Listed::Link(_, error) | Listed::Unreadable(error) => queue.send(Err(error)).is_ok(),
        } && !interrupt.requested();
        Ok::<_, Infallible>(if goes_on {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    });
}

/// The next name or error of all streams, and its collection. Other spellings of the same name are skipped.
fn next_of(
    streams: &mut [(usize, Peekable<impl Iterator<Item = ListedName>>)],
) -> Option<(usize, ListedName)> {
    let next = streams.iter_mut().enumerate().filter_map(|(at, (_, it))| Some((at, it.peek()?)));
    let (first, _) = next.min_by(|(_, a), (_, b)| match (a, b) {
        (Ok(a), Ok(b)) => listing_order(a, b),
        (a, b) => a.is_ok().cmp(&b.is_ok()),
    })?;
    let (collection, stream) = &mut streams[first];
    let (collection, listed) = (*collection, stream.next()?);
    if let Ok(name) = &listed {
        let is_it = |it: &ListedName| it.as_ref().is_ok_and(|it| listing_order(it, name).is_eq());
        for (_, stream) in streams.iter_mut() {
            while stream.next_if(is_it).is_some() {}
        }
    }
    Some((collection, listed))
}

/// The holdings of a name in all collections.
fn look_up(
    (collection, listed): (usize, ListedName),
    lookups: &[Lookup<'_>],
    ledgers: Ledgers,
) -> Option<Report> {
    match listed {
        Ok(name) => {
            let (holdings, _) = holdings_with(&name, lookups, ledgers, drop);
            // An item that is gone by now, or is not a directory, is not held by any collection.
            (!holdings.all.is_empty()).then_some(Report::Item(holdings))
        }
        Err(error) => Some(Report::Unlisted { collection, error }),
    }
}
