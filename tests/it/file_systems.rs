//! What a file system does not have: locks that reach other machines, lasting inodes, mode bits.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use urepo::collection::{Collection, CollectionError, Issuer, Subsystem};
use urepo::disk::{Dir, Watcher};

use crate::support::{
    Faults, Mode, System, TestClock, agent, init, issue_options, make_collection, scratch,
};

const EXT4: i128 = 0xef53;
const XFS: i128 = 0x5846_5342;
const FAT: i128 = 0x4d44;
const EXFAT: i128 = 0x2011_bab0;
const FUSE: i128 = 0x6573_5546;

/// Everything on the file system with this magic number.
fn mounted(magic: i128) -> Watcher {
    let nothing_fails = Faults::new(Path::new(""), usize::MAX, Mode::Killed);
    Watcher::new(Arc::new(nothing_fails.on(System::Mounted(magic))))
}

/// Two machines may get one date where a kernel lock does not reach from one to the other.
#[test]
fn names_are_not_issued_from_a_network_file_system_unasked() {
    const NETWORKS: [(i128, &str); 15] = [
        (0x6969, "NFS"),
        (0xff53_4d42, "SMB"),
        (0xfe53_4d42, "SMB"),
        (0x517b, "SMB"),
        (0x0102_1997, "9P"),
        (FUSE, "FUSE"),
        (0x00c3_6400, "CephFS"),
        (0x5346_414f, "AFS"),
        (0x6b41_4653, "AFS"),
        (0x7375_7245, "Coda"),
        (0x0bd0_0bd0, "Lustre"),
        (0x4750_4653, "GPFS"),
        (0x1983_0326, "BeeGFS"),
        (0x7461_636f, "OCFS2"),
        (0x0116_1970, "GFS2"),
    ];
    let scratch = scratch();
    let [root, trusted] = ["archive", "trusted"].map(|name| scratch.path().join(name));
    make_collection(&root);
    // A memory belongs to the file system that it was made on.
    let subsystem = Subsystem::new("archive.example.org".parse().unwrap());
    init(&trusted, "archive", subsystem, &mounted(FUSE)).unwrap();
    let clock = TestClock::at("2026-11-21T02:13:20Z");
    let issue = |root: &Path, magic| {
        let collection = Collection::open(root, &mounted(magic)).unwrap();
        Issuer::new(&collection, &agent(), &clock, &issue_options())?.issue(1).map(drop)
    };
    for (magic, name) in NETWORKS {
        match issue(&root, magic) {
            Err(CollectionError::NetworkFileSystem { file_system, .. }) => {
                assert_eq!(file_system, name);
            }
            outcome => panic!("{name}: {outcome:?}"),
        }
    }
    issue(&root, XFS).unwrap();
    let settings = trusted.join("urepo.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("network = \"trusted\"\n{text}")).unwrap();
    issue(&trusted, FUSE).unwrap();
}

#[test]
fn inodes_last_only_where_the_file_system_stores_them() {
    let scratch = scratch();
    for (magic, last) in [(EXT4, true), (FAT, false), (EXFAT, false), (FUSE, false)] {
        let dir = Dir::open(scratch.path(), mounted(magic)).unwrap();
        assert_eq!(dir.has_lasting_inodes().unwrap(), last, "{magic:#x}");
    }
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
        let stamp = dir.stat("file").unwrap().unwrap();
        assert_eq!(dir.keeps_mode(&stamp).unwrap(), kept, "{magic:#x}, {mode:o}");
    }
}
