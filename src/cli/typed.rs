//! Items as they are typed: a path that was typed is one, whatever its end means elsewhere.

use std::borrow::Cow;
use std::path::Path;

use urepo::identity::RepositoryName;

/// The path that was typed for an item, from the root of the file system on, where there is something at it: it may lead
/// into another collection. An identifier is never taken for a path.
pub(crate) fn item<'t>(current: &Path, text: &'t str) -> Cow<'t, str> {
    if !text.contains('/') || text.parse::<RepositoryName>().is_ok() {
        return text.into();
    }
    let path = current.join(text);
    let is_there = path.symlink_metadata().is_ok();
    path.into_os_string().into_string().ok().filter(|_| is_there).map_or(text.into(), Cow::Owned)
}
