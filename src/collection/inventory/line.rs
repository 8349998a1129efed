//! One line of the inventory: readable text, used only if its checksum matches.
//!
//! `DATE WHAT NAME DETAILS CHECKSUM`, separated by single spaces:
//!
//! ```text
//! 2026-11-21T02:13:07Z entered example.org/archive/2026/11.21.02.13.07 Original 5a0c3f1e
//! 2026-11-23T10:00:00Z became example.org/archive/2026/11.21.02.13.07 Copy 77b0c2d4
//! 2026-11-24T08:30:00Z left example.org/archive/2026/11.21.02.13.07 migrated 60cb73fd… mirror 9d0e11aa
//! ```

use std::fmt;

use crate::digest::Digest;
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::item::State;

/// Number of hexadecimal digits of the SHA-256 at the end of a line.
const CHECKSUM: usize = 8;
/// The mark after a line that a crash cut short: no process had relied on it.
pub(super) const TORN: &str = " torn\n";

/// A change of the presence or state of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InventoryChange {
    /// It arrived: deposited, copied, adopted, or restored.
    Entered(State),
    /// It was found here without a record of its arrival. The state is `None` if it could not be read.
    Found(Option<State>),
    /// Its state changed.
    Became(State),
    /// It left.
    Left(Departure),
}

/// The departure of an item from a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It is in this collection now.
    Migrated(CollectionRef),
    /// It was removed, because this collection holds the same Copy, or the other Original.
    Dropped(CollectionRef),
    /// The Copy was deleted.
    Deleted,
    /// It vanished, and a person accepted that.
    Lost,
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
    /// The state of the item after it, if known; `None` after it left.
    pub fn state(&self) -> Option<State> {
        match self.change {
            InventoryChange::Entered(state) | InventoryChange::Became(state) => Some(state),
            InventoryChange::Found(state) => state,
            InventoryChange::Left(_) => None,
        }
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
            "entered" => InventoryChange::Entered(details.parse().ok()?),
            "found" if details == UNKNOWN => InventoryChange::Found(None),
            "found" => InventoryChange::Found(Some(details.parse().ok()?)),
            "became" => InventoryChange::Became(details.parse().ok()?),
            "left" => InventoryChange::Left(Departure::parse(details)?),
            _ => return None,
        };
        let (name, _) = RepositoryName::parse_as_found(name).ok()?;
        Some(InventoryLine { date: date.parse().ok()?, name, change })
    }
}

/// The word for a state that could not be read.
const UNKNOWN: &str = "unknown";

impl InventoryChange {
    fn word(&self) -> &'static str {
        match self {
            InventoryChange::Entered(_) => "entered",
            InventoryChange::Found(_) => "found",
            InventoryChange::Became(_) => "became",
            InventoryChange::Left(_) => "left",
        }
    }

    fn details(&self) -> String {
        match self {
            InventoryChange::Entered(state)
            | InventoryChange::Became(state)
            | InventoryChange::Found(Some(state)) => state.to_string(),
            InventoryChange::Found(None) => UNKNOWN.to_owned(),
            InventoryChange::Left(departure) => departure.to_text(),
        }
    }
}

impl Departure {
    fn to_text(&self) -> String {
        match self {
            Departure::Migrated(to) => format!("migrated {}", to.to_text()),
            Departure::Dropped(to) => format!("dropped {}", to.to_text()),
            Departure::Deleted => "deleted".to_owned(),
            Departure::Lost => "lost".to_owned(),
        }
    }

    fn parse(text: &str) -> Option<Departure> {
        let (how, rest) = text.split_once(' ').unwrap_or((text, ""));
        let destination = || {
            let (id, name) = rest.split_once(' ')?;
            Some(CollectionRef { id: id.to_owned(), name: name.to_owned() })
        };
        Some(match how {
            "migrated" => Departure::Migrated(destination()?),
            "dropped" => Departure::Dropped(destination()?),
            "deleted" => Departure::Deleted,
            "lost" => Departure::Lost,
            _ => return None,
        })
    }
}

/// The change, in words.
impl fmt::Display for InventoryLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.date.floor(SECOND);
        match &self.change {
            InventoryChange::Left(departure) => write!(f, "it was {departure} on {date}"),
            InventoryChange::Entered(_) => write!(f, "it came on {date}"),
            InventoryChange::Found(_) => write!(f, "it was found on {date}"),
            InventoryChange::Became(state) => write!(f, "it became {state} on {date}"),
        }
    }
}

/// In words.
impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Departure::Migrated(to) => write!(f, "migrated to {to}"),
            Departure::Dropped(to) => write!(f, "removed, as {to} holds it"),
            Departure::Deleted => f.write_str("deleted"),
            Departure::Lost => f.write_str("given up as lost"),
        }
    }
}

impl fmt::Display for CollectionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the collection `{}` ({})", self.name, self.id)
    }
}

impl CollectionRef {
    fn to_text(&self) -> String {
        // A person chose the name; the record has to stay one line.
        format!("{} {}", self.id, self.name.replace(char::is_control, " "))
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
        let to = || CollectionRef { id: "60cb73fd".to_owned(), name: "the other house".to_owned() };
        for change in [
            InventoryChange::Entered(State::Original),
            InventoryChange::Found(Some(State::Copy)),
            InventoryChange::Found(None),
            InventoryChange::Became(State::Deleted),
            InventoryChange::Left(Departure::Migrated(to())),
            InventoryChange::Left(Departure::Dropped(to())),
            InventoryChange::Left(Departure::Deleted),
            InventoryChange::Left(Departure::Lost),
        ] {
            let line = line(change);
            let text = line.to_text();
            assert_eq!(InventoryLine::parse(text.trim_end().as_bytes()), Some(line), "{text}");
        }
    }

    #[test]
    fn no_line_with_one_other_bit_is_believed() {
        let text = line(InventoryChange::Entered(State::Original)).to_text();
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

    #[test]
    fn the_name_of_a_collection_does_not_end_a_line() {
        let to = CollectionRef { id: "1".to_owned(), name: "two\nlines".to_owned() };
        let text = line(InventoryChange::Left(Departure::Migrated(to))).to_text();
        assert_eq!(text.matches('\n').count(), 1);
        assert!(InventoryLine::parse(text.trim_end().as_bytes()).is_some());
    }
}
