//! The common part of `promote` and `demote`: the selection of items, the question, and the report.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use urepo::collection::{Collection, Writer};
use urepo::identity::RepositoryName;
use urepo::progress::Progress;
use urepo::promotion::{self, Change, Registrar};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::Item;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::{Done, shell};

/// A run over items of a collection.
pub(super) struct RegistrarRun<'a> {
    pub(super) context: &'a Context,
    pub(super) collection: &'a Collection,
    pub(super) selection: &'a Selection,
    /// The collection that may hold an item which an earlier run has taken out of this one.
    pub(super) elsewhere: Option<&'a Collection>,
    /// `promote` or `demote`, and the participles.
    pub(super) verb: &'static str,
    pub(super) done: &'static str,
}

impl RegistrarRun<'_> {
    /// The selected items; without names, those for which `fits` holds.
    pub(super) fn choose(
        &self,
        mut fits: impl FnMut(&RepositoryName) -> bool,
    ) -> Result<Vec<RepositoryName>, Failure> {
        // An earlier look is no part of the report.
        self.context.take_unresolved();
        let is_named = self.selection.names_items();
        let mut names = Vec::new();
        let selected = self.selection.of(self.context, self.collection)?;
        let feed = match self.elsewhere {
            Some(other) => selected.or_of(other).into_feed(),
            None => selected.into_feed(),
        };
        feed(&mut |name| {
            self.context.interrupt.flow()?;
            if is_named || fits(&name) {
                names.push(name);
            }
            ControlFlow::Continue(())
        })?;
        if self.context.interrupt.requested() {
            return Err(Failure::told(Exit::Interrupted));
        }
        Ok(names)
    }

    /// Carries out `change` for the selected items, and reports the outcome of each. Then `settle` ends other
    /// open work, and returns the items for which it fails.
    pub(super) fn finish(
        &self,
        chosen: &[RepositoryName],
        change: impl Fn(
            &Registrar<'_>,
            &[RepositoryName],
            &mut promotion::Report<'_>,
        ) -> ControlFlow<()>,
        settle: impl FnOnce() -> Result<Vec<(RepositoryName, Failure)>, Failure>,
    ) -> Done {
        let progress = self.context.progress();
        let is_dry = self.context.global.dry_run;
        let writer = if is_dry { None } else { Some(self.context.writer(self.collection)?) };
        let mut report = Report::new(self.context, self.done, self.selection.is_single());
        report.summary.counts.skipped = Some(0);
        let mut told = BTreeSet::new();
        let found = report.unresolved();
        let registrar = self.registrar(writer.as_ref(), &*progress);
        if found.is_continue() {
            // The tally has the reason of an early end.
            let _ = change(&registrar, chosen, &mut |name, result| match result {
                Ok(change) => tell(&mut report, name, change),
                Err(error) => {
                    told.insert(name.clone());
                    report.failed(name.as_str(), error.into())
                }
            });
        }
        if let Some(writer) = writer {
            writer.finish()?;
            match settle() {
                Ok(open) => {
                    let mut untold = open.into_iter().filter(|(name, _)| !told.contains(name));
                    let _ = untold
                        .try_for_each(|(name, failure)| report.failed(name.as_str(), failure));
                }
                Err(failure) => report.fatal(failure),
            }
        }
        drop(progress);
        let closing = report.changed_items(self.verb);
        report.finish(End { closing, ..End::default() })
    }

    pub(super) fn registrar<'r>(
        &'r self,
        writer: Option<&'r Writer>,
        progress: &'r dyn Progress,
    ) -> Registrar<'r> {
        Registrar { collection: self.collection, writer, caller: self.context.caller(progress) }
    }
}

fn tell(report: &mut Report<'_>, name: &RepositoryName, change: Change) -> ControlFlow<()> {
    let (outcome, done, planned) = match change {
        Change::Promoted => ("promoted", "is the Original now", "would become the Original"),
        Change::Demoted => ("demoted", "is a Copy now", "would become a Copy"),
        Change::Discarded => (
            "discarded",
            "differed from the other Original; it is in the trash until `urepo purge`",
            "differs from the other Original and would go to the trash",
        ),
        Change::Nothing => {
            let text = format!("{name} needs no change");
            return report.unchanged(Item::became(name, "skipped"), &text);
        }
    };
    let done = shell::pasted(&format!("{name} {done}"));
    report.outcome(Item::became(name, outcome), &format!("{name} {planned}"), &done)
}
