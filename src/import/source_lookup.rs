//! Looking up the items of sources in the ledger.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::ImportError;
use super::sources::{Entry, Imported};
use crate::identity::RepositoryName;

/// The line of the ledger about a source that fits. The ledger is locked only briefly, because the other side
/// of the run writes into it.
pub(super) type SourceQuery<'a> =
    dyn Fn(&[u8], &dyn Fn(&Entry) -> bool) -> Result<Option<Imported>, ImportError> + 'a;

/// The item of the source at `path`.
pub(super) fn item_of_source(
    known: &SourceQuery<'_>,
    path: &Path,
) -> Result<Option<RepositoryName>, ImportError> {
    // A name is valid wherever its item is.
    let imported = known(path.as_os_str().as_bytes(), &|_| true)?;
    Ok(imported.map(|it| it.entry.name))
}
