//! Exit codes: documented, stable, each one tested.

/// The end of a command. The closing JSON record has the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Success = 0,
    /// The command failed.
    Failure = 1,
    /// The command line cannot be understood; only that.
    Usage = 2,
    /// Finished, but some items failed or were skipped.
    Partial = 3,
    /// The collection does not exist.
    NoCollection = 10,
    /// Another process holds a lock.
    Locked = 11,
    /// Damage was found.
    Damage = 20,
    /// The item does not exist.
    NoItem = 21,
    /// The item is deleted.
    Deleted = 22,
    /// A name, a state or a second Original is in the way.
    Conflict = 23,
    /// An identifier would have to wait longer than `--max-wait`.
    WouldWait = 24,
    /// Stopped by a signal.
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
