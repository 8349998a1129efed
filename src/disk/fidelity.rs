//! The precision with which file systems keep modification times and modes.

use super::magic::{
    BCACHEFS, BTRFS, EXFAT, EXT, F2FS, FAT, FUSE, NFS, NTFS, NTFS3, OVERLAYFS, RAMFS, SMB, SMB2,
    SMBFS, TMPFS, XFS, ZFS,
};
use super::{Dir, FileStat, Kind, PathError};
use crate::identity::{Instant, SECOND};

/// The modes of some files: all the same, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shown {
    #[default]
    None,
    One(u32),
    Several,
}

impl Shown {
    fn add(&mut self, mode: u32) {
        *self = match *self {
            Shown::None => Shown::One(mode),
            Shown::One(one) if one == mode => return,
            Shown::One(_) | Shown::Several => Shown::Several,
        };
    }
}

/// The modes of the files and directories of an item.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShownModes {
    files: Shown,
    directories: Shown,
}

impl ShownModes {
    /// Adds those of `found`.
    pub fn extend(&mut self, found: impl IntoIterator<Item = FileStat>) {
        for stamp in found {
            match stamp.kind {
                Kind::File => self.files.add(stamp.mode),
                Kind::Directory => self.directories.add(stamp.mode),
                Kind::Link | Kind::Special(_) => {}
            }
        }
    }
}

/// The precision with which a file system keeps the times and modes of an item.
///
/// FAT, NTFS and many servers round times, and a mount may give one mode to all files. A difference of that
/// kind is not a change of the file. On a file system that keeps both, every difference is a change.
#[derive(Clone, Copy, Debug)]
pub struct Fidelity {
    file_system: i128,
    shown: ShownModes,
}

impl Dir {
    /// The fidelity of the file system of this directory, for an item whose modes are `shown`.
    pub fn fidelity(&self, shown: ShownModes) -> Result<Fidelity, PathError> {
        Ok(Fidelity { file_system: self.file_system()?, shown })
    }
}

impl Fidelity {
    /// Whether `found` has the mode `recorded`, as far as the file system keeps modes.
    pub fn has_mode(&self, found: &FileStat, recorded: u32) -> bool {
        let ShownModes { files, directories } = self.shown;
        let keeps_modes = if OFTEN_WITHOUT_MODES.contains(&self.file_system) {
            // One mode of the files alone may come from `chmod -R`, as well as from a mount with `fmask`.
            !matches!((files, directories), (Shown::One(file), Shown::One(dir)) if file == dir)
        } else {
            !WITHOUT_MODES.contains(&self.file_system)
        };
        found.mode == recorded || !keeps_modes
    }

    /// Whether `found` has the modification time `recorded`, as the file system keeps times: rounded down to
    /// whole units, or up where something other than the kernel may round.
    pub fn has_time(&self, found: &FileStat, recorded: Instant) -> bool {
        let may_round_up = MAY_ROUND_UP.contains(&self.file_system);
        let is_rounded = |unit: &i128| {
            let down = recorded.floor(*unit);
            let is_up = || may_round_up && Some(found.modified) == down.checked_add(*unit);
            // A time in whole units is not rounded.
            down != recorded && (found.modified == down || is_up())
        };
        found.modified == recorded || self.units(found).iter().any(is_rounded)
    }

    /// The units that times are rounded to; none if times are kept to the nanosecond.
    fn units(&self, found: &FileStat) -> &'static [i128] {
        match self.file_system {
            // The kernel writes the time of the last change itself: a fraction shows that fractions are kept.
            EXT if found.changed.subsecond() == 0 => &[SECOND],
            EXT => &[],
            exact if EXACT.contains(&exact) => &[],
            FAT => &[2 * SECOND],
            EXFAT => &[10_000_000, SECOND, 2 * SECOND],
            NTFS | NTFS3 => &[100],
            // FUSE, SMB, NFS …: any file system may be behind them.
            _ => &[100, 1_000, 1_000_000, 10_000_000, SECOND, 2 * SECOND],
        }
    }
}

/// File systems that keep times exactly; overlayfs is stacked on one of them.
const EXACT: [i128; 8] = [XFS, BTRFS, F2FS, ZFS, BCACHEFS, TMPFS, RAMFS, OVERLAYFS];

/// File systems without mode bits: the mount says which mode all files have.
const WITHOUT_MODES: [i128; 4] = [FAT, EXFAT, NTFS, NTFS3];

/// File systems that keep mode bits only if the file system behind them does. One mode for all files and
/// directories of an item shows that they do not.
const OFTEN_WITHOUT_MODES: [i128; 4] = [FUSE, SMB, SMB2, SMBFS];

/// File systems behind which a server may round times up, and exFAT, whose programs do.
const MAY_ROUND_UP: [i128; 6] = [FUSE, SMB, SMB2, SMBFS, NFS, EXFAT];

/// File systems that refuse some names.
const MAY_REFUSE_NAMES: [i128; 8] = [FAT, EXFAT, NTFS, NTFS3, FUSE, SMB, SMB2, SMBFS];

/// File systems that may refuse links as operations that are not permitted.
const MAY_REFUSE_LINKS: [i128; 5] = [FAT, EXFAT, NTFS, NTFS3, FUSE];

/// Whether a file system may refuse names that other file systems accept.
pub(super) fn may_refuse_names(file_system: i128) -> bool {
    MAY_REFUSE_NAMES.contains(&file_system)
}

/// Whether a file system may refuse links with EPERM.
pub(super) fn may_refuse_links(file_system: i128) -> bool {
    MAY_REFUSE_LINKS.contains(&file_system)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(fraction: &str) -> Instant {
        format!("2026-11-21T07:20:{fraction}Z").parse().unwrap()
    }

    fn stamp(modified: Instant, mode: u32) -> FileStat {
        let identity = (0, 0);
        FileStat {
            kind: Kind::File,
            bytes: 0,
            mode,
            modified,
            changed: at("59.25"),
            identity,
            owner: 0,
        }
    }

    /// The fractions of `found` that count as `13.178190894` on the file system.
    fn taken<'a>(file_system: i128, found: &[&'a str]) -> Vec<&'a str> {
        let kept = Fidelity { file_system, shown: ShownModes::default() };
        let is_taken = |it: &&&str| kept.has_time(&stamp(at(it), 0), at("13.178190894"));
        found.iter().filter(is_taken).copied().collect()
    }

    #[test]
    fn times_are_compared_as_far_as_a_file_system_keeps_them() {
        const ROUNDED: [&str; 12] = [
            "13.1781908",
            "13.1781909",
            "13.17819",
            "13.178191",
            "13.178",
            "13.179",
            "13.17",
            "13.18",
            "13",
            "14",
            "12",
            "13.178190894",
        ];
        assert_eq!(taken(FUSE, &ROUNDED), ROUNDED);
        assert_eq!(taken(NFS, &ROUNDED), ROUNDED);
        for exact in EXACT.into_iter().chain([EXT]) {
            assert_eq!(taken(exact, &ROUNDED), ["13.178190894"], "{exact:#x}");
        }
        assert_eq!(taken(FAT, &ROUNDED), ["12", "13.178190894"]);
        assert_eq!(taken(EXFAT, &ROUNDED), ["13.17", "13.18", "13", "14", "12", "13.178190894"]);
        for ntfs in [NTFS, NTFS3] {
            let kept = ["13.1781908", "13.178190894"];
            assert_eq!(taken(ntfs, &ROUNDED), kept);
        }
        let changed = ["13.178190893", "13.1781907", "13.1782", "13.16", "13.5", "11", "15", "16"];
        for file_system in [FUSE, SMB, FAT, EXFAT, NTFS, NTFS3, EXT, XFS] {
            assert!(taken(file_system, &changed).is_empty(), "{file_system:#x}");
        }
        // A time that needs no rounding is kept as it is.
        let kept = Fidelity { file_system: FUSE, shown: ShownModes::default() };
        for found in ["13.5", "13.0000001", "13.001", "12.99", "15"] {
            assert!(!kept.has_time(&stamp(at(found), 0), at("13")), "{found}");
        }
        let kept = Fidelity { file_system: FAT, ..kept };
        for (found, is_kept) in [("12", false), ("14", true), ("15", false), ("16", false)] {
            assert_eq!(kept.has_time(&stamp(at(found), 0), at("14")), is_kept, "{found}");
        }
    }

    #[test]
    fn whole_seconds_on_ext_are_those_of_small_inodes() {
        let kept = Fidelity { file_system: EXT, shown: ShownModes::default() };
        let small = FileStat { changed: at("59"), ..stamp(at("13"), 0) };
        assert!(kept.has_time(&small, at("13.178")));
        for found in ["12", "14"] {
            assert!(!kept.has_time(&FileStat { modified: at(found), ..small }, at("13.178")));
        }
        assert!(!kept.has_time(&stamp(at("13"), 0), at("13.178")));
    }

    #[test]
    fn times_before_1970_are_rounded_as_well() {
        let kept = Fidelity { file_system: FAT, shown: ShownModes::default() };
        let recorded = Instant::from_nanoseconds(-1);
        for (seconds, is_kept) in [(-2, true), (0, false), (-1, false), (2, false)] {
            let found = stamp(Instant::from_seconds(seconds), 0);
            assert_eq!(kept.has_time(&found, recorded), is_kept, "{seconds}");
        }
    }

    #[test]
    fn modes_are_compared_where_they_are_kept() {
        let file = stamp(at("13"), 0o777);
        let other = FileStat { mode: 0o644, ..file };
        let directory = FileStat { kind: Kind::Directory, ..file };
        let closed = FileStat { mode: 0o755, ..directory };
        for (file_system, shown, is_kept) in [
            (EXT, &[file][..], true),
            (XFS, &[file], true),
            (FAT, &[file, other], false),
            (EXFAT, &[file], false),
            (NTFS3, &[file], false),
            (FUSE, &[file, file, directory], false),
            (SMB, &[file, directory], false),
            (FUSE, &[file, other, directory], true),
            (SMB2, &[file, directory, closed], true),
            // The modes of the files after `chmod -R`.
            (FUSE, &[file, file, closed], true),
        ] {
            let mut modes = ShownModes::default();
            modes.extend(shown.iter().copied());
            let kept = Fidelity { file_system, shown: modes };
            assert!(kept.has_mode(&file, 0o777), "{file_system:#x}");
            assert_eq!(kept.has_mode(&file, 0o600), !is_kept, "{file_system:#x} {shown:?}");
        }
    }
}
