//! The names of exported items: the identifier in one file name, or the old name of the source.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use super::place::STAGE;
use super::{ExportError, Format};
use crate::identity::{RepositoryName, decode_path};
use crate::item::unescape;
use crate::layout::{OWN, SETTINGS};

/// The longest file name of Linux file systems, in bytes.
const LONGEST: usize = 255;

/// Rule for the names of exported items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamedBy {
    /// [`file_name`]: no two items have the same one.
    #[default]
    Identifier,
    /// The name of the file or directory that was deposited: the last component of `[origin] source`. An item
    /// without a source, or with one that has no usable name, gets its [`file_name`].
    Source,
}

/// The name of the exported directory of `name`: `example.org+archive+2026+11.21.02.13`.
///
/// `+` stands for `/`. No identifier contains it, so the file name can be read back, and is unique.
pub fn file_name(name: &RepositoryName) -> String {
    name.components().join("+")
}

impl Format {
    /// The extension of exported files.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Format::Tar => ".tar",
            Format::Plain | Format::Bag => "",
        }
    }
}

/// The last component of `source`, as `[origin]` records it, if it can be a file name in a destination.
///
/// Sidecars are untrusted: the name never leads out of the destination.
pub(super) fn source_name(source: &str, format: Format) -> Option<OsString> {
    let url = source.strip_prefix("file:");
    let path = url.unwrap_or(source);
    // A URL of another scheme, or a text, is not a path.
    if !path.starts_with('/') {
        return None;
    }
    let (_, last) = path.trim_end_matches('/').rsplit_once('/')?;
    let name = if url.is_some() { decode_path(last)? } else { unescape(last)? };
    let is_special = name.is_empty() || name == b"." || name == b"..";
    let is_unusable = name.iter().any(|byte| matches!(byte, b'/' | b'\0'))
        || name.len() + format.extension().len() > LONGEST
        // The next export would remove it.
        || name.starts_with(STAGE.as_bytes())
        // The destination would become a collection.
        || [SETTINGS, OWN].iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()));
    (!is_special && !is_unusable).then(|| OsString::from_vec(name))
}

/// Names used by a run: sources of several items may have the same name.
///
/// Holds one entry per exported item, but none with [`NamedBy::Identifier`].
#[derive(Debug)]
pub(super) struct GivenNames {
    rule: NamedBy,
    names: HashMap<OsString, RepositoryName>,
}

impl GivenNames {
    pub(super) fn new(rule: NamedBy) -> GivenNames {
        GivenNames { rule, names: HashMap::new() }
    }

    /// Refuses the file name `file` for `item` if another item has it. `path` is its place.
    pub(super) fn check(
        &self,
        file: &OsStr,
        item: &RepositoryName,
        path: &Path,
    ) -> Result<(), ExportError> {
        let Some(other) = self.names.get(file) else { return Ok(()) };
        let (path, name, other) = (path.to_path_buf(), item.clone(), other.clone());
        Err(ExportError::SameName { path, name, other })
    }

    pub(super) fn add(&mut self, file: OsString, item: &RepositoryName) {
        if self.rule == NamedBy::Source {
            self.names.insert(file, item.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_stay_file_names() {
        for (name, file) in [
            ("sid.inpe.br/mtc-m18@80/2009/02.16.17.46", "sid.inpe.br+mtc-m18@80+2009+02.16.17.46"),
            ("Example.org./archive/2026/11.21.02.13", "Example.org+archive+2026+11.21.02.13"),
        ] {
            let (name, _) = RepositoryName::parse_as_found(name).unwrap();
            assert_eq!(file_name(&name), file);
        }
    }

    #[test]
    fn the_name_of_a_source_stays_in_the_destination() {
        let longest = "n".repeat(LONGEST);
        let named = |source: &str| source_name(source, Format::Plain);
        for (source, name) in [
            ("/home/ana/report.pdf", "report.pdf"),
            ("/home/ana/album/", "album"),
            ("/home/ana/50%25 off", "50%25 off"),
            ("/home/ana/back\\\\slash", "back\\slash"),
            ("/-rf", "-rf"),
            ("/...", "..."),
            ("file:///home/ana/50%25%20off", "50% off"),
            ("file://host/album/", "album"),
            (&format!("/{longest}"), &longest),
        ] {
            assert_eq!(named(source), Some(name.into()), "{source}");
        }
        assert_eq!(named("/latin\\xe7"), Some(OsString::from_vec(b"latin\xe7".to_vec())));
        for source in [
            "",
            "/",
            "//",
            "report.pdf",
            "https://example.org/report.pdf",
            "/home/.",
            "/home/..",
            "/home/../",
            "/home/\0",
            "/home/a\\x2fb",
            "/home/a\\x00b",
            "/home/a\\b",
            "file:",
            "file:report.pdf",
            "file:///home/%2e%2e",
            "file:///home/..%2Fetc",
            "file:///home/a%00b",
            "file:///home/100%",
            "/home/.urepo-export-7-0123456789abcdef",
            "/home/urepo.toml",
            "/home/Urepo.TOML",
            "/home/.urepo/",
            &format!("/{longest}n"),
        ] {
            assert_eq!(named(source), None, "{source}");
        }
        // With its extension a file name has to fit, too.
        assert_eq!(source_name(&format!("/{longest}"), Format::Tar), None);
    }
}
