//! What the columns of a manifest mean.

use std::collections::BTreeMap;

use super::RowFault;
use crate::sidecar::{Conditions, RelationKind, TERMS};

/// What a column means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Where the source is.
    Path,
    /// The name that the item has already.
    Identifier,
    /// The opaque twin of that name.
    Ibip,
    /// What its bytes are to be.
    Sha256,
    /// A term of the description, or a key of one's own.
    Term(String),
    /// What may be done with the item.
    Condition(&'static str),
    /// A relation of this kind.
    Relation(RelationKind),
    /// Nothing.
    Ignored,
}

/// Columns by name, with what was said of them on the way.
#[derive(Clone, Debug, Default)]
pub struct Columns(BTreeMap<String, String>);

/// A mapping that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` means nothing to an import; expected COLUMN=TERM")]
pub struct MapError(pub String);

impl Columns {
    /// Lets a column mean something else than its name says: `column=term`, or `column=-` for nothing.
    pub fn map(&mut self, text: &str) -> Result<(), MapError> {
        let wrong = || MapError(text.to_owned());
        let (column, meaning) = text.split_once('=').ok_or_else(wrong)?;
        if meaning != "-" {
            meaning_of(meaning).ok_or_else(wrong)?;
        }
        self.0.insert(column.trim().to_owned(), meaning.to_owned());
        Ok(())
    }

    /// What the column `name` means.
    pub(super) fn column(&self, name: &str) -> Option<Column> {
        match self.0.get(name.trim()).map(String::as_str) {
            Some("-") => Some(Column::Ignored),
            Some(meaning) => meaning_of(meaning),
            None => meaning_of(name),
        }
    }

    /// Makes sure that all of `names` mean something, and one of them the path.
    pub(super) fn check(&self, names: &[String]) -> Result<(), RowFault> {
        let mut has_path = false;
        for name in names {
            match self.column(name) {
                Some(column) => has_path |= column == Column::Path,
                None => return Err(RowFault::UnknownColumn(name.clone())),
            }
        }
        if has_path { Ok(()) } else { Err(RowFault::NoColumn("path")) }
    }
}

fn meaning_of(name: &str) -> Option<Column> {
    let name = name.trim();
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
    TERMS
        .iter()
        .find(|known| known.eq_ignore_ascii_case(term))
        .map(|known| Column::Term((*known).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_mean_what_they_are_called_or_are_said_to_mean() {
        let mut columns = Columns::default();
        columns.map("Autor=creator").unwrap();
        columns.map("Notes=-").unwrap();
        let term = |term: &str| Some(Column::Term(term.to_owned()));
        let relation = |kind| Some(Column::Relation(kind));
        for (name, expected) in [
            ("Path", Some(Column::Path)),
            ("identifier", Some(Column::Identifier)),
            ("dc.identifier", term("identifier")),
            ("Title", term("title")),
            ("Autor", term("creator")),
            ("Notes", Some(Column::Ignored)),
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
            assert_eq!(columns.column(name), expected, "{name}");
        }
        assert!(columns.map("box").is_err());
        assert!(columns.map("box=shelf").is_err());
    }
}
