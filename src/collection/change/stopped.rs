//! Why an item of a group is not known to be in its new state.

use crate::disk::PathError;
use crate::identity::RepositoryName;

/// The end of an item in a group that a failure stopped.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// It is in its new state, which a power cut may undo.
    #[error("`{name}` was changed, but the disk did not confirm it")]
    Unconfirmed {
        /// The item.
        name: RepositoryName,
        /// Why, if it is not reported with another item of the group.
        #[source]
        source: Option<PathError>,
    },
    /// The group ended before this item.
    #[error("`{name}` was not changed, because of the failure before it")]
    NotReached {
        /// The item.
        name: RepositoryName,
    },
}

impl Stopped {
    /// The error of the item `name`, which is in its new state, and of which `error` was met afterwards.
    pub(crate) fn unconfirmed(name: &RepositoryName, error: PathError) -> Stopped {
        Stopped::Unconfirmed { name: name.clone(), source: Some(error) }
    }
}
