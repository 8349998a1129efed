//! Corrections that take back the newest change of a description, by the values that the ledger has.

use serde_json::Value;

use crate::amend::Edit;
use crate::collection::{LoggedChange, is_logged_as};
use crate::identity::{Identifier, RepositoryName};
use crate::relation::Correction;
use crate::sidecar::{
    Access, KeyChange, Metadata, Relation, RelationKind, Relations, Sidecar, json_of,
};

/// Why the newest change stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UndoError {
    /// No change of its description is in the ledger, or each was taken back.
    #[error("the ledger has no change of the description of `{name}` that stands")]
    Nothing {
        /// The item.
        name: RepositoryName,
    },
    /// A later change, or one by hand, gave a key another value.
    #[error("`{key}` of `{name}` is no longer as the newest change left it")]
    ChangedSince {
        /// The item.
        name: RepositoryName,
        /// The key, as in `metadata.title`.
        key: String,
    },
    /// The ledger has only the digest of a long value, or one that is not understood.
    #[error("the ledger has no former value of `{key}` of `{name}` that can be set")]
    ValueLost {
        /// The item.
        name: RepositoryName,
        /// The key, as in `metadata.title`.
        key: String,
    },
}

/// The changes of one description that still stand, by its events in the order of the ledger.
///
/// A change that the next one takes back stands no longer, by whatever command: so a repeated undo takes back the change before,
/// and no event says that it is an undo.
#[derive(Clone, Debug, Default)]
pub struct Changes(Vec<Vec<LoggedChange>>);

impl Changes {
    /// Adds the changes of the next event.
    pub fn add(&mut self, changes: Vec<LoggedChange>) {
        match self.0.last() {
            _ if changes.is_empty() => {}
            Some(last) if is_inverse(last, &changes) => {
                self.0.pop();
            }
            _ => self.0.push(changes),
        }
    }

    /// The correction that takes the newest change back. Refused where a value is another by now, and where the ledger has only
    /// its digest.
    pub fn taken_back(&self, sidecar: &Sidecar) -> Result<Correction, UndoError> {
        let name = sidecar.repository.clone();
        let Some(changes) = self.0.last() else {
            return Err(UndoError::Nothing { name });
        };
        let present = described(sidecar);
        let mut correction =
            Correction { name, edits: Vec::new(), unlink: Vec::new(), link: Vec::new() };
        for LoggedChange { key, before, after } in changes {
            let value = present.iter().find(|it| it.key == *key).and_then(|it| it.after.as_ref());
            let is_same = match (value, after) {
                (None, None) => true,
                (Some(value), Some(logged)) => is_logged_as(&json_of(value), logged),
                _ => false,
            };
            let name = || sidecar.repository.clone();
            if !is_same {
                return Err(UndoError::ChangedSince { name: name(), key: key.clone() });
            }
            let texts = |value: &Option<Value>| {
                let lost = || UndoError::ValueLost { name: name(), key: key.clone() };
                value.as_ref().map_or(Some(Vec::new()), texts).ok_or_else(lost)
            };
            let (before, after) = (texts(before)?, texts(after)?);
            if let Some(kind) = key.strip_prefix("relations.") {
                let lost = || UndoError::ValueLost { name: name(), key: key.clone() };
                let kind: RelationKind = kind.parse().map_err(|_| lost())?;
                let only_in = |these: &[String], others: &[String]| {
                    let wanted = these.iter().filter(|it| !others.contains(it));
                    wanted
                        .map(|it| {
                            let to = Identifier::read(it).map_err(|_| lost())?;
                            Ok(Relation { kind: kind.clone(), to })
                        })
                        .collect::<Result<Vec<_>, UndoError>>()
                };
                correction.unlink.extend(only_in(&after, &before)?);
                correction.link.extend(only_in(&before, &after)?);
            } else {
                let key = typed(key).to_owned();
                correction.edits.push(match before {
                    none if none.is_empty() => Edit::Remove(key),
                    values => Edit::Set(key, values),
                });
            }
        }
        Ok(correction)
    }
}

/// The description as changes from none.
fn described(sidecar: &Sidecar) -> Vec<KeyChange> {
    let none = Sidecar {
        target: None,
        transferable: !sidecar.transferable,
        access: Access::default(),
        metadata: Metadata::default(),
        relations: Relations::default(),
        ..sidecar.clone()
    };
    none.differences(sidecar)
}

/// The key of an [`Edit`].
fn typed(key: &str) -> &str {
    match key.strip_prefix("metadata.") {
        Some(term) => term,
        None if key == "access.level" => "access",
        None => key,
    }
}

/// Whether `next` takes `last` back.
fn is_inverse(last: &[LoggedChange], next: &[LoggedChange]) -> bool {
    let takes_back = |one: &LoggedChange| {
        next.iter()
            .any(|it| (&it.key, &it.before, &it.after) == (&one.key, &one.after, &one.before))
    };
    last.len() == next.len() && last.iter().all(takes_back)
}

/// The values of a key as they are typed; `None` for what the ledger has by its digest alone.
fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(values) => {
            Some(values.iter().map(texts).collect::<Option<Vec<_>>>()?.concat())
        }
        Value::String(text) => Some(vec![text.clone()]),
        Value::Bool(_) | Value::Number(_) => Some(vec![value.to_string()]),
        Value::Object(_) | Value::Null => None,
    }
}
