//! Reports the outcome of each source and the end of the import.

use std::collections::BTreeSet;
use std::time::Duration;

use urepo::collection::Collection;
use urepo::deposit::Dropped;
use urepo::identity::RepositoryName;
use urepo::import::{
    Became, Event, ImportError, NotUpdated, RejectsFile, RejectsKind, Summary, Tell, Updated,
};
use urepo::item::State;

use super::summary::{besides, is_passing, is_refused_by_rule, missed, partial};
use crate::cli::command::meta;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::explain::Explain as _;
use crate::cli::failure::Failure;
use crate::cli::leave_out::{LeftOutTally, warn_of_dropped};
use crate::cli::printer::Verbosity;
use crate::cli::records::{Changed, Item, LeftOutPath, PathAt};
use crate::cli::report::{End, REPEAT, Report};
use crate::cli::{Done, human, shell};

/// Limit on the hints about sources.
const MOST_HINTS: usize = 10;

/// Reports each event as it comes.
pub(super) struct Reporter<'a> {
    context: &'a Context,
    collection: &'a Collection,
    failed: Option<RejectsFile>,
    /// Attributes of all items that were not kept.
    lost: Dropped,
    /// Hints about sources that were printed: each is printed once.
    hints: BTreeSet<String>,
    left_out: LeftOutTally,
    /// Whether a dry run says that sources would be removed.
    pub(super) removes_sources: bool,
    /// Sources of items that were made by other rules.
    by_other_rules: u64,
    /// Failures that go away without a change of their sources.
    passing: u64,
    /// Failures of which another process kept the lock.
    locked: u64,
    /// The width of the longest identifier so far.
    id_width: usize,
    report: Report<'a>,
}

impl Tell for Reporter<'_> {
    /// One write for the names of a whole group.
    fn tell(&mut self, events: Vec<Event>) -> Result<(), ImportError> {
        if let Some(file) = &mut self.failed {
            file.add(&events)?;
        }
        let printer = &self.context.printer;
        let mut output = printer.output();
        let widths = events.iter().filter_map(|event| match &event.became {
            Became::Item(deposited) => Some(deposited.label.name.as_str().len()),
            _ => None,
        });
        self.id_width = widths.fold(self.id_width, usize::max);
        let is_reached =
            |it: &Event| !matches!(&it.became, Became::Failed(error) if error.is_interruption());
        for event in events.into_iter().filter(is_reached) {
            if let Became::Item(deposited) = &event.became {
                self.lost.special_modes += deposited.lost.special_modes;
                self.lost.extended_attributes += deposited.lost.extended_attributes;
            }
            self.count(&event);
            if printer.json {
                output.record(&self.record(event));
            } else if let Some(line) = self.line(event)
                && !self.report.is_folded()
            {
                output.line(&line);
            }
        }
        Ok(printer.send(&output).map_err(Failure::into_path_error)?)
    }
}

impl<'a> Reporter<'a> {
    pub(super) fn new(
        context: &'a Context,
        collection: &'a Collection,
        failed: Option<RejectsFile>,
    ) -> Reporter<'a> {
        let report = Report::new(context, Did::Imported, false);
        Reporter {
            context,
            collection,
            failed,
            lost: Dropped::default(),
            hints: BTreeSet::new(),
            left_out: LeftOutTally::default(),
            removes_sources: false,
            by_other_rules: 0,
            passing: 0,
            locked: 0,
            id_width: 0,
            report,
        }
    }

    fn count(&mut self, event: &Event) {
        let (context, source) = (self.context, &event.source);
        match &event.became {
            Became::Item(deposited) => self.left_out.add(context, source, &deposited.left_out),
            Became::Planned { left_out, .. } => self.left_out.add(context, source, left_out),
            Became::LeftOut(rule) => self.left_out.add_rule(context, &format!("`{source}`"), rule),
            Became::OtherRules(_) => self.by_other_rules += 1,
            Became::Failed(error) => {
                self.passing += u64::from(is_passing(error));
                self.locked += u64::from(error.explain().exit == Exit::Locked);
            }
            Became::NotUpdated { reason: NotUpdated::Failed(error), .. } => {
                self.locked += u64::from(error.explain().exit == Exit::Locked);
            }
            _ => {}
        }
    }

    /// The line of an event on stdout; warnings and hints go to stderr.
    fn line(&mut self, event: Event) -> Option<String> {
        let printer = &self.context.printer;
        let Event { source, row, became, left, rejected, .. } = event;
        let detail = |text: String| {
            printer.detail(&text);
            None
        };
        let line = match became {
            Became::Planned { files, bytes, .. } => {
                let size = human::size(files, bytes);
                let after = if self.removes_sources { ", and remove it" } else { "" };
                Some(format!("would import {}: {size}{after}", one_line(&source)))
            }
            Became::Item(deposited) => {
                let name = deposited.label.name.as_str();
                let is_wanted = printer.verbosity > Verbosity::Quiet;
                let (width, gap) =
                    if printer.stdout_is_terminal() { (self.id_width, "  ") } else { (0, "\t") };
                is_wanted.then(|| format!("{name:width$}{gap}{}", one_line(&source)))
            }
            Became::There(name) => detail(format!("`{source}` is there already: {name}")),
            Became::Left(line) => detail(format!("`{source}` became {} before: {line}", line.name)),
            Became::OtherRules(name) => detail(format!(
                "`{source}` is there already, made by other rules of links or patterns: {name}"
            )),
            Became::LeftOut(_) => None,
            Became::Twice => detail(format!("`{source}` is named twice")),
            Became::Updated { name, changes } => {
                let changes: Vec<_> = changes.iter().map(meta::report::line).collect();
                let changes = changes.join(", ");
                let is_dry = self.report.is_dry();
                let is_wanted = is_dry || printer.verbosity > Verbosity::Quiet;
                is_wanted.then(|| format!("{} {name}: {changes}", Did::Changed.verb(is_dry)))
            }
            Became::NotUpdated { name, reason } => {
                match not_updated(&name, reason) {
                    Ok(reason) => printer.note(&format!("`{source}` was not updated: {reason}")),
                    Err(failure) => {
                        let reason = failure.in_one_line();
                        printer.error(&format!("`{source}` was not updated: {reason}"));
                    }
                }
                None
            }
            Became::Unsettled => {
                detail(format!("`{source}` changed a moment ago: left for the next import"))
            }
            Became::Failed(error) => {
                let is_row = matches!(error, ImportError::Row(_));
                let is_hinted = is_row || is_refused_by_rule(&error) || is_passing(&error);
                let done = missed(&error);
                let failure = Failure::from(error);
                if failure.exit != Exit::Interrupted && self.report.should_print(&failure) {
                    let reason = failure.in_one_line();
                    let line = row.map(|row| format!("line {}: ", row.line)).unwrap_or_default();
                    // The fault of a row contains its line.
                    let text = if is_row {
                        reason
                    } else {
                        let moved = match rejected {
                            Some(Ok(path)) => format!(", and is `{}` now", path.display()),
                            Some(Err(error)) => format!(", nor moved ({error})"),
                            None => String::new(),
                        };
                        let reason = match reason.strip_prefix(&format!("`{source}` ")) {
                            Some(rest) => format!("it {rest}"),
                            None => reason,
                        };
                        format!("{line}`{source}` was not {done}{moved}: {reason}")
                    };
                    printer.error(&text);
                    if is_hinted
                        && let Some(hint) = failure.hint
                        && self.hints.len() < MOST_HINTS
                        && self.hints.insert(hint.clone())
                    {
                        printer.hint(&hint);
                    }
                }
                None
            }
        };
        for left in left {
            // Even with `--quiet`, because it makes the run fail.
            printer.error(&format!("`{source}` was imported and is still there: {left}"));
        }
        line
    }

    fn record(&self, event: Event) -> Item<'static> {
        let Event { source, path, row, became, left, rejected } = event;
        let (did, item) = match became {
            Became::Planned { files, bytes, left_out } => {
                let (files, bytes) = (Some(files), Some(bytes));
                let left_out = LeftOutPath::all(&left_out);
                (Did::Imported, Item { dry_run: true, files, bytes, left_out, ..Item::default() })
            }
            Became::Item(deposited) => {
                (Did::Imported, Item::deposited(self.collection, &deposited))
            }
            Became::There(name) => (Did::Unchanged, Item::named(self.collection, &name)),
            Became::OtherRules(name) => (Did::OtherRules, Item::named(self.collection, &name)),
            Became::LeftOut(rule) => {
                (Did::LeftOut, Item { rule: Some(rule.to_string()), ..Item::default() })
            }
            Became::Left(line) => {
                (Did::Departed, Item { departure: Some(line.to_string()), ..Item::of(&line.name) })
            }
            Became::Twice => (Did::Repeated, Item::default()),
            Became::Updated { name, changes } => {
                let changes = changes.iter().map(Changed::of).collect();
                (Did::Changed, Item { changes, ..Item::named(self.collection, &name) })
            }
            Became::NotUpdated { name, reason } => {
                let item = Item::of(&name);
                match reason {
                    NotUpdated::State(state) => {
                        (Did::NotUpdated, Item { state: Some(state.to_string()), ..item })
                    }
                    NotUpdated::Left(line) => {
                        (Did::NotUpdated, Item { departure: Some(line.to_string()), ..item })
                    }
                    NotUpdated::Failed(error) => {
                        let error = Some((&Failure::from(error)).into());
                        (Did::Failed, Item { error, ..item })
                    }
                }
            }
            Became::Unsettled => (Did::Unsettled, Item::default()),
            Became::Failed(error) => {
                let error = Some((&Failure::from(error)).into());
                (Did::Failed, Item { error, ..Item::default() })
            }
        };
        Item {
            did: Some(did),
            line: row.map(|row| row.line),
            kept_sources: left,
            moved_to: rejected.and_then(Result::ok).map(|path| PathAt::new("moved_to", &path)),
            dry_run: self.context.global.dry_run,
            source: Some(match path {
                Some(path) => PathAt::new("source", &path),
                None => PathAt::text("source", source),
            }),
            ..item
        }
    }

    /// Reports the end of the import, with its exit code; in a dry run also the time that the names would
    /// take.
    pub(super) fn finish(self, mut summary: Summary, wait: Option<Duration>) -> Done {
        let printer = &self.context.printer;
        self.context.warn_of(&summary.notices);
        warn_of_dropped(self.context, self.lost, "");
        if let Some(file) = self.failed {
            match file.finish()? {
                Some((path, RejectsKind::Rows)) => printer.note(&format!(
                    "wrote the rows that were not imported into `{}`, a manifest for the same `--root`",
                    path.display()
                )),
                Some((path, RejectsKind::Paths)) => printer.note(&shell::pasted(&format!(
                    "wrote what was not imported into `{0}`: `urepo import - < {1}` reads it",
                    path.display(),
                    shell::word(&path)
                ))),
                None => {}
            }
        }
        let is_planned = wait.is_some();
        let mut report = self.report;
        let &Updated { differing, updated, not_updated, .. } = &summary.rows;
        report.add_all(Did::Imported, summary.imported, (summary.files, summary.bytes));
        report.add_all(Did::Changed, updated, (0, 0));
        report.add_all(Did::Unchanged, summary.there.saturating_sub(updated), (0, 0));
        report.summary.counts.failed = summary.failed;
        let mut is_whole = !self.context.interrupt.requested();
        if let Some(error) = summary.fatal.take() {
            is_whole = false;
            report.fatal_after(error);
        }
        report.summary.complete = Some(is_whole);
        report.summary.wait_seconds = wait.map(|wait| wait.as_secs());
        report.count("unsettled", summary.unsettled);
        report.count("kept_sources", summary.left);
        report.count("left_out", self.left_out.total());
        for (what, number) in
            [("deleted", summary.deleted), ("differing", differing), ("not_updated", not_updated)]
        {
            if number > 0 {
                report.count(what, number);
            }
        }
        if differing > 0 {
            let rows = human::count(differing, "row");
            let (differ, them) =
                if differing == 1 { ("differs", "it") } else { ("differ", "them") };
            printer.note(&format!(
                "{rows} {differ} from the description of an item imported before; `--update` corrects {them}"
            ));
        }
        self.left_out.tell(self.context);
        if self.by_other_rules > 0 {
            let sources = human::count(self.by_other_rules, "source");
            printer.note(&format!(
                "{sources} imported before by other rules of links or patterns: nothing is imported twice; \
                 `urepo new` makes other items"
            ));
        }
        let mut partial = partial(&summary, self.passing, is_planned);
        let is_idle = summary.imported == 0 && summary.rows.updated == 0;
        let is_locked = is_idle && self.locked > 0 && self.locked == summary.failed;
        if let Some(partial) = partial.as_mut().filter(|_| is_locked) {
            partial.exit = Exit::Locked;
        }
        report.finish(End {
            hint: REPEAT,
            partial,
            besides: besides(&summary, wait),
            ..End::default()
        })
    }
}

/// Why an item was not corrected by its row: a reason that is no failure, or a failure.
fn not_updated(name: &RepositoryName, reason: NotUpdated) -> Result<String, Failure> {
    match reason {
        NotUpdated::State(State::Copy) => Ok(format!("{name} is a Copy here")),
        NotUpdated::State(_) => Ok(format!("{name} is deleted")),
        NotUpdated::Left(line) => Ok(format!("{name} has left: {line}")),
        NotUpdated::Failed(error) => Err(error.into()),
    }
}

/// A source in one line of stdout, whatever its name.
fn one_line(source: &str) -> String {
    source.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t")
}
