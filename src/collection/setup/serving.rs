//! The needs of the archive service in its collection: its name in `urepo.toml`, versions at a glance, and sidecars in memory.

use std::sync::Arc;

use super::MAX_BYTES;
use crate::agent::Agent;
use crate::collection::{Collection, CollectionError, SettingsError, SidecarCache, lock_changes};
use crate::disk::FileStat;
use crate::identity::RepositoryName;
use crate::layout;
use crate::wait::Waiter;

impl Collection {
    /// Keeps sidecars in `sidecars` once they are read.
    #[cfg(feature = "serve")]
    #[must_use]
    pub(crate) fn with_sidecars(self, sidecars: Arc<dyn SidecarCache>) -> Collection {
        Collection { sidecars: Some(sidecars), ..self }
    }

    /// The file or directory at `path` below the root, in one system call that opens nothing.
    pub(crate) fn glance(&self, path: &str) -> Option<FileStat> {
        self.root.glance(path)
    }

    /// Writes the name of the archive service into `urepo.toml`, where people's own text stays as it is.
    pub(crate) fn note_service(
        &self,
        name: &RepositoryName,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<(), CollectionError> {
        let _locks = lock_changes([self], agent, waiter)?;
        let text = String::from_utf8(self.root.open_file(layout::SETTINGS)?.read_all(MAX_BYTES)?);
        let document = text.map_err(|error| error.to_string()).and_then(|text| {
            let mut document: toml_edit::DocumentMut =
                text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
            let archive = document.entry("archive").or_insert_with(toml_edit::table);
            let table = archive.as_table_like_mut().ok_or("`archive` is not a table")?;
            table.insert("service", toml_edit::value(name.to_string()));
            Ok(document.to_string())
        });
        let text = document.map_err(|cause| CollectionError::Settings {
            path: self.settings_path(),
            cause: SettingsError(cause),
        })?;
        Ok(self.root.replace_file(layout::SETTINGS, text.as_bytes())?)
    }
}
