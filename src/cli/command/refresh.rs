//! `urepo refresh`: update stale Copies from their Originals.

use std::ffi::OsString;

use urepo::collection::Collection;
use urepo::holdings::{Concern, Peers, holdings};
use urepo::identity::RepositoryName;
use urepo::transfer::{NameFeed, OnError, Rules, Tombstones, Verb};

use super::transfer::{ON_ERROR, TransferRun, finish};
use crate::cli::Done;
use crate::cli::choice::one_of;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::report::Report;
use crate::cli::select::Selection;
use crate::cli::shell;

/// Update the Copies of a collection from their Originals
///
/// Looks for the Originals in the collections that the settings name, and in those of --from. Only files that
/// differ are copied; the others are reused from the Copy. A Copy is replaced in one step. A Copy whose
/// Original is in none of the collections stays unchanged.
#[derive(Debug, clap::Args)]
#[command(mut_arg("state", |state| state.hide(true)), after_long_help = "\
Examples:
  urepo -c mirror refresh --from archive
  urepo -c mirror refresh --from archive --dry-run")]
pub(crate) struct Refresh {
    #[command(flatten)]
    selection: Selection,
    /// A collection that may hold Originals, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    from: Vec<OsString>,
    /// After a failed item, go on with the others or stop
    #[arg(long, value_name = "RULE", default_value = "continue", value_parser = one_of(&ON_ERROR))]
    on_error: OnError,
}

impl Refresh {
    pub(crate) fn run(&self, context: &Context) -> Done {
        if self.selection.flags.state.is_some() {
            return Err(Failure::usage("`--state` says nothing here: only Copies are refreshed"));
        }
        let to = context.collection()?;
        let known = context.known(&self.from)?;
        // A list can be read only once, and there may be several collections.
        let named = self.selection.of(context, &to)?.into_names()?.map(|mut names| {
            names.retain(|name| {
                let obstacle = obstacle(name, &to, &known);
                obstacle.map(|it| context.note_unresolved(name.as_str(), it)).is_none()
            });
            names
        });
        let mut report: Option<Report<'_>> = None;
        for from in known.collections.iter().filter(|known| known.id() != to.id()) {
            let run = TransferRun {
                context,
                from,
                to: &to,
                verb: Verb::Refresh,
                rules: Rules::default(),
                peers: Peers { collections: &known.collections, ..Peers::default() },
                witnesses: Peers::default(),
                state: None,
                tombstones: Tombstones::Pass,
                on_error: self.on_error,
                listing: None,
                is_single: self.selection.is_single(),
            };
            let feed = match &named {
                Some(names) => feed_of(names),
                None => self.selection.of(context, &to)?.into_feed(),
            };
            let this = run.carry_out(feed)?;
            match &mut report {
                None => report = Some(this),
                Some(report) => report.add(this),
            }
        }
        match report {
            Some(report) => finish(report, Verb::Refresh),
            None => {
                Err(Failure::new(Exit::Failure, "no collection is known that may hold Originals")
                    .hint("name one with `--from PATH`"))
            }
        }
    }
}

/// The failure of a named item that is not here, or has no known Original, or more than one.
fn obstacle(name: &RepositoryName, to: &Collection, known: &Known) -> Option<Failure> {
    if let Err(error) = to.item(name) {
        return Some(error.into());
    }
    let is_to = |at: usize| known.collections[at].id() == to.id();
    let found = holdings(name, &known.collections);
    if let [first, second, ..] = found.originals()[..] {
        return Some(known.two_originals(name, [first, second]));
    }
    let concerns = found.concerns(|_| 0);
    concerns.into_iter().find_map(|concern| match concern {
        Concern::Orphan(at) if is_to(at) => {
            let message = format!("no known collection has the Original of `{name}`");
            let hint = "name the one that has it with `--from PATH`";
            Some(Failure::new(Exit::NoItem, message).hint(hint))
        }
        Concern::Left { copy, deleted } if is_to(copy) => {
            let root = shell::word(known.collections[deleted].path());
            let message = format!("the Original of `{name}` was deleted");
            let hint = format!("`urepo -c {root} show {name}` says when and why");
            Some(Failure::new(Exit::Deleted, message).hint(hint))
        }
        _ => None,
    })
}

/// The names as a feed.
fn feed_of(names: &[RepositoryName]) -> Box<NameFeed<'_>> {
    Box::new(|take| {
        // No reason is needed where nothing is missing.
        let _ = names.iter().cloned().try_for_each(take);
        Ok(())
    })
}
