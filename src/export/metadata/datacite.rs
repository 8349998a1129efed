//! What DataCite asks for, in the JSON of its schema 4.
//!
//! Five properties are mandatory; where the description has nothing, they are `:unav`, as the schema
//! wants it.

use serde_json::{Map, Value, json};

use super::terms::{Terms, year_of};
use crate::sidecar::Sidecar;

const UNAVAILABLE: &str = ":unav";

/// The general types of the schema, by which a `type` is known; anything else is `Other`.
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

pub(super) fn render(sidecar: &Sidecar) -> String {
    let terms = Terms::of(sidecar);
    let or_unavailable = |text: Option<String>| text.unwrap_or_else(|| UNAVAILABLE.to_owned());
    let mut record = json!({
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "identifiers": identifiers(sidecar),
        "creators": people(&or_unavailable_list(terms.values("creator")), None),
        "titles": titles(&terms),
        "publisher": { "name": or_unavailable(terms.first("publisher")) },
        "publicationYear": year_of(sidecar),
        "types": types(&terms),
        "dates": dates(sidecar),
        "sizes": [
            format!("{} bytes", sidecar.payload.bytes), format!("{} files", sidecar.payload.files),
        ],
    });
    let each = |values: Vec<String>, key: &str| -> Vec<Value> {
        values.into_iter().map(|value| json!({ key: value })).collect()
    };
    let Value::Object(fields) = &mut record else { return String::new() };
    add(fields, "subjects", each(terms.values("subject"), "subject"));
    add(fields, "contributors", people(&terms.values("contributor"), Some("Other")));
    add(fields, "rightsList", each(terms.all(&["rights", "license"]), "rights"));
    add(fields, "descriptions", descriptions(&terms));
    add(fields, "formats", terms.values("format").into_iter().map(Value::from).collect());
    add(fields, "relatedIdentifiers", related(&terms));
    if let Some(language) = terms.first("language") {
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

/// The names of the item, and what else it is known by. A DOI comes first, as the one that counts here.
fn identifiers(sidecar: &Sidecar) -> Vec<Value> {
    let own = std::iter::once((sidecar.repository.to_string(), "IBI"));
    let ibip = sidecar.ibip.iter().map(|ibip| (ibip.to_string(), "IBI"));
    let others = Terms::of(sidecar).values("identifier");
    let others = others.into_iter().map(|text| match doi(&text) {
        Some(doi) => (doi.to_owned(), "DOI"),
        None => (text, "Other"),
    });
    let mut all: Vec<_> = own.chain(ibip).chain(others).collect();
    all.sort_by_key(|(_, kind)| *kind != "DOI");
    let value = |(text, kind)| json!({ "identifier": text, "identifierType": kind });
    all.into_iter().map(value).collect()
}

fn people(names: &[String], contributor: Option<&str>) -> Vec<Value> {
    let person = |name: &String| match contributor {
        Some(kind) => json!({ "name": name, "contributorType": kind }),
        None => json!({ "name": name }),
    };
    names.iter().map(person).collect()
}

fn titles(terms: &Terms<'_>) -> Vec<Value> {
    let titles = or_unavailable_list(terms.values("title"));
    let others = terms.values("alternative");
    let title = titles.into_iter().map(|title| json!({ "title": title }));
    let other = |title: String| json!({ "title": title, "titleType": "AlternativeTitle" });
    title.chain(others.into_iter().map(other)).collect()
}

fn types(terms: &Terms<'_>) -> Value {
    let said = terms.first("type").unwrap_or_default();
    let known = GENERAL_TYPES.iter().find(|known| known.eq_ignore_ascii_case(&said));
    match (known, said.as_str()) {
        (Some(known), _) => json!({ "resourceTypeGeneral": known }),
        (None, "") => json!({ "resourceTypeGeneral": "Other" }),
        (None, said) => json!({ "resourceTypeGeneral": "Other", "resourceType": said }),
    }
}

fn dates(sidecar: &Sidecar) -> Vec<Value> {
    let terms = Terms::of(sidecar);
    let issued = terms.values("issued").into_iter().map(|date| (date, "Issued"));
    let created = terms.values("date").into_iter().map(|date| (date, "Created"));
    let submitted = std::iter::once((sidecar.created.to_string(), "Submitted"));
    let date = |(date, kind)| json!({ "date": date, "dateType": kind });
    issued.chain(created).chain(submitted).map(date).collect()
}

fn descriptions(terms: &Terms<'_>) -> Vec<Value> {
    let of = |term, kind: &'static str| {
        let described = move |text: String| json!({ "description": text, "descriptionType": kind });
        terms.values(term).into_iter().map(described).collect::<Vec<_>>()
    };
    [of("abstract", "Abstract"), of("description", "Other")].concat()
}

/// Of what the item relates to, that which the schema has a type of identifier for.
fn related(terms: &Terms<'_>) -> Vec<Value> {
    let of = |term, relation: &'static str| {
        let known = move |text: String| {
            let (identifier, kind) = match doi(&text) {
                Some(doi) => (doi, "DOI"),
                None if text.starts_with("http://") || text.starts_with("https://") => {
                    (text.as_str(), "URL")
                }
                None => return None,
            };
            Some(json!({
                "relatedIdentifier": identifier, "relatedIdentifierType": kind,
                "relationType": relation,
            }))
        };
        terms.values(term).into_iter().filter_map(known).collect::<Vec<_>>()
    };
    [of("relation", "References"), of("source", "IsDerivedFrom")].concat()
}

/// The DOI that a text is, however it is introduced.
fn doi(text: &str) -> Option<&str> {
    const INTRODUCTIONS: [&str; 3] = ["https://doi.org/", "http://doi.org/", "doi:"];
    let bare = INTRODUCTIONS.iter().find_map(|start| {
        let head = text.get(..start.len())?;
        head.eq_ignore_ascii_case(start).then(|| text[start.len()..].trim_start())
    });
    let bare = bare.unwrap_or(text);
    (bare.starts_with("10.") && bare.contains('/')).then_some(bare)
}
