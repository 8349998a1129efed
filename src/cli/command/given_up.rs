//! What is given up of an item, by its values: a person who reads them can still enter them again.

use urepo::collection::Event;
use urepo::item::State;
use urepo::sidecar::Sidecar;

use super::meta::report::line;
use crate::cli::escape;

/// A state that nothing in sight has, as the line of a ledger knows it.
pub(super) fn of_line(event: &Event) -> String {
    let mut values = Vec::new();
    if let Some(here) = &event.holding {
        let state = match here.state {
            State::Elsewhere => "stub".to_owned(),
            State::Deleted => "tombstone".to_owned(),
            state => state.to_string(),
        };
        values.push(format!(
            "last known is the {state} of {}, id {}",
            here.changed,
            here.custody.id()
        ));
    }
    for change in &event.changes {
        let value = change.after.as_ref().map_or("nothing".to_owned(), ToString::to_string);
        let key = change.key.strip_prefix("metadata.").unwrap_or(&change.key);
        values.push(escape::one_line(&format!("{key} {value}")));
    }
    values.extend(event.digest.clone());
    values.join(", ")
}

/// The state `lost`, in place of which `kept` goes on, with its values that `kept` lacks.
pub(super) fn of_sidecar(lost: &Sidecar, kept: &Sidecar) -> String {
    let (date, id) = (lost.changed(), lost.custody.id());
    let mut values = vec![format!("{} of {date}, id {id}", lost.state)];
    values.extend(lost.differences(kept).iter().map(line));
    if lost.payload.digest != kept.payload.digest {
        values.push(format!("sha256:{}", lost.payload.digest));
    }
    values.join(", ")
}

/// Whether `lost` has values that `kept` lacks.
pub(super) fn has_more(lost: &Sidecar, kept: &Sidecar) -> bool {
    lost.payload.digest != kept.payload.digest || !lost.differences(kept).is_empty()
}
