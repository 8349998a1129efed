//! The mapping of terms and relations to other formats, in one table.
//!
//! `docs/metadata.md` has the table as text, which a test compares with this one.

/// The mapping of one term.
pub(super) struct TermMapping {
    pub term: &'static str,
    /// The element of simple Dublin Core.
    pub element: Option<&'static str>,
    /// The field of BibTeX.
    pub field: Option<&'static str>,
    /// The tag of RIS.
    pub tag: Option<&'static str>,
    /// The variable of CSL.
    pub variable: Option<&'static str>,
    pub datacite: Datacite,
}

/// The property of DataCite, with its fixed type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Datacite {
    Creator,
    /// A contributor of this type.
    Contributor(&'static str),
    /// A title of this type, or the main one.
    Title(Option<&'static str>),
    Subject,
    Publisher,
    /// A date of this type.
    Date(&'static str),
    ResourceType,
    Format,
    Size,
    Version,
    Rights,
    /// A description of this type.
    Description(&'static str),
    Language,
    /// `doi` for a DOI, else an alternate identifier.
    Identifier,
    /// A related identifier of this relation, if it is a DOI or a URL.
    Related(&'static str),
    /// A property of the related item in which the work was published.
    Container(&'static str),
    Nothing,
}

const fn row(
    term: &'static str,
    [element, field, tag, variable]: [&'static str; 4],
    datacite: Datacite,
) -> TermMapping {
    TermMapping {
        term,
        element: given(element),
        field: given(field),
        tag: given(tag),
        variable: given(variable),
        datacite,
    }
}

const fn given(text: &'static str) -> Option<&'static str> {
    if text.is_empty() { None } else { Some(text) }
}

/// All terms. Those that share an element, field or property are in the order in which their values are
/// written.
#[rustfmt::skip]
pub(super) const TERMS: [TermMapping; 40] = [
    row("title", ["title", "title", "TI", "title"], Datacite::Title(None)),
    row("alternative", ["title", "", "", ""], Datacite::Title(Some("AlternativeTitle"))),
    row("creator", ["creator", "author", "AU", "author"], Datacite::Creator),
    row("editor", ["contributor", "editor", "A2", "editor"], Datacite::Contributor("Editor")),
    row("translator", ["contributor", "translator", "A4", "translator"], Datacite::Contributor("Translator")),
    row("advisor", ["contributor", "advisor", "A3", "contributor"], Datacite::Contributor("Supervisor")),
    row("illustrator", ["contributor", "illustrator", "", "illustrator"], Datacite::Contributor("Other")),
    row("recipient", ["contributor", "recipient", "A2", "recipient"], Datacite::Contributor("Other")),
    row("contributor", ["contributor", "contributor", "", "contributor"], Datacite::Contributor("Other")),
    row("issued", ["date", "date", "DA", "issued"], Datacite::Date("Issued")),
    row("date", ["date", "date", "DA", "issued"], Datacite::Date("Created")),
    row("journal", ["source", "journal", "T2", "container-title"], Datacite::Container("titles")),
    row("booktitle", ["source", "booktitle", "T2", "container-title"], Datacite::Container("titles")),
    row("event", ["source", "conferencename", "", "event-title"], Datacite::Nothing),
    row("series", ["relation", "series", "T3", "collection-title"], Datacite::Nothing),
    row("volume", ["source", "volume", "VL", "volume"], Datacite::Container("volume")),
    row("number", ["source", "number", "IS", "number"], Datacite::Container("issue")),
    row("pages", ["source", "pages", "SP", "page"], Datacite::Container("firstPage")),
    row("edition", ["", "edition", "ET", "edition"], Datacite::Nothing),
    row("version", ["", "version", "ET", "version"], Datacite::Version),
    row("place", ["", "address", "CY", "publisher-place"], Datacite::Nothing),
    row("publisher", ["publisher", "publisher", "PB", "publisher"], Datacite::Publisher),
    row("institution", ["publisher", "institution", "PB", "publisher"], Datacite::Publisher),
    row("degree", ["", "type", "M3", "genre"], Datacite::ResourceType),
    row("extent", ["format", "extent", "", "dimensions"], Datacite::Size),
    row("abstract", ["description", "abstract", "AB", "abstract"], Datacite::Description("Abstract")),
    row("description", ["description", "annote", "", ""], Datacite::Description("Other")),
    row("subject", ["subject", "keywords", "KW", "keyword"], Datacite::Subject),
    row("language", ["language", "language", "LA", "language"], Datacite::Language),
    row("type", ["type", "", "TY", "type"], Datacite::ResourceType),
    row("format", ["format", "", "", ""], Datacite::Format),
    row("identifier", ["identifier", "doi", "DO", "DOI"], Datacite::Identifier),
    row("bibliographicCitation", ["identifier", "", "", ""], Datacite::Nothing),
    row("source", ["source", "", "", ""], Datacite::Related("IsDerivedFrom")),
    row("relation", ["relation", "", "", ""], Datacite::Related("References")),
    row("coverage", ["coverage", "", "", ""], Datacite::Nothing),
    row("rights", ["rights", "copyright", "", ""], Datacite::Rights),
    row("license", ["rights", "copyright", "", ""], Datacite::Rights),
    row("audience", ["", "", "", ""], Datacite::Nothing),
    row("provenance", ["", "", "", ""], Datacite::Nothing),
];

/// The mapping of one relation; in simple Dublin Core, each is a `relation`.
pub(super) struct RelationMapping {
    /// The key in `[relations]`.
    pub key: &'static str,
    /// The field of BibTeX.
    pub field: &'static str,
    /// The relation of DataCite.
    pub relation_type: &'static str,
}

pub(super) const RELATIONS: [RelationMapping; 8] = [
    relation("next_edition", "nextedition", "IsPreviousVersionOf"),
    relation("previous_edition", "previousedition", "IsNewVersionOf"),
    relation("translation", "translation", "HasTranslation"),
    relation("translation_of", "translationof", "IsTranslationOf"),
    relation("metadata", "metadatarepository", "HasMetadata"),
    relation("metadata_of", "metadataof", "IsMetadataFor"),
    relation("next_higher_unit", "nexthigherunit", "IsPartOf"),
    relation("x", "related", "References"),
];

const fn relation(
    key: &'static str,
    field: &'static str,
    relation_type: &'static str,
) -> RelationMapping {
    RelationMapping { key, field, relation_type }
}

/// The terms that meet `is_wanted`, in the order of the table.
pub(super) fn terms_of(is_wanted: impl Fn(&TermMapping) -> bool) -> Vec<&'static str> {
    TERMS.iter().filter(|row| is_wanted(row)).map(|row| row.term).collect()
}

/// The mapping of the relation with this key.
pub(super) fn of_relation(key: &str) -> Option<&'static RelationMapping> {
    RELATIONS.iter().find(|row| row.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sidecar::{RELATION_KEYS, TERMS as ALL_TERMS};

    #[test]
    fn every_term_and_relation_has_a_row() {
        let mut terms = TERMS.map(|row| row.term);
        terms.sort_unstable();
        assert_eq!(terms, ALL_TERMS);
        assert_eq!(RELATIONS.map(|row| row.key), RELATION_KEYS);
    }

    #[test]
    fn the_table_is_documented() {
        let cell = |text: Option<&str>| text.map_or_else(String::new, |it| format!("`{it}`"));
        let datacite = |row: &TermMapping| match row.datacite {
            Datacite::Creator => "`creators`".to_owned(),
            Datacite::Contributor(kind) => format!("`contributors`: `{kind}`"),
            Datacite::Title(None) => "`titles`".to_owned(),
            Datacite::Title(Some(kind)) => format!("`titles`: `{kind}`"),
            Datacite::Subject => "`subjects`".to_owned(),
            Datacite::Publisher => "`publisher`".to_owned(),
            Datacite::Date(kind) => format!("`dates`: `{kind}`"),
            Datacite::ResourceType => "`types`".to_owned(),
            Datacite::Format => "`formats`".to_owned(),
            Datacite::Size => "`sizes`".to_owned(),
            Datacite::Version => "`version`".to_owned(),
            Datacite::Rights => "`rightsList`".to_owned(),
            Datacite::Description(kind) => format!("`descriptions`: `{kind}`"),
            Datacite::Language => "`language`".to_owned(),
            Datacite::Identifier => "`doi`, `alternateIdentifiers`".to_owned(),
            Datacite::Related(kind) => format!("`relatedIdentifiers`: `{kind}`"),
            Datacite::Container(property) => format!("`relatedItems`: `{property}`"),
            Datacite::Nothing => String::new(),
        };
        let mut expected = String::new();
        for row in &TERMS {
            let names = [Some(row.term), row.element, row.field, row.tag, row.variable].map(cell);
            let cells = [&names[..], &[datacite(row)]].concat();
            expected += &format!("| {} |\n", cells.join(" | "));
        }
        for row in &RELATIONS {
            let cells = [row.key, "relation", row.field].map(|text| cell(Some(text))).join(" | ");
            let relation = format!("`relatedIdentifiers`: `{}`", row.relation_type);
            expected += &format!("| {cells} | {relation} |\n");
        }
        // Later sections have tables of their own.
        let page = include_str!("../../../docs/metadata.md");
        let mapping = page.split("\n## Types").next().unwrap_or(page);
        let found = mapping.lines().filter(|line| line.starts_with("| `"));
        let found: String =
            found.map(|line| line.replace(" |  |", " | |").clone() + "\n").collect();
        assert_eq!(found, expected.replace("|  |", "| |").replace("|  |", "| |"));
    }
}
