//! Alerts of an archive: what is not here, or not given out.

use super::archive::Archive;
use super::item::RequestContext;
use super::public::shown;
use crate::collection::CollectionError;
use crate::identity::{Identifier, PersistentUrl, RepositoryName, SECOND};
use crate::item::State;
use crate::resolve::{ResolveError, Unresolved};
use crate::sidecar::{AccessLevel, Sidecar};
use crate::web::alert::{Alert, Reason};
use crate::web::answer::{self, Answer};

impl Archive {
    /// The answer where verbs lead nowhere.
    pub(super) fn unresolved(
        &self,
        error: ResolveError,
        url: &PersistentUrl,
        context: &RequestContext<'_>,
    ) -> Result<Answer, CollectionError> {
        let alert = match error {
            ResolveError::Unresolved(Unresolved::Items(error)) => return Err(error),
            ResolveError::Unresolved(Unresolved::NotFound(identifier)) => {
                return self.absent(&identifier, context);
            }
            ResolveError::Unresolved(Unresolved::Elsewhere { to, .. }) => {
                return Ok(self.not_here(to.as_str(), context));
            }
            ResolveError::Unresolved(Unresolved::Deleted { name, .. }) => {
                return Ok(match self.collection.item(&name)?.sidecar()?.0 {
                    sidecar if sidecar.state == State::Deleted => self.deleted(&sidecar, context),
                    _ => self.not_here(name.as_str(), context),
                });
            }
            ResolveError::Unresolved(Unresolved::NoTranslation { name, language, languages }) => {
                Alert {
                    item: name.to_string(),
                    languages: languages.iter().map(|tag| tag.as_str().to_owned()).collect(),
                    pairs: vec![("language", language.as_str().to_owned())],
                    ..Alert::new(Reason::NoTranslation, format!("{name}, {}", language.as_str()))
                }
            }
            ResolveError::Unresolved(Unresolved::Loop { name }) => {
                Alert::new(Reason::Loop, name.as_str())
            }
            ResolveError::NoOriginal { name } => {
                Alert { item: name.to_string(), ..Alert::new(Reason::OnlyCopyHere, name.as_str()) }
            }
            ResolveError::Unresolved(Unresolved::NoFormat { name, .. })
            | ResolveError::TwoOriginals { name, .. }
            | ResolveError::NoFile { name, .. }
            | ResolveError::NoFiles { name } => {
                let subject = format!("{name}{}", url.selection);
                return Ok(self.no_such_part(&name, subject, context));
            }
        };
        Ok(self.alert(&alert, context))
    }

    /// The answer for an identifier that no item here has: perhaps the item has migrated.
    pub(super) fn absent(
        &self,
        identifier: &Identifier,
        context: &RequestContext<'_>,
    ) -> Result<Answer, CollectionError> {
        for item in self.collection.items_of(identifier)? {
            if item.sidecar()?.0.state == State::Elsewhere
                && let Some(location) = self.elsewhere(context.target)
            {
                return Ok(answer::redirect(&location, "no-store"));
            }
        }
        Ok(self.not_here(identifier.as_str(), context))
    }

    /// The alert for an item that is not here.
    fn not_here(&self, identifier: &str, context: &RequestContext<'_>) -> Answer {
        let elsewhere = self.elsewhere(identifier);
        let alert = Alert { elsewhere, ..Alert::new(Reason::NotHere, identifier) };
        self.alert(&alert, context)
    }

    /// The alert for a path that leads to nothing.
    pub(super) fn nothing(&self, context: &RequestContext<'_>) -> Answer {
        self.alert(&Alert::new(Reason::Nothing, ""), context)
    }

    /// The alert for what begins as a persistent URL, and is none.
    pub(super) fn malformed(&self, context: &RequestContext<'_>) -> Answer {
        self.alert(&Alert::new(Reason::Malformed, context.target), context)
    }

    /// The alert for a file or a format that the item does not have.
    pub(super) fn no_such_part(
        &self,
        name: &RepositoryName,
        subject: String,
        context: &RequestContext<'_>,
    ) -> Answer {
        let alert = Alert { item: name.to_string(), ..Alert::new(Reason::NoPart, subject) };
        self.alert(&alert, context)
    }

    /// The answer for a deleted item.
    pub(super) fn deleted(&self, sidecar: &Sidecar, context: &RequestContext<'_>) -> Answer {
        if sidecar.access.level_at(context.client.address()) == AccessLevel::Closed {
            return self.restricted(sidecar, context);
        }
        let public = self.public(sidecar, context.client);
        let time = public.timestamp.floor(SECOND).to_string();
        let name = public.repository.as_str();
        let reason = public.removal.as_ref().and_then(|removal| removal.reason.as_deref());
        let reason = reason.map_or(String::new(), |it| format!(": {}", shown(it.as_bytes())));
        let alert = Alert {
            detail: format!("{time}{reason}"),
            elsewhere: self.elsewhere(name),
            pairs: vec![("timestamp", time)],
            ..Alert::new(Reason::Deleted, name)
        };
        self.alert(&alert, context)
    }

    /// The answer for an item, or files, that this client may not read.
    pub(super) fn restricted(&self, sidecar: &Sidecar, context: &RequestContext<'_>) -> Answer {
        let name = sidecar.repository.to_string();
        let has_description =
            sidecar.access.level_at(context.client.address()) == AccessLevel::Metadata;
        let item = if has_description { name.clone() } else { String::new() };
        self.alert(&Alert { item, ..Alert::new(Reason::Restricted, name) }, context)
    }

    /// The answer for a file that is not what the sidecar says.
    pub(super) fn damaged(&self, name: &RepositoryName, context: &RequestContext<'_>) -> Answer {
        self.alert(&Alert::new(Reason::Damaged, name.as_str()), context)
    }

    /// The answer for an item whose sidecar does not match its seal: nothing in it can be believed.
    pub(super) fn unsealed(&self, sidecar: &Sidecar, context: &RequestContext<'_>) -> Answer {
        let name = sidecar.repository.as_str();
        self.faults.note(name, "damage: its sidecar does not match its seal", context.now);
        self.damaged(&sidecar.repository, context)
    }

    /// The answer where the disk fails.
    pub(super) fn failed(&self, context: &RequestContext<'_>) -> Answer {
        self.alert(&Alert::new(Reason::Failed, ""), context)
    }

    fn alert(&self, alert: &Alert, context: &RequestContext<'_>) -> Answer {
        alert.answer(self.frame(context.reader.language), context.reader)
    }
}
