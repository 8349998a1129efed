//! Which files were read and found whole, or damaged, since the service began.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::digest::Digest;
use crate::disk::FileStat;

/// Most files that are remembered.
const MOST: usize = 1 << 16;

/// A version of a file, and the digest that it should have: device, inode, size, both times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Version([u8; 32], u64, Digest);

/// The result of reading a version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    Whole,
    Damaged,
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
