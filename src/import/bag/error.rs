//! The faults of a bag.

use crate::digest::Algorithm;
use crate::disk::PathError;
use crate::item::PayloadPath;
use crate::sidecar::{MetadataError, SidecarError};

/// The faults of a bag.
#[derive(Debug, thiserror::Error)]
pub enum BagError {
    /// It does not declare itself a bag.
    #[error("`bagit.txt` does not declare a bag of version 0.93 to 1.0 in UTF-8")]
    Declaration,
    /// It has no digests of a known algorithm.
    #[error("it has no manifest of SHA-2, SHA-1 or MD5")]
    NoManifest,
    /// It is empty.
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
    /// A path leads out of the bag.
    #[error("line {line} of `{file}` leads out of the bag")]
    Outside {
        /// The tag file.
        file: String,
        /// The line, from 1.
        line: usize,
    },
    /// A file of the payload has not been fetched.
    #[error("`{file}` is not there; `fetch.txt` has its address")]
    NotFetched {
        /// The file.
        file: String,
    },
    /// A listed file is missing.
    #[error("`{path}` is in the list of the files, and is not there")]
    NotThere {
        /// The file, as it would be below `doc/`.
        path: PayloadPath,
    },
    /// A manifest does not list all files.
    #[error("`{file}` lists {listed} of {files} files")]
    Incomplete {
        /// The manifest.
        file: String,
        /// The number of files in it.
        listed: usize,
        /// The number of files in all manifests.
        files: usize,
    },
    /// A tag file has changed.
    #[error("the {algorithm} of `{file}` is not the one in its list")]
    Tag {
        /// The tag file.
        file: String,
        /// The algorithm of the digest.
        algorithm: Algorithm,
    },
    /// The payload has another size than stated.
    #[error(
        "`bag-info.txt` tells of {files_told} files and {bytes_told} bytes; there are {files} files and {bytes} bytes"
    )]
    Counts {
        /// The actual bytes.
        bytes: u64,
        /// The actual files.
        files: u64,
        /// The bytes in `bag-info.txt`.
        bytes_told: u64,
        /// The files in `bag-info.txt`.
        files_told: u64,
    },
    /// A description is refused.
    #[error("`bag-info.txt` cannot be taken")]
    Description(#[from] MetadataError),
    /// The conditions of the exported item cannot be read.
    #[error(
        "`metadata/item.toml` does not say who may read the item; \
         a table with the columns `path`, `access` and `transferable` decides instead"
    )]
    Conditions(#[from] SidecarError),
    /// It cannot be read.
    #[error(transparent)]
    Disk(#[from] PathError),
}
