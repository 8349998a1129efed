//! `urepo copy`: Copies of items, in another collection.

use std::ffi::OsString;

use urepo::transfer::{Leaves, Tombstones, Verb};

use super::transfer::{TransferArgs, TransferRun};
use crate::cli::Done;
use crate::cli::context::Context;

/// Copy items to another collection
///
/// Every byte is compared with the digest in the sidecar while it is copied; a Copy appears whole or not at
/// all, and is on the disk when the command ends. A Copy that is there already is not read again, so you can repeat the
/// command at any time, also after an interruption: it copies only missing items, and brings Copies that are behind up to
/// date. Where only the description changed, no file is read. A Copy can be made from a Copy. The source is only read.
///
/// Deletions travel with all items (--all, --prefix, --since): if an Original was deleted, the destination gets its
/// tombstone, and its Copy there goes to the trash. If the deletion was undone, the same command brings the Copy back.
///
/// A newer state at the destination, and an item that was changed in two collections, are reported and left alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Copy {
    /// The collection that gets the Copies: a path, or a name from the settings
    #[arg(
        long,
        value_name = "COLLECTION",
        required_unless_present = "from",
        conflicts_with = "from"
    )]
    to: Option<OsString>,
    /// The collection that has the items: a path, or a name from the settings; this one gets the Copies
    #[arg(long, value_name = "COLLECTION")]
    from: Option<OsString>,
    #[command(flatten)]
    transfer: TransferArgs,
}

impl Copy {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.transfer.selection.check("copy ITEM… --to COLLECTION")?;
        let here = context.collection()?;
        let (from, to) = match (&self.to, &self.from) {
            (Some(to), _) => (here, context.open_named(to)?),
            (None, Some(from)) => (context.open_named(from)?, here),
            (None, None) => unreachable!("because the argument parser asks for one of them"),
        };
        let run = TransferRun {
            context,
            from: &from,
            to: &to,
            verb: Verb::Copy,
            leaves: Leaves::Stub,
            args: &self.transfer,
            tombstones: match self.transfer.selection.tombstones() {
                // Deletions travel only to a mirror of all items.
                Tombstones::Pass => Tombstones::Bring,
                asked => asked,
            },
        };
        run.finish(self.transfer.selection.of(context, &from)?.with_payload().into_feed())
    }
}
