//! The cells of a row by the meanings of their columns.

use super::columns::{Column, ColumnMeaning};
use super::error::ColumnPlace;
use super::{RecordCell, RowFault};
use crate::collection::Label;
use crate::digest::Digest;
use crate::export::metadata::{is_sheet_error, unguarded};
use crate::identity::{Ibip, Identifier, RepositoryName};
use crate::sidecar::{Conditions, Metadata, RelationKind, Relations};

/// The first characters of a relation to another row.
const ROW: &str = "row:";

/// The content of one row.
#[derive(Debug, Default)]
pub(crate) struct RowFields {
    /// The source, and the column that names it.
    pub path: Option<(String, ColumnPlace)>,
    /// The existing identifier of the item, with its IBIp.
    pub label: Option<Label>,
    pub sha256: Option<Digest>,
    pub metadata: Metadata,
    pub conditions: Conditions,
    pub relations: Relations,
    /// Relations to other rows, by the paths of those.
    pub references: Vec<(RelationKind, String, ColumnPlace)>,
    /// Whether the row describes an existing item.
    pub describes: bool,
    /// A text that refers to that item: its identifier, else its IBIp.
    pub item: Option<String>,
    /// The texts of terms, keys below `x` and conditions for that item, unchanged.
    pub texts: Vec<(String, Vec<String>)>,
    /// The relations for that item.
    pub related: Vec<(RelationKind, Identifier)>,
    /// The columns of the row, except those in the other fields.
    pub said: SaidColumns,
    /// The existing IBIp.
    said_ibip: Option<String>,
    /// An IBIp before its identifier was read.
    ibip: Option<Ibip>,
}

/// Columns of a row, for an existing item.
#[derive(Debug, Default)]
pub(crate) struct SaidColumns {
    /// Conditions with a value.
    pub conditions: Vec<&'static str>,
    /// Terms, keys below `x` and conditions without a value.
    pub emptied_keys: Vec<String>,
    /// Kinds of relation without a value.
    pub emptied_relations: Vec<RelationKind>,
}

impl RowFields {
    pub(super) fn new(describes: bool) -> RowFields {
        RowFields { describes, ..RowFields::default() }
    }

    /// Takes the values of a cell. A spreadsheet must not compute a value of an item.
    pub(super) fn take(
        &mut self,
        cell: &RecordCell,
        meaning: &ColumnMeaning,
        is_sheet: bool,
    ) -> Result<(), RowFault> {
        let RecordCell { place, values } = cell;
        let ColumnMeaning { column, separator } = meaning;
        let mut texts: Vec<&str> = values.iter().map(String::as_str).collect();
        if let Some(separator) = separator {
            texts = texts.iter().flat_map(|text| text.split(*separator)).collect();
            texts.retain(|text| !text.trim().is_empty());
        }
        if is_sheet && *column != Column::Path {
            let name = || place.name.to_string();
            if texts.iter().any(|text| is_formula(text)) {
                return Err(RowFault::Formula(name()));
            }
            if let Some(error) = texts.iter().find(|text| is_sheet_error(text)) {
                let text = error.trim().to_owned();
                return Err(RowFault::SheetError { column: name(), text });
            }
            texts = texts.into_iter().map(unguarded).collect();
        }
        if self.describes {
            texts.retain(|text| !text.trim().is_empty());
        }
        // A path may begin or end with a blank, and so may an existing value that is compared with the text.
        let is_raw = self.describes && matches!(column, Column::Term(_) | Column::Condition(_));
        if *column != Column::Path && !is_raw {
            texts = texts.iter().map(|text| text.trim()).collect();
        }
        if matches!(column, Column::Condition(_)) {
            texts.retain(|text| !text.is_empty());
        }
        if texts.is_empty() {
            self.said.empty(column);
            return Ok(());
        }
        let is_list = matches!(column, Column::Term(_) | Column::Relation(_) | Column::Ignored)
            || *column == Column::Condition("access.allow");
        if !is_list && texts.len() > 1 {
            return Err(RowFault::GivenTwice(place.name.to_string()));
        }
        match column {
            Column::Ignored => Ok(()),
            Column::Unnamed => Err(RowFault::Unnamed(texts.concat())),
            Column::Condition(key) if self.describes => {
                self.take_texts(key, &texts);
                Ok(())
            }
            Column::Term(term) => {
                if self.describes {
                    self.take_texts(term, &texts);
                    return Ok(());
                }
                Ok(texts.iter().try_for_each(|text| self.metadata.add(term, text))?)
            }
            Column::Condition(key) => {
                self.said.conditions.push(key);
                Ok(self.conditions.set(key, &texts)?)
            }
            Column::Relation(kind) => {
                texts.iter().try_for_each(|text| self.relate(kind, text, place))
            }
            Column::Path | Column::Identifier | Column::Ibip | Column::Sha256 => {
                texts.iter().try_for_each(|text| self.take_single(column, text, place))
            }
        }
    }

    /// Several columns of one key are one list.
    fn take_texts(&mut self, key: &str, texts: &[&str]) {
        let texts = texts.iter().map(|text| (*text).to_owned());
        match self.texts.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => known.extend(texts),
            None => self.texts.push((key.to_owned(), texts.collect())),
        }
    }

    fn take_single(
        &mut self,
        column: &Column,
        text: &str,
        place: &ColumnPlace,
    ) -> Result<(), RowFault> {
        let before = match column {
            Column::Identifier if self.describes => self.item.replace(text.to_owned()).is_some(),
            Column::Ibip if self.describes => self.said_ibip.replace(text.to_owned()).is_some(),
            Column::Path => self.path.replace((text.to_owned(), place.clone())).is_some(),
            Column::Sha256 => self.sha256.replace(text.parse()?).is_some(),
            Column::Ibip => self.ibip.replace(text.parse()?).is_some(),
            _ => {
                let name: RepositoryName = text.parse()?;
                let date = name.instant();
                self.label.replace(Label { name, ibip: None, date }).is_some()
            }
        };
        if before { Err(RowFault::GivenTwice(place.name.to_string())) } else { Ok(()) }
    }

    /// Combines the values of several columns.
    pub(super) fn finish(mut self) -> Result<RowFields, RowFault> {
        self.item = self.item.take().or(self.said_ibip.take());
        match (self.ibip.take(), &mut self.label) {
            (None, _) => Ok(self),
            (Some(_), None) => Err(RowFault::NoColumn("identifier")),
            (ibip, Some(label)) => {
                label.ibip = ibip;
                Ok(self)
            }
        }
    }

    fn relate(
        &mut self,
        kind: &RelationKind,
        text: &str,
        place: &ColumnPlace,
    ) -> Result<(), RowFault> {
        if let Some(path) = text.strip_prefix(ROW) {
            self.references.push((kind.clone(), path.to_owned(), place.clone()));
            return Ok(());
        }
        let to = Identifier::read(text)?;
        if self.describes {
            self.related.push((kind.clone(), to));
        } else {
            self.relations.add(kind, &to, None)?;
        }
        Ok(())
    }
}

impl SaidColumns {
    fn empty(&mut self, column: &Column) {
        match column {
            Column::Term(term) => self.emptied_keys.push(term.clone()),
            Column::Condition(key) => self.emptied_keys.push((*key).to_owned()),
            Column::Relation(kind) => self.emptied_relations.push(kind.clone()),
            _ => {}
        }
    }
}

/// Whether a spreadsheet would compute `text`.
fn is_formula(text: &str) -> bool {
    let computes = |rest: &str| rest.contains(['(', '|', '!']);
    match text.trim_start().split_at_checked(1) {
        Some(("=", _)) => true,
        // A name on a social network is none, and neither is a number.
        Some(("+" | "-" | "@", rest)) => computes(rest),
        _ => false,
    }
}
