//! `urepo migrate`: move items to another collection, Originals with them.

use std::ffi::OsString;

use urepo::holdings::Peers;
use urepo::transfer::{OnError, Rules, Verb};

use super::transfer::{ON_ERROR, TransferRun};
use crate::cli::Done;
use crate::cli::choice::one_of;
use crate::cli::context::Context;
use crate::cli::select::Selection;

/// Move items to another collection, Originals with them
///
/// Within one file system an item is moved in one step, and none of its files is read. Otherwise it is
/// copied, read back from the disk of the destination, and only then handed over: at every moment exactly one
/// collection holds the Original. Its sidecar lists the hand-overs, so that older Copies follow it. The next
/// run, or `urepo recover`, finishes an interrupted one. If the destination already has a Copy, that is
/// checked, updated, and becomes the Original.
///
/// The identifiers do not change. An item marked `transferable = false` does not migrate.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo migrate 11.21.02.13 --to mirror
  urepo migrate --all --to mirror --leave-copy
  urepo -c archive migrate --since 2026-11-01 --to mirror --dry-run")]
pub(crate) struct Migrate {
    #[command(flatten)]
    selection: Selection,
    /// The collection that gets the items: a path, or a name from the settings
    #[arg(long, value_name = "COLLECTION", required = true)]
    to: OsString,
    /// Leave a Copy here
    #[arg(long)]
    leave_copy: bool,
    /// Migrate even items that were deleted there
    #[arg(long)]
    revive: bool,
    /// After a failed item, go on with the others or stop
    #[arg(long, value_name = "RULE", default_value = "continue", value_parser = one_of(&ON_ERROR))]
    on_error: OnError,
}

impl Migrate {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("migrate ITEM… --to COLLECTION")?;
        let from = context.collection()?;
        let to = context.open_named(&self.to)?;
        let rules = Rules { leave_copy: self.leave_copy, revive: self.revive, ..Rules::default() };
        let run = TransferRun {
            context,
            from: &from,
            to: &to,
            verb: Verb::Migrate,
            rules,
            peers: Peers::default(),
            witnesses: Peers::default(),
            state: self.selection.flags.state,
            tombstones: self.selection.tombstones(),
            on_error: self.on_error,
            listing: self.selection.listing(context),
            is_single: self.selection.is_single(),
        };
        let feed = self.selection.of(context, &from)?.or_of(&to).into_feed();
        run.finish(feed)
    }
}
