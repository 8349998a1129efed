//! The outcomes of several items: a bad one does not stop the others.

use serde_json::json;
use urepo::identity::RepositoryName;
use urepo::removal::RemovalError;

use super::told::Told;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::{Done, human, report};

/// What has been told so far.
pub(super) struct Batch<'a> {
    context: &'a Context,
    /// Only one item was asked for: its failure is that of the run.
    is_single: bool,
    single: Option<Failure>,
    done: u64,
    failed: u64,
}

impl<'a> Batch<'a> {
    pub(super) fn new(context: &'a Context, asked: usize) -> Batch<'a> {
        Batch { context, is_single: asked == 1, single: None, done: 0, failed: 0 }
    }

    /// Tells what became of an item, and goes on unless nobody should.
    pub(super) fn note(
        &mut self,
        name: &RepositoryName,
        outcome: Result<Told, RemovalError>,
    ) -> Done {
        let told = match outcome {
            Ok(told) => told,
            Err(error) => return self.failed(name.as_str(), error.into()),
        };
        self.done += 1;
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

    /// Tells a failure, and goes on unless it concerns the whole run.
    pub(super) fn failed(&mut self, id: &str, failure: Failure) -> Done {
        if failure.ends_the_run() {
            return Err(failure);
        }
        self.failed += 1;
        if self.context.printer.json {
            let record = json!({
                "type": "item", "version": 1, "id": id, "ok": false,
                "error": { "code": failure.exit.code(), "message": failure.in_one_line() },
            });
            self.context.printer.record(&record)?;
        }
        if self.is_single {
            self.single = Some(failure);
        } else {
            failure.tell(&self.context.printer);
        }
        Ok(())
    }

    /// How the run ended; `participle` says what did not become of those that failed.
    pub(super) fn finish(self, participle: &str) -> Done {
        let ended = match (self.single, self.failed) {
            (Some(failure), _) => Err(failure),
            (None, 0) => Ok(()),
            (None, failed) => {
                let items = human::count(failed, "item");
                let message = format!("{items} could not be {participle}");
                Err(Failure::new(Exit::Partial, message))
            }
        };
        if self.context.printer.json {
            let counts = json!({ "items": self.done, "failed": self.failed });
            report::summary(&self.context.printer, &ended, counts)?;
        }
        ended
    }
}
