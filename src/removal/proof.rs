//! The proof that another collection holds the same bytes of an item.

use super::{Lack, LookedAt, RemovalError};
use crate::collection::{Collection, CollectionError, ReadSidecar, StoredItem};
use crate::disk::{PathError, Version};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::item::manifest::content_digest;
use crate::layout;
use crate::progress::Progress;
use crate::sidecar::Sidecar;
use crate::verify::{Depth, ProofError, prove_as_read};

/// Another collection that holds the same bytes.
#[derive(Clone, Copy, Debug)]
pub struct SecondHolding<'a> {
    /// The collection.
    pub collection: &'a Collection,
    /// Its holding.
    pub state: State,
}

/// A holding, with the sidecar of the proof.
pub(super) struct Proof<'a> {
    pub(super) holding: SecondHolding<'a>,
    pub(super) version: Version,
}

/// Finds a collection among `others` that holds the whole payload of `item`, with this `sidecar`.
pub(super) fn find<'a>(
    collection: &Collection,
    (item, sidecar): (&StoredItem, &Sidecar),
    others: &[&'a Collection],
    depth: Depth,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Proof<'a>, RemovalError> {
    let name = &sidecar.repository;
    let mut looked_at = Vec::new();
    for other in others {
        let lack = if collection.is_same(other)? {
            Lack::SameCollection
        } else {
            match look(other, (item, sidecar), depth, progress, interrupt) {
                Some(Ok(record)) => {
                    let holding = SecondHolding { collection: other, state: record.sidecar.state };
                    return Ok(Proof { holding, version: record.version });
                }
                Some(Err(lack)) => lack,
                None => return Err(RemovalError::Interrupted),
            }
        };
        looked_at.push(LookedAt { path: other.path().to_path_buf(), lack });
    }
    Err(RemovalError::LastHolding { name: name.clone(), looked_at })
}

fn look(
    other: &Collection,
    (own, sidecar): (&StoredItem, &Sidecar),
    depth: Depth,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Option<Result<ReadSidecar, Lack>> {
    let (item, record) = match recorded(other, &sidecar.repository) {
        Ok(found) => found,
        Err(lack) => return Some(Err(lack)),
    };
    let is_same_directory = match is_same_directory(own, &item) {
        Ok(is_same) => is_same,
        // The bytes that are to be given up may be the only ones.
        Err(error) => return Some(Err(Lack::Unreadable(in_one_line(&error)))),
    };
    let lack = if is_same_directory {
        Lack::SameDirectory
    } else if record.sidecar.state == State::Elsewhere {
        Lack::Absent
    } else if record.sidecar.state == State::Deleted {
        Lack::Deleted
    } else if !is_same_content(&record.sidecar, sidecar) || !follows(&record.sidecar, sidecar) {
        Lack::OtherContents
    } else {
        match prove_as_read(&item, &record, depth, progress, interrupt) {
            Ok(()) => return Some(Ok(record)),
            Err(ProofError::Damaged { summary, .. }) => Lack::Damaged(summary),
            Err(ProofError::Disk(error)) => Lack::Unreadable(in_one_line(&error)),
            Err(ProofError::Interrupted) => return None,
        }
    };
    Some(Err(lack))
}

/// Whether both are the same directory, mounted in two places.
fn is_same_directory(a: &StoredItem, b: &StoredItem) -> Result<bool, PathError> {
    let (a, b) = (a.stat(layout::PAYLOAD)?, b.stat(layout::PAYLOAD)?);
    Ok(a.zip(b).is_some_and(|(a, b)| a.identity == b.identity))
}

/// Whether both promise the same files, links and empty directories.
fn is_same_content(a: &Sidecar, b: &Sidecar) -> bool {
    a.payload == b.payload && content_digest(&a.files) == content_digest(&b.files)
}

/// Whether nothing is lost with `own` while `other` stays. The tombstone of an Original keeps its description, the stub of
/// a Copy does not.
fn follows(other: &Sidecar, own: &Sidecar) -> bool {
    own.state != State::Copy || other.custody.covers(&own.custody)
}

fn recorded(other: &Collection, name: &RepositoryName) -> Result<(StoredItem, ReadSidecar), Lack> {
    other.item(name).and_then(|item| Ok((item.read_sidecar()?, item))).map_or_else(
        |error| {
            Err(match error {
                CollectionError::NoSuchItem { .. } => Lack::Absent,
                error => Lack::Unreadable(in_one_line(&error)),
            })
        },
        |(record, item)| Ok((item, record)),
    )
}

fn in_one_line(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
