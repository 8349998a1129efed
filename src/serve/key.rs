//! Keys of URLs: an archive recognises its own, and stores none when it gives one [resolution, 7.7].

use std::collections::BTreeSet;
use std::net::IpAddr;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::disk::random_bytes;
use crate::identity::{Instant, RepositoryName, SECOND};

/// How long a key is accepted, in seconds.
const AGE: i128 = 600;
/// Digits of a key after the hyphen: random ones, then some for each item of the answer, then those of its code.
const RANDOM: usize = 10;
const ITEM: usize = 10;
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

    /// A new key for clients at `addresses`, who were given URLs of `items`.
    pub(super) fn give(
        &self,
        now: Instant,
        addresses: &[IpAddr],
        items: &BTreeSet<RepositoryName>,
    ) -> std::io::Result<String> {
        let random = u64::from_be_bytes(random_bytes()?) % 10_u64.pow(10);
        let begin = format!("{:010}-{random:0width$}", now.nanoseconds() / SECOND, width = RANDOM);
        let of_items: String = items.iter().map(|item| self.of_item(&begin, item)).collect();
        let begin = begin + &of_items;
        Ok(format!("{begin}{}", self.code(&begin, addresses)))
    }

    /// Whether `key` is one of its own for `addresses` and `item`, and no older than ten minutes.
    pub(super) fn knows(
        &self,
        key: &str,
        now: Instant,
        addresses: &[IpAddr],
        item: &RepositoryName,
    ) -> bool {
        let Some((begin, _)) = key.len().checked_sub(CODE).and_then(|at| key.split_at_checked(at))
        else {
            return false;
        };
        let Some((seconds, digits)) = begin.split_once('-') else { return false };
        let is_recent = seconds.parse::<i64>().is_ok_and(|given| {
            (0..=AGE).contains(&(now.nanoseconds() / SECOND - i128::from(given)))
        });
        // The code is no secret of great value: guessing 20 digits within ten minutes is out of reach.
        if !is_recent || format!("{begin}{}", self.code(begin, addresses)) != key {
            return false;
        }
        // What has its code was given out, and is in digits.
        let (random, items) = digits.split_at(RANDOM.min(digits.len()));
        let own = self.of_item(&format!("{seconds}-{random}"), item);
        items.as_bytes().chunks(ITEM).any(|of_item| of_item == own.as_bytes())
    }

    /// The digits that only this archive can put after `begin`.
    fn code(&self, begin: &str, addresses: &[IpAddr]) -> String {
        let signed = addresses.iter().fold(begin.to_owned(), |text, it| format!("{text} {it}"));
        format!("{:0width$}", self.number(&signed, CODE), width = CODE)
    }

    /// The digits of an item in a key. A comma is in no other text that is signed.
    fn of_item(&self, begin: &str, item: &RepositoryName) -> String {
        format!("{:0width$}", self.number(&format!("{begin},{item}"), ITEM), width = ITEM)
    }

    /// A number of at most `digits` digits that only this archive can make of `text`.
    fn number(&self, text: &str, digits: usize) -> u128 {
        let Ok(mut code) = Hmac::<Sha256>::new_from_slice(&self.secret) else {
            unreachable!("HMAC takes a key of any length")
        };
        code.update(text.as_bytes());
        let digest = code.finalize().into_bytes();
        let number =
            digest[..16].iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        number % (0..digits).fold(1, |power, _| power * 10)
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
        let item = |number: u8| format!("a.org/a/2026/11.21.02.{number}").parse().unwrap();
        let of = |numbers: &[u8]| numbers.iter().map(|number| item(*number)).collect();
        let key = keys.give(now, &client, &of(&[13])).unwrap();
        let knows = |key: &str, now| keys.knows(key, now, &client, &item(13));
        assert!(key.parse::<UrlKey>().is_ok(), "{key}");
        assert_ne!(key, keys.give(now, &client, &of(&[13])).unwrap());
        assert!(knows(&key, now) && knows(&key, later(600)));
        assert!(!knows(&key, later(601)) && !knows(&key, later(-1)));
        assert!(!keys.knows(&key, now, &[], &item(13)));
        assert!(!others.knows(&key, now, &client, &item(13)));
        for at in 0..key.len() {
            let mut changed = key.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(!knows(&changed, now), "{changed}");
        }
        for text in [
            "",
            "-",
            "1",
            "9999999999999999999999999-11111111111111111111",
            "\u{e9}23456789012345678901",
        ] {
            assert!(!knows(text, now), "{text}");
        }
    }

    #[test]
    fn a_key_is_for_the_items_whose_urls_came_with_it() {
        let (keys, client) = (Keys::new().unwrap(), ["192.0.2.1".parse().unwrap()]);
        let now: Instant = "2026-11-21T02:13:00Z".parse().unwrap();
        let item = |number: u8| format!("a.org/a/2026/11.21.02.{number}").parse().unwrap();
        for given in [&[][..], &[13], &[13, 14], &[13, 14, 15]] {
            let items = given.iter().map(|number| item(*number)).collect();
            let key = keys.give(now, &client, &items).unwrap();
            assert!(key.parse::<UrlKey>().is_ok(), "{key}");
            for number in 12..17 {
                let is_known = keys.knows(&key, now, &client, &item(number));
                assert_eq!(is_known, given.contains(&number), "{given:?} {number}");
            }
        }
    }
}
