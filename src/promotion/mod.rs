//! Promotion: a Copy becomes the Original, because the collection that held it is lost, or because a person says which line
//! of an item goes on that was changed in two collections.
//!
//! [`Permit::promote`] decides; nothing of the other collections is written. What they hold is covered by the new custody,
//! so their Copies follow it, and an Original among them is behind until a person brings it into line.
//!
//! # The order of writes
//!
//! The item is verified without a lock, byte by byte from the disk: only a whole Copy becomes an Original. Then it is locked
//! in every collection that holds it, and the decision is taken again. The only write is one durable replacement of the
//! sidecar; several items share its syncs. So a run may be killed anywhere and repeated, and of two runs in two mirrors that
//! know each other one is refused.
//!
//! [`Permit::promote`]: crate::custody::Permit::promote

mod error;
mod group;
mod loss;

use crate::agent::Caller;
use crate::collection::{Collection, Writer};
use crate::custody::Discard;
use crate::holdings::Sight;

pub use error::PromotionError;
pub use group::Report;
pub use loss::{GivenUp, LostPart, Remains};

/// Makes Copies of a collection Originals.
pub struct Registrar<'a> {
    /// The collection whose Copies become Originals.
    pub collection: &'a Collection,
    /// The right to change it; without it, items are only checked.
    pub writer: Option<&'a Writer>,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// A person's statement.
pub struct Loss<'a> {
    /// The ids of the collections that are lost.
    pub collections: &'a [String],
    /// Why, for the log.
    pub reason: &'a str,
    /// All other collections in sight.
    pub sight: &'a Sight<'a>,
    /// Whether contents of other lines may be given up.
    pub discard: Discard,
}

/// The outcome for an item, also of a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The Copy is the Original now, or the line of the Original goes on.
    Promoted,
    /// It is the Original, and nothing in sight disagrees.
    Nothing,
}
