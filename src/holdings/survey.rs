//! All items of several collections, each judged once.

use std::ops::ControlFlow;

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use super::{Holdings, holdings};
use crate::collection::{Collection, CollectionError, Names};
use crate::disk::{IoContext, PathError};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::layout;

/// Number of items looked up at a time, and reported in their order.
const AT_A_TIME: usize = 512;

/// A look at all items of several collections.
pub struct Survey<'a> {
    /// The collections, no two with the same id.
    pub collections: &'a [Collection],
    /// Which items.
    pub names: &'a Names,
    /// How many threads look; as many as there are processors if 0.
    pub jobs: usize,
    /// Asks for an early end.
    pub interrupt: &'a Interrupt,
}

/// What a survey reports.
#[derive(Debug)]
pub enum Report {
    /// An item, with what all collections hold of it.
    Item(Holdings),
    /// A collection could not be listed to its end: items that only it holds may be missing.
    Unlisted {
        /// Which one.
        collection: usize,
        /// Why.
        error: PathError,
    },
}

impl Survey<'_> {
    /// Calls `report` for each item, at the first collection that holds it, in the order of names
    /// there. It says whether to go on.
    ///
    /// `Break` means that it was stopped before its end. The error is that no threads can be started.
    pub fn run(
        &self,
        mut report: impl FnMut(Report) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PathError> {
        let Some(first) = self.collections.first() else { return Ok(ControlFlow::Continue(())) };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.jobs)
            .build()
            .map_err(std::io::Error::other)
            .on("start threads to look into", first.path())?;
        let mut listed = Vec::new();
        for (at, collection) in self.collections.iter().enumerate() {
            let mut look = |names: Vec<RepositoryName>| {
                let found: Vec<_> = pool.install(|| {
                    names.into_par_iter().map(|name| self.look_up(&name, &listed)).collect()
                });
                for holdings in found.into_iter().flatten() {
                    report(Report::Item(holdings))?;
                }
                ControlFlow::Continue(())
            };
            match self.list(collection, &mut look) {
                Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                Ok(ControlFlow::Continue(())) => listed.push(at),
                Err(error) => {
                    if report(Report::Unlisted { collection: at, error }).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Hands the names of `collection` to `look`, several at a time; all of them even if the list
    /// ends in an error.
    fn list(
        &self,
        collection: &Collection,
        look: &mut impl FnMut(Vec<RepositoryName>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PathError> {
        let mut names = Vec::with_capacity(AT_A_TIME);
        let mut goes_on = ControlFlow::Continue(());
        let visited = collection.visit_names(self.names, |name| {
            names.push(name);
            if self.interrupt.requested() {
                goes_on = ControlFlow::Break(());
            } else if names.len() == AT_A_TIME {
                goes_on = look(std::mem::replace(&mut names, Vec::with_capacity(AT_A_TIME)));
            }
            Ok::<_, PathError>(goes_on)
        });
        if goes_on.is_continue() {
            goes_on = look(names);
        }
        visited.map(|()| goes_on)
    }

    /// The holdings of `name`, unless one of the collections that were `listed` before has it: then
    /// they were reported there.
    fn look_up(&self, name: &RepositoryName, listed: &[usize]) -> Option<Holdings> {
        let was_reported = listed.iter().any(|at| was_listed(&self.collections[*at], name));
        if was_reported {
            return None;
        }
        // What is gone by now, or is no directory, is held by nobody.
        Some(holdings(name, self.collections)).filter(|holdings| !holdings.all.is_empty())
    }
}

/// Whether a list of all names of `collection` has `name`.
fn was_listed(collection: &Collection, name: &RepositoryName) -> bool {
    match collection.item(name) {
        Ok(_) => true,
        Err(CollectionError::NoSuchItem { .. }) => false,
        // It cannot be opened. If not even that it is there can be seen, it is better told twice
        // than never.
        Err(_) => matches!(collection.root().stat(layout::item_directory(name)), Ok(Some(_))),
    }
}
