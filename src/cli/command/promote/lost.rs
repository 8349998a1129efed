//! The collections that count as lost: missing ones, and those that have given up their items.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use urepo::collection::{Collection, CollectionError, Departure, InventoryChange};
use urepo::disk::Watcher;
use urepo::identity::RepositoryName;
use urepo::item::State;
use urepo::sidecar::Seal;

use super::super::promotion::RegistrarRun;
use super::Promote;
use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::force::Force;
use crate::cli::known::{Known, Missing};
use crate::cli::shell;

impl Promote {
    /// The collections given as lost that exist. They may have given up their items.
    pub(super) fn found(&self, context: &Context) -> Result<Vec<OsString>, Failure> {
        let mut found = Vec::new();
        for lost in &self.lost {
            if open(context, lost)?.is_some() {
                found.push(lost.clone());
            }
        }
        Ok(found)
    }

    /// The ids of the collections that are given as lost and can be opened. Each of them has given up all
    /// named items.
    pub(super) fn ids_of_given_up(
        &self,
        run: &RegistrarRun<'_>,
        known: &Known,
    ) -> Result<Vec<String>, Failure> {
        let mut ids = Vec::new();
        for lost in &self.lost {
            let Some(reachable) = meant(run.context, lost, &known.collections)? else { continue };
            if let Some(hint) = self.reason_to_keep(run, reachable, known)? {
                let path = reachable.path().display();
                let message = format!("the collection in `{path}` is not lost: it can be opened");
                return Err(Failure::new(Exit::Conflict, message).hint(hint));
            }
            ids.push(reachable.id().to_owned());
        }
        Ok(ids)
    }

    /// The hint for a collection that can be opened, unless it has given up all named items.
    fn reason_to_keep(
        &self,
        run: &RegistrarRun<'_>,
        reachable: &Collection,
        known: &Known,
    ) -> Result<Option<String>, Failure> {
        let own = run.collection;
        if reachable.id() == own.id() {
            return Ok(Some(
                "`-c` names the collection of the Copies, `--lost` that of the Originals"
                    .to_owned(),
            ));
        }
        let (here, there) = (shell::word(own.path()), shell::word(reachable.path()));
        let is_silent = |name: &RepositoryName| is_unrecorded(reachable, name);
        let is_copy = |name: &RepositoryName| holds_copy(reachable, name);
        let is_forced = self.force.contains(&Force::Untraced);
        let is_given_up = |name: &RepositoryName| {
            has_given_up(reachable, name) || (is_forced && (is_silent(name) || is_copy(name)))
        };
        let names = run.choose(|_| true)?;
        let Some(kept) = names.iter().find(|name| !is_given_up(name)) else {
            let is_named = self.selection.names_items() && !names.is_empty();
            return Ok((!is_named).then(|| "name the items that it has given up".to_owned()));
        };
        let is_unknown = |id: &String| known.collections.iter().all(|it| it.id() != *id);
        if let Some(id) = made_of(own, kept).filter(is_unknown) {
            return Ok(Some(format!("the Copies are from another collection: `--lost {id}`")));
        }
        if !self.selection.names_items() {
            return Ok(Some(format!(
                "`urepo -c {there} migrate --all --to {here}` hands over what it holds; name the items that \
                 it has given up"
            )));
        }
        Ok(Some(match reachable.named_item(kept) {
            Ok(item) if item.sidecar().is_ok_and(|(it, _)| it.state == State::Original) => {
                format!("`urepo -c {there} migrate {kept} --to {here}` hands the Original over")
            }
            Err(CollectionError::Vanished { .. }) => format!(
                "`urepo -c {there} repair {kept} --from {here}` brings it back; `urepo -c {there} recover \
                 --inventory` gives it up, then repeat this"
            ),
            Err(_) if is_silent(kept) => format!(
                "it has no record of `{kept}`; if the Original was lost there, `--force untraced`"
            ),
            _ if is_copy(kept) => format!(
                "`urepo whereis {kept} --with {there}` shows which collections hold it; if the Original \
                 was lost there, and only this Copy came back, `--force untraced`"
            ),
            _ => format!("`urepo whereis {kept} --with {there}` shows which collections hold it"),
        }))
    }

    /// Refuses while a collection that cannot be opened may hold the Originals.
    pub(super) fn refuse_missing(&self, context: &Context, known: &Known) -> Done {
        let is_lost = |missing: &&Missing| {
            self.lost
                .iter()
                .any(|lost| *lost == *missing.name || context.collection_path(lost) == missing.path)
        };
        let Some(missing) = known.missing.iter().find(|missing| !is_lost(missing)) else {
            return Ok(());
        };
        let message = format!("`{}` cannot be opened and may hold Originals", missing.name);
        let hint = format!(
            "mount it; if it is the lost one, `--lost {}`; if it is gone permanently, take it out of the \
             settings",
            shell::word(&missing.name)
        );
        Err(Failure::new(Exit::Conflict, message).caused_by(missing.reason.clone()).hint(hint))
    }

    /// The ids of the missing lost collections, as given. For one given by name or path, the id that may hold
    /// the Originals and is neither known nor given.
    pub(super) fn ids_of_gone(
        &self,
        run: &RegistrarRun<'_>,
        others: &[Collection],
    ) -> Result<Vec<String>, Failure> {
        let (mut lost, mut unnamed) = (Vec::new(), 0);
        for given in &self.lost {
            match id(given) {
                _ if meant(run.context, given, others)?.is_some() => {}
                Some(id) => lost.push(id.to_owned()),
                None => unnamed += 1,
            }
        }
        if unnamed == 0 {
            return Ok(lost);
        }
        let is_unknown =
            |id: &String| !lost.contains(id) && !others.iter().any(|known| known.id() == *id);
        let chosen = run.choose(|_| true)?;
        let made = chosen.iter().filter_map(|name| made_of(run.collection, name));
        let mut ids: BTreeSet<_> = made.filter(is_unknown).collect();
        if ids.is_empty() {
            // The Original went on since the Copies were made.
            let holders = chosen.iter().filter_map(|name| run.holders(name, others).ok());
            ids = holders.flatten().filter(is_unknown).collect();
        }
        if ids.is_empty() {
            // Nothing is left to promote: the same run is repeated.
            let lost = chosen.iter().filter_map(|name| was_lost(run.collection, name));
            ids = lost.filter(is_unknown).collect();
        }
        match ids.len() {
            0 => Err(Failure::new(
                Exit::NoItem,
                "none of these items is a Copy from a collection that cannot be reached",
            )
            .hint("`urepo status` lists Copies without an Original")),
            1 if unnamed == 1 => {
                lost.extend(ids);
                Ok(lost)
            }
            count => Err(Failure::new(
                Exit::Conflict,
                format!("the Copies are from {count} collections that cannot be reached"),
            )
            .caused_by(ids.into_iter().collect::<Vec<_>>().join(", "))
            .hint("give the ids of the lost ones with `--lost`")),
        }
    }
}

/// The collection with the path or name `lost`, if it exists.
fn open(context: &Context, lost: &OsStr) -> Result<Option<Collection>, Failure> {
    match open_at(&context.collection_path(lost)) {
        // The current directory may be closed to the user.
        Err(_) if id(lost).is_some() => Ok(None),
        opened => opened,
    }
}

/// The collection at `root`, if it exists. One that cannot be read is not lost.
fn open_at(root: &Path) -> Result<Option<Collection>, Failure> {
    let error = match Collection::open(root, &Watcher::default()) {
        Ok(collection) => return Ok(Some(collection)),
        Err(CollectionError::NotACollection { .. } | CollectionError::NoSettings { .. }) => {
            return Ok(None);
        }
        Err(error) => Failure::from(error),
    };
    let path = root.display();
    let message = format!("the collection in `{path}` is not lost: it is there and cannot be read");
    let mut failure = Failure::new(Exit::Conflict, message).caused_by(error.message);
    failure.causes.extend(error.causes);
    let remedy = error.hint.map(|hint| format!("{hint}; ")).unwrap_or_default();
    Err(failure.hint(format!(
        "{remedy}if it can never be read again, unmount it or move it away, and repeat"
    )))
}

/// `lost` itself, if it has the form of an id.
fn id(lost: &OsStr) -> Option<&str> {
    let is_id = |text: &&str| text.len() == 32 && text.bytes().all(|it| it.is_ascii_hexdigit());
    lost.to_str().filter(is_id)
}

/// The one of `collections` with the id, name or path `lost`.
fn meant<'c>(
    context: &Context,
    lost: &OsStr,
    collections: &'c [Collection],
) -> Result<Option<&'c Collection>, Failure> {
    let opened = open(context, lost)?;
    Ok(collections.iter().find(|it| match &opened {
        Some(opened) => opened.id() == it.id(),
        None => *lost == *it.id() || *lost == *it.settings().name,
    }))
}

/// Whether a collection neither holds an item nor has recorded that it did.
fn is_unrecorded(collection: &Collection, name: &RepositoryName) -> bool {
    matches!(collection.named_item(name), Err(CollectionError::NoSuchItem { .. }))
}

/// Whether a collection holds a Copy and so not the Original, perhaps because an older backup of it was
/// restored.
fn holds_copy(collection: &Collection, name: &RepositoryName) -> bool {
    let read = collection.named_item(name).and_then(|item| item.sidecar());
    read.is_ok_and(|(sidecar, seal)| {
        seal == Seal::Intact && sidecar.state == State::Copy && sidecar.handover.is_none()
    })
}

/// Whether a person has accepted that an item is gone from a collection.
fn has_given_up(collection: &Collection, name: &RepositoryName) -> bool {
    let recorded = collection.last_record(name).ok().flatten();
    recorded.is_some_and(|it| it.line.change == InventoryChange::Left(Departure::Lost))
}

/// The collection that a Copy was made of.
fn made_of(collection: &Collection, name: &RepositoryName) -> Option<String> {
    let (sidecar, _) = collection.item(name).and_then(|item| item.sidecar()).ok()?;
    sidecar.made_of().filter(|_| sidecar.state == State::Copy).map(str::to_owned)
}

/// The collection whose loss has made an item the Original: the same run may be repeated.
fn was_lost(collection: &Collection, name: &RepositoryName) -> Option<String> {
    let (sidecar, _) = collection.item(name).and_then(|item| item.sidecar()).ok()?;
    let lost = sidecar.handovers().iter().rev().find(|entry| entry.get("lost").is_some())?;
    lost.get("from")?.as_str().map(str::to_owned)
}
