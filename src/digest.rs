//! SHA-256 digests: the fixity of everything stored. Others are only checked, where a source brings them.

use std::fmt;
use std::str::FromStr;

use sha2::Digest as _;

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

    /// The first of its bytes: evenly spread over whatever is digested.
    pub fn first_byte(&self) -> u8 {
        self.0[0]
    }

    /// The number in its first 64 bits, as evenly spread.
    pub(crate) fn leading_number(&self) -> i64 {
        self.0[..8].iter().fold(0, |number, byte| number << 8 | i64::from(*byte))
    }

    /// Its 32 bytes.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Takes bytes piece by piece and gives their digest.
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
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0_u8; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
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
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Digest(bytes))
    }
}

/// A digest that is checked, and not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
    /// MD5: it finds rot, and no forgery.
    Md5,
}

impl Algorithm {
    /// The algorithm that `name` means, in any case and with or without a hyphen.
    pub fn named(name: &str) -> Option<Algorithm> {
        match name.to_ascii_lowercase().replace('-', "").as_str() {
            "sha256" => Some(Algorithm::Sha256),
            "sha512" => Some(Algorithm::Sha512),
            "md5" => Some(Algorithm::Md5),
            _ => None,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::Sha256 => "SHA-256",
            Algorithm::Sha512 => "SHA-512",
            Algorithm::Md5 => "MD5",
        })
    }
}

/// What the bytes of a file are said to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    algorithm: Algorithm,
    value: Box<[u8]>,
}

impl Checksum {
    /// Reads the hexadecimal digits of a digest; nothing if their number is not the algorithm's.
    pub fn new(algorithm: Algorithm, text: &str) -> Option<Checksum> {
        let bytes = match algorithm {
            Algorithm::Sha256 => 32,
            Algorithm::Sha512 => 64,
            Algorithm::Md5 => 16,
        };
        let text = text.as_bytes();
        if text.len() != 2 * bytes {
            return None;
        }
        let pairs = text.chunks_exact(2);
        let value = pairs.map(|pair| Ok(digit(pair[0])? << 4 | digit(pair[1])?));
        let value = value.collect::<Result<Box<[u8]>, NotADigest>>().ok()?;
        Some(Checksum { algorithm, value })
    }

    /// How it was taken.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

/// Takes bytes piece by piece and finds out whether they have the checksums that were given.
pub struct Checker<'a>(Vec<(&'a Checksum, Taking)>);

enum Taking {
    Sha256(sha2::Sha256),
    Sha512(sha2::Sha512),
    Md5(md5::Md5),
}

impl<'a> Checker<'a> {
    /// A checker of all of `checksums`.
    pub fn new(checksums: &'a [Checksum]) -> Checker<'a> {
        let taking = |algorithm| match algorithm {
            Algorithm::Sha256 => Taking::Sha256(sha2::Sha256::default()),
            Algorithm::Sha512 => Taking::Sha512(sha2::Sha512::default()),
            Algorithm::Md5 => Taking::Md5(md5::Md5::default()),
        };
        Checker(checksums.iter().map(|checksum| (checksum, taking(checksum.algorithm))).collect())
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for (_, taking) in &mut self.0 {
            match taking {
                Taking::Sha256(hasher) => hasher.update(bytes),
                Taking::Sha512(hasher) => hasher.update(bytes),
                Taking::Md5(hasher) => hasher.update(bytes),
            }
        }
    }

    /// The first algorithm whose digest is not the one that was given.
    pub fn mismatch(self) -> Option<Algorithm> {
        let differs = |(checksum, taking): (&Checksum, Taking)| {
            let found = match taking {
                Taking::Sha256(hasher) => hasher.finalize().to_vec(),
                Taking::Sha512(hasher) => hasher.finalize().to_vec(),
                Taking::Md5(hasher) => hasher.finalize().to_vec(),
            };
            (*found != *checksum.value).then_some(checksum.algorithm)
        };
        self.0.into_iter().find_map(differs)
    }
}

fn digit(character: u8) -> Result<u8, NotADigest> {
    match character {
        b'0'..=b'9' => Ok(character - b'0'),
        b'a'..=b'f' => Ok(character - b'a' + 10),
        b'A'..=b'F' => Ok(character - b'A' + 10),
        _ => Err(NotADigest),
    }
}

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
        assert_eq!(text.replace('b', "g").parse::<Digest>(), Err(NotADigest));
    }

    #[test]
    fn checks_what_was_given() {
        let md5 = "900150983cd24fb0d6963f7d28e17f72";
        let sha512 = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                      2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
        let given = [(Algorithm::Md5, md5), (Algorithm::Sha512, sha512)]
            .map(|(algorithm, text)| Checksum::new(algorithm, text).unwrap());
        let mismatch = |bytes: &[u8]| {
            let mut checker = Checker::new(&given);
            checker.update(bytes);
            checker.mismatch()
        };
        assert_eq!(mismatch(b"abc"), None);
        assert_eq!(mismatch(b"abd"), Some(Algorithm::Md5));
        assert_eq!(Checksum::new(Algorithm::Sha256, md5), None);
    }
}
