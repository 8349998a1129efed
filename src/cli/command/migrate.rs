//! `urepo migrate`: move items to another collection, Originals with them.

use std::ffi::OsString;

use urepo::transfer::{Leaves, OnError, Verb};

use super::transfer::{ON_ERROR, TransferRun};
use crate::cli::Done;
use crate::cli::choice::one_of;
use crate::cli::context::Context;
use crate::cli::select::Selection;

/// Move items to another collection, Originals with them
///
/// An item is copied, read back from the disk of the destination, and only then handed over: never do two collections hold
/// the Original. Within one file system, the files are shared until the item leaves. A stub stays here, which says where the
/// Original is. `urepo recover` finishes or withdraws an interrupted migration. If the destination already has a
/// Copy, that is checked, updated, and becomes the Original.
///
/// The identifiers do not change. An item marked `transferable = false` does not migrate, nor does one that was deleted
/// at the destination, or one of which another collection of the settings has a newer state.
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
    /// After a failed item, go on with the others or stop
    #[arg(long, value_name = "RULE", default_value = "continue", value_parser = one_of(&ON_ERROR))]
    on_error: OnError,
}

impl Migrate {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("migrate ITEM… --to COLLECTION")?;
        let from = context.collection()?;
        let to = context.open_named(&self.to)?;
        let run = TransferRun {
            context,
            from: &from,
            to: &to,
            verb: Verb::Migrate,
            leaves: if self.leave_copy { Leaves::Copy } else { Leaves::Stub },
            selection: &self.selection,
            tombstones: self.selection.tombstones(),
            on_error: self.on_error,
        };
        run.finish(self.selection.of(context, &from)?.or_of(&to).into_feed())
    }
}
