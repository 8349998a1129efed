//! `urepo promote`: Copies become Originals, because the collection of the Originals is lost.

mod lost;

use std::collections::BTreeSet;
use std::ffi::OsString;

use urepo::collection::Collection;
use urepo::holdings::UnseenRule;
use urepo::identity::RepositoryName;
use urepo::progress::NoProgress;
use urepo::promotion::{Loss, PromotionError};
use urepo::transfer::end_lost;

use super::promotion::RegistrarRun;
use super::transfer::finish_first;
use crate::cli::Done;
use crate::cli::choice::{Choice, one_of};
use crate::cli::confirm::confirm;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::force::Force;
use crate::cli::select::Selection;

/// Turn Copies into Originals, because the collection that held those is lost
///
/// An item has one Original. If the collection that held it can never be read again, a Copy takes its place:
/// it is verified byte by byte, its sidecar and the log record when, from which collection and why, and other
/// Copies follow it when they are refreshed. With --all, every Copy from the lost collection is promoted;
/// other items are skipped.
///
/// Nothing is promoted while the lost collection exists, even if it cannot be read, at the given path or
/// where this machine last issued its identifiers. The exceptions are a collection that has given up the
/// named items (`urepo recover --inventory`), and, with `--force untraced`, one that has only Copies of them.
/// Nothing is promoted while another known collection holds the Original, a later Copy or a tombstone, or has
/// lost an item that may be the Original, or while a collection of the settings cannot be opened. Name every
/// other mirror with --with: only known mirrors are checked. Every collection that may hold the Original, by
/// the Copies, the inventories, and a hand-over in progress, has to be lost, or known and able to show where
/// the Original went: repeat --lost for several. If a lost collection comes back after all, `urepo demote`
/// makes its Originals Copies.
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
    #[arg(long, value_name = "RULE", value_parser = one_of(&FORCE))]
    force: Vec<Force>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// The rules that `--force` overrides here.
const FORCE: [Choice<Force>; 1] = [(
    "untraced",
    "Promote a Copy though no inventory says where its Original went",
    Force::Untraced,
)];

impl Promote {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("promote ITEM… --lost COLLECTION --reason TEXT")?;
        if self.reason.trim().is_empty() {
            return Err(Failure::usage("the reason is empty"));
        }
        let collection = context.collection()?;
        let known = context.known(&[&*self.with, &*self.found(context)?].concat())?;
        let run = RegistrarRun {
            context,
            collection: &collection,
            selection: &self.selection,
            elsewhere: None,
            verb: "promote",
            done: "promoted",
        };
        let mut lost = self.ids_of_given_up(&run, &known)?;
        self.refuse_missing(context, &known)?;
        if !context.global.dry_run {
            let others = known.collections.iter().filter(|it| it.id() != collection.id());
            finish_first(context, &collection, &others.collect::<Vec<_>>())?;
        }
        let mut others = known.collections;
        others.retain(|other| other.id() != collection.id());
        let gone = self.ids_of_gone(&run, &others)?;
        lost.extend(gone);
        // An unreadable item is reported, not skipped.
        let is_meant = |holders: BTreeSet<String>| lost.iter().any(|id| holders.contains(id));
        let chosen = run.choose(|name| run.holders(name, &others).map_or(true, is_meant))?;
        self.confirm(context, &chosen)?;
        let loss = Loss {
            collections: &lost,
            reason: &self.reason,
            others: &others,
            untraced: Force::Untraced.rule(&self.force, UnseenRule::Accept),
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

    fn confirm(&self, context: &Context, chosen: &[RepositoryName]) -> Done {
        if context.global.dry_run || chosen.is_empty() {
            return Ok(());
        }
        let (copies, originals) = match chosen.len() {
            1 => ("1 Copy".to_owned(), "the Original"),
            count => (format!("{count} Copies"), "Originals"),
        };
        let lost: Vec<_> = self.lost.iter().map(|it| format!("`{}`", it.display())).collect();
        let collections = if lost.len() == 1 { "collection" } else { "collections" };
        let lost = lost.join(", ");
        let question =
            format!("turn {copies} from the lost {collections} {lost} into {originals}?");
        confirm(context, self.yes, &question)
    }
}

impl RegistrarRun<'_> {
    /// The collections that may hold the Original of a Copy.
    fn holders(
        &self,
        name: &RepositoryName,
        others: &[Collection],
    ) -> Result<BTreeSet<String>, PromotionError> {
        self.registrar(None, &NoProgress).holders(name, others)
    }
}
