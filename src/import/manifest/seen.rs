//! Which rows have been met: a few bytes each, however long they are.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::RowFault;

/// The lines of paths and names. That two of them share all 128 bits does not happen.
#[derive(Debug, Default)]
pub(super) struct SeenKeys(HashMap<(u64, u64), u64>);

impl SeenKeys {
    /// Notes that `what`, a path or a name, is on this line; refuses what was on another.
    pub(super) fn note(&mut self, kind: &str, what: &str, line: u64) -> Result<(), RowFault> {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, kind, what).hash(&mut hasher);
            hasher.finish()
        };
        let first = *self.0.entry((half(0), half(1))).or_insert(line);
        if first == line { Ok(()) } else { Err(RowFault::Twice { what: what.to_owned(), first }) }
    }
}
