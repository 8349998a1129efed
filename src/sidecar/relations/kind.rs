//! The kinds of relation between items.

use std::fmt;
use std::mem::discriminant;
use std::str::FromStr;

use super::RelationError;
use crate::identity::Language;

/// The relation of another item to this one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RelationKind {
    /// The edition that follows it.
    NextEdition,
    /// The edition that it follows.
    PreviousEdition,
    /// Its translation into this language.
    Translation(Language),
    /// The item that it is a translation of, in the language of the first text.
    TranslationOf,
    /// The item that describes it.
    Metadata,
    /// The item that it describes.
    MetadataOf,
    /// A unit that it is a part of.
    PartOf,
    /// A free relation, written `x.NAME`.
    Own(String),
}

/// The kinds without a parameter, with their keys in a sidecar.
pub(super) const PLAIN: [(RelationKind, &str); 6] = [
    (RelationKind::NextEdition, "next_edition"),
    (RelationKind::PreviousEdition, "previous_edition"),
    (RelationKind::TranslationOf, "translation_of"),
    (RelationKind::Metadata, "metadata"),
    (RelationKind::MetadataOf, "metadata_of"),
    (RelationKind::PartOf, "next_higher_unit"),
];

/// Short keys that people type, in place of those of the standard.
const EDITION_OF: &str = "edition_of";
const PART_OF: &str = "part_of";

/// The key of the table of translations.
pub(super) const TRANSLATION: &str = "translation";

/// The key of the table of free relations.
pub(super) const OWN: &str = "x";

/// All keys of `[relations]`, with `translation` and `x` as the keys of their tables.
pub const RELATION_KEYS: [&str; 8] = [
    "next_edition",
    "previous_edition",
    TRANSLATION,
    "translation_of",
    "metadata",
    "metadata_of",
    "next_higher_unit",
    OWN,
];

impl RelationKind {
    /// Reads the key of a relation among the keys of a description: `edition_of`, `translation.pt`, `relation.x.review`, or
    /// `relation.` and any other kind, as in tables. `None` for other keys: `x.review` is a value of its own.
    pub fn of_description_key(key: &str) -> Option<Result<RelationKind, RelationError>> {
        match key.strip_prefix("relation.") {
            Some(kind) => Some(kind.parse()),
            None if key.split('.').next() == Some(TRANSLATION) => Some(key.parse()),
            None => key.parse().ok().filter(|kind| !matches!(kind, RelationKind::Own(_))).map(Ok),
        }
    }

    /// Its key among the keys of a description.
    pub fn description_key(&self) -> String {
        match self {
            RelationKind::PreviousEdition => EDITION_OF.to_owned(),
            RelationKind::PartOf => PART_OF.to_owned(),
            RelationKind::Own(name) => format!("relation.{OWN}.{name}"),
            kind => kind.to_string(),
        }
    }

    /// Its key in `[relations]`, whatever its language or name.
    pub fn key(&self) -> &'static str {
        self.keys().0
    }

    /// The path of keys in `[relations]`: one key, or a table and a key in it.
    pub(super) fn keys(&self) -> (&'static str, Option<String>) {
        match self {
            RelationKind::Translation(language) => (TRANSLATION, Some(language.to_string())),
            RelationKind::Own(name) => (OWN, Some(name.clone())),
            plain => {
                (PLAIN.iter().find(|(kind, _)| kind == plain).map_or("", |(_, key)| key), None)
            }
        }
    }

    /// Whether an item has at most one such relation.
    pub fn is_single(&self) -> bool {
        !matches!(self, RelationKind::PartOf | RelationKind::Own(_))
    }

    /// The inverse relation, from an item in `language`. `None` if nothing is stored at the other end, or if
    /// the language of a translation is unknown.
    ///
    /// A unit does not store its parts, because it may have any number: the index finds them.
    pub fn inverse(&self, language: Option<&Language>) -> Option<RelationKind> {
        match self {
            RelationKind::NextEdition => Some(RelationKind::PreviousEdition),
            RelationKind::PreviousEdition => Some(RelationKind::NextEdition),
            RelationKind::Translation(_) => Some(RelationKind::TranslationOf),
            RelationKind::TranslationOf => language.cloned().map(RelationKind::Translation),
            RelationKind::Metadata => Some(RelationKind::MetadataOf),
            RelationKind::MetadataOf => Some(RelationKind::Metadata),
            RelationKind::PartOf | RelationKind::Own(_) => None,
        }
    }

    /// Whether two items contradict each other if each has such a relation to the other.
    pub fn contradicts(&self, back: &RelationKind) -> bool {
        !matches!(self, RelationKind::Own(_)) && discriminant(self) == discriminant(back)
    }
}

impl FromStr for RelationKind {
    type Err = RelationError;

    /// Reads a kind in a sidecar or a manifest, such as `next_edition`, `translation.pt` or `x.review`. `-`
    /// stands for `_`, `edition_of` for `previous_edition` and `part_of` for `next_higher_unit`.
    fn from_str(text: &str) -> Result<RelationKind, RelationError> {
        let unknown = || RelationError::UnknownKind(text.to_owned());
        if let Some((table, key)) = text.split_once('.') {
            return match table {
                TRANSLATION => {
                    let language = Language::normalised(key).map_err(|_| unknown())?;
                    Ok(RelationKind::Translation(language))
                }
                OWN if is_own(key) => Ok(RelationKind::Own(key.to_owned())),
                _ => Err(unknown()),
            };
        }
        let text = text.to_ascii_lowercase().replace('-', "_");
        match &*text {
            EDITION_OF => return Ok(RelationKind::PreviousEdition),
            PART_OF => return Ok(RelationKind::PartOf),
            _ => {}
        }
        let known = PLAIN.iter().find(|(_, known)| *known == text);
        known.map(|(kind, _)| kind.clone()).ok_or_else(unknown)
    }
}

/// Whether `key` can name a free relation.
pub(super) fn is_own(key: &str) -> bool {
    let named = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !key.is_empty() && key.chars().all(named)
}

impl fmt::Display for RelationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.keys() {
            (key, None) => f.pad(key),
            (table, Some(key)) => f.pad(&format!("{table}.{key}")),
        }
    }
}
