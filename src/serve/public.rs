//! What is public of an item. Pages, texts, lists and formats are made of it and of nothing else: what is forgotten here is
//! hidden.
//!
//! Keys below `x` are internal, and so are the reason of a deletion, the origin, the custody and the addresses that are let in.
//! `publish` in `[archive]` names what is public all the same. A reader who may not read the files learns none of their names.

use std::ops::Deref;

use toml::{Table, Value};

use super::archive::Archive;
use super::payload_file::stored_for;
use crate::collection::{ArchiveSettings, UrlBase};
use crate::custody::{Custody, CustodyId};
use crate::export::MetadataFormat;
use crate::identity::Instant;
use crate::item::State;
use crate::sidecar::{Access, AccessLevel, Files, Metadata, Relations, Removal, Sidecar};
use crate::web::answer::Answer;
use crate::web::head::Client;

/// The table of keys of one's own, in the description and among the relations.
const OWN: &str = "x";

/// The public part of an item, for one reader.
pub(super) struct Public {
    /// The sidecar, without all that is internal.
    sidecar: Sidecar,
    /// What the reader may read.
    level: AccessLevel,
    /// Who else may read it, for the rules of caches.
    access: Access,
}

impl Deref for Public {
    type Target = Sidecar;

    fn deref(&self) -> &Sidecar {
        &self.sidecar
    }
}

impl Archive {
    /// The public part of the item with this sidecar, for this client.
    pub(super) fn public(&self, sidecar: &Sidecar, client: Client) -> Public {
        Public::of(sidecar, &self.collection.settings().archive, client)
    }
}

impl Public {
    fn of(sidecar: &Sidecar, settings: &ArchiveSettings, client: Client) -> Public {
        let level = sidecar.access.level_at(client.address());
        let is_open = level == AccessLevel::Open;
        let table = |table: &Table| published(table, settings);
        // Each field is named: a new one has to be judged.
        let public = Sidecar {
            state: sidecar.state,
            repository: sidecar.repository.clone(),
            ibip: sidecar.ibip.clone(),
            created: sidecar.created,
            timestamp: sidecar.timestamp,
            described: sidecar.described,
            target: sidecar.target.clone().filter(|_| is_open),
            transferable: true,
            access: Access { level: sidecar.access.level, allow: Vec::new() },
            custody: Custody::first(CustodyId::from([0; 8]), ""),
            metadata: Metadata::as_found(table(sidecar.metadata.table())),
            relations: Relations::as_found(table(sidecar.relations.table())),
            origin: Table::new(),
            removal: removal(sidecar, settings),
            payload: sidecar.payload,
            files: if is_open { sidecar.files.clone() } else { Files::default() },
        };
        Public { sidecar: public, level, access: sidecar.access.clone() }
    }

    /// Whether the reader may read the files.
    pub(super) fn is_open(&self) -> bool {
        self.level == AccessLevel::Open
    }

    /// The description in another format, as rendered at `now`. Persistent URLs begin with `base`.
    pub(super) fn rendered(&self, format: MetadataFormat, base: &UrlBase, now: Instant) -> Vec<u8> {
        let text = format.render(self, base, now);
        match format {
            // People read it: a title does not turn the URL behind it around.
            MetadataFormat::Abnt | MetadataFormat::Apa => {
                (shown(text.trim_ascii_end()) + "\n").into_bytes()
            }
            MetadataFormat::DublinCore
            | MetadataFormat::Bibtex
            | MetadataFormat::Datacite
            | MetadataFormat::Ris
            | MetadataFormat::Csl => text,
        }
    }

    /// How caches keep `answer`.
    pub(super) fn stored(&self, answer: Answer) -> Answer {
        stored_for(answer, &self.access)
    }
}

/// The table without the keys of one's own that are not published.
fn published(table: &Table, settings: &ArchiveSettings) -> Table {
    let mut public = table.clone();
    if let Some(Value::Table(own)) = public.get_mut(OWN) {
        own.retain(|key, _| settings.publishes(&format!("{OWN}.{key}")));
    }
    if public.get(OWN).is_some_and(|own| own.as_table().is_none_or(Table::is_empty)) {
        public.remove(OWN);
    }
    public
}

/// The deletion with its reason, if that is published. Nothing else of it is public.
fn removal(sidecar: &Sidecar, settings: &ArchiveSettings) -> Option<Removal> {
    let reason = sidecar.removal.as_ref()?.reason.clone();
    let reason = reason.filter(|_| settings.publishes(ArchiveSettings::REMOVAL_REASON))?;
    Some(Removal { by: String::new(), reason: Some(reason), was: State::Original, updated: None })
}

/// A text from outside, without characters that act on those around them.
pub(super) fn shown(text: &[u8]) -> String {
    let acts = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    String::from_utf8_lossy(text).chars().map(|c| if acts(c) { '\u{fffd}' } else { c }).collect()
}
