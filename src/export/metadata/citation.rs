//! References for a bibliography: ABNT NBR 6023:2018 and APA, 7th edition.
//!
//! Plain text, without italics. A name is `Family, Given`; a name without a comma is that of an institution.
//! The reader adds the date of access, which ABNT requires for online sources.

use super::date::WorkDate;
use super::mapping::Datacite;
use super::terms::{People, Terms, doi};
use crate::collection::UrlBase;
use crate::sidecar::Sidecar;

/// The parts of a reference.
struct Work {
    people: People,
    title: Option<String>,
    publisher: Option<String>,
    date: WorkDate,
    url: String,
}

impl Work {
    fn of(sidecar: &Sidecar, base: &UrlBase) -> Work {
        let terms = Terms::of(sidecar);
        let of = |wanted: Datacite| {
            let values = terms.mapped(|row| row.datacite == wanted).into_iter();
            values.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let doi = of(Datacite::Identifier).find_map(|text| doi(&text).map(str::to_owned));
        Work {
            people: People::of(of(Datacite::Creator).collect()),
            title: of(Datacite::Title(None)).next(),
            publisher: of(Datacite::Publisher).next(),
            date: WorkDate::of(&terms),
            url: match doi {
                Some(doi) => format!("https://doi.org/{doi}"),
                None => base.join(&sidecar.repository),
            },
        }
    }
}

/// By ABNT NBR 6023: `SILVA, Ana. Title. Publisher, 2026. Disponível em: URL.`
pub(super) fn abnt(sidecar: &Sidecar, base: &UrlBase) -> String {
    let Work { people, title, publisher, date, url } = Work::of(sidecar, base);
    let names: Vec<_> = people.names.iter().map(|name| abnt_name(name)).collect();
    let title = title.unwrap_or_else(|| "[sem título]".to_owned());
    let mut text = String::new();
    match names.as_slice() {
        [] if title.starts_with('[') => push_sentence(&mut text, &title),
        // Without an author, the first word of the title is in capitals.
        [] => {
            let (first, rest) = title.split_at(title.find(' ').unwrap_or(title.len()));
            push_sentence(&mut text, &format!("{}{rest}", first.to_uppercase()));
        }
        // From four authors on, only the first one is named, as where the others are unknown.
        [first, _, _, _, ..] => push_sentence(&mut text, &format!("{first} et al")),
        [first, ..] if people.has_others => push_sentence(&mut text, &format!("{first} et al")),
        names => push_sentence(&mut text, &names.join("; ")),
    }
    if !names.is_empty() {
        push_sentence(&mut text, &title);
    }
    let publisher = publisher.unwrap_or_else(|| "[s. n.]".to_owned());
    push_sentence(&mut text, &format!("{publisher}, {}", date.abnt()));
    push_sentence(&mut text, &format!("Disponível em: {url}"));
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn abnt_name(name: &str) -> String {
    match name.split_once(',') {
        Some((family, given)) => format!("{},{given}", family.to_uppercase()),
        None => name.to_uppercase(),
    }
}

/// By APA: `Silva, A. (2026). Title. Publisher. URL`
pub(super) fn apa(sidecar: &Sidecar, base: &UrlBase) -> String {
    let Work { people, title, publisher, date, url } = Work::of(sidecar, base);
    let names: Vec<_> = people.names.iter().map(|name| apa_name(name)).collect();
    let title = title.unwrap_or_else(|| "[Untitled]".to_owned());
    let mut text = String::new();
    match names.as_slice() {
        [] => push_sentence(&mut text, &title),
        names if people.has_others => {
            push_sentence(&mut text, &format!("{}, et al.", names.join(", ")));
        }
        [name] => push_sentence(&mut text, name),
        // From 21 authors on, the last one follows the first nineteen.
        [first @ .., last] if first.len() >= 20 => {
            push_sentence(&mut text, &format!("{}, … {last}", first[..19].join(", ")));
        }
        [first @ .., last] => push_sentence(&mut text, &format!("{}, & {last}", first.join(", "))),
    }
    push_sentence(&mut text, &format!("({})", date.apa()));
    if !names.is_empty() {
        push_sentence(&mut text, &title);
    }
    if let Some(publisher) = publisher {
        push_sentence(&mut text, &publisher);
    }
    text + &url + "\n"
}

/// `Silva, Ana Maria` becomes `Silva, A. M.`; a hyphen stays: `Sartre, J.-P.`
fn apa_name(name: &str) -> String {
    let Some((family, given)) = name.split_once(',') else { return name.to_owned() };
    let initial = |part: &str| part.chars().next().map(|first| format!("{first}."));
    let initials = |word: &str| word.split('-').filter_map(initial).collect::<Vec<_>>().join("-");
    let given: Vec<_> = given.split_whitespace().map(initials).collect();
    if given.is_empty() { family.to_owned() } else { format!("{family}, {}", given.join(" ")) }
}

/// Appends a sentence with its period, and a space before the next one.
fn push_sentence(text: &mut String, sentence: &str) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
    text.push_str(sentence);
    if !sentence.ends_with(['.', '?', '!']) {
        text.push('.');
    }
    text.push(' ');
}
