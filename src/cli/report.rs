//! A run over items: their outcomes, the summary, and the exit code. Every command over items reports through
//! this.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;

use urepo::identity::RepositoryName;
use urepo::item::State;

use super::context::Context;
use super::did::Did;
use super::exit::Exit;
use super::failure::Failure;
use super::in_sight::Opened;
use super::printer::{Output, Printer, Purpose, Verbosity};
use super::records::{Counts, Item, Summary};
use super::select::Selection;
use super::{Done, human, shell};

/// The hint of a run that continues when it is repeated.
pub(crate) const REPEAT: Option<&str> = Some("repeat the command to continue where it stopped");

/// Limit on printed failures with one cause, such as a full disk, and on warnings of one kind; the rest is
/// only counted.
pub(crate) const REPEATED_PRINTED: u64 = 5;

/// Limit on the lines about items on a terminal.
const MOST_LINES: usize = 20;

/// A run over items.
pub(crate) struct Report<'a> {
    context: &'a Context,
    /// The action that was asked for.
    asked: Did,
    /// What became of the items: their number, files and bytes.
    did: BTreeMap<Did, [u64; 3]>,
    /// A single item was requested: its failure is that of the run.
    is_single: bool,
    /// Whether each item has its line, so that a single one needs no closing line.
    names_each: bool,
    /// Number of lines about items.
    lines: usize,
    only_error: Option<Failure>,
    fatal: Option<Failure>,
    /// Number of failures of each kind that many items may share.
    repeated: BTreeMap<&'static str, u64>,
    /// Number of items that another process kept locked.
    locked: u64,
    /// The hints of the last printed failure.
    last_hints: Vec<String>,
    /// The collections that are asked for remedies.
    in_sight: Option<Opened>,
    /// Items and failures are counted here, the rest by the command.
    pub(crate) summary: Summary,
}

/// The special parts of the end of a run.
#[derive(Default)]
pub(crate) struct End {
    /// The work before a signal, unless the items show it: `3 holdings found`.
    pub(crate) done: Option<String>,
    /// What to do after a signal.
    pub(crate) hint: Option<&'static str>,
    /// The number of items that the run had not reached, if the progress does not know it.
    pub(crate) left: Option<u64>,
    /// What was found so far, also by a run that a signal ended.
    pub(crate) damage: Option<Failure>,
    /// A failure of the whole run, if neither a signal nor an error ended it. Without it, failed items make
    /// the run partial.
    pub(crate) partial: Option<Failure>,
    /// The hint on failed items, beyond the report of each.
    pub(crate) failed_hint: Option<&'static str>,
    /// The last line for people. Without it, the changes that were counted are the last line.
    pub(crate) closing: Option<String>,
    /// What follows in that line: `the identifiers take 3 s`.
    pub(crate) besides: Vec<String>,
    /// The answer says all that was done, and there is no such line.
    pub(crate) is_silent: bool,
}

impl<'a> Report<'a> {
    /// A run that changes items, also a dry run.
    pub(crate) fn new(context: &'a Context, asked: Did, is_single: bool) -> Report<'a> {
        let dry_run = context.global.dry_run;
        let none = Some(0);
        let counts = Counts { skipped: none, files: none, bytes: none, ..Counts::default() };
        let summary = Summary { counts, dry_run, ..Summary::default() };
        Report { summary, ..Report::reading(context, asked, is_single) }
    }

    /// A run that only reads.
    pub(crate) fn reading(context: &'a Context, asked: Did, is_single: bool) -> Report<'a> {
        Report {
            context,
            asked,
            did: BTreeMap::new(),
            is_single,
            names_each: false,
            lines: 0,
            only_error: None,
            fatal: None,
            repeated: BTreeMap::new(),
            locked: 0,
            last_hints: Vec::new(),
            in_sight: None,
            summary: Summary::default(),
        }
    }

    pub(crate) fn is_single(&self) -> bool {
        self.is_single
    }

    /// Number of items with an error.
    pub(crate) fn errors(&self) -> u64 {
        self.summary.counts.failed + self.unconfirmed()
    }

    fn is_without_failure(&self) -> bool {
        self.errors() == 0 && self.fatal.is_none()
    }

    fn unconfirmed(&self) -> u64 {
        self.summary.counts.unconfirmed.unwrap_or_default()
    }

    pub(crate) fn is_dry(&self) -> bool {
        self.summary.dry_run
    }

    /// What was changed, or would be, by kind: `copied 4 items, 5 files, 70 B`.
    fn changes(&self) -> Vec<String> {
        let changes = self.did.iter().filter(|(did, _)| did.is_change());
        let part = |(did, [items, files, bytes]): (&Did, &[u64; 3])| {
            let number = match files + bytes {
                0 => human::count(*items, "item"),
                _ => human::items(*items, *files, *bytes),
            };
            format!("{} {number}", did.verb(self.is_dry()))
        };
        changes.map(part).collect()
    }

    /// The last line of a run that changes items: what was changed, or would be, and what needed no change, with `besides`.
    /// `None` where the lines of the items say so, or those of failures.
    fn closing(&self, besides: Vec<String>) -> Option<String> {
        if !self.asked.is_change() || self.is_single && self.names_each && besides.is_empty() {
            return None;
        }
        let is_dry = self.is_dry();
        let mut parts = self.changes();
        let is_idle = parts.is_empty();
        if is_idle && self.errors() == 0 {
            parts.push(format!("nothing to {}", self.asked.present()));
        }
        match self.number_of(Did::Unchanged) {
            0 => {}
            // Of descriptions, nothing to change says the same.
            _ if is_idle && self.asked.unchanged() == "unchanged" => {}
            there => parts.push(format!("{there} {}", self.asked.unchanged())),
        }
        parts.extend(besides);
        if is_dry && !is_idle {
            parts.push("nothing was changed".to_owned());
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Counts something of the kind `what`.
    pub(crate) fn count(&mut self, what: &str, number: u64) {
        self.summary.counts.others.insert(what.to_owned(), number);
    }

    /// Counts what became of an item of `files` and `bytes`.
    pub(crate) fn add(&mut self, did: Did, (files, bytes): (u64, u64)) {
        self.add_all(did, 1, (files, bytes));
    }

    /// The same of `items` together.
    pub(crate) fn add_all(&mut self, did: Did, items: u64, (files, bytes): (u64, u64)) {
        let counts = &mut self.summary.counts;
        if did.is_change() {
            counts.items += items;
            *counts.files.get_or_insert_default() += files;
            *counts.bytes.get_or_insert_default() += bytes;
        } else if did == Did::Unchanged {
            *counts.skipped.get_or_insert_default() += items;
        }
        if items > 0 {
            let of = self.did.entry(did).or_default();
            for (sum, more) in of.iter_mut().zip([items, files, bytes]) {
                *sum += more;
            }
        }
    }

    /// Counts an item once that became `did` before.
    pub(crate) fn add_again(&mut self, did: Did) {
        self.summary.counts.items -= 1;
        self.did.entry(did).and_modify(|[items, ..]| *items -= 1);
    }

    /// With `--quiet`, the number of items that became `did` is a line on stdout, where a cron job mails it.
    pub(crate) fn always_counts(&mut self, did: Did) {
        let printer = &self.context.printer;
        let (number, verb) = (self.number_of(did), did.verb(self.is_dry()));
        if number > 0 && printer.verbosity == Verbosity::Quiet && !printer.json {
            let told = printer.line(&format!("{verb} {}", human::count(number, "item")));
            let _ = self.written(told);
        }
    }

    /// The number of items that became `did`.
    pub(crate) fn number_of(&self, did: Did) -> u64 {
        self.did.get(&did).map_or(0, |[items, ..]| *items)
    }

    /// Counts an item that was read, and reported by writing `written`.
    pub(crate) fn succeeded(&mut self, written: Done) -> ControlFlow<()> {
        self.summary.counts.items += 1;
        self.written(written)
    }

    /// Ends the run if a record or a line could not be written.
    pub(crate) fn written(&mut self, written: Done) -> ControlFlow<()> {
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(lost) => {
                self.fatal(lost);
                ControlFlow::Break(())
            }
        }
    }

    /// Counts and writes what became of an item: its record, or a line on stdout. In that, `planned` or `done` follows the
    /// identifier.
    pub(crate) fn outcome(&mut self, item: Item<'_>, planned: &str, done: &str) -> ControlFlow<()> {
        let is_dry = self.is_dry();
        let did = item.did.unwrap_or(self.asked);
        self.add(did, (item.files.unwrap_or_default(), item.bytes.unwrap_or_default()));
        let id = item.id.as_deref().unwrap_or_default();
        let text = format!("{} {id}{}", did.verb(is_dry), if is_dry { planned } else { done });
        self.tell(&Item { dry_run: is_dry, ..item }, &text)
    }

    /// The same of an item that needs no change, as `text` says.
    pub(crate) fn unchanged(&mut self, item: Item<'_>, text: &str) -> ControlFlow<()> {
        self.add(Did::Unchanged, (0, 0));
        let (did, dry_run) = (Some(Did::Unchanged), self.is_dry());
        self.tell(&Item { did, dry_run, ..item }, text)
    }

    fn tell(&mut self, item: &Item<'_>, text: &str) -> ControlFlow<()> {
        let (printer, is_dry) = (&self.context.printer, self.is_dry());
        self.names_each = true;
        // A dry run is asked for its plan.
        let is_wanted = is_dry || printer.verbosity > Verbosity::Quiet;
        let written = if printer.json {
            printer.record(item)
        } else if is_wanted && !self.is_folded() {
            printer.line(&shell::pasted(text))
        } else {
            Ok(())
        };
        self.written(written)
    }

    /// Whether another line is one too many on a terminal: the closing line has the number.
    pub(crate) fn is_folded(&mut self) -> bool {
        let printer = &self.context.printer;
        self.lines += 1;
        let is_folded = printer.stdout_is_terminal() && printer.verbosity == Verbosity::Normal;
        is_folded && self.lines > MOST_LINES
    }

    /// Counts and reports a failed item. The run goes on unless the failure ends it.
    pub(crate) fn failed(&mut self, id: &str, failure: Failure) -> ControlFlow<()> {
        let id = (!id.is_empty()).then(|| id.to_owned());
        self.failed_with(Item { id, ..Item::default() }, failure)
    }

    /// The same with more in its record.
    pub(crate) fn failed_with(&mut self, item: Item<'_>, failure: Failure) -> ControlFlow<()> {
        let printer = &self.context.printer;
        let mut output = printer.output();
        let flow = self.fails(&mut output, item, failure, |it| printer.failure(it));
        self.written(printer.send(&output))?;
        flow
    }

    /// The same if the outcomes of a group are written together: the record goes to `output`, and `print`
    /// writes the failure for people.
    pub(crate) fn fails(
        &mut self,
        output: &mut Output,
        item: Item<'_>,
        mut failure: Failure,
        print: impl FnOnce(&Failure),
    ) -> ControlFlow<()> {
        if failure.ends_the_run() {
            self.fatal(failure);
            return ControlFlow::Break(());
        }
        if failure.is_unconfirmed {
            *self.summary.counts.unconfirmed.get_or_insert_default() += 1;
        } else {
            self.summary.counts.failed += 1;
            self.locked += u64::from(failure.exit == Exit::Locked);
        }
        if self.context.printer.json || self.is_single {
            self.advise(&mut failure);
        }
        if self.context.printer.json {
            let failed = if failure.is_unconfirmed { Did::Unconfirmed } else { Did::Failed };
            let did = item.did.or(Some(failed));
            let (error, dry_run) = (Some((&failure).into()), self.summary.dry_run);
            output.record(&Item { did, dry_run, error, ..item });
        }
        if self.is_single && self.only_error.is_none() {
            self.only_error = Some(failure);
        } else if !self.context.printer.json && self.should_print(&failure) {
            // A hint that was just printed is not repeated.
            self.advise(&mut failure);
            let hints = failure.hints();
            if std::mem::replace(&mut self.last_hints, hints) == failure.hints() {
                (failure.hint, failure.about) = (None, None);
            }
            print(&failure);
        }
        ControlFlow::Continue(())
    }

    /// Gives a failure about an item the remedies of that item.
    fn advise(&mut self, failure: &mut Failure) {
        if failure.about.is_some() {
            let context = self.context;
            let open = || context.opened_in_sight();
            self.in_sight.get_or_insert_with(open).advise(context, failure);
        }
    }

    /// Whether a failure is printed, or only counted with others of the same cause.
    pub(crate) fn should_print(&mut self, failure: &Failure) -> bool {
        let Some(cause) = failure.common else { return true };
        let met = self.repeated.entry(cause).or_default();
        *met += 1;
        *met <= REPEATED_PRINTED || self.context.printer.verbosity > Verbosity::Normal
    }

    fn print_repeated(&self) {
        let printer = &self.context.printer;
        if printer.json || printer.verbosity > Verbosity::Normal {
            return;
        }
        for (cause, met) in &self.repeated {
            if let Some(more @ 1..) = met.checked_sub(REPEATED_PRINTED) {
                printer.error(&format!("{more} more {cause}; `-v` names each"));
            }
        }
    }

    /// Reports texts that did not resolve to an item.
    pub(crate) fn unresolved(&mut self) -> ControlFlow<()> {
        let mut found = self.context.take_unresolved().into_iter();
        found.try_for_each(|(text, failure)| self.failed(&text, failure))
    }

    /// Reports listed items that were left out because they have no payload.
    fn tell_left_out(&mut self) -> Done {
        let (printer, left_out) = (&self.context.printer, self.context.take_left_out());
        let count = left_out.len() as u64;
        let most = match printer.verbosity {
            Verbosity::Verbose => u64::MAX,
            Verbosity::Quiet | Verbosity::Normal => REPEATED_PRINTED,
        };
        for (number, (name, state)) in (0..).zip(left_out) {
            if printer.json {
                let state = Some(state.to_string());
                let dry_run = self.is_dry();
                printer.record(&Item { state, dry_run, ..Item::became(&name, Did::LeftOut) })?;
            } else if number < most {
                let why = if state == State::Deleted { "is deleted" } else { "is elsewhere" };
                printer.note(&format!("{name} {why}, and left out"));
            }
        }
        if !printer.json && count > most {
            printer.note(&format!("{} more are left out; `-v` names each", count - most));
        }
        if count > 0 {
            *self.summary.counts.skipped.get_or_insert_default() += count;
        }
        Ok(())
    }

    /// Ends the run with a failure outside items.
    pub(crate) fn fatal(&mut self, failure: Failure) {
        self.fatal.get_or_insert(failure);
    }

    /// The same after what was changed already.
    pub(crate) fn fatal_after(&mut self, failure: impl Into<Failure>) {
        let done = if self.is_dry() { 0 } else { self.summary.counts.items };
        let (items, were) = (human::count(done, "item"), human::was_or_were(done));
        let before = format!("{items} {were} {} before it", self.asked.participle());
        let failure = failure.into();
        self.fatal(if done == 0 { failure } else { failure.caused_by(before) });
    }

    /// Adds a cause to the failure of the single requested item.
    pub(crate) fn caused_by(&mut self, cause: &str) {
        self.only_error = self.only_error.take().map(|failure| failure.caused_by(cause));
    }

    /// The results of resolving `texts`. Those without a result have failed.
    pub(crate) fn resolve<T>(
        &mut self,
        texts: &[String],
        mut find: impl FnMut(&str) -> Result<T, Failure>,
    ) -> Vec<T> {
        let mut resolved = Vec::new();
        for text in texts {
            match find(text) {
                Ok(found) => resolved.push(found),
                Err(failure) => {
                    if self.failed(text, failure).is_break() {
                        break;
                    }
                }
            }
        }
        resolved
    }

    /// The items of `selection` that `find` finds, whole identifiers looked up as well. The others have failed.
    pub(crate) fn look_up(
        &mut self,
        selection: &Selection,
        find: impl Fn(&str) -> Result<RepositoryName, Failure> + Copy + Send,
    ) -> Result<Vec<RepositoryName>, Failure> {
        let (context, mut names) = (self.context, Vec::new());
        selection.named(context, find)?.into_feed()(&mut |name| {
            match find(name.as_str()) {
                Ok(name) => names.push(name),
                Err(failure) => return self.failed(name.as_str(), failure),
            }
            context.interrupt.flow()
        })?;
        let _ = self.unresolved();
        Ok(names)
    }

    /// The outcome of items whose change the disk did not confirm.
    fn without_confirmation(&self) -> String {
        let unconfirmed = self.unconfirmed();
        let (were, them) = (human::was_or_were(unconfirmed), human::it_or_them(unconfirmed));
        format!("{were} {}, but the disk did not confirm {them}", self.asked.participle())
    }

    /// Ends the run: the summary record with `--json`, else the closing line.
    pub(crate) fn finish(mut self, end: End) -> Done {
        let _ = self.unresolved();
        let told = self.tell_left_out();
        let _ = self.written(told);
        self.print_repeated();
        if let more @ 1.. = self.lines.saturating_sub(MOST_LINES)
            && self.context.printer.stdout_is_terminal()
            && self.context.printer.verbosity == Verbosity::Normal
            && !self.context.printer.json
        {
            let _ = self.context.printer.line(&human::and_more(more));
        }
        let (printer, unconfirmed) = (&self.context.printer, self.unconfirmed());
        // The commands count those that the disk has confirmed.
        self.summary.counts.items += unconfirmed;
        let changes = self.did.iter().filter(|(did, _)| did.is_change());
        let changes = changes.map(|(did, [items, ..])| (did.word().to_owned(), *items));
        self.summary.counts.others.extend(changes);
        let asked = self.asked.participle();
        let counts = &self.summary.counts;
        let all = counts.items + counts.failed + counts.skipped.unwrap_or_default();
        let interrupted = self.context.interrupt.requested().then(|| {
            let done = || match self.changes() {
                none if none.is_empty() => {
                    format!("{} {asked}", human::count(counts.items, "item"))
                }
                changes => changes.join("; "),
            };
            let mut message = format!("interrupted; {} so far", end.done.unwrap_or_else(done));
            if !self.is_single && counts.failed > 0 {
                let _ = write!(message, ", {} failed", counts.failed);
            }
            let left = || self.context.total().map(|total| total.saturating_sub(all));
            if let Some(left @ 1..) = end.left.or_else(left).filter(|_| !self.is_single) {
                let _ = write!(message, ", {left} not reached");
            }
            let failure = Failure::new(Exit::Interrupted, message);
            match end.hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        });
        let some_failed = || {
            let items = human::count(all, "item");
            let could = if self.is_dry() { "cannot" } else { "could not" };
            let message = match (counts.failed, unconfirmed) {
                (0, _) => format!("{unconfirmed} of {items} {}", self.without_confirmation()),
                (failed, 0) => format!("{failed} of {items} {could} be {asked}"),
                (failed, _) => format!(
                    "{failed} of {items} {could} be {asked}, {unconfirmed} {}",
                    self.without_confirmation()
                ),
            };
            // Then nothing was done but waiting.
            let is_locked = self.locked > 0 && self.locked == all;
            Failure::new(if is_locked { Exit::Locked } else { Exit::Partial }, message)
                .hint(end.failed_hint.unwrap_or("each is named above, with its reason"))
        };
        let partial = end.partial.or_else(|| (self.errors() > 0).then(some_failed));
        if let Some(damage) = end.damage.as_ref().filter(|_| interrupted.is_some() && !printer.json)
        {
            // A stop is the last word, and not the only one.
            printer.failure(damage);
        }
        let closing =
            if end.is_silent { None } else { end.closing.or_else(|| self.closing(end.besides)) };
        let failure = interrupted.or(end.damage).or(self.fatal).or(self.only_error).or(partial);
        if printer.json {
            let missing = self.context.missing();
            if !missing.is_empty() {
                self.summary.missing.get_or_insert(missing);
            }
            self.summary.exit_code = failure.as_ref().map_or(Exit::Success, |it| it.exit).code();
            printer.record(&self.summary)?;
        } else if failure.as_ref().is_none_or(|failure| failure.exit == Exit::Partial)
            && let Some(closing) = closing
        {
            printer.note(&closing);
        }
        failure.map_or(Ok(()), Err)
    }
}

/// Does `act` with the single item `text`, which ends with its own failure.
pub(crate) fn for_one(context: &Context, text: &str, act: impl FnOnce() -> Done) -> Done {
    let done = act();
    let mut report = Report::reading(context, Did::Sound, true);
    let _ = match done {
        Ok(()) => report.unresolved(),
        Err(failure) => report.failed(text, failure),
    };
    if report.is_without_failure() { Ok(()) } else { report.finish(End::default()) }
}

/// Does `act` with each of `items`. A single item ends with its own failure.
pub(crate) fn for_each(
    context: &Context,
    items: &[String],
    mut act: impl FnMut(&str) -> Done,
) -> Done {
    if let [only] = items {
        return for_one(context, only, || act(only));
    }
    let mut report = Report::reading(context, Did::Sound, false);
    report.summary.counts.items = report.resolve(items, |item| act(item)).len() as u64;
    report.finish(End::default())
}

/// Reports the failure of a run, if any, and returns its exit code.
pub(crate) fn conclude(done: Done, printer: &Printer) -> Exit {
    let failure = match (done, printer.lost()) {
        (Ok(()), None) => return Exit::Success,
        (Err(failure), None) => failure,
        (Err(failure), Some(_)) if failure.exit == Exit::Interrupted => failure,
        // As `head` expects of earlier programs in a pipeline.
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
