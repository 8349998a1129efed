//! Comparing the ledger with the items: items that vanished, and items without a record.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::finding::{Finding, Place};
use super::{Code, ItemReport, Report};
use crate::collection::{Collection, Deviation, Discrepancy, Event, Here, Names, NoteFault};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;

/// Compares the ledger with the tree, and calls `tell` for each discrepancy among `names`.
pub(super) fn compare_with_ledger(
    collection: &Collection,
    names: &Names,
    mut tell: impl FnMut(Report) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let visited = collection.visit_discrepancies(names, |found| match found {
        Discrepancy::NoLedger => tell(lost()),
        Discrepancy::Broken { damaged, is_accepted } => {
            let detail = match damaged {
                1 => "1 line is damaged or missing".to_owned(),
                _ => format!("{damaged} lines are damaged or missing"),
            };
            let code = if is_accepted { Code::LedgerGap } else { Code::LedgerBroken };
            tell(Report::Tree(Finding::new(code, place(), detail)))
        }
        Discrepancy::PutBack => {
            let detail = "`urepo recover --restored` accepts a backup that was put back";
            tell(Report::Tree(Finding::new(Code::LedgerPutBack, place(), detail)))
        }
        Discrepancy::NoteFault(NoteFault { note, unread }) => {
            let note = note.display();
            let detail = match unread {
                Some(cause) => format!("cannot read `{note}`: {cause}"),
                None => format!("`{note}`; `urepo recover --restored` accepts the ledger as it is"),
            };
            tell(Report::Tree(Finding::new(Code::LedgerNote, place(), detail)))
        }
        Discrepancy::Missing(name, state) => tell(Report::Item(missing(name, state))),
        // The state is compared when the sidecar is read.
        Discrepancy::OtherState(..) | Discrepancy::Unlogged(..) => ControlFlow::Continue(()),
        Discrepancy::Returned(name, line) => {
            let place = Place::Tree(PathBuf::from(name.as_str()));
            tell(Report::Tree(item_returned(place, &line)))
        }
        Discrepancy::Unrecorded(names) => names.iter().try_for_each(|name| tell(unrecorded(name))),
    });
    match visited {
        Ok(flow) => flow,
        Err(error) => {
            let path = error.path().strip_prefix(collection.path());
            let path = path.unwrap_or(error.path()).to_path_buf();
            tell(Report::Tree(Finding::of_error(Place::Tree(path), &error)))
        }
    }
}

/// The place of the ledger.
fn place() -> Place {
    Place::Tree(Path::new(layout::OWN).join(layout::LEDGER))
}

/// The report of a lost ledger. Only a change rebuilds it, and verification is not one.
fn lost() -> Report {
    let detail = "the next change builds it from the items found";
    Report::Tree(Finding::new(Code::LedgerMissing, place(), detail))
}

/// The report of a recorded item that vanished.
fn missing(name: RepositoryName, state: Option<State>) -> ItemReport {
    let what = match state {
        Some(State::Original) => "the Original",
        Some(State::Copy) => "the Copy",
        Some(State::Elsewhere) => "the stub",
        Some(State::Deleted) => "the tombstone",
        None => "the item",
    };
    let detail = format!("{what} was here, and urepo did not remove it");
    ItemReport::of_one(name, Finding::new(Code::ItemVanished, Place::Item, detail))
}

fn unrecorded(name: &RepositoryName) -> Report {
    let place = Place::Tree(PathBuf::from(name.as_str()));
    Report::Tree(Finding::new(Code::Unrecorded, place, "`urepo recover` records it"))
}

/// The finding for a requested item that is here, though it was given up.
pub(super) fn returned(collection: &Collection, name: &RepositoryName) -> Option<Finding> {
    match collection.returned(name) {
        Ok(line) => line.map(|line| item_returned(Place::Item, &line)),
        Err(error) => Some(Finding::of_error(Place::Item, &error)),
    }
}

/// The finding for an item that is older than the last line of the ledger about it, or newer. Its sidecar said `here` a moment
/// ago; only where the ledger says otherwise, both are read again.
pub(super) fn deviation(
    collection: &Collection,
    name: &RepositoryName,
    here: Option<&Here>,
) -> Option<Finding> {
    if here.is_some_and(|here| collection.is_recorded_as(name, here).is_ok_and(|it| it)) {
        return None;
    }
    match collection.deviation(name) {
        Ok(Some(Deviation::Below(line))) => {
            let state = line.state().map(|state| format!("{state} by the ledger: "));
            let detail = format!("{}{line}", state.unwrap_or_default());
            Some(Finding::new(Code::ItemPutBack, Place::Item, detail))
        }
        Ok(Some(Deviation::Above(_))) => {
            let detail = "its last change is not; `urepo recover` records it";
            Some(Finding::new(Code::Unrecorded, Place::Item, detail))
        }
        Ok(Some(Deviation::State(..)) | None) => None,
        Err(error) => {
            // The ledger, perhaps.
            let mut found = Finding::of_error(Place::Item, &error);
            found.detail = format!("{error}: {}", found.detail);
            Some(found)
        }
    }
}

fn item_returned(place: Place, line: &Event) -> Finding {
    Finding::new(Code::ItemReturned, place, line.to_string())
}

/// The report of a requested item that is missing: where it went, if that is recorded.
pub(super) fn absent(collection: &Collection, name: &RepositoryName) -> ItemReport {
    let (code, detail) = match collection.last_record(name) {
        Ok(Some(line)) if line.is_loss() => (Code::ItemMissing, line.to_string()),
        Ok(Some(line)) => return missing(name.clone(), line.state()),
        Ok(None) => (Code::ItemMissing, "no directory has this name".to_owned()),
        Err(error) => {
            return ItemReport::of_one(name.clone(), Finding::of_error(Place::Item, &error));
        }
    };
    ItemReport::of_one(name.clone(), Finding::new(code, Place::Item, detail))
}
