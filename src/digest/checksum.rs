//! Digests by other algorithms, which come with bags.

use std::fmt;

use sha2::digest::DynDigest;

use super::read_digits;

/// The algorithm of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// MD5: it detects rot, but not forgery.
    Md5,
    /// SHA-1: it detects rot, but not a well-funded forgery.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Algorithm {
    /// All of them, with their names.
    const ALL: [(Algorithm, &str); 6] = [
        (Algorithm::Md5, "MD5"),
        (Algorithm::Sha1, "SHA-1"),
        (Algorithm::Sha224, "SHA-224"),
        (Algorithm::Sha256, "SHA-256"),
        (Algorithm::Sha384, "SHA-384"),
        (Algorithm::Sha512, "SHA-512"),
    ];

    /// The algorithm that `name` means, in any case and with or without a hyphen.
    pub fn named(name: &str) -> Option<Algorithm> {
        let plain = |name: &str| name.to_ascii_lowercase().replace('-', "");
        let wanted = plain(name);
        Algorithm::ALL.iter().find(|(_, name)| plain(name) == wanted).map(|(it, _)| *it)
    }

    /// Its name as part of file names: `sha256`.
    pub fn key(self) -> String {
        self.to_string().to_ascii_lowercase().replace('-', "")
    }

    fn hasher(self) -> Box<dyn DynDigest + Send> {
        match self {
            Algorithm::Md5 => Box::new(md5::Md5::default()),
            Algorithm::Sha1 => Box::new(sha1::Sha1::default()),
            Algorithm::Sha224 => Box::new(sha2::Sha224::default()),
            Algorithm::Sha256 => Box::new(sha2::Sha256::default()),
            Algorithm::Sha384 => Box::new(sha2::Sha384::default()),
            Algorithm::Sha512 => Box::new(sha2::Sha512::default()),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Algorithm::Md5 => 16,
            Algorithm::Sha1 => 20,
            Algorithm::Sha224 => 28,
            Algorithm::Sha256 => 32,
            Algorithm::Sha384 => 48,
            Algorithm::Sha512 => 64,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Algorithm::ALL.iter().find(|(it, _)| it == self);
        f.pad(name.map_or("", |(_, name)| name))
    }
}

/// The expected digest of a file; printed as lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    algorithm: Algorithm,
    value: Box<[u8]>,
}

impl Checksum {
    /// Reads the hexadecimal digits of a digest; `None` if their number does not fit the algorithm.
    pub fn new(algorithm: Algorithm, text: &str) -> Option<Checksum> {
        let text = text.as_bytes();
        if text.len() != 2 * algorithm.bytes() {
            return None;
        }
        let mut value = vec![0; algorithm.bytes()].into_boxed_slice();
        read_digits(text, &mut value).ok()?;
        Some(Checksum { algorithm, value })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Compares bytes, taken piece by piece, with the given checksums.
pub struct Checker<'a>(Vec<(&'a Checksum, Box<dyn DynDigest + Send>)>);

impl<'a> Checker<'a> {
    /// A checker of all of `checksums`.
    pub fn new(checksums: &'a [Checksum]) -> Checker<'a> {
        Checker(checksums.iter().map(|it| (it, it.algorithm.hasher())).collect())
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for (_, hasher) in &mut self.0 {
            hasher.update(bytes);
        }
    }

    /// The first algorithm whose digest differs from the given one.
    pub fn mismatch(self) -> Option<Algorithm> {
        self.0.into_iter().find_map(|(checksum, hasher)| {
            (hasher.finalize() != checksum.value).then_some(checksum.algorithm)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published digests of `abc`, as programs that write bags name them.
    const ABC: [(&str, &str); 6] = [
        ("md5", "900150983cd24fb0d6963f7d28e17f72"),
        ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("sha224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "sha384",
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
             8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            "sha512",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
    ];

    #[test]
    fn checks_what_was_given() {
        for (name, text) in ABC {
            let algorithm = Algorithm::named(name).unwrap();
            assert_eq!(algorithm.key(), name);
            assert_eq!(Algorithm::named(&algorithm.to_string()), Some(algorithm));
            let given = Checksum::new(algorithm, &text.to_uppercase()).unwrap();
            assert_eq!(given.to_string(), text);
            assert_eq!(Checksum::new(algorithm, &text[2..]), None);
            let given = [given];
            let mismatch = |bytes: &[u8]| {
                let mut checker = Checker::new(&given);
                checker.update(bytes);
                checker.mismatch()
            };
            assert_eq!(mismatch(b"abc"), None, "{name}");
            assert_eq!(mismatch(b"abd"), Some(algorithm), "{name}");
        }
        assert_eq!(Algorithm::named("sha3256"), None);
    }

    #[test]
    fn checks_all_of_several() {
        let given = ABC.map(|(name, text)| {
            let text = if name == "sha384" { "0".repeat(96) } else { text.to_owned() };
            Checksum::new(Algorithm::named(name).unwrap(), &text).unwrap()
        });
        let mut checker = Checker::new(&given);
        checker.update(b"a");
        checker.update(b"bc");
        assert_eq!(checker.mismatch(), Some(Algorithm::Sha384));
    }
}
