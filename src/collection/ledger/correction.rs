//! One correction of the ledger: an item whose holding differs from its last line.

use std::fmt;

use super::{Here, Unlogged};
use crate::identity::RepositoryName;
use crate::item::State;

/// An addition that makes the ledger agree with an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The item.
    pub name: RepositoryName,
    /// The recorded state, if any.
    pub was: Option<State>,
    /// The present holding.
    pub is: Actual,
}

/// The holding of an item that differs from its last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actual {
    /// Nothing: the item is given up as lost.
    Lost,
    /// It is here, in a state that cannot be read.
    Unreadable,
    /// It is here.
    Here(Here),
    /// It is here above its line, which it does not follow, or though it was given up: perhaps it was copied in by hand.
    Foreign {
        /// The holding by the line. `None` if it was given up.
        from: Option<Here>,
        /// The present one.
        to: Here,
    },
}

impl Correction {
    /// The correction for an item that is above its line.
    pub(in crate::collection) fn of_unlogged(unlogged: Unlogged) -> Correction {
        let Unlogged { line, is, is_continued, .. } = unlogged;
        let (name, was) = (line.id.clone(), line.state());
        let is = if is_continued {
            Actual::Here(is)
        } else {
            Actual::Foreign { from: line.holding, to: is }
        };
        Correction { name, was, is }
    }

    /// The correction for an item that was given up, and is `here` again.
    pub(super) fn of_returned(name: RepositoryName, here: Here) -> Correction {
        Correction { name, was: None, is: Actual::Foreign { from: None, to: here } }
    }
}

impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.is, self.was) {
            (Actual::Lost, Some(was)) => write!(f, "given up as lost, was {was}"),
            (Actual::Lost, None) => f.write_str("given up as lost"),
            (Actual::Unreadable, _) => f.write_str("taken in"),
            (Actual::Here(here) | Actual::Foreign { to: here, .. }, None) => {
                write!(f, "taken in, is {}", here.state)
            }
            (Actual::Here(here) | Actual::Foreign { to: here, .. }, Some(was)) => {
                write!(f, "was {was}, is {}", here.state)
            }
        }
    }
}
