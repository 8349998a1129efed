//! How a run ends: what became of its items, what its last record says, and its exit code.

use std::ops::ControlFlow;
use std::sync::PoisonError;

use serde_json::{Value, json};

use super::Done;
use super::context::Context;
use super::crowd::Crowd;
use super::exit::Exit;
use super::failure::Failure;
use super::printer::{Output, Printer, Purpose};
use super::record;
use super::select::{Failures, Meaningless};

/// What the command repeated does after a signal.
pub(crate) const GOES_ON: Option<&str> = Some("repeat the command: it goes on where it stopped");

/// The items of a run that failed. Nothing else decides how a run over items ends: interrupted, cut short
/// by a failure of its own, with the failure of the one item that was asked for, or with some failed.
pub(crate) struct Tally<'a> {
    context: &'a Context,
    /// One item was asked for: its failure is that of the run.
    is_single: bool,
    alone: Option<Failure>,
    fatal: Option<Failure>,
    crowd: Crowd,
    pub(crate) failed: u64,
}

/// The rest of what there is to say of a run.
#[derive(Default)]
pub(crate) struct End {
    /// What it had done, where a signal ended it: `3 items copied`.
    pub(crate) done: String,
    /// What to do then.
    pub(crate) hint: Option<&'static str>,
    /// What counts more than that a signal ended it.
    pub(crate) damage: Option<Failure>,
    /// Why it is no success, where neither a signal nor a failure ended it.
    pub(crate) partial: Option<Failure>,
    pub(crate) counts: Value,
    /// What is said of a run that came to its end.
    pub(crate) closing: Option<String>,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(context: &'a Context, is_single: bool) -> Tally<'a> {
        let (alone, fatal, crowd) = (None, None, Crowd::default());
        Tally { context, is_single, alone, fatal, crowd, failed: 0 }
    }

    /// Whether one item was asked for.
    pub(crate) fn is_single(&self) -> bool {
        self.is_single
    }

    /// Counts and reports an item that failed; the run goes on unless the failure ends it.
    pub(crate) fn failed(&mut self, id: &str, failure: Failure) -> ControlFlow<()> {
        let printer = &self.context.printer;
        let mut output = printer.output();
        let flow = self.fails(&mut output, json!({ "id": id }), failure, |it| printer.failure(it));
        match printer.send(&output) {
            Ok(()) => flow,
            Err(lost) => {
                self.ends(lost);
                ControlFlow::Break(())
            }
        }
    }

    /// The same where outcomes are written together: its record, of `fields`, goes to `output`.
    pub(crate) fn fails(
        &mut self,
        output: &mut Output,
        fields: Value,
        failure: Failure,
        tell: impl FnOnce(&Failure),
    ) -> ControlFlow<()> {
        if failure.ends_the_run() {
            self.ends(failure);
            return ControlFlow::Break(());
        }
        self.failed += 1;
        let printer = &self.context.printer;
        if printer.json {
            let mut record = json!({ "type": "item" });
            record::extend(&mut record, record::failed(&failure));
            record::extend(&mut record, fields);
            output.record(&record);
        }
        if self.is_single {
            self.alone = Some(failure);
        } else if !printer.json && self.crowd.tells(&failure, printer) {
            tell(&failure);
        }
        ControlFlow::Continue(())
    }

    /// The same for what was met while items were looked for.
    pub(crate) fn met(&mut self, met: &Failures) -> ControlFlow<()> {
        let met = std::mem::take(&mut *met.lock().unwrap_or_else(PoisonError::into_inner));
        met.into_iter().try_for_each(|Meaningless { text, failure }| {
            self.failed(text.as_deref().unwrap_or_default(), failure)
        })
    }

    /// Ends the run with a failure that is no item's.
    pub(crate) fn ends(&mut self, failure: Failure) {
        self.fatal.get_or_insert(failure);
    }

    /// Adds a cause to the failure of the one item that was asked for.
    pub(crate) fn adds(&mut self, cause: &str) {
        self.alone = self.alone.take().map(|failure| failure.caused_by(cause));
    }

    /// What each of `texts` means. What means nothing has failed.
    pub(crate) fn meant<T>(
        &mut self,
        texts: &[String],
        mut find: impl FnMut(&str) -> Result<T, Failure>,
    ) -> Vec<T> {
        let mut meant = Vec::new();
        for text in texts {
            match find(text) {
                Ok(found) => meant.push(found),
                Err(failure) => {
                    if self.failed(text, failure).is_break() {
                        break;
                    }
                }
            }
        }
        meant
    }

    /// Adds those of another part of the same run.
    pub(crate) fn add(&mut self, other: Tally<'a>) {
        self.failed += other.failed;
        self.alone = self.alone.take().or(other.alone);
        self.fatal = self.fatal.take().or(other.fatal);
    }

    /// Ends the run, and says how: the last record with `--json`, else the closing line.
    pub(crate) fn finish(self, end: End) -> Done {
        let Tally { context, alone, fatal, crowd, .. } = self;
        let printer = &context.printer;
        crowd.tell_rest(printer);
        let interrupted = context.interrupt.requested().then(|| {
            let message = format!("interrupted; {} before it", end.done);
            let mut failure = Failure::new(Exit::Interrupted, message);
            failure.hint = end.hint.map(str::to_owned);
            failure
        });
        let failure = end.damage.or(interrupted).or(fatal).or(alone).or(end.partial);
        let ended = failure.map_or(Ok(()), Err);
        if printer.json {
            summary(printer, &ended, end.counts)?;
        } else if ended.as_ref().err().is_none_or(|failure| failure.exit == Exit::Partial)
            && let Some(closing) = end.closing
        {
            printer.note(&closing);
        }
        ended
    }
}

/// Writes the summary record of a run over items: what it counted, and the code that it ends with.
fn summary(printer: &Printer, ended: &Done, counts: Value) -> Done {
    let exit = ended.as_ref().err().map_or(Exit::Success, |failure| failure.exit);
    let mut summary = json!({ "type": "summary", "version": 1 });
    record::extend(&mut summary, counts);
    record::extend(&mut summary, json!({ "exit_code": exit.code() }));
    printer.record(&summary)
}

/// Says why a run failed, if it did, and gives its exit code.
pub(crate) fn conclude(done: Done, printer: &Printer) -> Exit {
    let failure = match (done, printer.lost()) {
        (Ok(()), None) => return Exit::Success,
        (Err(failure), None) => failure,
        (Err(failure), Some(_)) if failure.exit == Exit::Interrupted => failure,
        // As `head` expects of those before it in a pipeline.
        (_, Some(lost)) if printer.purpose == Purpose::Answer && lost.reader_left => {
            return Exit::Success;
        }
        (Ok(()), Some(lost)) if printer.purpose == Purpose::Work => {
            Failure::of_stdout(lost).hint("the work itself is done; only its report is lost")
        }
        (Err(failure), Some(_)) if printer.purpose == Purpose::Work => failure,
        (_, Some(lost)) => Failure::of_stdout(lost),
    };
    printer.failure(&failure);
    failure.exit
}
