//! The parts that `delete`, `restore` and `purge` share.

use std::ops::ControlFlow;

use urepo::collection::{Collection, CollectionError};
use urepo::identity::RepositoryName;
use urepo::progress::Progress;
use urepo::removal::{RemovalError, Remover};

use crate::cli::confirm::confirm_listed;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::failure::Failure;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::{Done, human};

mod report;

pub(super) use report::ItemReport;

/// The items that `selection` names, each once; `None` without names.
pub(super) fn named(
    collection: &Collection,
    selection: &Selection,
    report: &mut Report<'_>,
) -> Result<Option<Vec<RepositoryName>>, Failure> {
    let find = |text: &str| match collection.find(text) {
        Ok(item) => Ok(item.name().clone()),
        // Its files may lie in the trash, from where no command restores them.
        Err(CollectionError::GivenUp { line, path }) => {
            let kept = collection.kept_in_trash(&line.id)?;
            let absence = Box::new(CollectionError::GivenUp { line, path });
            Err(RemovalError::NotDeleted { absence, kept }.into())
        }
        Err(error) => Err(error.into()),
    };
    selection.names_items().then(|| report.look_up(selection, find)).transpose()
}

/// A run of `delete` or `restore`.
pub(super) struct RemovalRun<'a> {
    pub(super) context: &'a Context,
    pub(super) collection: &'a Collection,
    /// Whether several items need no answer.
    pub(super) yes: bool,
    pub(super) asked: Did,
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
        act: impl FnOnce(&Remover<'_>, &mut Note<'_>),
    ) -> Done {
        let RemovalRun { context, collection, yes, asked } = *self;
        let items = human::count(names.len() as u64, "item");
        if context.global.dry_run || names.is_empty() {
            let progress = context.progress();
            let plan = |name| note(context, &mut report, name, plan(name, &*progress));
            let _ = names.iter().try_for_each(plan);
        } else {
            if !report.is_single() {
                let done = asked.participle();
                let lines = names.iter().map(|name| format!("to be {done}: {name}"));
                confirm_listed(context, yes, lines, &format!("{} {items}?", asked.present()))?;
            }
            let progress = context.progress();
            context.check_twins(collection)?;
            context.check_ledger(collection)?;
            let writer = collection.writer_to_delete(&context.agent, &context.waiter())?;
            let remover = Remover { collection, writer, caller: context.caller(&*progress) };
            act(&remover, &mut |name, outcome| note(context, &mut report, name, outcome));
            remover.finish()?;
        }
        report.finish(End::default())
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
            let flow = if record.did == Some(Did::Unchanged) {
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
