//! Rows of a bibliography in BibTeX: an entry is a row.

use super::foreign::{ForeignRow, ForeignValues, new_relations};
use super::{Content, DescribedError, DescribedRow, RowItem, RowPlace};
use crate::adopt::bibliography::{BibliographyEntry, EntryValues, entries};
use crate::correction::NewValues;
use crate::export::MetadataFormat;
use crate::sidecar::{Metadata, Sidecar};

/// Fields that are exported but never read back: relations that other programs do not know.
const WRITTEN_ONLY: [&str; 2] = ["x.translation", "x.related"];

/// The key for fields that the reader of BibTeX does not understand.
const UNREAD: &str = "x.bibtex";

/// The rows of a bibliography.
pub(super) fn rows(bytes: &[u8]) -> Result<Vec<DescribedRow>, DescribedError> {
    let (entries, unread) = entries(bytes);
    if let Some(unread) = unread.into_iter().next() {
        return Err(DescribedError::NotAnEntry(unread.chars().take(60).collect()));
    }
    let row = |entry: BibliographyEntry| DescribedRow {
        place: RowPlace::Entry(entry.key().to_owned()),
        item: RowItem::Identifier(entry.identifiers().into_iter().next()),
        content: Content::Entry(entry),
    };
    Ok(entries.into_iter().map(row).collect())
}

/// The changes that `entry` makes in the item of `sidecar`.
pub(super) fn new_values(
    entry: &BibliographyEntry,
    sidecar: &Sidecar,
    clears: bool,
) -> Result<NewValues, DescribedError> {
    let after = entry.values(&sidecar.repository);
    let written = MetadataFormat::Bibtex.render(sidecar);
    let before = entries(&written).0.into_iter().next().map(|it| it.values(&sidecar.repository));
    let before = before.unwrap_or(EntryValues {
        metadata: Metadata::default(),
        relations: crate::sidecar::Relations::default(),
    });
    let (old, new) = (values_of(&before.metadata)?, values_of(&after.metadata)?);
    for field in WRITTEN_ONLY.into_iter().chain([UNREAD]) {
        if old.get(field) != new.get(field) {
            let field = new.get(field).filter(|_| field == UNREAD).map_or_else(
                || field.trim_start_matches("x.").to_owned(),
                |unread| unread.concat().chars().take(60).collect(),
            );
            return Err(DescribedError::NotRead { field });
        }
    }
    let row = ForeignRow { before: &old, after: &new, clears };
    let NewValues { values, .. } = row.new_values(sidecar)?;
    Ok(NewValues { values, ..new_relations(&before.relations, &after.relations, clears) })
}

fn values_of(metadata: &Metadata) -> Result<ForeignValues, DescribedError> {
    let values = metadata.keys().into_iter().map(|key| Ok((metadata.values(&key)?, key)));
    values.map(|it| it.map(|(values, key)| (key, values))).collect()
}
