//! Collections on the web: the archive service, its content and its pages, over connections.

mod announcing;
mod content;
mod conversation;
mod damage;
mod front;
mod hosts;
mod labels;
mod limits;
mod pages;
mod program;
mod random;
mod sidecars;
mod site;

pub(crate) use front::{Front, refuses_ambiguous_requests};
pub(crate) use program::Running;
pub(crate) use random::{PIECES, Random};
pub(crate) use site::{Answered, Site};
