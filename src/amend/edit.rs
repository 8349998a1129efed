//! Changes of single keys, as people type them.

use super::{AmendError, Description, EditError};
use crate::item::PayloadPath;
use crate::sidecar::{Conditions, Metadata, MetadataError};

/// A change of the values of one key.
///
/// A key is a term, a user's key written `x.key`, or one of [`SETTINGS`].
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
pub const SETTINGS: [&str; 4] = ["target", "transferable", "access", "access.allow"];

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
        if is_setting(self.key()) {
            return self.change_setting(&mut Conditions::default(), &mut None);
        }
        // The refusal of `x` names the keys of the item.
        if self.key() == "x" {
            return Ok(());
        }
        Ok(self.change_term(&mut Metadata::default())?)
    }

    /// Changes `description`.
    pub fn apply(&self, description: &mut Description) -> Result<(), AmendError> {
        let name = description.name.clone();
        self.change(description).map_err(|cause| AmendError::Edit { name, cause })
    }

    /// Changes `description`, which stays unchanged where a value is refused.
    pub fn change(&self, description: &mut Description) -> Result<(), EditError> {
        if is_setting(self.key()) {
            return self.change_setting(&mut description.conditions, &mut description.target);
        }
        Ok(self.change_term(&mut description.metadata)?)
    }

    fn change_setting(
        &self,
        conditions: &mut Conditions,
        target: &mut Option<PayloadPath>,
    ) -> Result<(), EditError> {
        let key = self.key();
        let before = match key {
            "target" => target.iter().map(|it| it.to_text().into_owned()).collect(),
            _ => conditions.values(key),
        };
        let is_list = key == "access.allow";
        let values: Vec<String> = match self {
            Edit::Set(_, values) => values.clone(),
            Edit::Add(_, value) if is_list && before.contains(value) => before,
            Edit::Add(_, value) if is_list => before.into_iter().chain([value.clone()]).collect(),
            Edit::Add(_, value) => vec![value.clone()],
            Edit::Remove(_) => Vec::new(),
            Edit::RemoveValue(_, value) => before.into_iter().filter(|it| it != value).collect(),
        };
        match &values[..] {
            [_, _, ..] if !is_list => Err(MetadataError::GivenTwice(key.to_owned()).into()),
            [] if key == "target" => {
                *target = None;
                Ok(())
            }
            [path] if key == "target" => {
                let wrong = |_| EditError::Target(path.clone());
                *target = Some(PayloadPath::from_text(path).map_err(wrong)?);
                Ok(())
            }
            values => Ok(conditions.set(key, values)?),
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

/// The values of `keys` in `description`, as text. Without `keys`, the values of all its keys.
pub fn values(
    description: &Description,
    keys: &[String],
) -> Result<Vec<(String, Vec<String>)>, EditError> {
    let of = |key: &str| -> Result<Vec<String>, EditError> {
        Ok(match key {
            "target" => description.target.iter().map(|it| it.to_text().into_owned()).collect(),
            key if is_setting(key) => description.conditions.values(key),
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

fn is_setting(key: &str) -> bool {
    SETTINGS.contains(&key)
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
            conditions: Conditions::default(),
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
        assert_eq!(after(&[add("language", "pt"), remove("language", "por")], "language"), [""; 0]);
    }

    #[test]
    fn conditions_are_changed_like_terms() {
        let mut description = described();
        let edits = [
            set("access", &["closed"]),
            add("access.allow", "192.0.2.0/24"),
            add("access.allow", "192.0.2.0/24"),
            add("access.allow", "2001:db8::/32"),
            Edit::RemoveValue("access.allow".into(), "192.0.2.0/24".into()),
            set("transferable", &["false"]),
        ];
        edits.iter().try_for_each(|edit| edit.change(&mut description)).unwrap();
        let values = |key: &str| description.conditions.values(key);
        assert_eq!(
            (values("access"), values("transferable")),
            (vec!["closed".into()], vec!["false".into()])
        );
        assert_eq!(values("access.allow"), ["2001:db8::/32"]);
        for key in ["access", "access.allow", "transferable"] {
            Edit::Remove(key.into()).change(&mut description).unwrap();
        }
        assert_eq!(description, described());
    }

    #[test]
    fn values_that_stay_keep_their_types() {
        let mut description = described();
        let table: toml::Table = "shelf = [3, 4, \"3\"]".parse().unwrap();
        let metadata = toml::Table::from_iter([("x".to_owned(), table.into())]);
        description.metadata = Metadata::from_table(&metadata).unwrap();
        Edit::RemoveValue("x.shelf".to_owned(), "3".to_owned()).change(&mut description).unwrap();
        let shelf = &description.metadata.table()["x"]["shelf"];
        assert_eq!(shelf.as_array().unwrap(), &[toml::Value::Integer(4)]);
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
            (set("titel", &["B"]), "`titel` is not a term"),
            (set("title", &["B", "C"]), "`title` is given twice"),
            (add("title", "B"), "`title` is given twice"),
            (set("title", &[""]), "the text of `title` is empty"),
            (set("language", &["?"]), "`?` is not a language tag"),
            (set("x.a b", &["1"]), "`x.a b` has characters"),
            (set("transferable", &["no"]), "`no` is not a value of `transferable`"),
            (set("target", &["../x"]), "`../x` is not a target"),
            (add("access", "secret"), "`secret` is not a level of access"),
            (add("access.allow", "192.0.2.1/24"), "the range is `192.0.2.0/24`"),
            (set("target", &["a", "b"]), "`target` is given twice"),
        ] {
            let error = refused(edit);
            assert!(error.contains(expected), "{error}");
        }
    }
}
