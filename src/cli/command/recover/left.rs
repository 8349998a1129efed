//! `urepo recover`: what it leaves to other commands.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use urepo::collection::{Collection, Discrepancy, Names};
use urepo::holdings::{Report, Standing, Survey};
use urepo::identity::RepositoryName;
use urepo::transfer::interrupted;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::in_sight::InSight;

/// Reports the remedies of what is damaged, behind or ceded in `collection`, by its ledger and by `others`, but for the items
/// `planned`. Returns the number of these items.
pub(super) fn report(
    context: &Context,
    collection: &Collection,
    others: &[Collection],
    planned: &[RepositoryName],
) -> Result<u64, Failure> {
    let known = context.reachable();
    let own = context.collection()?;
    let (mut all, names) = (vec![own], Names::default());
    for other in others {
        all.push(context.open(other.path())?);
    }
    let mut left = BTreeMap::new();
    let mut leave = |name: &RepositoryName| {
        if !planned.contains(name) {
            left.insert(name.clone(), Vec::new());
        }
    };
    interrupted(collection)?.items.iter().for_each(|open| leave(&open.name));
    let survey = Survey {
        collections: &all,
        names: &names,
        jobs: context.config.jobs.value,
        interrupt: &context.interrupt,
    };
    let _ = survey.run(|report| {
        if let Report::Item(item) = report {
            let is_odd =
                |it: Standing| matches!(it, Standing::Behind | Standing::Fork | Standing::Damaged);
            let here = item.all.iter().find(|holding| holding.collection == 0);
            let is_missed = item.all.iter().any(|holding| holding.relies_on == Some(0));
            if is_missed || here.is_some_and(|here| is_odd(here.standing)) {
                leave(&item.name);
            }
        }
        ControlFlow::Continue(())
    })?;
    let _ = collection.visit_discrepancies(&names, |found| {
        if let Discrepancy::Missing(name, ..) | Discrepancy::Returned(name, _) = found {
            leave(&name);
        }
        ControlFlow::Continue(())
    })?;
    let in_sight = InSight::of_all(
        context,
        Some(collection.id().to_owned()),
        all.iter().chain(&known.collections),
        &known.missing_names,
    );
    in_sight.report(&left)?;
    Ok(left.len() as u64)
}
