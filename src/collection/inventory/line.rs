//! One line of the inventory: readable text, used only if its checksum matches.
//!
//! `DATE WHAT NAME DETAILS CHECKSUM`, separated by single spaces:
//!
//! ```text
//! 2026-11-21T02:13:07Z entered example.org/archive/2026/11.21.02.13.07 Original 1:9d0e…:2026-11-21T02:13:07Z:60cb… 5a0c3f1e
//! 2026-11-23T10:00:00Z became example.org/archive/2026/11.21.02.13.07 Elsewhere 2:77ab…:2026-11-21T02:13:07Z:b1d4… 77b0c2d4
//! 2026-11-24T08:30:00Z left example.org/archive/2026/11.21.02.13.08 lost 9d0e11aa
//! ```
//!
//! After the state follows as much of the custody as ranks a holding: epoch, id, the date of the contents, and the holder. So
//! an item that was put back from a backup is below its line, whatever its sidecar says.

use std::fmt;

use crate::custody::{Custody, Has, Holding};
use crate::digest::Digest;
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::item::State;
use crate::sidecar::Sidecar;

/// Number of hexadecimal digits of the SHA-256 at the end of a line.
const CHECKSUM: usize = 8;
/// The mark after a line that a crash cut short: no process had relied on it.
pub(super) const TORN: &str = " torn\n";

/// A change of the presence or state of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InventoryChange {
    /// It arrived: deposited, copied, adopted, or restored.
    Entered(Here),
    /// It was found here without a record of its arrival. `None` if its sidecar could not be read.
    Found(Option<Here>),
    /// Its state, its contents or its custody changed.
    Became(Here),
    /// It vanished, and a person accepted that.
    Lost,
}

/// The state and the rank of an item that is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// Its state.
    pub state: State,
    /// Its custody, without the ids that it follows.
    pub custody: Custody,
    /// The later date of the last change of payload and description.
    pub changed: Instant,
}

/// A collection, perhaps a remote one, as the inventory and the log name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionRef {
    /// Its id.
    pub id: String,
    /// Its name at the time of the record.
    pub name: String,
}

/// A line of the inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InventoryLine {
    /// The date of the change.
    pub date: Instant,
    /// The item.
    pub name: RepositoryName,
    /// The change.
    pub change: InventoryChange,
}

impl InventoryLine {
    /// The state of the item after it, if known; `None` after it was lost.
    pub fn state(&self) -> Option<State> {
        self.change.here().map(|here| here.state)
    }

    /// The line as a holding of the collection with the id `at`, below the directory `own` if that is here: it follows what
    /// that holding follows. `None` for a lost item, and for a sidecar that could not be read.
    pub(crate) fn holding(&self, at: &str, own: Option<&Holding>) -> Option<Holding> {
        let Here { state, custody, changed } = self.change.here()?;
        let has = if *state == State::Deleted { Has::LineOfDeletion } else { Has::Line };
        let mut line =
            Holding { at: at.to_owned(), has, custody: custody.clone(), changed: *changed };
        // Whatever was here before the line was followed by it.
        if let Some(own) = own.filter(|own| own.rank() <= line.rank()) {
            line.custody = line.custody.following(&own.custody);
        }
        Some(line)
    }

    /// The line, with its end.
    pub(crate) fn to_text(&self) -> String {
        let InventoryLine { date, name, change } = self;
        let text = format!("{} {} {name} {}", date.floor(SECOND), change.word(), change.details());
        let checksum = checksum(text.as_bytes());
        format!("{text} {checksum}\n")
    }

    /// Parses a line without its end.
    pub(crate) fn parse(text: &[u8]) -> Option<InventoryLine> {
        let Fields { date, what, name, details } = Fields::of(text)?;
        let change = match what {
            "entered" => InventoryChange::Entered(Here::parse(details)?),
            "found" if details == UNKNOWN => InventoryChange::Found(None),
            "found" => InventoryChange::Found(Some(Here::parse(details)?)),
            "became" => InventoryChange::Became(Here::parse(details)?),
            "left" if details == LOST => InventoryChange::Lost,
            _ => return None,
        };
        let (name, _) = RepositoryName::parse_as_found(name).ok()?;
        Some(InventoryLine { date: date.parse().ok()?, name, change })
    }
}

/// The word for a state that could not be read.
const UNKNOWN: &str = "unknown";
/// The word for a loss that a person accepted.
const LOST: &str = "lost";

impl Here {
    /// The line of the item with this sidecar.
    pub(crate) fn of(sidecar: &Sidecar) -> Here {
        let changed = sidecar.timestamp.max(sidecar.described.unwrap_or(sidecar.timestamp));
        Here { state: sidecar.state, custody: sidecar.custody.bare(), changed }
    }

    fn to_text(&self) -> String {
        let Here { state, custody, changed } = self;
        let (epoch, id, holder) = (custody.epoch(), custody.id(), custody.holder());
        // A Copy of an unknown archive has no holder, and a person may have written one in two words.
        let holder = holder.replace(char::is_whitespace, "");
        format!("{state} {epoch} {id} {changed} {holder}")
    }

    fn parse(text: &str) -> Option<Here> {
        let [state, epoch, id, changed, holder] = *text.split(' ').collect::<Vec<_>>() else {
            return None;
        };
        let (epoch, id) = (epoch.parse().ok()?, id.parse().ok()?);
        let custody = Custody::read(epoch, id, Vec::new(), holder.to_owned(), None).ok()?;
        Some(Here { state: state.parse().ok()?, custody, changed: changed.parse().ok()? })
    }
}

impl InventoryChange {
    /// The arrival of the item with this sidecar.
    pub(crate) fn entered(sidecar: &Sidecar) -> InventoryChange {
        InventoryChange::Entered(Here::of(sidecar))
    }

    /// The change of the item that has this sidecar now.
    pub(crate) fn became(sidecar: &Sidecar) -> InventoryChange {
        InventoryChange::Became(Here::of(sidecar))
    }

    /// The state and the rank of the item, unless it was lost or could not be read.
    pub fn here(&self) -> Option<&Here> {
        match self {
            InventoryChange::Entered(here)
            | InventoryChange::Became(here)
            | InventoryChange::Found(Some(here)) => Some(here),
            InventoryChange::Found(None) | InventoryChange::Lost => None,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            InventoryChange::Entered(_) => "entered",
            InventoryChange::Found(_) => "found",
            InventoryChange::Became(_) => "became",
            InventoryChange::Lost => "left",
        }
    }

    fn details(&self) -> String {
        match self {
            InventoryChange::Entered(here)
            | InventoryChange::Became(here)
            | InventoryChange::Found(Some(here)) => here.to_text(),
            InventoryChange::Found(None) => UNKNOWN.to_owned(),
            InventoryChange::Lost => LOST.to_owned(),
        }
    }
}

/// The change, in words.
impl fmt::Display for InventoryLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.date.floor(SECOND);
        match &self.change {
            InventoryChange::Lost => write!(f, "it was given up as lost on {date}"),
            InventoryChange::Entered(_) => write!(f, "it came on {date}"),
            InventoryChange::Found(_) => write!(f, "it was found on {date}"),
            InventoryChange::Became(Here { state: State::Elsewhere, custody, .. }) => {
                write!(f, "its Original is in the collection {}", custody.holder())
            }
            InventoryChange::Became(here) => write!(f, "it became {} on {date}", here.state),
        }
    }
}

impl fmt::Display for CollectionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the collection `{}` ({})", self.name, self.id)
    }
}

/// The fields of a line whose checksum matches.
pub(super) struct Fields<'a> {
    pub date: &'a str,
    pub what: &'a str,
    pub name: &'a str,
    pub details: &'a str,
}

impl<'a> Fields<'a> {
    /// The fields of a line, without its end.
    pub(super) fn of(line: &'a [u8]) -> Option<Fields<'a>> {
        let (text, sum) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
        // An inventory has millions of lines, so this allocates nothing.
        if sum.as_bytes() != &Digest::of(text.as_bytes()).digits()[..CHECKSUM] {
            return None;
        }
        let (date, rest) = text.split_once(' ')?;
        let (what, rest) = rest.split_once(' ')?;
        let (name, details) = rest.split_once(' ')?;
        Some(Fields { date, what, name, details })
    }
}

fn checksum(text: &[u8]) -> String {
    let mut sum = Digest::of(text).to_string();
    sum.truncate(CHECKSUM);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(change: InventoryChange) -> InventoryLine {
        InventoryLine {
            date: "2026-11-21T02:13:07Z".parse().unwrap(),
            name: "example.org/archive/2026/11.21.02.13.07".parse().unwrap(),
            change,
        }
    }

    #[test]
    fn every_line_reads_back_as_it_was_written() {
        let here = |state| {
            let custody = Custody::first("00000000000000aa".parse().unwrap(), "60cb73fd");
            Here { state, custody, changed: "2026-11-21T02:13:07.5Z".parse().unwrap() }
        };
        let unknown = Here {
            custody: Custody::first("0000000000000001".parse().unwrap(), ""),
            ..here(State::Copy)
        };
        for change in [
            InventoryChange::Entered(here(State::Original)),
            InventoryChange::Found(Some(unknown)),
            InventoryChange::Found(None),
            InventoryChange::Became(here(State::Deleted)),
            InventoryChange::Lost,
        ] {
            let line = line(change);
            let text = line.to_text();
            assert_eq!(InventoryLine::parse(text.trim_end().as_bytes()), Some(line), "{text}");
        }
    }

    #[test]
    fn no_line_with_one_other_bit_is_believed() {
        let text = line(InventoryChange::Lost).to_text();
        let text = text.trim_end().as_bytes();
        for at in 0..text.len() * 8 {
            let mut rotten = text.to_vec();
            rotten[at / 8] ^= 1 << (at % 8);
            assert_eq!(InventoryLine::parse(&rotten), None, "{rotten:?}");
        }
        for length in 0..text.len() {
            assert_eq!(InventoryLine::parse(&text[..length]), None, "{length}");
        }
    }
}
