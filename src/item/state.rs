//! The state of an item in one collection.

use std::fmt;
use std::str::FromStr;

/// The state of an item in a collection [resolution standard 5.2]. It follows from the custody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// The one Original; over all collections there is exactly one.
    Original,
    /// A Copy of an Original that another collection holds.
    Copy,
    /// A stub: the item is in another collection; only a sidecar without files is left here.
    Elsewhere,
    /// Deleted: only the sidecar is left, a tombstone.
    Deleted,
}

/// A text that is not a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a state; expected `Original`, `Copy`, `Elsewhere` or `Deleted`")]
pub struct UnknownState(pub String);

/// A text that is no states.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}, with commas between them, or `any`")]
pub struct UnknownStates(UnknownState);

impl State {
    /// Whether the payload belongs beside a sidecar with this state.
    pub fn has_payload(self) -> bool {
        matches!(self, State::Original | State::Copy)
    }
}

/// Some of the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States(u8);

impl States {
    /// All of them.
    pub const ANY: States = States(0b1111);

    /// Those of a payload.
    pub const WITH_PAYLOAD: States = States(0b0011);

    /// Whether `state` is one of them.
    pub fn contains(self, state: State) -> bool {
        self.0 & (1 << state as u8) != 0
    }
}

impl From<State> for States {
    fn from(state: State) -> States {
        States(1 << state as u8)
    }
}

impl FromStr for States {
    type Err = UnknownStates;

    /// Reads states with commas between them, or `any`.
    fn from_str(text: &str) -> Result<States, UnknownStates> {
        if text.eq_ignore_ascii_case("any") {
            return Ok(States::ANY);
        }
        text.split(',').try_fold(States(0), |states, text| {
            Ok(States(
                states.0 | States::from(text.trim().parse::<State>().map_err(UnknownStates)?).0,
            ))
        })
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            State::Original => "Original",
            State::Copy => "Copy",
            State::Elsewhere => "Elsewhere",
            State::Deleted => "Deleted",
        })
    }
}

impl FromStr for State {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<State, UnknownState> {
        [State::Original, State::Copy, State::Elsewhere, State::Deleted]
            .into_iter()
            .find(|state| state.to_string().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownState(text.to_owned()))
    }
}
