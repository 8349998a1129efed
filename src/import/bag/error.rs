//! The faults of a bag.

use crate::digest::Algorithm;
use crate::disk::PathError;
use crate::sidecar::MetadataError;

/// The faults of a bag.
#[derive(Debug, thiserror::Error)]
pub enum BagError {
    /// It is not known to be one.
    #[error("`bagit.txt` does not declare a bag of version 0.93 to 1.0 in UTF-8")]
    Declaration,
    /// There are no digests, or none of a kind that can be checked.
    #[error("it has no manifest of SHA-2, SHA-1 or MD5")]
    NoManifest,
    /// There is nothing in it.
    #[error("it has no directory `data`")]
    NoPayload,
    /// A tag file is a link, a directory or a device.
    #[error("`{file}` is not a regular file")]
    NotAFile {
        /// The tag file.
        file: String,
    },
    /// A line cannot be read.
    #[error("line {line} of `{file}` cannot be read")]
    Line {
        /// The tag file.
        file: String,
        /// The line, from 1.
        line: usize,
    },
    /// A path leads elsewhere.
    #[error("line {line} of `{file}` leads out of the bag")]
    Outside {
        /// The tag file.
        file: String,
        /// The line, from 1.
        line: usize,
    },
    /// A file of the payload is still elsewhere.
    #[error("`{file}` is not there; `fetch.txt` has its address")]
    NotFetched {
        /// The file.
        file: String,
    },
    /// A manifest has not all files.
    #[error("`{file}` lists {listed} of {files} files")]
    Incomplete {
        /// The manifest.
        file: String,
        /// How many it lists.
        listed: usize,
        /// How many there are in all manifests.
        files: usize,
    },
    /// A tag file is not what it was.
    #[error("the {algorithm} of `{file}` is not the one in its list")]
    Tag {
        /// The tag file.
        file: String,
        /// Whose digest differs.
        algorithm: Algorithm,
    },
    /// There is more or less than was sent.
    #[error("it holds {files} files of {bytes} bytes, and says {files_told} of {bytes_told}")]
    Counts {
        /// Bytes there are.
        bytes: u64,
        /// Files there are.
        files: u64,
        /// Bytes that `bag-info.txt` tells.
        bytes_told: u64,
        /// Files that it tells.
        files_told: u64,
    },
    /// A description cannot be taken.
    #[error("`bag-info.txt` cannot be taken")]
    Description(#[from] MetadataError),
    /// It cannot be read.
    #[error(transparent)]
    Disk(#[from] PathError),
}
