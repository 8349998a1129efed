//! The report of an item that was deleted or restored, also in a dry run.

use urepo::removal::{Plan, Restored, Step};

use crate::cli::did::Did;
use crate::cli::explain::removal::copied_from_trash;
use crate::cli::human;
use crate::cli::records::{Item, PathAt, path};

/// The report of an item that did not fail.
pub(in super::super) struct ItemReport {
    /// The end of the line, after the identifier, of a run and of a dry run; of an unchanged item, the whole line.
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
        let (did, after) = match plan.step {
            Step::Delete => (Did::Deleted, ", leaving a tombstone"),
            Step::Drop => (Did::Dropped, ", leaving a stub"),
            Step::Repeat => (Did::Deleted, ", whose deletion a backup had undone"),
            Step::Clear => (Did::Finished, ", which has a tombstone already"),
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
        let record =
            Item { files: Some(*files), bytes: Some(*bytes), proven_by, ..Item::became(name, did) };
        ItemReport {
            done: "; its files are in the trash until `urepo purge`".to_owned(),
            planned: format!(": {size}{after}"),
            detail,
            record,
        }
    }

    pub(in super::super) fn of_restored(restored: &Restored) -> ItemReport {
        let Restored { name, state, was_here, kept, differing, files, bytes } = restored;
        let size = human::size(*files, *bytes);
        let (done, planned, did) = if *was_here {
            let kept = copied_from_trash(kept).map(|hint| format!("; {hint}"));
            let here = format!("{name} is already here as {state}{}", kept.unwrap_or_default());
            (here.clone(), here, Did::Unchanged)
        } else {
            let others =
                copied_from_trash(kept).map(|hint| format!("; it is the newest one, and {hint}"));
            let mut others = others.unwrap_or_default();
            if !differing.is_empty() {
                let keys = differing.join(", ");
                others = format!(", as it was deleted: its tombstone had another {keys}{others}");
            }
            let planned = format!(" as {state}: {size}{others}");
            (format!(" as {state}{others}"), planned, Did::Restored)
        };
        let record = Item {
            state: Some(state.to_string()),
            files: Some(*files),
            bytes: Some(*bytes),
            kept: kept.iter().map(|kept| path(kept)).collect(),
            ..Item::became(name, did)
        };
        ItemReport { done, planned, detail: format!("  {size}"), record }
    }
}
