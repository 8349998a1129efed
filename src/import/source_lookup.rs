//! Which items sources became, asked of the ledger.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::ImportError;
use super::ledger::{Entry, Imported};
use crate::identity::RepositoryName;

/// The line of the ledger about a source that fits. It is asked for briefly, as the other side of the run writes into
/// it: not held while a source is looked at.
pub(super) type LedgerQuery<'a> =
    dyn Fn(&[u8], &dyn Fn(&Entry) -> bool) -> Result<Option<Imported>, ImportError> + 'a;

/// The item that the source at `path` became.
pub(super) fn item_of_source(
    ledger: &LedgerQuery<'_>,
    path: &Path,
) -> Result<Option<RepositoryName>, ImportError> {
    // A name stays what it is, wherever its item is.
    let imported = ledger(path.as_os_str().as_bytes(), &|_| true)?;
    Ok(imported.map(|it| it.entry.name))
}
