//! `urepo copy`: Copies of items, in another collection.

use std::ffi::OsString;

use urepo::holdings::UnseenRule;
use urepo::transfer::{OnError, Rules, Tombstones, Verb};

use super::transfer::{ON_ERROR, TransferRun};
use crate::cli::Done;
use crate::cli::choice::one_of;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::force::{Force, MISSING};
use crate::cli::known::Known;
use crate::cli::select::Selection;

/// Copy items to another collection
///
/// Every byte is compared with the digest in the sidecar while it is copied; a Copy appears whole or not at
/// all, and is on the disk when the command ends. An existing Copy is left alone and not read again, so you
/// can repeat the command at any time, also after an interruption: it copies only missing items. A Copy can
/// be made from a Copy. The source is only read.
///
/// Deletions travel with all items (--all, --prefix, --since): if an Original was deleted, the destination
/// gets its tombstone, and the files of its Copy there go to the trash. If the deletion was undone and
/// another collection of the settings has the Original again, the Copy stays. With --revive, the files of a
/// Copy restore the Original in the collection that deleted it, if every collection that may hold the
/// Original was checked: those that the inventories name, and those of the settings.
///
/// A Copy that is older than its Original is reported and left alone, unless --refresh is given. An item that
/// was deleted at the destination stays deleted, unless --revive is given. Two Originals of one identifier,
/// or different content under it, are reported and left alone.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo copy 11.21.02.13 --to mirror
  urepo copy --all --to mirror
  urepo copy --all --refresh --to mirror
  urepo list --since 2026-11-01 | urepo copy --items-from - --to mirror --dry-run")]
pub(crate) struct Copy {
    #[command(flatten)]
    selection: Selection,
    /// The collection that gets the Copies: a path, or a name from the settings
    #[arg(long, value_name = "COLLECTION", required = true)]
    to: OsString,
    /// Bring Copies that are older than their Originals up to date as well
    #[arg(long)]
    refresh: bool,
    /// Copy items that were deleted there, too
    #[arg(long)]
    revive: bool,
    /// With --revive or --refresh, another collection, by path or name, that may hold Originals or Copies; may be
    /// repeated
    #[arg(long = "with", value_name = "COLLECTION")]
    others: Vec<OsString>,
    /// With --revive, override a rule: `missing` restores an Original though a collection that may hold
    /// it cannot be checked
    #[arg(long, value_name = "RULE", requires = "revive", value_parser = one_of(&[MISSING]))]
    force: Option<Force>,
    /// After a failed item, go on with the others or stop
    #[arg(long, value_name = "RULE", default_value = "continue", value_parser = one_of(&ON_ERROR))]
    on_error: OnError,
}

impl Copy {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("copy ITEM… --to COLLECTION")?;
        let asks_others = self.revive || self.refresh;
        if !self.others.is_empty() && !asks_others {
            return Err(Failure::usage(
                "`--with` needs one of the options that ask other collections",
            )
            .hint("add `--revive` or `--refresh`"));
        }
        let from = context.collection()?;
        let to = context.open_named(&self.to)?;
        let known = if asks_others {
            let extra: Vec<_> = std::iter::once(&self.to).chain(&self.others).cloned().collect();
            context.known(&extra)?
        } else {
            Known::default()
        };
        let tombstones = match self.selection.tombstones() {
            // Deletions travel only to a mirror of all items.
            Tombstones::Pass => Tombstones::Bring,
            asked => asked,
        };
        let witnesses = match tombstones {
            Tombstones::Bring => context.reachable(),
            Tombstones::Refuse | Tombstones::Pass => Known::default(),
        };
        let run = TransferRun {
            context,
            from: &from,
            to: &to,
            verb: Verb::Copy,
            rules: Rules { refresh: self.refresh, revive: self.revive, leave_copy: false },
            peers: known.peers(Force::Missing.rule(self.force.as_slice(), UnseenRule::Accept)),
            witnesses: witnesses.peers(UnseenRule::Refuse),
            state: self.selection.flags.state,
            tombstones,
            on_error: self.on_error,
            listing: self.selection.listing(context),
            is_single: self.selection.is_single(),
        };
        run.finish(self.selection.of(context, &from)?.into_feed())
    }
}
