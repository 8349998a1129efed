//! An entry for a bibliography, in BibTeX.
//!
//! `repository`, `ibi`, `targetfile` and most relations are fields of the `@reference.bib` of `URLib`.

use super::date::WorkDate;
use super::mapping::{RELATIONS, RelationMapping};
use super::terms::{People, Terms, doi};
use crate::export::file_name;
use crate::sidecar::{Relation, RelationKind, Sidecar, edtf};

/// The kinds of entry that a `type` may name; anything else is `@misc`.
const KINDS: [&str; 13] = [
    "article",
    "book",
    "booklet",
    "conference",
    "inbook",
    "incollection",
    "inproceedings",
    "manual",
    "mastersthesis",
    "phdthesis",
    "proceedings",
    "techreport",
    "unpublished",
];

pub(super) fn render(sidecar: &Sidecar) -> String {
    let terms = Terms::of(sidecar);
    let kind = terms.first("type").map(|kind| kind.to_ascii_lowercase());
    let kind = kind.filter(|kind| KINDS.contains(&kind.as_str()));
    let mut text = format!("@{}{{{}", kind.as_deref().unwrap_or("misc"), key(sidecar));
    let mut add = |field: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!(",\n  {field} = {{{value}}}"));
        }
    };
    let values = |field| terms.mapped(|row| row.field == Some(field));
    let people = |field| people(People::of(values(field)));
    let texts = |field| values(field).iter().map(|text| escape(text)).collect::<Vec<_>>();
    let first = |field| texts(field).into_iter().next().unwrap_or_default();
    // The outer braces preserve the case of the title.
    let title = first("title");
    add("title", &if title.is_empty() { title } else { format!("{{{title}}}") });
    add("author", &people("author"));
    add("contributor", &people("contributor"));
    let year = escape(&WorkDate::of(&terms).apa().replace('–', "--"));
    add("year", &year);
    // biblatex reads EDTF, in which `~` and `%` are marks that must not be escaped.
    let date = values("date").into_iter().next().filter(|date| edtf::check(date).is_ok());
    add("date", &date.filter(|date| *date != year).unwrap_or_default());
    add("publisher", &texts("publisher").join(", "));
    add("abstract", &first("abstract"));
    add("keywords", &texts("keywords").join(", "));
    add("language", &first("language"));
    add("copyright", &texts("copyright").join(", "));
    let doi = values("doi").iter().find_map(|text| doi(text).map(escape));
    add("doi", &doi.unwrap_or_default());
    for RelationMapping { field, .. } in &RELATIONS {
        let related = terms.related().filter(|(row, _)| row.field == *field);
        let related: Vec<_> = related.map(|(_, it)| related_item(&it)).collect();
        add(field, &related.join(" "));
    }
    add("repository", &escape(sidecar.repository.as_str()));
    add("ibi", &sidecar.ibip.as_ref().map(ToString::to_string).unwrap_or_default());
    let target = sidecar.target.as_ref().map(|target| escape(&target.to_text()));
    add("targetfile", &target.unwrap_or_default());
    text.push_str("\n}\n");
    text
}

/// The identifier of a related item; of a translation, after its language.
fn related_item(relation: &Relation) -> String {
    let to = escape(relation.to.as_str());
    match &relation.kind {
        RelationKind::Translation(language) => format!("{language} {to}"),
        _ => to,
    }
}

/// The citation key: the name of the item, without characters that end a key.
fn key(sidecar: &Sidecar) -> String {
    let stays = |c: char| c.is_ascii_alphanumeric() || ".-_+".contains(c);
    file_name(&sidecar.repository).chars().map(|c| if stays(c) { c } else { '-' }).collect()
}

/// A list of names. `others` is the word of BibTeX for those that are not named.
fn people(People { names, has_others }: People) -> String {
    let mut names: Vec<_> = names.iter().map(|name| person(name)).collect();
    if has_others && !names.is_empty() {
        names.push("others".to_owned());
    }
    names.join(" and ")
}

/// A name in a list of names, protected from being split.
fn person(name: &str) -> String {
    let name = escape(name);
    let is_ambiguous = name == "others"
        || name.split_whitespace().any(|word| word == "and")
        || name.matches(',').count() > 2;
    if is_ambiguous { format!("{{{name}}}") } else { name }
}

/// Text that TeX prints unchanged, on one line. Braces are named: BibTeX counts them even when they are
/// escaped.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '{' => escaped.push_str("\\textbraceleft{}"),
            '}' => escaped.push_str("\\textbraceright{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '$' | '&' | '#' | '%' | '_' => escaped.extend(['\\', character]),
            c if c.is_control() || c.is_whitespace() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_field_before_its_time() {
        assert_eq!(escape("a}, evil = {b"), "a\\textbraceright{}, evil = \\textbraceleft{}b");
        assert_eq!(escape("50% of\nR&D\\_"), "50\\% of R\\&D\\textbackslash{}\\_");
        assert_eq!(person("Silva, Ana"), "Silva, Ana");
        assert_eq!(person("Smith and Sons"), "{Smith and Sons}");
    }
}
