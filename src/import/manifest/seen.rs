//! The rows read so far: a few bytes each, whatever their length.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::RowFault;

/// The lines of paths and names. Two of them never share all 128 bits.
#[derive(Debug, Default)]
pub(super) struct SeenKeys(HashMap<(u64, u64), u64>);

impl SeenKeys {
    /// Notes that `what`, a path or a name, is on this line; refuses it if it was on another.
    pub(super) fn note(&mut self, kind: &str, what: &str, line: u64) -> Result<(), RowFault> {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, kind, what).hash(&mut hasher);
            hasher.finish()
        };
        match self.0.entry((half(0), half(1))) {
            Entry::Vacant(new) => {
                new.insert(line);
                Ok(())
            }
            Entry::Occupied(first) => {
                Err(RowFault::Twice { what: what.to_owned(), first: *first.get() })
            }
        }
    }
}
