//! How identifiers are issued: from the subsystems of a collection.

pub(super) mod issuer;
pub(super) mod spatial;
