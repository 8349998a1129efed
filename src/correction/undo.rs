//! Corrections that take back the newest change of a description, by the values that the ledger has.

use serde_json::Value;

use crate::amend::Edit;
use crate::collection::{LoggedChange, is_logged_as};
use crate::identity::{Identifier, RepositoryName};
use crate::relation::Correction;
use crate::sidecar::{KeyChange, Relation, RelationKind, Sidecar};

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
        for change in changes {
            let key = || change.key.clone();
            let value = present.iter().find(|it| it.key == change.key);
            let value = value.and_then(|it| it.after.as_ref());
            if !is_logged_as(value, change.after.as_ref()) {
                let name = correction.name;
                return Err(UndoError::ChangedSince { name, key: key() });
            }
            if take_back(change, &mut correction).is_none() {
                return Err(UndoError::ValueLost { name: correction.name, key: key() });
            }
        }
        Ok(correction)
    }
}

/// Adds to `correction` what takes `change` back; `None` if a value cannot be set again.
fn take_back(change: &LoggedChange, correction: &mut Correction) -> Option<()> {
    let [before, after] =
        [&change.before, &change.after].map(|value| value.as_ref().map_or(Some(Vec::new()), texts));
    let (before, after) = (before?, after?);
    let Some(kind) = change.key.strip_prefix("relations.") else {
        let key = typed(&change.key).to_owned();
        correction.edits.push(if before.is_empty() {
            Edit::Remove(key)
        } else {
            Edit::Set(key, before)
        });
        return Some(());
    };
    let kind: RelationKind = kind.parse().ok()?;
    let only_in = |these: &[String], others: &[String]| {
        let wanted = these.iter().filter(|it| !others.contains(it));
        let relation =
            |text: &String| Some(Relation { kind: kind.clone(), to: Identifier::read(text).ok()? });
        wanted.map(relation).collect::<Option<Vec<_>>>()
    };
    correction.unlink.extend(only_in(&after, &before)?);
    correction.link.extend(only_in(&before, &after)?);
    Some(())
}

/// The description as changes from none.
fn described(sidecar: &Sidecar) -> Vec<KeyChange> {
    let none = Sidecar::of_name(sidecar.repository.clone(), sidecar.custody.clone());
    Sidecar { transferable: !sidecar.transferable, ..none }.differences(sidecar)
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
