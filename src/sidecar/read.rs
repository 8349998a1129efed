//! Reading a sidecar: any TOML of the right shape, in any spelling.

use serde::Deserialize;

use super::lines::{SidecarLines, Stop};
use super::raw::{Raw, RawEntry};
use super::text::{LONGEST_HELD, start};
use super::{FORMAT, MAX_BYTES, Seal, Sidecar, SidecarError, SidecarText, canonical};
use crate::digest::{Digest, Hasher};
use crate::item::Totals;

/// The line that ends the text covered by the seal.
pub(super) const SEAL_LINE: &str = "[seal]\n";

/// The key that decides whether the rest can be understood.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

impl Sidecar {
    /// Reads the bytes of a sidecar and checks its seal. Unknown keys are ignored.
    pub fn read(bytes: &[u8]) -> Result<(Sidecar, Seal), SidecarError> {
        let mut lines = SidecarLines::of(bytes);
        match canonical::read(&mut lines, bytes.len()) {
            Ok(read) => Ok(read),
            Err(Stop::Unusual) if bytes.len() > LONGEST_HELD => {
                Err(SidecarError::TooLong { line: lines.number })
            }
            Err(Stop::Unusual) => Sidecar::read_any(bytes),
        }
    }

    /// Reads a sidecar of about `size` bytes from `more`, which reads the next bytes and returns 0 at the
    /// end. Returns the sidecar with its [`SidecarText`].
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
        let mut lines = SidecarLines::new(text.into(), |piece: &mut [u8]| {
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

    /// The totals of the payload in a text from `more`. The rest is not read, so the totals are not checked.
    pub(crate) fn read_totals(mut more: impl FnMut(&mut [u8]) -> Option<usize>) -> Option<Totals> {
        let mut lines =
            SidecarLines::new(Vec::new().into(), |piece: &mut [u8]| more(piece).ok_or(()));
        canonical::totals_only(&mut lines).ok()
    }

    /// Reads any TOML of the right shape.
    pub(super) fn read_any(bytes: &[u8]) -> Result<(Sidecar, Seal), SidecarError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| SidecarError::NotUtf8 { offset: error.valid_up_to() })?;
        let mut raw: Raw = toml::from_str(text).map_err(|error| match toml::from_str(text) {
            // A sidecar of a later version need not have the same shape.
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

impl Seal {
    /// Checks the seal at the end of `text`.
    pub(super) fn of(text: &str) -> Seal {
        let Some((sealed, seal)) = text.rsplit_once(SEAL_LINE) else { return Seal::Missing };
        if !sealed.is_empty() && !sealed.ends_with('\n') {
            return Seal::Missing;
        }
        // Only the line of the digest may follow, because further text would not be covered.
        let digest = seal.strip_prefix("sha256 = \"").and_then(|rest| rest.strip_suffix("\"\n"));
        let Some(Ok(digest)) = digest.map(str::parse::<Digest>) else { return Seal::Missing };
        let found = Digest::of(sealed.as_bytes());
        if found == digest { Seal::Intact } else { Seal::Broken { sealed: digest, found } }
    }
}
