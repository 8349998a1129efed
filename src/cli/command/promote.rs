//! `urepo promote`: Copies become Originals, because the collection of the Originals is lost.

use std::collections::BTreeSet;
use std::ffi::OsString;

use urepo::collection::Collection;
use urepo::disk::Watcher;
use urepo::identity::RepositoryName;
use urepo::promotion::Loss;

use super::promotion::{Chosen, Run};
use crate::cli::Done;
use crate::cli::confirm::confirm;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::known::Known;
use crate::cli::select::Selection;

/// Make Copies the Originals, because the collection that held these is lost
///
/// An item has one Original. If the collection that held it can never be read again, a Copy takes its
/// place: it is verified byte by byte, its sidecar and the log record when, from which collection and
/// why, and other Copies follow it when they are refreshed. With --all, every Copy from the lost
/// collection is promoted; other items are passed over.
///
/// Nothing is promoted while the lost collection can be opened, while another known collection holds the
/// Original, a later Copy or a tombstone, or while a collection of the settings cannot be opened. Name
/// every other mirror with --with: only mirrors that are known can be asked. If the lost collection
/// comes back after all, `urepo demote` makes its Originals Copies.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo -c mirror promote --all --lost /mnt/lost --reason 'disk failure' --dry-run
  urepo -c mirror promote --all --lost /mnt/lost --reason 'disk failure' --yes")]
pub(crate) struct Promote {
    #[command(flatten)]
    selection: Selection,
    /// The lost collection: its id, its name in the settings, or the path where it was
    #[arg(long, value_name = "COLLECTION", required = true)]
    lost: OsString,
    /// Why it counts as lost, for the sidecars and the log
    #[arg(long, value_name = "TEXT", required = true)]
    reason: String,
    /// Another mirror, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    with: Vec<OsString>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Promote {
    pub(crate) fn run(&self, context: &Context) -> Done {
        if self.selection.is_empty() {
            return Err(context.nothing_selected("promote"));
        }
        if self.reason.trim().is_empty() {
            return Err(Failure::usage("the reason is empty"));
        }
        let collection = context.collection()?;
        let known = context.known(&self.with)?;
        self.refuse_reachable(context, &collection, &known)?;
        let run = Run {
            context,
            collection: &collection,
            selection: &self.selection,
            verb: "promote",
            done: "promoted",
        };
        let lost = self.id_of_lost(&run, &known)?;
        let chosen = run.choose(|name| made_of(&collection, name).as_deref() == Some(&lost))?;
        self.confirm(context, &chosen, &lost)?;
        let mut others = known.collections;
        others.retain(|other| other.id() != collection.id());
        let loss = Loss { collection: &lost, reason: &self.reason, others: &others };
        run.finish(chosen, |registrar, name| registrar.promote(name, &loss))
    }

    fn confirm(&self, context: &Context, chosen: &Chosen, lost: &str) -> Done {
        if context.global.dry_run || chosen.names.is_empty() {
            return Ok(());
        }
        let items = human::count(chosen.names.len() as u64, "Copy");
        let items = items.replace("Copys", "Copies");
        let question = format!("make {items} from the lost collection {lost} the Original?");
        confirm(context, self.yes, &question)
    }

    /// What can be opened is not lost, and what cannot be opened may hold the Original.
    fn refuse_reachable(&self, context: &Context, own: &Collection, known: &Known) -> Done {
        let path = context.collection_path(&self.lost);
        let mut collections = known.collections.iter().chain([own]);
        let is_meant = |it: &&Collection| {
            self.lost == *it.id() || self.lost == *it.settings().name || it.path() == path
        };
        let reachable = collections.find(is_meant).map(|it| it.path().to_path_buf());
        let reachable = reachable
            .or_else(|| Collection::open(&path, &Watcher::default()).is_ok().then(|| path.clone()));
        if let Some(path) = reachable {
            let message =
                format!("the collection in `{}` is not lost: it can be opened", path.display());
            return Err(Failure::new(Exit::Conflict, message)
                .hint("`urepo migrate` hands Originals over from there"));
        }
        let unknown =
            known.missing.iter().find(|missing| self.lost != *missing.name && missing.path != path);
        match unknown {
            None => Ok(()),
            Some(missing) => {
                let message = format!("`{}` cannot be opened and may hold Originals", missing.name);
                Err(Failure::new(Exit::Conflict, message).caused_by(missing.reason.clone()).hint(
                    format!(
                        "mount it; if it is the lost one, `--lost {}`; if it is gone for good, take it \
                         out of the settings",
                        missing.name
                    ),
                ))
            }
        }
    }

    /// The id of the lost collection: as it was given, or the one from which the Copies came.
    fn id_of_lost(&self, run: &Run<'_>, known: &Known) -> Result<String, Failure> {
        let is_id =
            |text: &&str| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(id) = self.lost.to_str().filter(is_id) {
            return Ok(id.to_owned());
        }
        let is_reachable = |id: &str| known.collections.iter().any(|known| known.id() == id);
        let chosen = run.choose(|_| true)?;
        let ids = |origin: fn(&Collection, &RepositoryName) -> Option<String>| -> BTreeSet<_> {
            let origins = chosen.names.iter().filter_map(|name| origin(run.collection, name));
            origins.filter(|id| !is_reachable(id)).collect()
        };
        let copies = ids(made_of);
        // Originals count where nothing is left to promote: the same run is repeated.
        let ids = if copies.is_empty() { ids(was_lost) } else { copies };
        let ids: Vec<_> = ids.into_iter().collect();
        match &ids[..] {
            [id] => Ok(id.clone()),
            [] => Err(Failure::new(
                Exit::NoItem,
                "none of these items is a Copy from a collection that cannot be reached",
            )
            .hint("`urepo status` lists Copies without an Original")),
            _ => Err(Failure::new(
                Exit::Conflict,
                format!("the Copies are from {} collections that cannot be reached", ids.len()),
            )
            .caused_by(ids.join(", "))
            .hint("give the id of the lost one with `--lost`")),
        }
    }
}

/// The collection that a Copy came from.
fn made_of(collection: &Collection, name: &RepositoryName) -> Option<String> {
    let (sidecar, _) = collection.item(name).and_then(|item| item.sidecar()).ok()?;
    let is_copy = sidecar.state == urepo::item::State::Copy;
    sidecar.origin.get("collection").filter(|_| is_copy)?.as_str().map(str::to_owned)
}

/// The collection whose loss has made an item the Original: the same run may be repeated.
fn was_lost(collection: &Collection, name: &RepositoryName) -> Option<String> {
    let (sidecar, _) = collection.item(name).and_then(|item| item.sidecar()).ok()?;
    let history = sidecar.origin.get("handovers")?.as_array()?;
    let lost = history.iter().rev().find(|entry| entry.get("lost").is_some())?;
    lost.get("from")?.as_str().map(str::to_owned)
}
