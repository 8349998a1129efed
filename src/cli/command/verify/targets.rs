//! The targets of `urepo verify`: items, whole collections, or items in several collections.

use std::path::{Path, PathBuf};

use urepo::collection::{Collection, discover};
use urepo::identity::RepositoryName;
use urepo::layout;

use crate::cli::context::{Context, name_of_item};
use crate::cli::failure::Failure;

/// The meaning of the arguments.
pub(super) struct Targets {
    /// Items, in all of the collections.
    pub(super) items: Vec<String>,
    /// The collections, opened, each once.
    pub(super) roots: Vec<Collection>,
    /// The collections are among the arguments.
    pub(super) names_roots: bool,
}

/// Reads the arguments: items, collections, or both.
pub(super) fn of(context: &Context, texts: &[String]) -> Result<Targets, Failure> {
    let (roots, items): (Vec<_>, Vec<_>) =
        texts.iter().cloned().partition(|text| is_root(context, text));
    let names_roots = !roots.is_empty();
    let roots = if names_roots { open(context, &roots)? } else { vec![context.collection()?] };
    Ok(Targets { items, roots, names_roots })
}

/// Whether `text` is the name of a collection in the settings, or the path of a root. A path outside all
/// collections counts as a root that is not mounted, and one with a ledger as a collection that lost its settings.
fn is_root(context: &Context, text: &str) -> bool {
    let path = context.collection_path(text);
    context.config.collections.contains_key(text)
        || discover::enclosing(&path)
            .map_or_else(|_| text.starts_with(['/', '.']) || has_own(&path), |root| root == path)
}

fn has_own(root: &Path) -> bool {
    root.join(layout::OWN).is_dir()
}

fn open(context: &Context, texts: &[String]) -> Result<Vec<Collection>, Failure> {
    let mut roots: Vec<Collection> = Vec::new();
    for text in texts {
        // Without the `.` and the final `/`, which would be in every line.
        let path: PathBuf = context.collection_path(text).components().collect();
        let root = context.open(&path)?;
        // A root that is named twice, or also by a link, is one root.
        let is_same = |seen: &Collection| seen.has_same_root(&root);
        if !roots.iter().map(is_same).collect::<Result<Vec<_>, _>>()?.contains(&true) {
            roots.push(root);
        }
    }
    if context.global.collection.is_some() {
        return Err(Failure::usage("the collections are named twice, by `-c` and by their roots")
            .hint("name all of them after `verify`"));
    }
    Ok(roots)
}

impl Targets {
    /// The item that `text` refers to in the collections. A vanished item is damage, which its verification
    /// reports.
    pub(super) fn find(&self, text: &str) -> Result<RepositoryName, Failure> {
        let mut found: Option<(&Collection, RepositoryName)> = None;
        let mut absence = None;
        for root in &self.roots {
            let name = match name_of_item(root, text) {
                Ok(name) => name,
                Err(error) if error.is_absence() => {
                    absence.get_or_insert(error);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            match &found {
                Some((first, other)) if *other != name => {
                    let (first, root) = (first.path().display(), root.path().display());
                    return Err(Failure::usage(format!(
                        "`{text}` is `{other}` in `{first}` and `{name}` in `{root}`"
                    ))
                    .hint("give the whole identifier"));
                }
                Some(_) => {}
                None => found = Some((root, name)),
            }
        }
        match (found, absence.map(Failure::from)) {
            (Some((_, name)), _) => Ok(name),
            (None, Some(failure)) if self.names_roots => {
                Err(failure.caused_by(format!("`{text}` is not a collection either")))
            }
            (None, failure) => {
                Err(failure.unwrap_or_else(|| Failure::usage("no collection was given")))
            }
        }
    }
}
