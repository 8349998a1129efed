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
    Prefix,
    Twins,
    Unseen,
    Untraced,
}

/// The rule of commands that create a collection.
pub(crate) const PREFIX: Choice<Force> = (
    "prefix",
    "Another collection of this machine issues identifiers of this host or IBIps of this address, or did; from now \
     on only this one does. If the other one cannot be read, identifiers that it issued for later dates, while its \
     clock was ahead, can be issued a second time",
    Force::Prefix,
);

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
