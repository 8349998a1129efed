//! `--force`: the safety rules that a person overrides.

/// A safety rule; each command lists those that it can override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Force {
    Clock,
    Damaged,
    Last,
    Missing,
    Permanent,
    Twins,
}

impl Force {
    /// `overridden` if this rule is one of the `forced` ones, else the rule as it is.
    pub(crate) fn rule<T: Default>(self, forced: &[Force], overridden: T) -> T {
        if forced.contains(&self) { overridden } else { T::default() }
    }
}
