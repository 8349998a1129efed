//! Reports the outcome for each entry of the tree and the end of the run.

use serde_json::Value;
use urepo::adopt::{AdoptError, Outcome, Plan, Summary};
use urepo::disk::Dir;

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{self, Adoption, Item, PathAt, Stray};
use crate::cli::report::{End, REPEAT, Report};
use crate::cli::{Done, human};

pub(super) struct Reporter<'a> {
    pub(super) context: &'a Context,
    pub(super) root: &'a Dir,
    /// Whether this is a dry run.
    pub(super) planned: bool,
}

impl Reporter<'_> {
    /// Reports the outcomes of a group, in one write.
    pub(super) fn report_all(&self, outcomes: Vec<Outcome>) -> Result<(), AdoptError> {
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
                let size = human::size(plan.files, plan.bytes);
                let described = plan.reference.map_or(String::new(), |from| format!(", {from}"));
                return Some(format!("{name}  {}, {size}{described}", plan.state));
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
                let mut message = failure.in_one_line();
                // Nearly all errors name their item or path.
                if !message.contains(&path) {
                    message = format!("`{path}` was not adopted: {message}");
                }
                printer.error_of(&failure, &message);
            }
        }
        None
    }

    fn record(&self, outcome: Outcome) -> Value {
        let item = match outcome {
            Outcome::Taken(plan) => self.item(&plan),
            Outcome::There(name) => {
                let path = Some(records::path(&self.root.path_of(name.as_str())));
                Item { path, ..Item::became(&name, "skipped") }
            }
            Outcome::Stray { path, why } => {
                let path = records::path(&self.root.path_of(path));
                return records::to_json(&Stray { path, reason: why.to_string() });
            }
            Outcome::Refused { path, error } => {
                let error = Some((&Failure::from(error)).into());
                Item { error, ..Item::became(&path, "failed") }
            }
        };
        records::to_json(&Item { dry_run: self.planned, ..item })
    }

    fn item(&self, plan: &Plan) -> Item<'static> {
        let target = plan.target.as_ref().map(|it| PathAt::new("target", it.as_path()));
        Item {
            ibip: plan.ibip.as_ref().map(ToString::to_string),
            path: Some(records::path(&self.root.path_of(plan.directory()))),
            state: Some(plan.state.to_string()),
            files: Some(plan.files),
            bytes: Some(plan.bytes),
            adoption: Some(Adoption {
                target,
                described_in: plan.reference.as_ref().map(ToString::to_string),
                metadata: urepo::sidecar::json(plan.metadata.table()),
                notes: plan.notes.iter().map(ToString::to_string).collect(),
                beside: plan.beside.iter().map(|path| records::path(path)).collect(),
            }),
            ..Item::became(&plan.name, "adopted")
        }
    }

    /// Reports the end of the run, with its exit code.
    pub(super) fn finish(&self, mut summary: Summary) -> Done {
        let mut report = Report::new(self.context, "adopted", false);
        if let Some(error) = summary.fatal.take() {
            report.fatal_after(summary.taken, error);
        }
        let partial = if summary.refused > 0 {
            let all = summary.refused + summary.taken + summary.there;
            let message = format!("{} of {all} items cannot be adopted", summary.refused);
            let hint = "each is named above, with its reason; they are as they were";
            Some(Failure::new(Exit::Partial, message).hint(hint))
        } else {
            (summary.taken + summary.there == 0).then(|| no_items(self.root.path()))
        };
        let counts = &mut report.summary.counts;
        (counts.items, counts.failed) = (summary.taken, summary.refused);
        counts.skipped = Some(summary.there);
        (counts.files, counts.bytes) = (Some(summary.files), Some(summary.bytes));
        report.count("strays", summary.strays);
        let is_told = summary.refused == 0 || summary.taken > 0;
        let closing = is_told.then(|| self.closing(&summary));
        report.finish(End { hint: REPEAT, partial, closing, ..End::default() })
    }

    fn closing(&self, summary: &Summary) -> String {
        let mut text = if summary.taken == 0 {
            "nothing to take in".to_owned()
        } else {
            let verb = if self.planned { "would take in" } else { "took in" };
            format!("{verb} {}", human::items(summary.taken, summary.files, summary.bytes))
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

pub(super) fn no_items(root: &std::path::Path) -> Failure {
    Failure::new(Exit::Failure, format!("there are no items in `{}`", root.display())).hint(
        "name the directory that holds the subdomains: items lie four levels below it, in \
         subdomain/word/year/month.day.hour.minute",
    )
}
