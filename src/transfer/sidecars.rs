//! The sidecars of transferred items.

use toml::Value;

use super::TransferError;
use crate::collection::{Collection, ReadSidecar};
use crate::identity::{Instant, RepositoryName};
use crate::item::State;
use crate::sidecar::{Handover, NewText, Party, Removal, Sidecar, date_value, read_date};

/// The sidecar of a Copy of the item with the sidecar `source` in `from`.
///
/// `[origin]` names the collection of the Original and, if the source was a Copy, the collection of that
/// Copy.
pub(super) fn copy(source: &Sidecar, from: &Collection, now: Instant) -> Sidecar {
    let mut copy = Sidecar { state: State::Copy, handover: None, ..source.clone() };
    let from = Value::String(from.id().to_owned());
    if source.state == State::Original {
        copy.origin.insert("collection".to_owned(), from);
        copy.origin.remove("through");
    } else {
        copy.origin.insert("through".to_owned(), from);
    }
    copy.origin.insert("copied".to_owned(), date_value(now));
    copy
}

/// Keeps the record of the tombstone that `copy` replaces.
pub(super) fn remember_removal(copy: &mut Sidecar, tombstone: &Sidecar) {
    let Some(removal) = &tombstone.removal else { return };
    let mut kept = toml::Table::new();
    kept.insert("by".to_owned(), removal.by.as_str().into());
    if let Some(reason) = &removal.reason {
        kept.insert("reason".to_owned(), reason.as_str().into());
    }
    kept.insert("date".to_owned(), date_value(tombstone.timestamp));
    copy.origin.insert("removed".to_owned(), Value::Table(kept));
}

/// The tombstone in another collection of an Original that was deleted in `from`, or in the collection
/// that the tombstone in `from` names.
pub(super) fn brought(tombstone: &Sidecar, from: &Collection) -> Sidecar {
    let mut brought = as_brought(tombstone, tombstone);
    let home = Value::String(from.id().to_owned());
    brought.origin.entry("collection".to_owned()).or_insert(home);
    brought
}

/// The tombstone of a Copy whose Original was deleted.
pub(super) fn buried(copy: &Sidecar, tombstone: &Sidecar) -> Sidecar {
    as_brought(copy, tombstone)
}

/// No Original was deleted here, so none can be restored here.
fn as_brought(before: &Sidecar, tombstone: &Sidecar) -> Sidecar {
    let removal = tombstone.removal.clone().map(|removal| Removal { was: State::Copy, ..removal });
    let timestamp = tombstone.timestamp;
    Sidecar { state: State::Deleted, handover: None, removal, timestamp, ..before.clone() }
}

/// The Original that replaces its tombstone, with the bytes of `copy`. It has not changed, so its Copies stay
/// current.
pub(super) fn revived(tombstone: &Sidecar, copy: &Sidecar, now: Instant) -> Sidecar {
    let (state, timestamp) = (State::Original, copy.timestamp);
    let mut revived =
        Sidecar { state, timestamp, handover: None, removal: None, ..tombstone.clone() };
    revived.note_restored(now);
    revived
}

/// The Copy at the receiver during a hand-over.
pub(super) fn received(copy: Sidecar, token: &str, from: &Collection) -> Sidecar {
    let party = Party::From(from.id().to_owned());
    Sidecar { handover: Some(Handover { token: token.to_owned(), party }), ..copy }
}

/// The giver's sidecar from the commit point on: a Copy of the Original in `to`.
pub(super) fn given(original: &Sidecar, token: &str, to: &Collection, now: Instant) -> Sidecar {
    let party = Party::To(to.id().to_owned());
    let handover = Some(Handover { token: token.to_owned(), party });
    let mut given = Sidecar { state: State::Copy, handover, ..original.clone() };
    given.origin.insert("collection".to_owned(), Value::String(to.id().to_owned()));
    given.origin.insert("copied".to_owned(), date_value(now));
    given
}

/// The Original made from a received Copy, with the hand-over in its history.
pub(super) fn original(received: &Sidecar, to: &Collection, now: Instant) -> Sidecar {
    let mut original = Sidecar { state: State::Original, handover: None, ..received.clone() };
    original.remove_copy_keys();
    if let Some(Handover { party: Party::From(from), .. }) = &received.handover {
        original.note_handover(from, to.id(), now, None);
    }
    original
}

/// The renamed Original, with the hand-over in its history.
pub(super) fn renamed(
    original: &Sidecar,
    (from, to): (&Collection, &Collection),
    now: Instant,
) -> Sidecar {
    let mut renamed = original.clone();
    renamed.note_handover(from.id(), to.id(), now, None);
    renamed
}

/// Whether the history of `original` ends with the hand-over between these two.
pub(super) fn tells_handover(original: &Sidecar, both: (&Collection, &Collection)) -> bool {
    original.handovers().last().is_some_and(|last| is_between(last, both))
}

/// The dates of the hand-overs between these two in the history of `original`.
pub(super) fn hand_overs(
    original: &Sidecar,
    both: (&Collection, &Collection),
) -> impl Iterator<Item = Option<Instant>> {
    let between = original.handovers().iter().filter(move |entry| is_between(entry, both));
    between.map(|entry| entry.get("date").and_then(read_date))
}

fn is_between(entry: &Value, (from, to): (&Collection, &Collection)) -> bool {
    let is = |key, id| entry.get(key).and_then(Value::as_str) == Some(id);
    is("from", from.id()) && is("to", to.id())
}

/// The Original back at the giver.
pub(super) fn taken_back(given: &Sidecar) -> Sidecar {
    let mut original = Sidecar { state: State::Original, handover: None, ..given.clone() };
    original.remove_copy_keys();
    original
}

/// The same without the mark of a hand-over.
pub(super) fn unmarked(marked: &Sidecar) -> Sidecar {
    Sidecar { handover: None, ..marked.clone() }
}

/// The text of `after` in place of the text read before.
pub(super) fn text(
    name: &RepositoryName,
    before: &ReadSidecar,
    after: &Sidecar,
) -> Result<NewText, TransferError> {
    after
        .rewritten(&before.text, &before.sidecar)
        .map_err(|cause| TransferError::Sidecar { name: name.clone(), cause })
}
