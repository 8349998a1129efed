//! Persistent URLs of items that are here: where they lead.

use hyper::StatusCode;
use hyper::header::{CONTENT_SECURITY_POLICY, LINK};

use super::archive::Archive;
use crate::collection::CollectionError;
use crate::custody::Standing;
use crate::export::MetadataFormat;
use crate::identity::{Instant, PersistentUrl, RepositoryName, encode_path};
use crate::layout;
use crate::resolve::{Holders, Resolved, Target, resolve};
use crate::sidecar::AccessLevel;
use crate::web::answer::{self, Answer};
use crate::web::head::Client;
use crate::web::page::Reader;
use crate::web::target::with_question;

/// Media types of descriptions.
pub(super) const FORMATS: [(MetadataFormat, &str); 7] = [
    (MetadataFormat::DublinCore, "text/xml; charset=utf-8"),
    (MetadataFormat::Bibtex, "text/plain; charset=utf-8"),
    (MetadataFormat::Datacite, "application/json"),
    (MetadataFormat::Abnt, "text/plain; charset=utf-8"),
    (MetadataFormat::Apa, "text/plain; charset=utf-8"),
    (MetadataFormat::Ris, "application/x-research-info-systems; charset=utf-8"),
    (MetadataFormat::Csl, "application/vnd.citationstyles.csl+json"),
];

/// The reader of an answer, and the request.
pub(super) struct RequestContext<'a> {
    pub(super) client: Client,
    pub(super) reader: &'a Reader,
    pub(super) now: Instant,
    /// Path and query of the request.
    pub(super) target: &'a str,
}

impl Archive {
    /// The answer to a persistent URL.
    pub(super) fn persistent_url(
        &self,
        url: &PersistentUrl,
        context: &RequestContext<'_>,
    ) -> Result<Answer, CollectionError> {
        let items = Holders::new(std::slice::from_ref(&self.collection));
        let found = match resolve(&items, url, &context.reader.preferences) {
            Ok(found) => found,
            Err(error) => return self.unresolved(error, url, context),
        };
        if found.item.standing == Standing::Damaged {
            return Ok(self.unsealed(&found.item.sidecar, context));
        }
        let level = found.item.sidecar.access.level_at(context.client.address());
        let is_files = matches!(found.target, Target::File(_) | Target::Payload | Target::Files(_));
        if level == AccessLevel::Closed || (is_files && level == AccessLevel::Metadata) {
            return Ok(self.restricted(&found.item.sidecar, context));
        }
        let cite = format!("<{}>; rel=\"cite-as\"", self.persistent(&found.item.record.name));
        let mut answer = self.destination(&found, url, context);
        answer::set(&mut answer, LINK, &cite);
        Ok(answer)
    }

    fn destination(
        &self,
        found: &Resolved,
        url: &PersistentUrl,
        context: &RequestContext<'_>,
    ) -> Answer {
        let Resolved { item, target, .. } = found;
        match target {
            Target::File(path) => {
                let location = self.content_url(&item.record.name, path.as_bytes());
                answer::redirect(&with_question(&location, url), "no-cache")
            }
            Target::Payload => {
                let location = format!("{}/col/{}/", self.base(), item.record.name);
                answer::redirect(&with_question(&location, url), "no-cache")
            }
            Target::Files(_) => self.list(&item.sidecar, b"", context),
            Target::Sidecar => self.description(
                &self.public(&item.sidecar, context.client),
                item.record.state,
                context,
            ),
            Target::Rendered(format) => {
                let media = FORMATS.iter().find(|(known, _)| known == format);
                let media = media.map_or("application/octet-stream", |(_, media)| media);
                let public = self.public(&item.sidecar, context.client);
                let text = public.rendered(*format, &self.cited_base(), context.now);
                let mut answer = answer::whole(StatusCode::OK, media, text);
                answer::set(&mut answer, CONTENT_SECURITY_POLICY, "sandbox; script-src 'none'");
                public.stored(answer)
            }
        }
    }

    /// The URL of a file, or of a directory that ends with `/`.
    pub(super) fn content_url(&self, name: &RepositoryName, path: &[u8]) -> String {
        format!("{}{}", self.base(), content_path(name, path))
    }
}

/// The path of a file or directory of an item, below the address.
pub(super) fn content_path(name: &RepositoryName, path: &[u8]) -> String {
    format!("/col/{name}/{}/{}", layout::PAYLOAD, encode_path(path))
}
