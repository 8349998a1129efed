//! `urepo restore`: restore deleted items from the trash.

use std::ffi::OsString;

use urepo::holdings::Sight;
use urepo::identity::RepositoryName;
use urepo::progress::Progress;
use urepo::removal::{DamageRule, Restoration, plan_restoration, restorable};

use super::removal::{ItemReport, RemovalRun, named};
use crate::cli::Done;
use crate::cli::choice::{Choice, one_of};
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::force::Force;
use crate::cli::report::Report;
use crate::cli::select::{NameFlags, Selection};

/// Restore deleted items from the trash
///
/// Every byte in the trash is compared with the sidecar first. The item gets its former state: Original or
/// Copy. Files that `urepo purge` has removed come from a collection of the settings, or of --from, that has a Copy; --all
/// restores such items only with --from.
/// If the trash has an item several times, such as
/// before a repair, the one that was deleted is restored; the command that copies the others out of the trash is printed.
/// `urepo export ITEM --name source --to DIR` writes an item to a directory, as it was deposited.
///
/// --since and --until use the date in the identifier, not the date of the deletion.
///
/// An Original is restored unless a collection of the settings, or of --from, has a newer state of the item.
#[derive(Debug, clap::Args)]
pub(crate) struct Restore {
    /// The items
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    #[command(flatten)]
    flags: NameFlags,
    /// Another collection, by path or name, that may have a newer state or the files; may be repeated
    #[arg(long = "from", value_name = "COLLECTION")]
    others: Vec<OsString>,
    /// Override a rule: `damaged` restores an item that differs from its sidecar
    #[arg(long, value_name = "RULE", value_parser = one_of(&FORCE))]
    force: Vec<Force>,
}

/// The rules that `--force` overrides here.
const FORCE: [Choice<Force>; 1] = [("damaged", "Restore a damaged item", Force::Damaged)];

impl Restore {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let selection = Selection::new(self.items.clone(), self.flags.clone())?;
        // The plan of all is the list of what can be restored.
        if !context.global.dry_run {
            selection.check("restore ITEM…")?;
        }
        let collection = context.collection()?;
        let others = context.known_besides(&collection, &self.others)?;
        let sight = Sight::of_many(&others.collections);
        let restoration = Restoration {
            sight: &sight,
            damage: Force::Damaged.rule(&self.force, DamageRule::Accept),
        };
        let mut report = Report::new(context, Did::Restored, selection.is_single());
        let names = if let Some(names) = named(&collection, &selection, &mut report)? {
            names
        } else {
            // What was purged comes back only from a collection that was named for that.
            let named = if self.others.is_empty() { &[] } else { &others.collections[..] };
            let (names, failed) = restorable(&collection, &selection.filter(context), named)?;
            for error in failed {
                let _ = report.failed("", error.into());
            }
            names
        };
        let run = RemovalRun { context, collection: &collection, yes: true, asked: Did::Restored };
        let plan = |name: &RepositoryName, progress: &dyn Progress| {
            let interrupt = &context.interrupt;
            let plan = plan_restoration(&collection, name, &restoration, progress, interrupt);
            plan.map(|it| ItemReport::of_restored(&it))
        };
        let done = run.carry_out(&names, report, plan, |remover, note| {
            remover.restore(&names, &restoration, &mut |name, outcome| {
                note(name, outcome.map(|it| ItemReport::of_restored(&it)))
            });
        });
        context.tell_unseen(&sight);
        done
    }
}
