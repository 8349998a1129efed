//! The item that the service of an archive is: an Original that never migrates [resolution, 5 and 7].

use std::ops::ControlFlow;

use crate::agent::Caller;
use crate::catalog::{Catalog, CatalogError, RefreshContext};
use crate::collection::{Collection, CollectionError, IssueOptions, Issuer};
use crate::deposit::{
    CollisionRule, DepositError, Depositor, Options, Preset, Request, Source, SourceRule,
};
use crate::disk::{Links, PathError};
use crate::holdings::Peers;
use crate::identity::{Identifier, RepositoryName};
use crate::index::Query;
use crate::item::{PayloadPath, State};
use crate::resolve::Forms;
use crate::sidecar::Metadata;

/// The value of `type` in the description of a service.
const TYPE: &str = "archive-service";
/// Its payload, and what is in it: no address, which may change.
const FILE: &str = "service.txt";
const TEXT: &str = "This item is the archive service of this collection. At its identifier, the web server of the archive \
                    answers requests of the IBI resolution system (ABNT/INPE): inclusionConfirmationRequest, urlRequest and \
                    acknowledgment.\n";

/// The service of an archive.
#[derive(Clone, Debug)]
pub struct ServiceItem {
    /// Its identifier in the form that is registered at the resolver.
    pub registered: Forms,
    /// All its identifiers.
    pub names: Vec<Identifier>,
    /// Whether it has just been made.
    pub is_new: bool,
}

/// Why an archive has no service.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The item is not an Original of the collection.
    #[error("`{0}` is not an Original of this collection, so it cannot be its archive service")]
    NotOriginal(Identifier),
    /// It may migrate.
    #[error("`{0}` is transferable, so it cannot be the archive service of this collection")]
    Transferable(Identifier),
    /// The collection issues no identifiers, and names no service.
    #[error("this collection has no archive service, and issues no identifier for one")]
    None,
    /// The item cannot be made.
    #[error("the archive service cannot be deposited")]
    Deposit(#[source] Box<DepositError>),
    /// The index cannot be used.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The collection cannot be used.
    #[error(transparent)]
    Collection(#[from] CollectionError),
}

impl From<PathError> for ServiceError {
    fn from(error: PathError) -> ServiceError {
        ServiceError::Collection(error.into())
    }
}

/// The service that `named` is in `collection`.
pub fn service_of(
    collection: &Collection,
    named: &Identifier,
) -> Result<ServiceItem, ServiceError> {
    for item in collection.items_of(named)? {
        let (sidecar, _) = item.sidecar()?;
        if sidecar.state != State::Original {
            continue;
        }
        if sidecar.transferable {
            return Err(ServiceError::Transferable(named.clone()));
        }
        let names = sidecar.identifiers();
        return Ok(ServiceItem { registered: Forms::from(named.clone()), names, is_new: false });
    }
    Err(ServiceError::NotOriginal(named.clone()))
}

/// The service of `collection`: the one that `urepo.toml` names; else one that was made and not written down; else a new
/// one. Its identifier is in `urepo.toml` afterwards.
pub fn ensure_service(
    collection: &Collection,
    caller: &Caller<'_>,
    issue: &IssueOptions,
) -> Result<ServiceItem, ServiceError> {
    if let Some(named) = &collection.settings().archive.service {
        return service_of(collection, named);
    }
    if collection.settings().subsystems.is_empty() {
        return Err(ServiceError::None);
    }
    let (name, is_new) = match unnamed(collection, caller)? {
        Some(name) => (name, false),
        None => (deposit(collection, caller, issue)?, true),
    };
    collection.note_service(&name, caller.agent, &caller.waiter())?;
    Ok(ServiceItem { is_new, ..service_of(collection, &Identifier::Repository(name))? })
}

/// A service whose maker was killed before it wrote the name down.
fn unnamed(
    collection: &Collection,
    caller: &Caller<'_>,
) -> Result<Option<RepositoryName>, ServiceError> {
    let mut catalog = Catalog::open(collection, &RefreshContext { caller: *caller, jobs: 1 })?;
    let query = Query::default().state(Some(State::Original)).term("type", TYPE);
    let query = query.expect("because `type` is a term");
    let mut found = None;
    catalog.find(&query, |hit| {
        let identifier = Identifier::Repository(hit.name);
        found = service_of(collection, &identifier).ok().map(|_| identifier);
        Ok(if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(found.and_then(|found| match found {
        Identifier::Repository(name) => Some(name),
        Identifier::Ibip(_) | Identifier::Legacy(_) => None,
    }))
}

fn deposit(
    collection: &Collection,
    caller: &Caller<'_>,
    issue: &IssueOptions,
) -> Result<RepositoryName, ServiceError> {
    let failed = |error: DepositError| ServiceError::Deposit(Box::new(error));
    let issuer = Issuer::new(collection, caller.agent, caller.clock, issue)?;
    let writer = collection.writer(caller.agent, &caller.waiter())?;
    let depositor = Depositor {
        collection,
        issuer,
        writer,
        options: Options {
            links: Links::Refuse,
            twins: CollisionRule::Refuse,
            sources: SourceRule::Keep,
            jobs: 1,
        },
        peers: Peers::default(),
        known: None,
        clock: caller.clock,
        progress: caller.progress,
        interrupt: caller.interrupt,
    };
    let mut made = None;
    let request = request(&collection.settings().name);
    let summary = depositor.run(std::iter::once(request), |outcomes| {
        made = outcomes.into_iter().next().map(|outcome| outcome.result);
        Ok(())
    });
    match (made, summary.fatal) {
        (Some(Ok(deposited)), _) => Ok(deposited.label.name),
        (Some(Err(error)), _) | (None, Some(error)) => Err(failed(error)),
        (None, None) => Err(ServiceError::None),
    }
}

fn request(collection: &str) -> Request {
    let mut description = toml::Table::new();
    description.insert("title".to_owned(), format!("Archive service of {collection}").into());
    description.insert("type".to_owned(), TYPE.into());
    let mut given = Preset::default();
    given.conditions.transferable = false;
    let name = PayloadPath::from_text(FILE).expect("because it is one word");
    Request {
        source: Source::Stream { name, reader: Box::new(TEXT.as_bytes()) },
        target: None,
        metadata: Metadata::as_found(description),
        given,
    }
}
