//! What `promote` and `demote` share: which items, what is asked, and what is told.

use std::ops::ControlFlow;

use serde_json::json;
use urepo::collection::{Collection, Writer};
use urepo::identity::RepositoryName;
use urepo::progress::Progress;
use urepo::promotion::{Change, Registrar, Report};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::select::{Failures, Selection};
use crate::cli::{Done, human, record};

/// A run over items of a collection.
pub(super) struct Run<'a> {
    pub(super) context: &'a Context,
    pub(super) collection: &'a Collection,
    pub(super) selection: &'a Selection,
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
        let feed = self.selection.of(self.context, self.collection, &failures)?.into_feed();
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

    /// Carries out `change` for the items that were chosen, and tells what became of each.
    pub(super) fn finish(
        &self,
        chosen: Chosen,
        change: impl Fn(&Registrar<'_>, &[RepositoryName], &mut Report<'_>) -> ControlFlow<()>,
    ) -> Done {
        let progress = self.context.progress();
        let writer = if self.context.global.dry_run { None } else { Some(self.writer()?) };
        let mut tally = Tally { is_single: self.selection.is_single(), ..Tally::default() };
        let meaningless = chosen.failures.into_inner().unwrap_or_default();
        for meaningless in meaningless {
            tally.failed(self, meaningless.text.as_deref().unwrap_or(""), meaningless.failure)?;
        }
        let registrar = self.registrar(writer.as_ref(), &*progress);
        let mut told = Ok(());
        let flow = change(&registrar, &chosen.names, &mut |name, result| {
            told = match result {
                Ok(change) => tally.done(self, name, change),
                Err(error) => tally.failed(self, name.as_str(), error.into()),
            };
            if told.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if flow.is_break() {
            return told;
        }
        if let Some(writer) = writer {
            writer.finish()?;
        }
        drop(progress);
        tally.finish(self)
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

#[derive(Default)]
struct Tally {
    is_single: bool,
    single: Option<Failure>,
    changed: u64,
    unchanged: u64,
    failed: u64,
}

impl Tally {
    fn done(&mut self, run: &Run<'_>, name: &RepositoryName, change: Change) -> Done {
        let Context { printer, global, .. } = run.context;
        *if change == Change::Nothing { &mut self.unchanged } else { &mut self.changed } += 1;
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
                "type": kind, "version": 1, "id": name.as_str(), "ok": true, "action": run.verb,
                "outcome": outcome, "dry_run": global.dry_run,
            }))
        } else if global.dry_run {
            printer.line(&format!("{name} {planned}"))
        } else {
            printer.note(&format!("{name} {done}"));
            Ok(())
        }
    }

    fn failed(&mut self, run: &Run<'_>, id: &str, failure: Failure) -> Done {
        if failure.ends_the_run() {
            return Err(failure);
        }
        self.failed += 1;
        let printer = &run.context.printer;
        if printer.json {
            let mut fields = json!({ "type": "item", "version": 1, "id": id, "ok": false });
            let error = json!({ "code": failure.exit.code(), "message": failure.in_one_line() });
            record::extend(&mut fields, json!({ "action": run.verb, "error": error }));
            printer.record(&fields)?;
        }
        if self.is_single {
            self.single = Some(failure);
        } else if !printer.json {
            failure.tell(printer);
        }
        Ok(())
    }

    fn finish(self, run: &Run<'_>) -> Done {
        let printer = &run.context.printer;
        let ended = match (self.single, self.failed) {
            (Some(failure), _) => Err(failure),
            (None, 0) => Ok(()),
            (None, failed) => {
                let items = human::count(failed, "item");
                let message = format!("{items} could not be {}", run.done);
                Err(Failure::new(Exit::Partial, message)
                    .hint("each is named above, with its reason"))
            }
        };
        if printer.json {
            let code = ended.as_ref().err().map_or(0, |failure| failure.exit.code());
            let record = json!({
                "type": "summary", "version": 1, "items": self.changed, "unchanged": self.unchanged,
                "failed": self.failed, "dry_run": run.context.global.dry_run, "exit_code": code,
            });
            printer.record(&record)?;
        } else if ended.is_ok() && !self.is_single {
            if self.changed == 0 {
                printer.note(&format!("nothing to {}", run.verb));
            } else if !run.context.global.dry_run {
                let items = human::count(self.changed, "item");
                printer.note(&format!("{} {items}", run.done));
            }
        }
        ended
    }
}
