//! Events after the deposit of an item: hand-overs in progress, and removals.

use std::fmt;

use serde::Deserialize;
use toml::Value;

use super::{Sidecar, SidecarError, datetime};
use crate::identity::{Instant, SECOND};
use crate::item::State;

/// Keys of `[origin]` that only a Copy has.
pub(crate) const COPY_KEYS: [&str; 3] = ["collection", "copied", "through"];

/// A hand-over of the Original that has begun and is not yet finished: `[handover]`.
///
/// While it exists, a reader takes the receiver's sidecar for the Original only if the giver's sidecar has
/// the same token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    /// The token of both sides, unique to each hand-over.
    pub token: String,
    /// The other end.
    pub party: Party,
}

/// The other end of a hand-over: a collection by its id, never by a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Party {
    /// The Original comes from this collection.
    From(String),
    /// The Original goes to this collection.
    To(String),
}

/// The deletion of an item: `[removal]` of a tombstone. The date is the sidecar's `timestamp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Who removed it, on which machine.
    pub by: String,
    /// The reason, if given.
    pub reason: Option<String>,
    /// The state before.
    pub was: State,
    /// The `timestamp` before, if known; a restored item gets it back.
    pub updated: Option<Instant>,
}

#[derive(Deserialize)]
pub(super) struct RawHandover {
    token: String,
    from: Option<String>,
    to: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct RawRemoval {
    by: String,
    reason: Option<String>,
    was: String,
    #[serde(default, deserialize_with = "datetime::deserialize_option")]
    updated: Option<Instant>,
}

impl RawHandover {
    pub(super) fn check(self) -> Result<Handover, SidecarError> {
        let party = match (self.from, self.to) {
            (Some(from), None) => Party::From(from),
            (None, Some(to)) => Party::To(to),
            _ => return Err(SidecarError::value("handover", "expected one of `from` and `to`")),
        };
        Ok(Handover { token: self.token, party })
    }
}

impl RawRemoval {
    pub(super) fn check(self) -> Result<Removal, SidecarError> {
        let was = self.was.parse().map_err(|error| SidecarError::value("was", error))?;
        Ok(Removal { by: self.by, reason: self.reason, was, updated: self.updated })
    }
}

impl Handover {
    /// The token, if this is the giver's side and the collection with the id `receiver` is the other.
    pub fn given_to(&self, receiver: &str) -> Option<&str> {
        matches!(&self.party, Party::To(id) if id == receiver).then_some(&self.token)
    }

    /// The token, if this is the receiver's side and the collection with the id `giver` is the other.
    pub fn received_from(&self, giver: &str) -> Option<&str> {
        matches!(&self.party, Party::From(id) if id == giver).then_some(&self.token)
    }

    /// The keys and texts of the table.
    pub(super) fn pairs(&self) -> [(&'static str, &str); 2] {
        let party = match &self.party {
            Party::From(id) => ("from", id.as_str()),
            Party::To(id) => ("to", id.as_str()),
        };
        [("token", &self.token), party]
    }
}

impl Sidecar {
    /// The id of the collection of the Original that a Copy was made of.
    pub fn made_of(&self) -> Option<&str> {
        self.origin.get("collection").and_then(Value::as_str)
    }

    /// When the item became a Copy, or arrived as one.
    pub fn copied(&self) -> Option<Instant> {
        self.origin.get("copied").and_then(read_date)
    }

    /// The hand-overs of the Original, in the order of their dates.
    pub fn handovers(&self) -> &[Value] {
        self.origin.get("handovers").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Notes a hand-over between two collections in `[origin]`, by their ids. `lost` is the reason why the giver counts
    /// as lost.
    pub(crate) fn note_handover(&mut self, from: &str, to: &str, now: Instant, lost: Option<&str>) {
        let mut entry = toml::Table::new();
        entry.insert("from".to_owned(), from.into());
        entry.insert("to".to_owned(), to.into());
        entry.insert("date".to_owned(), date_value(now));
        if let Some(reason) = lost {
            entry.insert("lost".to_owned(), true.into());
            entry.insert("reason".to_owned(), reason.into());
        }
        let history = self.origin.entry("handovers").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(history) = history {
            history.push(Value::Table(entry));
        }
    }

    /// Notes in `[origin]` that the item was deleted, and restored `now`.
    pub(crate) fn note_restored(&mut self, now: Instant) {
        self.origin.insert("restored".to_owned(), date_value(now));
    }

    /// Turns it into the sidecar of a Copy of the item in the collection with the id `holder`.
    pub(crate) fn become_copy_of(&mut self, holder: &str) {
        self.state = State::Copy;
        self.origin.remove("through");
        self.origin.insert("collection".to_owned(), holder.into());
    }

    /// Removes from `[origin]` the keys that only a Copy has.
    pub(crate) fn remove_copy_keys(&mut self) {
        for key in COPY_KEYS {
            self.origin.remove(key);
        }
    }
}

/// `now` as a value of `[origin]`, to the second.
pub(crate) fn date_value(now: Instant) -> Value {
    let text = now.floor(SECOND).to_string();
    text.parse().map_or(Value::String(text), Value::Datetime)
}

/// The instant of such a value.
pub(crate) fn read_date(value: &Value) -> Option<Instant> {
    match value {
        Value::Datetime(date) => date.to_string().parse().ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

impl Party {
    /// The id of the collection.
    pub fn id(&self) -> &str {
        let (Party::From(id) | Party::To(id)) = self;
        id
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Party::From(id) => write!(f, "from collection {id}"),
            Party::To(id) => write!(f, "to collection {id}"),
        }
    }
}
