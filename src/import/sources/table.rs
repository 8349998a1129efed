//! The offsets of the lines of sources in the ledger: two numbers for each line, whatever its length.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Offsets of lines by a fingerprint of their key. Different keys may share a fingerprint, so the caller
/// reads the line.
#[derive(Debug, Default)]
pub(super) struct SourceTable(BTreeSet<(u64, u64)>);

impl SourceTable {
    pub(super) fn add(&mut self, of: &[u8], offset: u64) {
        self.0.insert((fingerprint(of), offset));
    }

    /// The lines that may be about `of`, the latest first.
    pub(super) fn find(&self, of: &[u8]) -> impl Iterator<Item = u64> + '_ {
        let fingerprint = fingerprint(of);
        let range = (fingerprint, 0)..=(fingerprint, u64::MAX);
        self.0.range(range).rev().map(|(_, offset)| *offset)
    }
}

fn fingerprint(of: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
