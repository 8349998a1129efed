//! Identifiers in rows, and the collections that are checked for them.

use clap::ValueEnum;

use urepo::collection::Collection;
use urepo::deposit::CollisionRule;
use urepo::holdings::UnseenRule;

use super::sources::Sources;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::known::Known;

/// The safety rules that can be overridden.
#[derive(Debug, clap::Args)]
pub(super) struct ForceArgs {
    /// Override a rule: `twins` keeps names that differ in case or Unicode form only; `missing` takes rows with
    /// identifiers though a known collection cannot be opened
    #[arg(long, value_name = "RULE")]
    force: Vec<Rule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// Keep names that are the same name on some file systems
    Twins,
    /// Take rows with identifiers though a known collection cannot be opened
    Missing,
}

impl ForceArgs {
    pub(super) fn twins(&self) -> CollisionRule {
        if self.force.contains(&Rule::Twins) { CollisionRule::Keep } else { CollisionRule::Refuse }
    }

    pub(super) fn unseen(&self) -> UnseenRule {
        if self.force.contains(&Rule::Missing) { UnseenRule::Accept } else { UnseenRule::Refuse }
    }
}

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
