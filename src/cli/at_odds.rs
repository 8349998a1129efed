//! Items whose holding in one collection does not agree with its ledger, or with other collections.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use urepo::collection::{Collection, Discrepancy, Names};
use urepo::holdings::{HoldingRecord, JudgedHolding, Report, Standing, Survey};
use urepo::identity::RepositoryName;

use super::context::Context;
use super::failure::Failure;

/// Those of the items `names` that are damaged, missing, behind or ceded in the first of `collections`, by its
/// ledger and by the others. What cannot be read is noted in the context.
pub(crate) fn items_at_odds(
    context: &Context,
    collections: &[&Collection],
    names: &Names,
) -> Result<BTreeSet<RepositoryName>, Failure> {
    let mut found = BTreeSet::new();
    let survey = Survey {
        collections,
        names,
        jobs: context.config.jobs.value,
        interrupt: &context.interrupt,
    };
    let _ = survey.run(|report| {
        if let Report::Unlisted { error, .. } = &report {
            context.note_unread(error);
        }
        if let Report::Item(item) = report {
            let unread = item.all.iter().filter_map(|it| it.record.as_ref().err()?.disk());
            unread.for_each(|error| context.note_unread(error));
            let is_odd = |it: &JudgedHolding| {
                let is_ceded = |it: &HoldingRecord| it.rule.custody.ceded().is_some();
                matches!(it.standing, Standing::Behind | Standing::Fork | Standing::Damaged)
                    || it.record.as_ref().is_ok_and(is_ceded)
            };
            let here = item.all.iter().find(|holding| holding.collection == 0);
            let is_orphan = |it: &JudgedHolding| {
                collections.first().is_some_and(|own| it.is_missed_by(own.id()))
            };
            let is_missed = item.all.iter().any(|it| it.relies_on == Some(0) || is_orphan(it));
            if is_missed || here.is_some_and(is_odd) {
                found.insert(item.name);
            }
        }
        ControlFlow::Continue(())
    })?;
    if let [first, ..] = collections {
        missing(first, names, &mut found)?;
    }
    Ok(found)
}

/// Adds those of the items `names` that are missing in `collection`, or were given up there and are back.
pub(crate) fn missing(
    collection: &Collection,
    names: &Names,
    found: &mut BTreeSet<RepositoryName>,
) -> Result<(), Failure> {
    let _ = collection.visit_discrepancies(names, |discrepancy| {
        if let Discrepancy::Missing(name, ..) | Discrepancy::Returned(name, _) = discrepancy {
            found.insert(name);
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}
