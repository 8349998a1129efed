//! `urepo recover`: what it leaves to other commands.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use urepo::collection::{Collection, Discrepancy, Names};
use urepo::holdings::{Holding, HoldingRecord, Report, Standing, Survey};
use urepo::identity::RepositoryName;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::in_sight::InSight;

/// Reports the remedies of what is damaged, behind or ceded in `collection`, by its ledger, `others` and the collections of the settings, but for the items
/// `planned`. Returns the number of these items.
pub(super) fn report(
    context: &Context,
    collection: &Collection,
    others: &[Collection],
    planned: &[RepositoryName],
) -> Result<u64, Failure> {
    let known = context.reachable();
    let own = context.collection()?;
    let mut all = vec![own];
    for other in others {
        all.push(context.open(other.path())?);
    }
    let is_new = |it: &&Collection| all.iter().all(|known| known.id() != it.id());
    let neighbours: Vec<_> = known.collections.iter().filter(is_new).collect();
    let at_odds: Vec<_> = all.iter().chain(neighbours.iter().copied()).collect();
    let at_odds = items_at_odds(context, &at_odds)?;
    let left = at_odds.into_iter().filter(|name| !planned.contains(name));
    let left: BTreeMap<_, _> = left.map(|name| (name, Vec::new())).collect();
    let in_sight = InSight::of_all(
        context,
        Some(collection.id().to_owned()),
        all.iter().chain(neighbours),
        &known.missing_names,
    );
    in_sight.report(&left)?;
    Ok(left.len() as u64)
}

/// The items of the first of `collections` that are damaged, missing, behind or ceded there, by its ledger and by the others.
pub(super) fn items_at_odds(
    context: &Context,
    collections: &[&Collection],
) -> Result<BTreeSet<RepositoryName>, Failure> {
    let (names, mut found) = (Names::default(), BTreeSet::new());
    let survey = Survey {
        collections,
        names: &names,
        jobs: context.config.jobs.value,
        interrupt: &context.interrupt,
    };
    let _ = survey.run(|report| {
        if let Report::Item(item) = report {
            let is_odd = |it: &Holding| {
                let is_ceded = |it: &HoldingRecord| it.rule.custody.ceded().is_some();
                matches!(it.standing, Standing::Behind | Standing::Fork | Standing::Damaged)
                    || it.record.as_ref().is_ok_and(is_ceded)
            };
            let here = item.all.iter().find(|holding| holding.collection == 0);
            let is_missed = item.all.iter().any(|holding| holding.relies_on == Some(0));
            if is_missed || here.is_some_and(is_odd) {
                found.insert(item.name);
            }
        }
        ControlFlow::Continue(())
    })?;
    if let [first, ..] = collections {
        missing(first, &mut found)?;
    }
    Ok(found)
}

/// Adds the items that are missing in `collection`, or were given up there and are back.
pub(super) fn missing(
    collection: &Collection,
    found: &mut BTreeSet<RepositoryName>,
) -> Result<(), Failure> {
    let _ = collection.visit_discrepancies(&Names::default(), |discrepancy| {
        if let Discrepancy::Missing(name, ..) | Discrepancy::Returned(name, _) = discrepancy {
            found.insert(name);
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}
