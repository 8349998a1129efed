//! Changes that fail or are killed at any file operation.

use std::sync::Arc;

use rustix::io::Errno;

use super::*;
use crate::support::{Faults, Mode, System, between_users, first_user, recovered_whole};

#[test]
fn a_change_that_fails_anywhere_is_made_or_not() {
    for mode in [Mode::Killed, Mode::DISK, Mode::ANY] {
        for at in System::Own.points() {
            let archive = Archive::new();
            let (before, root) = (archive.sidecar(), archive.world.path("archive"));
            let faults = Arc::new(Faults::new(&root, at, mode).of_changes());
            let collection = Collection::open(&root, &Watcher::new(Arc::clone(&faults) as _));
            let done = first_user(|| {
                let name = archive.name.parse().unwrap();
                let amendment = Amendment { name, change: Box::new(entitled("Letter")) };
                amend(&collection?, "2026-12-01T00:00:00Z", amendment)
            });
            let after = archive.sidecar();
            let is_changed = after.metadata.title() == Some("Letter");
            assert!(is_changed || after == before, "{mode:?} at {at}");
            assert!(is_changed || done.is_err(), "{mode:?} at {at}");
            archive.entitle("Letter").unwrap();
            assert_eq!(archive.sidecar().metadata.title(), Some("Letter"), "{mode:?} at {at}");
            assert_eq!(whole_items(&archive.open()), std::slice::from_ref(&archive.name));
            recovered_whole(&root, &format!("{mode:?} at {at}"));
            if faults.struck().is_none() {
                assert!(at > 5, "only {at} operations were made to fail");
                break;
            }
        }
    }
}

#[test]
fn between_two_users() {
    between_users(a_change_that_fails_anywhere_is_made_or_not);
}

/// From the first write on, the disk has no room.
struct Full;

impl urepo::disk::Watch for Full {
    fn before(
        &self,
        operation: urepo::disk::Operation,
        path: &std::path::Path,
    ) -> std::io::Result<()> {
        let is_sidecar = path.to_string_lossy().contains("/staging/");
        let writes = operation == urepo::disk::Operation::Write && is_sidecar;
        if writes { Err(Errno::NOSPC.into()) } else { Ok(()) }
    }
}

#[test]
fn on_a_full_disk_the_description_stays() {
    let archive = Archive::new();
    let before = archive.text();
    let root = archive.world.path("archive");
    let collection = Collection::open(&root, &Watcher::new(Arc::new(Full))).unwrap();
    let name = archive.name.parse().unwrap();
    let amendment = Amendment { name, change: Box::new(entitled("Letter")) };
    let error = amend(&collection, "2026-12-01T00:00:00Z", amendment).unwrap_err();
    assert!(matches!(&error, AmendError::Disk(disk) if disk.is_full()), "{error}");
    assert_eq!(archive.text(), before);
    drop(collection);
    recovered_whole(&root, "full");
}
