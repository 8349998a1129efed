//! `urepo refresh`: stale Copies are brought up to their Originals.

use std::sync::Mutex;

use urepo::transfer::{Rules, Tombstones, Verb};

use super::transfer::{Ended, OnErrorRule, Run};
use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::select::Selection;

/// Bring the Copies of a collection up to their Originals
///
/// Looks for the Originals in the collections that the settings name, and in those of --from. Only
/// files that differ are copied; the others are taken over from the Copy as it is. A Copy is replaced
/// in one step. A Copy whose Original is in none of the collections stays as it is.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo -c mirror refresh --from archive
  urepo -c mirror refresh --from archive --dry-run")]
pub(crate) struct Refresh {
    #[command(flatten)]
    selection: Selection,
    /// A collection that may hold Originals, by path or name; may be repeated
    #[arg(long, value_name = "PATH|NAME")]
    from: Vec<String>,
    /// After a failed item, go on with the others or stop
    #[arg(long, value_name = "RULE", default_value = "continue")]
    on_error: OnErrorRule,
}

impl Refresh {
    pub(crate) fn run(&self, context: &Context) -> Done {
        if self.selection.state.is_some() {
            return Err(Failure::usage("`--state` says nothing here: only Copies are refreshed"));
        }
        let to = context.collection()?;
        let known = context.known(&self.from)?;
        let mut ended: Option<Ended> = None;
        for from in known.collections.iter().filter(|known| known.id() != to.id()) {
            let run = Run {
                context,
                from,
                to: &to,
                verb: Verb::Refresh,
                rules: Rules::default(),
                state: None,
                tombstones: Tombstones::Pass,
                on_error: self.on_error.into(),
                listing: None,
                single: self.selection.is_single(),
            };
            let failures = Mutex::default();
            let feed = self.selection.of(&to, &failures)?.into_feed();
            let this = run.carry_out(feed, &failures)?;
            match &mut ended {
                None => ended = Some(this),
                Some(ended) => ended.add(this),
            }
        }
        match ended {
            Some(ended) => ended.finish(context, Verb::Refresh),
            None => {
                Err(Failure::new(Exit::Failure, "no collection is known that may hold Originals")
                    .hint("name one with `--from PATH`"))
            }
        }
    }
}
