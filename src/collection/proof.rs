//! Reading an item back before anything it replaces goes [protocol: P5].

use super::StoredItem;
use crate::disk::copy::{BUFFER_BYTES, CopyError, digest};
use crate::disk::{Kind, PathError};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath};
use crate::layout;
use crate::progress::NoProgress;

/// Why an item is no proof of itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProofError {
    /// An entry is not what it should be.
    #[error("the item does not read back as it was written: `{0}`")]
    NotProven(PayloadPath),
    /// It can not be read.
    #[error(transparent)]
    Copy(#[from] CopyError),
}

impl From<PathError> for ProofError {
    fn from(error: PathError) -> ProofError {
        ProofError::Copy(error.into())
    }
}

impl StoredItem {
    /// Reads the whole payload from the disk and compares it with `entries`.
    ///
    /// The payload has to be synced: what is only in memory proves nothing about the disk, so the
    /// system is asked to forget it first.
    pub(crate) fn prove(&self, entries: &[Entry], interrupt: &Interrupt) -> Result<(), ProofError> {
        let mut buffer = vec![0; BUFFER_BYTES];
        for Entry { path, content } in entries {
            let is_so = match content {
                Content::File { bytes, digest: expected, .. } => {
                    let mut file = self.open(path)?;
                    file.let_go(0, *bytes);
                    let found = digest(&mut file, &mut buffer, &NoProgress, interrupt)?;
                    found.digest == *expected && found.bytes == *bytes
                }
                Content::Link { target } => {
                    use std::os::unix::ffi::OsStrExt;
                    let link = std::path::Path::new(layout::PAYLOAD).join(path.as_path());
                    self.dir().read_link(&link)?.as_bytes() == target
                }
                Content::EmptyDirectory { .. } => {
                    let path = std::path::Path::new(layout::PAYLOAD).join(path.as_path());
                    self.dir().stamp(path)?.is_some_and(|stamp| stamp.kind == Kind::Directory)
                }
            };
            if !is_so {
                return Err(ProofError::NotProven(path.clone()));
            }
        }
        Ok(())
    }
}
