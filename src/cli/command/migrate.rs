//! `urepo migrate`: move items to another collection, Originals with them.

use std::ffi::OsString;

use urepo::transfer::{Leaves, Verb};

use super::transfer::{TransferArgs, TransferRun};
use crate::cli::Done;
use crate::cli::context::Context;

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
pub(crate) struct Migrate {
    /// The collection that gets the items: a path, or a name from the settings
    #[arg(long, value_name = "COLLECTION", required = true)]
    to: OsString,
    /// Leave a Copy here
    #[arg(long)]
    leave_copy: bool,
    #[command(flatten)]
    transfer: TransferArgs,
}

impl Migrate {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.transfer.selection.check("migrate ITEM… --to COLLECTION")?;
        let from = context.collection()?;
        let to = context.open_named(&self.to)?;
        let run = TransferRun {
            context,
            from: &from,
            to: &to,
            verb: Verb::Migrate,
            leaves: if self.leave_copy { Leaves::Copy } else { Leaves::Stub },
            args: &self.transfer,
            tombstones: self.transfer.selection.tombstones(),
        };
        run.finish(
            self.transfer.selection.of(context, &from)?.or_of(&to).with_payload().into_feed(),
        )
    }
}
