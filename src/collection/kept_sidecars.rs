//! Sidecars that a process keeps in memory, as a server does: a collection that has such a place reads them through it.

use std::path::Path;
use std::sync::Arc;

use super::CollectionError;
use crate::disk::Version;
use crate::sidecar::{Seal, Sidecar};

/// A sidecar without its text.
#[derive(Clone, Debug)]
pub(crate) struct KeptSidecar {
    /// With the state of its custody.
    pub sidecar: Sidecar,
    pub seal: Seal,
    pub version: Version,
}

/// Sidecars that a process keeps, because it needs the same ones again and again.
pub(crate) trait SidecarCache: std::fmt::Debug + Send + Sync {
    /// The sidecar of the item at `path`, which has this version: the kept one, or the one that `read` reads.
    fn sidecar(
        &self,
        path: &Path,
        version: Version,
        read: &dyn Fn() -> Result<KeptSidecar, CollectionError>,
    ) -> Result<Arc<KeptSidecar>, CollectionError>;
}
