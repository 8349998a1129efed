//! `urepo meta`: correct the descriptions of items.

use crate::cli::Done;
use crate::cli::context::Context;

mod edit;
mod import;
pub(super) mod report;
mod set;
mod undo;

/// Correct the descriptions of items
///
/// Only Originals are changed. Their Copies are behind, and `urepo copy` brings them the new description
/// without the files. The files of an item stay unchanged, and so do comments and unknown keys in its
/// sidecar. `urepo log` shows every change with the old and the new values.
///
/// A KEY is a term, such as `title` or `creator`, or a key of your own as x.KEY. These keys
/// are changed in the same way: `target`, the file that the bare identifier opens; `transferable`, whether
/// the Original may migrate; `access`, what a service lets everybody read (open, metadata or closed); and
/// `access.allow`, ranges of IP addresses that may read everything.
#[derive(Debug, clap::Args)]
pub(crate) struct Meta {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Set(set::Set),
    Edit(edit::Edit),
    Import(import::Import),
    Undo(undo::Undo),
}

impl Meta {
    pub(crate) fn run(&self, context: &Context) -> Done {
        match &self.action {
            Action::Set(it) => it.run(context),
            Action::Edit(it) => it.run(context),
            Action::Import(it) => it.run(context),
            Action::Undo(it) => it.run(context),
        }
    }
}
