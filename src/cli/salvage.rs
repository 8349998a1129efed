//! Repairs that come before an item, or a part of it, is given up.
//!
//! The table of remedies knows holdings as a whole. A backup of a collection, which does not speak, may have what its
//! collection lost; and where each holding has rotted, each may have the files that the others lack.

use std::path::Path;

use urepo::collection::{Collection, CollectionError};
use urepo::identity::RepositoryName;
use urepo::progress::NoProgress;
use urepo::repair::{EntrySource, LoggedItems, Options, RepairError, Repairer};

use super::context::Context;
use super::exit::Exit;
use super::failure::Failure;
use super::shell;

/// A way to bring an item back instead of giving it up.
#[derive(Debug)]
pub(crate) struct Salvage<'a> {
    /// The collection in which the item is repaired.
    pub(crate) at: &'a Collection,
    /// The collections with what it lacks.
    pub(crate) from: Vec<&'a Path>,
    source: Source,
}

/// Where the files come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Another root of the collection has what its ledger says.
    Backup,
    /// It has an older state.
    OlderBackup,
    /// Holdings that are damaged, each in other files.
    Pieces,
}

impl<'a> Salvage<'a> {
    /// The repair of the item `name` by which `giving_up` need not give it up. `roots` are all in sight, backups included. An error
    /// is that of the disk: nobody knows whether there is one.
    pub(crate) fn find(
        context: &Context,
        name: &RepositoryName,
        giving_up: &'a Collection,
        roots: &[&'a Collection],
    ) -> Result<Option<Salvage<'a>>, CollectionError> {
        let mut owners = vec![giving_up];
        for root in roots {
            if owners.iter().all(|owner| owner.id() != root.id()) {
                owners.push(root);
            }
        }
        let mut backups = Vec::new();
        for owner in &owners {
            backups.extend(backup_with(owner, roots, name)?);
        }
        let newest = backups.iter().position(|it| it.source == Source::Backup);
        if let Some(newest) = newest {
            return Ok(Some(backups.swap_remove(newest)));
        }
        for at in roots {
            if let found @ Some(_) = from_pieces(context, name, at, roots)? {
                return Ok(found);
            }
        }
        let is_here = |it: &Salvage<'_>| it.at.path() == giving_up.path();
        Ok(backups.into_iter().find(is_here))
    }

    /// Whether it brings back what would be given up. An older state is no reason to print another row than that of the table.
    pub(crate) fn is_whole(&self) -> bool {
        self.source != Source::OlderBackup
    }

    /// The failure of an item that is not lost.
    pub(crate) fn refusal(&self, context: &Context, name: &RepositoryName) -> Failure {
        let roots: Vec<_> = self.from.iter().map(|root| context.word_of(root)).collect();
        let (at, from) = (context.word_of(self.at.path()), roots.join("`, `"));
        let message = match self.source {
            Source::Backup => format!("`{from}`, a backup of `{at}`, has it"),
            Source::OlderBackup => format!("`{from}`, a backup of `{at}`, has an older state"),
            Source::Pieces => format!("`{from}` has the files that `{at}` lacks"),
        };
        let failure = Failure::new(Exit::Conflict, message);
        let place = |root: &Path| shell::word(root.join(name.as_str()));
        if let (Source::OlderBackup, [backup]) = (self.source, &self.from[..]) {
            let (backup, here) = (place(backup), place(self.at.path()));
            return failure.hint(format!(
                "`cp -a {backup} {here}` puts it back; then only what is newer is given up"
            ));
        }
        let is_in_use = context.collection().is_ok_and(|own| own.path() == self.at.path());
        let collection = if is_in_use { String::new() } else { format!(" -c {at}") };
        let from: Vec<_> = roots.iter().map(|root| format!(" --from {root}")).collect();
        let command = format!("`urepo{collection} repair {name}{}`", from.concat());
        failure.hint(format!("{command} brings it back"))
    }
}

/// That of `roots` which is a backup of `owner` and has a newer state of the item, with its payload, than lies there.
fn backup_with<'a>(
    owner: &'a Collection,
    roots: &[&'a Collection],
    name: &RepositoryName,
) -> Result<Option<Salvage<'a>>, CollectionError> {
    let payload = |root: &Collection| {
        let read = of_disk(root.item(name).and_then(|item| item.sidecar()))?;
        let read = read.filter(|(sidecar, _)| sidecar.state.has_payload());
        Ok::<_, CollectionError>(read.map(|(it, _)| (it.custody.epoch(), it.changed())))
    };
    let mut best = None;
    for root in roots.iter().filter(|root| root.id() == owner.id()) {
        let rank = payload(root)?;
        if rank.is_some() && best.is_none_or(|(_, known)| rank >= known) {
            best = Some((root, rank));
        }
    }
    let Some((backup, Some(rank))) = best else { return Ok(None) };
    if payload(owner)? >= Some(rank) {
        return Ok(None);
    }
    // Nothing is known of an item that was given up, and the line of a stub is that of another holder.
    let line = owner.last_record(name)?.and_then(|line| line.holding);
    let Some(line) = line else { return Ok(None) };
    let is_older = (line.custody.epoch(), line.changed) > rank;
    if is_older && !(line.state.has_payload() && of_disk(owner.item(name))?.is_none()) {
        return Ok(None);
    }
    let source = if is_older { Source::OlderBackup } else { Source::Backup };
    Ok(Some(Salvage { at: owner, from: vec![backup.path()], source }))
}

/// What was read; `None` for what is absent or damaged.
fn of_disk<T>(read: Result<T, CollectionError>) -> Result<Option<T>, CollectionError> {
    match read {
        Err(error) if error.disk().is_some() => Err(error),
        read => Ok(read.ok()),
    }
}

/// The repair of a damaged holding at `at` with files of the others, if it leaves none damaged.
fn from_pieces<'a>(
    context: &Context,
    name: &RepositoryName,
    at: &'a Collection,
    roots: &[&'a Collection],
) -> Result<Option<Salvage<'a>>, CollectionError> {
    if of_disk(at.item(name))?.is_none() {
        return Ok(None);
    }
    let others: Vec<_> = roots.iter().copied().filter(|it| it.path() != at.path()).collect();
    let repairer = Repairer {
        collection: at,
        donors: &others,
        witnesses: &[],
        options: Options::default(),
        logged: &LoggedItems::default(),
        caller: context.caller(&NoProgress),
    };
    // An item that cannot be examined cannot be repaired either.
    let plan = match repairer.examine(name) {
        Err(RepairError::Disk(error)) => return Err(error.into()),
        Err(RepairError::Collection(error)) if error.disk().is_some() => return Err(error),
        examined => examined.ok().flatten(),
    };
    let Some(plan) = plan else { return Ok(None) };
    let gives = |donor: usize| plan.count(EntrySource::Donor(donor)) > 0;
    let givers: Vec<_> = (0..plan.donors.len()).filter(|donor| gives(*donor)).collect();
    if givers.is_empty() || plan.lost().next().is_some() {
        return Ok(None);
    }
    let from = givers.into_iter().filter_map(|donor| {
        let root = &plan.donors[donor];
        others.iter().map(|it| it.path()).find(|path| path == root)
    });
    Ok(Some(Salvage { at, from: from.collect(), source: Source::Pieces }))
}
