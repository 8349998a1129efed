//! What is to be verified: items of one collection, or whole collections.

use std::path::PathBuf;

use urepo::collection::{Collection, CollectionError, discover};

use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// What the arguments mean.
pub(super) enum Target<'a> {
    /// Items of the collection that is meant.
    Items(&'a [String]),
    /// These collections, opened, each once.
    Roots(Vec<Collection>),
}

/// Reads the arguments: all of them items, or all of them collections.
pub(super) fn of<'a>(context: &Context, texts: &'a [String]) -> Result<Target<'a>, Failure> {
    if texts.is_empty() {
        return Ok(Target::Roots(vec![context.collection()?]));
    }
    let (roots, items): (Vec<_>, Vec<_>) = texts.iter().partition(|text| is_root(context, text));
    match (roots.as_slice(), items.as_slice()) {
        ([], _) => Ok(Target::Items(texts)),
        (_, []) => open(context, texts).map(Target::Roots),
        ([root, ..], [item, ..]) => Err(Failure::usage(format!(
            "`{root}` is a collection and `{item}` is not: name items or collections, not both"
        ))
        .hint("`-c COLLECTION` names the collection of the items")),
    }
}

/// Whether `text` is the name of a collection in the settings, or the path of a root.
fn is_root(context: &Context, text: &str) -> bool {
    let path = context.collection_path(text);
    context.config.collections.contains_key(text)
        || discover::enclosing(&path).is_ok_and(|root| root == path)
}

fn open(context: &Context, texts: &[String]) -> Result<Vec<Collection>, Failure> {
    if context.global.collection.is_some() {
        return Err(Failure::usage("the collections are named twice, by `-c` and by their roots")
            .hint("name all of them after `verify`"));
    }
    let (mut roots, mut seen) = (Vec::new(), Vec::new());
    for text in texts {
        // Without the `.` and the `/` at the end that would stand in every line.
        let path: PathBuf = context.collection_path(text).components().collect();
        let root = match context.open(&path) {
            Err(CollectionError::NotACollection { .. }) => context.open_named(text)?,
            opened => opened?,
        };
        // A root that is named twice, or by a link as well, is still one.
        let identity = root.root().own_stat()?.identity;
        if !seen.contains(&identity) {
            seen.push(identity);
            roots.push(root);
        }
    }
    Ok(roots)
}
