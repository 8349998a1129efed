//! Reading a sidecar: any TOML of the right shape, however it is spelt.

use serde::Deserialize;

use super::care::{RawHandover, RawRemoval};
use super::{FORMAT, MAX_BYTES, Metadata, Seal, Sidecar, SidecarError, datetime};
use crate::digest::Digest;
use crate::identity::{Ibip, Instant, RepositoryName};
use crate::item::{Content, Entry, PayloadPath, Totals};

/// The line that ends what the seal covers.
pub(super) const SEAL_LINE: &str = "[seal]\n";

#[derive(Deserialize)]
struct Raw {
    format: u32,
    state: String,
    repository: String,
    ibip: Option<String>,
    #[serde(deserialize_with = "datetime::deserialize")]
    created: Instant,
    #[serde(deserialize_with = "datetime::deserialize")]
    timestamp: Instant,
    target: Option<String>,
    #[serde(default = "yes")]
    transferable: bool,
    #[serde(default)]
    metadata: toml::Table,
    #[serde(default)]
    relations: toml::Table,
    #[serde(default)]
    origin: toml::Table,
    handover: Option<RawHandover>,
    removal: Option<RawRemoval>,
    payload: RawPayload,
    #[serde(default)]
    file: Vec<RawEntry>,
}

#[derive(Deserialize)]
struct RawPayload {
    files: u64,
    bytes: u64,
    sha256: String,
}

#[derive(Deserialize)]
struct RawEntry {
    path: String,
    kind: Option<String>,
    bytes: Option<u64>,
    sha256: Option<String>,
    #[serde(default, deserialize_with = "datetime::deserialize_option")]
    modified: Option<Instant>,
    mode: Option<String>,
    target: Option<String>,
}

/// The one key that says whether the rest can be understood.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

fn yes() -> bool {
    true
}

impl Sidecar {
    /// Reads the bytes of a sidecar and judges its seal. Unknown keys are passed over.
    pub fn read(bytes: &[u8]) -> Result<(Sidecar, Seal), SidecarError> {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(SidecarError::value("size", format!("more than {MAX_BYTES} bytes")));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|error| SidecarError::NotUtf8 { offset: error.valid_up_to() })?;
        let raw: Raw = toml::from_str(text).map_err(|error| match toml::from_str(text) {
            // What a later version writes need not have the shape of this one's.
            Ok(FormatOnly { format }) if format > FORMAT => {
                SidecarError::NewerFormat { found: format }
            }
            _ => SidecarError::malformed(text, &error),
        })?;
        if raw.format > FORMAT {
            return Err(SidecarError::NewerFormat { found: raw.format });
        }
        Ok((raw.check()?, Seal::of(text)))
    }
}

impl Raw {
    fn check(self) -> Result<Sidecar, SidecarError> {
        if self.format == 0 {
            return Err(SidecarError::value("format", "expected 1, found 0"));
        }
        let mut files =
            self.file.into_iter().map(RawEntry::check).collect::<Result<Vec<_>, _>>()?;
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        if let Some(pair) = files.windows(2).find(|pair| pair[0].path == pair[1].path) {
            return Err(SidecarError::value("path", format!("`{}` stands twice", pair[0].path)));
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
            target: self.target.map(|text| payload_path("target", &text)).transpose()?,
            transferable: self.transferable,
            metadata: Metadata::as_found(self.metadata),
            relations: self.relations,
            origin: self.origin,
            handover: self.handover.map(RawHandover::check).transpose()?,
            removal: self.removal.map(RawRemoval::check).transpose()?,
            payload: Totals {
                files: self.payload.files,
                bytes: self.payload.bytes,
                digest: digest(&self.payload.sha256)?,
            },
            files,
        })
    }
}

fn as_found(text: &str) -> Result<RepositoryName, SidecarError> {
    match RepositoryName::parse_as_found(text) {
        Ok((name, _)) => Ok(name),
        Err(error) => Err(SidecarError::value("repository", error)),
    }
}

fn payload_path(key: &'static str, text: &str) -> Result<PayloadPath, SidecarError> {
    PayloadPath::from_text(text).map_err(|error| SidecarError::value(key, error))
}

fn digest(text: &str) -> Result<Digest, SidecarError> {
    text.parse().map_err(|error| SidecarError::value("sha256", error))
}

impl RawEntry {
    fn check(self) -> Result<Entry, SidecarError> {
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
                let reason = format!("`{other}` is no kind; expected `link` or `directory`");
                return Err(SidecarError::value("kind", reason));
            }
        };
        Ok(Entry { path, content })
    }
}

fn mode(text: &str) -> Result<u32, SidecarError> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|mode| *mode <= 0o777 && !text.starts_with('+'))
        .ok_or_else(|| SidecarError::value("mode", format!("`{text}` is not like `0644`")))
}

impl Seal {
    /// Judges the seal at the end of `text`.
    pub(super) fn of(text: &str) -> Seal {
        let Some((sealed, seal)) = text.rsplit_once(SEAL_LINE) else { return Seal::Missing };
        if !sealed.is_empty() && !sealed.ends_with('\n') {
            return Seal::Missing;
        }
        // Nothing but the line of the digest may follow: what follows is not covered.
        let digest = seal.strip_prefix("sha256 = \"").and_then(|rest| rest.strip_suffix("\"\n"));
        let Some(Ok(digest)) = digest.map(str::parse::<Digest>) else { return Seal::Missing };
        let found = Digest::of(sealed.as_bytes());
        if found == digest { Seal::Intact } else { Seal::Broken { sealed: digest, found } }
    }
}
