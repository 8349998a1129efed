//! A reference in the JSON of CSL 1.0.2, which citation processors read.

use serde_json::{Map, Value, json};

use super::date::csl_day;
use super::kind::Kind;
use super::mapping::TERMS;
use super::names::{Bearer, Name};
use super::work::{Pages, Work};

/// The reference of a work.
pub(super) fn render(work: &Work<'_>) -> String {
    let mut item = Map::new();
    let kind = if work.is_of_newspaper() { "article-newspaper" } else { work.kind.names().csl };
    item.insert("id".to_owned(), work.sidecar.repository.to_string().into());
    for (term, variable) in TERMS.iter().filter_map(|row| Some((row.term, row.variable?))) {
        let text = |text: Option<String>| text.map(Value::from);
        let (variable, value) = match variable {
            "type" => (variable, Some(kind.into())),
            "author" | "editor" | "translator" | "contributor" | "illustrator" | "recipient" => {
                let mut names: Vec<_> = work.people(term).names.iter().map(name).collect();
                // Advisors are contributors, and precede those who are nothing else.
                if let Some(Value::Array(before)) = item.get(variable) {
                    names.splice(0..0, before.iter().cloned());
                }
                (variable, (!names.is_empty()).then_some(Value::Array(names)))
            }
            "issued" => (variable, work.date.csl()),
            "container-title" => (variable, text(work.container())),
            "publisher" => (variable, text(work.publisher())),
            "volume" if !work.kind.is_within() && work.text("series").is_some() => {
                ("collection-number", text(work.text(term)))
            }
            "number" if work.kind == Kind::Article => ("issue", text(work.text(term))),
            "page" => match work.pages() {
                Some(Pages::Total(number)) => ("number-of-pages", Some(number.into())),
                pages => (variable, text(pages.map(|pages| pages.text("-")))),
            },
            "genre" => {
                let is_thesis = work.kind == Kind::Thesis && work.text(term).is_some();
                let bracket = || work.bracket().map(str::to_owned);
                (variable, text(if is_thesis { Some(work.thesis()) } else { bracket() }))
            }
            "keyword" => {
                let words = work.texts(term);
                (variable, (!words.is_empty()).then(|| words.join(", ").into()))
            }
            "DOI" => (variable, text(work.doi.clone())),
            _ => (variable, text(work.text(term))),
        };
        if let Some(value) = value {
            item.insert(variable.to_owned(), value);
        }
    }
    item.insert("URL".to_owned(), work.url.clone().into());
    item.insert("accessed".to_owned(), csl_day(work.accessed));
    format!("{:#}\n", Value::Object(item))
}

fn name(name: &Name) -> Value {
    let Bearer::Person(person) = &name.bearer else { return json!({ "literal": name.plain }) };
    let (given, dropping) = person.given_parts();
    let (before, family) = person.family_parts();
    let parts = [
        ("family", family),
        ("given", given),
        ("dropping-particle", dropping),
        ("non-dropping-particle", before),
        ("suffix", person.suffix.clone()),
    ];
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    parts.map(|(key, text)| (key.to_owned(), Value::from(text))).collect::<Map<_, _>>().into()
}
