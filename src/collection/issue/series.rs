//! The series of identifiers in the register: names, and their IBIps.

use std::fmt;

use crate::collection::Subsystem;
use crate::identity::{IbipPrefix, Prefix};
use crate::layout;

/// A series of identifiers, whose dates come from only one memory of a machine.
#[derive(Clone, Debug)]
pub enum Series {
    /// The names of a subsystem.
    Names(Prefix),
    /// Their IBIps.
    Ibips(IbipPrefix),
}

impl Series {
    /// The file of its entry.
    pub(super) fn file(&self) -> String {
        match self {
            Series::Names(prefix) => layout::register_file(prefix),
            Series::Ibips(prefix) => layout::register_file_of_ibips(prefix),
        }
    }

    /// Whether `subsystem` issues it.
    pub(super) fn is_of(&self, subsystem: &Subsystem) -> bool {
        match self {
            Series::Names(prefix) => {
                subsystem.prefix().is_ok_and(|found| found.subsystem() == prefix.subsystem())
            }
            Series::Ibips(prefix) => {
                subsystem.ibip_prefix().is_ok_and(|it| it.as_ref() == Some(prefix))
            }
        }
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Series::Names(prefix) => write!(f, "identifiers of `{prefix}`"),
            Series::Ibips(prefix) => match prefix.endpoint() {
                Ok(address) => write!(f, "IBIps of `{address}`"),
                Err(_) => write!(f, "IBIps of `{prefix}`"),
            },
        }
    }
}
