//! A collection as an archive on the web.

use std::path::Path;
use std::sync::Arc;

use super::access::AccessCounter;
use super::fault_log::FaultLog;
use super::file_cache::FileCache;
use super::key::Keys;
use super::proof::Proofs;
use super::service_item::ServiceItem;
use super::sidecars::Sidecars;
use crate::catalog::{Catalog, CatalogError, RefreshContext};
use crate::collection::{Collection, Scheme, UrlBase};
use crate::disk::LockError;
use crate::identity::{HostPort, Identifier, RepositoryName};
use crate::resolve::{Announced, Forms};
use crate::sidecar::Network;
use crate::wait::Waiter;

/// How a collection is exposed.
#[derive(Clone, Debug)]
pub struct Exposure {
    /// The address at which readers and resolvers reach it. All URLs are made from it, and none from a request.
    pub address: HostPort,
    /// The scheme of its URLs.
    pub scheme: Scheme,
    /// The mail address of its administrator.
    pub email: Option<String>,
    /// The networks of resolvers whose acknowledgments are counted; all if there are none.
    pub resolver_from: Vec<Network>,
    /// The IP address that a resolver is given, if it is not the one of the connection to it.
    pub ip: Option<std::net::IpAddr>,
}

/// An archive: a collection, and what it answers with.
#[derive(Debug)]
pub struct Archive {
    pub(super) collection: Collection,
    pub(super) exposed: Exposure,
    pub(super) announced: Announced,
    /// All forms of the identifier of its service.
    pub(super) service: Vec<Identifier>,
    pub(super) keys: Keys,
    pub(super) proofs: Proofs,
    pub(super) files: FileCache,
    pub(super) accesses: AccessCounter,
    pub(super) faults: FaultLog,
}

impl Archive {
    /// `collection` as an archive whose service is `service`.
    pub fn new(
        collection: Collection,
        exposed: Exposure,
        service: ServiceItem,
    ) -> std::io::Result<Archive> {
        let announced = Announced {
            address: Some(exposed.address.clone()),
            scheme: exposed.scheme,
            service: service.registered,
            software: Forms::default(),
            // Each answer has a key of its own.
            key: None,
            runs_programs: false,
        };
        Ok(Archive {
            collection,
            exposed,
            announced,
            service: service.names,
            keys: Keys::new()?,
            proofs: Proofs::default(),
            files: FileCache::default(),
            accesses: AccessCounter::default(),
            faults: FaultLog::default(),
        })
    }

    /// The same archive, which keeps sidecars there.
    pub(super) fn with_sidecars(self, sidecars: &Arc<Sidecars>) -> Archive {
        let sidecars = Arc::clone(sidecars);
        Archive { collection: self.collection.with_sidecars(sidecars), ..self }
    }

    /// The collection.
    pub fn collection(&self) -> &Collection {
        &self.collection
    }

    /// How it is exposed.
    pub fn exposed(&self) -> &Exposure {
        &self.exposed
    }

    /// Writes what has been counted of accesses into the state directory of a machine. After an error, nothing is lost.
    pub fn write_accesses(&self, state: &Path, waiter: &Waiter<'_>) -> Result<(), LockError> {
        self.accesses.write(&state.join(self.collection.id()), waiter)
    }

    /// Lets the index follow the ledger: it alone leads from labels of another date to their items. Returns the number
    /// of places that cannot be read, because of which the next time reads more; `None` where no index can be kept.
    pub fn follow_ledger(
        &self,
        context: &RefreshContext<'_>,
    ) -> Result<Option<usize>, CatalogError> {
        let Some(path) = self.collection.index_path() else { return Ok(None) };
        match Catalog::kept(&self.collection, path, context, false) {
            Err(error) if error.is_unwritable() => Ok(None),
            catalog => Ok(Some(catalog?.report().unreadable.len())),
        }
    }

    /// The URL of the archive.
    pub fn url(&self) -> String {
        format!("{}/", self.base())
    }

    /// The URL of its service.
    pub fn service_url(&self) -> String {
        format!("{}/{}", self.base(), self.service_name())
    }

    /// The identifier of its service, as it is registered.
    pub(super) fn service_name(&self) -> String {
        let Forms { repository, ibip } = &self.announced.service;
        let name = repository.as_ref().map(ToString::to_string);
        name.or_else(|| ibip.as_ref().map(ToString::to_string)).unwrap_or_default()
    }

    /// The beginning of its URLs, without a slash.
    pub(super) fn base(&self) -> String {
        format!("{}://{}", self.exposed.scheme, self.exposed.address)
    }

    /// Whether a request for `host` is for this archive.
    pub(super) fn is_at(&self, host: &HostPort) -> bool {
        self.exposed.address.is_same(host, self.exposed.scheme.usual_port())
    }

    /// The beginning of the persistent URLs that are cited: those of a resolver, else its own.
    pub(super) fn cited_base(&self) -> UrlBase {
        let own = || UrlBase::of(self.exposed.scheme, &self.exposed.address);
        self.collection.settings().archive.url_base.clone().unwrap_or_else(own)
    }

    /// The persistent URL of `name`, for citing it.
    pub(super) fn persistent(&self, name: &RepositoryName) -> String {
        self.cited_base().join(name)
    }

    /// The beginning of the persistent URLs of a resolver, if one is known. This archive is none, even if `url_base` says so: a
    /// reader who is sent there comes back.
    pub(super) fn resolver_base(&self) -> Option<&UrlBase> {
        let base = self.collection.settings().archive.url_base.as_ref();
        base.filter(|base| !base.is_at(&self.exposed.address))
    }

    /// The same request at the resolver, if one is known. `target` may begin with a slash.
    pub(super) fn elsewhere(&self, target: &str) -> Option<String> {
        Some(self.resolver_base()?.join(target))
    }
}
