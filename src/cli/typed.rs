//! Typed items: a typed path stays a path, even if its end matches another item.

use std::borrow::Cow;
use std::path::Path;

use urepo::identity::RepositoryName;

/// The typed path of an item, made absolute, if it exists: it may lead into another collection. An identifier
/// is never taken for a path.
pub(crate) fn item<'t>(current: &Path, text: &'t str) -> Cow<'t, str> {
    if !text.contains('/') || text.parse::<RepositoryName>().is_ok() {
        return text.into();
    }
    let path = current.join(text);
    let is_there = path.symlink_metadata().is_ok();
    path.into_os_string().into_string().ok().filter(|_| is_there).map_or(text.into(), Cow::Owned)
}
