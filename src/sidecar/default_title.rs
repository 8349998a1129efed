//! The default title of an item.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Metadata;
use super::metadata::is_refused;

/// A name, escaped as a path and without characters that a description cannot have.
fn escaped(name: &[u8]) -> String {
    let mut title = String::with_capacity(name.len());
    for character in crate::item::escape(name).chars() {
        if is_refused(character) {
            let bytes = character.to_string().into_bytes();
            title.extend(bytes.iter().map(|byte| format!("\\x{byte:02x}")));
        } else {
            title.push(character);
        }
    }
    title
}

impl Metadata {
    /// Makes the last name of the path `source` the title, escaped as a path, unless there is a title. A name
    /// that cannot be a title is ignored.
    pub fn set_default_title(&mut self, source: &Path) {
        if let Some(name) = source.file_name()
            && !self.table().contains_key("title")
        {
            let _ = self.add("title", &escaped(name.as_bytes()));
        }
    }
}
