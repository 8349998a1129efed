//! Alerts: why nothing can be shown, and what to do next [resolution, 8.5].

use hyper::StatusCode;

use super::archive::Archive;
use super::item::RequestContext;
use super::pages::shown;
use crate::collection::CollectionError;
use crate::identity::{Identifier, PersistentUrl, RepositoryName};
use crate::item::State;
use crate::resolve::{Pairs, ResolveError, Unresolved};
use crate::sidecar::{AccessLevel, Sidecar};
use crate::web::answer::{self, Answer};
use crate::web::page::Alert;

impl Archive {
    /// The answer where verbs lead nowhere.
    pub(super) fn unresolved(
        &self,
        error: ResolveError,
        url: &PersistentUrl,
        context: &RequestContext<'_>,
    ) -> Result<Answer, CollectionError> {
        Ok(match error {
            ResolveError::Unresolved(Unresolved::Items(error)) => return Err(error),
            ResolveError::Unresolved(Unresolved::NotFound(identifier)) => {
                self.absent(&identifier, context)?
            }
            ResolveError::Unresolved(Unresolved::Elsewhere { to, .. }) => {
                self.not_here(to.as_str(), context)
            }
            ResolveError::Unresolved(Unresolved::Deleted { name, .. }) => {
                match self.collection.item(&name)?.sidecar()?.0 {
                    sidecar if sidecar.state == State::Deleted => self.deleted(&sidecar, context),
                    _ => self.not_here(name.as_str(), context),
                }
            }
            ResolveError::Unresolved(Unresolved::NoTranslation { name, language, languages }) => {
                let mut pairs = alert_pairs("translation not found");
                pairs.insert("language", &language);
                let pick = |english, portuguese| context.reader.language.pick(english, portuguese);
                let alert = Alert::new(
                    StatusCode::NOT_FOUND,
                    pairs,
                    pick("No translation", "Sem tradução"),
                    pick(
                        "There is no translation into this language here.",
                        "Não há tradução para este idioma aqui.",
                    ),
                );
                let alert = alert.about(format!("{name}, {}", language.as_str()));
                let alert = languages.iter().fold(alert, |alert, tag| {
                    let text = format!("{} {}", pick("It is here in", "Está aqui em"), tag.as_str());
                    alert.link(format!("/{name}+({})", tag.as_str()), &text)
                });
                self.alert(&alert.link(format!("/{name}"), pick("The item itself", "O próprio item")), context)
            }
            ResolveError::Unresolved(Unresolved::Loop { name }) => self.plain_alert(
                StatusCode::LOOP_DETECTED,
                "resolution loop",
                ("Editions in a circle", "Edições em círculo"),
                (
                    "Each edition of this item names another one as the next, so there is no last one.",
                    "Cada edição deste item indica outra como a seguinte; não há uma última.",
                ),
                name.as_str(),
                context,
            ),
            ResolveError::NoOriginal { name } => self.plain_alert(
                StatusCode::NOT_FOUND,
                "original not found",
                ("The Original is not here", "O Original não está aqui"),
                (
                    "This archive has a Copy. Without the requirement of the Original, the identifier leads to it.",
                    "Este arquivo tem uma Cópia. Sem a exigência do Original, o identificador leva a ela.",
                ),
                name.as_str(),
                context,
            ),
            ResolveError::Unresolved(Unresolved::NoFormat { name, .. })
            | ResolveError::TwoOriginals { name, .. }
            | ResolveError::NoFile { name, .. }
            | ResolveError::NoFiles { name } => {
                let subject = format!("{name}{}", url.selection);
                self.no_such_part(&name, &subject, context)
            }
        })
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
        let pick = |english, portuguese| context.reader.language.pick(english, portuguese);
        let alert = Alert::new(
            StatusCode::NOT_FOUND,
            alert_pairs("information item not found"),
            pick("Not found", "Não encontrado"),
            pick("This archive does not have the item.", "Este arquivo não tem o item."),
        );
        let url = self.elsewhere(&format!("/{identifier}"));
        let alert = url.into_iter().fold(alert.about(identifier), |alert, url| {
            alert.link(url, pick("Look for it in all archives", "Procurar em todos os arquivos"))
        });
        self.alert(&alert, context)
    }

    /// The alert for a path that leads to nothing.
    pub(super) fn nothing(&self, context: &RequestContext<'_>) -> Answer {
        self.plain_alert(
            StatusCode::NOT_FOUND,
            "information item not found",
            ("Not found", "Não encontrado"),
            (
                "Nothing has this address. An item is at its identifier, such as /example.org/archive/2026/11.21.02.13.",
                "Nada tem este endereço. Um item está no seu identificador, como /example.org/archive/2026/11.21.02.13.",
            ),
            "",
            context,
        )
    }

    /// The alert for what begins as a persistent URL, and is none.
    pub(super) fn malformed(&self, context: &RequestContext<'_>) -> Answer {
        self.plain_alert(
            StatusCode::BAD_REQUEST,
            "malformed persistent URL",
            ("Not a persistent URL", "Não é uma URL persistente"),
            (
                "After the identifier come modifiers (! + :), the path of a file, and a question.",
                "Depois do identificador vêm modificadores (! + :), o caminho de um arquivo e uma pergunta.",
            ),
            context.target,
            context,
        )
    }

    /// The alert for a file or a format that the item does not have.
    pub(super) fn no_such_part(
        &self,
        name: &RepositoryName,
        subject: &str,
        context: &RequestContext<'_>,
    ) -> Answer {
        let pick = |english, portuguese| context.reader.language.pick(english, portuguese);
        let alert = Alert::new(
            StatusCode::NOT_FOUND,
            alert_pairs("information item not found"),
            pick("Not in this item", "Não faz parte deste item"),
            pick("The item has no such part.", "O item não tem esta parte."),
        );
        let alert = alert
            .about(subject)
            .link(
                format!("/{name}?ibiurl.verblist=GetFileList"),
                pick("Its files", "Seus arquivos"),
            )
            .link(format!("/{name}:"), pick("Its description", "Sua descrição"));
        self.alert(&alert, context)
    }

    /// The answer for a deleted item.
    pub(super) fn deleted(&self, sidecar: &Sidecar, context: &RequestContext<'_>) -> Answer {
        let pick = |english, portuguese| context.reader.language.pick(english, portuguese);
        let mut pairs = alert_pairs("information item deleted");
        pairs.insert("timestamp", sidecar.timestamp);
        let reason = sidecar.removal.as_ref().and_then(|removal| removal.reason.as_deref());
        let mut text = pick("The item was deleted on", "O item foi apagado em").to_owned();
        text += &format!(" {}", sidecar.timestamp);
        if let Some(reason) = reason {
            text += &format!(": {}", shown(reason.as_bytes()));
        }
        let heading = pick("Deleted", "Apagado");
        let alert = Alert::new(StatusCode::GONE, pairs, heading, &format!("{text}."));
        let name = sidecar.repository.to_string();
        let url = self.elsewhere(&format!("/{name}"));
        let alert = url.into_iter().fold(alert.about(name), |alert, url| {
            alert.link(
                url,
                pick("Look for a Copy in all archives", "Procurar uma Cópia em todos os arquivos"),
            )
        });
        self.alert(&alert, context)
    }

    /// The answer for an item, or files, that this client may not read.
    pub(super) fn restricted(&self, sidecar: &Sidecar, context: &RequestContext<'_>) -> Answer {
        let pick = |english, portuguese| context.reader.language.pick(english, portuguese);
        let name = &sidecar.repository;
        let alert = Alert::new(
            StatusCode::FORBIDDEN,
            alert_pairs("access restricted"),
            pick("Not open to you", "Acesso restrito"),
            pick(
                "The item may not be read from your address.",
                "O item não pode ser lido do seu endereço.",
            ),
        );
        let has_description = sidecar.access.level_at(context.client) == AccessLevel::Metadata;
        let alert = alert.about(name.to_string());
        self.alert(
            &if has_description {
                alert.link(format!("/{name}:"), pick("Its description", "Sua descrição"))
            } else {
                alert
            },
            context,
        )
    }

    /// The answer for a file that is not what the sidecar says.
    pub(super) fn damaged(&self, name: &RepositoryName, context: &RequestContext<'_>) -> Answer {
        self.plain_alert(
            StatusCode::INTERNAL_SERVER_ERROR,
            "file damaged",
            ("Damaged here", "Danificado aqui"),
            (
                "The file here does not have the bytes that were deposited, so it is not given out. Another archive may have a good copy.",
                "O arquivo aqui não tem os bytes que foram depositados e por isso não é entregue. Outro arquivo pode ter uma boa cópia.",
            ),
            name.as_str(),
            context,
        )
    }

    /// The answer for an item whose sidecar does not match its seal: nothing in it can be believed.
    pub(super) fn unsealed(&self, sidecar: &Sidecar, context: &RequestContext<'_>) -> Answer {
        tracing::error!(item = %sidecar.repository, "damage: its sidecar does not match its seal");
        self.damaged(&sidecar.repository, context)
    }

    /// The answer where the disk fails.
    pub(super) fn failed(&self, context: &RequestContext<'_>) -> Answer {
        self.plain_alert(
            StatusCode::INTERNAL_SERVER_ERROR,
            "archive failed",
            ("The archive failed", "O arquivo falhou"),
            (
                "The archive could not read the item. Its log says why.",
                "O arquivo não conseguiu ler o item. O registro do servidor diz por quê.",
            ),
            "",
            context,
        )
    }

    fn plain_alert(
        &self,
        status: StatusCode,
        text: &str,
        heading: (&str, &str),
        explanation: (&str, &str),
        subject: &str,
        context: &RequestContext<'_>,
    ) -> Answer {
        let language = context.reader.language;
        let alert = Alert::new(
            status,
            alert_pairs(text),
            language.pick(heading.0, heading.1),
            language.pick(explanation.0, explanation.1),
        );
        self.alert(&alert.about(subject), context)
    }

    fn alert(&self, alert: &Alert, context: &RequestContext<'_>) -> Answer {
        alert.answer(self.frame(context.reader.language), context.reader)
    }
}

fn alert_pairs(text: &str) -> Pairs {
    let mut pairs = Pairs::default();
    pairs.insert("alert", text);
    pairs
}
