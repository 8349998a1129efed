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
    use crate::item::{State, Totals};
    use crate::sidecar::{Access, Files, Metadata, Relations};

    /// The sidecar of an item without files.
    fn sidecar(name: &str, metadata: &toml::Table) -> Sidecar {
        let repository: crate::identity::RepositoryName = name.parse().unwrap();
        let created = repository.instant();
        Sidecar {
            state: State::Original,
            repository,
            ibip: None,
            created,
            timestamp: created,
            described: None,
            target: None,
            transferable: true,
            access: Access::default(),
            custody: Custody::first(CustodyId::from([0; 8]), ""),
            metadata: Metadata::from_table(metadata).unwrap(),
            relations: Relations::default(),
            origin: toml::Table::new(),
            removal: None,
            payload: Totals::of(&[]),
            files: Files::default(),
        }
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
}
