//! The collections that are checked for the identifiers of rows.

use urepo::collection::Collection;

use super::sources::Sources;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::known::Known;

/// The other known collections. If no row has an identifier, none is opened.
pub(super) fn others(
    context: &Context,
    collection: &Collection,
    sources: &Sources<'_>,
) -> Result<Known, Failure> {
    if !sources.give_names()? {
        return Ok(Known::default());
    }
    context.known_besides(collection, &[])
}
