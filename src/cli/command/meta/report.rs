//! A run that changes descriptions of items: the question, the work and the report.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

use urepo::amend::{AmendError, Amender, Amendment, Plan};
use urepo::collection::{Collection, Writer};
use urepo::holdings::Sight;
use urepo::identity::RepositoryName;
use urepo::import::described::DescribedError;
use urepo::item::State;
use urepo::relation::Correction;
use urepo::sidecar::{KeyChange, Sidecar};

use crate::cli::command::relations::{At, tell_left};
use crate::cli::confirm::confirm;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::failure::Failure;
use crate::cli::records::{Changed, Item};
use crate::cli::report::{End, Report};
use crate::cli::select::{LIST, Selection};
use crate::cli::{Done, escape, human};

/// Limit on names in memory at a time.
const NAMES: usize = 4096;

/// Changes each item of a selection by what `amendment` says of it; `yes` answers the question beforehand.
pub(super) fn amend_selected<'c>(
    context: &Context,
    selection: &Selection,
    yes: bool,
    amendment: &dyn Fn(RepositoryName) -> Amendment<'c>,
) -> Done {
    let collection = context.collection()?;
    confirm_selected(context, selection, &collection, yes)?;
    let mut reporter = AmendReporter::new(context, selection.is_single());
    reporter.passes_others = !selection.names_items();
    let feed = selection.of(context, &collection)?.into_feed();
    let done = with_amender(context, &collection, selection.is_single(), |amender| {
        let mut names = Vec::new();
        let mut flow = ControlFlow::Continue(());
        let mut amend = |names: &mut Vec<RepositoryName>| {
            amender.amend_all(names.drain(..).map(amendment), &mut |name, result| {
                reporter.tell(name, result)
            })
        };
        feed(&mut |name| {
            names.push(name);
            if names.len() == NAMES {
                flow = amend(&mut names);
            }
            flow
        })?;
        if flow.is_continue() {
            let _ = amend(&mut names);
        }
        Ok(())
    });
    reporter.finish(done)
}

/// Changes each item of a selection in `home` by its correction, with the other ends of its relations.
pub(super) fn correct_each(
    context: &Context,
    selection: &Selection,
    (home, at): (&Collection, &At),
    correction: impl Fn(&Sidecar) -> Result<Correction, Failure>,
) -> Done {
    let mut left = Vec::new();
    let mut correct = |sidecar: Sidecar, planned, reporter: &mut AmendReporter<'_>| {
        let plan = at.carry_out(context, planned, &mut |name, it| reporter.tell(name, it))?;
        left.push((sidecar.repository, plan.left));
        Ok(())
    };
    let done = if selection.is_single() && selection.flags.state.is_none() {
        let (sidecar, _) = context.item(home, &selection.items[0])?.sidecar()?;
        let planned = at.plan(context, &correction(&sidecar)?)?;
        let mut reporter = AmendReporter::new(context, planned.plan.ends.len() == 1);
        let done = correct(sidecar, planned, &mut reporter);
        reporter.finish(done)
    } else {
        let mut reporter = AmendReporter::new(context, false);
        reporter.names_unchanged = selection.names_items();
        let feed = selection.of(context, home)?.into_feed();
        let fed = feed(&mut |name| {
            let mut change = || {
                let (sidecar, _) = home.named_item(&name)?.sidecar()?;
                if !selection.names_items() && sidecar.state != State::Original {
                    return Ok(());
                }
                let planned = at.plan(context, &correction(&sidecar)?)?;
                correct(sidecar, planned, &mut reporter)
            };
            match change() {
                Ok(()) => context.interrupt.flow(),
                Err(failure) => reporter.failed(&name, failure),
            }
        });
        reporter.finish(fed.map_err(Failure::from))
    };
    for (name, ends) in &left {
        for end in ends {
            tell_left(context, name, end);
        }
    }
    done
}

/// Asks before several items are changed; `yes` answers beforehand.
pub(super) fn confirm_selected(
    context: &Context,
    selection: &Selection,
    collection: &Collection,
    yes: bool,
) -> Done {
    if selection.is_single() || context.global.dry_run || yes {
        return Ok(());
    }
    if selection.names_items() {
        let items = if selection.items.iter().any(|it| it == LIST) {
            // The list can be read only once.
            "the listed items".to_owned()
        } else {
            human::count(selection.items.len() as u64, "item")
        };
        return confirm(context, yes, &format!("change {items}?"));
    }
    let mut originals = 0;
    let feed = selection.of(context, collection)?.into_feed();
    feed(&mut |name| {
        let read = collection.named_item(&name).and_then(|item| item.sidecar());
        originals += u64::from(read.is_ok_and(|(it, _)| it.state == State::Original));
        context.interrupt.flow()
    })?;
    let (originals, path) = (human::count(originals, "Original"), collection.path().display());
    confirm(context, yes, &format!("change {originals} in `{path}`?"))
}

/// Calls `work` with the right to change the descriptions of items, or of `is_one`; in a dry run, without it.
pub(in crate::cli::command) fn with_amender(
    context: &Context,
    collection: &Collection,
    is_one: bool,
    work: impl FnOnce(&Amender<'_>) -> Done,
) -> Done {
    let is_dry = context.global.dry_run;
    let writer = if is_dry { None } else { Some(context.writer_to_change(collection)?) };
    let progress = context.progress();
    let caller = context.caller(&*progress);
    let neighbours = context.neighbours(collection);
    let sight = &if is_one { Sight::of_one(&neighbours) } else { Sight::of_many(&neighbours) };
    let done = work(&Amender { collection, sight, writer: writer.as_ref(), locks: None, caller });
    context.tell_unseen(sight);
    let finished = writer.map_or(Ok(()), Writer::finish);
    done.and_then(|()| Ok(finished?))
}

/// Reports the outcomes for the descriptions of items.
pub(in crate::cli::command) struct AmendReporter<'a> {
    context: &'a Context,
    report: Report<'a>,
    /// Whether Copies and tombstones are skipped without failure, because they were not named.
    pub(in crate::cli::command) passes_others: bool,
    /// Whether an unchanged item gets a line.
    pub(in crate::cli::command) names_unchanged: bool,
    /// Fingerprints of items that changed, where one may change twice.
    pub(super) changed_items: Option<HashSet<u64>>,
}

impl<'a> AmendReporter<'a> {
    pub(in crate::cli::command) fn new(context: &'a Context, is_single: bool) -> AmendReporter<'a> {
        let report = Report::new(context, Did::Changed, is_single);
        AmendReporter {
            context,
            report,
            passes_others: false,
            names_unchanged: true,
            changed_items: None,
        }
    }

    /// Reports one item.
    pub(in crate::cli::command) fn tell(
        &mut self,
        name: &RepositoryName,
        result: Result<Plan, AmendError>,
    ) -> ControlFlow<()> {
        match result {
            Ok(plan) if plan.changes.is_empty() => self.unchanged(name),
            Ok(plan) => self.changed(&plan),
            Err(AmendError::Copy { .. } | AmendError::Deleted { .. }) if self.passes_others => {
                ControlFlow::Continue(())
            }
            Err(error) => self.report.failed(name.as_str(), error.into()),
        }
    }

    fn changed(&mut self, plan: &Plan) -> ControlFlow<()> {
        let name = &plan.name;
        let record = Item {
            changes: plan.changes.iter().map(Changed::of).collect(),
            ..Item::became(name, Did::Changed)
        };
        let changes: Vec<_> = plan.changes.iter().map(line).collect();
        let changes = format!(": {}", changes.join(", "));
        let flow = self.report.outcome(record, &changes, &changes);
        if let Some(items) = &mut self.changed_items {
            let mut hasher = DefaultHasher::new();
            name.folded().hash(&mut hasher);
            if !items.insert(hasher.finish()) {
                self.report.add_again(Did::Changed);
            }
        }
        flow
    }

    /// Reports an item that could not be changed.
    pub(super) fn failed(&mut self, name: &RepositoryName, failure: Failure) -> ControlFlow<()> {
        self.report.failed(name.as_str(), failure)
    }

    /// Reports an unchanged item.
    pub(super) fn unchanged(&mut self, name: &RepositoryName) -> ControlFlow<()> {
        let told = format!("{name} stays as it is");
        if self.names_unchanged || self.context.printer.json {
            return self.report.unchanged(Item::of(name), &told);
        }
        self.context.printer.detail(&told);
        self.report.add(Did::Unchanged, (0, 0));
        ControlFlow::Continue(())
    }

    /// Reports a row of the document `file` that changes nothing.
    pub(super) fn refused(
        &mut self,
        (file, line): (&str, Option<u64>),
        name: Option<&RepositoryName>,
        error: DescribedError,
    ) -> ControlFlow<()> {
        // The fault of a row of a table contains its line.
        let is_placed = matches!(error, DescribedError::Table(_));
        let mut failure = Failure::from(error);
        let place = line.filter(|_| !is_placed).map(|line| format!(", line {line}"));
        failure.message = format!("`{file}`{}: {}", place.unwrap_or_default(), failure.message);
        let id = name.map(ToString::to_string);
        self.report.failed_with(Item { id, line, ..Item::default() }, failure)
    }

    /// Ends the run.
    pub(in crate::cli::command) fn finish(self, done: Done) -> Done {
        self.finish_with(done, None)
    }

    /// The same with the failure that refused items are to the whole run.
    pub(super) fn finish_with(mut self, done: Done, partial: Option<Failure>) -> Done {
        if let Err(failure) = done {
            self.report.fatal(failure);
        }
        let _ = self.report.unresolved();
        self.report.finish(End { partial, ..End::default() })
    }
}

/// `title: "Anual" -> "Annual"`.
pub(in crate::cli::command) fn line(change: &KeyChange) -> String {
    let key = escape::one_line(short(&change.key));
    format!("{key}: {} -> {}", value(change.before.as_ref()), value(change.after.as_ref()))
}

/// `title "Annual"`.
pub(in crate::cli::command) fn present(change: &KeyChange) -> String {
    format!("{} {}", escape::one_line(short(&change.key)), value(change.after.as_ref()))
}

fn value(value: Option<&toml::Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        // TOML would spread a text over several lines.
        Some(toml::Value::String(text)) => {
            escape::one_line(&serde_json::Value::from(text.as_str()).to_string())
        }
        Some(other) => escape::one_line(&other.to_string()),
    }
}

/// The key in its typed form.
fn short(key: &str) -> &str {
    key.strip_prefix("metadata.").unwrap_or(key)
}
