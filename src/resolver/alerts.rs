//! Alerts: why a persistent URL leads nowhere, and what to do next [resolution, 8.5].

use askama::Template;
use hyper::StatusCode;

use super::analysis::Alert;
use super::rounds::{Archives, Resolution};
use super::server::Resolver;
use crate::resolve::{Forms, Pairs};
use crate::web::answer::{self, Answer};
use crate::web::page::{self, Frame, PageLanguage, Reader, render};

#[derive(Template)]
#[template(path = "resolver.html")]
struct About<'a> {
    frame: Frame<'a>,
    base: String,
    service: String,
    archives: usize,
}

impl Resolver {
    fn frame(&self, language: PageLanguage) -> Frame<'_> {
        let email = self.exposed.email.as_deref();
        Frame { language, name: self.exposed.addresses[0].host(), email }
    }

    /// The page about the resolver.
    pub(super) fn about(&self, reader: &Reader, archives: &Archives) -> Answer {
        let page = About {
            frame: self.frame(reader.language),
            base: self.base(),
            service: self.service_url(),
            archives: archives.len(),
        };
        answer::stored(render(StatusCode::OK, &page), "no-cache")
    }

    /// The alert for a path that leads to no item.
    pub(super) fn nothing(&self, reader: &Reader) -> Answer {
        let text = "information item not found";
        let pick = |english, portuguese| reader.language.pick(english, portuguese);
        self.alert(
            StatusCode::NOT_FOUND,
            pairs(text),
            (pick("Not found", "Não encontrado"), pick(
                "Nothing has this address. An item is at its identifier, such as /example.org/archive/2026/11.21.02.13.",
                "Nada tem este endereço. Um item está no seu identificador, como /example.org/archive/2026/11.21.02.13.",
            )),
        )
        .answer(self.frame(reader.language), reader)
    }

    /// The alert for what begins as a persistent URL, and is none.
    pub(super) fn malformed(&self, reader: &Reader, target: &str) -> Answer {
        let pick = |english, portuguese| reader.language.pick(english, portuguese);
        self.alert(
            StatusCode::BAD_REQUEST,
            pairs("malformed persistent URL"),
            (pick("Not a persistent URL", "Não é uma URL persistente"), pick(
                "After the identifier come modifiers (! + :), the path of a file, and a question.",
                "Depois do identificador vêm modificadores (! + :), o caminho de um arquivo e uma pergunta.",
            )),
        )
        .about(target)
        .answer(self.frame(reader.language), reader)
    }

    /// The answer where no archive leads to the item.
    pub(super) fn unresolved(
        &self,
        alert: &Alert,
        resolution: &Resolution,
        archives: &Archives,
        reader: &Reader,
    ) -> Answer {
        let pick = |english, portuguese| reader.language.pick(english, portuguese);
        let (status, text, heading, explanation) = texts(alert);
        let mut pairs = pairs(text);
        let mut explanation = pick(explanation.0, explanation.1).to_owned();
        let mut links: Vec<(String, String)> = Vec::new();
        match alert {
            Alert::Deleted(Some(time)) => {
                pairs.insert("timestamp", time);
                explanation += &format!(" ({time})");
            }
            Alert::NoTranslation(language) => pairs.insert("language", language),
            Alert::Suspects(claims) => {
                let forms = |position: &usize| {
                    Forms::from(archives.at(*position).service.clone()).to_string()
                };
                let names: Vec<String> = claims.iter().map(forms).collect();
                pairs.insert("suspects", names.join(" "));
                links.extend(claims.iter().map(|position| {
                    let address = archives.at(*position).address().to_string();
                    (format!("http://{address}/"), address)
                }));
            }
            _ => {}
        }
        let identifier = &resolution.question.identifier;
        if matches!(alert, Alert::NoTranslation(_) | Alert::NoOriginal) {
            links.push((
                format!("/{identifier}"),
                pick("The item itself", "O próprio item").to_owned(),
            ));
        }
        if resolution.silent > 0 && *alert != Alert::Unanswered {
            pairs.insert("unanswered", resolution.silent);
            explanation += &format!(
                " {}: {}/{}.",
                pick(
                    "Archives that did not answer, and may have the item",
                    "Arquivos que não responderam e podem ter o item"
                ),
                resolution.silent,
                archives.len()
            );
        }
        let texts = (pick(heading.0, heading.1), explanation.as_str());
        let subject = format!("{identifier}{}", resolution.question.verbs.modifiers());
        let alert = self.alert(status, pairs, texts).about(subject);
        let alert = links.into_iter().fold(alert, |alert, (url, text)| alert.link(url, &text));
        alert.answer(self.frame(reader.language), reader)
    }

    fn alert(&self, status: StatusCode, pairs: Pairs, texts: (&str, &str)) -> page::Alert {
        page::Alert::new(status, pairs, texts.0, texts.1)
    }
}

/// A text in English and in Portuguese.
type Text = (&'static str, &'static str);

/// The status of an alert, its text for programs, its heading and its explanation for people.
fn texts(alert: &Alert) -> (StatusCode, &'static str, Text, Text) {
    match alert {
        Alert::NotFound => (
            StatusCode::NOT_FOUND,
            "information item not found",
            ("Not found", "Não encontrado"),
            (
                "No archive that is connected to this resolver has an item with this identifier.",
                "Nenhum arquivo ligado a este resolvedor tem um item com este identificador.",
            ),
        ),
        Alert::Deleted(_) => (
            StatusCode::GONE,
            "information item deleted",
            ("Deleted", "Apagado"),
            (
                "The item was deleted, and no archive has a Copy.",
                "O item foi apagado e nenhum arquivo tem uma Cópia.",
            ),
        ),
        Alert::NoTranslation(_) => (
            StatusCode::NOT_FOUND,
            "translation not found",
            ("No translation", "Sem tradução"),
            (
                "No archive has a translation of the item into this language.",
                "Nenhum arquivo tem uma tradução do item para este idioma.",
            ),
        ),
        Alert::NoOriginal => (
            StatusCode::NOT_FOUND,
            "original not found",
            ("No Original", "Sem Original"),
            (
                "Only Copies are known. Without the requirement of the Original, the identifier leads to one of them.",
                "Só há Cópias. Sem a exigência do Original, o identificador leva a uma delas.",
            ),
        ),
        Alert::Suspects(_) => (
            StatusCode::CONFLICT,
            "two or more archives claim the original, investigation needed",
            ("Two Originals", "Dois Originais"),
            (
                "Two or more archives say that they have the Original. Their administrators should find out which of them is right.",
                "Dois ou mais arquivos dizem ter o Original. Seus administradores devem descobrir qual deles tem razão.",
            ),
        ),
        Alert::Loop => (
            StatusCode::LOOP_DETECTED,
            "resolution loop",
            ("Archives in a circle", "Arquivos em círculo"),
            (
                "The archives lead from one item to the next without an end.",
                "Os arquivos levam de um item a outro sem fim.",
            ),
        ),
        Alert::Unanswered => (
            StatusCode::GATEWAY_TIMEOUT,
            "no archive answered",
            ("No answer", "Sem resposta"),
            (
                "No archive answered. Try again in a few minutes.",
                "Nenhum arquivo respondeu. Tente de novo em alguns minutos.",
            ),
        ),
    }
}

/// The text of an alert for programs.
fn pairs(alert: &str) -> Pairs {
    let mut pairs = Pairs::default();
    pairs.insert("alert", alert);
    pairs
}
