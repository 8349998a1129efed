//! `BagIt` bags (RFC 8493): a payload with the digests of its files.
//!
//! What can be told without reading the payload is checked first: the declaration, the manifests, the
//! tag files with their digests. The digests of the payload are handed to the deposit, which checks them
//! on the way: each byte is read once, and nothing is published that differs. They are kept in the
//! sidecar ([`brought`](crate::sidecar::brought)), and an exported bag has them again.

mod error;
mod lists;
mod tags;

use crate::deposit::Checks;
use crate::disk::{Dir, Kind, PathError};
use crate::sidecar::Metadata;

pub use error::BagError;

/// The file that makes a directory a bag.
const DECLARATION: &str = "bagit.txt";
/// The payload.
pub(super) const PAYLOAD: &str = "data";

/// A bag whose tag files are as they should be.
#[derive(Debug)]
pub(super) struct Bag {
    /// What its payload has to be.
    pub checks: Checks,
    /// The description in `bag-info.txt`.
    pub metadata: Metadata,
    /// Bytes and files, where `bag-info.txt` says them.
    oxum: Option<(u64, u64)>,
}

/// Whether a directory says that it is a bag.
pub(super) fn is_bag(dir: &Dir) -> Result<bool, PathError> {
    Ok(dir.stat(DECLARATION)?.is_some_and(|stamp| stamp.kind == Kind::File))
}

impl Bag {
    /// Reads the tag files of the bag in `dir`.
    pub(super) fn read(dir: &Dir) -> Result<Bag, BagError> {
        let version = tags::declaration(dir)?;
        let files = lists::payload(dir, version)?;
        lists::check_tags(dir, version)?;
        lists::check_fetches(dir, version)?;
        let (metadata, oxum) = tags::info(dir)?;
        let checks = Checks { files: Some(files), payload: None };
        Ok(Bag { checks, metadata, oxum })
    }

    /// Compares counts of the payload with those in the tags.
    pub(super) fn check_counts(&self, bytes: u64, files: u64) -> Result<(), BagError> {
        match self.oxum {
            Some(told) if told != (bytes, files) => {
                let (bytes_told, files_told) = told;
                Err(BagError::Counts { bytes, files, bytes_told, files_told })
            }
            _ => Ok(()),
        }
    }
}

/// The version of the rules: main and minor number.
type Version = (u32, u32);
