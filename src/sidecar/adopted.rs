//! What adopting leaves beside a payload: the old archives' own, which is no part of the item.

use std::ffi::OsStr;

use super::Sidecar;

/// The key in `[origin]` of adopted items: when that was.
pub(crate) const ADOPTED: &str = "adopted";

/// What the old archives keep of an item beside its payload.
const OF_ARCHIVES: [&str; 5] = [".htaccess", ".reserved", "@reference.bib", "not_sent", "service"];

impl Sidecar {
    /// Whether what is called `name` beside the payload was left there when the item was adopted.
    pub(crate) fn leaves_alone(&self, name: &OsStr) -> bool {
        self.origin.contains_key(ADOPTED) && OF_ARCHIVES.iter().any(|it| name == *it)
    }
}
