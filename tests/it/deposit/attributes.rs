//! Extended attributes of sources: they are not kept, and the loss is counted.

use std::fs::File;

use rustix::fs::XattrFlags;
use rustix::io::Errno;

use super::*;
use crate::support::{Faults, Mode};

/// Gives `file` so many attributes, or says that its file system takes none.
fn give_attributes(file: &File, count: usize) -> bool {
    for number in 0..count {
        let name = format!("user.an-attribute-with-a-long-name-{number}");
        match rustix::fs::fsetxattr(file, &name, b"x", XattrFlags::empty()) {
            Err(Errno::NOTSUP) => {
                eprintln!("skipped: no extended attributes on this file system");
                return false;
            }
            outcome => outcome.unwrap(),
        }
    }
    true
}

/// The names of many take more room than a small buffer has.
#[test]
fn that_are_lost_are_counted_however_many_there_are() {
    for (count, lost) in [(0, 0), (1, 1), (60, 1)] {
        let place = Place::new();
        let source = place.source("a.txt");
        std::fs::write(&source, "alpha").unwrap();
        if !give_attributes(&File::open(&source).unwrap(), count) {
            return;
        }
        let deposited = place.deposit(&source).unwrap();
        assert_eq!(deposited.lost.extended_attributes, lost, "{count} attributes");
    }
}

/// An error is not the answer that there are none.
#[test]
fn that_cannot_be_listed_are_an_error() {
    let scratch = scratch();
    let path = scratch.path().join("a.txt");
    std::fs::write(&path, "alpha").unwrap();
    let failing = Faults::new(scratch.path(), 1, Mode::Once(Errno::IO)).of(Operation::Inspect);
    let file = urepo::disk::StoredFile::open(&path, Watcher::new(Arc::new(failing))).unwrap();
    let error = file.has_extended_attributes().unwrap_err();
    let expected = format!("cannot list the extended attributes of `{}`", path.display());
    assert_eq!(error.to_string(), expected);
    assert!(!file.has_extended_attributes().unwrap());
}
