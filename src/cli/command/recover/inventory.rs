//! `urepo recover --inventory`: correct the inventory by the items.

use urepo::collection::{Collection, Corrected, Correction, InventoryChange, RottenLine};

use crate::cli::confirm::confirm_listed;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::records::{self, InventoryLine, Item};
use crate::cli::{Done, escape, human};

/// Corrects the inventory, after a person agreed to give up missing items.
pub(super) fn correct(
    context: &Context,
    collection: &Collection,
    yes: bool,
) -> Result<Corrected, Failure> {
    let waiter = context.waiter();
    collection.rebuild(&context.agent, &waiter)?;
    let planned = collection.inventory_corrections()?;
    let gone = planned.added.iter().filter(|it| is_gone(it)).count() as u64;
    if gone > 0 {
        let given_up = planned.added.iter().filter(|it| is_gone(it));
        let lines = given_up.map(|correction| format!("to be {}", line(correction)));
        let items = human::count(gone, "item");
        let them = if gone == 1 { "it" } else { "them" };
        let question = format!(
            "give up {items} that should be here? `urepo verify` then stops reporting {them}"
        );
        confirm_listed(context, yes, lines, &question)?;
    }
    let corrected = collection.correct_inventory(&planned.added, &context.agent, &waiter)?;
    report_all(context, collection, &corrected)?;
    Ok(corrected)
}

/// Reports the corrections of a dry run.
pub(super) fn tell_plan(context: &Context, collection: &Collection) -> Done {
    report_all(context, collection, &collection.inventory_corrections()?)
}

/// The last line of a run.
pub(super) fn closing(corrected: &Corrected) -> String {
    let count = |count: usize, what| human::count(count as u64, what);
    let items = format!("corrected the inventory for {}", count(corrected.added.len(), "item"));
    let lines =
        format!("removed {} of the inventory", count(corrected.removed.len(), "damaged line"));
    match (corrected.added.len(), corrected.removed.len()) {
        (0, 0) if !corrected.kept.is_empty() => {
            "nothing else of the inventory needs correcting".to_owned()
        }
        (0, 0) => "the inventory agrees with the items".to_owned(),
        (0, _) => lines,
        (_, 0) => items,
        _ => format!("{items}, and {lines}"),
    }
}

fn report_all(context: &Context, collection: &Collection, corrected: &Corrected) -> Done {
    let Corrected { added, removed, kept } = corrected;
    added.iter().try_for_each(|correction| tell(context, collection, correction))?;
    removed.iter().try_for_each(|line| tell_damaged(context, line, "removed"))?;
    kept.iter().try_for_each(|line| tell_damaged(context, line, "kept"))
}

fn tell_damaged(context: &Context, line: &RottenLine, outcome: &'static str) -> Done {
    let RottenLine { path, text } = line;
    let is_dry = context.global.dry_run;
    let text = String::from_utf8_lossy(text);
    if context.printer.json {
        return context.printer.record(&InventoryLine {
            text: text.into_owned(),
            outcome,
            dry_run: is_dry,
            path: records::path(path),
        });
    }
    let would = if is_dry { "would be " } else { "" };
    let text = escape::one_line(&text);
    context.printer.line(&format!("{would}{outcome}: damaged line of {}: {text}", path.display()))
}

fn is_gone(correction: &Correction) -> bool {
    matches!(correction.change, InventoryChange::Lost)
}

fn tell(context: &Context, collection: &Collection, correction: &Correction) -> Done {
    let is_dry = context.global.dry_run;
    if !context.printer.json {
        let would = if is_dry { "would be " } else { "" };
        return context.printer.line(&format!("{would}{}", line(correction)));
    }
    let Correction { name, was, change } = correction;
    let (outcome, state) = match change {
        InventoryChange::Lost => ("given_up", None),
        InventoryChange::Found(here) => ("recorded", here.as_ref().map(|here| here.state)),
        InventoryChange::Entered(here) | InventoryChange::Became(here) => {
            ("state_changed", Some(here.state))
        }
    };
    context.printer.record(&Item {
        state: state.as_ref().map(ToString::to_string),
        outcome: Some(outcome),
        was: was.as_ref().map(ToString::to_string),
        dry_run: is_dry,
        ..Item::named(collection, name)
    })
}

fn line(Correction { name, was, change }: &Correction) -> String {
    let was = was.as_ref().map_or("unknown".to_owned(), ToString::to_string);
    match change {
        InventoryChange::Lost => format!("given up: {name}, was {was}"),
        InventoryChange::Found(None) => format!("taken in: {name}"),
        InventoryChange::Found(Some(here)) => format!("taken in: {name}, {}", here.state),
        InventoryChange::Entered(here) | InventoryChange::Became(here) => {
            format!("changed: {name}, was {was}, is {}", here.state)
        }
    }
}
