//! The faults of a bag.

use crate::digest::Algorithm;
use crate::disk::PathError;
use crate::item::PayloadPath;
use crate::sidecar::{MetadataError, SidecarError};

/// The faults of a bag.
#[derive(Debug, thiserror::Error)]
pub enum BagError {
    /// It does not declare itself a bag.
    #[error("`bagit.txt` does not declare a bag of version 0.93 to 1.0 and its encoding")]
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
    /// The declaration begins with a byte order mark.
    #[error("`bagit.txt` begins with a byte order mark, which BagIt forbids")]
    Mark,
    /// A label of the declaration ends with a blank.
    #[error("line {line} of `bagit.txt` has a blank before the colon, which BagIt 1.0 forbids")]
    Blank {
        /// The line, from 1.
        line: usize,
    },
    /// The encoding of the tag files has no decoder here.
    #[error("its tag files are in the encoding `{encoding}`, which urepo does not know")]
    Encoding {
        /// The encoding as declared.
        encoding: String,
    },
    /// A tag file is not in the encoding that the bag declares.
    #[error("line {line} of `{file}` is not {encoding}, the encoding that `bagit.txt` declares")]
    NotText {
        /// The tag file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The name of the encoding.
        encoding: String,
    },
    /// A path has the separators of Windows.
    #[error("line {line} of `{file}` separates names by `\\`; BagIt has `/`")]
    Separator {
        /// The tag file.
        file: String,
        /// The line, from 1.
        line: usize,
    },
    /// Several files have the name of one line.
    #[error("`{path}` may be any of several files, whose names differ in Unicode form only")]
    Ambiguous {
        /// The path, from the bag on.
        path: PayloadPath,
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

impl BagError {
    /// What the fault means for the bag: one that urepo cannot read may be valid.
    pub(crate) fn verdict(&self) -> &'static str {
        match self {
            BagError::Encoding { .. } => "is a bag that urepo cannot read",
            BagError::Disk(error) if error.kind() != std::io::ErrorKind::NotFound => {
                "is a bag that cannot be read"
            }
            _ => "is not a valid bag",
        }
    }
}
