//! The permission bits by which a group shares the entries of a directory.

use rustix::fs::Stat;

use super::stat::FileStat;

/// Permission bits that new entries of a directory get in addition to those that the umask leaves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sharing {
    /// Those of a file.
    pub(super) file: u32,
    /// Those of a directory, set-group-ID among them.
    pub(super) directory: u32,
    /// The group that shares it.
    group: u32,
}

impl Sharing {
    /// Those of a shared directory with the mode bits `mode`: a group that may add entries to it may also read
    /// and change what is made below it. Nothing is opened to everybody: only the umask may do that.
    pub(super) fn like(mode: u32, group: u32) -> Sharing {
        let directory = if mode & 0o020 == 0 { 0 } else { mode & 0o2070 };
        Sharing { file: directory & 0o060, directory, group }
    }

    /// Whether the file with `stat` belongs to the sharing group and some of `bits` are missing.
    pub(super) fn lacks(self, stat: &Stat, bits: u32) -> bool {
        // Without set-group-ID it may belong to another group, which does not share the directory.
        FileStat::of(stat).mode & bits != bits && stat.st_gid == self.group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_shares_what_it_may_change_and_others_nothing() {
        let bits = |mode| {
            let Sharing { file, directory, .. } = Sharing::like(mode, 100);
            (file, directory)
        };
        assert_eq!(bits(0o755), (0, 0));
        assert_eq!(bits(0o770), (0o060, 0o070));
        assert_eq!(bits(0o2775), (0o060, 0o2070));
        assert_eq!(bits(0o777), (0o060, 0o070), "nothing for everybody");
    }
}
