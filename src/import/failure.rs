//! Failures of a source, which last until somebody changes the source.

use std::io::ErrorKind;
use std::path::Path;

use super::ImportError;
use super::ledger::ReportedFailure;
use super::look::Scanner;
use crate::deposit::{DepositError, SourcePlace};
use crate::digest::Digest;
use crate::disk::{Exclusion, FileFault, PathError};

/// Whether an error concerns the source at `path`, and not the disk, the collection or another process.
pub(super) fn is_of_source(error: &ImportError, path: &Path) -> bool {
    use DepositError as Deposit;
    match error {
        ImportError::Bag { .. } => true,
        ImportError::Disk(error) => is_refused(error, path),
        ImportError::Deposit(error) => match error.as_ref() {
            Deposit::Special { .. }
            | Deposit::Links(_)
            | Deposit::Link { .. }
            | Deposit::Twins { .. }
            | Deposit::NoName { .. }
            | Deposit::Nothing { .. }
            | Deposit::File(FileFault::Time(_))
            | Deposit::DeletedHere { .. }
            | Deposit::TooManyFiles { .. }
            | Deposit::Mismatch { .. }
            | Deposit::PayloadMismatch { .. }
            | Deposit::NotListed { .. }
            | Deposit::NotThere { .. } => true,
            Deposit::Disk(error) => is_refused(error, path),
            _ => false,
        },
        _ => false,
    }
}

/// Whether the bytes or files of a source differ from its row or bag.
pub(super) fn is_contradiction(error: &ImportError) -> bool {
    use DepositError::{Mismatch, NotListed, NotThere, PayloadMismatch};
    match error {
        ImportError::Bag { .. } => true,
        ImportError::Deposit(error) => matches!(
            error.as_ref(),
            Mismatch { .. } | PayloadMismatch { .. } | NotListed { .. } | NotThere { .. }
        ),
        _ => false,
    }
}

/// Whether the source became an item that was deleted.
pub(super) fn is_deleted_here(error: &ImportError) -> bool {
    matches!(error, ImportError::Deposit(error) if matches!(**error, DepositError::DeletedHere { .. }))
}

/// Whether the system refuses access to the source. A bad sector or a shortage of memory is not a fault of
/// the source.
fn is_refused(error: &PathError, path: &Path) -> bool {
    let lasts = matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound);
    (lasts || error.is_link()) && error.path().starts_with(path)
}

/// The failure of a source for a `reason`. It differs if the source or the reason changes.
pub(super) fn reported(place: &SourcePlace, reason: &str, looker: &Scanner) -> ReportedFailure {
    use std::os::unix::ffi::OsStringExt;
    let changed = looker.times(place).ok().map(|[_, changed]| changed);
    let look = looker.look(place, &Exclusion::default(), &|_| false);
    let look = look.ok().map(|look| (look.shape, look.changed));
    let state = Digest::of(format!("{reason}\n{changed:?}\n{look:?}").as_bytes());
    ReportedFailure { state, source: place.path().into_os_string().into_vec() }
}
