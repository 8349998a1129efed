//! Pages about what is here: the archive, the files of an item, its description.

use askama::Template;
use hyper::StatusCode;
use hyper::header::VARY;

use super::archive::Archive;
use super::item::{FORMATS, RequestContext, content_path};
use super::public::{Public, shown};
use crate::export::MetadataFormat;
use crate::identity::{Instant, SECOND, encode_path};
use crate::item::{Content, State};
use crate::sidecar::{RelationKind, Sidecar};
use crate::web::answer::{self, Answer};
use crate::web::page::{About, Frame, PageLanguage, Reader, render};

/// Most files of one list; the others are below its directories.
const LISTED: usize = 10_000;

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
        let name = &self.collection.settings().name;
        Frame { language, name, email: self.exposed.email.as_deref() }
    }

    /// The page about the archive.
    pub(super) fn about(&self, reader: &Reader) -> Answer {
        let page = About {
            frame: self.frame(reader.language),
            base: self.base(),
            service: self.service_url(),
            persistent: self.resolver_base().cloned(),
            archives: None,
        };
        answer::stored(render(StatusCode::OK, &page), "no-cache")
    }

    /// The list of the files from a directory of the payload down, whose path is empty or ends with `/`.
    pub(super) fn list(
        &self,
        sidecar: &Sidecar,
        directory: &[u8],
        context: &RequestContext<'_>,
    ) -> Answer {
        let below = |entry: &&crate::item::Entry| {
            let path = entry.path.as_bytes();
            path.starts_with(directory)
                && matches!(entry.content, Content::File { .. } | Content::Link { .. })
        };
        let public = self.public(sidecar, context.client);
        let files: Vec<_> = public.files.iter().filter(below).collect();
        let name = &public.repository;
        let answer = if context.reader.takes_html {
            let row = |path: &[u8], size: String| Row {
                url: content_path(name, path),
                name: shown(&path[directory.len()..]),
                size,
            };
            let entries = files.iter().take(LISTED).map(|entry| {
                let size = match entry.content {
                    Content::File { bytes, .. } => size(bytes, context.reader.language),
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
                frame: self.frame(context.reader.language),
                title: title(&public),
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
        public.stored(varied(answer))
    }

    /// The description of an item in this state.
    pub(super) fn description(
        &self,
        item: &Public,
        state: State,
        context: &RequestContext<'_>,
    ) -> Answer {
        if !context.reader.takes_html {
            let text = item.metadata.table().to_string();
            let answer = answer::whole(StatusCode::OK, "text/plain; charset=utf-8", text);
            return item.stored(varied(answer));
        }
        let language = context.reader.language;
        let pick = |english, portuguese| language.pick(english, portuguese);
        let (name, is_open) = (item.repository.to_string(), item.is_open());
        let citation = match language {
            PageLanguage::English => MetadataFormat::Apa,
            PageLanguage::Portuguese => MetadataFormat::Abnt,
        };
        let fact = |name, value: String| Field { name, values: vec![value] };
        let mut facts = vec![fact(pick("Identifier", "Identificador"), name.clone())];
        facts.extend(item.ibip.iter().map(|ibip| fact("IBIp", ibip.to_string())));
        facts.push(fact(pick("State", "Estado"), state.to_string()));
        let date = |date: Instant| date.floor(SECOND).to_string();
        facts.push(fact(pick("Deposited", "Depositado"), date(item.created)));
        facts.push(fact(pick("Files changed", "Arquivos alterados"), date(item.timestamp)));
        facts.push(fact(pick("Files", "Arquivos"), item.payload.files.to_string()));
        facts.push(fact(pick("Size", "Tamanho"), size(item.payload.bytes, language)));
        let relations = item.relations.iter().map(|relation| Related {
            name: relation_name(&relation.kind, language),
            url: format!("/{}", relation.to),
            text: relation.to.to_string(),
        });
        let page = Description {
            frame: self.frame(language),
            title: title(item),
            open: is_open.then(|| format!("/{name}")),
            notice: (!is_open).then(|| {
                pick(
                    "The files are not open to your address.",
                    "Os arquivos não estão abertos para o seu endereço.",
                )
            }),
            fields: fields(item, language),
            relations: relations.collect(),
            citation: {
                let text = item.rendered(citation, &self.cited_base(), context.now);
                shown(text.trim_ascii())
            },
            persistent: self.persistent(&item.repository),
            formats: FORMATS.iter().map(|(format, _)| format.name()).collect(),
            facts,
            has_files: is_open,
            name,
        };
        item.stored(render(StatusCode::OK, &page))
    }
}

fn varied(mut answer: Answer) -> Answer {
    answer::set(&mut answer, VARY, "Accept, Accept-Language");
    answer
}

fn title(item: &Public) -> String {
    item.metadata.title().map_or_else(|| item.repository.to_string(), |it| shown(it.as_bytes()))
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
fn fields(item: &Public, language: PageLanguage) -> Vec<Field> {
    let names = [
        ("creator", "Creator", "Autor"),
        ("editor", "Editor", "Organizador"),
        ("translator", "Translator", "Tradutor"),
        ("illustrator", "Illustrator", "Ilustrador"),
        ("advisor", "Advisor", "Orientador"),
        ("recipient", "Recipient", "Destinatário"),
        ("contributor", "Contributor", "Colaborador"),
        ("date", "Date", "Data"),
        ("issued", "Issued", "Publicado"),
        ("abstract", "Abstract", "Resumo"),
        ("description", "Description", "Descrição"),
        ("subject", "Subject", "Assunto"),
        ("type", "Type", "Tipo"),
        ("language", "Language", "Idioma"),
        ("journal", "Journal", "Revista"),
        ("booktitle", "In", "Em"),
        ("event", "Event", "Evento"),
        ("series", "Series", "Série"),
        ("volume", "Volume", "Volume"),
        ("number", "Number", "Número"),
        ("pages", "Pages", "Páginas"),
        ("edition", "Edition", "Edição"),
        ("version", "Version", "Versão"),
        ("place", "Place", "Local"),
        ("publisher", "Publisher", "Editora"),
        ("institution", "Institution", "Instituição"),
        ("degree", "Degree", "Grau"),
        ("extent", "Extent", "Extensão"),
        ("rights", "Rights", "Direitos"),
        ("license", "License", "Licença"),
        ("coverage", "Coverage", "Cobertura"),
        ("source", "Source", "Fonte"),
        ("identifier", "Other identifiers", "Outros identificadores"),
    ];
    let values = |key| item.metadata.values(key).unwrap_or_default();
    let shown_values = |key| values(key).iter().map(|it| shown(it.as_bytes())).collect::<Vec<_>>();
    let field = |(key, english, portuguese)| Field {
        name: language.pick(english, portuguese),
        values: shown_values(key),
    };
    names.into_iter().map(field).filter(|field| !field.values.is_empty()).collect()
}

fn relation_name(kind: &RelationKind, language: PageLanguage) -> &'static str {
    let (english, portuguese) = match kind {
        RelationKind::NextEdition => ("Next edition", "Edição seguinte"),
        RelationKind::PreviousEdition => ("Previous edition", "Edição anterior"),
        RelationKind::Translation(_) => ("Translation", "Tradução"),
        RelationKind::TranslationOf => ("Translation of", "Tradução de"),
        RelationKind::Metadata => ("Described by", "Descrito por"),
        RelationKind::MetadataOf => ("Describes", "Descreve"),
        RelationKind::PartOf => ("Part of", "Parte de"),
        RelationKind::Own(_) => ("Related", "Relacionado"),
    };
    language.pick(english, portuguese)
}
