//! Names in another Unicode form: macOS writes `a` and a tilde where other systems write `ã`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use crate::disk::{Dir, PathError};

/// Finds paths whose names a list and the disk write in different forms.
///
/// The names of the last directory are kept: the paths of a list come by directory, and each may be in the other form.
#[derive(Debug, Default)]
pub(super) struct Forms {
    listed: Option<(PathBuf, BTreeMap<String, Vec<OsString>>)>,
}

impl Forms {
    /// The path below `root` that `relative` means: itself if it exists, else the only one that differs in Unicode form.
    /// `None` if there are several of these. A path that means nothing is returned unchanged.
    pub(super) fn find(
        &mut self,
        root: &Dir,
        relative: &Path,
    ) -> Result<Option<PathBuf>, PathError> {
        if relative.as_os_str().as_encoded_bytes().is_ascii() || exists(root, relative) {
            return Ok(Some(relative.to_path_buf()));
        }
        let mut actual = PathBuf::new();
        for name in relative {
            let exact = actual.join(name);
            if exists(root, &exact) {
                actual = exact;
                continue;
            }
            let Some(wanted) = name.to_str() else { return Ok(Some(relative.to_path_buf())) };
            match self.names(root, &actual, &wanted.nfc().collect::<String>())? {
                [other] => actual.push(other),
                [] => return Ok(Some(relative.to_path_buf())),
                _ => return Ok(None),
            }
        }
        Ok(Some(actual))
    }

    /// The names in `directory` whose composed form is `composed`.
    fn names(
        &mut self,
        root: &Dir,
        directory: &Path,
        composed: &str,
    ) -> Result<&[OsString], PathError> {
        if self.listed.as_ref().is_none_or(|(known, _)| known != directory) {
            let path = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            let mut names: BTreeMap<String, Vec<OsString>> = BTreeMap::new();
            for entry in root.open_dir(path)?.entries()? {
                let name = entry?.name;
                if let Some(text) = name.to_str() {
                    names.entry(text.nfc().collect()).or_default().push(name);
                }
            }
            self.listed = Some((directory.to_path_buf(), names));
        }
        let found = self.listed.as_ref().and_then(|(_, names)| names.get(composed));
        Ok(found.map_or(&[], Vec::as_slice))
    }
}

/// Whether something is at `path`. A place that cannot be inspected counts: reading it reports the error.
fn exists(root: &Dir, path: &Path) -> bool {
    match root.stat(path) {
        Ok(stamp) => stamp.is_some(),
        Err(error) => error.kind() != NotFound,
    }
}
