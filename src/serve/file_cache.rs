//! A cache of open files: an answer from it takes two looks at the disk, and one read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::payload_file::PayloadFile;
use super::proof::{Proof, Proofs, Version};
use crate::collection::Collection;
use crate::disk;
use crate::identity::RepositoryName;
use crate::layout;
use crate::sidecar::AccessLevel;
use crate::web::head::Client;

/// The largest number of files.
const MOST: usize = 256;

type Key = (RepositoryName, Vec<u8>);

/// Files that were proved and given out, by item and path.
#[derive(Debug, Default)]
pub(super) struct FileCache(Mutex<HashMap<Key, Arc<CachedFile>>>);

/// A file, opened, and the places whose versions show that it is still the one.
#[derive(Debug)]
struct CachedFile {
    file: PayloadFile,
    sidecar: String,
    sidecar_version: disk::Version,
    payload: String,
}

impl FileCache {
    /// Adds a proved file of an item whose sidecar has this version.
    pub(super) fn insert(&self, file: &PayloadFile, version: disk::Version) {
        let item = layout::item_directory(&file.name);
        let (sidecar, payload) =
            (item.join(layout::SIDECAR), item.join(layout::in_payload(file.path.as_path())));
        // A name that is not UTF-8 is not worth a second way.
        let (Some(sidecar), Some(payload)) = (sidecar.to_str(), payload.to_str()) else { return };
        let key = (file.name.clone(), file.path.as_bytes().to_vec());
        let (sidecar, payload) = (sidecar.to_owned(), payload.to_owned());
        let cached = CachedFile { file: file.clone(), sidecar, sidecar_version: version, payload };
        let mut files = self.lock();
        if files.len() >= MOST {
            files.clear();
        }
        files.insert(key, Arc::new(cached));
    }

    /// The cached file at `path` of the item `name`, if neither its sidecar nor the file have changed since, and the client
    /// may read it.
    pub(super) fn find(
        &self,
        (collection, proofs): (&Collection, &Proofs),
        (name, path): (&RepositoryName, &[u8]),
        client: Client,
    ) -> Option<PayloadFile> {
        let key = (name.clone(), path.to_vec());
        let cached = self.lock().get(&key).cloned()?;
        let PayloadFile { access, version, digest, .. } = &cached.file;
        let stat = |path: &str| collection.glance(path);
        let is_current = stat(&cached.sidecar)
            .is_some_and(|it| it.version() == cached.sidecar_version)
            && stat(&cached.payload).is_some_and(|it| Version::of(&it, *digest) == *version)
            && matches!(proofs.of(version), Some(Proof::Whole(_)));
        if !is_current {
            self.lock().remove(&key);
            return None;
        }
        (access.level_at(client.address()) == AccessLevel::Open).then(|| cached.file.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<CachedFile>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
