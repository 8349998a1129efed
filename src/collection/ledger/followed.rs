//! The ledger as the index follows it: by the end of the last line that was read.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Collection;
use super::chain::{Head, ends_with_sum, last_head, visit_from};
use crate::disk::PathError;
use crate::identity::RepositoryName;

/// The lines since a mark.
pub(crate) struct Followed {
    /// The items that they name, by the folded name.
    pub names: BTreeMap<String, RepositoryName>,
    /// The mark at their end.
    pub end: String,
}

/// The part of a line that says which item has changed.
#[derive(Deserialize)]
struct Named {
    id: RepositoryName,
}

impl Collection {
    /// The end of the ledger, as text that another process can go on from; `None` if there is no ledger.
    pub(crate) fn ledger_mark(&self) -> Result<Option<String>, PathError> {
        let Some(dir) = self.ledger()? else { return Ok(None) };
        Ok(Some(last_head(&dir)?.to_string()))
    }

    /// The lines of the ledger since `mark`; `None` if it does not contain the mark: it was put back, or is another one.
    ///
    /// The line about a change comes after the change: a reader of an item after its line sees the change.
    pub(crate) fn ledger_since(&self, mark: &str) -> Result<Option<Followed>, PathError> {
        let (Some(Head { end, sum }), Some(dir)) = (Head::parse(mark), self.ledger()?) else {
            return Ok(None);
        };
        if !ends_with_sum(&dir, end, sum)? {
            return Ok(None);
        }
        let mut names = BTreeMap::new();
        let head = last_head(&dir)?;
        visit_from(&dir, end, |line| {
            if let Ok(Named { id }) = serde_json::from_slice(line) {
                names.entry(id.folded()).or_insert(id);
            }
        })?;
        Ok(Some(Followed { names, end: head.to_string() }))
    }
}
