//! The index of a collection, brought up to the tree, and answers from it.
//!
//! [`Catalog::open`] makes sure that the index knows what is there: it is made where there is none, and
//! what writers announced, and directories that are not as they were when last listed, are taken in.
//! That costs a look at each directory above items: a handful, however many items there are. A sidecar
//! that was changed in place by others than urepo is noticed when an answer is about its item; the others
//! are noticed by a full look ([`Look::Full`]), which costs a look at each sidecar.
//!
//! Where the index cannot be kept, on a disk that may only be read or without urepo's own directory, it
//! is made for one use.

mod build;
mod error;
mod find;
mod known;
mod places;
mod refresh;

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::Collection;
use crate::disk::PathError;
use crate::index::{Counts, Index};
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::wait::Waiter;

pub use error::CatalogError;
pub use find::Found;
pub use known::Known;
use refresh::Refresh;

/// How closely what is there is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// At the directories above items.
    Quick,
    /// At every sidecar as well.
    Full,
    /// At nothing that is known: all is read anew.
    Anew,
}

/// What is needed to bring an index up to the tree.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Who asks.
    pub agent: &'a Agent,
    /// The time.
    pub clock: &'a dyn Clock,
    /// How long to wait for another process that makes the index.
    pub wait: Duration,
    /// How many sidecars are read at a time.
    pub jobs: usize,
    /// Hears of each item that is read.
    pub progress: &'a dyn Progress,
    /// Says when to stop.
    pub interrupt: &'a Interrupt,
}

impl<'a> Means<'a> {
    fn waiter(&self) -> Waiter<'a> {
        Waiter::new(self.clock, self.interrupt, self.wait)
    }
}

/// What bringing an index up to the tree took.
#[derive(Debug, Default)]
pub struct News {
    /// It was made, all of it.
    pub made: bool,
    /// It could not be kept, and is gone after this.
    pub temporary: bool,
    /// Items that were read.
    pub read: u64,
    /// Items that are not there any more.
    pub gone: u64,
    /// Directories that could not be listed, and sidecars that could not be read, for a reason that is
    /// not their own: nothing new is known of them.
    pub unlisted: Vec<PathError>,
    /// The paths of these.
    told: HashSet<PathBuf>,
}

impl News {
    /// Notes what cannot be read, once.
    fn can_not_read(&mut self, error: PathError) {
        if self.told.insert(error.path().to_path_buf()) {
            self.unlisted.push(error);
        }
    }
}

/// A collection with an index that knows what is there.
pub struct Catalog<'a> {
    collection: &'a Collection,
    interrupt: Interrupt,
    /// An index that could not be kept.
    temporary: Option<Index>,
    news: News,
}

impl<'a> Catalog<'a> {
    /// Brings the index of `collection` up to what is there.
    pub fn open(
        collection: &'a Collection,
        look: Look,
        means: &Means<'_>,
    ) -> Result<Catalog<'a>, CatalogError> {
        let interrupt = means.interrupt.clone();
        let mut catalog = Catalog { collection, interrupt, temporary: None, news: News::default() };
        // A lost directory is for a change to rebuild, not for a question.
        if collection.own()?.is_none() {
            catalog.make_temporary(means)?;
            return Ok(catalog);
        }
        let ready = match look {
            Look::Anew => catalog.make(look, means),
            look => catalog.refresh_or_make(look, means),
        };
        match ready {
            Ok(()) => {}
            Err(error) if error.can_not_be_kept() => catalog.make_temporary(means)?,
            Err(error) => return Err(error),
        }
        Ok(catalog)
    }

    /// What that took.
    pub fn news(&self) -> &News {
        &self.news
    }

    /// Counts all items.
    pub fn counts(&mut self) -> Result<Counts, CatalogError> {
        self.with_index(|_, index| Ok(index.tables().counts()?))
    }

    fn refresh_or_make(&mut self, look: Look, means: &Means<'_>) -> Result<(), CatalogError> {
        match self.refresh(look, means) {
            Ok(Some(())) => Ok(()),
            Ok(None) => self.make(look, means),
            Err(error) if error.is_cured_by_rebuilding() => self.make(look, means),
            Err(error) => Err(error),
        }
    }

    /// Brings the index up to what is there, if there is an index.
    fn refresh(&mut self, look: Look, means: &Means<'_>) -> Result<Option<()>, CatalogError> {
        let (collection, news) = (self.collection, &mut self.news);
        collection.with_index(|index| Refresh::new(collection, means, news).bring_up(index, look))
    }

    /// Does something with the index, which is there.
    fn with_index<T>(
        &mut self,
        act: impl FnOnce(&mut News, &mut Index) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        if let Some(index) = &mut self.temporary {
            return act(&mut self.news, index);
        }
        let news = &mut self.news;
        self.collection.with_index(|index| act(news, index))?.ok_or(CatalogError::Gone)
    }
}
