//! An entry for a bibliography, in BibTeX.
//!
//! `repository`, `ibi`, `targetfile` and most relations are fields of the `@reference.bib` of `URLib`.

use super::kind::{Kind, folded};
use super::mapping::{RELATIONS, RelationMapping, TERMS};
use super::names::{Bearer, Name, People};
use super::work::{Pages, Work};
use crate::export::file_name;
use crate::sidecar::{Relation, RelationKind, Sidecar, edtf};

/// The words for a title, a publisher and a note that an entry needs and the description lacks.
const NO_TITLE: &str = "[Untitled]";
const NO_PUBLISHER: &str = "s. n.";

/// An entry, and the terms that it needs; of those in one group, any.
const REQUIRED: [(&str, &[&[&str]]); 9] = [
    ("article", &[&["creator"], &["journal"]]),
    ("book", &[&["creator", "editor"]]),
    ("incollection", &[&["creator"], &["booktitle"]]),
    ("inbook", &[&["creator"], &["pages"]]),
    ("inproceedings", &[&["creator"], &["booktitle"]]),
    ("phdthesis", &[&["creator"], &["institution", "publisher"]]),
    ("mastersthesis", &[&["creator"], &["institution", "publisher"]]),
    ("techreport", &[&["creator"], &["institution"]]),
    ("unpublished", &[&["creator"]]),
];

/// Entries that need a publisher.
const PUBLISHED: [&str; 3] = ["book", "incollection", "inbook"];

pub(super) fn render(work: &Work<'_>) -> String {
    let kind = entry(work);
    let mut text = format!("@{kind}{{{}", key(work.sidecar));
    let mut add = |field: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!(",\n  {field} = {{{value}}}"));
        }
    };
    let mut done: Vec<&str> = Vec::new();
    for (term, field) in TERMS.iter().filter_map(|row| Some((row.term, row.field?))) {
        if done.contains(&field) {
            continue;
        }
        done.push(field);
        let first = || escape(&work.text(term).unwrap_or_default());
        let all = || {
            let texts = work.mapped(|row| row.field == Some(field));
            texts.iter().map(|text| escape(text)).collect::<Vec<_>>().join(", ")
        };
        match field {
            // The outer braces preserve the case of the title.
            "title" => {
                let title = work.text(term).unwrap_or_else(|| NO_TITLE.to_owned());
                add(field, &format!("{{{}}}", escape(&title)));
            }
            "author" | "editor" | "translator" | "advisor" | "illustrator" | "recipient"
            | "contributor" => add(field, &people(&work.people(term))),
            "date" => {
                let year = escape(&work.date.apa().replace('–', "--"));
                add("year", &year);
                // biblatex reads EDTF, in which `~` and `%` are marks that must not be escaped.
                let date = work.mapped(|row| row.field == Some(field)).into_iter().next();
                let date = date.filter(|date| edtf::check(date).is_ok() && *date != year);
                add(field, &date.unwrap_or_default());
            }
            // The word for the kind of a report is the title of its series.
            "series" if kind == "techreport" => add("type", &first()),
            "pages" => {
                let pages = work.pages().map(|pages| match pages {
                    Pages::Range(..) => pages.text("--"),
                    pages => pages.text("-"),
                });
                add(field, &escape(&pages.unwrap_or_default()));
            }
            "publisher" => {
                let publishers = all();
                let is_missing = publishers.is_empty() && PUBLISHED.contains(&kind.as_str());
                let institution = || work.publisher().map(|text| escape(&text));
                let substitute = || institution().unwrap_or_else(|| NO_PUBLISHER.to_owned());
                add(field, &if is_missing { substitute() } else { publishers });
            }
            "institution" if work.kind == Kind::Thesis => {
                add("school", &escape(&work.publisher().unwrap_or_default()));
            }
            "keywords" => {
                // A keyword with a comma is one all the same: semicolons separate them then.
                let words = work.texts(term);
                let words: Vec<_> = words.iter().map(|word| escape(word)).collect();
                let has_commas = words.iter().any(|word| word.contains(','));
                let end = if has_commas && words.len() == 1 { ";" } else { "" };
                add(field, &(words.join(if has_commas { "; " } else { ", " }) + end));
            }
            "copyright" => add(field, &all()),
            "doi" => add(field, &work.doi.as_deref().map(escape).unwrap_or_default()),
            _ => add(field, &first()),
        }
    }
    if kind == "unpublished" {
        add("note", work.bracket().unwrap_or_default());
    }
    for RelationMapping { field, .. } in &RELATIONS {
        let related = work.terms.related().filter(|(row, _)| row.field == *field);
        let related: Vec<_> = related.map(|(_, relation)| related_item(&relation)).collect();
        add(field, &related.join(" "));
    }
    // Programs for TeX take an address as it is.
    add("url", &work.url.replace(['{', '}', '\\'], ""));
    add("repository", &escape(work.sidecar.repository.as_str()));
    add("ibi", &work.sidecar.ibip.as_ref().map(ToString::to_string).unwrap_or_default());
    let target = work.sidecar.target.as_ref().map(|target| escape(&target.to_text()));
    add("targetfile", &target.unwrap_or_default());
    add("entrysubtype", &subtype(work, &kind));
    text.push_str("\n}\n");
    text
}

/// The kind of entry; `misc` for a type that has none, or that lacks what its entry needs.
fn entry(work: &Work<'_>) -> String {
    let typed = folded(&work.text("type").unwrap_or_default());
    let usual = match work.kind {
        Kind::Thesis => work.level().entry(),
        Kind::Book if ["manual", "booklet"].contains(&typed.as_str()) => &typed,
        Kind::Chapter if work.text("booktitle").is_none() => "inbook",
        kind => kind.names().entry,
    };
    let required = REQUIRED.iter().find(|(entry, _)| *entry == usual).map_or(&[][..], |it| it.1);
    let is_there = |group: &&[&str]| group.iter().any(|term| work.text(term).is_some());
    let is_whole = required.iter().all(is_there);
    if is_whole { usual.to_owned() } else { "misc".to_owned() }
}

/// The type of a work whose entry does not tell it.
fn subtype(work: &Work<'_>, kind: &str) -> String {
    let typed = work.text("type").unwrap_or_default().to_lowercase();
    if kind == "misc" && typed != "misc" { escape(&typed) } else { String::new() }
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
fn people(People { names, has_others }: &People) -> String {
    let mut names: Vec<_> = names.iter().map(person).collect();
    if *has_others && !names.is_empty() {
        names.push("others".to_owned());
    }
    names.join(" and ")
}

/// A name in a list of names: `Family, Suffix, Given`, or an institution in braces.
fn person(name: &Name) -> String {
    let Bearer::Person(person) = &name.bearer else {
        return format!("{{{}}}", escape(&name.plain));
    };
    let parts = [&person.family, &person.suffix, &person.given].map(|part| protected(part));
    match parts {
        // One word without a comma is a family name as well.
        [family, suffix, given] if suffix.is_empty() && given.is_empty() => {
            let is_word = !family.contains(' ') && family != "others";
            if is_word { family } else { format!("{family},") }
        }
        [family, suffix, given] if suffix.is_empty() => format!("{family}, {given}"),
        [family, suffix, given] => format!("{family}, {suffix}, {given}"),
    }
}

/// A part of a name in braces, where it would be split at `and` or a comma.
fn protected(part: &str) -> String {
    let text = escape(part);
    let is_split =
        part.contains(',') || part.split_whitespace().any(|word| word.eq_ignore_ascii_case("and"));
    if is_split { format!("{{{text}}}") } else { text }
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
        for (name, expected) in [
            ("Silva, Ana", "Silva, Ana"),
            ("Smith and Sons", "{Smith and Sons}"),
            ("Smith and Sons, Ana", "{Smith and Sons}, Ana"),
            ("King Jr., Martin", "King, Jr., Martin"),
            ("{A, B}", "{A, B}"),
            ("others,", "others,"),
            ("Platão,", "Platão"),
            ("Silva, Ana, poeta", "Silva, {Ana, poeta}"),
            ("a}, evil = {b", "a\\textbraceright{}, evil = \\textbraceleft{}b"),
        ] {
            assert_eq!(person(&Name::read(name)), expected, "{name}");
        }
    }
}
