//! The description of an item in foreign formats.
//!
//! None of them has every key of the sidecar, so a complete export contains the sidecar as well. All are
//! written from the sidecar and the base of persistent URLs; references also have the day on which they are
//! written, which is handed in. So the same item gives the same bytes on one day.
//!
//! A [`Document`] has the descriptions of many items: as rows of columns, which hold complete descriptions,
//! or one after the other in one of these formats.

mod abnt;
mod apa;
mod bibtex;
mod citation;
mod csl;
mod datacite;
mod date;
mod document;
mod dublin_core;
mod kind;
mod mapping;
mod names;
mod ris;
mod row;
pub(super) mod terms;
mod work;

use self::work::Work;
use crate::collection::UrlBase;
use crate::identity::Instant;
use crate::sidecar::Sidecar;

pub use document::{Document, DocumentFormat, RowTooLong};
pub(crate) use document::{is_sheet_error, unguarded};
pub use row::{Row, RowColumns};

/// A format for descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetadataFormat {
    /// Dublin Core, the fifteen elements in the XML of OAI-PMH.
    DublinCore,
    /// An entry for a bibliography.
    Bibtex,
    /// DataCite 4, in JSON.
    Datacite,
    /// A reference by ABNT NBR 6023.
    Abnt,
    /// A reference by APA.
    Apa,
    /// A record of RIS.
    Ris,
    /// A reference in the JSON of CSL.
    Csl,
}

/// The formats, and their names in persistent URLs.
const NAMES: [(MetadataFormat, &str); 7] = [
    (MetadataFormat::DublinCore, "oai_dc"),
    (MetadataFormat::Bibtex, "bibtex"),
    (MetadataFormat::Datacite, "datacite"),
    (MetadataFormat::Abnt, "abnt"),
    (MetadataFormat::Apa, "apa"),
    (MetadataFormat::Ris, "ris"),
    (MetadataFormat::Csl, "csl"),
];

impl MetadataFormat {
    /// The format with this name in a persistent URL.
    pub fn named(name: &str) -> Option<MetadataFormat> {
        NAMES.into_iter().find(|(_, known)| *known == name).map(|(format, _)| format)
    }

    /// Its name in a persistent URL.
    pub fn name(self) -> &'static str {
        NAMES.into_iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }

    /// The name of the file.
    pub fn file(self) -> &'static str {
        match self {
            MetadataFormat::DublinCore => "dc.xml",
            MetadataFormat::Bibtex => "item.bib",
            MetadataFormat::Datacite => "datacite.json",
            MetadataFormat::Abnt => "abnt.txt",
            MetadataFormat::Apa => "apa.txt",
            MetadataFormat::Ris => "item.ris",
            MetadataFormat::Csl => "csl.json",
        }
    }

    /// Renders the description of `sidecar` in this format. Persistent URLs begin with `base`; references say that their
    /// reader had access on the day of `now`.
    pub fn render(self, sidecar: &Sidecar, base: &UrlBase, now: Instant) -> Vec<u8> {
        let work = Work::of(sidecar, base, now);
        match self {
            MetadataFormat::DublinCore => dublin_core::render(&work),
            MetadataFormat::Bibtex => bibtex::render(&work).into_bytes(),
            MetadataFormat::Datacite => datacite::render(&work, base).into_bytes(),
            MetadataFormat::Abnt => abnt::render(&work).into_bytes(),
            MetadataFormat::Apa => apa::render(&work).into_bytes(),
            MetadataFormat::Ris => ris::render(&work).into_bytes(),
            MetadataFormat::Csl => csl::render(&work).into_bytes(),
        }
    }

    /// Whether a document of several items is a list in JSON.
    fn is_json(self) -> bool {
        matches!(self, MetadataFormat::Datacite | MetadataFormat::Csl)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::custody::{Custody, CustodyId};
    use crate::sidecar::Metadata;

    /// The sidecar of an item without files.
    fn sidecar(name: &str, metadata: &toml::Table) -> Sidecar {
        let custody = Custody::first(CustodyId::from([0; 8]), "");
        let metadata = Metadata::from_table(metadata).unwrap();
        Sidecar { metadata, ..Sidecar::of_name(name.parse().unwrap(), custody) }
    }

    fn rendered(format: MetadataFormat, sidecar: &Sidecar) -> String {
        let now = "2026-11-29T12:00:00Z".parse().unwrap();
        String::from_utf8(format.render(sidecar, &UrlBase::default(), now)).unwrap()
    }

    /// The lines of a text, apart from their order, except for that of lines with one tag.
    fn by_tag<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<(&'a str, &'a str)> {
        let mut lines: Vec<_> = lines.map(|line| (line.get(..2).unwrap_or(line), line)).collect();
        lines.sort_by_key(|(tag, _)| *tag);
        lines
    }

    /// The entry and the fields of BibTeX, in no order.
    fn fields(text: &str) -> BTreeSet<(String, String)> {
        let entry = text.trim_start_matches('@').split('{').next().unwrap().to_owned();
        let fields = text.lines().filter_map(|line| line.split_once(" = {"));
        let field = |(name, value): (&str, &str)| {
            let value = value.trim_end_matches(',').strip_suffix('}').unwrap();
            (name.trim().to_owned(), value.to_owned())
        };
        std::iter::once(("entry".to_owned(), entry)).chain(fields.map(field)).collect()
    }

    /// The elements of Dublin Core.
    fn elements(text: &str) -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix("<dc:"));
        let element = |line: &str| {
            let (name, rest) = line.split_once('>').unwrap();
            format!("{name}: {}", rest.split("</").next().unwrap().replace("&amp;", "&"))
        };
        lines.map(|line| element(&line.replace("&apos;", "'").replace("&quot;", "\""))).collect()
    }

    /// Whether `found` has each member of `wanted`; three lists may have more members.
    fn has_all(found: &Value, wanted: &Value) -> bool {
        let lists = ["dates", "sizes", "alternateIdentifiers"];
        wanted.as_object().unwrap().iter().all(|(key, wanted)| match &found[key] {
            Value::Array(found) if lists.contains(&key.as_str()) => {
                wanted.as_array().unwrap().iter().all(|it| found.contains(it))
            }
            found => found == wanted,
        })
    }

    #[test]
    fn references_are_those_of_the_vectors() {
        let text = include_str!("../../../fixtures/vectors/references.toml");
        let vectors: toml::Table = text.parse().unwrap();
        let items = vectors["item"].as_array().unwrap();
        assert_eq!(items.len(), 16);
        let mut wrong = Vec::new();
        for item in items {
            let text = |key: &str| item[key].as_str().unwrap();
            let list =
                |key: &str| item[key].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
            let sidecar = sidecar(text("repository"), item["metadata"].as_table().unwrap());
            let mut check =
                |format, is_right: &dyn Fn(&str) -> bool, wanted: &dyn Fn() -> String| {
                    let found = rendered(format, &sidecar);
                    if !is_right(&found) {
                        let name = format.name();
                        wrong.push(format!("{} {name}\n{found}\n{}\n", text("name"), wanted()));
                    }
                };
            for (format, key) in [(MetadataFormat::Abnt, "abnt"), (MetadataFormat::Apa, "apa")] {
                let wanted = format!("{}\n", text(key));
                check(format, &|found| found == wanted, &|| wanted.clone());
            }
            let ris: Vec<_> = list("ris").collect();
            let is_ris = |found: &str| {
                let lines: Vec<_> = found.lines().collect();
                lines.first() == ris.first()
                    && lines.last() == ris.last()
                    && by_tag(lines.into_iter()) == by_tag(ris.iter().copied())
            };
            check(MetadataFormat::Ris, &is_ris, &|| ris.join("\n"));
            let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            let csl = json(text("csl"));
            check(MetadataFormat::Csl, &|found| json(found) == csl, &|| format!("{csl:#}"));
            let datacite = json(text("datacite"));
            let is_record = |found: &str| has_all(&json(found), &datacite);
            check(MetadataFormat::Datacite, &is_record, &|| format!("{datacite:#}"));
            let elements_wanted: Vec<_> = list("dublin_core").map(str::to_owned).collect();
            let is_core = |found: &str| elements(found) == elements_wanted;
            check(MetadataFormat::DublinCore, &is_core, &|| elements_wanted.join("\n"));
            let wanted: BTreeSet<_> = item["bibtex"]
                .as_table()
                .unwrap()
                .iter()
                .map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned()))
                .collect();
            let is_entry = |found: &str| fields(found) == wanted;
            check(MetadataFormat::Bibtex, &is_entry, &|| format!("{wanted:#?}"));
        }
        assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), 16 * 7, wrong.join("\n"));
    }

    /// A work with these terms, without the end that all references have.
    fn references(terms: &str) -> [String; 2] {
        let sidecar = sidecar("example.org/archive/2026/11.21.02.13", &terms.parse().unwrap());
        let url = "http://urlib.net/example.org/archive/2026/11.21.02.13";
        let abnt = rendered(MetadataFormat::Abnt, &sidecar);
        let end = format!(" Disponível em: {url}. Acesso em: 29 nov. 2026.\n");
        let apa = rendered(MetadataFormat::Apa, &sidecar);
        [
            abnt.strip_suffix(&end).unwrap().to_owned(),
            apa.strip_suffix(&format!(" {url}\n")).unwrap().to_owned(),
        ]
    }

    #[test]
    fn each_type_has_its_form() {
        for (terms, abnt, apa) in [
            (
                "type = 'article'\ntitle = 'T'\njournal = 'Gazeta'\nissued = '1911-05-12'\npages = '3'",
                "T. Gazeta, [S. l.], p. 3, 12 maio 1911.",
                "T. (1911, May 12). Gazeta, 3.",
            ),
            (
                "type = 'article'\ntitle = 'T'\nissued = '1911'",
                "T. [S. l.: s. n.], 1911.",
                "T. (1911).",
            ),
            (
                "type = 'book'\ntitle = 'Os rios'\ncreator = ['Platão,']\nvolume = '2'\npages = '88'\nedition = '1'",
                "PLATÃO. Os rios. 1. ed. [S. l.: s. n.], [s. d.]. v. 2. 88 p.",
                "Platão. (n.d.). Os rios (Vol. 2).",
            ),
            (
                "type = 'book'\ntitle = 'Rivers'\neditor = ['Levy, Guido']\nlanguage = 'en'\nplace = 'Boston'",
                "LEVY, Guido (ed.). Rivers. Boston: [s. n.], [s. d.].",
                "Levy, G. (Ed.). (n.d.). Rivers.",
            ),
            (
                "type = 'book'\ntitle = 'T'\ncreator = ['Silva, Ana']\neditor = ['Levy, Guido', 'Porto, J.']",
                "SILVA, Ana. T. Organização: Guido Levy; J. Porto. [S. l.: s. n.], [s. d.].",
                "Silva, A. (n.d.). T (G. Levy & J. Porto, Eds.).",
            ),
            (
                "type = 'thesis'\ntitle = 'T'\ncreator = ['Silva, Ana']\ndegree = 'Mestrado'\ndate = '2004-03'",
                "SILVA, Ana. T. 2004. Dissertação (Mestrado) – [S. l.], 2004.",
                "Silva, A. (2004). T [Master's thesis].",
            ),
            (
                "type = 'thesis'\ntitle = 'T'\ncreator = ['Silva, Ana']\nlanguage = 'en'\ninstitution = 'MIT'",
                "SILVA, Ana. T. [s. d.]. Thesis – MIT, [S. l.], [s. d.].",
                "Silva, A. (n.d.). T [Thesis, MIT].",
            ),
            (
                "type = 'paper'\ntitle = 'T'\nevent = 'Congresso de Rios, 3., 1999, Natal'\npages = '7'",
                "T. In: CONGRESSO DE RIOS, 3., 1999, Natal. [S. l.: s. n.], [s. d.]. p. 7.",
                "T. (n.d.). In Congresso de Rios, 3., 1999, Natal (p. 7).",
            ),
            (
                "type = 'chapter'\ntitle = 'T'\nbooktitle = 'O livro'\nvolume = '2'\nseries = 'Notas'\npages = '7-9'",
                "T. In: O LIVRO. [S. l.: s. n.], [s. d.]. v. 2, p. 7-9. (Notas).",
                "T. (n.d.). In O livro (pp. 7–9).",
            ),
            (
                "type = 'photograph'\nplace = 'Recife'\npublisher = 'Estúdio'\ndate = '1911-05'",
                "[Sem título]. Recife: Estúdio, maio 1911. Fotografia.",
                "[Photograph]. (1911, May). Estúdio.",
            ),
            (
                "type = 'map'\ntitle = 'La carte des fleuves'\nlanguage = 'fr'\nedition = '2'",
                "LA CARTE des fleuves. 2e éd. [S. l.: s. n.], [s. d.]. Mapa.",
                "La carte des fleuves (2nd ed.) [Map]. (n.d.).",
            ),
            (
                "type = 'letter'\ncreator = ['King Jr., Martin']\nrecipient = ['A, B', 'C, D']\ndate = '1911~'",
                "KING JR., Martin. [Sem título]. Destinatário: B A; D C. [S. l.], [ca. 1911].",
                "King, M., Jr. (ca. 1911). [Letter to B A & D C].",
            ),
            (
                "type = 'report'\ntitle = 'T'\ncreator = ['Brasil. Casa. Sala']\nnumber = '3'",
                "BRASIL. Casa. Sala. T. [S. l.: s. n.], [s. d.]. n. 3.",
                "Sala. (n.d.). T (Report No. 3). Brasil, Casa.",
            ),
            (
                "title = 'Die Flüsse'\nlanguage = 'de'\nedition = '3'\npublisher = ['Verlag', 'Haus']",
                "DIE FLÜSSE. 3. Aufl. [S. l.]: Verlag, [s. d.].",
                "Die Flüsse (3rd ed.). (n.d.). Verlag.",
            ),
        ] {
            assert_eq!(references(terms), [abnt, apa], "{terms}");
        }
    }

    #[test]
    fn no_value_begins_a_field_of_its_own() {
        let hostile = "a\nER  - \r\nTY  - BOOK\u{2028}TI  - b\u{85}}, note = {x}";
        let mut table = toml::Table::new();
        for term in crate::sidecar::TERMS {
            table.insert(term.to_owned(), hostile.replace(['\r', '\u{85}'], " ").into());
        }
        for term in ["date", "issued", "language"] {
            table.remove(term);
        }
        let sidecar = sidecar("example.org/archive/2026/11.21.02.13", &table);
        let ris = rendered(MetadataFormat::Ris, &sidecar);
        assert_eq!(ris.lines().filter(|line| line.starts_with("TY  - ")).count(), 1, "{ris}");
        assert_eq!(ris.lines().filter(|line| line.starts_with("ER  - ")).count(), 1, "{ris}");
        let bibtex = rendered(MetadataFormat::Bibtex, &sidecar);
        assert_eq!(bibtex.matches('{').count(), bibtex.matches('}').count(), "{bibtex}");
        assert!(!bibtex.contains("note = {x}"), "{bibtex}");
        for format in [MetadataFormat::Abnt, MetadataFormat::Apa] {
            assert_eq!(rendered(format, &sidecar).lines().count(), 1);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_description_is_rendered(
            pairs in proptest::collection::vec(
                (
                    proptest::sample::select(crate::sidecar::TERMS.to_vec()),
                    "[A-Za-zÀ-ü ,.{}<>/\\[\\]?~%X0-9-]{1,20}|\\PC{1,12}",
                ),
                0..12,
            ),
            kind in proptest::sample::select(vec![
                "article", "chapter", "paper", "thesis", "report", "letter", "image", "book", "map", "x",
            ]),
        ) {
            let mut metadata = Metadata::default();
            let _ = metadata.add("type", kind);
            for (term, text) in pairs {
                let _ = metadata.add_as_found(term, &text);
            }
            let mut sidecar = sidecar("example.org/archive/2026/11.21.02.13", &toml::Table::new());
            sidecar.metadata = metadata;
            for (format, _) in NAMES {
                proptest::prop_assert!(!rendered(format, &sidecar).is_empty());
            }
        }
    }
}
