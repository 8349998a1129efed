//! Persistent URLs of items that are here: where they lead, their lists, their descriptions, and why there is nothing.

use std::net::IpAddr;

use askama::Template;
use hyper::StatusCode;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderName, LINK};

use super::archive::Archive;
use crate::collection::CollectionError;
use crate::export::MetadataFormat;
use crate::identity::{Identifier, PersistentUrl, RepositoryName, encode_path};
use crate::item::{Content, State};
use crate::layout;
use crate::resolve::{
    HeldItem, Holders, Pairs, ResolveError, Resolved, Target, Unresolved, resolve,
};
use crate::sidecar::{AccessLevel, Sidecar};
use crate::web::answer::{self, Answer};
use crate::web::page::{Alert, Frame, PageLanguage, Reader, render};

/// Most files of one list; the others are below its directories.
const LISTED: usize = 10_000;

/// Media types of descriptions.
const FORMATS: [(MetadataFormat, &str); 5] = [
    (MetadataFormat::DublinCore, "text/xml; charset=utf-8"),
    (MetadataFormat::Bibtex, "text/plain; charset=utf-8"),
    (MetadataFormat::Datacite, "application/json"),
    (MetadataFormat::Abnt, "text/plain; charset=utf-8"),
    (MetadataFormat::Apa, "text/plain; charset=utf-8"),
];

/// A reader at an address, and the target that was asked for.
pub(super) struct Asked<'a> {
    pub(super) client: IpAddr,
    pub(super) reader: &'a Reader,
    /// Path and query of the request.
    pub(super) target: &'a str,
}

/// A name and its values on a page.
struct Field {
    name: &'static str,
    values: Vec<String>,
}

/// A line of a list.
struct Row {
    url: String,
    name: String,
    size: String,
}

struct Related {
    name: &'static str,
    url: String,
    text: String,
}

#[derive(Template)]
#[template(path = "about.html")]
struct About<'a> {
    frame: Frame<'a>,
    base: String,
    persistent: &'a str,
    address: String,
    service: String,
}

#[derive(Template)]
#[template(path = "list.html")]
struct List<'a> {
    frame: Frame<'a>,
    title: String,
    name: String,
    directory: String,
    entries: Vec<Row>,
    more: usize,
    directories: Vec<Row>,
}

#[derive(Template)]
#[template(path = "description.html")]
struct Description<'a> {
    frame: Frame<'a>,
    title: String,
    name: String,
    open: Option<String>,
    notice: Option<&'static str>,
    fields: Vec<Field>,
    relations: Vec<Related>,
    citation: String,
    persistent: String,
    formats: Vec<&'static str>,
    facts: Vec<Field>,
    has_files: bool,
}

impl Archive {
    pub(super) fn frame(&self, language: PageLanguage) -> Frame<'_> {
        let archive = &self.collection.settings().name;
        Frame { language, archive, email: self.exposed.email.as_deref() }
    }

    /// The page about the archive.
    pub(super) fn about(&self, reader: &Reader) -> Answer {
        let persistent = self.exposed.url_base.as_deref().unwrap_or("http://urlib.net");
        let page = About {
            frame: self.frame(reader.language),
            base: self.base(),
            persistent: persistent.trim_end_matches('/'),
            address: self.exposed.address.to_string(),
            service: self.service_url(),
        };
        answer::stored(render(StatusCode::OK, &page), "no-cache")
    }

    /// The answer to a persistent URL.
    pub(super) fn persistent_url(
        &self,
        url: &PersistentUrl,
        asked: &Asked<'_>,
    ) -> Result<Answer, CollectionError> {
        let items = Holders::new(std::slice::from_ref(&self.collection));
        let found = match resolve(&items, url, &asked.reader.preferences) {
            Ok(found) => found,
            Err(error) => return self.unresolved(error, url, asked),
        };
        let level = found.item.sidecar.access.level_at(asked.client);
        let is_files = matches!(found.target, Target::File(_) | Target::Payload | Target::Files(_));
        if level == AccessLevel::Closed || (is_files && level == AccessLevel::Metadata) {
            return Ok(self.restricted(&found.item.sidecar, asked));
        }
        let cite = format!("<{}>; rel=\"cite-as\"", self.persistent(&found.item.record.name));
        let mut answer = self.destination(&found, url, asked);
        answer::set(&mut answer, LINK, &cite);
        Ok(answer)
    }

    fn destination(&self, found: &Resolved, url: &PersistentUrl, asked: &Asked<'_>) -> Answer {
        let Resolved { item, target, .. } = found;
        match target {
            Target::File(path) => {
                let location = self.content_url(&item.record.name, path.as_bytes());
                answer::redirect(&with_question(location, url), "no-cache")
            }
            Target::Payload => {
                let location = format!("{}/col/{}/", self.base(), item.record.name);
                answer::redirect(&with_question(location, url), "no-cache")
            }
            Target::Files(_) => self.list(&item.sidecar, b"", asked),
            Target::Sidecar => self.description(item, asked),
            Target::Rendered(format) => {
                let media = FORMATS.iter().find(|(known, _)| known == format);
                let media = media.map_or("application/octet-stream", |(_, media)| media);
                let mut answer = answer::whole(StatusCode::OK, media, format.render(&item.sidecar));
                answer::set(&mut answer, CONTENT_SECURITY_POLICY, "sandbox; script-src 'none'");
                stored_for(answer, &item.sidecar)
            }
        }
    }

    /// The URL of a file, or of a directory that ends with `/`.
    pub(super) fn content_url(&self, name: &RepositoryName, path: &[u8]) -> String {
        format!("{}{}", self.base(), content_path(name, path))
    }

    /// The list of the files from a directory of the payload down, whose path is empty or ends with `/`.
    pub(super) fn list(&self, sidecar: &Sidecar, directory: &[u8], asked: &Asked<'_>) -> Answer {
        let below = |entry: &&crate::item::Entry| {
            let path = entry.path.as_bytes();
            path.starts_with(directory)
                && matches!(entry.content, Content::File { .. } | Content::Link { .. })
        };
        let files: Vec<_> = sidecar.files.iter().filter(below).collect();
        let name = &sidecar.repository;
        let answer = if asked.reader.takes_html {
            let row = |path: &[u8], size: String| Row {
                url: content_path(name, path),
                name: shown(&path[directory.len()..]),
                size,
            };
            let entries = files.iter().take(LISTED).map(|entry| {
                let size = match entry.content {
                    Content::File { bytes, .. } => size(bytes, asked.reader.language),
                    _ => "→".to_owned(),
                };
                row(entry.path.as_bytes(), size)
            });
            let mut directories: Vec<&[u8]> = Vec::new();
            for entry in files.iter().skip(LISTED) {
                let path = entry.path.as_bytes();
                let rest = &path[directory.len()..];
                if let Some(end) = rest.iter().position(|byte| *byte == b'/') {
                    directories.push(&path[..=directory.len() + end]);
                }
            }
            directories.dedup();
            let directories = directories.iter().take(LISTED).map(|path| row(path, String::new()));
            let page = List {
                frame: self.frame(asked.reader.language),
                title: title(sidecar),
                name: name.to_string(),
                directory: shown(directory),
                entries: entries.collect(),
                more: files.len().saturating_sub(LISTED),
                directories: directories.collect(),
            };
            render(StatusCode::OK, &page)
        } else {
            let lines = files.iter().map(|entry| encode_path(entry.path.as_bytes()) + "\n");
            answer::whole(StatusCode::OK, "text/plain", lines.collect::<String>())
        };
        stored_for(varied(answer), sidecar)
    }

    /// The description of an item.
    fn description(&self, item: &HeldItem, asked: &Asked<'_>) -> Answer {
        let sidecar = &item.sidecar;
        if !asked.reader.takes_html {
            let text = sidecar.metadata.table().to_string();
            let answer = answer::whole(StatusCode::OK, "text/plain; charset=utf-8", text);
            return stored_for(varied(answer), sidecar);
        }
        let language = asked.reader.language;
        let pick = |english, portuguese| language.pick(english, portuguese);
        let name = sidecar.repository.to_string();
        let is_open = sidecar.access.level_at(asked.client) == AccessLevel::Open;
        let citation = match language {
            PageLanguage::English => MetadataFormat::Apa,
            PageLanguage::Portuguese => MetadataFormat::Abnt,
        };
        let fact = |name, value: String| Field { name, values: vec![value] };
        let mut facts = vec![fact(pick("Identifier", "Identificador"), name.clone())];
        facts.extend(sidecar.ibip.iter().map(|ibip| fact("IBIp", ibip.to_string())));
        facts.push(fact(pick("State", "Estado"), item.record.state.to_string()));
        facts.push(fact(pick("Deposited", "Depositado"), sidecar.created.to_string()));
        facts
            .push(fact(pick("Files changed", "Arquivos alterados"), sidecar.timestamp.to_string()));
        facts.push(fact(pick("Files", "Arquivos"), sidecar.payload.files.to_string()));
        facts.push(fact(pick("Size", "Tamanho"), size(sidecar.payload.bytes, language)));
        let relations = sidecar.relations.iter().map(|relation| Related {
            name: relation_name(&relation.kind, language),
            url: format!("/{}", relation.to),
            text: relation.to.to_string(),
        });
        let page = Description {
            frame: self.frame(language),
            title: title(sidecar),
            open: is_open.then(|| format!("/{name}")),
            notice: (!is_open).then(|| {
                pick(
                    "The files are not open to your address.",
                    "Os arquivos não estão abertos para o seu endereço.",
                )
            }),
            fields: fields(sidecar, language),
            relations: relations.collect(),
            citation: String::from_utf8_lossy(&citation.render(sidecar)).trim().to_owned(),
            persistent: self.persistent(&sidecar.repository),
            formats: FORMATS.iter().map(|(format, _)| format.name()).collect(),
            facts,
            has_files: is_open,
            name,
        };
        stored_for(render(StatusCode::OK, &page), sidecar)
    }

    /// The answer where verbs lead nowhere.
    fn unresolved(
        &self,
        error: ResolveError,
        url: &PersistentUrl,
        asked: &Asked<'_>,
    ) -> Result<Answer, CollectionError> {
        Ok(match error {
            ResolveError::Unresolved(Unresolved::Items(error)) => return Err(error),
            ResolveError::Unresolved(Unresolved::NotFound(identifier)) => {
                self.absent(&identifier, asked)?
            }
            ResolveError::Unresolved(Unresolved::Elsewhere { to, .. }) => {
                self.not_here(to.as_str(), asked)
            }
            ResolveError::Unresolved(Unresolved::Deleted { name, .. }) => {
                match self.collection.item(&name)?.sidecar()?.0 {
                    sidecar if sidecar.state == State::Deleted => self.deleted(&sidecar, asked),
                    _ => self.not_here(name.as_str(), asked),
                }
            }
            ResolveError::Unresolved(Unresolved::NoTranslation { name, language, languages }) => {
                let mut pairs = alert_pairs("translation not found");
                pairs.insert("language", &language);
                let pick = |english, portuguese| asked.reader.language.pick(english, portuguese);
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
                    alert.link(format!("/{name}+({})", tag.as_str()), tag.as_str())
                });
                self.alert(&alert.link(format!("/{name}"), pick("The item itself", "O próprio item")), asked)
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
                asked,
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
                asked,
            ),
            ResolveError::Unresolved(Unresolved::NoFormat { name, .. })
            | ResolveError::TwoOriginals { name, .. }
            | ResolveError::NoFile { name, .. }
            | ResolveError::NoFiles { name } => {
                let subject = format!("{name}{}", url.selection);
                self.no_such_part(&name, &subject, asked)
            }
        })
    }

    /// The answer for an identifier that no item here has: perhaps the item has migrated.
    pub(super) fn absent(
        &self,
        identifier: &Identifier,
        asked: &Asked<'_>,
    ) -> Result<Answer, CollectionError> {
        for item in self.collection.items_of(identifier)? {
            if item.sidecar()?.0.state == State::Elsewhere
                && let Some(location) = self.elsewhere(asked.target)
            {
                return Ok(answer::redirect(&location, "no-store"));
            }
        }
        Ok(self.not_here(identifier.as_str(), asked))
    }

    /// The alert for an item that is not here.
    fn not_here(&self, identifier: &str, asked: &Asked<'_>) -> Answer {
        let pick = |english, portuguese| asked.reader.language.pick(english, portuguese);
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
        self.alert(&alert, asked)
    }

    /// The alert for a path that leads to nothing.
    pub(super) fn nothing(&self, asked: &Asked<'_>) -> Answer {
        self.plain_alert(
            StatusCode::NOT_FOUND,
            "information item not found",
            ("Not found", "Não encontrado"),
            (
                "Nothing has this address. An item is at its identifier, such as /example.org/archive/2026/11.21.02.13.",
                "Nada tem este endereço. Um item está no seu identificador, como /example.org/archive/2026/11.21.02.13.",
            ),
            "",
            asked,
        )
    }

    /// The alert for what begins as a persistent URL, and is none.
    pub(super) fn malformed(&self, asked: &Asked<'_>) -> Answer {
        self.plain_alert(
            StatusCode::BAD_REQUEST,
            "malformed persistent URL",
            ("Not a persistent URL", "Não é uma URL persistente"),
            (
                "After the identifier come modifiers (! + :), the path of a file, and a question.",
                "Depois do identificador vêm modificadores (! + :), o caminho de um arquivo e uma pergunta.",
            ),
            asked.target,
            asked,
        )
    }

    /// The alert for a file or a format that the item does not have.
    pub(super) fn no_such_part(
        &self,
        name: &RepositoryName,
        subject: &str,
        asked: &Asked<'_>,
    ) -> Answer {
        let pick = |english, portuguese| asked.reader.language.pick(english, portuguese);
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
        self.alert(&alert, asked)
    }

    /// The answer for a deleted item.
    pub(super) fn deleted(&self, sidecar: &Sidecar, asked: &Asked<'_>) -> Answer {
        let pick = |english, portuguese| asked.reader.language.pick(english, portuguese);
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
        self.alert(&alert.about(name), asked)
    }

    /// The answer for an item, or files, that this client may not read.
    pub(super) fn restricted(&self, sidecar: &Sidecar, asked: &Asked<'_>) -> Answer {
        let pick = |english, portuguese| asked.reader.language.pick(english, portuguese);
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
        let has_description = sidecar.access.level_at(asked.client) == AccessLevel::Metadata;
        let alert = alert.about(name.to_string());
        self.alert(
            &if has_description {
                alert.link(format!("/{name}:"), pick("Its description", "Sua descrição"))
            } else {
                alert
            },
            asked,
        )
    }

    /// The answer for a file that is not what the sidecar says.
    pub(super) fn damaged(&self, name: &RepositoryName, asked: &Asked<'_>) -> Answer {
        self.plain_alert(
            StatusCode::INTERNAL_SERVER_ERROR,
            "file damaged",
            ("Damaged here", "Danificado aqui"),
            (
                "The file here does not have the bytes that were deposited, so it is not given out. Another archive may have a good copy.",
                "O arquivo aqui não tem os bytes que foram depositados e por isso não é entregue. Outro arquivo pode ter uma boa cópia.",
            ),
            name.as_str(),
            asked,
        )
    }

    /// The answer where the disk fails.
    pub(super) fn failed(&self, asked: &Asked<'_>) -> Answer {
        self.plain_alert(
            StatusCode::INTERNAL_SERVER_ERROR,
            "archive failed",
            ("The archive failed", "O arquivo falhou"),
            (
                "The archive could not read the item. Its log says why.",
                "O arquivo não conseguiu ler o item. O registro do servidor diz por quê.",
            ),
            "",
            asked,
        )
    }

    fn plain_alert(
        &self,
        status: StatusCode,
        text: &str,
        heading: (&str, &str),
        explanation: (&str, &str),
        subject: &str,
        asked: &Asked<'_>,
    ) -> Answer {
        let language = asked.reader.language;
        let alert = Alert::new(
            status,
            alert_pairs(text),
            language.pick(heading.0, heading.1),
            language.pick(explanation.0, explanation.1),
        );
        self.alert(&alert.about(subject), asked)
    }

    fn alert(&self, alert: &Alert, asked: &Asked<'_>) -> Answer {
        alert.answer(self.frame(asked.reader.language), asked.reader)
    }
}

fn alert_pairs(text: &str) -> Pairs {
    Pairs::one("alert", text)
}

/// The path of a file or directory of an item, below the address.
fn content_path(name: &RepositoryName, path: &[u8]) -> String {
    format!("/col/{name}/{}/{}", layout::PAYLOAD, encode_path(path))
}

/// The pairs of a question that are left to the item go along [resolution, E22].
fn with_question(location: String, url: &PersistentUrl) -> String {
    let pairs: Vec<&str> = url.selection.question.iter().map(AsRef::as_ref).collect();
    if pairs.is_empty() { location } else { format!("{location}?{}", pairs.join("&")) }
}

/// How caches keep an answer about an item: not at all unless everybody may read it.
pub(super) fn stored_for(answer: Answer, sidecar: &Sidecar) -> Answer {
    let is_public = sidecar.access.level == AccessLevel::Open && sidecar.access.allow.is_empty();
    answer::stored(answer, if is_public { "no-cache" } else { "private, no-store" })
}

fn varied(mut answer: Answer) -> Answer {
    answer::set(&mut answer, HeaderName::from_static("vary"), "Accept, Accept-Language");
    answer
}

fn title(sidecar: &Sidecar) -> String {
    sidecar
        .metadata
        .title()
        .map_or_else(|| sidecar.repository.to_string(), |it| shown(it.as_bytes()))
}

/// A text from outside, without characters that act on those around them.
fn shown(text: &[u8]) -> String {
    let acts = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    String::from_utf8_lossy(text).chars().map(|c| if acts(c) { '\u{fffd}' } else { c }).collect()
}

/// A size in units that people read.
fn size(bytes: u64, language: PageLanguage) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut whole, mut tenths, mut unit) = (bytes, 0, 0);
    while whole >= 1000 && unit + 1 < units.len() {
        tenths = whole % 1000 / 100;
        whole /= 1000;
        unit += 1;
    }
    let point = language.pick(".", ",");
    let fraction = if unit > 0 && whole < 100 { format!("{point}{tenths}") } else { String::new() };
    format!("{whole}{fraction} {}", units[unit])
}

/// The terms of the description, with names for people.
fn fields(sidecar: &Sidecar, language: PageLanguage) -> Vec<Field> {
    let names = [
        ("creator", "Creator", "Autor"),
        ("contributor", "Contributor", "Colaborador"),
        ("date", "Date", "Data"),
        ("issued", "Issued", "Publicado"),
        ("abstract", "Abstract", "Resumo"),
        ("description", "Description", "Descrição"),
        ("subject", "Subject", "Assunto"),
        ("type", "Type", "Tipo"),
        ("language", "Language", "Idioma"),
        ("publisher", "Publisher", "Editora"),
        ("rights", "Rights", "Direitos"),
        ("license", "License", "Licença"),
        ("coverage", "Coverage", "Cobertura"),
        ("source", "Source", "Fonte"),
        ("identifier", "Other identifiers", "Outros identificadores"),
    ];
    let values = |key| sidecar.metadata.values(key).unwrap_or_default();
    let shown_values = |key| values(key).iter().map(|it| shown(it.as_bytes())).collect::<Vec<_>>();
    let field = |(key, english, portuguese)| Field {
        name: language.pick(english, portuguese),
        values: shown_values(key),
    };
    names.into_iter().map(field).filter(|field| !field.values.is_empty()).collect()
}

fn relation_name(kind: &crate::sidecar::RelationKind, language: PageLanguage) -> &'static str {
    use crate::sidecar::RelationKind as Kind;
    let (english, portuguese) = match kind {
        Kind::NextEdition => ("Next edition", "Edição seguinte"),
        Kind::PreviousEdition => ("Previous edition", "Edição anterior"),
        Kind::Translation(_) => ("Translation", "Tradução"),
        Kind::TranslationOf => ("Translation of", "Tradução de"),
        Kind::Metadata => ("Described by", "Descrito por"),
        Kind::MetadataOf => ("Describes", "Descreve"),
        Kind::PartOf => ("Part of", "Parte de"),
        Kind::Own(_) => ("Related", "Relacionado"),
    };
    language.pick(english, portuguese)
}
