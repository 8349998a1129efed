//! The table `[custody]`: which collection has the Original, and what the contents follow.

use std::fmt::Write as _;

use serde::Deserialize;

use super::plain::{number, pair, string};
use super::print::text_pair;
use super::{Files, Metadata, Relations, Sidecar, SidecarError};
use crate::custody::{Custody, CustodyId};
use crate::item::{State, Totals};

/// The values of the table before they are checked.
#[derive(Deserialize)]
pub(super) struct RawCustody {
    epoch: u64,
    id: String,
    #[serde(default)]
    follows: Vec<String>,
    holder: String,
    ceded: Option<String>,
}

impl RawCustody {
    pub(super) fn check(self) -> Result<Custody, SidecarError> {
        let id = |text: &String| text.parse::<CustodyId>();
        let follows = self.follows.iter().map(id).collect::<Result<_, _>>()?;
        let ceded = self.ceded.map(|text| text.parse()).transpose()?;
        Ok(Custody::read(self.epoch, id(&self.id)?, follows, self.holder, ceded)?)
    }
}

/// Appends the table after an empty line.
pub(super) fn write(text: &mut String, custody: &Custody) {
    // Writing to a string never fails.
    let _ = writeln!(text, "\n[custody]\nepoch = {}\nid = \"{}\"", custody.epoch(), custody.id());
    if let [first, rest @ ..] = custody.follows() {
        let _ = write!(text, "follows = [\"{first}\"");
        for id in rest {
            text.push_str(&format!(", \"{id}\""));
        }
        text.push_str("]\n");
    }
    text_pair(text, "holder", custody.holder());
    if let Some(ceded) = custody.ceded() {
        text_pair(text, "ceded", &ceded.to_string());
    }
}

/// Reads the pairs of the table as [`write()`] prints them, and returns the text after the empty line behind it.
pub(super) fn read(text: &str) -> Option<(RawCustody, &str)> {
    let (epoch, rest) = pair(text, "epoch")?;
    let (id, rest) = pair(rest, "id")?;
    let (follows, rest) = match pair(rest, "follows") {
        Some((ids, rest)) => (ids_of(ids)?, rest),
        None => (Vec::new(), rest),
    };
    let (holder, rest) = pair(rest, "holder")?;
    let (ceded, rest) = match pair(rest, "ceded") {
        Some((ceded, rest)) => (Some(string(ceded)?.into_owned()), rest),
        None => (None, rest),
    };
    let [id, holder] = [string(id)?.into_owned(), string(holder)?.into_owned()];
    let raw = RawCustody { epoch: number(epoch)?, id, follows, holder, ceded };
    Some((raw, rest.strip_prefix('\n')?))
}

fn ids_of(list: &str) -> Option<Vec<String>> {
    let ids = list.strip_prefix("[\"")?.strip_suffix("\"]")?.split("\", \"");
    // A quote or a comma within one would be read as text.
    let id = |id: &str| id.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| id.to_owned());
    ids.map(id).collect()
}

impl Sidecar {
    /// The state of the item in the collection `at`: that of its custody. The state in the text is for people, and differs
    /// in a directory that was copied by hand into another collection.
    pub(crate) fn state_in(&self, at: &str) -> State {
        match self.state {
            State::Original | State::Copy if self.custody.is_original_in(at) => State::Original,
            State::Original | State::Copy => State::Copy,
            state => state,
        }
    }

    /// The stub of an item that is elsewhere: identifiers, dates and custody, and who might read it: whether a closed item was here
    /// is for nobody else to learn.
    pub(crate) fn stub(&self, custody: Custody) -> Sidecar {
        Sidecar {
            state: State::Elsewhere,
            custody,
            repository: self.repository.clone(),
            ibip: self.ibip.clone(),
            created: self.created,
            timestamp: self.timestamp,
            described: self.described,
            target: None,
            transferable: self.transferable,
            access: self.access.clone(),
            metadata: Metadata::default(),
            relations: Relations::default(),
            origin: toml::Table::new(),
            removal: None,
            payload: Totals::of(&[]),
            files: Files::default(),
        }
    }
}
