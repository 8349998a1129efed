//! Reports the outcome of each item and the end of the run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use urepo::collection::Collection;
use urepo::deposit::{DepositError, Deposited, Outcome, Source, Summary};
use urepo::identity::RepositoryName;

use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::leave_out::{LeftOutTally, warn_of_dropped};
use crate::cli::printer::Verbosity;
use crate::cli::records::{Item, PathAt};
use crate::cli::report::{End, Report};
use crate::cli::{Done, human};

/// Reports each outcome as it comes.
pub(super) struct Reporter<'a> {
    pub(super) context: &'a Context,
    pub(super) collection: &'a Collection,
    pub(super) report: Report<'a>,
    /// Items whose source could not be removed.
    pub(super) kept_sources: u64,
    pub(super) left_out: LeftOutTally,
    /// The paths of requests that are not text, by their numbers.
    pub(super) paths: &'a Mutex<BTreeMap<usize, PathBuf>>,
    /// The name of the last deposited item.
    pub(super) last: Option<RepositoryName>,
    /// Whether the single item is in place, and the disk did not confirm it.
    pub(super) is_in_doubt: bool,
}

impl Reporter<'_> {
    /// One write for the identifiers of a whole group.
    pub(super) fn report_all(&mut self, outcomes: Vec<Outcome>) -> Result<(), DepositError> {
        let printer = &self.context.printer;
        let mut output = printer.output();
        for Outcome { number, source, result } in outcomes {
            let path = self.paths.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
            let origin = Some(origin(&source, path.as_deref()));
            match result {
                Ok(deposited) => {
                    let payload = &deposited.payload;
                    self.report.add(Did::Deposited, (payload.files, payload.bytes));
                    self.last = Some(deposited.label.name.clone());
                    self.warn(&source, &deposited);
                    if printer.json {
                        let item = Item::deposited(self.collection, &deposited);
                        output.record(&Item { source: origin, did: Some(Did::Deposited), ..item });
                    } else {
                        output.line(deposited.label.name.as_str());
                    }
                }
                Err(error) => {
                    let item = Item { source: origin, ..Item::default() };
                    // The engine stops by itself.
                    // No other record says which paths to repeat with.
                    let mut failure = Failure::from(error);
                    failure.common = None;
                    self.is_in_doubt |= self.report.is_single() && failure.is_unconfirmed;
                    let _ = self.report.fails(&mut output, item, failure, |failure| {
                        let reason = failure.in_one_line();
                        let reason = match reason.strip_prefix(&format!("`{source}` ")) {
                            Some(rest) => format!("it {rest}"),
                            None => reason,
                        };
                        let not = if failure.is_unconfirmed { "" } else { " was not deposited" };
                        printer.error_of(failure, &format!("`{source}`{not}: {reason}"));
                    });
                }
            }
        }
        printer.send(&output).map_err(|failure| failure.into_path_error().into())
    }

    fn warn(&mut self, source: &str, deposited: &Deposited) {
        let printer = &self.context.printer;
        warn_of_dropped(self.context, deposited.lost, &format!(" in `{source}`"));
        self.left_out.add(self.context, source, &deposited.left_out);
        self.kept_sources += u64::from(!deposited.left.is_empty());
        for left in &deposited.left {
            printer.error(&format!("`{source}` was deposited but not removed: {left}"));
        }
    }
}

/// The one path of a source.
pub(super) fn path_of(source: &Source) -> Option<PathBuf> {
    match source {
        Source::At(place) => Some(place.path()),
        Source::Together(paths) => match paths.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        },
        Source::Stream { .. } => None,
    }
}

/// The source of an item, by its path, if it has one.
pub(super) fn origin(words: &str, path: Option<&Path>) -> PathAt {
    match path {
        Some(path) => PathAt::new("source", path),
        None => PathAt::text("source", words),
    }
}

/// Ends the run.
pub(super) fn finish(summary: Summary, reporter: Reporter<'_>) -> Done {
    let Reporter { context, mut report, kept_sources, left_out, is_in_doubt, .. } = reporter;
    left_out.tell(context);
    context.warn_of(&summary.notices);
    let Summary { deposited, fatal, .. } = summary;
    // The error of the item has the same cause, and names the item.
    if let Some(error) = fatal.filter(|_| !is_in_doubt) {
        report.fatal_after(error);
    }
    let partial = (report.errors() == 0 && kept_sources > 0).then(|| {
        let items = human::count(kept_sources, "item");
        Failure::new(Exit::Partial, format!("the sources of {items} are still there"))
            .hint("each is named above, with its reason")
    });
    report.count("kept_sources", kept_sources);
    report.count("left_out", left_out.total());
    report.finish(End {
        hint: Some("every printed identifier is durable; nothing is left of the other items"),
        partial,
        failed_hint: (deposited > 0).then_some(
            "the other paths are deposited; repeat the command with only the paths named above",
        ),
        // The identifiers are the answer.
        is_silent: context.printer.verbosity != Verbosity::Verbose,
        ..End::default()
    })
}
