//! Repairs that come before an item, or a part of it, is given up.
//!
//! The table of remedies knows holdings as a whole. A backup of a collection, which does not speak, may have what its
//! collection lost; and where each holding has rotted, each may have the files that the others lack.

use std::path::Path;

use urepo::collection::Collection;
use urepo::identity::RepositoryName;
use urepo::progress::NoProgress;
use urepo::repair::{EntrySource, LoggedItems, Options, Repairer};

use super::context::Context;
use super::exit::Exit;
use super::failure::Failure;
use super::shell;

/// A repair that loses nothing.
#[derive(Debug)]
pub(crate) struct Salvage<'a> {
    /// The collection in which the item is repaired.
    pub(crate) at: &'a Collection,
    /// The collections with what it lacks.
    pub(crate) from: Vec<&'a Path>,
    is_backup: bool,
}

impl<'a> Salvage<'a> {
    /// The repair of the item `name` by which `giving_up` need not give it up. `roots` are all in sight, backups included.
    pub(crate) fn find(
        context: &Context,
        name: &RepositoryName,
        giving_up: &'a Collection,
        roots: &[&'a Collection],
    ) -> Option<Salvage<'a>> {
        let backup = backup_with(giving_up, roots, name).map(|backup| Salvage {
            at: giving_up,
            from: vec![backup.path()],
            is_backup: true,
        });
        backup.or_else(|| roots.iter().find_map(|at| from_pieces(context, name, at, roots)))
    }

    /// The failure of an item that is not lost.
    pub(crate) fn refusal(&self, context: &Context, name: &RepositoryName) -> Failure {
        let roots: Vec<_> = self.from.iter().map(shell::word).collect();
        let (at, from) = (shell::word(self.at.path()), roots.join("`, `"));
        let message = if self.is_backup {
            format!("`{from}`, a backup of this collection, has it")
        } else {
            format!("`{from}` has the files that `{at}` lacks")
        };
        let is_in_use = context.collection().is_ok_and(|own| own.path() == self.at.path());
        let collection = if is_in_use { String::new() } else { format!(" -c {at}") };
        let from: Vec<_> = roots.iter().map(|root| format!(" --from {root}")).collect();
        let command = format!("`urepo{collection} repair {name}{}`", from.concat());
        Failure::new(Exit::Conflict, message).hint(format!("{command} brings it back"))
    }
}

/// That of `roots` which is a backup of `collection` and has a newer state of the item, with its payload.
fn backup_with<'a>(
    collection: &Collection,
    roots: &[&'a Collection],
    name: &RepositoryName,
) -> Option<&'a Collection> {
    let payload = |root: &Collection| {
        let (sidecar, _) = root.item(name).and_then(|item| item.sidecar()).ok()?;
        let rank = (sidecar.custody.epoch(), sidecar.changed());
        sidecar.state.has_payload().then_some(rank)
    };
    let mut backups = roots.iter().copied().filter(|root| root.id() == collection.id());
    backups.find(|root| payload(root) > payload(collection))
}

/// The repair of a damaged holding at `at` with files of the others, if it leaves none damaged.
fn from_pieces<'a>(
    context: &Context,
    name: &RepositoryName,
    at: &'a Collection,
    roots: &[&'a Collection],
) -> Option<Salvage<'a>> {
    at.item(name).ok()?;
    let others: Vec<_> = roots.iter().copied().filter(|it| it.path() != at.path()).collect();
    let repairer = Repairer {
        collection: at,
        donors: &others,
        witnesses: &[],
        options: Options::default(),
        logged: &LoggedItems::default(),
        caller: context.caller(&NoProgress),
    };
    // What cannot be examined cannot be repaired either.
    let plan = repairer.examine(name).ok().flatten()?;
    let gives = |donor: usize| plan.count(EntrySource::Donor(donor)) > 0;
    let givers: Vec<_> = (0..plan.donors.len()).filter(|donor| gives(*donor)).collect();
    if givers.is_empty() || plan.lost().next().is_some() {
        return None;
    }
    let from = givers.into_iter().filter_map(|donor| {
        let root = &plan.donors[donor];
        others.iter().map(|it| it.path()).find(|path| path == root)
    });
    Some(Salvage { at, from: from.collect(), is_backup: false })
}
