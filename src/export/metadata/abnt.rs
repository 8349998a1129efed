//! References by ABNT NBR 6023:2018.

use super::citation::{Sentences, edition};
use super::date::abnt_day;
use super::kind::Kind;
use super::names::{Bearer, Name, People};
use super::work::Work;

/// From this number of people on, only the first one is named.
const TOO_MANY: usize = 4;

/// Marks of what is not known.
const NO_PLACE: &str = "[S. l.]";
const NO_PUBLISHER: &str = "[s. n.]";
const NEITHER: &str = "[S. l.: s. n.]";
const NO_TITLE: &str = "[Sem título]";

/// Roles with the words before their names.
const ROLES: [(&str, &str); 4] = [
    ("recipient", "Destinatário"),
    ("editor", "Organização"),
    ("translator", "Tradução"),
    ("illustrator", "Ilustrações"),
];

/// Articles, prepositions and conjunctions by language: they are no first word of a title.
const SMALL_WORDS: [(&str, &str); 6] = [
    (
        "pt",
        "o a os as um uma uns umas de do da dos das em no na nos nas num numa por pelo pela pelos \
         pelas para com sem sob sobre entre até ao aos à às e ou",
    ),
    ("en", "the a an of in on at by for from to with and or"),
    ("es", "el la los las lo un una unos unas de del en por para con sin sobre entre a al y e o u"),
    ("fr", "le la les un une des du de au aux à en dans par pour sur avec sans et ou"),
    (
        "de",
        "der die das den dem des ein eine einen einem einer eines von vom zu zum zur in im an am \
         auf aus bei mit nach über für und oder",
    ),
    (
        "it",
        "il lo la i gli le un uno una di del dello della dei degli delle da dal dalla in nel nella \
         a al alla con per su sul sulla e o",
    ),
];

/// The reference of a work, as a line.
pub(super) fn render(work: &Work<'_>) -> String {
    let mut text = Sentences::default();
    let title = work.text("title");
    let creators = work.people("creator");
    // The editors of a book are no authors of a chapter.
    let editors = if work.kind.is_part() { People::default() } else { work.people("editor") };
    let shown = title.clone().unwrap_or_else(|| NO_TITLE.to_owned());
    match (creators.is_empty(), editors.is_empty()) {
        (false, _) => text.push(&entry(&creators)),
        (true, false) => text.push(&format!("{} {}", entry(&editors), organizers(work))),
        (true, true) => text.push(&headed(work, &shown)),
    }
    if !creators.is_empty() || !editors.is_empty() {
        text.push(&shown);
    }
    for (role, words) in ROLES {
        let people = work.people(role);
        let is_entry = role == "editor" && (creators.is_empty() || work.kind.is_part());
        let is_letter = role != "recipient" || work.kind == Kind::Letter;
        if !people.is_empty() && !is_entry && is_letter {
            text.push(&format!("{words}: {}", listed(&people, Name::direct)));
        }
    }
    match work.kind {
        Kind::Article if work.container().is_some() => article(work, &mut text),
        Kind::Thesis => thesis(work, &mut text),
        kind if kind.is_part() && (work.container().or(work.text("event"))).is_some() => {
            part(work, &mut text);
        }
        _ => usual(work, &mut text),
    }
    if let Some(doi) = &work.doi {
        text.push(&format!("DOI: https://doi.org/{doi}"));
    }
    text.push(&format!("Disponível em: {}", work.url));
    text.push(&format!("Acesso em: {}", abnt_day(work.accessed)));
    text.line()
}

/// The word behind editors that stand for authors.
fn organizers(work: &Work<'_>) -> &'static str {
    if work.is_portuguese() { "(org.)" } else { "(ed.)" }
}

/// People as the entry of a reference: `SILVA, Ana; COSTA, Rui`.
fn entry(people: &People) -> String {
    listed(people, inverted)
}

fn listed(People { names, has_others }: &People, form: impl Fn(&Name) -> String) -> String {
    match names.as_slice() {
        [first, ..] if *has_others || names.len() >= TOO_MANY => format!("{} et al.", form(first)),
        names => names.iter().map(form).collect::<Vec<_>>().join("; "),
    }
}

/// `KING JR., Martin`; of an institution, the first component is in capitals.
fn inverted(name: &Name) -> String {
    match &name.bearer {
        Bearer::Person(person) => {
            let family = person.surname().to_uppercase();
            if person.given.is_empty() { family } else { format!("{family}, {}", person.given) }
        }
        Bearer::Institution => {
            let components = name.components();
            let first = components.first().copied().unwrap_or_default();
            format!("{}{}", first.to_uppercase(), &name.plain[first.len()..])
        }
    }
}

/// A title at the beginning: its first word is in capitals, with the small words before it.
fn headed(work: &Work<'_>, title: &str) -> String {
    if title.starts_with('[') {
        return title.to_owned();
    }
    let language = work.language();
    let lists =
        SMALL_WORDS.iter().filter(|(tag, _)| language.as_deref().is_none_or(|it| it == *tag));
    let lists: Vec<_> = lists.map(|(_, words)| *words).collect();
    let is_small = |word: &str| {
        let word = word.to_lowercase();
        lists.iter().any(|words| words.split(' ').any(|small| small == word))
    };
    let mut end = 0;
    for word in title.split(' ') {
        end += word.len();
        if !is_small(word) {
            break;
        }
        end = (end + 1).min(title.len());
    }
    format!("{}{}", title[..end].to_uppercase(), &title[end..])
}

/// Those of `parts` that are there, with `, ` between them.
fn with_commas(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A term behind its abbreviation: `v. 25`.
fn numbered(work: &Work<'_>, abbreviation: &str, term: &str) -> Option<String> {
    Some(format!("{abbreviation} {}", work.text(term)?))
}

fn pages(work: &Work<'_>) -> Option<String> {
    Some(format!("p. {}", work.pages()?.text("-")))
}

/// `2. ed.`
fn push_edition(work: &Work<'_>, text: &mut Sentences) {
    if let Some(number) = work.text("edition") {
        text.push(&edition(&number, work.language().as_deref()));
    }
}

/// `Recife: Editora, 2014`
fn published(work: &Work<'_>) -> String {
    let place = match (work.text("place"), work.publisher()) {
        (Some(place), Some(publisher)) => format!("{place}: {publisher}"),
        (Some(place), None) => format!("{place}: {NO_PUBLISHER}"),
        (None, Some(publisher)) => format!("{NO_PLACE}: {publisher}"),
        (None, None) => NEITHER.to_owned(),
    };
    format!("{place}, {}", work.date.abnt())
}

/// `(Coleção, v. 5, 12)`: a volume is that of the series, except in a part of a book.
fn series(work: &Work<'_>) -> Option<String> {
    let series = work.text("series")?;
    let volume = numbered(work, "v.", "volume").filter(|_| !work.kind.is_part());
    Some(format!("({})", with_commas([Some(series), volume, work.text("number")])))
}

fn usual(work: &Work<'_>, text: &mut Sentences) {
    push_edition(work, text);
    if let Some(version) = work.text("version") {
        text.push(&format!("Versão {version}"));
    }
    let place = work.text("place");
    let full = work.date.abnt_full();
    match work.kind {
        Kind::Photograph | Kind::Image if work.publisher().is_none() => {
            text.push(&with_commas([place, Some(full)]));
        }
        Kind::Photograph | Kind::Image => {
            let year = published(work);
            let end = year.len() - work.date.abnt().len();
            text.push(&format!("{}{full}", &year[..end]));
        }
        Kind::Letter | Kind::Manuscript => {
            text.push(&with_commas([
                Some(place.unwrap_or_else(|| NO_PLACE.to_owned())),
                Some(full),
            ]));
        }
        _ => text.push(&published(work)),
    }
    let series = series(work);
    if series.is_none() {
        text.push(&with_commas([numbered(work, "v.", "volume"), numbered(work, "n.", "number")]));
    }
    let mut extents = work.extents("p.");
    if extents.is_empty() {
        let word = match work.kind {
            Kind::Photograph => Some("Fotografia"),
            Kind::Map => Some("Mapa"),
            _ => None,
        };
        extents.extend(word.map(str::to_owned));
    }
    text.push(extents.first().map_or("", String::as_str));
    text.push(&series.unwrap_or_default());
}

/// `Revista, Recife, v. 25, n. 64, p. 7-18, jan./abr. 2014`
fn article(work: &Work<'_>, text: &mut Sentences) {
    let place = work.text("place").unwrap_or_else(|| NO_PLACE.to_owned());
    text.push(&with_commas([
        work.container(),
        Some(place),
        numbered(work, "v.", "volume"),
        numbered(work, "n.", "number"),
        pages(work),
        Some(work.date.abnt_full()),
    ]));
}

/// `2004. 142 f. Tese (Doutorado em Física) – Universidade, Aurora, 2004`
fn thesis(work: &Work<'_>, text: &mut Sentences) {
    let year = work.date.abnt();
    text.push(&year);
    text.push(work.extents("f.").first().map_or("", String::as_str));
    let place = work.text("place").unwrap_or_else(|| NO_PLACE.to_owned());
    let institution = with_commas([work.publisher(), Some(place), Some(year)]);
    text.push(&format!("{} – {institution}", work.thesis()));
}

/// `In: LEVY, Guido (org.). História. 2. ed. São Paulo: Editora, 1996. p. 7-16`
fn part(work: &Work<'_>, text: &mut Sentences) {
    let editors = work.people("editor");
    match (work.container(), work.text("event")) {
        (book, Some(event)) => {
            let (name, rest) = event.split_at(event.find(',').unwrap_or(event.len()));
            text.push(&format!("In: {}{rest}", name.to_uppercase()));
            // The title says again what the event is.
            if let Some(word) = book.as_deref().and_then(|book| book.split(' ').next()) {
                text.push(&format!("{} [...]", word.trim_end_matches(['.', '…', ','])));
            }
            if !editors.is_empty() {
                text.push(&format!("Organização: {}", listed(&editors, Name::direct)));
            }
        }
        (Some(book), None) if editors.is_empty() => {
            text.push(&format!("In: {}", headed(work, &book)));
        }
        (book, None) => {
            text.push(&format!("In: {} {}", entry(&editors), organizers(work)));
            text.push(&book.unwrap_or_default());
        }
    }
    push_edition(work, text);
    text.push(&published(work));
    text.push(&with_commas([numbered(work, "v.", "volume"), pages(work)]));
    text.push(&series(work).unwrap_or_default());
}
