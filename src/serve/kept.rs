//! Files that are asked for often: they stay open, so that an answer looks twice at the disk and reads once.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::opened::Opened;
use super::proof::{Proof, Proofs, Version};
use crate::collection::Collection;
use crate::disk;
use crate::identity::RepositoryName;
use crate::layout;
use crate::sidecar::AccessLevel;

/// Most files that are kept open.
const MOST: usize = 256;

type Key = (RepositoryName, Vec<u8>);

/// Files that were proved and given out, by item and path.
#[derive(Debug, Default)]
pub(super) struct KeptFiles(Mutex<HashMap<Key, Arc<KeptFile>>>);

/// A file, opened, and the places whose versions show that it is still the one.
#[derive(Debug)]
struct KeptFile {
    opened: Opened,
    sidecar: String,
    sidecar_version: disk::Version,
    payload: String,
}

impl KeptFiles {
    /// Keeps a proved file of the item `name`, whose sidecar has this version, for the next request.
    pub(super) fn keep(&self, opened: &Opened, name: &RepositoryName, version: disk::Version) {
        let item = layout::item_directory(name);
        let (sidecar, payload) =
            (item.join(layout::SIDECAR), item.join(layout::in_payload(opened.path.as_path())));
        // A name that is not UTF-8 is not worth a second way.
        let (Some(sidecar), Some(payload)) = (sidecar.to_str(), payload.to_str()) else { return };
        let key = (opened.sidecar.repository.clone(), opened.path.as_bytes().to_vec());
        let (sidecar, payload) = (sidecar.to_owned(), payload.to_owned());
        let file = KeptFile { opened: opened.clone(), sidecar, sidecar_version: version, payload };
        let mut kept = self.lock();
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(key, Arc::new(file));
    }

    /// The kept file at `path` of the item `name`, if neither its sidecar nor the file have changed since, and the client
    /// may read it.
    pub(super) fn find(
        &self,
        (collection, proofs): (&Collection, &Proofs),
        (name, path): (&RepositoryName, &[u8]),
        client: IpAddr,
    ) -> Option<Opened> {
        let key = (name.clone(), path.to_vec());
        let file = self.lock().get(&key).cloned()?;
        let Opened { sidecar, version, digest, .. } = &file.opened;
        let stat = |path: &str| collection.glance(path);
        let is_current = stat(&file.sidecar).is_some_and(|it| it.version() == file.sidecar_version)
            && stat(&file.payload).is_some_and(|it| Version::of(&it, *digest) == *version)
            && proofs.of(version) == Some(Proof::Whole);
        if !is_current {
            self.lock().remove(&key);
            return None;
        }
        (sidecar.access.level_at(client) == AccessLevel::Open).then(|| file.opened.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<KeptFile>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
