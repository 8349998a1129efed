//! Issuing identifiers: from which subsystem, and which collection of a machine may issue a prefix.

mod claim;
pub(super) mod elsewhere;
mod entry;
pub(super) mod issuer;
pub(super) mod register;
pub(super) mod series;
pub(super) mod spatial;
