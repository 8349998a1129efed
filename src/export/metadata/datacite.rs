//! DataCite metadata, in the JSON of its schema 4.
//!
//! Five properties are mandatory; without a value they are `:unav`, as the schema requires.

use serde_json::{Map, Value, json};

use super::date::{WorkDate, iso};
use super::mapping::{Datacite, TERMS};
use super::terms::{People, Terms, doi};
use crate::collection::UrlBase;
use crate::sidecar::Sidecar;

const UNAVAILABLE: &str = ":unav";
const ETAL: &str = ":etal";

/// The general types of the schema; any other `type` is `Other`.
const GENERAL_TYPES: [&str; 29] = [
    "Audiovisual",
    "Book",
    "BookChapter",
    "Collection",
    "ComputationalNotebook",
    "ConferencePaper",
    "ConferenceProceeding",
    "DataPaper",
    "Dataset",
    "Dissertation",
    "Event",
    "Image",
    "Instrument",
    "InteractiveResource",
    "Journal",
    "JournalArticle",
    "Model",
    "OutputManagementPlan",
    "PeerReview",
    "PhysicalObject",
    "Preprint",
    "Report",
    "Service",
    "Software",
    "Sound",
    "Standard",
    "StudyRegistration",
    "Text",
    "Workflow",
];

pub(super) fn render(sidecar: &Sidecar, base: &UrlBase) -> String {
    let terms = Terms::of(sidecar);
    let of = |wanted: Datacite| terms.mapped(|row| row.datacite == wanted);
    let publisher = or_unavailable_list(of(Datacite::Publisher)).swap_remove(0);
    let mut record = json!({
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "url": base.join(&sidecar.repository),
        "creators": people(or_unavailable_list(named(of(Datacite::Creator))), None),
        "titles": titles(&terms),
        "publisher": { "name": publisher },
        "publicationYear": WorkDate::of(&terms).year().unwrap_or_else(|| "0000".to_owned()),
        "types": types(&of(Datacite::ResourceType)),
        "dates": dates(sidecar, &terms),
        "sizes": [
            sized(sidecar.payload.bytes, "byte"), sized(sidecar.payload.files, "file"),
        ],
    });
    let each = |values: Vec<String>, key: &str| -> Vec<Value> {
        values.into_iter().map(|value| json!({ key: value })).collect()
    };
    let Value::Object(fields) = &mut record else { return String::new() };
    if let Some(doi) = of(Datacite::Identifier).iter().find_map(|text| doi(text)) {
        fields.insert("doi".to_owned(), doi.into());
    }
    add(fields, "alternateIdentifiers", identifiers(sidecar, of(Datacite::Identifier)));
    add(fields, "subjects", each(of(Datacite::Subject), "subject"));
    add(fields, "contributors", people(named(of(Datacite::Contributor)), Some("Other")));
    add(fields, "rightsList", each(of(Datacite::Rights), "rights"));
    add(fields, "descriptions", descriptions(&terms));
    add(fields, "formats", of(Datacite::Format).into_iter().map(Value::from).collect());
    add(fields, "relatedIdentifiers", related(&terms, base));
    if let Some(language) = of(Datacite::Language).into_iter().next() {
        fields.insert("language".to_owned(), language.into());
    }
    format!("{record:#}\n")
}

fn or_unavailable_list(mut values: Vec<String>) -> Vec<String> {
    if values.is_empty() {
        values.push(UNAVAILABLE.to_owned());
    }
    values
}

fn add(fields: &mut Map<String, Value>, key: &str, values: Vec<Value>) {
    if !values.is_empty() {
        fields.insert(key.to_owned(), values.into());
    }
}

/// The identifiers of the item beside its DOI.
fn identifiers(sidecar: &Sidecar, others: Vec<String>) -> Vec<Value> {
    let own = std::iter::once((sidecar.repository.to_string(), "IBI"));
    let ibip = sidecar.ibip.iter().map(|ibip| (ibip.to_string(), "IBI"));
    let first_doi = others.iter().position(|text| doi(text).is_some());
    let others = others.into_iter().enumerate().filter(|(at, _)| Some(*at) != first_doi);
    let others = others.map(|(_, text)| match doi(&text) {
        Some(doi) => (doi.to_owned(), "DOI"),
        None => (text, "Other"),
    });
    let value =
        |(text, kind)| json!({ "alternateIdentifier": text, "alternateIdentifierType": kind });
    own.chain(ibip).chain(others).map(value).collect()
}

/// Names, and `:etal` for people whom the list does not name.
fn named(values: Vec<String>) -> Vec<String> {
    let People { mut names, has_others } = People::of(values);
    names.extend(has_others.then(|| ETAL.to_owned()));
    names
}

fn people(names: Vec<String>, contributor: Option<&str>) -> Vec<Value> {
    let person = |name: String| match contributor {
        Some(kind) => json!({ "name": name, "contributorType": kind }),
        None => json!({ "name": name }),
    };
    names.into_iter().map(person).collect()
}

fn titles(terms: &Terms<'_>) -> Vec<Value> {
    let main = or_unavailable_list(terms.mapped(|row| row.datacite == Datacite::Title(None)));
    let main = main.into_iter().map(|title| json!({ "title": title }));
    let others = typed(terms, |property| match property {
        Datacite::Title(kind) => kind,
        _ => None,
    });
    let other = |(title, kind)| json!({ "title": title, "titleType": kind });
    main.chain(others.into_iter().map(other)).collect()
}

/// The values of the typed properties, with their types.
fn typed(
    terms: &Terms<'_>,
    kind_of: impl Fn(Datacite) -> Option<&'static str>,
) -> Vec<(String, &'static str)> {
    let rows = TERMS.iter().filter_map(|row| Some((row.term, kind_of(row.datacite)?)));
    rows.flat_map(|(term, kind)| terms.values(term).into_iter().map(move |it| (it, kind))).collect()
}

fn types(said: &[String]) -> Value {
    let said = said.first().map(String::as_str).unwrap_or_default();
    let known = GENERAL_TYPES.iter().find(|known| known.eq_ignore_ascii_case(said));
    match (known, said) {
        (Some(known), _) => json!({ "resourceTypeGeneral": known }),
        (None, "") => json!({ "resourceTypeGeneral": "Other" }),
        (None, said) => json!({ "resourceTypeGeneral": "Other", "resourceType": said }),
    }
}

/// Dates by ISO 8601, each with the date in the description where that says more. A text that is not a date is left out,
/// as are seasons.
fn dates(sidecar: &Sidecar, terms: &Terms<'_>) -> Vec<Value> {
    let said = typed(terms, |property| match property {
        Datacite::Date(kind) => Some(kind),
        _ => None,
    });
    let date = |(text, kind): (String, &str)| match iso(&text)? {
        (date, true) => Some(json!({ "date": date, "dateType": kind, "dateInformation": text })),
        (date, false) => Some(json!({ "date": date, "dateType": kind })),
    };
    let mut dates: Vec<_> = said.into_iter().filter_map(date).collect();
    dates.push(json!({ "date": sidecar.created.to_string(), "dateType": "Submitted" }));
    dates.dedup();
    dates
}

fn descriptions(terms: &Terms<'_>) -> Vec<Value> {
    let described = typed(terms, |property| match property {
        Datacite::Description(kind) => Some(kind),
        _ => None,
    });
    let value = |(text, kind)| json!({ "description": text, "descriptionType": kind });
    described.into_iter().map(value).collect()
}

/// Related items by their persistent URLs, and values of other terms that have a type of identifier in the
/// schema.
fn related(terms: &Terms<'_>, base: &UrlBase) -> Vec<Value> {
    let items =
        terms.related().map(|(row, relation)| (base.join(&relation.to), "URL", row.relation_type));
    let others = typed(terms, |property| match property {
        Datacite::Related(kind) => Some(kind),
        _ => None,
    });
    let others = others.into_iter().filter_map(|(text, relation)| match doi(&text) {
        Some(doi) => Some((doi.to_owned(), "DOI", relation)),
        None if text.starts_with("http://") || text.starts_with("https://") => {
            Some((text, "URL", relation))
        }
        None => None,
    });
    let value = |(identifier, kind, relation): (String, &str, &str)| {
        json!({
            "relatedIdentifier": identifier, "relatedIdentifierType": kind,
            "relationType": relation,
        })
    };
    items.chain(others).map(value).collect()
}
/// `1 file`, `2 files`.
fn sized(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
