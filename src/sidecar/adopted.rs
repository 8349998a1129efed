//! Entries that adoption leaves beside a payload: files of the old archive, which are not part of the item.

use std::ffi::OsStr;

use super::Sidecar;

/// The key in `[origin]` of adopted items, with the date of the adoption.
pub(crate) const ADOPTED: &str = "adopted";

/// Names of such entries.
const OF_ARCHIVES: [&str; 5] = [".htaccess", ".reserved", "@reference.bib", "not_sent", "service"];

impl Sidecar {
    /// Whether the entry `name` beside the payload was left there by adoption.
    pub(crate) fn leaves_alone(&self, name: &OsStr) -> bool {
        self.origin.contains_key(ADOPTED) && OF_ARCHIVES.iter().any(|it| name == *it)
    }
}
