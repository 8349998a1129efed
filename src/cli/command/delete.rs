//! `urepo delete`: items go, and can come back until they are purged.

use clap::ValueEnum;
use std::ffi::OsString;

use urepo::collection::Collection;
use urepo::holdings::{Peers, UnseenRule};
use urepo::identity::RepositoryName;
use urepo::progress::Progress;
use urepo::removal::{self, DamageRule, LastRule, Order, Remover, Revival};
use urepo::verify::Depth;

use super::transfer::finish_first;
use crate::cli::confirm::confirm;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::report::{End, Report};
use crate::cli::{Done, human, who};

mod batch;
mod told;

use batch::note;
use told::Told;

/// Delete items, or bring them back
///
/// An Original leaves a tombstone: its name is never given again, and `urepo show` says who deleted it,
/// when and why. A Copy leaves nothing. The files go to the trash of the collection and stay there
/// until `urepo purge`: so --revive can undo a slip, and no room is freed before.
///
/// An item is deleted only if another collection holds the same files, which are read and compared
/// now: one named with --with, or one of the settings.
///
/// An Original comes back only if every collection that may hold the Original by now was looked at: those
/// that the inventories name, and those of the settings.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo delete --dry-run --force last 11.21.02.13
  urepo delete --force last --reason 'deposited twice' 11.21.02.13
  urepo delete --revive 11.21.02.13")]
pub(crate) struct Delete {
    /// The items
    #[arg(value_name = "ITEM", required = true)]
    items: Vec<String>,
    /// Why, for the tombstone
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Another collection, by path or name, that may hold the items too; may be repeated
    #[arg(long = "with", value_name = "COLLECTION")]
    others: Vec<OsString>,
    /// Override a rule: `last` deletes what no other collection is known to hold, `damaged` what is
    /// not as its sidecar says; `missing` brings an Original back though a collection that may hold it
    /// cannot be looked at
    #[arg(long, value_name = "RULE")]
    force: Vec<Rule>,
    /// Do not read the files of the other collection: only that they are there, with their sizes
    #[arg(long)]
    quick: bool,
    /// Bring deleted items back from the trash; every byte is compared first
    #[arg(long, conflicts_with_all = ["reason", "quick"])]
    revive: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// Delete the last one that is known to be whole
    Last,
    /// Delete, or bring back, what is damaged
    Damaged,
    /// Bring an Original back though a collection that may hold it cannot be looked at
    Missing,
}

impl Delete {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let (others, missing) = self.others(context, &collection)?;
        let revival = self.revival(&others, &missing);
        let outcome = if self.revive { "brought back" } else { "deleted" };
        let mut report = Report::new(context, outcome, self.items.len() == 1);
        let names = self.names(context, &collection, &mut report);
        if context.global.dry_run {
            return self.tell_plans(context, &collection, &revival, &names, report);
        }
        if names.is_empty() {
            return report.finish(End::default());
        }
        if self.items.len() > 1 {
            let verb = if self.revive { "bring back" } else { "delete" };
            let items = human::count(names.len() as u64, "item");
            confirm(context, self.yes, &format!("{verb} {items}?"))?;
        }
        finish_first(context, &collection, &[])?;
        let progress = context.progress();
        let remover = remover(context, &collection, &*progress)?;
        if self.revive {
            let _ = names.iter().try_for_each(|name| {
                let revived = remover.revive(name, &revival);
                note(context, &mut report, name, revived.map(|revived| Told::of_revived(&revived)))
            });
        } else {
            let order = self.order(context, &others);
            let mut deletion = remover.deletion(&names, &order);
            let _ = names.iter().try_for_each(|name| {
                let deleted = deletion.delete(name);
                note(context, &mut report, name, deleted.map(|plan| Told::of_plan(&plan)))
            });
            deletion.finish()?;
        }
        remover.writer.finish()?;
        drop(progress);
        report.finish(End::default())
    }

    /// The names of what was typed, each once.
    fn names(
        &self,
        context: &Context,
        collection: &Collection,
        report: &mut Report<'_>,
    ) -> Vec<RepositoryName> {
        let found = report.resolve(&self.items, |text| {
            if self.revive {
                Ok(collection.find_with_trash(text)?)
            } else {
                context.item(collection, text).map(|item| item.name().clone())
            }
        });
        let mut names: Vec<RepositoryName> = Vec::new();
        for name in found {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The collections that may hold the items too, those named here and those of the settings, and the names
    /// of those that cannot be opened.
    fn others(
        &self,
        context: &Context,
        collection: &Collection,
    ) -> Result<(Vec<Collection>, Vec<String>), Failure> {
        let Known { collections: mut others, missing } = context.known(&self.others)?;
        others.retain(|other| other.id() != collection.id());
        Ok((others, missing.into_iter().map(|it| it.name).collect()))
    }

    fn revival<'a>(&self, others: &'a [Collection], missing: &'a [String]) -> Revival<'a> {
        let is_forced = self.force.contains(&Rule::Missing);
        let unseen = if is_forced { UnseenRule::Accept } else { UnseenRule::Refuse };
        let peers = Peers { collections: others, missing, unseen };
        Revival { peers, damage: self.damage() }
    }

    fn order<'a>(&self, context: &Context, others: &'a [Collection]) -> Order<'a> {
        let is_forced = self.force.contains(&Rule::Last);
        Order {
            by: who::who(&context.agent),
            reason: self.reason.clone(),
            others,
            depth: if self.quick { Depth::Quick } else { Depth::FromDisk },
            last: if is_forced { LastRule::Remove } else { LastRule::Keep },
            damage: self.damage(),
        }
    }

    fn damage(&self) -> DamageRule {
        let is_forced = self.force.contains(&Rule::Damaged);
        if is_forced { DamageRule::Accept } else { DamageRule::Refuse }
    }

    fn tell_plans(
        &self,
        context: &Context,
        collection: &Collection,
        revival: &Revival<'_>,
        names: &[RepositoryName],
        mut report: Report<'_>,
    ) -> Done {
        let order = self.order(context, revival.peers.collections);
        let progress = context.progress();
        for name in names {
            let told = if self.revive {
                removal::plan_revival(collection, name, revival, &*progress, &context.interrupt)
                    .map(|revived| Told::of_revived(&revived))
            } else {
                removal::plan(collection, name, &order, &*progress, &context.interrupt)
                    .map(|plan| Told::of_plan(&plan))
            };
            if note(context, &mut report, name, told).is_break() {
                break;
            }
        }
        report.finish(End::default())
    }
}

/// Finishes what killed runs have left.
pub(super) fn finish_removals(context: &Context, collection: &Collection) -> Done {
    let finished = removal::finish_pending(collection, &context.agent, &context.waiter())?;
    for error in finished.failed {
        context.printer.warning(&Failure::from(error).in_one_line());
    }
    Ok(())
}

/// The right to remove, once what killed runs have left is finished.
fn remover<'a>(
    context: &'a Context,
    collection: &'a Collection,
    progress: &'a dyn Progress,
) -> Result<Remover<'a>, Failure> {
    let wait = context.config.lock_wait.value;
    finish_removals(context, collection)?;
    Ok(Remover {
        collection,
        writer: collection.writer_to_delete(&context.agent, &context.waiter())?,
        agent: &context.agent,
        clock: &context.clock,
        wait,
        progress,
        interrupt: &context.interrupt,
    })
}
