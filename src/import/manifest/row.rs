//! A record becomes a candidate.

use std::path::{Path, PathBuf};

use super::columns::Column;
use super::seen::SeenKeys;
use super::{ManifestReader, ManifestRecord, RowFault};
use crate::collection::Label;
use crate::deposit::Beneath;
use crate::identity::{Ibip, Identifier, RepositoryName};
use crate::import::candidate::Candidate;
use crate::import::tree::place;
use crate::item::PayloadPath;
use crate::sidecar::{Conditions, Metadata, RelationKind, Relations};

/// What a relation to another row begins with.
const ROW: &str = "row:";

/// What the columns of one record give.
#[derive(Default)]
struct RowFields<'a> {
    path: Option<&'a str>,
    identifier: Option<&'a str>,
    ibip: Option<&'a str>,
    sha256: Option<&'a str>,
    metadata: Metadata,
    conditions: Conditions,
    relations: Relations,
    references: Vec<(RelationKind, PathBuf)>,
}

/// The candidate that a record stands for.
pub(super) fn candidate(
    record: &ManifestRecord,
    reading: &ManifestReader,
    seen: &mut SeenKeys,
) -> Result<Candidate, RowFault> {
    let mut given = RowFields::default();
    for (name, values) in &record.values {
        let Some(column) = reading.columns.column(name) else {
            return Err(RowFault::UnknownColumn(name.clone()));
        };
        if record.is_sheet && column != Column::Path && values.iter().any(|text| is_formula(text)) {
            return Err(RowFault::Formula(name.clone()));
        }
        given.take(name, &column, values, reading)?;
    }
    let path = given.path.ok_or(RowFault::NoPath)?;
    let relative = beneath(path, reading)?;
    seen.note("path", &relative.to_string_lossy(), record.text.line)?;
    let label = given.label()?;
    if let Some(label) = &label {
        seen.note("name", &label.name.folded(), record.text.line)?;
        if let Some(ibip) = &label.ibip {
            seen.note("IBIp", &ibip.as_str().to_ascii_uppercase(), record.text.line)?;
        }
    }
    let beneath = Beneath { root: reading.root.clone(), relative };
    Ok(Candidate {
        place: place(beneath, reading.links),
        row: None,
        metadata: given.metadata,
        label,
        sha256: given.sha256.map(str::parse).transpose()?,
        conditions: given.conditions,
        relations: given.relations,
        references: given.references,
    })
}

impl<'a> RowFields<'a> {
    fn take(
        &mut self,
        name: &str,
        column: &Column,
        values: &'a [String],
        reading: &ManifestReader,
    ) -> Result<(), RowFault> {
        let single = match column {
            Column::Ignored => return Ok(()),
            Column::Term(term) => {
                for value in values {
                    self.metadata.add(term, value.trim())?;
                }
                return Ok(());
            }
            Column::Condition(key) => {
                let values: Vec<_> =
                    values.iter().map(|value| value.trim()).filter(|it| !it.is_empty()).collect();
                if values.len() > 1 && *key != "access.allow" {
                    return Err(RowFault::GivenTwice(name.to_owned()));
                }
                return Ok(self.conditions.set(key, &values)?);
            }
            Column::Relation(kind) => {
                return values
                    .iter()
                    .try_for_each(|value| self.relate(kind, value.trim(), reading));
            }
            Column::Path => &mut self.path,
            Column::Identifier => &mut self.identifier,
            Column::Ibip => &mut self.ibip,
            Column::Sha256 => &mut self.sha256,
        };
        match (values, &single) {
            ([], _) => Ok(()),
            ([value], None) => {
                // A path may begin or end with a blank; nothing else does.
                let value = if *column == Column::Path { value.as_str() } else { value.trim() };
                *single = Some(value);
                Ok(())
            }
            _ => Err(RowFault::GivenTwice(name.to_owned())),
        }
    }

    fn relate(
        &mut self,
        kind: &RelationKind,
        text: &str,
        reading: &ManifestReader,
    ) -> Result<(), RowFault> {
        if let Some(path) = text.strip_prefix(ROW) {
            let path = reading.root.path_of(beneath(path, reading)?);
            self.references.push((kind.clone(), path));
            return Ok(());
        }
        self.relations.add(kind, &Identifier::read(text)?, None)?;
        Ok(())
    }

    fn label(&self) -> Result<Option<Label>, RowFault> {
        let Some(text) = self.identifier else {
            return match self.ibip {
                None => Ok(None),
                Some(_) => Err(RowFault::NoColumn("identifier")),
            };
        };
        let name: RepositoryName = text.parse()?;
        let ibip: Option<Ibip> = self.ibip.map(str::parse).transpose()?;
        let date = name.instant();
        Ok(Some(Label { name, ibip, date }))
    }
}

/// Where `path` is below the root: it climbs nowhere.
fn beneath(path: &str, reading: &ManifestReader) -> Result<PathBuf, RowFault> {
    let outside = || RowFault::Outside(path.to_owned());
    let mut relative = Path::new(path);
    if relative.is_absolute() {
        let allowed = reading.absolute.then(|| relative.strip_prefix(reading.root.path()).ok());
        relative = allowed.flatten().ok_or_else(outside)?;
    }
    let text = relative.to_string_lossy();
    let text = text.strip_prefix("./").unwrap_or(&text).trim_end_matches('/');
    let path = PayloadPath::new(Path::new(text)).map_err(|_| outside())?;
    Ok(path.as_path().to_path_buf())
}

/// Whether a spreadsheet would compute `text` where it is opened again.
fn is_formula(text: &str) -> bool {
    let computes = |rest: &str| rest.contains(['(', '|', '!']);
    match text.trim_start().split_at_checked(1) {
        Some(("=" | "@", _)) => true,
        Some(("+" | "-", rest)) => computes(rest),
        _ => false,
    }
}
