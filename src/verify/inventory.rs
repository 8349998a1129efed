//! Comparing the inventory with the items: items that vanished, and items without a record.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::finding::{Finding, Place};
use super::{Code, ItemReport, Report};
use crate::clock::Clock;
use crate::collection::{
    Certainty, Collection, Discrepancy, InventoryChange, InventoryLine, Names, Recorded, Writers,
};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;

/// Compares the inventory with the tree. With a clock, items without a record are reported, and recorded if
/// possible.
pub(super) struct InventoryCheck<'a> {
    pub collection: &'a Collection,
    pub recording: Option<&'a dyn Clock>,
}

impl InventoryCheck<'_> {
    /// Calls `tell` for each discrepancy among `names`.
    pub(super) fn run(
        &self,
        names: &Names,
        mut tell: impl FnMut(Report) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let visited = self.collection.visit_discrepancies(names, |found| match found {
            Discrepancy::NoInventory => tell(lost()),
            Discrepancy::Rotten(path, lines) => {
                let detail = match lines {
                    1 => "1 line is damaged".to_owned(),
                    _ => format!("{lines} lines are damaged"),
                };
                tell(Report::Tree(Finding::new(Code::InventoryRotten, Place::Tree(path), detail)))
            }
            Discrepancy::Missing(name, state, certainty) => {
                tell(Report::Item(missing(name, state, certainty)))
            }
            // The state is compared when the sidecar is read.
            Discrepancy::OtherState(..) => ControlFlow::Continue(()),
            Discrepancy::Returned(name, line) => {
                let place = Place::Tree(PathBuf::from(name.as_str()));
                tell(Report::Tree(item_returned(place, &line)))
            }
            Discrepancy::Unrecorded(names) => {
                let Some(clock) = self.recording else { return ControlFlow::Continue(()) };
                let recorded = self.collection.record_found(&names, Writers::Perhaps, clock);
                let (names, detail) = match recorded {
                    Ok(recorded) => (recorded, "it is recorded now"),
                    Err(_) => (names, "it could not be recorded"),
                };
                names.iter().try_for_each(|name| tell(unrecorded(name, detail)))
            }
        });
        match visited {
            Ok(flow) => flow,
            Err(error) => {
                let path = error.path().strip_prefix(self.collection.path());
                let path = path.unwrap_or(error.path()).to_path_buf();
                tell(Report::Tree(Finding::of_error(Place::Tree(path), &error)))
            }
        }
    }
}

/// The report of a lost inventory. Only a change rebuilds it, and verification is not one.
fn lost() -> Report {
    let path = Path::new(layout::OWN).join(layout::INVENTORY);
    let detail = "the next change builds it from the items found";
    Report::Tree(Finding::new(Code::InventoryMissing, Place::Tree(path), detail))
}

/// The report of a recorded item that vanished.
fn missing(name: RepositoryName, state: Option<State>, certainty: Certainty) -> ItemReport {
    let what = match state {
        Some(State::Original) => "the Original",
        Some(State::Copy) => "the Copy",
        Some(State::Elsewhere) => "the stub",
        Some(State::Deleted) => "the tombstone",
        None => "the item",
    };
    let (code, detail) = match certainty {
        Certainty::Certain => {
            (Code::ItemVanished, format!("{what} was here, and urepo did not remove it"))
        }
        Certainty::Doubtful => {
            (Code::PerhapsVanished, format!("{what} was here; why it is gone cannot be read"))
        }
    };
    ItemReport::of_one(name, Finding::new(code, Place::Item, detail))
}

fn unrecorded(name: &RepositoryName, detail: &str) -> Report {
    let place = Place::Tree(PathBuf::from(name.as_str()));
    Report::Tree(Finding::new(Code::Unrecorded, place, detail))
}

/// The finding for a requested item that is here, though it was given up.
pub(super) fn returned(collection: &Collection, name: &RepositoryName) -> Option<Finding> {
    match collection.returned(name) {
        Ok(line) => line.map(|line| item_returned(Place::Item, &line)),
        Err(error) => Some(Finding::of_error(Place::Item, &error)),
    }
}

/// The finding for an item that is older than the last line of the inventory about it.
pub(super) fn put_back(collection: &Collection, name: &RepositoryName) -> Option<Finding> {
    match collection.contradicting_line(name) {
        Ok(line) => line.map(|line| {
            let state = line.state().map(|state| format!("{state} by the inventory: "));
            let detail = format!("{}{line}", state.unwrap_or_default());
            Finding::new(Code::ItemPutBack, Place::Item, detail)
        }),
        Err(error) => Some(Finding::of_error(Place::Item, &error)),
    }
}

fn item_returned(place: Place, line: &InventoryLine) -> Finding {
    Finding::new(Code::ItemReturned, place, line.to_string())
}

/// The report of a requested item that is missing: where it went, if that is recorded.
pub(super) fn absent(collection: &Collection, name: &RepositoryName) -> ItemReport {
    let (code, detail) = match collection.last_record(name) {
        Ok(Some(Recorded { line, certainty })) => match &line.change {
            InventoryChange::Lost => (Code::ItemMissing, line.to_string()),
            _ => return missing(name.clone(), line.state(), certainty),
        },
        Ok(None) => (Code::ItemMissing, "no directory has this name".to_owned()),
        Err(error) => {
            return ItemReport::of_one(name.clone(), Finding::of_error(Place::Item, &error));
        }
    };
    ItemReport::of_one(name.clone(), Finding::new(code, Place::Item, detail))
}
