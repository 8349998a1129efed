//! `--force`: the safety rules that a person overrides.

use super::choice::Choice;

/// A safety rule; each command lists those that it can override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Force {
    Damaged,
    Different,
    Last,
    Missing,
    Permanent,
    Twins,
    Untraced,
}

/// The rule of commands that restore Originals.
pub(crate) const MISSING: Choice<Force> = (
    "missing",
    "Restore an Original though a collection that may hold it cannot be checked",
    Force::Missing,
);

impl Force {
    /// `overridden` if this rule is one of the `forced` ones, else the rule as it is.
    pub(crate) fn rule<T: Default>(self, forced: &[Force], overridden: T) -> T {
        if forced.contains(&self) { overridden } else { T::default() }
    }
}
