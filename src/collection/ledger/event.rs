//! One line of the ledger: what happened to an item, when, by whom, and what the collection has of the item since.
//!
//! ```text
//! {"date":"2026-11-21T02:13:07Z","event":"ingestion","id":"example.org/archive/2026/11.21.02.13.07",
//!  "holding":{"state":"Original","epoch":1,"id":"9d0e…","changed":"2026-11-21T02:13:07Z","holder":"60cb…"},…,"sum":"5a0c…"}
//! ```
//!
//! Event names are those of PREMIS, and some that it lacks. Of the lines about an item with a holding, the last one counts.
//! It has as much of the custody as ranks a holding, so that an item which was put back from a backup is below its line,
//! whatever its sidecar says.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::changed::{LoggedChange, logged};
use super::imported::ImportedSource;
use crate::agent::Agent;
use crate::collection::Collection;
use crate::custody::{Custody, Has, Holding, Permit};
use crate::digest::Digest;
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::item::State;
use crate::sidecar::{KeyChange, Sidecar};

/// A collection, perhaps a remote one, as the ledger names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionRef {
    /// Its id.
    pub id: String,
    /// Its name at the time of the record.
    pub name: String,
}

/// The collection of this id in words: nobody compares 32 digits.
pub fn of_id(id: &str) -> String {
    format!("the collection with the id {}…", id.get(..6).unwrap_or(id))
}

/// The holding of an item: its state and its rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// The state of the item.
    pub state: State,
    /// Its custody, without the ids that it follows.
    pub custody: Custody,
    /// The later date of the last change of payload and description.
    pub changed: Instant,
}

/// [`Here`] in a line.
#[derive(Serialize, Deserialize)]
struct HereText {
    state: String,
    epoch: u64,
    id: String,
    changed: Instant,
    holder: String,
}

impl Here {
    /// The holding that a change leaves, as its permit says.
    pub(crate) fn under(permit: &Permit, state: State, changed: Instant) -> Here {
        Here { state, custody: permit.custody().bare(), changed }
    }

    /// The holding with this sidecar, as it was read.
    pub(crate) fn of(sidecar: &Sidecar) -> Here {
        Here { state: sidecar.state, custody: sidecar.custody.bare(), changed: sidecar.changed() }
    }
}

impl Serialize for Here {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Here { state, custody, changed } = self;
        let (id, holder) = (custody.id().to_string(), custody.holder().to_owned());
        let (state, epoch) = (state.to_string(), custody.epoch());
        HereText { state, epoch, id, changed: *changed, holder }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Here {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Here, D::Error> {
        use serde::de::Error;
        let HereText { state, epoch, id, changed, holder } = HereText::deserialize(deserializer)?;
        let id = id.parse().map_err(D::Error::custom)?;
        let custody = Custody::read(epoch, id, Vec::new(), holder, None);
        let (state, custody) = (state.parse().map_err(D::Error::custom)?, custody);
        Ok(Here { state, custody: custody.map_err(D::Error::custom)?, changed })
    }
}

/// The kind of an event [PREMIS: eventType].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventKind {
    /// It was deposited.
    #[serde(rename = "ingestion")]
    Ingestion,
    /// A Copy of it was made here.
    #[serde(rename = "replication")]
    Replication,
    /// The Copy was updated from its Original.
    #[serde(rename = "modification")]
    Modification,
    /// The Original, or the Copy, came from or went to another collection.
    #[serde(rename = "transfer")]
    Transfer,
    /// It was deleted.
    #[serde(rename = "deletion")]
    Deletion,
    /// Its files in the trash were removed permanently; the item itself did not change.
    #[serde(rename = "purge")]
    Purge,
    /// Its Copy became the Original, because the collection of the Original was lost.
    #[serde(rename = "promotion")]
    Promotion,
    /// It became a Copy, because another collection holds the Original too.
    #[serde(rename = "demotion")]
    Demotion,
    /// It was repaired, or restored.
    #[serde(rename = "recovery")]
    Recovery,
    /// Its description was changed.
    #[serde(rename = "metadata modification")]
    Description,
    /// Its identifier was issued, without an item.
    #[serde(rename = "mint")]
    Mint,
    /// The source of an import is the same as the item.
    #[serde(rename = "duplication")]
    Duplication,
    /// It was found here without a line, or in another state of the same custody than by its line.
    #[serde(rename = "registration")]
    Registration,
    /// It was found here in a newer state than that of its line: a run was cut off between a change and its line.
    #[serde(rename = "found")]
    Found,
    /// It vanished, and a person accepted that.
    #[serde(rename = "loss")]
    Loss,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub date: Instant,
    /// What.
    pub event: EventKind,
    /// The item.
    pub id: RepositoryName,
    /// The holding of the collection afterwards; `None` if nothing changed, or if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holding: Option<Here>,
    /// The source that it was made of, if an import made it or found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportedSource>,
    /// The digest of its manifest afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The digest before, if it differed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest_before: Option<String>,
    /// The id of the collection that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The name that collection had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_name: Option<String>,
    /// The id of the collection that it went to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The name that collection had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_name: Option<String>,
    /// The bytes that the file system regained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freed: Option<u64>,
    /// The keys of the description that changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LoggedChange>,
    /// A remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The command that did it.
    pub command: String,
    /// The user it ran as: a name, or `user 1000`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The same as a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<u32>,
    /// The machine it ran on.
    pub machine: String,
    /// Its process there.
    pub process: u32,
}

impl Event {
    /// An event by `agent`.
    pub fn new(event: EventKind, id: &RepositoryName, date: Instant, agent: &Agent) -> Event {
        Event {
            date: date.floor(SECOND),
            event,
            id: id.clone(),
            holding: None,
            import: None,
            digest: None,
            digest_before: None,
            from: None,
            from_name: None,
            to: None,
            to_name: None,
            freed: None,
            changes: Vec::new(),
            note: None,
            command: agent.command.clone(),
            user: Some(agent.user.clone()),
            user_id: Some(agent.user_id),
            machine: agent.machine.clone(),
            process: agent.process,
        }
    }

    /// The same with what the collection has of the item afterwards.
    #[must_use]
    pub fn leaving(self, holding: Here) -> Event {
        Event { holding: Some(holding), ..self }
    }

    /// The same with the present digest of the manifest.
    #[must_use]
    pub fn with_digest(self, digest: Digest) -> Event {
        Event { digest: Some(format!("sha256:{digest}")), ..self }
    }

    /// The same from another collection.
    #[must_use]
    pub fn with_source(self, from: &Collection) -> Event {
        let CollectionRef { id, name } = from.reference();
        Event { from: Some(id), from_name: Some(name), ..self }
    }

    /// The same to another collection.
    #[must_use]
    pub fn with_destination(self, to: &Collection) -> Event {
        let CollectionRef { id, name } = to.reference();
        Event { to: Some(id), to_name: Some(name), ..self }
    }

    /// The same with the former digest of the manifest.
    #[must_use]
    pub fn with_digest_before(self, digest: Digest) -> Event {
        Event { digest_before: Some(format!("sha256:{digest}")), ..self }
    }

    /// The same with the keys of the description that changed.
    #[must_use]
    pub fn with_changes(self, changes: Vec<KeyChange>) -> Event {
        Event { changes: logged(changes), ..self }
    }

    /// The state of the item afterwards, if known.
    pub fn state(&self) -> Option<State> {
        self.holding.as_ref().map(|here| here.state)
    }

    /// Whether the item was given up as lost.
    pub fn is_loss(&self) -> bool {
        self.event == EventKind::Loss
    }

    /// The line as a holding of the collection with the id `at`. It lists no ids that it follows. `None` for a lost item, and
    /// for a sidecar that could not be read.
    pub(crate) fn as_holding(&self, at: &str) -> Option<Holding> {
        let Here { state, custody, changed } = self.holding.clone()?;
        let has = if state == State::Deleted { Has::LineOfDeletion } else { Has::Line };
        Some(Holding { at: at.to_owned(), has, custody, changed })
    }
}

/// An item that is no longer here, and where it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departed {
    /// The item.
    pub name: RepositoryName,
    words: String,
}

impl Departed {
    /// The item `name`, which is in the collection with the id `holder`.
    pub(crate) fn to(holder: &str, name: RepositoryName) -> Departed {
        Departed { name, words: format!("its Original is in {}", of_id(holder)) }
    }

    /// The item of `event`, the last one about it.
    pub(crate) fn by(event: Event) -> Departed {
        Departed { words: event.to_string(), name: event.id }
    }
}

impl fmt::Display for Departed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// The last event, in words.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.date;
        match (self.event, &self.holding) {
            (EventKind::Loss, _) => write!(f, "it was given up as lost on {date}"),
            (_, Some(Here { state: State::Elsewhere, custody, .. })) => {
                write!(f, "its Original is in {}", of_id(custody.holder()))
            }
            (EventKind::Registration | EventKind::Found, _) => write!(f, "it was found on {date}"),
            (EventKind::Ingestion | EventKind::Replication, _) => write!(f, "it came on {date}"),
            (_, Some(here)) => write!(f, "it was {} on {date}", here.state),
            (_, None) => write!(f, "it was changed on {date}"),
        }
    }
}

impl fmt::Display for CollectionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the collection `{}` ({})", self.name, self.id)
    }
}
