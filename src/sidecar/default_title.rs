//! The title of an item that was given none.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Metadata;

impl Metadata {
    /// Makes the last name of the path `source` the title, escaped as a path, unless there is a title. A name
    /// that cannot be one is passed over.
    pub fn set_default_title(&mut self, source: &Path) {
        if let Some(name) = source.file_name()
            && !self.table().contains_key("title")
        {
            let _ = self.add("title", &crate::item::escape(name.as_bytes()));
        }
    }
}
