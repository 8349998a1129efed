//! `urepo meta undo`: take corrections back.

use std::collections::HashMap;

use urepo::collection::{Collection, StoredItem};
use urepo::correction::{Changes, UndoError};
use urepo::disk::PathError;
use urepo::identity::RepositoryName;
use urepo::relation::Correction;
use urepo::sidecar::Sidecar;

use super::report::{confirm_selected, correct_each};
use super::set::CorrectedArgs;
use crate::cli::Done;
use crate::cli::command::relations::At;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::select::Selection;

/// Take back the newest correction of each item
///
/// The former values are those in the ledger, which `urepo log` prints, and both ends of a relation get theirs. Repeated, the
/// command takes back the correction before. An item whose values are others by now stays as it is, and so does one with a value of
/// more than 8 KiB, which the ledger has only by its digest.
#[derive(Debug, clap::Args)]
pub(super) struct Undo {
    /// The items
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    #[command(flatten)]
    corrected: CorrectedArgs,
}

impl Undo {
    pub(super) fn run(&self, context: &Context) -> Done {
        let CorrectedArgs { flags, with, yes } = &self.corrected;
        let selection = Selection::new(self.items.clone(), flags.clone())?;
        selection.check("meta undo ITEM…")?;
        let home = context.collection()?;
        confirm_selected(context, &selection, &home, *yes)?;
        let at = At::new(context, &home, with)?;
        let only = selection.is_single() && selection.flags.state.is_none();
        let only = only.then(|| context.item(&home, &selection.items[0])).transpose()?;
        let changes = changes(&home, only.as_ref().map(StoredItem::name))?;
        let correction = |sidecar: &Sidecar| {
            let of_item = changes.get(&sidecar.repository.folded());
            let undone = of_item.unwrap_or(&Changes::default()).taken_back(sidecar);
            match undone {
                // Of all items, most were never corrected.
                Err(UndoError::Nothing { name }) if !selection.names_items() => {
                    let (edits, unlink, link) = Default::default();
                    Ok(Correction { name, edits, unlink, link })
                }
                undone => Ok(undone?),
            }
        };
        correct_each(context, &selection, (&home, &at), correction)
    }
}

/// The changes of every description, or of that of one item, by the folded name of the item.
fn changes(
    collection: &Collection,
    only: Option<&RepositoryName>,
) -> Result<HashMap<String, Changes>, Failure> {
    let only = only.map(RepositoryName::folded);
    let mut changes: HashMap<String, Changes> = HashMap::new();
    collection.visit_events(None, |event| {
        let name = event.id.folded();
        if !event.changes.is_empty() && only.as_ref().is_none_or(|only| *only == name) {
            changes.entry(name).or_default().add(event.changes);
        }
        Ok::<_, PathError>(())
    })?;
    Ok(changes)
}
