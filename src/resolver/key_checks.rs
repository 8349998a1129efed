//! Limits on checking registration keys: on how many at a time, and on wrong ones.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Semaphore;

use crate::collection::ClientAddress;
use crate::identity::{Instant, SECOND};

/// Checks of keys that wait; beyond them, requests are refused.
const WAITING: usize = 16;
/// Wrong keys of a client in a minute.
const GUESSES: u32 = 5;
/// Clients whose wrong keys are counted.
const CLIENTS: usize = 4096;
const MINUTE: i128 = 60 * SECOND;

/// Limits on checking keys: each takes the processor for a moment.
#[derive(Debug)]
pub(super) struct KeyChecks {
    pub(super) waiting: Semaphore,
    pub(super) running: Semaphore,
    /// For each network, the begin of a minute and the wrong keys in it.
    wrong: Mutex<HashMap<Option<IpAddr>, (Instant, u32)>>,
}

impl Default for KeyChecks {
    fn default() -> KeyChecks {
        KeyChecks {
            waiting: Semaphore::new(WAITING + 1),
            running: Semaphore::new(1),
            wrong: Mutex::default(),
        }
    }
}

impl KeyChecks {
    /// Whether a client has tried too many wrong keys.
    pub(super) fn refuses(&self, client: IpAddr, now: Instant) -> bool {
        let wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        wrong.get(&ClientAddress::Network.of(client)).is_some_and(|(begin, count)| {
            *count >= GUESSES && now.nanoseconds() - begin.nanoseconds() < MINUTE
        })
    }

    /// Counts a wrong key.
    pub(super) fn count(&self, client: IpAddr, now: Instant) {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |begin: Instant| now.nanoseconds() - begin.nanoseconds() < MINUTE;
        if wrong.len() >= CLIENTS {
            wrong.retain(|_, (begin, _)| is_recent(*begin));
        }
        if wrong.len() < CLIENTS {
            let (begin, count) = wrong.entry(ClientAddress::Network.of(client)).or_insert((now, 0));
            if !is_recent(*begin) {
                (*begin, *count) = (now, 0);
            }
            *count += 1;
        }
    }
}
