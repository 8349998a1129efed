//! Reliable sidecars: sealed and consistent.

use std::path::Path;

use super::TransferError;
use crate::collection::{CollectionError, ReadSidecar, StoredItem};
use crate::item::Totals;
use crate::layout;
use crate::sidecar::Seal;

/// The sidecar of `item`, in the collection at `root`, if it is reliable.
pub(super) fn sealed(
    item: &StoredItem,
    read: Result<ReadSidecar, CollectionError>,
    root: &Path,
) -> Result<ReadSidecar, TransferError> {
    let read = read.map_err(|error| unusable(item, error, root))?;
    let detail = match read.seal {
        Seal::Broken { .. } => "it was changed after it was sealed",
        Seal::Missing => "it has no seal",
        Seal::Intact if Totals::of(&read.sidecar.files) != read.sidecar.payload => {
            "its totals do not agree with its entries"
        }
        Seal::Intact => return Ok(read),
    };
    Err(damaged(item, detail.to_owned(), root))
}

/// The error for an unusable sidecar.
pub(super) fn unusable(item: &StoredItem, error: CollectionError, root: &Path) -> TransferError {
    let detail = match error {
        CollectionError::Sidecar { cause, .. } => cause.to_string(),
        CollectionError::NoSidecar { .. } => "it is missing".to_owned(),
        CollectionError::OtherSidecar { found, .. } => format!("it is that of `{found}`"),
        error => return error.into(),
    };
    damaged(item, detail, root)
}

fn damaged(item: &StoredItem, detail: String, root: &Path) -> TransferError {
    TransferError::Damaged {
        path: item.path_of(layout::SIDECAR),
        detail,
        name: item.name().clone(),
        collection: root.to_path_buf(),
    }
}
