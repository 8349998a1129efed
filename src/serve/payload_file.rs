//! A file that may be given out.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, HeaderMap, HeaderName, LAST_MODIFIED, LINK, X_CONTENT_TYPE_OPTIONS,
};

use super::media::{disposition, media};
use super::proof::{Charset, Proof, ProofReading, Proofs, Version};
use crate::digest::Digest;
use crate::disk::{PathError, StoredFile};
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::item::PayloadPath;
use crate::sidecar::{Access, AccessLevel, Sidecar};
use crate::web::answer::{self, Answer};
use crate::web::conditions::{Validators, http_date};

/// A file, opened, whose kind and size are those of the sidecar.
#[derive(Clone, Debug)]
pub(super) struct PayloadFile {
    pub(super) file: Arc<StoredFile>,
    pub(super) name: RepositoryName,
    pub(super) access: Access,
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
    /// The fields of the file at `path`, whose bytes are in this charset, and whose item is cited as `persistent`.
    pub(super) fn of(
        (sidecar, persistent): (&Sidecar, &str),
        path: &PayloadPath,
        (digest, charset): (&Digest, Charset),
        now: Instant,
    ) -> Fields {
        let name = path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let media = media(name);
        let is_named = media.name.starts_with("text/") && charset == Charset::Utf8;
        let charset = if is_named { "; charset=utf-8" } else { "" };
        // A clock elsewhere may have been ahead; a change after the answer itself is none [RFC 9110, 8.8.2.1].
        let modified = sidecar.timestamp.min(now);
        let seconds = i64::try_from(modified.nanoseconds() / SECOND).unwrap_or(0);
        let validators = Validators { tag: format!("\"{digest}\""), modified: seconds };
        let mut answer = stored_for(answer::empty(StatusCode::OK), &sidecar.access);
        for (name, value) in [
            (CONTENT_TYPE, &*format!("{}{charset}", media.name)),
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
            answer::set(&mut answer, CONTENT_SECURITY_POLICY, sandbox_for(&sidecar.access));
        }
        answer.headers_mut().remove(CONTENT_LENGTH);
        Fields { all: answer.into_parts().0.headers, validators }
    }
}

/// Reads a whole file of that size: its bytes and their charset, unless it is damaged.
pub(super) fn prove(
    file: &StoredFile,
    proofs: &Proofs,
    (version, bytes): (&Version, u64),
    digest: Digest,
) -> Result<Option<(Bytes, Charset)>, PathError> {
    let mut read = vec![0; usize::try_from(bytes).unwrap_or(0)];
    let length = file.read_at(&mut read, 0)?;
    let mut reading = ProofReading::default();
    reading.take(&read[..length]);
    let proof = reading.end(digest);
    proofs.note(*version, proof);
    Ok(match proof {
        Proof::Whole(charset) => Some((read.into(), charset)),
        Proof::Damaged => None,
    })
}

/// Whether everybody may read all of an item with this access.
fn is_for_all(access: &Access) -> bool {
    access.level == AccessLevel::Open && access.allow.is_empty()
}

/// How caches keep an answer about an item: not at all unless everybody may read it. Then pages of strangers may not show it
/// either, in the browser of somebody who may.
pub(super) fn stored_for(mut answer: Answer, access: &Access) -> Answer {
    if is_for_all(access) {
        return answer::stored(answer, "no-cache");
    }
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    answer::set(&mut answer, policy, "same-origin");
    answer::stored(answer, "private, no-store")
}

/// The policy for a file of an item that a browser could run: it may show what lies beside it, and run nothing. Its own origin lets
/// it show images of an item that is closed to others, and gives it no right: nothing in it runs.
fn sandbox_for(access: &Access) -> &'static str {
    if is_for_all(access) {
        "sandbox; default-src 'self' data: 'unsafe-inline'; script-src 'none'"
    } else {
        "sandbox allow-same-origin; default-src 'self' data: 'unsafe-inline'; script-src 'none'"
    }
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
