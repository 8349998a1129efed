//! What `promote` and `demote` share: which items, what is asked, and what is told.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde_json::json;
use urepo::collection::{Collection, Writer};
use urepo::identity::RepositoryName;
use urepo::progress::Progress;
use urepo::promotion::{Change, Registrar, Report};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::report::{End, Tally};
use crate::cli::select::{Failures, Selection};
use crate::cli::{Done, human};

/// A run over items of a collection.
pub(super) struct Run<'a> {
    pub(super) context: &'a Context,
    pub(super) collection: &'a Collection,
    pub(super) selection: &'a Selection,
    /// The collection that may hold an item which an earlier run has taken out of this one.
    pub(super) elsewhere: Option<&'a Collection>,
    /// `promote` or `demote`, and the participles.
    pub(super) verb: &'static str,
    pub(super) done: &'static str,
}

/// The items of a run.
pub(super) struct Chosen {
    pub(super) names: Vec<RepositoryName>,
    failures: Failures,
}

impl Run<'_> {
    /// The items that are meant; of all there are, those that `fits` says yes to.
    pub(super) fn choose(
        &self,
        mut fits: impl FnMut(&RepositoryName) -> bool,
    ) -> Result<Chosen, Failure> {
        let failures = Failures::default();
        let is_named = self.selection.names_items();
        let mut names = Vec::new();
        let selected = self.selection.of(self.context, self.collection, &failures)?;
        let feed = match self.elsewhere {
            Some(other) => selected.or_of(other).into_feed(),
            None => selected.into_feed(),
        };
        feed(&mut |name| {
            if self.context.interrupt.requested() {
                return ControlFlow::Break(());
            }
            if is_named || fits(&name) {
                names.push(name);
            }
            ControlFlow::Continue(())
        })?;
        if self.context.interrupt.requested() {
            return Err(Failure::told(Exit::Interrupted));
        }
        Ok(Chosen { names, failures })
    }

    /// Carries out `change` for the items that were chosen, and tells what became of each. Then `settle`
    /// ends what else is open, and returns the items for which it cannot.
    pub(super) fn finish(
        &self,
        chosen: &Chosen,
        change: impl Fn(&Registrar<'_>, &[RepositoryName], &mut Report<'_>) -> ControlFlow<()>,
        settle: impl FnOnce() -> Result<Vec<(RepositoryName, Failure)>, Failure>,
    ) -> Done {
        let progress = self.context.progress();
        let is_dry = self.context.global.dry_run;
        let writer = if is_dry { None } else { Some(self.writer()?) };
        let mut tally = Tally::new(self.context, self.selection.is_single());
        let (mut changed, mut unchanged) = (0, 0);
        let mut told = BTreeSet::new();
        let found = tally.met(&chosen.failures);
        let registrar = self.registrar(writer.as_ref(), &*progress);
        if found.is_continue() {
            // The tally knows why it ends early.
            let _ = change(&registrar, &chosen.names, &mut |name, result| match result {
                Ok(change) => {
                    let count =
                        if change == Change::Nothing { &mut unchanged } else { &mut changed };
                    *count += 1;
                    match self.tell(name, change) {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(lost) => {
                            tally.ends(lost);
                            ControlFlow::Break(())
                        }
                    }
                }
                Err(error) => {
                    told.insert(name.clone());
                    tally.failed(name.as_str(), error.into())
                }
            });
        }
        if let Some(writer) = writer {
            writer.finish()?;
            match settle() {
                Ok(open) => {
                    let mut untold = open.into_iter().filter(|(name, _)| !told.contains(name));
                    let _ =
                        untold.try_for_each(|(name, failure)| tally.failed(name.as_str(), failure));
                }
                Err(failure) => tally.ends(failure),
            }
        }
        drop(progress);
        let failed = tally.failed;
        let partial = (failed > 0).then(|| {
            let items = human::count(failed, "item");
            Failure::new(Exit::Partial, format!("{items} could not be {}", self.done))
                .hint("each is named above, with its reason")
        });
        let counts = json!({
            "items": changed, "unchanged": unchanged, "failed": failed, "dry_run": is_dry,
        });
        let done = format!("{} {}", human::count(changed, "item"), self.done);
        let closing = match changed {
            _ if self.selection.is_single() || failed > 0 => None,
            0 => Some(format!("nothing to {}", self.verb)),
            _ if is_dry => None,
            _ => Some(format!("{} {}", self.done, human::count(changed, "item"))),
        };
        tally.finish(End { done, partial, counts, closing, ..End::default() })
    }

    fn tell(&self, name: &RepositoryName, change: Change) -> Done {
        let Context { printer, global, .. } = self.context;
        let (outcome, done, planned) = match change {
            Change::Promoted => ("promoted", "is the Original now", "would become the Original"),
            Change::Demoted => ("demoted", "is a Copy now", "would become a Copy"),
            Change::Discarded => (
                "discarded",
                "differed from the other Original; it is in the trash until `urepo purge`",
                "differs from the other Original and would go to the trash",
            ),
            Change::Nothing => ("nothing", "needs no change", "needs no change"),
        };
        if printer.json {
            let kind = if global.dry_run { "plan" } else { "item" };
            printer.record(&json!({
                "type": kind, "version": 1, "id": name.as_str(), "ok": true, "action": self.verb,
                "outcome": outcome, "dry_run": global.dry_run,
            }))
        } else if global.dry_run {
            printer.line(&format!("{name} {planned}"))
        } else {
            printer.note(&format!("{name} {done}"));
            Ok(())
        }
    }

    fn writer(&self) -> Result<Writer, Failure> {
        Ok(self.collection.writer(&self.context.agent, &self.context.waiter())?)
    }

    pub(super) fn registrar<'r>(
        &'r self,
        writer: Option<&'r Writer>,
        progress: &'r dyn Progress,
    ) -> Registrar<'r> {
        Registrar {
            collection: self.collection,
            writer,
            agent: &self.context.agent,
            clock: &self.context.clock,
            wait: self.context.config.lock_wait.value,
            progress,
            interrupt: &self.context.interrupt,
        }
    }
}
