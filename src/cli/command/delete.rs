//! `urepo delete`: delete items, which can be restored until they are purged.

use std::ffi::OsString;

use urepo::holdings::Sight;
use urepo::identity::RepositoryName;
use urepo::progress::Progress;
use urepo::removal::{DamageRule, LastRule, Order, PermanentRule, plan};

use super::removal::{ItemReport, RemovalRun};
use crate::cli::choice::{Choice, one_of};
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::force::Force;
use crate::cli::report::Report;
use crate::cli::select::Selection;
use crate::cli::{Done, agent};

/// Delete items
///
/// An Original leaves a tombstone: its identifier is never issued again, and `urepo show` says who deleted
/// it, when and why. A Copy leaves a stub, which says where its Original is. The items as they were go to the
/// trash of the collection, where `urepo restore` finds them until `urepo purge`. Only the purge frees room.
///
/// An item is deleted only if another collection holds the same files, which are read and compared
/// now: one named with --with, or one of the settings.
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    selection: Selection,
    /// Why, for the tombstone
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Another collection, by path or name, that may hold the items too; may be repeated
    #[arg(long = "with", value_name = "COLLECTION")]
    others: Vec<OsString>,
    /// Override a rule: `last` deletes an item that no other collection is known to hold, `damaged` an item
    /// that differs from its sidecar, `permanent` an Original that is marked as not transferable
    #[arg(long, value_name = "RULE", value_parser = one_of(&FORCE))]
    force: Vec<Force>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// The rules that `--force` overrides here.
const FORCE: [Choice<Force>; 3] = [
    ("last", "Delete an item that no other collection is known to hold", Force::Last),
    ("damaged", "Delete a damaged item", Force::Damaged),
    ("permanent", "Delete an Original that is marked as not transferable", Force::Permanent),
];

impl Delete {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("delete ITEM…")?;
        let collection = context.collection()?;
        let others = context.known_besides(&collection, &self.others)?.collections;
        let sight = Sight::of_many(&others);
        let order = self.order(context, &sight);
        let mut report = Report::new(context, Did::Deleted, self.selection.is_single());
        let names = context.selected_names(&self.selection, &collection, &mut report)?;
        let run =
            RemovalRun { context, collection: &collection, yes: self.yes, asked: Did::Deleted };
        let plan = |name: &RepositoryName, progress: &dyn Progress| {
            let plan = plan(&collection, name, &order, progress, &context.interrupt);
            plan.map(|plan| ItemReport::of_plan(&plan))
        };
        let done = run.carry_out(&names, report, plan, |remover, note| {
            remover.delete(&names, &order, &mut |name, outcome| {
                note(name, outcome.map(|plan| ItemReport::of_plan(&plan)))
            });
        });
        context.tell_unseen(&sight);
        done
    }

    fn order<'a>(&self, context: &Context, sight: &'a Sight<'a>) -> Order<'a> {
        Order {
            by: agent::user_at_machine(&context.agent),
            reason: self.reason.clone(),
            sight,
            last: Force::Last.rule(&self.force, LastRule::Remove),
            damage: Force::Damaged.rule(&self.force, DamageRule::Accept),
            permanent: Force::Permanent.rule(&self.force, PermanentRule::Accept),
        }
    }
}
