//! What a file system does not have: locks that reach other machines, lasting inodes, names of any bytes.

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::{Collection, CollectionError, Issuer, Subsystem};
use urepo::disk::{Dir, Operation, Watcher};

use crate::support::{
    Faults, Mode, System, TestClock, agent, init, issue_options, make_collection, mounted, scratch,
};

const EXT4: i128 = 0xef53;
const XFS: i128 = 0x5846_5342;
const FAT: i128 = 0x4d44;
const EXFAT: i128 = 0x2011_bab0;
const FUSE: i128 = 0x6573_5546;
const NFS: i128 = 0x6969;
const CEPH: i128 = 0x00c3_6400;

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
        Issuer::new(&collection, &agent(), &clock, &issue_options())?.mint(1).map(drop)
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

/// FAT, exFAT and NTFS answer a name that they refuse as if a directory were missing, or an argument invalid.
#[test]
fn a_name_that_a_file_system_cannot_hold_is_said_to_be_one() {
    let scratch = scratch();
    let made = |magic, errno, name: &[u8]| {
        let faults = Faults::new(Path::new(""), 1, Mode::Once(errno));
        let faults = faults.of(Operation::CreateFile).on(System::Mounted(magic));
        let dir = Dir::open(scratch.path(), Watcher::new(Arc::new(faults))).unwrap();
        let error = dir.create_file(OsStr::from_bytes(name)).unwrap_err();
        (error.is_unholdable(), error.source().unwrap().to_string())
    };
    let cause = "this file system cannot hold the name `a:b?.txt`";
    for magic in [EXFAT, FAT, FUSE] {
        for errno in [Errno::NOENT, Errno::INVAL] {
            assert_eq!(made(magic, errno, b"a:b?.txt"), (true, cause.to_owned()), "{magic:#x}");
        }
    }
    for name in [&b"caf\xe9"[..], b"new\nline", b"dot.", b"space "] {
        assert!(made(EXFAT, Errno::NOENT, name).0, "{name:?}");
    }
    assert!(made(FUSE, Errno::ILSEQ, "café".as_bytes()).0);
    // What the name is not to blame for.
    assert!(!made(EXFAT, Errno::NOENT, b"a.txt").0);
    assert!(!made(EXFAT, Errno::IO, b"a:b?.txt").0);
    for magic in [EXT4, NFS, CEPH] {
        assert!(!made(magic, Errno::NOENT, b"a:b?.txt").0, "{magic:#x}");
    }
    let error = Dir::open(scratch.path(), mounted(FUSE)).unwrap().make_dir("gone/a:b").unwrap_err();
    assert_eq!((error.is_unholdable(), error.kind()), (false, ErrorKind::NotFound));
    fs::create_dir(scratch.path().join("sub")).unwrap();
    let dir = Dir::open(&scratch.path().join("sub"), mounted(FUSE)).unwrap();
    fs::remove_dir(scratch.path().join("sub")).unwrap();
    let error = dir.create_file("a:b").unwrap_err();
    assert_eq!((error.is_unholdable(), error.kind()), (false, ErrorKind::NotFound));
}

/// A finished file gets such a name in the last step, as an export does.
#[test]
fn a_name_that_cannot_be_put_in_place_is_said_to_be_one() {
    let scratch = scratch();
    fs::write(scratch.path().join("staged"), "x").unwrap();
    let put = |rename: fn(&Dir, &Path, &Dir, &Path) -> _, name: &str| {
        let faults = Faults::new(Path::new(""), 1, Mode::Once(Errno::NOENT));
        let faults = faults.of(Operation::Rename).on(System::Mounted(EXFAT));
        let dir = Dir::open(scratch.path(), Watcher::new(Arc::new(faults))).unwrap();
        let error: urepo::disk::PathError =
            Result::<(), _>::unwrap_err(rename(&dir, Path::new("staged"), &dir, Path::new(name)));
        (error.is_unholdable(), error.source().unwrap().to_string())
    };
    let cause = "this file system cannot hold the name `25:12|1911.txt`";
    for rename in [Dir::rename_new, Dir::rename_over] {
        assert_eq!(put(rename, "25:12|1911.txt"), (true, cause.to_owned()));
        assert!(!put(rename, "a.txt").0);
    }
}

#[test]
fn a_file_system_without_links_is_said_to_be_one() {
    let scratch = scratch();
    let made = |magic, errno| {
        let faults = Faults::new(Path::new(""), 1, Mode::Once(errno));
        let faults = faults.of(Operation::MakeLink).on(System::Mounted(magic));
        let dir = Dir::open(scratch.path(), Watcher::new(Arc::new(faults))).unwrap();
        let error = dir.make_link(OsStr::new("a"), Path::new("b")).unwrap_err();
        // The error of the kernel is the first cause, and its kind is kept.
        let last = std::iter::successors(error.source(), |it| Error::source(*it)).last().unwrap();
        assert_eq!(last.to_string(), std::io::Error::from(errno).to_string());
        assert_eq!(error.kind(), std::io::Error::from(errno).kind());
        error.is_unholdable()
    };
    for (magic, without_links) in
        [(EXFAT, true), (FUSE, true), (NFS, false), (CEPH, false), (XFS, false)]
    {
        assert_eq!(made(magic, Errno::PERM), without_links, "{magic:#x}");
        assert!(made(magic, Errno::OPNOTSUPP));
        assert!(!made(magic, Errno::ACCESS));
    }
}
