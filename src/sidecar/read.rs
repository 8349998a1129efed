//! Reading a sidecar: any TOML of the right shape, however it is spelt.

use std::convert::Infallible;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::care::{RawHandover, RawRemoval};
use super::lines::{Lines, Stop};
use super::text::{LONGEST_HELD, start};
use super::{
    FORMAT, MAX_BYTES, Metadata, Seal, Sidecar, SidecarError, SidecarText, canonical, datetime,
};
use crate::digest::{Digest, Hasher};
use crate::identity::{Ibip, Instant, RepositoryName};
use crate::item::{Content, Entry, PayloadPath, Totals};

/// The line that ends what the seal covers.
pub(super) const SEAL_LINE: &str = "[seal]\n";

#[derive(Deserialize)]
pub(super) struct Raw {
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
    pub(super) origin: toml::Table,
    handover: Option<RawHandover>,
    removal: Option<RawRemoval>,
    payload: Option<RawPayload>,
    file: Option<Vec<RawEntry>>,
    seal: Option<IgnoredAny>,
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
        let mut lines = Lines::new(bytes.into(), |_| Ok::<_, Infallible>(0));
        match canonical::read(&mut lines, bytes.len()) {
            Ok(read) => Ok(read),
            Err(Stop::Unusual) if bytes.len() > LONGEST_HELD => {
                Err(SidecarError::TooLong { line: lines.number })
            }
            Err(Stop::Unusual) => Sidecar::read_any(bytes),
        }
    }

    /// Reads a sidecar of about `size` bytes, of which `more` fills in the next: as much as there is, and
    /// nothing at the end. With it comes what is kept of its text.
    pub(crate) fn read_pieces<E: From<SidecarError>>(
        size: u64,
        mut more: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(Sidecar, Seal, SidecarText), E> {
        let text = start(size, &mut more)?;
        if text.len() <= LONGEST_HELD {
            let (sidecar, seal) = Sidecar::read(&text)?;
            return Ok((sidecar, seal, SidecarText::Held(text)));
        }
        let too_large = || SidecarError::value("size", format!("more than {MAX_BYTES} bytes"));
        let mut left = MAX_BYTES.saturating_sub(text.len() as u64);
        let mut whole = Hasher::default();
        whole.update(&text);
        let mut lines = Lines::new(text.into(), |piece: &mut [u8]| {
            let taken = more(piece).map_err(Some)?;
            whole.update(&piece[..taken]);
            left = left.checked_sub(taken as u64).ok_or(None)?;
            Ok(taken)
        });
        match canonical::read(&mut lines, usize::try_from(size.min(MAX_BYTES)).unwrap_or(0)) {
            Ok((sidecar, seal)) => Ok((sidecar, seal, SidecarText::Digested(whole.finish()))),
            Err(Stop::Unusual) => Err(SidecarError::TooLong { line: lines.number }.into()),
            Err(Stop::Failed(Some(error))) => Err(error),
            Err(Stop::Failed(None)) => Err(too_large().into()),
        }
    }

    /// The totals of the payload, of a text of which `more` fills in the next bytes: read no further, and
    /// so not checked against anything.
    pub(crate) fn read_totals(mut more: impl FnMut(&mut [u8]) -> Option<usize>) -> Option<Totals> {
        let mut lines = Lines::new(Vec::new().into(), |piece: &mut [u8]| more(piece).ok_or(()));
        canonical::totals_only(&mut lines).ok()
    }

    /// Reads any TOML of the right shape.
    pub(super) fn read_any(bytes: &[u8]) -> Result<(Sidecar, Seal), SidecarError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| SidecarError::NotUtf8 { offset: error.valid_up_to() })?;
        let mut raw: Raw = toml::from_str(text).map_err(|error| match toml::from_str(text) {
            // What a later version writes need not have the shape of this one's.
            Ok(FormatOnly { format }) if format > FORMAT => {
                SidecarError::NewerFormat { found: format }
            }
            _ => SidecarError::malformed(text, &error),
        })?;
        if raw.format > FORMAT {
            return Err(SidecarError::NewerFormat { found: raw.format });
        }
        let Some(payload) = raw.payload.take() else {
            let message = "missing field `payload`".to_owned();
            return Err(SidecarError::Malformed { line: 1, column: 1, message });
        };
        let files = raw.file.take().unwrap_or_default().into_iter();
        let files = files.map(RawEntry::check).collect::<Result<Vec<_>, _>>()?;
        Ok((raw.check(payload.check()?, files)?, Seal::of(text)))
    }
}

impl Raw {
    /// Whether it says anything about the payload, or has a seal.
    pub(super) fn has_payload(&self) -> bool {
        self.payload.is_some() || self.file.is_some() || self.seal.is_some()
    }

    /// The sidecar that says this, and these of the payload.
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
            target: self.target.map(|text| payload_path("target", &text)).transpose()?,
            transferable: self.transferable,
            metadata: Metadata::as_found(self.metadata),
            relations: self.relations,
            origin: self.origin,
            handover: self.handover.map(RawHandover::check).transpose()?,
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
                let reason = format!("`{other}` is no kind; expected `link` or `directory`");
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
