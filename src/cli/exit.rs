//! Exit codes: documented, stable, each one tested.

/// The end of a command. The closing JSON record has the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    Failure = 1,
    Usage = 2,
    Partial = 3,
    NoCollection = 10,
    Locked = 11,
    Damage = 20,
    NoItem = 21,
    Deleted = 22,
    Conflict = 23,
    WouldWait = 24,
    Interrupted = 130,
}

impl Exit {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// The table of exit codes, for the manual.
pub(crate) const TABLE: &[(Exit, &str)] = &[
    (Exit::Success, "everything was done"),
    (Exit::Failure, "the command failed"),
    (Exit::Usage, "the command line cannot be understood"),
    (Exit::Partial, "finished, but some items failed or were skipped"),
    (Exit::NoCollection, "the collection does not exist"),
    (Exit::Locked, "another process holds a lock"),
    (Exit::Damage, "damage was found"),
    (Exit::NoItem, "the item does not exist"),
    (Exit::Deleted, "the item is deleted"),
    (Exit::Conflict, "an identifier, a state or a second Original is in the way"),
    (Exit::WouldWait, "an identifier would have to wait longer than --max-wait"),
    (Exit::Interrupted, "stopped by a signal"),
];
