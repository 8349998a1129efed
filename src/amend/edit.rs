//! Changes of single keys, as people type them.

use std::str::FromStr;

use super::{AmendError, Description, EditError};
use crate::item::PayloadPath;
use crate::sidecar::{Metadata, MetadataError};

/// A change of the values of one key.
///
/// A key is a term of Dublin Core, a key of one's own written `x.key`, or one of [`SETTINGS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The key gets these values in place of those that it has.
    Set(String, Vec<String>),
    /// The key gets one more value, unless it has that already.
    Add(String, String),
    /// The key loses all its values.
    Remove(String),
    /// The key loses one value, if it has that.
    RemoveValue(String, String),
}

/// Keys of the sidecar itself that are changed like terms.
pub const SETTINGS: [&str; 2] = ["target", "transferable"];

impl Edit {
    /// The key.
    pub fn key(&self) -> &str {
        match self {
            Edit::Set(key, _)
            | Edit::Add(key, _)
            | Edit::Remove(key)
            | Edit::RemoveValue(key, _) => key,
        }
    }

    /// Checks the key and the values, as far as that does not depend on the item.
    pub fn check(&self) -> Result<(), EditError> {
        let (Edit::Set(key, _) | Edit::Add(key, _)) = self else { return Ok(()) };
        let mut nothing = Metadata::default();
        match (self, SETTINGS.contains(&key.as_str())) {
            (_, true) => self.change_setting(&mut true, &mut None),
            (Edit::Set(_, values), false) => Ok(nothing.set(key, values)?),
            (Edit::Add(_, value), false) => Ok(nothing.add(key, value)?),
            (Edit::Remove(_) | Edit::RemoveValue(..), false) => Ok(()),
        }
    }

    /// Changes `description`.
    pub fn apply(&self, description: &mut Description) -> Result<(), AmendError> {
        let name = description.name.clone();
        self.change(description).map_err(|cause| AmendError::Edit { name, cause })
    }

    /// Changes `description`, which stays as it is where a value is refused.
    pub fn change(&self, description: &mut Description) -> Result<(), EditError> {
        if SETTINGS.contains(&self.key()) {
            return self.change_setting(&mut description.transferable, &mut description.target);
        }
        Ok(self.change_term(&mut description.metadata)?)
    }

    fn change_setting(
        &self,
        transferable: &mut bool,
        target: &mut Option<PayloadPath>,
    ) -> Result<(), EditError> {
        if self.key() == "target" {
            const EXPECTED: &str = "one file of the item, below `doc/`";
            *target = self.setting("target", EXPECTED, target.as_ref())?;
        } else {
            let set = self.setting("transferable", "`true` or `false`", Some(&*transferable))?;
            // Absent, an Original may migrate.
            *transferable = set.unwrap_or(true);
        }
        Ok(())
    }

    /// The value that a key of one value has after this change.
    fn setting<T: Clone + Parsed + PartialEq>(
        &self,
        key: &'static str,
        expected: &'static str,
        now: Option<&T>,
    ) -> Result<Option<T>, EditError> {
        let read = |value: &str| {
            let refused = || EditError::Value { key, value: value.to_owned(), expected };
            T::parsed(value).ok_or_else(refused)
        };
        match self {
            Edit::Set(_, values) => match &values[..] {
                [value] => read(value).map(Some),
                _ => Err(MetadataError::GivenTwice(key.to_owned()).into()),
            },
            Edit::Add(_, value) => read(value).map(Some),
            Edit::Remove(_) => Ok(None),
            Edit::RemoveValue(_, value) => {
                let value = read(value)?;
                Ok(now.filter(|now| **now != value).cloned())
            }
        }
    }

    fn change_term(&self, metadata: &mut Metadata) -> Result<(), MetadataError> {
        match self {
            Edit::Set(key, values) => metadata.set(key, values),
            Edit::Add(key, value) => {
                let mut with = metadata.clone();
                let before = with.values(key)?;
                let added = with.add(key, value);
                // Repeated, the command finds the value there.
                let mut alone = Metadata::default();
                alone.add(key, value)?;
                if alone.values(key)?.iter().all(|value| before.contains(value)) {
                    return Ok(());
                }
                added?;
                *metadata = with;
                Ok(())
            }
            Edit::Remove(key) => metadata.remove(key),
            Edit::RemoveValue(key, value) => metadata.remove_value(key, value),
        }
    }
}

/// The values of `keys` in `description`, as text; of all keys that it has where none is given.
pub fn values(
    description: &Description,
    keys: &[String],
) -> Result<Vec<(String, Vec<String>)>, EditError> {
    let of = |key: &str| -> Result<Vec<String>, EditError> {
        Ok(match key {
            "target" => description.target.iter().map(|it| it.to_text().into_owned()).collect(),
            "transferable" => vec![description.transferable.to_string()],
            term => description.metadata.values(term)?,
        })
    };
    let mut wanted = keys.to_vec();
    if keys.is_empty() {
        wanted.extend(description.metadata.keys());
        wanted.extend(SETTINGS.map(str::to_owned));
    }
    let values = wanted.into_iter().map(|key| Ok((of(&key)?, key)));
    let values = values.collect::<Result<Vec<_>, EditError>>()?;
    let is_wanted = |it: &Vec<String>| !keys.is_empty() || !it.is_empty();
    Ok(values.into_iter().filter(|(it, _)| is_wanted(it)).map(|(it, key)| (key, it)).collect())
}

/// A value of a key of the sidecar itself, read from text.
trait Parsed: Sized {
    fn parsed(text: &str) -> Option<Self>;
}

impl Parsed for bool {
    fn parsed(text: &str) -> Option<bool> {
        bool::from_str(text).ok()
    }
}

impl Parsed for PayloadPath {
    fn parsed(text: &str) -> Option<PayloadPath> {
        PayloadPath::from_text(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sidecar::Relations;

    fn described() -> Description {
        let mut metadata = Metadata::default();
        metadata.add("title", "A").unwrap();
        metadata.add("subject", "maps").unwrap();
        Description {
            name: "example.org/a/2026/11.21.02.13".parse().unwrap(),
            metadata,
            relations: Relations::default(),
            target: None,
            transferable: true,
        }
    }

    /// The values of a key after `edits`.
    fn after(edits: &[Edit], key: &str) -> Vec<String> {
        let mut description = described();
        edits.iter().try_for_each(|edit| edit.change(&mut description)).unwrap();
        description.metadata.values(key).unwrap()
    }

    fn set(key: &str, values: &[&str]) -> Edit {
        Edit::Set(key.to_owned(), values.iter().map(|it| (*it).to_owned()).collect())
    }

    fn add(key: &str, value: &str) -> Edit {
        Edit::Add(key.to_owned(), value.to_owned())
    }

    #[test]
    fn values_are_set_added_and_removed() {
        assert_eq!(after(&[set("title", &["B"])], "title"), ["B"]);
        assert_eq!(after(&[set("Creator", &["B", "C"])], "creator"), ["B", "C"]);
        assert_eq!(
            after(&[add("subject", "sea"), add("subject", "sea")], "subject"),
            ["maps", "sea"]
        );
        assert_eq!(after(&[add("title", "A")], "title"), ["A"]);
        assert_eq!(after(&[set("x.box", &["17"]), add("x.box", "18")], "x.box"), ["17", "18"]);
        let remove = |key: &str, value: &str| Edit::RemoveValue(key.to_owned(), value.to_owned());
        assert_eq!(after(&[add("subject", "sea"), remove("subject", "maps")], "subject"), ["sea"]);
        assert_eq!(after(&[remove("subject", "sea")], "subject"), ["maps"]);
        assert_eq!(after(&[Edit::Remove("subject".into())], "subject"), [""; 0]);
        assert_eq!(after(&[set("language", &["por"])], "language"), ["pt"]);
        assert_eq!(after(&[add("language", "pt_br")], "language"), ["pt-BR"]);
    }

    #[test]
    fn what_a_key_does_not_take_is_refused() {
        let refused = |edit: Edit| {
            let mut description = described();
            let error = edit.change(&mut description).unwrap_err();
            assert_eq!(description, described());
            error.to_string()
        };
        for (edit, expected) in [
            (set("titel", &["B"]), "`titel` is no term of Dublin Core"),
            (set("title", &["B", "C"]), "`title` is given twice"),
            (add("title", "B"), "`title` is given twice"),
            (set("title", &[""]), "the text of `title` is empty"),
            (set("language", &["?"]), "`?` is no language"),
            (set("x.a b", &["1"]), "`x.a b` has characters"),
            (set("transferable", &["no"]), "`no` is not a value of `transferable`"),
            (set("target", &["../x"]), "`../x` is not a value of `target`"),
            (set("target", &["a", "b"]), "`target` is given twice"),
        ] {
            let error = refused(edit);
            assert!(error.contains(expected), "{error}");
        }
    }
}
