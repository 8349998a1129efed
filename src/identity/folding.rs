//! Comparing ASCII without regard to case; the texts keep their spelling.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// The order of two texts, letters compared in lower case.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    a.bytes().map(lower).cmp(b.bytes().map(lower))
}

/// Hashes the text made of `pieces`, letters in lower case.
///
/// The division into pieces does not matter: equal texts have equal hashes.
pub(super) fn hash<H: Hasher>(pieces: &[&str], state: &mut H) {
    // A block at a time: hashers are slow on single bytes.
    let mut block = [0; 64];
    let mut filled = 0;
    for byte in pieces.iter().flat_map(|piece| piece.bytes()) {
        block[filled] = lower(byte);
        filled += 1;
        if filled == block.len() {
            state.write(&block);
            filled = 0;
        }
    }
    block[..filled].hash(state);
}

fn lower(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}
