//! `urepo recover --accept-loss`: correct the ledger by the items.

use urepo::clock::Clock as _;
use urepo::collection::{Actual, Collection, Corrected, Correction};
use urepo::identity::{Instant, SECOND};

use crate::cli::confirm::confirm_listed;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::failure::Failure;
use crate::cli::records::{Finding, Item};
use crate::cli::{Done, human};

/// Corrects the ledger. Of what is lost, and of items that do not follow their lines, a person is asked apart.
pub(super) fn correct(context: &Context, collection: &Collection) -> Result<Corrected, Failure> {
    let waiter = context.waiter();
    let mut planned = planned(collection)?;
    planned.added.retain(|it| !matches!(it.is, Actual::Foreign { .. }));
    let corrected = collection.correct_ledger(&planned, &context.agent, &waiter)?;
    report_all(context, collection, &corrected)?;
    Ok(corrected)
}

/// The corrections without what is missing: whether that is lost is for the table of remedies.
fn planned(collection: &Collection) -> Result<Corrected, Failure> {
    let mut planned = collection.ledger_corrections()?;
    planned.added.retain(|it| it.is != Actual::Lost);
    Ok(planned)
}

/// Records items above lines that they do not follow, after a person agreed: they may have been copied in by hand.
pub(super) fn take_in(
    context: &Context,
    collection: &Collection,
    foreign: Vec<Correction>,
    yes: bool,
) -> Done {
    if foreign.is_empty() {
        return Ok(());
    }
    let lines = foreign.iter().map(|correction| format!("to be {}", line(correction)));
    let items = human::count(foreign.len() as u64, "item");
    let question = format!("record {items} that did not come here by urepo?");
    confirm_listed(context, yes, lines, &question)?;
    let planned = Corrected { added: foreign, ..Corrected::default() };
    let corrected = collection.correct_ledger(&planned, &context.agent, &context.waiter())?;
    report_all(context, collection, &corrected)
}

/// The items about which [`take_in`] asks.
pub(super) fn foreign(collection: &Collection) -> Result<Vec<Correction>, Failure> {
    let mut added = collection.ledger_corrections()?.added;
    added.retain(|it| matches!(it.is, Actual::Foreign { .. }));
    Ok(added)
}

/// Reports them, and if `lacking` the items whose lines the ledger lacks, which a run records without a question. Returns their
/// number.
pub(super) fn tell_added(
    context: &Context,
    collection: &Collection,
    lacking: bool,
) -> Result<u64, Failure> {
    let mut added = collection.ledger_corrections()?.added;
    let is_lacking = |it: &Correction| lacking && it.was.is_none() && it.is != Actual::Lost;
    added.retain(|it| matches!(it.is, Actual::Foreign { .. }) || is_lacking(it));
    let number = added.len() as u64;
    report_all(context, collection, &Corrected { added, ..Corrected::default() })?;
    Ok(number)
}

/// Reports the corrections of a dry run.
pub(super) fn tell_plan(context: &Context, collection: &Collection) -> Done {
    report_all(context, collection, &planned(collection)?)
}

/// What `--restored` accepts of a ledger that was put back: the items whose lines the tree proves.
pub(super) fn restored(collection: &Collection) -> Result<(Corrected, Option<Instant>), Failure> {
    let mut planned = planned(collection)?;
    planned.added.retain(|it| it.was.is_none() && !matches!(it.is, Actual::Foreign { .. }));
    planned.damaged = 0;
    Ok((planned, collection.last_event_date()?))
}

/// Reports that, done or planned.
pub(super) fn tell_restored(
    context: &Context,
    collection: &Collection,
    (accepted, since): &(Corrected, Option<Instant>),
    is_alone: bool,
) -> Done {
    report_all(context, collection, accepted)?;
    if accepted.is_put_back && is_alone {
        let since = since.map_or("its beginning".to_owned(), |date| date.to_string());
        let now = context.clock.now().floor(SECOND);
        context.printer.note(&format!(
            "nothing here can tell what is missing between {since} and {now}; `--with MIRROR` can, as far as it has \
             Copies"
        ));
    }
    Ok(())
}

/// Reports the items above lines that they do not follow, which stay as they are. Nobody was asked.
pub(super) fn leave(context: &Context, foreign: &[Correction]) -> u64 {
    for correction in foreign {
        let line = line(correction);
        context.printer.warning(&format!("not recorded, because nothing proves it: {line}"));
    }
    foreign.len() as u64
}

/// The last line of a run.
pub(super) fn closing(corrected: &Corrected) -> String {
    let items = human::count(corrected.added.len() as u64, "item");
    let lines = human::count(corrected.damaged, "damaged line");
    match (corrected.added.len(), corrected.damaged) {
        (0, 0) if corrected.is_put_back => "accepted the ledger as it is".to_owned(),
        (0, 0) => "no line of the ledger was corrected".to_owned(),
        (0, _) => format!("accepted {lines} of the ledger"),
        (_, 0) => format!("corrected the ledger for {items}"),
        _ => format!("corrected the ledger for {items}, and accepted {lines}"),
    }
}

fn report_all(context: &Context, collection: &Collection, corrected: &Corrected) -> Done {
    let Corrected { added, damaged, is_put_back } = corrected;
    added.iter().try_for_each(|correction| tell(context, collection, correction))?;
    let put_back = is_put_back.then(|| "a ledger that was shortened or put back".to_owned());
    let gap = (*damaged > 0).then(|| human::count(*damaged, "damaged line"));
    let gap = gap.map(|lines| format!("{lines} of the ledger"));
    let verb = Did::Accepted.verb(context.global.dry_run);
    put_back.into_iter().chain(gap).try_for_each(|what| {
        let message = format!("{verb} {what}");
        if !context.printer.json {
            return context.printer.line(&message);
        }
        context.printer.record(&Finding {
            kind: Some("ledger"),
            severity: "notice".to_owned(),
            message,
            dry_run: context.global.dry_run,
            ..Finding::default()
        })
    })
}

fn tell(context: &Context, collection: &Collection, correction: &Correction) -> Done {
    let is_dry = context.global.dry_run;
    if !context.printer.json {
        let would = if is_dry { "would be " } else { "" };
        return context.printer.line(&format!("{would}{}", line(correction)));
    }
    let Correction { name, was, is } = correction;
    let (did, state) = match is {
        Actual::Lost => (Did::GivenUp, None),
        Actual::Unreadable => (Did::Recorded, None),
        Actual::Here(here) if was.is_none() => (Did::Recorded, Some(here.state)),
        Actual::Foreign { to, .. } => (Did::Recorded, Some(to.state)),
        Actual::Here(here) => (Did::LineCorrected, Some(here.state)),
    };
    context.printer.record(&Item {
        state: state.as_ref().map(ToString::to_string),
        did: Some(did),
        was: was.as_ref().map(ToString::to_string),
        dry_run: is_dry,
        ..Item::named(collection, name)
    })
}

fn line(Correction { name, was, is }: &Correction) -> String {
    match (is, was) {
        (Actual::Lost, Some(was)) => format!("given up: {name}, was {was}"),
        (Actual::Lost, None) => format!("given up: {name}"),
        (Actual::Unreadable, _) => format!("taken in: {name}"),
        (Actual::Here(here), None) => format!("taken in: {name}, {}", here.state),
        (Actual::Foreign { from: Some(from), to }, _) => {
            let (was, is) = (from.state, to.state);
            format!("taken in: {name}, from {was} of {} to {is} of {}", from.changed, to.changed)
        }
        (Actual::Foreign { from: None, to }, _) => format!("taken in: {name}, {}", to.state),
        (Actual::Here(here), Some(was)) => format!("changed: {name}, was {was}, is {}", here.state),
    }
}
