//! Putting the sidecars of many items in place with few syncs.

use std::path::{Path, PathBuf};

use super::look::sidecar_of;
use super::{AdoptError, Outcome, Plan};
use crate::agent::Agent;
use crate::collection::{Collection, Event, EventKind, Here, StoredItem, Writer, lock_changes};
use crate::custody::Permit;
use crate::disk::{Dir, PathError};
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::item::{Entry, State, Totals};
use crate::layout;
use crate::sidecar::adopted::ADOPTED;
use crate::sidecar::{MAX_BYTES, Sidecar};
use crate::wait::Waiter;

/// An item whose files have been read.
#[derive(Debug)]
pub(super) struct Ready {
    pub plan: Plan,
    pub entries: Vec<Entry>,
}

/// Publishes the sidecars of a group, in order. Each is durable when this returns, or has the reason why not.
///
/// An error would also stop later groups. Two syncs of the file system serve the whole group, because each
/// sidecar has a directory of its own. The first sync comes before any sidecar is published, so that none is
/// found without its bytes; the second comes before any is reported. The Originals of Copies are in the collection
/// with the id `origin`, which is empty if the collection is unknown.
pub(super) fn place(
    group: Vec<Ready>,
    origin: &str,
    collection: &Collection,
    writer: &Writer,
    waiter: &Waiter<'_>,
) -> (Vec<Outcome>, Option<AdoptError>) {
    let (root, now) = (collection.root(), waiter.clock.now());
    let staged: Vec<_> =
        group.iter().map(|ready| write(ready, origin, writer, collection, now)).collect();
    let directories: Vec<_> = group.iter().map(|ready| ready.plan.directory().to_owned()).collect();
    let begun = writer
        .sync_staged_sidecars(staged.iter().flatten().map(|(staged, _)| staged.as_path()))
        .map_err(AdoptError::from)
        .and_then(|()| {
            let locks = lock_changes([collection], writer.agent(), waiter)?;
            Ok((locks, writer.announce(group.iter().map(|ready| &ready.plan.name))?))
        });
    let (locks, announced) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            // A failed sync is not repeated: the kernel may have dropped the bytes.
            let spoilt = group.into_iter().map(|it| refused(&it.plan, AdoptError::GroupFailed));
            return (spoilt.collect(), Some(error));
        }
    };
    let mut entered = Vec::new();
    let outcomes: Vec<_> = group
        .into_iter()
        .zip(staged)
        .map(|(ready, staged)| {
            let put =
                staged.and_then(|(staged, here)| Ok((put(writer, &staged, root, &ready)?, here)));
            match put {
                Ok((Put::Here, here)) => {
                    entered.push(ingestion(&ready.plan.name, here, writer.agent(), now));
                    Outcome::Taken(Box::new(ready.plan))
                }
                Ok((Put::ByAnother, _)) => Outcome::There(ready.plan.name),
                Err(error) => refused(&ready.plan, error),
            }
        })
        .collect();
    let synced = root.sync_names(directories);
    match synced.and_then(|()| collection.record(&locks, &entered)) {
        Ok(()) => {
            announced.settle();
            (outcomes, None)
        }
        Err(error) => {
            (outcomes.into_iter().map(|it| doubted(it, &error)).collect(), Some(error.into()))
        }
    }
}

/// The line about an item that is adopted.
pub(super) fn ingestion(name: &RepositoryName, here: Here, agent: &Agent, now: Instant) -> Event {
    Event::new(EventKind::Ingestion, name, now, agent).leaving(here)
}

fn refused(plan: &Plan, error: AdoptError) -> Outcome {
    Outcome::Refused { path: plan.directory().to_owned(), error }
}

/// An item whose sidecar the disk did not confirm.
fn doubted(outcome: Outcome, error: &PathError) -> Outcome {
    match outcome {
        Outcome::Taken(plan) => {
            let source = std::io::Error::new(error.kind(), error.to_string());
            let source = PathError::new("sync", error.path(), source);
            refused(&plan, AdoptError::NotDurable { name: plan.name.to_string(), source })
        }
        other => other,
    }
}

/// Writes a sidecar into the stage, and returns it with what the collection then has of its item. It is not synced.
fn write(
    ready: &Ready,
    origin: &str,
    writer: &Writer,
    collection: &Collection,
    now: Instant,
) -> Result<(PathBuf, Here), AdoptError> {
    let holder = if ready.plan.state == State::Original { collection.id() } else { origin };
    let permit = Permit::issue(collection.custody_id()?, holder);
    let sidecar = sidecar(ready, &permit, now);
    let (staged, mut file) = writer.create_staged_file()?;
    let mut bytes = 0;
    sidecar.write_with(&ready.entries, |piece| {
        bytes += piece.len() as u64;
        file.write_all(piece)
    })?;
    if bytes > MAX_BYTES {
        return Err(AdoptError::TooManyFiles { name: ready.plan.name.to_string() });
    }
    Ok((staged, Here::under(&permit, sidecar.state, sidecar.changed())))
}

enum Put {
    Here,
    /// Another process did the same a moment ago.
    ByAnother,
}

fn put(writer: &Writer, staged: &Path, root: &Dir, ready: &Ready) -> Result<Put, AdoptError> {
    let dir = root.open_dir(ready.plan.directory())?;
    match writer.put_file(staged, &dir, Path::new(layout::SIDECAR)) {
        Ok(()) => Ok(Put::Here),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let item = StoredItem::at(ready.plan.name.clone(), dir);
            sidecar_of(&item)?.map_or(Err(error.into()), |_| Ok(Put::ByAnother))
        }
        Err(error) => Err(error.into()),
    }
}

fn sidecar(ready: &Ready, permit: &Permit, now: Instant) -> Sidecar {
    let Ready { plan, entries, .. } = ready;
    let mut origin = toml::Table::new();
    let adopted = toml::Value::String(now.floor(SECOND).to_string());
    origin.insert(ADOPTED.to_owned(), adopted);
    Sidecar {
        state: plan.state,
        ibip: plan.ibip.clone(),
        timestamp: plan.updated,
        target: plan.target.clone(),
        metadata: plan.metadata.clone(),
        relations: plan.relations.clone(),
        origin,
        payload: Totals::of(entries),
        ..Sidecar::of_name(plan.name.clone(), permit.custody().clone())
    }
}
