//! Reports the outcome of each item and the end of the run.

use urepo::clock::Clock as _;
use urepo::custody::Refusal;
use urepo::item::State;
use urepo::transfer::{Outcome, RunMode, Step, Summary, TransferError, Transferred, Verb};

use super::TransferRun;
use crate::cli::did::Did;
use crate::cli::failure::Failure;
use crate::cli::printer::{Output, Verbosity};
use crate::cli::records::{self, Item};
use crate::cli::report::{End, REPEAT, Report};
use crate::cli::{Done, human};

/// Limit on unlisted paths that are named for an item.
const UNLISTED_NAMED: usize = 5;

/// Reports each outcome as it comes.
pub(in crate::cli::command) struct Reporter<'r, 'a> {
    run: &'r TransferRun<'a>,
    mode: RunMode,
    report: Report<'a>,
}

impl<'r, 'a> Reporter<'r, 'a> {
    pub(super) fn new(run: &'r TransferRun<'a>, mode: RunMode) -> Reporter<'r, 'a> {
        let is_single = run.args.selection.is_single();
        let asked = match run.verb {
            Verb::Copy => Did::Copied,
            Verb::Migrate => Did::Migrated,
        };
        let report = Report::new(run.context, asked, is_single);
        Reporter { run, mode, report }
    }

    /// Reports the outcomes of a group, in one write.
    pub(super) fn report_all(&mut self, outcomes: Vec<Outcome>) -> Result<(), TransferError> {
        let printer = &self.run.context.printer;
        let mut output = printer.output();
        for Outcome { name, result } in outcomes {
            if let (Ok(done), false) = (&result, printer.json) {
                self.warn_of_unlisted(name.as_str(), done);
                if done.is_change() && done.changed.is_ahead_of(self.run.context.clock.now()) {
                    let date = done.changed;
                    let text = format!("`{name}`: its last change is dated {date}, in the future");
                    printer.warning(&text);
                }
            }
            if let Ok(done) = &result {
                let is_sized = !matches!(done.step, Step::Nothing | Step::Bury);
                let size = if is_sized { (done.files, done.bytes) } else { (0, 0) };
                self.report.add(did(done), size);
            }
            match result {
                Ok(done) if printer.json => output.record(&self.record(name.as_str(), &done)),
                Ok(done) => {
                    if let Some(line) = self.line(name.as_str(), &done)
                        && !self.report.is_folded()
                    {
                        output.line(&line);
                    }
                }
                Err(error) if self.is_there(&error) => {
                    self.report.add(Did::Unchanged, (0, 0));
                    if printer.json {
                        let dry_run = self.mode == RunMode::Plan;
                        output.record(&Item { dry_run, ..Item::became(&name, Did::Unchanged) });
                    } else if printer.verbosity == Verbosity::Verbose {
                        output.line(&format!("there already: {name}"));
                    }
                }
                Err(error) => self.tell_failure(&mut output, name.as_str(), error),
            }
        }
        printer.send(&output).map_err(|failure| failure.into_path_error().into())
    }

    /// Whether a migration of all items has met a Copy whose Original is where it was to go.
    fn is_there(&self, error: &TransferError) -> bool {
        let is_copy = |it: &TransferError| {
            matches!(it, TransferError::Refused { refusal, .. }
                if matches!(**refusal, Refusal::Copy { .. }))
        };
        let is_named = self.run.args.selection.names_items();
        self.run.verb == Verb::Migrate && !is_named && is_copy(error)
    }

    /// The report on a transferred item: in a dry run the plan, otherwise only with `--verbose`.
    fn line(&self, name: &str, done: &Transferred) -> Option<String> {
        let verbose = self.run.context.printer.verbosity == Verbosity::Verbose;
        // No deletion reaches a mirror unseen.
        let wanted = match self.mode {
            RunMode::Plan => verbose || done.is_change(),
            RunMode::Act => verbose || done.step == Step::Bury && !self.is_quiet(),
        };
        let size = || human::size(done.files, done.bytes);
        let verb = did(done).verb(self.mode == RunMode::Plan);
        wanted.then(|| match done.step {
            Step::Nothing => format!("there already: {name}"),
            Step::Bury => format!("{verb} {name}"),
            _ => format!("{verb} {name} ({})", size()),
        })
    }

    fn is_quiet(&self) -> bool {
        self.run.context.printer.verbosity == Verbosity::Quiet
    }

    /// Reports unlisted files that move to the trash, also in a dry run.
    fn warn_of_unlisted(&self, name: &str, done: &Transferred) {
        if done.unlisted.is_empty() {
            return;
        }
        let moved = match self.mode {
            RunMode::Plan => "would move to the trash",
            RunMode::Act => "moved to the trash",
        };
        let paths = done.unlisted.iter().take(UNLISTED_NAMED);
        let paths: Vec<_> = paths.map(|path| format!("`{}`", path.display())).collect();
        let more = match done.unlisted.len() - paths.len() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let text = format!("`{name}`: not in its sidecar, {moved}: {}{more}", paths.join(", "));
        self.run.context.printer.warning(&text);
    }

    fn record(&self, name: &str, done: &Transferred) -> Item<'_> {
        let state = Some(done.state).filter(|_| done.is_change());
        Item {
            path: Some(records::path(&done.place)),
            state: state.as_ref().map(ToString::to_string),
            dry_run: self.mode == RunMode::Plan,
            files: Some(done.files),
            bytes: Some(done.bytes),
            unlisted: done.unlisted.iter().map(|path| records::path(path)).collect(),
            ..Item::became(name, did(done))
        }
    }

    fn tell_failure(&mut self, output: &mut Output, name: &str, error: TransferError) {
        let printer = &self.run.context.printer;
        let tell = |failure: &Failure| {
            let mut text = failure.in_one_line();
            if !text.contains(name) {
                text = format!("`{name}`: {text}");
            }
            printer.error_of(failure, &text);
        };
        // The engine stops by itself.
        let _ = self.report.fails(output, Item::of(name), error.into(), tell);
    }

    /// The report of the run, with failures of the selection.
    pub(super) fn end(mut self, mut summary: Summary) -> Report<'a> {
        let _ = self.report.unresolved();
        if let Some(error) = summary.fatal.take() {
            self.report.fatal(error.into());
        }
        self.report
    }
}

/// Ends the report of one or several runs.
pub(in crate::cli::command) fn finish(mut report: Report<'_>) -> Done {
    report.always_counts(Did::Buried);
    report.finish(End { hint: REPEAT, ..End::default() })
}

/// The outcome for a transferred item.
fn did(done: &Transferred) -> Did {
    match (done.step, done.replaced) {
        (Step::Nothing, _) => Did::Unchanged,
        (Step::Copy, Some(State::Original | State::Copy)) => Did::Refreshed,
        (Step::Copy, Some(State::Deleted)) => Did::Restored,
        (Step::Copy, _) => Did::Copied,
        (Step::Bury, _) => Did::Buried,
        (Step::MoveCopy, _) => Did::Moved,
        (Step::HandOver, _) => Did::Migrated,
    }
}
