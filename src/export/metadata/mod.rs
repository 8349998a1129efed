//! The description of an item in foreign formats.
//!
//! None of them has every key of the sidecar, so a complete export contains the sidecar as well. All are
//! written from the sidecar and the base of persistent URLs alone, so the same item gives the same bytes.
//!
//! A [`Document`] has the descriptions of many items: as rows of columns, which hold complete descriptions,
//! or one after the other in one of these formats.

mod bibtex;
mod citation;
mod datacite;
mod date;
mod document;
mod dublin_core;
mod mapping;
mod row;
pub(super) mod terms;

use crate::collection::UrlBase;
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
}

/// The formats, and their names in persistent URLs.
const NAMES: [(MetadataFormat, &str); 5] = [
    (MetadataFormat::DublinCore, "oai_dc"),
    (MetadataFormat::Bibtex, "bibtex"),
    (MetadataFormat::Datacite, "datacite"),
    (MetadataFormat::Abnt, "abnt"),
    (MetadataFormat::Apa, "apa"),
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
        }
    }

    /// Renders the description of `sidecar` in this format. Persistent URLs begin with `base`.
    pub fn render(self, sidecar: &Sidecar, base: &UrlBase) -> Vec<u8> {
        match self {
            MetadataFormat::DublinCore => dublin_core::render(sidecar),
            MetadataFormat::Bibtex => bibtex::render(sidecar).into_bytes(),
            MetadataFormat::Datacite => datacite::render(sidecar, base).into_bytes(),
            MetadataFormat::Abnt => citation::abnt(sidecar, base).into_bytes(),
            MetadataFormat::Apa => citation::apa(sidecar, base).into_bytes(),
        }
    }
}
