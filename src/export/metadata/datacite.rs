//! DataCite metadata, in the JSON of its schema 4.
//!
//! Five properties are mandatory; without a value they are `:unav`, as the schema requires.

use serde_json::{Map, Value, json};

use super::date::iso;
use super::kind::Kind;
use super::mapping::{Datacite, TERMS};
use super::names::{Bearer, Name, People};
use super::terms::{Terms, doi};
use super::work::Work;
use crate::collection::UrlBase;
use crate::sidecar::Sidecar;
use crate::sidecar::license::spdx;

const UNAVAILABLE: &str = ":unav";
const ETAL: &str = ":etal";

/// The general types of the schema that are none of a kind; any other `type` is `Other`.
const GENERAL_TYPES: [&str; 33] = [
    "Audiovisual",
    "Award",
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
    "Poster",
    "Preprint",
    "Presentation",
    "Project",
    "Report",
    "Service",
    "Software",
    "Sound",
    "Standard",
    "StudyRegistration",
    "Text",
    "Workflow",
];

pub(super) fn render(work: &Work<'_>, base: &UrlBase) -> String {
    let Work { sidecar, terms, .. } = work;
    let of = |wanted: Datacite| terms.mapped(|row| row.datacite == wanted);
    let mut sizes: Vec<Value> = work.extents("pages").into_iter().map(Value::from).collect();
    sizes.push(sized(sidecar.payload.bytes, "byte").into());
    sizes.push(sized(sidecar.payload.files, "file").into());
    let mut creators = people(&work.people("creator"), None);
    if creators.is_empty() {
        creators.push(json!({ "name": UNAVAILABLE }));
    }
    let mut record = json!({
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "url": work.url,
        "creators": creators,
        "titles": titles(terms),
        "publisher": { "name": work.publisher().unwrap_or_else(|| UNAVAILABLE.to_owned()) },
        "publicationYear": work.date.year().unwrap_or_else(|| "0000".to_owned()),
        "types": types(work),
        "dates": dates(sidecar, terms),
        "sizes": sizes,
    });
    let each = |values: Vec<String>, key: &str| -> Vec<Value> {
        values.into_iter().map(|value| json!({ key: value })).collect()
    };
    let Value::Object(fields) = &mut record else { return String::new() };
    let first = |values: Vec<String>| values.into_iter().next();
    let single = [
        ("doi", work.doi.clone()),
        ("language", first(of(Datacite::Language))),
        ("version", work.text("version")),
    ];
    for (key, value) in single {
        fields.extend(value.map(|value| (key.to_owned(), Value::from(value))));
    }
    add(fields, "alternateIdentifiers", identifiers(sidecar, of(Datacite::Identifier)));
    add(fields, "subjects", each(of(Datacite::Subject), "subject"));
    add(fields, "contributors", contributors(work));
    add(fields, "rightsList", of(Datacite::Rights).iter().map(|text| rights(text)).collect());
    add(fields, "descriptions", descriptions(terms));
    add(fields, "formats", of(Datacite::Format).into_iter().map(Value::from).collect());
    add(fields, "relatedIdentifiers", related(terms, base));
    add(fields, "relatedItems", container(work).into_iter().collect());
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

/// People, those of a contributing role with its type; and `:etal` for people whom the list does not name.
fn people(People { names, has_others }: &People, contributor: Option<&str>) -> Vec<Value> {
    let mut people: Vec<_> = names.iter().map(person).collect();
    people.extend((*has_others && !names.is_empty()).then(|| json!({ "name": ETAL })));
    for person in &mut people {
        if let Some(kind) = contributor {
            person["contributorType"] = kind.into();
        }
    }
    people
}

fn person(name: &Name) -> Value {
    let mut person = match &name.bearer {
        Bearer::Institution => json!({ "name": name.plain, "nameType": "Organizational" }),
        Bearer::Person(person) => {
            let family = person.surname();
            let name = match person.given.as_str() {
                "" => family.clone(),
                given => format!("{family}, {given}"),
            };
            let mut parts = json!({ "name": name, "nameType": "Personal", "familyName": family });
            if !person.given.is_empty() {
                parts["givenName"] = person.given.as_str().into();
            }
            parts
        }
    };
    if let Some(identifier) = &name.identifier {
        person["nameIdentifiers"] = json!([{
            "nameIdentifier": identifier.url, "nameIdentifierScheme": identifier.scheme,
            "schemeUri": identifier.scheme_url,
        }]);
    }
    person
}

/// The people of all roles beside the creators.
fn contributors(work: &Work<'_>) -> Vec<Value> {
    let roles = TERMS.iter().filter_map(|row| match row.datacite {
        Datacite::Contributor(kind) => Some((row.term, kind)),
        _ => None,
    });
    roles.flat_map(|(role, kind)| people(&work.people(role), Some(kind))).collect()
}

/// A right; a licence of SPDX is identified.
fn rights(text: &str) -> Value {
    match spdx(text) {
        None => json!({ "rights": text }),
        Some(name) => json!({
            "rights": text,
            "rightsUri": format!("https://spdx.org/licenses/{name}"),
            "rightsIdentifier": name,
            "rightsIdentifierScheme": "SPDX",
            "schemeUri": "https://spdx.org/licenses/",
        }),
    }
}

/// The journal or book in which the work was published.
fn container(work: &Work<'_>) -> Option<Value> {
    let title = work.container()?;
    let kind = match work.kind {
        Kind::Paper => "ConferenceProceeding",
        _ if work.text("journal").as_ref() == Some(&title) => "Journal",
        _ => "Book",
    };
    let mut item = json!({
        "relatedItemType": kind, "relationType": "IsPublishedIn", "titles": [{ "title": title }],
    });
    let pages = work.pages();
    let (first, last) = pages.as_ref().map_or((None, None), |pages| {
        let (first, last) = pages.ends();
        (Some(first.to_owned()), last.map(str::to_owned))
    });
    let parts = [
        ("volume", work.text("volume")),
        ("issue", work.text("number")),
        ("firstPage", first),
        ("lastPage", last),
    ];
    for (key, value) in parts {
        if let Some(value) = value {
            item[key] = value.into();
        }
    }
    Some(item)
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

fn types(work: &Work<'_>) -> Value {
    let typed = work.text("type").unwrap_or_default();
    let names = work.kind.names();
    let known = GENERAL_TYPES.iter().find(|known| known.eq_ignore_ascii_case(&typed));
    let (general, resource) = match (work.kind, known) {
        (Kind::Other, Some(known)) => (*known, String::new()),
        (Kind::Other, None) => (names.general, typed),
        (Kind::Thesis, _) => (names.general, work.text("degree").unwrap_or_default()),
        _ => (names.general, names.resource.to_owned()),
    };
    let mut types = json!({ "resourceTypeGeneral": general });
    if !resource.is_empty() {
        types["resourceType"] = resource.into();
    }
    types
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
