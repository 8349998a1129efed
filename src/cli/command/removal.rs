//! The parts that `delete`, `restore` and `purge` share.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use urepo::collection::Collection;
use urepo::identity::RepositoryName;
use urepo::progress::Progress;
use urepo::removal::{
    self, DamageRule, Finished, IntentKind, Pending, RemovalError, Remover, Restoration,
    has_pending, pending,
};

use crate::cli::confirm::confirm_listed;
use crate::cli::context::Context;
use crate::cli::explain::Explain as _;
use crate::cli::failure::Failure;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::{Done, human};

mod report;

pub(super) use report::ItemReport;

/// The items that `selection` names, in place or in the trash, each once; `None` without names.
pub(super) fn named(
    collection: &Collection,
    selection: &Selection,
    report: &mut Report<'_>,
) -> Result<Option<Vec<RepositoryName>>, Failure> {
    let find = |text: &str| Ok(collection.find_with_trash(text)?);
    selection.names_items().then(|| report.look_up(selection, find)).transpose()
}

/// A run of `delete` or `restore`.
pub(super) struct RemovalRun<'a> {
    pub(super) context: &'a Context,
    pub(super) collection: &'a Collection,
    pub(super) yes: bool,
    /// The verb, and its participle.
    pub(super) verb: (&'static str, &'static str),
}

/// Takes the outcome of an item, and says whether to go on.
type Note<'n> =
    dyn FnMut(&RepositoryName, Result<ItemReport, RemovalError>) -> ControlFlow<()> + 'n;

impl RemovalRun<'_> {
    /// Makes a plan for each of `names` in a dry run, or asks, and lets `act` change them.
    pub(super) fn carry_out(
        &self,
        names: &[RepositoryName],
        mut report: Report<'_>,
        plan: impl Fn(&RepositoryName, &dyn Progress) -> Result<ItemReport, RemovalError>,
        act: impl FnOnce(&Remover<'_>, &mut Note<'_>) -> Result<(), RemovalError>,
    ) -> Done {
        let RemovalRun { context, collection, yes, verb: (verb, done) } = *self;
        let items = human::count(names.len() as u64, "item");
        if context.global.dry_run || names.is_empty() {
            let progress = context.progress();
            let plan = |name| note(context, &mut report, name, plan(name, &*progress));
            let _ = names.iter().try_for_each(plan);
        } else {
            if !report.is_single() {
                let lines = names.iter().map(|name| format!("to be {done}: {name}"));
                confirm_listed(context, yes, lines, &format!("{verb} {items}?"))?;
            }
            let progress = context.progress();
            let writer = collection.writer_to_delete(&context.agent, &context.waiter())?;
            let remover = Remover { collection, writer, caller: context.caller(&*progress) };
            act(&remover, &mut |name, outcome| note(context, &mut report, name, outcome))?;
            remover.writer.finish()?;
        }
        let changed = report.summary.counts.items;
        let closing = match changed {
            0 if names.is_empty() && report.errors() == 0 => {
                Some(format!("there is nothing to {verb}"))
            }
            0 => None,
            _ if report.is_single() => None,
            _ if report.is_dry() => Some(format!("would {verb} {}", human::count(changed, "item"))),
            _ => Some(format!("{done} {}", human::count(changed, "item"))),
        };
        report.finish(End { closing, ..End::default() })
    }
}

/// Reports the outcome of an item. The run goes on unless that ends it.
fn note(
    context: &Context,
    report: &mut Report<'_>,
    name: &RepositoryName,
    outcome: Result<ItemReport, RemovalError>,
) -> ControlFlow<()> {
    match outcome {
        Err(error) => report.failed(name.as_str(), error.into()),
        Ok(ItemReport { done, planned, detail, record }) => {
            let flow = if record.outcome == Some("skipped") {
                report.unchanged(record, &done)
            } else {
                report.outcome(record, &planned, &done)
            };
            if !context.printer.json {
                context.printer.detail(&detail);
            }
            flow
        }
    }
}

/// Finishes interrupted deletions and restorations, or lists them in a dry run. Warns once about items that
/// could not be finished, unless the command fails with them: `is_reported`. Call it before a selection, so
/// that finished items are selected by their new state.
pub(super) fn finish_removals(
    context: &Context,
    collection: &Collection,
    is_reported: impl Fn(&RemovalError) -> bool,
) -> Result<Finished, Failure> {
    if !has_pending(collection)? {
        return Ok(Finished::default());
    }
    let others = context.known_besides(collection, &[])?;
    // `--force` applies to the items that a command names.
    let restoration = Restoration { others: &others.collections, damage: DamageRule::Refuse };
    let progress = context.progress();
    let (finished, act) = if context.global.dry_run {
        let (items, failed) = pending(collection)?;
        (Finished { items, failed, at_work: 0 }, "would finish")
    } else {
        let caller = context.caller(&*progress);
        (removal::finish_pending(collection, &restoration, &caller)?, "finished")
    };
    drop(progress);
    for item in finished.items.iter().filter(|item| !item.is_at_work) {
        context.printer.note(&format!("{act} {}", described(item)));
    }
    // Each of the two runs that may have left an item fails with it.
    let failed = finished.failed.iter().filter(|error| !is_reported(error));
    for text in failed.map(|error| error.explain().in_one_line()).collect::<BTreeSet<_>>() {
        context.printer.warning(&text);
    }
    Ok(finished)
}

/// Whether a command fails with an interrupted removal because `selection` names no items.
pub(super) fn is_reported_with(
    context: &Context,
    selection: &Selection,
) -> impl Fn(&RemovalError) -> bool {
    let is_listing = !selection.names_items() && selection.flags.state.is_none();
    let among = is_listing.then(|| selection.filter(context));
    move |error| match (error, &among) {
        (RemovalError::Unfinished { name }, Some(among)) => among.contains(name),
        (RemovalError::Intent { .. }, among) => among.is_some(),
        _ => false,
    }
}

/// The work of an interrupted run on an item, as a noun.
pub(super) fn described(pending: &Pending) -> String {
    let kind = match pending.kind {
        IntentKind::Restoration => "restoration",
        IntentKind::Deletion => "deletion",
    };
    format!("the {kind} of {}", pending.name)
}

/// The items that interrupted runs have left between two states, and that could not be finished. An item that
/// cannot be read is a failure of the run.
pub(super) fn unfinished(
    collection: &Collection,
    report: &mut Report<'_>,
) -> Result<Vec<Pending>, Failure> {
    let (items, failed) = pending(collection)?;
    for error in failed {
        let _ = report.failed("", error.into());
    }
    Ok(items.into_iter().filter(|item| !item.is_at_work).collect())
}
