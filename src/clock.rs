//! The clock, passed in by the caller of the library.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::identity::Instant;

/// Tells the time and lets it pass.
///
/// The library uses no other clock, so a test decides the time and the length of a wait.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Instant;

    /// Lets `duration` pass.
    fn pause(&self, duration: Duration);
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::from_nanoseconds(nanoseconds_since_epoch(SystemTime::now()))
    }

    fn pause(&self, duration: Duration) {
        // A sleep takes some 50 µs more than requested; names may be 1 µs apart.
        if duration < Duration::from_micros(100) {
            let begun = std::time::Instant::now();
            while begun.elapsed() < duration {
                std::hint::spin_loop();
            }
        } else {
            std::thread::sleep(duration);
        }
    }
}

fn nanoseconds_since_epoch(time: SystemTime) -> i128 {
    let nanoseconds = |duration: Duration| {
        i128::from(duration.as_secs()) * crate::identity::SECOND
            + i128::from(duration.subsec_nanos())
    };
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => nanoseconds(after),
        Err(before) => -nanoseconds(before.duration()),
    }
}
