//! SHA-256 digests: the fixity of everything stored. Digests by other algorithms are checked if they come
//! with a source, and kept in `[origin]`.

mod checksum;

use std::fmt;
use std::str::FromStr;

use sha2::Digest as _;

pub use checksum::{Algorithm, Checker, Checksum};

/// A SHA-256 digest, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Digest {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// Half of it, as a number that no two texts share.
    pub(crate) fn half(&self) -> u128 {
        self.0[..16].iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
    }

    /// The 64 hexadecimal digits.
    pub(crate) fn digits(&self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0_u8; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        text
    }

    /// The number in its first 64 bits, as evenly spread.
    pub(crate) fn leading_number(&self) -> i64 {
        let mut leading = [0; 8];
        leading.copy_from_slice(&self.0[..8]);
        i64::from_be_bytes(leading)
    }

    /// Its 32 bytes.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Digests bytes piece by piece.
#[derive(Clone, Default)]
pub struct Hasher(sha2::Sha256);

impl Hasher {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes added.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.digits();
        f.pad(std::str::from_utf8(&text).expect("because hexadecimal digits are ASCII"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a SHA-256 digest of 64 hexadecimal digits")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Digest, NotADigest> {
        let text = text.as_bytes();
        if text.len() != 64 {
            return Err(NotADigest);
        }
        let mut bytes = [0_u8; 32];
        read_digits(text, &mut bytes)?;
        Ok(Digest(bytes))
    }
}

/// Reads two hexadecimal digits for each of `bytes`.
fn read_digits(text: &[u8], bytes: &mut [u8]) -> Result<(), NotADigest> {
    // A sidecar has a digest for each file. Branches on random digits would be mispredicted.
    let mut all = 0;
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = [pair[0], pair[1]].map(|it| DIGITS[usize::from(it)]);
        all |= high | low;
        *byte = high << 4 | low & 0xf;
    }
    if all == NO_DIGIT { Err(NotADigest) } else { Ok(()) }
}

/// The value in [`DIGITS`] of a character that is not a hexadecimal digit.
const NO_DIGIT: u8 = 0xff;

/// The value of each character as a hexadecimal digit.
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        digits[b"0123456789ABCDEF"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_reads_the_published_example() {
        let digest = Digest::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.to_uppercase().parse(), Ok(digest));
        assert_eq!(text[1..].parse::<Digest>(), Err(NotADigest));
        for at in 0..text.len() {
            for wrong in ["g", "G", "/", ":", "@", "`", " "] {
                let mut text = text.to_owned();
                text.replace_range(at..=at, wrong);
                assert_eq!(text.parse::<Digest>(), Err(NotADigest), "{text}");
            }
        }
        assert_eq!(text.replace('b', "g").parse::<Digest>(), Err(NotADigest));
    }
}
