//! The archive service over HTTP: Algorithm 1 of the standard, for a client at an address.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::IpAddr;

use hyper::StatusCode;

use super::acknowledgment::Acknowledgment;
use super::archive::Archive;
use super::proof::{Proof, Version};
use super::route::{Route, route};
use crate::collection::CollectionError;
use crate::custody::Standing;
use crate::identity::{FormatName, Identifier, Instant, RepositoryName, Verbs};
use crate::item::{Content, PayloadPath, State, position};
use crate::resolve::{
    Archive as Answers, Destination, DestinationKind, Forms, HeldItem, ItemRecord, Items,
    LocalArchive, Part, Request, RequestError, UrlRequest, answer,
};
use crate::sidecar::AccessLevel;
use crate::web::answer::{Answer, text};
use crate::web::head::Client;

/// The answer to the query of a request to the service.
pub(super) fn answer_query(
    archive: &Archive,
    query: &str,
    (client, now): (Client, Instant),
) -> Result<Answer, CollectionError> {
    let refuse = |notice: String| Ok(text(StatusCode::BAD_REQUEST, notice));
    let read = Request::of_query(query).and_then(|request| match request {
        Request::Acknowledgment => Ok((request, Some(Acknowledgment::of_query(query)?))),
        request => Ok((request, None)),
    });
    let (request, acknowledged) = match read {
        Ok(read) => read,
        Err(RequestError::UnknownSubject) => {
            return refuse("notice {unknown service subject}".to_owned());
        }
        Err(RequestError::Pair(name)) => return refuse(format!("notice {{invalid pair {name}}}")),
    };
    if let Some(it) = acknowledged {
        let item = archive.own_item(&it.url).filter(|item| {
            archive.keys.knows(&it.key, now, &it.addresses, item) && archive.is_resolver(client)
        });
        tracing::info!(url = it.url, counted = item.is_some(), "acknowledged");
        if let (Some(item), Some(reader)) = (item, it.addresses.first()) {
            archive.accesses.acknowledged(&item, Client::At(*reader), &it.key, now);
        }
    }
    let addresses = match &request {
        Request::Url(UrlRequest { addresses, .. }) => addresses.as_slice(),
        Request::Acknowledgment | Request::Confirmation => &[],
    };
    let pairs = answer(&request, &ArchiveForClient::new(archive, addresses, now))?;
    Ok(text(StatusCode::OK, pairs.to_string()))
}

impl Archive {
    /// The item of a URL of this archive.
    fn own_item(&self, url: &str) -> Option<RepositoryName> {
        match route(url.strip_prefix(&self.base())?, &[]).ok()? {
            Route::Content { name, .. } => Some(name),
            Route::Item(url) => match url.identifier {
                Identifier::Repository(name) => Some(name),
                _ => None,
            },
            Route::About | Route::Service(_) => None,
        }
    }

    /// Whether acknowledgments from `client` are counted.
    fn is_resolver(&self, client: Client) -> bool {
        let networks = &self.exposed.resolver_from;
        let is_in = |client| networks.iter().any(|network| network.contains(client));
        networks.is_empty() || client.address().is_some_and(is_in)
    }
}

/// The archive, answering a client.
struct ArchiveForClient<'a> {
    archive: &'a Archive,
    local: LocalArchive<'a>,
    /// The addresses of the reader, as the resolver names them. The files themselves go by the connection.
    addresses: &'a [IpAddr],
    now: Instant,
    /// The items that were looked up: each relation begins at the same one.
    seen: RefCell<HashMap<Identifier, Option<HeldItem>>>,
}

impl<'a> ArchiveForClient<'a> {
    fn new(archive: &'a Archive, addresses: &'a [IpAddr], now: Instant) -> ArchiveForClient<'a> {
        let local = LocalArchive::new(&archive.collection, &archive.announced);
        ArchiveForClient { archive, local, addresses, now, seen: RefCell::default() }
    }

    fn level(&self, item: &HeldItem) -> AccessLevel {
        item.sidecar.access.level_at(self.addresses.first().copied())
    }

    /// Whether a file is known to be damaged: then it has no URL, and a Copy elsewhere answers.
    fn is_damaged(&self, item: &HeldItem, path: &[u8]) -> Result<bool, CollectionError> {
        if !self.archive.proofs.knows_damage() {
            return Ok(false);
        }
        let Ok(path) = item.file(path) else { return Ok(false) };
        let files = &item.sidecar.files;
        let entry = position(files, path.as_path()).map(|at| &files[at].content);
        let Some(Content::File { digest, .. }) = entry else { return Ok(false) };
        let stored = self.archive.collection.item(&item.record.name)?;
        let stat = stored.stat(crate::layout::in_payload(path.as_path()))?;
        let version = stat.map(|stat| Version::of(&stat, *digest));
        Ok(version.is_some_and(|it| self.archive.proofs.of(&it) == Some(Proof::Damaged)))
    }
}

impl Items for ArchiveForClient<'_> {
    type Item = HeldItem;
    type Error = CollectionError;

    fn item(&self, identifier: &Identifier) -> Result<Option<HeldItem>, CollectionError> {
        if let Some(seen) = self.seen.borrow().get(identifier) {
            return Ok(seen.clone());
        }
        let mut found = match self.local.item(identifier) {
            Ok(found) => found,
            // A draft, or a sidecar that nobody can read: for a resolver, it is not here.
            Err(error @ (CollectionError::NoSidecar { .. } | CollectionError::Sidecar { .. })) => {
                self.archive.faults.note_error(&error, "damage", self.now);
                None
            }
            Err(error) => return Err(error),
        };
        found = found.filter(|item| item.standing != Standing::Damaged);
        if let Some(item) = &mut found
            && item.record.state == State::Original
            && item.standing == Standing::Behind
        {
            // The Original was put back from a backup: a later state of it is known.
            item.record.state = State::Copy;
        }
        self.seen.borrow_mut().insert(identifier.clone(), found.clone());
        Ok(found)
    }

    fn renders(&self, format: &FormatName) -> bool {
        self.local.renders(format)
    }
}

impl Answers for ArchiveForClient<'_> {
    fn address(&self) -> String {
        self.local.address()
    }

    fn service(&self) -> Forms {
        self.local.service()
    }

    fn software(&self) -> Forms {
        self.local.software()
    }

    fn key(&self, urls: &[&str]) -> Option<String> {
        let items = urls.iter().filter_map(|url| self.archive.own_item(url)).collect();
        // Without random bytes the answer has no key, and is not counted.
        self.archive.keys.give(self.now, self.addresses, &items).ok()
    }

    /// Only the relations that the filter leaves: the requested one, and the way to it.
    fn relations(&self, item: &ItemRecord, verbs: &Verbs) -> Result<Vec<Verbs>, CollectionError> {
        let name = Identifier::Repository(item.name.clone());
        let mut all = Vec::new();
        for length in 0..=verbs.steps().len() {
            all.extend(self.local.expanded(&name, &verbs.before(length))?);
        }
        Ok(all)
    }

    fn admitted(&self, destination: Destination<HeldItem>) -> Destination<HeldItem> {
        let is_files = !matches!(destination.kind, DestinationKind::Description { .. });
        if is_files && self.level(&destination.item) == AccessLevel::Metadata {
            let kind = DestinationKind::Description { format: None, item: None };
            return Destination { kind, ..destination };
        }
        destination
    }

    fn url(
        &self,
        destination: &Destination<HeldItem>,
        part: Part<'_>,
    ) -> Result<Option<String>, CollectionError> {
        let item = &destination.item;
        let part = match (self.level(item), &destination.kind) {
            // The page there says that the item is closed.
            (AccessLevel::Closed, _) => {
                return Ok(Some(format!("{}/{}", self.archive.base(), item.record.name)));
            }
            // The description stands for each part of the item.
            (AccessLevel::Metadata, DestinationKind::Description { .. }) => Part::Target,
            _ => part,
        };
        let path = match (&destination.kind, part) {
            (DestinationKind::Description { .. }, _) | (_, Part::FileList) => None,
            (_, Part::File(path)) => Some(path),
            (_, Part::Target) => item.sidecar.target.as_ref().map(PayloadPath::as_bytes),
        };
        if path.map_or(Ok(false), |path| self.is_damaged(item, path))? {
            return Ok(None);
        }
        self.local.url(destination, part)
    }
}
