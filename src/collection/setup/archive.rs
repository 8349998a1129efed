//! `[archive]` of `urepo.toml`: how a collection is exposed on the web.

use std::fmt;

use serde::Deserialize;

use super::MAX_BYTES;
use crate::agent::Agent;
use crate::collection::{Collection, CollectionError, SettingsError, lock_changes};
use crate::identity::{HostPort, Identifier, RepositoryName};
use crate::layout;
use crate::wait::Waiter;

/// `[archive]`: the collection as an archive on the web.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveSettings {
    /// The address at which readers and resolvers reach it.
    pub address: Option<HostPort>,
    /// The scheme of the URLs that it gives out.
    #[serde(default)]
    pub scheme: Scheme,
    /// The item that its service is, as registered at the resolver.
    pub service: Option<Identifier>,
    /// The mail address of its administrator.
    pub email: Option<String>,
    /// The beginning of persistent URLs, such as `http://urlib.net/`.
    pub url_base: Option<String>,
}

/// The scheme of URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// In clear text.
    #[default]
    Http,
    /// A server in front has the certificate.
    Https,
}

impl Scheme {
    /// The port of addresses without one.
    pub fn usual_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        })
    }
}

impl Collection {
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
