//! Persistent URLs are resolved, by items in memory and by collections on the disk.

mod collections;
mod lists;
mod program;
mod standard;
mod walks;

pub(crate) use collections::{expected, family, name, put};
pub(crate) use standard::standard;

use std::collections::HashMap;
use std::convert::Infallible;

use toml::Table;
use urepo::identity::{FormatName, Identifier, Instant, Verbs};
use urepo::item::{PayloadPath, State};
use urepo::resolve::{Archive, Destination, DestinationKind, Forms, ItemRecord, Items, Part};
use urepo::sidecar::Relations;

/// An item in memory.
#[derive(Clone, Debug)]
struct MemoryItem {
    record: ItemRecord,
    /// What it opens.
    file: Vec<u8>,
    others: Vec<String>,
}

impl std::borrow::Borrow<ItemRecord> for MemoryItem {
    fn borrow(&self) -> &ItemRecord {
        &self.record
    }
}

/// Items in memory, and what an Archive says besides.
#[derive(Clone, Debug, Default)]
struct Memory {
    items: HashMap<Identifier, MemoryItem>,
    address: String,
    service: Forms,
    software: Forms,
    key: Option<String>,
    relations: Vec<Verbs>,
}

impl Memory {
    fn add(&mut self, item: MemoryItem) {
        let labels = item.record.ibip.clone().map(Identifier::Ibip);
        let name = Identifier::Repository(item.record.name.clone());
        if let Some(label) = labels {
            self.items.insert(label, item.clone());
        }
        self.items.insert(name, item);
    }
}

/// An item as a table of a fixture has it.
fn item(row: &Table) -> MemoryItem {
    let text = |key: &str| row.get(key).and_then(toml::Value::as_str);
    let relations = row.get("relations").and_then(toml::Value::as_table).cloned();
    let timestamp: Instant = text("timestamp").unwrap_or("2026-01-01T00:00:00Z").parse().unwrap();
    let file = PayloadPath::from_text(text("file").unwrap_or("a.txt")).unwrap();
    let others = row.get("files").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    MemoryItem {
        record: ItemRecord {
            name: text("name").unwrap().parse().unwrap(),
            ibip: text("ibip").map(|text| text.parse().unwrap()),
            state: text("state").map_or(State::Original, |text| text.parse().unwrap()),
            timestamp,
            described: timestamp,
            language: text("language").map(|text| text.parse().unwrap()),
            relations: Relations::as_found(relations.unwrap_or_default()),
            is_program: file.as_bytes().ends_with(b".cgi"),
        },
        file: file.as_bytes().to_vec(),
        others: others.iter().map(|it| it.as_str().unwrap().to_owned()).collect(),
    }
}

impl Items for Memory {
    type Item = MemoryItem;
    type Error = Infallible;

    fn item(&self, identifier: &Identifier) -> Result<Option<MemoryItem>, Infallible> {
        Ok(self.items.get(identifier).cloned())
    }

    /// The programs of the standard's archives serve every format.
    fn serves(&self, _: &ItemRecord, _: Option<&FormatName>) -> bool {
        true
    }

    fn renders(&self, format: &FormatName) -> bool {
        format.as_str() == "oai_dc"
    }
}

impl Archive for Memory {
    fn address(&self) -> String {
        self.address.clone()
    }

    fn service(&self) -> Forms {
        self.service.clone()
    }

    fn software(&self) -> Forms {
        self.software.clone()
    }

    fn key(&self, _: &[&str]) -> Option<String> {
        self.key.clone()
    }

    fn relations(&self, _: &ItemRecord, _: &Verbs) -> Result<Vec<Verbs>, Infallible> {
        Ok(self.relations.clone())
    }

    fn url(
        &self,
        destination: &Destination<MemoryItem>,
        part: Part<'_>,
    ) -> Result<Option<String>, Infallible> {
        let MemoryItem { record, file, others } = &destination.item;
        let base = format!("http://{}", self.address);
        let url = |path: &[u8]| {
            let path = urepo::identity::encode_path(path);
            format!("{base}/col/{}/doc/{path}", record.name)
        };
        let choice = match &destination.kind {
            DestinationKind::MetadataItem(Some(format)) => format!("?choice={format}"),
            _ => String::new(),
        };
        Ok(match part {
            Part::Target => Some(url(file) + &choice),
            Part::File(path) => others.iter().find(|it| it.as_bytes() == path).map(|_| url(path)),
            Part::FileList => record
                .ibip
                .as_ref()
                .map(|ibip| format!("{base}/displaydoccontent.cgi/{ibip}?displaytype=FileList")),
        })
    }
}
