//! Keys of URLs: an archive recognises its own, and stores none when it gives one [resolution, 7.7].

use std::net::IpAddr;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::disk::random_bytes;
use crate::identity::{Instant, SECOND};

/// How long a key is accepted, in seconds.
const AGE: i128 = 600;
/// Digits of a key after the hyphen: random ones, then those of its code.
const RANDOM: usize = 10;
const CODE: usize = 20;

/// Gives out and recognises keys. They end with the process: only counts are lost.
pub(super) struct Keys {
    secret: [u8; 32],
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

impl Keys {
    /// Keys with a new secret.
    pub(super) fn new() -> std::io::Result<Keys> {
        Ok(Keys { secret: random_bytes()? })
    }

    /// A new key for clients at `addresses`.
    pub(super) fn give(&self, now: Instant, addresses: &[IpAddr]) -> std::io::Result<String> {
        let random = u64::from_be_bytes(random_bytes()?) % 10_u64.pow(10);
        let begin = format!("{:010}-{random:0width$}", now.nanoseconds() / SECOND, width = RANDOM);
        Ok(format!("{begin}{}", self.code(&begin, addresses)))
    }

    /// Whether `key` is one of its own for `addresses`, and no older than ten minutes.
    pub(super) fn knows(&self, key: &str, now: Instant, addresses: &[IpAddr]) -> bool {
        let Some((begin, _)) = key.len().checked_sub(CODE).and_then(|at| key.split_at_checked(at))
        else {
            return false;
        };
        let given = begin.split_once('-').and_then(|(seconds, _)| seconds.parse::<i64>().ok());
        let is_recent = given.is_some_and(|given| {
            (0..=AGE).contains(&(now.nanoseconds() / SECOND - i128::from(given)))
        });
        // The code is no secret of great value: guessing 20 digits within ten minutes is out of reach.
        is_recent && format!("{begin}{}", self.code(begin, addresses)) == key
    }

    /// The digits that only this archive can put after `begin`.
    fn code(&self, begin: &str, addresses: &[IpAddr]) -> String {
        let Ok(mut code) = Hmac::<Sha256>::new_from_slice(&self.secret) else {
            unreachable!("HMAC takes a key of any length")
        };
        code.update(begin.as_bytes());
        for address in addresses {
            code.update(format!(" {address}").as_bytes());
        }
        let digest = code.finalize().into_bytes();
        let number =
            digest[..16].iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        format!("{:0width$}", number % 10_u128.pow(20), width = CODE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::UrlKey;

    #[test]
    fn a_key_is_known_to_its_archive_for_its_client_and_for_ten_minutes() {
        let (keys, others) = (Keys::new().unwrap(), Keys::new().unwrap());
        let now: Instant = "2026-11-21T02:13:00.5Z".parse().unwrap();
        let later = |seconds: i128| Instant::from_nanoseconds(now.nanoseconds() + seconds * SECOND);
        let client: [IpAddr; 1] = ["192.0.2.1".parse().unwrap()];
        let key = keys.give(now, &client).unwrap();
        assert!(key.parse::<UrlKey>().is_ok(), "{key}");
        assert_ne!(key, keys.give(now, &client).unwrap());
        assert!(keys.knows(&key, now, &client) && keys.knows(&key, later(600), &client));
        assert!(!keys.knows(&key, later(601), &client) && !keys.knows(&key, later(-1), &client));
        assert!(!keys.knows(&key, now, &[]) && !others.knows(&key, now, &client));
        for at in 0..key.len() {
            let mut changed = key.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(!keys.knows(&changed, now, &client), "{changed}");
        }
        for text in [
            "",
            "-",
            "1",
            "9999999999999999999999999-11111111111111111111",
            "\u{e9}23456789012345678901",
        ] {
            assert!(!keys.knows(text, now, &client), "{text}");
        }
    }
}
