//! The log of damage and failures: one line a minute for each place, however often it is asked for.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Mutex, PoisonError};

use crate::identity::{Instant, SECOND};

/// The time between two lines about one place.
const AGAIN: i128 = 60 * SECOND;
/// Most places that are remembered; those of earlier minutes make room.
const MOST: usize = 1024;

/// The places of faults, and when each was last written into the log.
#[derive(Debug, Default)]
pub(super) struct FaultLog(Mutex<HashMap<String, LoggedFault>>);

#[derive(Debug)]
struct LoggedFault {
    at: Instant,
    /// How often it was met since.
    again: u64,
}

impl FaultLog {
    /// Writes the `fault` at `place`, unless one there was written within the last minute.
    pub(super) fn note(&self, place: &str, fault: &str, now: Instant) {
        if let Some(again) = self.turn(place, now) {
            tracing::error!(place, again, "{fault}");
        }
    }

    /// Writes an error, which names the place, with its causes.
    pub(super) fn note_error(&self, error: &(dyn Error + 'static), fault: &str, now: Instant) {
        if let Some(again) = self.turn(&error.to_string(), now) {
            tracing::error!(error, again, "{fault}");
        }
    }

    /// Whether there is a line to write now, and how often the fault was met since the last one.
    fn turn(&self, place: &str, now: Instant) -> Option<u64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |logged: &LoggedFault| {
            (0..AGAIN).contains(&(now.nanoseconds() - logged.at.nanoseconds()))
        };
        if let Some(logged) = all.get_mut(place) {
            if is_recent(logged) {
                logged.again += 1;
                return None;
            }
            let again = std::mem::take(&mut logged.again);
            logged.at = now;
            return Some(again);
        }
        if all.len() >= MOST {
            all.retain(|_, logged| is_recent(logged));
        }
        if all.len() >= MOST {
            // A storm of different faults: the first thousand lines of a minute say enough.
            return None;
        }
        all.insert(place.to_owned(), LoggedFault { at: now, again: 0 });
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_one_line_a_minute() {
        let log = FaultLog::default();
        let turn = |place: &str, seconds: i64| log.turn(place, Instant::from_seconds(seconds));
        assert_eq!(
            (turn("a", 0), turn("a", 1), turn("b", 1), turn("a", 59)),
            (Some(0), None, Some(0), None)
        );
        assert_eq!((turn("a", 60), turn("a", 61), turn("a", 200)), (Some(2), None, Some(1)));
        // A clock that was set back does not silence it.
        assert_eq!(turn("a", 100), Some(0));
        for number in 0..2 * MOST {
            turn(&number.to_string(), 300);
        }
        assert_eq!(log.0.lock().unwrap().len(), MOST);
        assert_eq!(turn("new", 361), Some(0));
    }
}
