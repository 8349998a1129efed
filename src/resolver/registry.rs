//! The registry: which archives are registered, with which keys, and which of them are included [resolution, 5].
//!
//! It is one file of TOML that only its owner can read. Every change replaces it, durably and under a lock, so that the
//! resolver and the commands of its administrator can run side by side.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pbkdf2::pbkdf2_hmac;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::agent::Caller;
use crate::disk::{Dir, Lock, LockError, LockMode, PathError, Version, Watcher, random_hex};
use crate::identity::{HostPort, Identifier, Instant};
use crate::web::announcement::RegistrationKey;

/// Rounds of the digest of new keys: a key of ten digits is guessed from the file in years, and not in minutes.
const ROUNDS: u32 = 200_000;
/// Most bytes of the file.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

const HEADER: &str = "# The archives of a resolver. `urepo resolver register`, `list` and `remove` change and show it.\n";

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
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
    /// Another process changes it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// It is not a registry.
    #[error("`{}` is not the registry of a resolver", .0.display())]
    Content(PathBuf, #[source] Box<toml::de::Error>),
    /// Others can read it.
    #[error("others can read the registry `{}`", .0.display())]
    Open(PathBuf),
    /// The archive is registered already.
    #[error("`{0}` is registered already")]
    Registered(Identifier),
    /// It is not registered.
    #[error("`{0}` is not registered")]
    Unknown(Identifier),
}

/// The file of a registry.
#[derive(Debug)]
pub struct RegistryFile {
    dir: Dir,
    name: String,
}

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
    pub fn has_key(&self, key: &RegistrationKey) -> bool {
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

impl RegistryFile {
    /// The registry at `path`, which need not exist yet.
    pub fn at(path: &Path, watcher: Watcher) -> Result<RegistryFile, RegistryError> {
        let name = path.file_name().and_then(std::ffi::OsStr::to_str);
        let (Some(above), Some(name)) = (path.parent(), name) else {
            let error = std::io::ErrorKind::InvalidFilename.into();
            return Err(PathError::new("open", path, error).into());
        };
        Ok(RegistryFile { dir: Dir::open(above, watcher)?, name: name.to_owned() })
    }

    /// Reads it; an empty registry if there is none.
    pub fn read(&self) -> Result<Registry, RegistryError> {
        let Some(mut file) = self.dir.open_file_if_there(&self.name)? else {
            return Ok(Registry::default());
        };
        if file.stat()?.mode & 0o077 != 0 {
            return Err(RegistryError::Open(self.path()));
        }
        let text = String::from_utf8_lossy(&file.read_all(MOST_BYTES)?).into_owned();
        toml::from_str(&text).map_err(|error| RegistryError::Content(self.path(), Box::new(error)))
    }

    /// Changes it under its lock; the change is durable when this returns.
    pub fn change<T>(
        &self,
        caller: &Caller<'_>,
        change: impl FnOnce(&mut Registry) -> Result<T, RegistryError>,
    ) -> Result<(Registry, T), RegistryError> {
        let (lock, mode) = (format!("{}.lock", self.name), LockMode::Exclusive);
        let holder = caller.agent.holder(caller.clock);
        let _lock = Lock::take(&self.dir, &lock, mode, &holder, &caller.waiter())?;
        let mut registry = self.read()?;
        let before = registry.clone();
        let outcome = change(&mut registry)?;
        if registry != before {
            self.write(&registry)?;
        }
        Ok((registry, outcome))
    }

    fn write(&self, registry: &Registry) -> Result<(), RegistryError> {
        let text = toml::to_string(registry).map_err(|error| {
            PathError::new("write", self.path(), std::io::Error::other(error.to_string()))
        })?;
        let staged = format!("{}.new", self.name);
        // That of a replacement which was killed.
        self.dir.remove_file_if_there(Path::new(&staged))?;
        let mut file = self.dir.create_file_with_mode(&staged, 0o600)?;
        file.write_all(format!("{HEADER}\n{text}").as_bytes())?;
        file.sync()?;
        Ok(self.dir.replace_with(&staged, &self.name)?)
    }

    /// A value that changes when the file does.
    pub(super) fn version(&self) -> Option<Version> {
        self.dir.glance(&self.name).map(|stat| stat.version())
    }

    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.dir.path_of(&self.name)
    }
}
