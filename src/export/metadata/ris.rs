//! A record of RIS, which programs for references read.
//!
//! A line is a tag and a value; no value has more than one line, and so none begins a field of its own.

use super::kind::Kind;
use super::mapping::TERMS;
use super::names::{Bearer, Name, joined};
use super::work::Work;

/// The record of a work.
pub(super) fn render(work: &Work<'_>) -> String {
    let kind = if work.is_of_newspaper() { "NEWS" } else { work.kind.names().ris };
    let mut lines = vec![("TY", kind.to_owned())];
    // Several terms share a tag that takes one value.
    let mut done: Vec<&str> = Vec::new();
    for (term, tag) in TERMS.iter().filter_map(|row| Some((row.term, row.tag?))) {
        let first = || work.text(term).into_iter().collect::<Vec<_>>();
        let values = match (tag, term) {
            // The type has been written, and both dates are one.
            ("TY", _) | ("DA", "date") => continue,
            (_, "recipient") if work.kind != Kind::Letter => continue,
            ("AU" | "A2" | "A3" | "A4", _) => {
                lines.extend(work.people(term).names.iter().map(|name| (tag, person(name))));
                continue;
            }
            ("T2" | "ET" | "PB", _) if done.contains(&tag) => continue,
            ("DA", _) => {
                let (year, date) = work.date.ris();
                lines.extend(year.map(|year| ("PY", year)));
                date.into_iter().collect()
            }
            ("T2", _) => work.container().into_iter().collect(),
            ("PB", _) => work.publisher().into_iter().collect(),
            ("SP", _) => {
                let Some(pages) = work.pages() else { continue };
                let (start, end) = pages.ends();
                lines.push((tag, start.to_owned()));
                lines.extend(end.map(|end| ("EP", end.to_owned())));
                continue;
            }
            ("M3", _) => match (work.text(term), work.bracket()) {
                (Some(degree), _) => vec![degree],
                (None, bracket) => bracket.map(str::to_owned).into_iter().collect(),
            },
            ("DO", _) => work.doi.clone().into_iter().collect(),
            ("KW", _) => work.texts(term),
            _ => first(),
        };
        if !values.is_empty() {
            done.push(tag);
        }
        lines.extend(values.into_iter().map(|value| (tag, value)));
    }
    lines.push(("UR", work.url.clone()));
    let lines = lines.into_iter().map(|(tag, value)| format!("{tag}  - {value}\n"));
    lines.collect::<String>() + "ER  - \n"
}

/// `Family, Given, Suffix`; an institution as it is.
fn person(name: &Name) -> String {
    match &name.bearer {
        Bearer::Person(person) if person.given.is_empty() => format!("{},", person.surname()),
        Bearer::Person(person) => joined(", ", [&person.family, &person.given, &person.suffix]),
        Bearer::Institution => name.plain.clone(),
    }
}
