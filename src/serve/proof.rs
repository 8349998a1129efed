//! Which files were read and found whole, or damaged, since the service began.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::digest::{Digest, Hasher};
use crate::disk::FileStat;

/// Most files that are remembered.
const MOST: usize = 1 << 16;

/// A version of a file, and the digest that it should have: device, inode, size, both times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Version([u8; 32], u64, Digest);

/// The result of reading a version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// Its bytes are those of the digest.
    Whole(Charset),
    Damaged,
}

/// The charset of a text, as far as its bytes show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    /// They are UTF-8, and more than ASCII, which needs no name: hardly any text of another charset is that by accident.
    Utf8,
    Unknown,
}

/// The reading of a file from its first byte to its last one, for its proof.
#[derive(Default)]
pub(super) struct ProofReading {
    hasher: Hasher,
    text: TextReading,
}

/// What is known of the text so far.
#[derive(Default)]
struct TextReading {
    is_other: bool,
    has_more_than_ascii: bool,
    /// The begin of a character that goes on in the next piece.
    begun: Vec<u8>,
}

impl ProofReading {
    /// Takes the next bytes.
    pub(super) fn take(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        self.text.take(piece);
    }

    /// The proof of a file that should have this digest.
    pub(super) fn end(self, digest: Digest) -> Proof {
        if self.hasher.finish() == digest { Proof::Whole(self.text.end()) } else { Proof::Damaged }
    }
}

impl TextReading {
    fn take(&mut self, mut piece: &[u8]) {
        while !self.begun.is_empty() && !self.is_other {
            let Some((first, rest)) = piece.split_first() else { return };
            (piece, self.begun) = (rest, [&*self.begun, &[*first]].concat());
            match std::str::from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) => self.is_other = error.error_len().is_some(),
            }
        }
        if self.is_other {
            return;
        }
        self.has_more_than_ascii |= !piece.is_ascii();
        if let Err(error) = std::str::from_utf8(piece) {
            self.is_other = error.error_len().is_some();
            piece[error.valid_up_to()..].clone_into(&mut self.begun);
        }
    }

    fn end(self) -> Charset {
        let is_utf8 = !self.is_other && self.begun.is_empty() && self.has_more_than_ascii;
        if is_utf8 { Charset::Utf8 } else { Charset::Unknown }
    }
}

/// The proofs.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    known: Mutex<HashMap<Version, Proof>>,
    /// Something is damaged: only then does an answer look at each file.
    any_damage: AtomicBool,
    /// Whole files that are proved while they are sent.
    pub(super) checks: AtomicU64,
    /// Held by the one reading in the background.
    background: Arc<AtomicBool>,
}

/// The turn to read in the background.
pub(super) struct Turn(Arc<AtomicBool>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Version {
    pub(super) fn of(stat: &FileStat, digest: Digest) -> Version {
        Version(*stat.version().as_bytes(), stat.identity.0, digest)
    }
}

impl Proofs {
    /// The proof of a version, if there is one.
    pub(super) fn of(&self, version: &Version) -> Option<Proof> {
        self.known().get(version).copied()
    }

    /// Remembers a proof.
    pub(super) fn note(&self, version: Version, proof: Proof) {
        let mut known = self.known();
        if known.len() >= MOST {
            // Frequent files are soon proved again. Damage is not forgotten.
            known.retain(|_, proof| *proof == Proof::Damaged);
        }
        if known.len() < MOST {
            known.insert(version, proof);
        }
        if proof == Proof::Damaged {
            self.any_damage.store(true, Ordering::Relaxed);
        }
    }

    /// The turn to read a file in the background, if nobody has it.
    pub(super) fn turn(&self) -> Option<Turn> {
        let is_taken = self.background.swap(true, Ordering::Acquire);
        (!is_taken).then(|| Turn(Arc::clone(&self.background)))
    }

    /// Whether any file is known to be damaged.
    pub(super) fn knows_damage(&self) -> bool {
        self.any_damage.load(Ordering::Relaxed)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Version, Proof>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_8_is_known_however_a_text_is_cut() {
        for (text, expected) in [
            ("chegaram também".as_bytes(), Charset::Utf8),
            ("a\u{10348}€é".as_bytes(), Charset::Utf8),
            ("é".as_bytes(), Charset::Utf8),
            (b"", Charset::Unknown),
            (b"ascii", Charset::Unknown),
            (b"\x1b$BF|\x1b(B", Charset::Unknown),
            (b"tamb\xe9m", Charset::Unknown),
            (b"tamb\xe9", Charset::Unknown),
            (b"\xc3\xa9 and \xc3", Charset::Unknown),
            (b"\xc3\xa9 and \xc3 more", Charset::Unknown),
            (b"\xff\xfea\0", Charset::Unknown),
            (b"\xed\xa0\x80", Charset::Unknown),
        ] {
            for length in 1..=text.len().max(1) {
                let mut reading = ProofReading::default();
                text.chunks(length).for_each(|piece| reading.take(piece));
                let proof = reading.end(Digest::of(text));
                assert_eq!(proof, Proof::Whole(expected), "{} {length}", text.escape_ascii());
            }
        }
        assert_eq!(ProofReading::default().end(Digest::of(b"a")), Proof::Damaged);
    }
}
