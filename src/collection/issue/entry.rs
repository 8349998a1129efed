//! An entry of the register: a small file that names the issuer of a series, and its memory.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml_writer::ToTomlValue as _;

use crate::collection::{CollectionError, Series, SettingsError};
use crate::disk::{Dir, PathError, StoredFile, Watcher};

/// Limit on the size of an entry.
const LARGEST_ENTRY: u64 = 64 * 1024;

/// An entry of the register.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Registration {
    /// The prefix of the names, even in an entry for IBIps: a memory has a date for each prefix.
    pub(super) prefix: String,
    /// The id of the collection.
    pub(super) collection: String,
    /// Its path when it last wrote the entry.
    pub(super) root: PathBuf,
    /// The directory of the memory.
    pub(super) memory: PathBuf,
    /// Whether the file of reserved dates has to be beside the memory, also if the memory is lost with it.
    #[serde(default)]
    pub(super) reserved: bool,
}

impl Registration {
    /// Writes the entry of `series` into `dir`, durably.
    pub(super) fn write(&self, dir: &Dir, series: &Series) -> Result<(), PathError> {
        let Registration { prefix, collection, root, memory, reserved } = self;
        let mut text = format!(
            "# Written by urepo: this machine gives the names of a prefix from here.\n\
             prefix = {}\ncollection = {}\nroot = {}\nmemory = {}\n",
            prefix.to_toml_value(),
            collection.to_toml_value(),
            root.to_string_lossy().to_toml_value(),
            memory.to_string_lossy().to_toml_value(),
        );
        if *reserved {
            text += "reserved = true\n";
        }
        dir.replace_file(&series.file(), text.as_bytes())
    }
}

/// The files of the entries in `dir`.
pub(super) fn entries_of(dir: &Path) -> Result<Vec<PathBuf>, CollectionError> {
    let dir = match Dir::open(dir, Watcher::default()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let paths = dir.entries()?.map(|entry| Ok(dir.path_of(entry?.name)));
    let paths = paths.collect::<Result<Vec<_>, PathError>>()?;
    Ok(paths.into_iter().filter(|path| path.extension() == Some(OsStr::new("toml"))).collect())
}

/// The entry of `series` in the register `dir`, if it has one.
pub(super) fn read(dir: &Path, series: &Series) -> Result<Option<Registration>, CollectionError> {
    read_file(dir.join(series.file()))
}

/// The entry at `path`, if there is one.
pub(super) fn read_file(path: PathBuf) -> Result<Option<Registration>, CollectionError> {
    let mut file = match StoredFile::open_no_follow(&path, Watcher::default()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let text = String::from_utf8(file.read_all(LARGEST_ENTRY)?).map_err(|error| error.to_string());
    let entry = text.and_then(|text| {
        toml::from_str(&text).map_err(|error: toml::de::Error| error.message().replace('\n', ", "))
    });
    entry.map(Some).map_err(|cause| CollectionError::Settings { path, cause: SettingsError(cause) })
}
