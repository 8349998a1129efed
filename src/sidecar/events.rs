//! Events after the deposit of an item, and the dates that they move: amendments, deletions and restorations.
//!
//! Every other change (a migration, a withdrawal, a promotion, a refresh of a Copy, a repair) moves no date.

use serde::Deserialize;
use toml::Value;

use super::{Sidecar, SidecarError, datetime};
use crate::custody::Permit;
use crate::identity::{Instant, MILLISECOND, SECOND};
use crate::item::State;

/// The part of an Original that an amendment changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amended {
    /// The description alone.
    Description,
    /// Its files, too.
    Payload,
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
    /// The later date of payload and description, the only order of dates. Along one line of custody it rises with each
    /// amendment; `timestamp` and `described` alone are for people and services.
    pub fn changed(&self) -> Instant {
        self.described.map_or(self.timestamp, |described| described.max(self.timestamp))
    }

    /// This sidecar, whose `part` was changed `now`: with the custody of `permit`, and a date later than the one before and
    /// `others`.
    pub(crate) fn amended(
        self,
        permit: &Permit,
        part: Amended,
        now: Instant,
        others: impl IntoIterator<Item = Instant>,
    ) -> Result<Sidecar, SidecarError> {
        let before = others.into_iter().fold(self.changed(), Instant::max);
        let date = later(before, now)?;
        let timestamp = if part == Amended::Payload { date } else { self.timestamp };
        let custody = permit.custody().clone();
        Ok(Sidecar { custody, timestamp, described: Some(date), ..self })
    }

    /// The tombstone of this Original, deleted `now`. Its epoch ranks it, so the date need not rise.
    pub(crate) fn deleted(
        &self,
        permit: &Permit,
        now: Instant,
        (by, reason): (String, Option<String>),
    ) -> Sidecar {
        let timestamp = now.floor(SECOND).max(self.changed());
        let updated = Some(self.timestamp);
        let removal = Some(Removal { by, reason, was: State::Original, updated });
        let custody = permit.custody().clone();
        Sidecar { state: State::Deleted, custody, timestamp, removal, ..self.clone() }
    }

    /// The Original of this tombstone, restored `now`, with the date that its files had before.
    pub(crate) fn restored(&self, permit: &Permit, now: Instant) -> Sidecar {
        let updated = self.removal.as_ref().and_then(|removal| removal.updated);
        let timestamp = updated.unwrap_or(self.timestamp);
        let mut origin = self.origin.clone();
        origin.insert("restored".to_owned(), date_value(now));
        let (state, custody) = (State::Original, permit.custody().clone());
        Sidecar { state, custody, timestamp, origin, removal: None, ..self.clone() }
    }
}

/// `now` to the second; if that is not later than `before`, one millisecond after it. Clocks go back, and two changes fall
/// into one second.
fn later(before: Instant, now: Instant) -> Result<Instant, SidecarError> {
    let next =
        before.checked_add(MILLISECOND).filter(|it| it.civil().year <= Instant::MAX_YEAR.into());
    let next = next.ok_or(SidecarError::LastDate { date: before })?;
    let second = now.floor(SECOND);
    Ok(if second >= next { second } else { now.floor(MILLISECOND).max(next) })
}

/// `now` as a value of `[origin]`, to the second.
pub(crate) fn date_value(now: Instant) -> Value {
    let text = now.floor(SECOND).to_string();
    text.parse().map_or(Value::String(text), Value::Datetime)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Civil;

    fn instant(text: &str) -> Instant {
        text.parse().unwrap()
    }

    #[test]
    fn a_date_rises_to_the_second_or_by_a_millisecond() {
        for (before, now, expected) in [
            ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00.7Z", "2026-01-02T00:00:00Z"),
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.7Z", "2026-01-01T00:00:00.7Z"),
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.001Z"),
            ("2026-01-01T00:00:00.5Z", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00.501Z"),
            ("2099-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2099-01-01T00:00:00.001Z"),
        ] {
            let found = later(instant(before), instant(now));
            assert_eq!(found, Ok(instant(expected)), "{before} {now}");
        }
    }

    #[test]
    fn a_date_that_cannot_rise_is_an_error() {
        let year = Instant::MAX_YEAR.into();
        let (month, day, hour, minute, second, nanosecond) = (12, 31, 23, 59, 59, 999_999_999);
        let last = Civil { year, month, day, hour, minute, second, nanosecond };
        let date = Instant::from_civil(last).unwrap();
        let now = instant("2026-01-01T00:00:00Z");
        assert_eq!(later(date, now), Err(SidecarError::LastDate { date }));
        let date = Instant::from_nanoseconds(i128::MAX);
        assert_eq!(later(date, now), Err(SidecarError::LastDate { date }));
    }
}
