//! The outcomes of several items: a bad one does not stop the others.

use std::ops::ControlFlow;

use serde_json::json;
use urepo::identity::RepositoryName;
use urepo::removal::RemovalError;

use super::told::Told;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::report::{End, Tally};
use crate::cli::{Done, human};

/// The outcomes of the items so far.
pub(super) struct Batch<'a> {
    context: &'a Context,
    pub(super) tally: Tally<'a>,
    done: u64,
}

impl<'a> Batch<'a> {
    pub(super) fn new(context: &'a Context, asked: usize) -> Batch<'a> {
        Batch { context, tally: Tally::new(context, asked == 1), done: 0 }
    }

    /// Tells what became of an item, and goes on unless that ends the run.
    pub(super) fn note(
        &mut self,
        name: &RepositoryName,
        outcome: Result<Told, RemovalError>,
    ) -> ControlFlow<()> {
        match outcome {
            Err(error) => self.tally.failed(name.as_str(), error.into()),
            Ok(told) => {
                self.done += 1;
                match self.tell(name, told) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(lost) => {
                        self.tally.ends(lost);
                        ControlFlow::Break(())
                    }
                }
            }
        }
    }

    fn tell(&self, name: &RepositoryName, told: Told) -> Done {
        let printer = &self.context.printer;
        let is_dry = self.context.global.dry_run;
        if printer.json {
            let kind = if is_dry { "plan" } else { "item" };
            let mut record = json!({ "type": kind, "version": 1, "id": name.as_str(), "ok": true });
            crate::cli::record::extend(&mut record, told.fields);
            return printer.record(&record);
        }
        if is_dry {
            printer.line(&told.planned)?;
        } else {
            printer.note(&told.done);
        }
        printer.detail(&told.detail);
        Ok(())
    }

    /// How the run ended; `participle` says what became of the items.
    pub(super) fn finish(self, participle: &str) -> Done {
        let failed = self.tally.failed;
        let partial = (failed > 0).then(|| {
            let items = human::count(failed, "item");
            Failure::new(Exit::Partial, format!("{items} could not be {participle}"))
        });
        let counts = json!({ "items": self.done, "failed": failed });
        let done = format!("{} {participle}", human::count(self.done, "item"));
        self.tally.finish(End { done, partial, counts, ..End::default() })
    }
}
