//! Telling what became of each item, and how the run ended.

use std::path::PathBuf;

use serde_json::{Value, json};
use urepo::transfer::{
    Finished, HandoverEnd, Outcome, Replaces, RunMode, Step, Summary, TransferError, Transferred,
    Verb,
};

use super::Run;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::printer::{Output, Verbosity};
use crate::cli::report::{End, GOES_ON, Tally};
use crate::cli::select::Failures;
use crate::cli::{Done, human, record};

/// How many paths that no sidecar lists are named for an item.
const UNLISTED_NAMED: usize = 5;

/// Tells each outcome as it comes.
pub(in crate::cli::command) struct Teller<'r, 'a> {
    run: &'r Run<'a>,
    depth: RunMode,
    tally: Tally<'a>,
}

/// How a run ended.
pub(in crate::cli::command) struct Ended<'a> {
    summary: Summary,
    tally: Tally<'a>,
    depth: RunMode,
}

impl<'r, 'a> Teller<'r, 'a> {
    pub(super) fn new(run: &'r Run<'a>, depth: RunMode) -> Teller<'r, 'a> {
        Teller { run, depth, tally: Tally::new(run.context, run.single) }
    }

    /// Tells the outcomes of a group, in one write.
    pub(super) fn tell_all(&mut self, outcomes: Vec<Outcome>) -> Result<(), TransferError> {
        let printer = &self.run.context.printer;
        let mut output = printer.output();
        for Outcome { name, result } in outcomes {
            if let (Ok(done), false) = (&result, printer.json) {
                self.warn_of_unlisted(name.as_str(), done);
            }
            match result {
                Ok(done) if printer.json => output.record(&self.record(name.as_str(), &done)),
                Ok(done) => {
                    if let Some(line) = self.line(name.as_str(), &done) {
                        output.line(&line);
                    }
                }
                Err(error) => self.tell_failure(&mut output, name.as_str(), error),
            }
        }
        printer.send(&output).map_err(|failure| failure.into_path_error().into())
    }

    /// What is told of an item that went well: in a dry run the plan, else only to those who asked.
    fn line(&self, name: &str, done: &Transferred) -> Option<String> {
        let verbose = self.run.context.printer.verbosity == Verbosity::Verbose;
        let wanted = match self.depth {
            RunMode::Plan => verbose || done.is_change(),
            RunMode::Act => verbose,
        };
        let size = || format!("{}, {}", human::count(done.files, "file"), human::bytes(done.bytes));
        let verb = match self.depth {
            RunMode::Plan => would(done.step),
            RunMode::Act => did(done.step),
        };
        wanted.then(|| match done.step {
            Step::Skip | Step::Bury(_) => format!("{verb} {name}"),
            _ => format!("{verb} {name} ({})", size()),
        })
    }

    /// Tells what moves to the trash, or would, because no sidecar lists it.
    fn warn_of_unlisted(&self, name: &str, done: &Transferred) {
        if done.unlisted.is_empty() {
            return;
        }
        let moved = match self.depth {
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

    fn record(&self, name: &str, done: &Transferred) -> Value {
        let state = match (self.run.verb, done.step) {
            (_, Step::HandOver(_) | Step::Revive) => Some("Original"),
            (_, Step::Skip) => None,
            (_, Step::Bury(_)) => Some("Deleted"),
            _ => Some("Copy"),
        };
        let mut record = record::item(name, None, &done.place, state);
        let fields = json!({
            "step": step(done.step), "planned": self.depth == RunMode::Plan,
            "files": done.files, "bytes": done.bytes,
        });
        record::extend(&mut record, fields);
        if !done.unlisted.is_empty() {
            let path = |path: &PathBuf| {
                let mut record = json!({});
                record::add_path(&mut record, "path", path);
                record
            };
            let unlisted: Vec<_> = done.unlisted.iter().map(path).collect();
            record::extend(&mut record, json!({ "unlisted": unlisted }));
        }
        record
    }

    fn tell_failure(&mut self, output: &mut Output, name: &str, error: TransferError) {
        let printer = &self.run.context.printer;
        let tell = |failure: &Failure| {
            let text = failure.in_one_line();
            if text.contains(name) {
                printer.error(&text);
            } else {
                printer.error(&format!("`{name}`: {text}"));
            }
            if let Some(hint) = &failure.hint {
                printer.hint(hint);
            }
        };
        // The engine knows itself when to stop.
        let _ = self.tally.fails(output, json!({ "id": name }), error.into(), tell);
    }

    /// How the run ended, with what was met while the items were looked for.
    pub(super) fn end(mut self, mut summary: Summary, failures: &Failures) -> Ended<'a> {
        let _ = self.tally.met(failures);
        if let Some(error) = summary.fatal.take() {
            self.tally.ends(error.into());
        }
        Ended { summary, tally: self.tally, depth: self.depth }
    }
}

impl<'a> Ended<'a> {
    /// Adds another run to this one.
    pub(in crate::cli::command) fn add(&mut self, other: Ended<'a>) {
        self.summary.transferred += other.summary.transferred;
        self.summary.skipped += other.summary.skipped;
        self.summary.buried += other.summary.buried;
        self.summary.files += other.summary.files;
        self.summary.bytes += other.summary.bytes;
        self.tally.add(other.tally);
    }

    /// Says how it ended and with which code.
    pub(in crate::cli::command) fn finish(self, verb: Verb) -> Done {
        let Ended { summary, tally, depth } = self;
        let failed = tally.failed;
        let partial = (failed > 0).then(|| {
            let all = failed + summary.transferred + summary.skipped;
            let message = format!("{failed} of {all} items were not {}", past(verb));
            Failure::new(Exit::Partial, message).hint("each is named above, with its reason")
        });
        let counts = json!({
            "transferred": summary.transferred, "skipped": summary.skipped, "failed": failed,
            "files": summary.files, "bytes": summary.bytes, "buried": summary.buried,
            "planned": depth == RunMode::Plan,
        });
        tally.finish(End {
            done: format!("{} {}", human::count(summary.transferred, "item"), past(verb)),
            hint: GOES_ON,
            partial,
            counts,
            closing: closing(&summary, failed, verb, depth),
            ..End::default()
        })
    }
}

/// What is told at the end; nothing where only failures are to be told.
fn closing(summary: &Summary, failed: u64, verb: Verb, depth: RunMode) -> Option<String> {
    let there = match (summary.skipped, verb) {
        (0, _) => None,
        (1, Verb::Refresh) => Some("1 Copy up to date".to_owned()),
        (count, Verb::Refresh) => Some(format!("{count} Copies up to date")),
        (count, _) => Some(format!("{count} there already")),
    };
    let done = match depth {
        _ if summary.transferred == 0 && failed > 0 => return there,
        _ if summary.transferred == 0 => format!("nothing to {}", present(verb)),
        RunMode::Plan => sized(&format!("would {}", present(verb)), summary),
        RunMode::Act => sized(past(verb), summary),
    };
    let deletions = || human::count(summary.buried, "deletion");
    let buried = match (summary.buried, depth) {
        (0, _) => None,
        (_, RunMode::Plan) => Some(format!("would record {}", deletions())),
        (_, RunMode::Act) => Some(format!("recorded {}", deletions())),
    };
    let parts: Vec<_> = [Some(done), buried, there].into_iter().flatten().collect();
    Some(parts.join("; "))
}

fn sized(done: &str, summary: &Summary) -> String {
    let items = human::count(summary.transferred, "item");
    let files = human::count(summary.files, "file");
    format!("{done} {items}, {files}, {}", human::bytes(summary.bytes))
}

fn present(verb: Verb) -> &'static str {
    match verb {
        Verb::Copy => "copy",
        Verb::Migrate => "migrate",
        Verb::Refresh => "refresh",
    }
}

fn past(verb: Verb) -> &'static str {
    match verb {
        Verb::Copy => "copied",
        Verb::Migrate => "migrated",
        Verb::Refresh => "refreshed",
    }
}

fn would(step: Step) -> &'static str {
    match step {
        Step::Skip => "is there already:",
        Step::Copy(Replaces::Nothing) => "would copy",
        Step::Copy(Replaces::Copy) => "would refresh",
        Step::Copy(Replaces::Tombstone) | Step::Revive => "would revive",
        Step::Bury(_) => "would record the deletion of",
        Step::HandOver(_) => "would migrate",
        Step::MoveCopy => "would move the Copy",
        Step::DropCopy => "would remove the Copy that is there already:",
    }
}

fn did(step: Step) -> &'static str {
    match step {
        Step::Skip => "was there already:",
        Step::Copy(Replaces::Nothing) => "copied",
        Step::Copy(Replaces::Copy) => "refreshed",
        Step::Copy(Replaces::Tombstone) | Step::Revive => "revived",
        Step::Bury(_) => "recorded the deletion of",
        Step::HandOver(_) => "migrated",
        Step::MoveCopy => "moved the Copy",
        Step::DropCopy => "removed the Copy that is there already:",
    }
}

fn step(step: Step) -> &'static str {
    match step {
        Step::Skip => "skip",
        Step::Copy(Replaces::Nothing) => "copy",
        Step::Copy(Replaces::Copy) => "refresh",
        Step::Copy(Replaces::Tombstone) | Step::Revive => "revive",
        Step::Bury(_) => "bury",
        Step::HandOver(_) => "hand-over",
        Step::MoveCopy => "move-copy",
        Step::DropCopy => "drop-copy",
    }
}

/// Tells of hand-overs that were found unfinished. Returns how many still are.
pub(in crate::cli::command) fn finished(context: &Context, finished: &[Finished]) -> u64 {
    let mut left = 0;
    let printer = &context.printer;
    for Finished { name, result } in finished {
        let hand_over = match name {
            Some(name) => format!("the hand-over of {name}"),
            None => "a hand-over".to_owned(),
        };
        match result {
            Ok(HandoverEnd::HandedOver) => printer.note(&format!("finished {hand_over}")),
            Ok(HandoverEnd::Withdrawn) => {
                printer.note(&format!("withdrew {hand_over}: it had not begun"));
            }
            Err(error) => {
                left += 1;
                let reason = Failure::of(Exit::Failure, error).in_one_line();
                printer.warning(&format!("{hand_over} is not finished: {reason}"));
            }
        }
    }
    left
}
