//! Reports the outcome for each entry of the tree and the end of the run.

use serde_json::Value;
use urepo::adopt::{AdoptError, Outcome, Plan, Summary};
use urepo::disk::Dir;

use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{self, Adoption, Finding, Item, PathAt};
use crate::cli::report::{End, REPEAT, Report};
use crate::cli::{Done, human};

pub(super) struct Reporter<'a> {
    context: &'a Context,
    root: &'a Dir,
    report: Report<'a>,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(context: &'a Context, root: &'a Dir) -> Reporter<'a> {
        Reporter { context, root, report: Report::new(context, Did::Adopted, false) }
    }

    /// Reports the outcomes of a group, in one write.
    pub(super) fn report_all(&mut self, outcomes: Vec<Outcome>) -> Result<(), AdoptError> {
        let printer = &self.context.printer;
        let mut output = printer.output();
        for outcome in outcomes {
            match &outcome {
                Outcome::Taken(plan) => self.report.add(Did::Adopted, (plan.files, plan.bytes)),
                Outcome::There(_) => self.report.add(Did::Unchanged, (0, 0)),
                Outcome::Stray { .. } | Outcome::Refused { .. } => {}
            }
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
                Item { path, ..Item::became(&name, Did::Unchanged) }
            }
            Outcome::Stray { path, why } => {
                return records::to_json(&Finding {
                    path: Some(records::path(&self.root.path_of(path))),
                    kind: Some("stray"),
                    severity: "notice".to_owned(),
                    message: why.to_string(),
                    dry_run: self.report.is_dry(),
                    ..Finding::default()
                });
            }
            Outcome::Refused { path, error } => {
                let error = Some((&Failure::from(error)).into());
                Item { error, ..Item::became(&path, Did::Failed) }
            }
        };
        records::to_json(&Item { dry_run: self.report.is_dry(), ..item })
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
            ..Item::became(&plan.name, Did::Adopted)
        }
    }

    /// Reports the end of the run, with its exit code.
    pub(super) fn finish(self, mut summary: Summary) -> Done {
        let mut report = self.report;
        if let Some(error) = summary.fatal.take() {
            report.fatal_after(error);
        }
        let partial = if summary.refused > 0 {
            let all = summary.refused + summary.taken + summary.there;
            let message = format!("{} of {all} items cannot be adopted", summary.refused);
            let hint = "each is named above, with its reason; they are as they were";
            Some(Failure::new(Exit::Partial, message).hint(hint))
        } else {
            (summary.taken + summary.there == 0).then(|| no_items(self.root.path()))
        };
        report.summary.counts.failed = summary.refused;
        report.count("strays", summary.strays);
        let strays = human::count(summary.strays, "stray");
        let strays = (summary.strays > 0).then(|| format!("{strays} left alone"));
        report.finish(End {
            hint: REPEAT,
            partial,
            besides: strays.into_iter().collect(),
            ..End::default()
        })
    }
}

pub(super) fn no_items(root: &std::path::Path) -> Failure {
    Failure::new(Exit::Failure, format!("there are no items in `{}`", root.display())).hint(
        "name the directory that holds the subdomains: items lie four levels below it, in \
         subdomain/word/year/month.day.hour.minute",
    )
}
