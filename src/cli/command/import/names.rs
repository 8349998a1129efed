//! The collections that are checked for the identifiers of rows.

use urepo::collection::Collection;

use super::sources::Sources;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::known::Known;

/// The other known collections, and those that share a memory with `collection`. If no row has an identifier,
/// none is opened.
pub(super) fn others(
    context: &Context,
    collection: &Collection,
    sources: &Sources<'_>,
) -> Result<Known, Failure> {
    if !sources.give_names()? {
        return Ok(Known::default());
    }
    let mut known = context.known_besides(collection, &[])?;
    // They issue names of one prefix, even if the settings do not name them.
    for (id, root) in collection.sharing()? {
        if known.collections.iter().any(|other| other.id() == id) {
            continue;
        }
        match context.open(&root) {
            Ok(other) if other.id() == id => known.collections.push(other),
            Ok(_) | Err(_) => known.missing_names.push(root.display().to_string()),
        }
    }
    Ok(known)
}
