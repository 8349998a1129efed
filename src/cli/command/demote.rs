//! `urepo demote`: of two Originals one becomes a Copy of the other.

use urepo::collection::Collection;
use urepo::identity::RepositoryName;
use urepo::item::State;
use urepo::promotion::DifferenceRule;

use super::promotion::RegistrarRun;
use super::transfer::finish_first;
use crate::cli::Done;
use crate::cli::choice::{Choice, one_of};
use crate::cli::confirm::confirm;
use crate::cli::context::Context;
use crate::cli::force::Force;
use crate::cli::human;
use crate::cli::select::Selection;

/// Turn Originals into Copies, where another collection holds the Originals too
///
/// Use this when a lost collection comes back after its items were promoted elsewhere, so that each has two
/// Originals. The items of this collection become Copies of those in COLLECTION, which are verified byte by
/// byte first. With --all, every item that is an Original in both is demoted; other items are skipped.
///
/// An item whose files or description differ stays unchanged. With `--force different` the whole item goes to
/// the trash; `urepo copy` then brings a Copy of the other one.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo -c /mnt/lost demote --all --to-copy-of mirror --dry-run
  urepo -c /mnt/lost demote --all --to-copy-of mirror --yes")]
pub(crate) struct Demote {
    #[command(flatten)]
    selection: Selection,
    /// The collection that keeps the Originals, by path or name
    #[arg(long, value_name = "COLLECTION", required = true)]
    to_copy_of: std::ffi::OsString,
    /// Override a rule: `different` moves an item that differs from the other Original to the trash
    #[arg(long, value_name = "RULE", value_parser = one_of(&FORCE))]
    force: Vec<Force>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// The rules that `--force` overrides here.
const FORCE: [Choice<Force>; 1] = [(
    "different",
    "Move an item that differs from the other Original to the trash",
    Force::Different,
)];

impl Demote {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("demote ITEM… --to-copy-of COLLECTION")?;
        let collection = context.collection()?;
        let original = context.open_named(&self.to_copy_of)?;
        if !context.global.dry_run {
            finish_first(context, &collection, &[&original])?;
        }
        let run = RegistrarRun {
            context,
            collection: &collection,
            selection: &self.selection,
            elsewhere: Some(&original),
            verb: "demote",
            done: "demoted",
        };
        let is_original = |collection: &Collection, name: &RepositoryName| {
            let read = collection.item(name).and_then(|item| item.sidecar());
            // An unreadable item is reported, not skipped.
            read.map_or_else(
                |error| !error.is_absence(),
                |(sidecar, _)| sidecar.state == State::Original,
            )
        };
        let chosen =
            run.choose(|name| is_original(&collection, name) && is_original(&original, name))?;
        if !context.global.dry_run && !chosen.is_empty() {
            let items = human::count(chosen.len() as u64, "Original");
            let path = original.path().display();
            let question = format!("turn {items} into Copies of those in `{path}`?");
            confirm(context, self.yes, &question)?;
        }
        let rule = Force::Different.rule(&self.force, DifferenceRule::Discard);
        run.finish(
            &chosen,
            |registrar, names, report| registrar.demote_all(names, &original, rule, report),
            || Ok(Vec::new()),
        )
    }
}
