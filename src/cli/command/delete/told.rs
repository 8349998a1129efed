//! What is told of an item that was deleted or brought back, or would be.

use serde_json::{Value, json};
use urepo::removal::{Plan, Revived, Step};

use crate::cli::{human, record};

/// What is told of an item that went well.
pub(super) struct Told {
    /// What was done, and then what would be.
    pub(super) done: String,
    pub(super) planned: String,
    /// More, for those who ask.
    pub(super) detail: String,
    pub(super) fields: Value,
}

impl Told {
    pub(super) fn of_plan(plan: &Plan<'_>) -> Told {
        let Plan { name, files, bytes, .. } = plan;
        let size = size(*files, *bytes);
        let (step, after) = match plan.step {
            Step::Bury => ("bury", ", leaving a tombstone"),
            Step::FinishBurial => ("finish", ", which has a tombstone already"),
            Step::TakeAway => ("take-away", ", leaving nothing"),
        };
        let proven_by = plan.proven_by.map(|holding| holding.collection.path());
        let detail = match plan.proven_by {
            Some(holding) => {
                let path = holding.collection.path().display();
                format!("  {size}; `{path}` has the same files, as {}", holding.state)
            }
            None => format!("  {size}; no other collection was asked"),
        };
        let mut fields = json!({
            "action": "delete", "step": step, "files": files, "bytes": bytes, "proven_by": null,
        });
        if let Some(path) = proven_by {
            record::add_path(&mut fields, "proven_by", path);
        }
        Told {
            done: format!("deleted {name}; its files are in the trash until `urepo purge`"),
            planned: format!("would delete {name}: {size}{after}"),
            detail,
            fields,
        }
    }

    pub(super) fn of_revived(revived: &Revived) -> Told {
        let Revived { name, state, files, bytes } = revived;
        let size = size(*files, *bytes);
        Told {
            done: format!("brought {name} back as {state}"),
            planned: format!("would bring {name} back as {state}: {size}"),
            detail: format!("  {size}"),
            fields: json!({
                "action": "revive", "state": state.to_string(), "files": files, "bytes": bytes,
            }),
        }
    }
}

fn size(files: u64, bytes: u64) -> String {
    format!("{}, {}", human::count(files, "file"), human::bytes(bytes))
}
