//! The meaning of columns.

use std::collections::{BTreeMap, BTreeSet};

use super::RowFault;
use super::synonyms::{column_of, folded};
use crate::sidecar::{Conditions, RelationKind, TERMS};

/// The content of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// The path of the source.
    Path,
    /// The existing identifier of the item.
    Identifier,
    /// The IBIp of that identifier.
    Ibip,
    /// The expected digest of the bytes.
    Sha256,
    /// A term of the description, or a key below `x`.
    Term(String),
    /// A condition of access.
    Condition(&'static str),
    /// A relation of this kind.
    Relation(RelationKind),
    /// Ignored.
    Ignored,
    /// A column of a spreadsheet without a name: it has to be empty.
    Unnamed,
}

/// The meaning of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnMeaning {
    pub column: Column,
    /// The separator of several values in one cell.
    pub separator: Option<char>,
}

/// The meanings of columns by their names, with those that `--map` gives.
#[derive(Clone, Debug, Default)]
pub struct Columns(BTreeMap<String, Mapping>);

/// A mapping of `--map`.
#[derive(Clone, Debug)]
struct Mapping {
    /// The column as typed.
    column: String,
    meaning: String,
}

/// A mapping to something that is not a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` means nothing to an import; expected COLUMN=TERM")]
pub struct MapError(pub String);

/// Characters that separate the values in a cell, if the name of its column ends with one.
const SEPARATORS: [char; 2] = ['|', ';'];

impl Columns {
    /// Gives a column another meaning: `column=term`, or `column=-` for none.
    pub fn map(&mut self, text: &str) -> Result<(), MapError> {
        let wrong = || MapError(text.to_owned());
        let (column, meaning) = text.rsplit_once('=').ok_or_else(wrong)?;
        if meaning != "-" {
            meaning_of(meaning).ok_or_else(wrong)?;
        }
        let mapping = Mapping { column: column.to_owned(), meaning: meaning.to_owned() };
        self.0.insert(folded(column), mapping);
        Ok(())
    }

    /// The meaning of the column `name`.
    pub(crate) fn meaning(&self, name: &str) -> Option<ColumnMeaning> {
        match self.0.get(&folded(name)).map(|it| &*it.meaning) {
            Some("-") => Some(ColumnMeaning { column: Column::Ignored, separator: None }),
            Some(meaning) => meaning_of(meaning),
            None => meaning_of(name),
        }
    }

    /// Whether the column `name` has both a name and a meaning.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.meaning(name).is_some_and(|it| it.column != Column::Unnamed)
    }

    /// The columns that are given a meaning, in folded form. One that is to be ignored may be missing in a table.
    pub(super) fn mapped(&self) -> BTreeSet<String> {
        let given = self.0.iter().filter(|(_, mapping)| mapping.meaning != "-");
        given.map(|(folded, _)| folded.clone()).collect()
    }

    /// The fault of a table that lacks the columns `absent`, in folded form, which are given a meaning.
    pub(super) fn absent(&self, absent: &BTreeSet<String>, names: &[String]) -> RowFault {
        let typed = |folded| self.0.get(folded).map(|it| it.column.clone());
        let mapped = absent.iter().filter_map(typed).collect();
        let columns = names.iter().map(|name| name.trim().to_owned()).collect();
        RowFault::AbsentColumns { mapped, columns }
    }

    /// The meanings of all columns of a table; one of them has to be one of `required`.
    pub(super) fn meanings(
        &self,
        names: &[String],
        required: &[&'static str],
    ) -> Result<Vec<ColumnMeaning>, RowFault> {
        let mut absent = self.mapped();
        for name in names {
            absent.remove(&folded(name));
        }
        if !absent.is_empty() {
            return Err(self.absent(&absent, names));
        }
        let (mut meanings, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            match self.meaning(name) {
                Some(meaning) => meanings.push(meaning),
                None => unknown.push(name.trim().to_owned()),
            }
        }
        let wanted: Vec<_> = required.iter().filter_map(|name| meaning_of(name)).collect();
        if !unknown.is_empty() {
            Err(RowFault::UnknownColumns(unknown))
        } else if meanings.iter().any(|it| wanted.contains(it)) {
            Ok(meanings)
        } else {
            Err(RowFault::NoColumn(required.first().copied().unwrap_or_default()))
        }
    }
}

fn meaning_of(name: &str) -> Option<ColumnMeaning> {
    let name = name.trim();
    if let Some(separator) = SEPARATORS.into_iter().find(|it| name.ends_with(*it)) {
        let column = column(name.trim_end_matches(separator).trim_end())?;
        let is_list = match &column {
            Column::Term(_) | Column::Relation(_) => true,
            Column::Condition(key) => *key == "access.allow",
            _ => false,
        };
        return is_list.then_some(ColumnMeaning { column, separator: Some(separator) });
    }
    let column = if name.is_empty() { Column::Unnamed } else { column(name)? };
    Some(ColumnMeaning { column, separator: None })
}

fn column(name: &str) -> Option<Column> {
    match name.to_ascii_lowercase().as_str() {
        "path" => return Some(Column::Path),
        // The term of this name is written `dc.identifier`.
        "identifier" => return Some(Column::Identifier),
        "ibip" => return Some(Column::Ibip),
        "sha256" => return Some(Column::Sha256),
        _ => {}
    }
    if let Some(key) = Conditions::KEYS.iter().find(|key| key.eq_ignore_ascii_case(name)) {
        return Some(Column::Condition(key));
    }
    if let Some(own) = name.strip_prefix("x.") {
        let named = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_key = !own.is_empty() && own.chars().all(named);
        return is_key.then(|| Column::Term(name.to_owned()));
    }
    let relation = name.strip_prefix("relation.").or_else(|| name.strip_prefix("relations."));
    if let Some(relation) = relation {
        return relation.parse().ok().map(Column::Relation);
    }
    let term = ["dc.", "dc:", "dcterms.", "dcterms:"].iter().find_map(|it| name.strip_prefix(it));
    let term = term.unwrap_or(name);
    let known = TERMS.iter().find(|known| known.eq_ignore_ascii_case(term));
    known.map(|known| Column::Term((*known).to_owned())).or_else(|| column(column_of(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_column_has_to_be_there() {
        let mut columns = Columns::default();
        for mapping in ["Verfaßer=creator", "Ort=coverage", "Blatt=-"] {
            columns.map(mapping).unwrap();
        }
        let fault = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|it| (*it).to_owned()).collect();
            columns.meanings(&names, &["path"]).err().map(|fault| fault.to_string())
        };
        // Case, and blanks around a name, make no difference; a column to ignore may be missing.
        assert_eq!(fault(&["path", " VERFAßER", "ort"]), None);
        let absent = "there is no column `Ort`, to which `--map` gives a meaning";
        assert_eq!(fault(&["path", "Verfaßer"]).as_deref(), Some(absent));
        let absent = "there are no columns `Ort`, `Verfaßer`, to which `--map` gives a meaning";
        assert_eq!(fault(&["path"]).as_deref(), Some(absent));
    }

    #[test]
    fn names_and_mappings_give_columns_their_meaning() {
        let mut columns = Columns::default();
        columns.map("Verantwortlich=creator").unwrap();
        columns.map("Notes=-").unwrap();
        let term = |term: &str| Some(Column::Term(term.to_owned()));
        let relation = |kind| Some(Column::Relation(kind));
        for (name, expected) in [
            ("Path", Some(Column::Path)),
            ("identifier", Some(Column::Identifier)),
            ("dc.identifier", term("identifier")),
            ("Title", term("title")),
            ("VERANTWORTLICH", term("creator")),
            ("Notes", Some(Column::Ignored)),
            (" AUTOR ", Some(Column::Term("creator".to_owned()))),
            ("Ficheiro", Some(Column::Path)),
            ("", Some(Column::Unnamed)),
            ("x.box", term("x.box")),
            ("x.", None),
            ("box", None),
            ("relation.next_edition", relation(RelationKind::NextEdition)),
            ("relations.part-of", relation(RelationKind::PartOf)),
            ("relation.translation.PT", relation(RelationKind::Translation("pt".parse().unwrap()))),
            ("relation.x.review", relation(RelationKind::Own("review".to_owned()))),
            ("relation.review", None),
            ("relation.translation", None),
        ] {
            assert_eq!(columns.meaning(name).map(|it| it.column), expected, "{name}");
        }
        let separator = |name: &str| columns.meaning(name).and_then(|it| it.separator);
        assert_eq!((separator("subject|"), separator("Assunto;")), (Some('|'), Some(';')));
        assert_eq!((separator("subject"), columns.meaning("path|")), (None, None));
        assert!(columns.map("box").is_err());
        assert!(columns.map("box=shelf").is_err());
    }
}
