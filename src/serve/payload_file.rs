//! A file that may be given out.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, HeaderMap, HeaderName, LAST_MODIFIED, LINK, X_CONTENT_TYPE_OPTIONS,
};

use super::media::{disposition, media};
use super::proof::{Proof, Proofs, Version};
use crate::digest::Digest;
use crate::disk::{PathError, StoredFile};
use crate::identity::SECOND;
use crate::item::PayloadPath;
use crate::sidecar::{AccessLevel, Sidecar};
use crate::web::answer::{self, Answer};
use crate::web::conditions::{Validators, http_date};

/// A file, opened, whose kind and size are those of the sidecar.
#[derive(Clone, Debug)]
pub(super) struct PayloadFile {
    pub(super) file: Arc<StoredFile>,
    pub(super) sidecar: Arc<Sidecar>,
    pub(super) path: PayloadPath,
    pub(super) fields: Arc<Fields>,
    pub(super) bytes: u64,
    pub(super) digest: Digest,
    pub(super) version: Version,
    /// All its bytes, if they were read for the proof.
    pub(super) read: Option<Bytes>,
}

/// The fields of each answer with a file.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    pub(super) all: HeaderMap,
    pub(super) validators: Validators,
}

impl Fields {
    /// The fields of the file at `path`, whose item is cited as `persistent`.
    pub(super) fn of(
        sidecar: &Sidecar,
        path: &PayloadPath,
        digest: &Digest,
        persistent: &str,
    ) -> Fields {
        let name = path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let media = media(name);
        let seconds = i64::try_from(sidecar.timestamp.nanoseconds() / SECOND).unwrap_or(0);
        let validators = Validators { tag: format!("\"{digest}\""), modified: seconds };
        let mut answer = stored_for(answer::empty(StatusCode::OK), sidecar);
        for (name, value) in [
            (CONTENT_TYPE, media.name),
            (CONTENT_DISPOSITION, &disposition(name, media)),
            (ETAG, &validators.tag),
            (HeaderName::from_static("repr-digest"), &repr_digest(digest)),
            (LAST_MODIFIED, &http_date(seconds)),
            (ACCEPT_RANGES, "bytes"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (LINK, &format!("<{persistent}>; rel=\"cite-as\"")),
        ] {
            answer::set(&mut answer, name, value);
        }
        if media.is_active {
            answer::set(&mut answer, CONTENT_SECURITY_POLICY, "sandbox; script-src 'none'");
        }
        answer.headers_mut().remove(CONTENT_LENGTH);
        Fields { all: answer.into_parts().0.headers, validators }
    }
}

impl PayloadFile {
    /// Reads the whole file: its bytes, unless it is damaged.
    pub(super) fn prove(&self, proofs: &Proofs) -> Result<Option<Bytes>, PathError> {
        let mut read = vec![0; usize::try_from(self.bytes).unwrap_or(0)];
        let length = self.file.read_at(&mut read, 0)?;
        let is_whole = length as u64 == self.bytes && Digest::of(&read) == self.digest;
        proofs.note(self.version, if is_whole { Proof::Whole } else { Proof::Damaged });
        Ok(is_whole.then(|| read.into()))
    }
}

/// How caches keep an answer about an item: not at all unless everybody may read it.
pub(super) fn stored_for(answer: Answer, sidecar: &Sidecar) -> Answer {
    let is_public = sidecar.access.level == AccessLevel::Open && sidecar.access.allow.is_empty();
    answer::stored(answer, if is_public { "no-cache" } else { "private, no-store" })
}

/// The field `Repr-Digest` [RFC 9530]: base 64 of the digest.
fn repr_digest(digest: &Digest) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("sha-256=:");
    for group in digest.as_bytes().chunks(3) {
        let number = (0..3)
            .fold(0_u32, |number, at| number << 8 | group.get(at).copied().map_or(0, u32::from));
        for at in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * at) & 63) as usize];
            text.push(if at > group.len() { '=' } else { char::from(digit) });
        }
    }
    text + ":"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_written_as_the_field_has_them() {
        // The example of RFC 9530, appendix D: the digest of `{"hello": "world"}` and a line feed.
        let digest = Digest::of(b"{\"hello\": \"world\"}\n");
        assert_eq!(repr_digest(&digest), "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:");
    }
}
