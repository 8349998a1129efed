//! Files of items: only what the sidecar lists, and never bytes that are known to be damaged.

use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderMap,
};
use hyper::{Method, StatusCode};

use super::archive::Archive;
use super::item::RequestContext;
use super::payload_file::{Fields, PayloadFile, prove};
use super::proof::{Charset, Proof, ProofReading, Version};
use super::stream::{Check, FileBody};
use crate::collection::{CollectionError, KeptSidecar, StoredItem};
use crate::digest::Digest;
use crate::disk::{Kind, StoredFile};
use crate::identity::{Identifier, RepositoryName, encode_path};
use crate::item::{Content, PayloadPath, State, implies, position};
use crate::layout;
use crate::sidecar::{AccessLevel, Seal};
use crate::web::answer::{self, Answer, Body};
use crate::web::conditions::{Extent, evaluate};

/// Files up to this size are read and proved before the first byte is sent.
const PROVED_FIRST: u64 = 1024 * 1024;

/// Files and parts up to this size are answered without a stream. Only such files stay open: one that is purged keeps its
/// room on the disk until then.
const SMALL: u64 = 64 * 1024;

/// A file that may be given out, or the answer in place of it.
pub(super) enum FileOrAnswer {
    File(Box<PayloadFile>),
    Answer(Answer),
}

impl Archive {
    /// The file at `path` in the payload of the item `name`, or the answer in place of it.
    pub(super) fn content(
        &self,
        name: &RepositoryName,
        path: &[u8],
        context: &RequestContext<'_>,
    ) -> Result<FileOrAnswer, CollectionError> {
        let item = match self.collection.item(name) {
            Err(error) if error.is_absence() => {
                let identifier = Identifier::Repository(name.clone());
                return Ok(FileOrAnswer::Answer(self.absent(&identifier, context)?));
            }
            item => item?,
        };
        let kept = item.kept_sidecar()?;
        let sidecar = &kept.sidecar;
        if kept.seal != Seal::Intact {
            return Ok(FileOrAnswer::Answer(self.unsealed(sidecar, context)));
        }
        match sidecar.state {
            State::Original | State::Copy => {}
            State::Deleted => return Ok(FileOrAnswer::Answer(self.deleted(sidecar, context))),
            State::Elsewhere => {
                // The resolver knows persistent URLs only.
                let path = encode_path(path);
                let target =
                    if path.is_empty() { format!("/{name}") } else { format!("/{name}/{path}") };
                let context = RequestContext { target: &target, ..*context };
                let identifier = Identifier::Repository(name.clone());
                return Ok(FileOrAnswer::Answer(self.absent(&identifier, &context)?));
            }
        }
        if sidecar.access.level_at(context.client.address()) != AccessLevel::Open {
            return Ok(FileOrAnswer::Answer(self.restricted(sidecar, context)));
        }
        self.entry(&item, &kept, path, context)
    }

    fn entry(
        &self,
        item: &StoredItem,
        kept: &KeptSidecar,
        path: &[u8],
        context: &RequestContext<'_>,
    ) -> Result<FileOrAnswer, CollectionError> {
        let (name, sidecar) = (item.name(), &kept.sidecar);
        let missing = || {
            let subject = format!("{name}/{}", encode_path(path));
            Ok(FileOrAnswer::Answer(self.no_such_part(name, subject, context)))
        };
        let text = path.strip_suffix(b"/").unwrap_or(path);
        if text.is_empty() {
            return Ok(FileOrAnswer::Answer(self.list(sidecar, b"", context)));
        }
        let Ok(payload_path) = PayloadPath::new(std::ffi::OsStr::from_bytes(text).as_ref()) else {
            return missing();
        };
        let entry =
            position(&sidecar.files, payload_path.as_path()).map(|at| &sidecar.files[at].content);
        match entry {
            Some(Content::File { .. } | Content::Link { .. }) if text.len() < path.len() => {
                missing()
            }
            Some(Content::File { bytes, digest, .. }) => {
                let (bytes, digest) = (*bytes, *digest);
                self.open(item, kept, payload_path, (bytes, digest), context)
            }
            Some(Content::Link { target }) => {
                let location = link_path(name, &payload_path, target);
                match location {
                    Some(path) => {
                        let location = format!("{}{path}", self.base());
                        Ok(FileOrAnswer::Answer(answer::redirect(&location, "no-cache")))
                    }
                    None => missing(),
                }
            }
            Some(Content::EmptyDirectory { .. }) => {
                Ok(FileOrAnswer::Answer(self.list(sidecar, &directory(text), context)))
            }
            None if implies(&sidecar.files, payload_path.as_path()) => {
                Ok(FileOrAnswer::Answer(self.list(sidecar, &directory(text), context)))
            }
            None => missing(),
        }
    }

    fn open(
        &self,
        item: &StoredItem,
        KeptSidecar { sidecar, version: sidecar_version, .. }: &KeptSidecar,
        path: PayloadPath,
        (bytes, digest): (u64, Digest),
        context: &RequestContext<'_>,
    ) -> Result<FileOrAnswer, CollectionError> {
        let at = item.path_of(layout::in_payload(path.as_path()));
        let damaged = |detail: &str| {
            self.faults.note(&at.to_string_lossy(), &format!("damage: {detail}"), context.now);
            Ok(FileOrAnswer::Answer(self.damaged(item.name(), context)))
        };
        let file = match item.open(&path) {
            Ok(file) => Arc::new(file),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(error.into());
            }
            Err(error) => return damaged(&error.to_string()),
        };
        let stat = file.stat()?;
        if stat.kind != Kind::File || stat.bytes != bytes {
            return damaged("its kind or size differs from the sidecar");
        }
        let version = Version::of(&stat, digest);
        let known = self.proofs.of(&version);
        let (read, charset) = match known {
            Some(Proof::Damaged) => return damaged("its digest differs"),
            Some(Proof::Whole(charset)) => (None, charset),
            None if bytes <= PROVED_FIRST => {
                match prove(&file, &self.proofs, (&version, bytes), digest)? {
                    Some((read, charset)) => (Some(read), charset),
                    None => return damaged("its digest differs"),
                }
            }
            None => (None, Charset::Unknown),
        };
        let persistent = self.persistent(item.name());
        let fields =
            Fields::of((sidecar, &persistent), &path, (&digest, charset), context.now).into();
        let (name, access) = (item.name().clone(), sidecar.access.clone());
        let opened = PayloadFile { file, name, access, path, fields, bytes, digest, version, read };
        if known.is_some() && bytes <= SMALL {
            self.files.insert(&opened, *sidecar_version);
        }
        Ok(FileOrAnswer::File(Box::new(opened)))
    }
}

/// The answer with a file.
pub(super) fn answer_with(
    archive: &Arc<Archive>,
    opened: PayloadFile,
    method: &Method,
    headers: &HeaderMap,
) -> Answer {
    let PayloadFile { file, fields, bytes, digest, version, read, .. } = opened;
    let sent = evaluate(method, headers, &fields.validators, bytes);
    let range = match &sent {
        Extent::Whole => 0..bytes,
        Extent::Part(range) => range.clone(),
        Extent::Nothing(_) => 0..0,
    };
    let length = range.end - range.start;
    let is_proved = matches!(archive.proofs.of(&version), Some(Proof::Whole(_)));
    let mut answer = match &sent {
        Extent::Nothing(status) => answer::empty(*status),
        Extent::Whole | Extent::Part(_) if method == Method::HEAD => answer::empty(StatusCode::OK),
        Extent::Whole | Extent::Part(_) => {
            let body = if let Some(all) = read {
                whole_body(part(&all, &range))
            } else if let Some(part) = small(&file, &range, is_proved) {
                whole_body(part)
            } else {
                // A range of all bytes, as players and programs that resume ask for, is the whole file, too.
                let is_checked = range == (0..bytes) && !is_proved;
                if !is_checked && !is_proved {
                    prove_later(archive, &file, version, digest);
                }
                let check = is_checked.then(|| Check::new(archive, version, digest));
                FileBody::new(file, range.clone(), check).boxed_unsync()
            };
            hyper::Response::new(body)
        }
    };
    *answer.headers_mut() = fields.all.clone();
    match sent {
        Extent::Nothing(status) => {
            for field in [CONTENT_TYPE, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY] {
                answer.headers_mut().remove(field);
            }
            if status == StatusCode::RANGE_NOT_SATISFIABLE {
                answer::set(&mut answer, CONTENT_RANGE, &format!("bytes */{bytes}"));
            }
            return answer;
        }
        Extent::Part(range) => {
            *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
            let text = format!("bytes {}-{}/{bytes}", range.start, range.end - 1);
            answer::set(&mut answer, CONTENT_RANGE, &text);
        }
        Extent::Whole => {}
    }
    answer.headers_mut().insert(CONTENT_LENGTH, length.into());
    answer
}

fn whole_body(bytes: Bytes) -> Body {
    http_body_util::Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// A small part of a proved file in the page cache: it needs no stream.
fn small(file: &StoredFile, range: &std::ops::Range<u64>, is_proved: bool) -> Option<Bytes> {
    let length = range.end - range.start;
    if !is_proved || length > SMALL {
        return None;
    }
    file.read_cached(length, range.start).map(Bytes::from)
}

/// The bytes `range` of all.
fn part(all: &Bytes, range: &std::ops::Range<u64>) -> Bytes {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(all.len()).min(all.len());
    all.slice(at(range.start)..at(range.end))
}

/// Reads a file in the background after a request for a part of it: one file at a time.
fn prove_later(archive: &Arc<Archive>, file: &Arc<StoredFile>, version: Version, digest: Digest) {
    let Some(turn) = archive.proofs.turn() else { return };
    let (archive, file) = (Arc::clone(archive), Arc::clone(file));
    tokio::task::spawn_blocking(move || {
        let (mut reading, mut at, mut buffer) = (ProofReading::default(), 0, vec![0; 1024 * 1024]);
        loop {
            match file.read_at(&mut buffer, at) {
                Ok(0) => break,
                Ok(length) => {
                    reading.take(&buffer[..length]);
                    at += length as u64;
                }
                // It says nothing about the bytes.
                Err(_) => return,
            }
        }
        let proof = reading.end(digest);
        if proof == Proof::Damaged {
            tracing::error!(path = ?file.path(), "damage: the digest differs");
        }
        archive.proofs.note(version, proof);
        drop(turn);
    });
}

/// The path below the address that a link at `path` in the item `name` leads to, if it stays among the items. The
/// request for that path finds out whether something is there.
fn link_path(name: &RepositoryName, path: &PayloadPath, target: &[u8]) -> Option<String> {
    if target.starts_with(b"/") {
        return None;
    }
    let mut levels: Vec<&[u8]> = name.components().map(str::as_bytes).to_vec();
    levels.push(layout::PAYLOAD.as_bytes());
    levels.extend(path.as_bytes().split(|byte| *byte == b'/'));
    levels.pop();
    for step in target.split(|byte| *byte == b'/') {
        match step {
            b"" | b"." => {}
            b".." => drop(levels.pop()?),
            step => levels.push(step),
        }
    }
    (levels.len() > 4).then(|| format!("/col/{}", encode_path(&levels.join(&b'/'))))
}

fn directory(path: &[u8]) -> Vec<u8> {
    [path, b"/"].concat()
}
