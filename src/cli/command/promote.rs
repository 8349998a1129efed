//! `urepo promote`: Copies become Originals, because the collection of the Originals is lost.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::ValueEnum;
use urepo::collection::{Collection, Departure, InventoryChange};
use urepo::disk::Watcher;
use urepo::holdings::UnseenRule;
use urepo::identity::RepositoryName;
use urepo::item::State;
use urepo::progress::NoProgress;
use urepo::promotion::{Loss, PromotionError};
use urepo::transfer::end_lost;

use super::promotion::{Chosen, Run};
use super::transfer::finish_first;
use crate::cli::Done;
use crate::cli::confirm::confirm;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::known::{Known, Missing};
use crate::cli::select::Selection;
use crate::cli::shell;

/// Make Copies the Originals, because the collection that held these is lost
///
/// An item has one Original. If the collection that held it can never be read again, a Copy takes its
/// place: it is verified byte by byte, its sidecar and the log record when, from which collection and
/// why, and other Copies follow it when they are refreshed. With --all, every Copy from the lost
/// collection is promoted; other items are passed over.
///
/// Nothing is promoted while the lost collection can be opened, unless it has given up the items that are
/// named (`urepo recover --inventory`); while another known collection holds the Original, a later Copy or
/// a tombstone, or has lost what may be the Original; or while a collection of the settings cannot be
/// opened. Name every other mirror with --with: only mirrors that are known can be asked. Every collection
/// that may hold the Original, by the Copies, the inventories, and a hand-over under way, has to be lost, or
/// known and able to say where the Original went: repeat --lost for several. If a lost collection comes back after all, `urepo demote` makes its
/// Originals Copies.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo -c mirror promote --all --lost /mnt/lost --reason 'disk failure' --dry-run
  urepo -c mirror promote --all --lost /mnt/lost --reason 'disk failure' --yes")]
pub(crate) struct Promote {
    #[command(flatten)]
    selection: Selection,
    /// A lost collection: its id, its name in the settings, or the path where it was; may be repeated
    #[arg(long, value_name = "COLLECTION", required = true)]
    lost: Vec<OsString>,
    /// Why it counts as lost, for the sidecars and the log
    #[arg(long, value_name = "TEXT", required = true)]
    reason: String,
    /// Another mirror, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    with: Vec<OsString>,
    /// Override a rule: `untraced` promotes a Copy though no inventory says where its Original went
    #[arg(long, value_name = "RULE")]
    force: Vec<Rule>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// Promote a Copy though no inventory says where its Original went
    Untraced,
}

impl Promote {
    pub(crate) fn run(&self, context: &Context) -> Done {
        if self.selection.is_empty() {
            return Err(context.nothing_selected("promote ITEM… --lost COLLECTION --reason TEXT"));
        }
        if self.reason.trim().is_empty() {
            return Err(Failure::usage("the reason is empty"));
        }
        let collection = context.collection()?;
        let known = context.known(&self.with)?;
        let run = Run {
            context,
            collection: &collection,
            selection: &self.selection,
            elsewhere: None,
            verb: "promote",
            done: "promoted",
        };
        let given_up = self.refuse_reachable(&run, &known)?;
        if !context.global.dry_run {
            let others = known.collections.iter().filter(|it| it.id() != collection.id());
            finish_first(context, &collection, &others.collect::<Vec<_>>())?;
        }
        let mut others = known.collections;
        others.retain(|other| other.id() != collection.id());
        let lost = match given_up {
            Some(id) => vec![id],
            None => self.ids_of_lost(&run, &others)?,
        };
        // An unreadable item is reported, not skipped.
        let is_meant = |holders: BTreeSet<String>| lost.iter().any(|id| holders.contains(id));
        let chosen = run.choose(|name| run.holders(name, &others).map_or(true, is_meant))?;
        self.confirm(context, &chosen, &lost)?;
        let loss = Loss {
            collections: &lost,
            reason: &self.reason,
            others: &others,
            untraced: if self.force.contains(&Rule::Untraced) {
                UnseenRule::Accept
            } else {
                UnseenRule::Refuse
            },
        };
        run.finish(
            &chosen,
            |registrar, names, report| registrar.promote_all(names, &loss, report),
            || {
                let open = end_lost(&collection, &lost, &context.agent, &context.waiter())?;
                let told = |(name, error)| (name, Failure::from(error));
                Ok(open.into_iter().map(told).collect())
            },
        )
    }

    fn confirm(&self, context: &Context, chosen: &Chosen, lost: &[String]) -> Done {
        if context.global.dry_run || chosen.names.is_empty() {
            return Ok(());
        }
        let items = human::count(chosen.names.len() as u64, "Copy");
        let items = items.replace("Copys", "Copies");
        let (collection, lost) =
            (if lost.len() == 1 { "collection" } else { "collections" }, lost.join(", "));
        let question = format!("make {items} from the lost {collection} {lost} the Original?");
        confirm(context, self.yes, &question)
    }

    /// What can be opened is not lost, and what cannot be opened may hold the Original. The id of a known
    /// collection that is given as the only lost one, and has given up all items that are named.
    fn refuse_reachable(&self, run: &Run<'_>, known: &Known) -> Result<Option<String>, Failure> {
        let (context, own) = (run.context, run.collection);
        let paths: Vec<_> = self.lost.iter().map(|lost| context.collection_path(lost)).collect();
        let is_meant = |it: &&Collection| {
            let named = |lost: &OsString| *lost == *it.id() || *lost == *it.settings().name;
            self.lost.iter().any(named) || paths.iter().any(|path| it.path() == path)
        };
        let reachable = known.collections.iter().chain([own]).find(is_meant);
        let given_up = match reachable {
            Some(it) if self.lost.len() == 1 && self.selection.names_items() => {
                let names = run.choose(|_| true)?.names;
                let is_all = !names.is_empty() && names.iter().all(|name| has_given_up(it, name));
                is_all.then(|| it.id().to_owned())
            }
            _ => None,
        };
        let reachable = reachable.map(|it| it.path().to_path_buf()).or_else(|| {
            paths.iter().find(|path| Collection::open(path, &Watcher::default()).is_ok()).cloned()
        });
        if let Some(path) = reachable.filter(|_| given_up.is_none()) {
            let message =
                format!("the collection in `{}` is not lost: it can be opened", path.display());
            return Err(Failure::new(Exit::Conflict, message)
                .hint("`urepo migrate` hands Originals over from there"));
        }
        let is_lost = |missing: &&Missing| {
            self.lost.iter().any(|lost| *lost == *missing.name) || paths.contains(&missing.path)
        };
        let unknown = known.missing.iter().find(|missing| !is_lost(missing));
        match unknown {
            None => Ok(given_up),
            Some(missing) => {
                let message = format!("`{}` cannot be opened and may hold Originals", missing.name);
                Err(Failure::new(Exit::Conflict, message).caused_by(missing.reason.clone()).hint(
                    format!(
                        "mount it; if it is the lost one, `--lost {}`; if it is gone permanently, take it \
                         out of the settings",
                        shell::word(&missing.name)
                    ),
                ))
            }
        }
    }

    /// The ids of the lost collections: as they were given; and of one that was given by name or path, the
    /// one that may hold the Originals and is neither known nor given.
    fn ids_of_lost(&self, run: &Run<'_>, others: &[Collection]) -> Result<Vec<String>, Failure> {
        let is_id =
            |text: &&str| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let given = self.lost.iter().filter_map(|lost| lost.to_str().filter(is_id));
        let mut lost: Vec<String> = given.map(str::to_owned).collect();
        let unnamed = self.lost.len() - lost.len();
        if unnamed == 0 {
            return Ok(lost);
        }
        let is_unknown =
            |id: &String| !lost.contains(id) && !others.iter().any(|known| known.id() == *id);
        let chosen = run.choose(|_| true)?;
        let made = chosen.names.iter().filter_map(|name| made_of(run.collection, name));
        let mut ids: BTreeSet<_> = made.filter(is_unknown).collect();
        if ids.is_empty() {
            // The Original went on since the Copies were made.
            let holders = chosen.names.iter().filter_map(|name| run.holders(name, others).ok());
            ids = holders.flatten().filter(is_unknown).collect();
        }
        if ids.is_empty() {
            // Nothing is left to promote: the same run is repeated.
            let lost = chosen.names.iter().filter_map(|name| was_lost(run.collection, name));
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

impl Run<'_> {
    /// The collections that may hold the Original of a Copy.
    fn holders(
        &self,
        name: &RepositoryName,
        others: &[Collection],
    ) -> Result<BTreeSet<String>, PromotionError> {
        self.registrar(None, &NoProgress).holders(name, others)
    }
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
    let history = sidecar.origin.get("handovers")?.as_array()?;
    let lost = history.iter().rev().find(|entry| entry.get("lost").is_some())?;
    lost.get("from")?.as_str().map(str::to_owned)
}
