//! `urepo recover`: what it leaves to other commands.

use std::collections::BTreeMap;

use urepo::collection::{Collection, Names};
use urepo::identity::RepositoryName;

use crate::cli::at_odds::items_at_odds;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::in_sight::InSight;
use crate::cli::report::Report;

/// Reports the remedies of what is damaged, behind or ceded in `collection`, by its ledger, `others` and the collections of the settings, but for the items
/// `planned`. Returns the number of these items, and of those that are damaged: a Copy that waits for the next `copy` is none.
pub(super) fn report(
    context: &Context,
    collection: &Collection,
    others: &[Collection],
    (planned, report): (&[RepositoryName], &mut Report<'_>),
) -> Result<(u64, u64), Failure> {
    let known = context.reachable();
    let own = context.collection()?;
    let mut all = vec![own];
    for other in others {
        all.push(context.open(other.path())?);
    }
    let is_new = |it: &&Collection| all.iter().all(|known| known.id() != it.id());
    let at_odds: Vec<_> = all.iter().chain(known.collections.iter().filter(is_new)).collect();
    let at_odds = items_at_odds(context, &at_odds, &Names::default())?;
    let left = at_odds.into_iter().filter(|name| !planned.contains(name));
    let left: BTreeMap<_, _> = left.map(|name| (name, Vec::new())).collect();
    let in_sight = InSight::of_all(
        context,
        Some(collection.id().to_owned()),
        all.iter().chain(known.roots()),
        &known.missing_names,
    );
    in_sight.steps(&left)?.iter().for_each(|step| context.printer.hint(step));
    let is_damaged =
        |name: &&RepositoryName| in_sight.remedies(name, &[]).iter().any(|it| it.is_damage);
    let damaged = left.keys().filter(is_damaged).count() as u64;
    // An unreadable place is an error of the run.
    let _ = report.unresolved();
    Ok((left.len() as u64, damaged))
}
