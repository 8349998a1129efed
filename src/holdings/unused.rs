//! Whether a name is free in every known collection, before an Original gets it.

use super::{OriginalError, read};
use crate::collection::{Collection, CollectionError};
use crate::identity::RepositoryName;
use crate::item::State;

/// The other collections that are checked before an item becomes an Original.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peers<'a> {
    /// Those that may hold the item. The collection itself and its clones are skipped.
    pub collections: &'a [Collection],
    /// The names of known collections that cannot be opened.
    pub missing: &'a [String],
    /// Whether the item may become an Original though some of them cannot be checked.
    pub unseen: UnseenRule,
}

/// Whether an item may become an Original though a collection that may hold the Original was not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnseenRule {
    /// It stays unchanged.
    #[default]
    Refuse,
    /// It may: a person says that there is no other.
    Accept,
}

/// How an Original gets a name that was issued before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// A person says that it has the name.
    Named,
    /// It lies in the place of its name. A Copy elsewhere may be a Copy of it, if it does not name another
    /// collection.
    InPlace,
}

impl Peers<'_> {
    /// Makes sure that no collection but `own` has, or had, an item called `name`: a new Original of that
    /// name would be a second one, or other content under an issued name.
    pub(crate) fn check_unused(
        &self,
        name: &RepositoryName,
        own: Option<&Collection>,
        arrival: Arrival,
    ) -> Result<(), OriginalError> {
        for other in self.collections {
            if let Some(own) = own
                && own.is_same(other)?
            {
                continue;
            }
            let (name, path) = (name.clone(), other.path().to_path_buf());
            // An item that is leaving this collection is recorded as gone before it goes.
            match read(&name, 0, other).map(|holding| holding.record) {
                Some(Ok(record)) => match record.state {
                    State::Original => return Err(OriginalError::Elsewhere { name, path }),
                    State::Deleted => return Err(OriginalError::Deleted { name, path }),
                    State::Copy
                        if arrival == Arrival::Named
                            || !record.rule.custody.holder().is_empty() =>
                    {
                        return Err(OriginalError::Copied { name, path });
                    }
                    State::Elsewhere => return Err(OriginalError::Copied { name, path }),
                    State::Copy => {}
                },
                Some(Err(_)) => return Err(OriginalError::Unreadable { name, path }),
                None => match other.absent(&name) {
                    // Or a person has given it up.
                    CollectionError::NoSuchItem { .. } | CollectionError::GivenUp { .. } => {}
                    error => return Err(OriginalError::Collection(Box::new(error))),
                },
            }
        }
        match (self.unseen, self.missing.first()) {
            (UnseenRule::Refuse, Some(collection)) => {
                let (name, collection) = (name.clone(), collection.clone());
                Err(OriginalError::Unopened { name, collection })
            }
            _ => Ok(()),
        }
    }
}
