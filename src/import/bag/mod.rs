//! `BagIt` bags (RFC 8493): a payload with the digests of its files.
//!
//! The parts other than the payload are checked first: the declaration, the manifests, the tag files with
//! their digests. The deposit gets the digests of the payload and checks them on the way: each byte is read
//! once, and a file that differs is never published. They are kept in the sidecar
//! ([`source_digests`](crate::sidecar::source_digests)), and an exported bag has them again.

mod error;
mod lists;
mod tags;

use std::cell::RefCell;

use super::forms::Forms;
use crate::deposit::Checks;
use crate::disk::{Dir, Kind, PathError};
use crate::sidecar::{Conditions, Metadata};

pub use error::BagError;

/// The file that makes a directory a bag.
const DECLARATION: &str = "bagit.txt";
/// The payload.
pub(super) const PAYLOAD: &str = "data";

/// A bag with correct tag files.
#[derive(Debug)]
pub(super) struct Bag {
    /// The expected checksums of its payload.
    pub checks: Checks,
    /// The description in `bag-info.txt`.
    pub metadata: Metadata,
    /// Those of the item of which it was made. If they cannot be read, a row may give them.
    pub conditions: Result<Option<Conditions>, BagError>,
    /// Bytes and files, if `bag-info.txt` states them.
    oxum: Option<(u64, u64)>,
}

/// Whether a directory declares itself a bag.
pub(super) fn is_bag(dir: &Dir) -> Result<bool, PathError> {
    Ok(dir.stat(DECLARATION)?.is_some_and(|stamp| stamp.kind == Kind::File))
}

impl Bag {
    /// Reads the tag files of the bag in `dir`.
    pub(super) fn read(dir: &Dir) -> Result<Bag, BagError> {
        let (version, encoding) = tags::declaration(dir)?;
        let tags = TagFiles { dir, version, encoding, forms: RefCell::default() };
        lists::check_fetches(&tags)?;
        let files = lists::payload(&tags)?;
        lists::check_tags(&tags)?;
        let (metadata, oxum) = tags::info(&tags)?;
        let conditions = tags::conditions(dir, &metadata);
        let checks = Checks { files: Some(files), payload: None };
        Ok(Bag { checks, metadata, conditions, oxum })
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

/// The tag files of a bag, by the rules that it declares.
struct TagFiles<'a> {
    dir: &'a Dir,
    version: Version,
    /// The encoding of all tag files but the declaration, which is UTF-8.
    encoding: &'static encoding_rs::Encoding,
    /// Finds files whose names a manifest writes in another Unicode form.
    forms: RefCell<Forms>,
}
