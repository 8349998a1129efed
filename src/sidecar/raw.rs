//! The tables of a sidecar in TOML, before their values are checked.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::access::RawAccess;
use super::custody::RawCustody;
use super::events::RawRemoval;
use super::{FORMAT, Metadata, Relations, Sidecar, SidecarError, datetime};
use crate::digest::Digest;
use crate::identity::{Ibip, Instant, RepositoryName};
use crate::item::{Content, Entry, PayloadPath, Totals};

#[derive(Deserialize)]
pub(super) struct Raw {
    pub(super) format: u32,
    pub(super) state: String,
    pub(super) repository: String,
    pub(super) ibip: Option<String>,
    #[serde(deserialize_with = "datetime::deserialize")]
    pub(super) created: Instant,
    #[serde(deserialize_with = "datetime::deserialize")]
    pub(super) timestamp: Instant,
    #[serde(default, deserialize_with = "datetime::deserialize_option")]
    pub(super) described: Option<Instant>,
    pub(super) target: Option<String>,
    #[serde(default = "yes")]
    pub(super) transferable: bool,
    pub(super) access: Option<RawAccess>,
    pub(super) custody: RawCustody,
    #[serde(default)]
    pub(super) metadata: toml::Table,
    #[serde(default)]
    pub(super) relations: toml::Table,
    #[serde(default)]
    pub(super) origin: toml::Table,
    pub(super) removal: Option<RawRemoval>,
    pub(super) payload: Option<RawPayload>,
    pub(super) file: Option<Vec<RawEntry>>,
    pub(super) seal: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct RawPayload {
    files: u64,
    bytes: u64,
    sha256: String,
}

#[derive(Deserialize)]
pub(super) struct RawEntry {
    path: String,
    kind: Option<String>,
    bytes: Option<u64>,
    sha256: Option<String>,
    #[serde(default, deserialize_with = "datetime::deserialize_option")]
    modified: Option<Instant>,
    mode: Option<String>,
    target: Option<String>,
}

fn yes() -> bool {
    true
}

impl Raw {
    /// Whether it has a table of the payload, or a seal.
    pub(super) fn has_payload(&self) -> bool {
        self.payload.is_some() || self.file.is_some() || self.seal.is_some()
    }

    /// The sidecar with these values and this payload.
    pub(super) fn check(
        self,
        payload: Totals,
        mut files: Vec<Entry>,
    ) -> Result<Sidecar, SidecarError> {
        if self.format != FORMAT {
            let reason = format!("expected {FORMAT}, found {}", self.format);
            return Err(SidecarError::value("format", reason));
        }
        if !files.is_sorted_by(|a, b| a.path < b.path) {
            files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
            if let Some(pair) = files.windows(2).find(|pair| pair[0].path == pair[1].path) {
                let reason = format!("`{}` stands twice", pair[0].path);
                return Err(SidecarError::value("path", reason));
            }
        }
        Ok(Sidecar {
            state: self.state.parse().map_err(|error| SidecarError::value("state", error))?,
            repository: as_found(&self.repository)?,
            ibip: self
                .ibip
                .map(|text| text.parse::<Ibip>())
                .transpose()
                .map_err(|error| SidecarError::value("ibip", error))?,
            created: self.created,
            timestamp: self.timestamp,
            described: self.described,
            target: self.target.map(|text| payload_path("target", &text)).transpose()?,
            transferable: self.transferable,
            access: self
                .access
                .map(RawAccess::check)
                .transpose()
                .map_err(|error| SidecarError::value("access", error))?
                .unwrap_or_default(),
            custody: self.custody.check()?,
            metadata: Metadata::as_found(self.metadata),
            relations: Relations::as_found(self.relations),
            origin: self.origin,
            removal: self.removal.map(RawRemoval::check).transpose()?,
            payload,
            files: files.into(),
        })
    }
}

impl RawPayload {
    pub(super) fn check(self) -> Result<Totals, SidecarError> {
        let RawPayload { files, bytes, sha256 } = self;
        Ok(Totals { files, bytes, digest: digest(&sha256)? })
    }
}

fn as_found(text: &str) -> Result<RepositoryName, SidecarError> {
    match RepositoryName::parse_as_found(text) {
        Ok((name, _)) => Ok(name),
        Err(error) => Err(SidecarError::value("repository", error)),
    }
}

pub(super) fn payload_path(key: &'static str, text: &str) -> Result<PayloadPath, SidecarError> {
    PayloadPath::from_text(text).map_err(|error| SidecarError::value(key, error))
}

pub(super) fn digest(text: &str) -> Result<Digest, SidecarError> {
    text.parse().map_err(|error| SidecarError::value("sha256", error))
}

impl RawEntry {
    pub(super) fn check(self) -> Result<Entry, SidecarError> {
        let path = payload_path("path", &self.path)?;
        let missing = |key| SidecarError::value(key, format!("missing for `{}`", self.path));
        let content = match self.kind.as_deref() {
            None | Some("file") => Content::File {
                bytes: self.bytes.ok_or_else(|| missing("bytes"))?,
                digest: digest(self.sha256.as_deref().ok_or_else(|| missing("sha256"))?)?,
                modified: self.modified.ok_or_else(|| missing("modified"))?,
                mode: mode(self.mode.as_deref().ok_or_else(|| missing("mode"))?)?,
            },
            Some("link") => {
                let target = self.target.as_deref().ok_or_else(|| missing("target"))?;
                let target = crate::item::unescape(target).ok_or_else(|| {
                    SidecarError::value("target", format!("`{target}` has a stray backslash"))
                })?;
                Content::Link { target }
            }
            Some("directory") => Content::EmptyDirectory {
                modified: self.modified.ok_or_else(|| missing("modified"))?,
                mode: mode(self.mode.as_deref().ok_or_else(|| missing("mode"))?)?,
            },
            Some(other) => {
                let reason = format!("`{other}` is not a kind; expected `link` or `directory`");
                return Err(SidecarError::value("kind", reason));
            }
        };
        Ok(Entry { path, content })
    }
}

pub(super) fn mode(text: &str) -> Result<u32, SidecarError> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|mode| *mode <= 0o777 && !text.starts_with('+'))
        .ok_or_else(|| SidecarError::value("mode", format!("`{text}` is not like `0644`")))
}
