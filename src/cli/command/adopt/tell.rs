//! Telling what became of each thing in the tree, and how the run ended.

use std::path::Path;

use serde_json::{Value, json};
use urepo::adopt::{AdoptError, Outcome, Plan, Summary};
use urepo::disk::Dir;
use urepo::item::PayloadPath;

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::report::{End, GOES_ON, Tally};
use crate::cli::{Done, human, record};

pub(super) struct Teller<'a> {
    pub(super) context: &'a Context,
    pub(super) root: &'a Dir,
    /// Whether this is a dry run.
    pub(super) planned: bool,
}

impl Teller<'_> {
    /// Tells the outcomes of a group, in one write.
    pub(super) fn tell_all(&self, outcomes: Vec<Outcome>) -> Result<(), AdoptError> {
        let printer = &self.context.printer;
        let mut output = printer.output();
        for outcome in outcomes {
            if printer.json {
                output.record(&self.record(outcome));
            } else if let Some(line) = self.line(outcome) {
                output.line(&line);
            }
        }
        printer.send(&output).map_err(|failure| failure.into_path_error().into())
    }

    fn line(&self, outcome: Outcome) -> Option<String> {
        let printer = &self.context.printer;
        match outcome {
            Outcome::Taken(plan) => {
                let name = plan.directory();
                for note in &plan.notes {
                    printer.warning(&format!("`{name}`: {note}"));
                }
                for beside in &plan.beside {
                    printer.detail(&format!("`{name}`: `{}` stays as it is", beside.display()));
                }
                let (files, bytes) = (human::count(plan.files, "file"), human::bytes(plan.bytes));
                let described = plan.reference.map_or(String::new(), |from| format!(", {from}"));
                return Some(format!("{name}  {}, {files}, {bytes}{described}", plan.state));
            }
            Outcome::There(name) => printer.detail(&format!("`{name}` has its sidecar already")),
            Outcome::Stray { path, why } => {
                printer.warning(&format!("`{}` is left alone: {why}", path.display()));
            }
            Outcome::Refused {
                error: AdoptError::GroupFailed | AdoptError::Interrupted, ..
            } => {}
            Outcome::Refused { path, error } => {
                let failure = Failure::from(error);
                let message = failure.in_one_line();
                // Nearly all errors name what they are about.
                printer.error(&if message.contains(&path) {
                    message
                } else {
                    format!("`{path}` was not taken in: {message}")
                });
                if let Some(hint) = &failure.hint {
                    printer.hint(hint);
                }
            }
        }
        None
    }

    fn record(&self, outcome: Outcome) -> Value {
        match outcome {
            Outcome::Taken(plan) => self.item(&plan),
            Outcome::There(name) => {
                let path = self.root.path_of(name.as_str());
                let mut record = record::item(name.as_str(), None, &path, None);
                record::extend(&mut record, json!({ "step": "skip", "planned": self.planned }));
                record
            }
            Outcome::Stray { path, why } => {
                let mut record = json!({ "type": "stray", "version": 1, "reason": why });
                record::add_path(&mut record, "path", &self.root.path_of(path));
                record
            }
            Outcome::Refused { path, error } => {
                let failure = Failure::from(error);
                let error = json!({
                    "code": failure.exit.code(), "message": failure.in_one_line(),
                    "hint": failure.hint,
                });
                json!({ "type": "item", "version": 1, "id": path, "ok": false, "error": error })
            }
        }
    }

    fn item(&self, plan: &Plan) -> Value {
        let ibip = plan.ibip.as_ref().map(ToString::to_string);
        let path = self.root.path_of(plan.directory());
        let state = plan.state.to_string();
        let mut record = record::item(plan.name.as_str(), ibip.as_deref(), &path, Some(&state));
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let fields = json!({
            "step": "adopt", "planned": self.planned, "files": plan.files, "bytes": plan.bytes,
            "target": plan.target.as_ref().map(PayloadPath::to_text),
            "described_in": plan.reference, "metadata": urepo::sidecar::json(plan.metadata.table()),
            "notes": plan.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "beside": plan.beside.iter().map(|path| text(path)).collect::<Vec<_>>(),
        });
        record::extend(&mut record, fields);
        record
    }

    /// Says how the run ended and with which code.
    pub(super) fn finish(&self, mut summary: Summary) -> Done {
        let taken = human::count(summary.taken, "item");
        let mut tally = Tally::new(self.context, false);
        if let Some(error) = summary.fatal.take() {
            let failure = Failure::from(error);
            tally.ends(match summary.taken {
                0 => failure,
                _ => failure.caused_by(format!("before it {taken} were taken in")),
            });
        }
        let partial = if summary.refused > 0 {
            let all = summary.refused + summary.taken + summary.there;
            let message = format!("{} of {all} items can not be taken in", summary.refused);
            let hint = "each is named above, with its reason; they are as they were";
            Some(Failure::new(Exit::Partial, message).hint(hint))
        } else {
            (summary.taken + summary.there == 0).then(|| super::no_items(self.root.path()))
        };
        let counts = json!({
            "adopted": summary.taken, "skipped": summary.there, "strays": summary.strays,
            "refused": summary.refused, "files": summary.files, "bytes": summary.bytes,
            "planned": self.planned,
        });
        let is_told = summary.refused == 0 || summary.taken > 0;
        let closing = is_told.then(|| self.closing(&summary));
        let done = format!("{taken} taken in");
        tally.finish(End { done, hint: GOES_ON, partial, counts, closing, ..End::default() })
    }

    fn closing(&self, summary: &Summary) -> String {
        let mut text = if summary.taken == 0 {
            "nothing to take in".to_owned()
        } else {
            let verb = if self.planned { "would take in" } else { "took in" };
            let items = human::count(summary.taken, "item");
            let files = human::count(summary.files, "file");
            format!("{verb} {items}, {files}, {}", human::bytes(summary.bytes))
        };
        if summary.there > 0 {
            text += &format!("; {} there already", summary.there);
        }
        if summary.strays > 0 {
            text += &format!("; {} left alone", human::count(summary.strays, "stray"));
        }
        text
    }
}
