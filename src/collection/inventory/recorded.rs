//! The last recorded change of an item, and how certain it is.

use std::fmt;

use super::line::{InventoryChange, InventoryLine};

/// The last line about an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The line.
    pub line: InventoryLine,
    /// Whether it is the last one for certain.
    pub certainty: Certainty,
}

/// Whether the last line that can be read about an item is the last one that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// It is.
    Certain,
    /// A line after it is damaged, and may have been about the item.
    Doubtful,
}

/// For people, of an item that is not here.
impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.certainty {
            _ if self.line.change == InventoryChange::Lost => self.line.fmt(f),
            Certainty::Certain => f.write_str("it should be here, and is missing"),
            Certainty::Doubtful => f.write_str(
                "it is missing, or it was given up: a line of the inventory after its last one is damaged",
            ),
        }
    }
}

impl Certainty {
    /// The certainty of the line that begins at `line`, if the last unreadable line begins at `rotten`.
    pub(super) fn of(line: u64, last_rotten: Option<u64>) -> Certainty {
        if last_rotten > Some(line) { Certainty::Doubtful } else { Certainty::Certain }
    }
}
