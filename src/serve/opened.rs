//! A file that may be given out.

use std::sync::Arc;

use bytes::Bytes;

use super::proof::{Proof, Proofs, Version};
use crate::digest::Digest;
use crate::disk::{PathError, StoredFile};
use crate::item::PayloadPath;
use crate::sidecar::Sidecar;

/// A file, opened, whose kind and size are those of the sidecar.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    pub(super) file: Arc<StoredFile>,
    pub(super) sidecar: Arc<Sidecar>,
    pub(super) path: PayloadPath,
    pub(super) bytes: u64,
    pub(super) digest: Digest,
    pub(super) version: Version,
    /// All its bytes, if they were read for the proof.
    pub(super) read: Option<Bytes>,
}

impl Opened {
    /// Reads the whole file: its bytes, unless it is damaged.
    pub(super) fn prove(&self, proofs: &Proofs) -> Result<Option<Bytes>, PathError> {
        let mut read = vec![0; usize::try_from(self.bytes).unwrap_or(0)];
        let length = self.file.read_at(&mut read, 0)?;
        let is_whole = length as u64 == self.bytes && Digest::of(&read) == self.digest;
        proofs.note(self.version, if is_whole { Proof::Whole } else { Proof::Damaged });
        Ok(is_whole.then(|| read.into()))
    }
}
