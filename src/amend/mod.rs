//! Amendment: the description of an Original changes, its payload does not.
//!
//! An [`Amendment`] changes the [`Description`] of one item. A [`Plan`] lists the effect on the current item:
//! the keys with their old and new values. [`Amender::amend_all`] makes the plans, and carries them out if it
//! may write.
//!
//! Only an Original is amended. It gets a new custody id, so that its Copies are behind until they are refreshed.
//! `described` becomes the date of the change; `timestamp` stays, because the files stay. Comments and unknown keys
//! in the sidecar stay. A sidecar that does not match its seal is refused: a new seal would vouch for data that nobody
//! has checked.
//!
//! # The order of writes
//!
//! The sidecar is read and the change is planned without a lock. Then the item is locked and the sidecar is
//! read again. If another process changed it in between, the change is planned again for the new sidecar. The
//! only write is one durable replacement of the sidecar. A group of items shares its syncs. The event log
//! gets the old and new values afterwards. A run may be killed anywhere and repeated; the next writer adds the line that
//! it did not write.
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `description` | the part of a sidecar that may be changed |
//! | `plan` | what changes in a sidecar, or why nothing may; pure |
//! | `edit` | changes of single keys, as people type them; pure |
//! | `text` | a description as a text that a person edits; pure |
//! | `group` | many items: locked, and planned again if they changed |
//! | `error` | why an item keeps its description |

mod description;
mod edit;
mod error;
mod group;
mod plan;
mod text;

use crate::agent::Caller;
use crate::collection::{ChangeLocks, Collection, Writer};
use crate::holdings::Sight;
use crate::identity::RepositoryName;

pub use description::Description;
pub use edit::{Edit, SETTINGS, values};
pub use error::{AmendError, EditError};
pub use group::Report;
pub use plan::{Plan, plan};
pub use text::{TextError, TextFault};

/// Changes the descriptions of items of one collection.
#[derive(Clone, Copy)]
pub struct Amender<'a> {
    /// The collection.
    pub collection: &'a Collection,
    /// The other collections in sight: an Original that is behind one of them is not changed.
    pub sight: &'a Sight<'a>,
    /// The right to change it; without it, changes are only planned.
    pub writer: Option<&'a Writer>,
    /// The change lock of the collection, if the caller holds it since before its plan.
    pub locks: Option<&'a ChangeLocks>,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// A change of the description of one item.
///
/// The change is applied again when another process has changed the item between the plan and the lock. So
/// it has the same effect on the same description each time.
pub struct Amendment<'a> {
    /// The item.
    pub name: RepositoryName,
    /// The change.
    pub change: Box<Change<'a>>,
}

/// A function that changes a description. An error leaves the item unchanged.
pub type Change<'a> = dyn Fn(&mut Description) -> Result<(), AmendError> + 'a;
