//! What a file system does not have: mode bits.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use urepo::disk::{Dir, Watcher};

use crate::support::{Faults, Mode, System, scratch};

const EXT4: i128 = 0xef53;
const FAT: i128 = 0x4d44;
const EXFAT: i128 = 0x2011_bab0;
const FUSE: i128 = 0x6573_5546;

/// Everything on the file system with this magic number.
fn mounted(magic: i128) -> Watcher {
    let nothing_fails = Faults::new(Path::new(""), usize::MAX, Mode::Killed);
    Watcher::new(Arc::new(nothing_fails.on(System::Mounted(magic))))
}

/// A mount gives one mode to all: that is no change of each file.
#[test]
fn modes_are_compared_where_they_are_kept() {
    let scratch = scratch();
    let set = |name: &str, mode| {
        let path = scratch.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::write(scratch.path().join("file"), "").unwrap();
    set("", 0o777);
    for (magic, mode, kept) in [
        (EXT4, 0o777, true),
        (EXT4, 0o644, true),
        (FAT, 0o777, false),
        (EXFAT, 0o755, false),
        // Whatever is behind FUSE, it keeps modes if two differ.
        (FUSE, 0o777, false),
        (FUSE, 0o644, true),
    ] {
        set("file", mode);
        let dir = Dir::open(scratch.path(), mounted(magic)).unwrap();
        let stamp = dir.stamp("file").unwrap().unwrap();
        assert_eq!(dir.keeps_mode(&stamp).unwrap(), kept, "{magic:#x}, {mode:o}");
    }
}
