//! The report of an item that was deleted or restored, also in a dry run.

use urepo::removal::{Plan, Restored, Step};

use crate::cli::explain::removal::copied_from_trash;
use crate::cli::human;
use crate::cli::records::{Item, PathAt, path};
use crate::cli::shell;

/// The report of an item that did not fail.
pub(in super::super) struct ItemReport {
    /// The text of a run, then that of a dry run.
    pub(super) done: String,
    pub(super) planned: String,
    /// More, with `--verbose`.
    pub(super) detail: String,
    pub(super) record: Item<'static>,
}

impl ItemReport {
    pub(in super::super) fn of_plan(plan: &Plan<'_>) -> ItemReport {
        let Plan { name, files, bytes, .. } = plan;
        let size = human::size(*files, *bytes);
        let (outcome, after) = match plan.step {
            Step::Delete => ("deleted", ", leaving a tombstone"),
            Step::Drop => ("removed", ", leaving a stub"),
            Step::Repeat => ("deleted", ", whose deletion a backup had undone"),
            Step::Clear => ("finished", ", which has a tombstone already"),
        };
        let detail = match plan.proven_by {
            Some(holding) => {
                let path = holding.collection.path().display();
                format!("  {size}; `{path}` has the same files, as {}", holding.state)
            }
            None => format!("  {size}; no other collection was asked"),
        };
        let proven_by =
            plan.proven_by.map(|holding| PathAt::new("proven_by", holding.collection.path()));
        let record = Item {
            files: Some(*files),
            bytes: Some(*bytes),
            proven_by,
            ..Item::became(name, outcome)
        };
        ItemReport {
            done: shell::pasted(&format!(
                "deleted {name}; its files are in the trash until `urepo purge`"
            )),
            planned: format!("would delete {name}: {size}{after}"),
            detail,
            record,
        }
    }

    pub(in super::super) fn of_restored(restored: &Restored) -> ItemReport {
        let Restored { name, state, was_here, kept, differing, files, bytes } = restored;
        let size = human::size(*files, *bytes);
        let (done, planned, outcome) = if *was_here {
            let kept = copied_from_trash(kept).map(|hint| format!("; {hint}"));
            let here = format!("{name} is already here as {state}{}", kept.unwrap_or_default());
            (here.clone(), here, "skipped")
        } else {
            let others =
                copied_from_trash(kept).map(|hint| format!("; it is the newest one, and {hint}"));
            let mut others = others.unwrap_or_default();
            if !differing.is_empty() {
                let keys = differing.join(", ");
                others = format!(", as it was deleted: its tombstone had another {keys}{others}");
            }
            let planned = format!("would restore {name} as {state}: {size}{others}");
            (format!("restored {name} as {state}{others}"), planned, "restored")
        };
        let record = Item {
            state: Some(state.to_string()),
            files: Some(*files),
            bytes: Some(*bytes),
            kept: kept.iter().map(|kept| path(kept)).collect(),
            ..Item::became(name, outcome)
        };
        ItemReport { done, planned, detail: format!("  {size}"), record }
    }
}
