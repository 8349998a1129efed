//! What `delete` and `restore` have in common.

use std::ffi::OsString;
use std::ops::ControlFlow;

use urepo::collection::Collection;
use urepo::identity::RepositoryName;
use urepo::progress::Progress;
use urepo::removal::{self, RemovalError, Remover};

use crate::cli::confirm::confirm;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::records::Item;
use crate::cli::report::{End, Report};
use crate::cli::select::{Failures, Selection};
use crate::cli::{Done, human};

mod told;

pub(super) use told::Told;

/// The items that `selection` names, in place or in the trash, each once; nothing if it is all that fit.
pub(super) fn named(
    context: &Context,
    collection: &Collection,
    selection: &Selection,
    report: &mut Report<'_>,
) -> Result<Option<Vec<RepositoryName>>, Failure> {
    if !selection.names_items() {
        return Ok(None);
    }
    let failures = Failures::default();
    let find = |text: &str| Ok(collection.find_with_trash(text)?);
    let failed = |text: &str, failure| report.failed(text, failure);
    let names = selection.looked_up(context, &failures, find, failed)?;
    let _ = report.unresolved(&failures);
    Ok(Some(names))
}

/// Asks whether to `act` on several items, `done` as a participle, and shows them before.
pub(super) fn confirm_all(
    context: &Context,
    yes: bool,
    (act, done): (&str, &str),
    names: &[RepositoryName],
) -> Done {
    if !yes {
        for name in names {
            context.printer.note(&format!("to be {done}: {name}"));
        }
    }
    let items = human::count(names.len() as u64, "item");
    confirm(context, yes, &format!("{act} {items}?"))
}

/// How a run ends that had nothing to `act` on.
pub(super) fn end_of_nothing(act: &str, names: &[RepositoryName], report: &Report<'_>) -> End {
    let is_nothing = names.is_empty() && report.errors() == 0;
    let closing = is_nothing.then(|| format!("there is nothing to {act}"));
    End { closing, ..End::default() }
}

/// Reports the outcome of an item. The run goes on unless that ends it.
pub(super) fn note(
    context: &Context,
    report: &mut Report<'_>,
    name: &RepositoryName,
    outcome: Result<Told, RemovalError>,
) -> ControlFlow<()> {
    match outcome {
        Err(error) => report.failed(name.as_str(), error.into()),
        Ok(Told { done, planned, detail, record }) => {
            let record = Item { dry_run: report.is_dry(), ..record };
            let flow = report.outcome(&record, &planned, &done);
            if record.outcome == Some("skipped") {
                report.summary.counts.items -= 1;
                *report.summary.counts.skipped.get_or_insert_default() += 1;
            }
            if !context.printer.json {
                context.printer.detail(&detail);
            }
            flow
        }
    }
}

/// The other collections that may hold the items, those at `extra` and those of the settings, and the names of
/// those that cannot be opened.
pub(super) fn others(
    context: &Context,
    collection: &Collection,
    extra: &[OsString],
) -> Result<(Vec<Collection>, Vec<String>), Failure> {
    let Known { collections: mut others, missing } = context.known(extra)?;
    others.retain(|other| other.id() != collection.id());
    Ok((others, missing.into_iter().map(|it| it.name).collect()))
}

/// Finishes what killed runs have left.
pub(super) fn finish_removals(context: &Context, collection: &Collection) -> Done {
    let finished = removal::finish_pending(collection, &context.agent, &context.waiter())?;
    for error in finished.failed {
        context.printer.warning(&Failure::from(error).in_one_line());
    }
    Ok(())
}

/// The right to delete and restore, once what killed runs have left is finished.
pub(super) fn remover<'a>(
    context: &'a Context,
    collection: &'a Collection,
    progress: &'a dyn Progress,
) -> Result<Remover<'a>, Failure> {
    finish_removals(context, collection)?;
    Ok(Remover {
        collection,
        writer: collection.writer_to_delete(&context.agent, &context.waiter())?,
        caller: context.caller(progress),
    })
}
