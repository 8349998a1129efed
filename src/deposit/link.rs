//! Links that the rule of links refuses.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::disk::{Links, stat_of};

/// Limit on the refused links of a source that are named.
const NAMED: usize = 5;

/// A link that the rule of links refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedLink {
    /// The link.
    pub path: PathBuf,
    /// Its text.
    pub target: String,
    /// Why it is refused.
    pub fault: LinkFault,
}

/// Why a link is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// It leads out of the item.
    Leaves,
    /// It leads out of the item, and is dangling.
    LeavesDangling,
    /// It should be followed, but is dangling.
    Dangling,
    /// It should be followed, but leads in a circle.
    Loop,
    /// Links are refused altogether.
    Refused,
}

impl LinkFault {
    /// The fault of the link at `path`, which leads out of the item.
    pub(super) fn leaving(path: &Path) -> LinkFault {
        // Nothing is opened: the answer is for the message alone.
        match stat_of(path, Links::Follow) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => LinkFault::LeavesDangling,
            _ => LinkFault::Leaves,
        }
    }

    /// Whether its target could not be deposited.
    fn leads_nowhere(self) -> bool {
        matches!(self, LinkFault::LeavesDangling | LinkFault::Dangling | LinkFault::Loop)
    }
}

impl fmt::Display for RefusedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, target) = (self.path.display(), &self.target);
        match self.fault {
            LinkFault::Leaves => {
                write!(f, "the link `{path}` leads out of the item, to `{target}`")
            }
            LinkFault::LeavesDangling => {
                write!(f, "the link `{path}` leads out of the item and is dangling: no `{target}`")
            }
            LinkFault::Dangling => write!(f, "the link `{path}` is dangling: no `{target}`"),
            LinkFault::Loop => write!(f, "the link `{path}` leads in a circle, by `{target}`"),
            LinkFault::Refused => write!(f, "`{path}` is a symbolic link"),
        }
    }
}

/// The refused links of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusedLinks {
    /// The source.
    pub source: PathBuf,
    /// The first of the links.
    pub named: Vec<RefusedLink>,
    /// Their number.
    pub count: usize,
    /// The number of those whose target could not be deposited.
    pub lead_nowhere: usize,
}

impl RefusedLinks {
    pub(super) fn add(&mut self, link: RefusedLink) {
        self.count += 1;
        self.lead_nowhere += usize::from(link.fault.leads_nowhere());
        if self.named.len() < NAMED {
            self.named.push(link);
        }
    }
}

impl fmt::Display for RefusedLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.named.as_slice() {
            [only] => only.fmt(f),
            _ => write!(f, "{} links of `{}` are refused", self.count, self.source.display()),
        }
    }
}
