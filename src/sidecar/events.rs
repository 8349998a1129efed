//! Events after the deposit of an item: removals and restorations.

use serde::Deserialize;
use toml::Value;

use super::{Sidecar, SidecarError, datetime};
use crate::identity::{Instant, SECOND};
use crate::item::State;

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
pub(super) struct RawRemoval {
    by: String,
    reason: Option<String>,
    was: String,
    #[serde(default, deserialize_with = "datetime::deserialize_option")]
    updated: Option<Instant>,
}

impl RawRemoval {
    pub(super) fn check(self) -> Result<Removal, SidecarError> {
        let was = self.was.parse().map_err(|error| SidecarError::value("was", error))?;
        Ok(Removal { by: self.by, reason: self.reason, was, updated: self.updated })
    }
}

impl Sidecar {
    /// Notes in `[origin]` that the item was deleted, and restored `now`.
    pub(crate) fn note_restored(&mut self, now: Instant) {
        self.origin.insert("restored".to_owned(), date_value(now));
    }
}

/// `now` as a value of `[origin]`, to the second.
pub(crate) fn date_value(now: Instant) -> Value {
    let text = now.floor(SECOND).to_string();
    text.parse().map_or(Value::String(text), Value::Datetime)
}
