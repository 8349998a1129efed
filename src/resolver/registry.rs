//! The registry: which archives are registered, with which keys, and which of them are included [resolution, 5].
//!
//! It is one file of TOML that only its owner can read.

use std::fmt::Write as _;

use pbkdf2::pbkdf2_hmac;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::disk::random_hex;
use crate::identity::{HostPort, Identifier, Instant};
use crate::web::announcement::RegistrationKey;
use crate::web::private_file::{PrivateFile, PrivateFileError};

/// Rounds of the digest of new keys: a key of ten digits is guessed from the file in years, and not in minutes.
const ROUNDS: u32 = 200_000;
/// The archives of a resolver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    /// The registered archives, in the order of their registration.
    #[serde(default, rename = "archive", skip_serializing_if = "Vec::is_empty")]
    pub archives: Vec<RegisteredArchive>,
}

/// A registered archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisteredArchive {
    /// The identifier of its service.
    pub service: Identifier,
    /// Whether it may have an address that is not public.
    #[serde(default)]
    pub allow_private: bool,
    salt: String,
    rounds: u32,
    /// The digest of the key: PBKDF2-HMAC-SHA-256 over salt and key, in hexadecimal digits.
    key: String,
    /// Where it is, while it is included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub included: Option<Inclusion>,
}

/// The place of an included archive, as it was announced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inclusion {
    /// The address.
    pub address: HostPort,
    /// The IP address.
    pub ip: std::net::IpAddr,
    /// The version of its software.
    pub platform: String,
    /// The mail address of its administrator.
    pub email: String,
    /// When it was announced last.
    pub since: Instant,
    /// Whether the resolver reached it then.
    pub confirmed: bool,
}

/// Why the registry cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Its file cannot be read or changed.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// The archive is registered already.
    #[error("`{0}` is registered already")]
    Registered(Identifier),
    /// It is not registered.
    #[error("`{0}` is not registered")]
    Unknown(Identifier),
}

/// The file of a registry.
pub type RegistryFile = PrivateFile<Registry>;

/// The comment at its begin.
pub const REGISTRY_HEADER: &str = "The archives of a resolver. `urepo resolver register`, `list` and `remove` change and show it.";

impl RegisteredArchive {
    /// A new registration. This takes a moment: the digest of the key is slow on purpose.
    pub fn new(
        service: Identifier,
        key: &RegistrationKey,
        allow_private: bool,
    ) -> std::io::Result<RegisteredArchive> {
        let salt = random_hex::<16>()?;
        let key = digest(key, &salt, ROUNDS);
        Ok(RegisteredArchive { service, allow_private, salt, rounds: ROUNDS, key, included: None })
    }

    /// Whether it is registered with `key`. This takes a moment, too.
    fn has_key(&self, key: &RegistrationKey) -> bool {
        let digest = digest(key, &self.salt, self.rounds);
        // All bytes are compared: the time says nothing about the first that differs.
        let pairs = digest.bytes().zip(self.key.bytes());
        digest.len() == self.key.len()
            && pairs.fold(0, |all, (one, other)| all | (one ^ other)) == 0
    }
}

fn digest(key: &RegistrationKey, salt: &str, rounds: u32) -> String {
    let mut digest = [0; 32];
    pbkdf2_hmac::<Sha256>(key.reveal().as_bytes(), salt.as_bytes(), rounds, &mut digest);
    let mut text = String::with_capacity(2 * digest.len());
    for byte in digest {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

impl Registry {
    /// The archive with this service.
    pub fn archive(&self, service: &Identifier) -> Option<&RegisteredArchive> {
        self.archives.iter().find(|archive| archive.service == *service)
    }

    /// Whether an archive is registered with this service and `key`. The answer about one that is not takes as long: who is
    /// registered is nobody's business.
    pub fn has_key(&self, service: &Identifier, key: &RegistrationKey) -> bool {
        self.archive_or_decoy(service).has_key(key)
    }

    /// The archive with this service, or one that has no key.
    fn archive_or_decoy(&self, service: &Identifier) -> RegisteredArchive {
        self.archive(service).cloned().unwrap_or_else(|| RegisteredArchive {
            service: service.clone(),
            allow_private: false,
            salt: "0".repeat(32),
            rounds: ROUNDS,
            key: String::new(),
            included: None,
        })
    }

    /// The same, to be changed.
    pub fn archive_mut(
        &mut self,
        service: &Identifier,
    ) -> Result<&mut RegisteredArchive, RegistryError> {
        let found = self.archives.iter_mut().find(|archive| archive.service == *service);
        found.ok_or_else(|| RegistryError::Unknown(service.clone()))
    }

    /// Registers an archive; `replaces` one that is registered already.
    pub fn register(
        &mut self,
        archive: RegisteredArchive,
        replaces: bool,
    ) -> Result<(), RegistryError> {
        match self.archives.iter_mut().find(|it| it.service == archive.service) {
            Some(_) if !replaces => return Err(RegistryError::Registered(archive.service)),
            Some(found) => *found = archive,
            None => self.archives.push(archive),
        }
        Ok(())
    }

    /// Ends a registration.
    pub fn remove(&mut self, service: &Identifier) -> Result<(), RegistryError> {
        self.archive_mut(service)?;
        self.archives.retain(|archive| archive.service != *service);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_an_unknown_archive_is_checked_as_slowly() {
        let key: RegistrationKey = "1234567890".parse().unwrap();
        let service: Identifier = "example.org/a/2026/01.01.01.01".parse().unwrap();
        let known = RegisteredArchive::new(service.clone(), &key, false).unwrap();
        let mut registry = Registry::default();
        let decoy = registry.archive_or_decoy(&service);
        assert_eq!((decoy.rounds, decoy.salt.len()), (known.rounds, known.salt.len()));
        assert!(!registry.has_key(&service, &key));
        registry.register(known, false).unwrap();
        assert!(registry.has_key(&service, &key));
        assert!(!registry.has_key(&service, &"1234567891".parse().unwrap()));
    }
}
