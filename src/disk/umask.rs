//! Permission bits of new entries: what the umask leaves, and what a shared directory adds.
//!
//! An entry gets its bits in the call that makes it. If they came by a second call, a run that was killed in between
//! would shut the other users out, and they would have to wait for the second call of a run that lives. So the program
//! takes the umask from the kernel once, with [`take_umask`], and withholds its bits itself wherever nobody shares.

use std::sync::OnceLock;

use rustix::fs::Mode;

/// The umask of the program, once it was taken from the kernel.
static UMASK: OnceLock<u32> = OnceLock::new();

/// Takes the umask of this process from the kernel. From then on this module applies it.
///
/// To be called once, before the first file is made. Without it the kernel applies the umask to shared
/// directories as well.
pub fn take_umask() {
    UMASK.get_or_init(|| rustix::process::umask(Mode::empty()).bits());
}

/// Calls `start`, which starts another program, under the umask that this program was started with.
///
/// No other thread may make files meanwhile.
pub fn with_umask<T>(start: impl FnOnce() -> T) -> T {
    let Some(umask) = UMASK.get() else { return start() };
    rustix::process::umask(Mode::from_raw_mode(*umask));
    let started = start();
    rustix::process::umask(Mode::empty());
    started
}

/// `mode` without the bits that the umask withholds.
fn masked(mode: u32) -> u32 {
    mode & !UMASK.get().copied().unwrap_or(0)
}

/// Permission bits that new entries of a directory get in addition to those that the umask leaves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sharing {
    /// Those of a file.
    file: u32,
    /// Those of a directory.
    pub(super) directory: u32,
}

impl Sharing {
    /// Those of a shared directory with the mode bits `mode`: a group that may add entries to it may also read
    /// and change everything made below it. Nothing is opened to everybody: only the umask may do that.
    ///
    /// Without set-group-ID an entry gets the group of its maker, so it is shared only if that `is_own_group`.
    pub(super) fn like(mode: u32, is_own_group: bool) -> Sharing {
        let is_shared = mode & 0o020 != 0 && (mode & 0o2000 != 0 || is_own_group);
        let directory = if is_shared { mode & 0o070 } else { 0 };
        Sharing { file: directory & 0o060, directory }
    }

    /// The mode of a new file.
    pub(super) fn file_mode(self) -> u32 {
        masked(0o666) | self.file
    }

    /// The mode of a new directory; the kernel adds set-group-ID below a directory that has it.
    pub(super) fn directory_mode(self) -> u32 {
        masked(0o777) | self.directory
    }

    /// The mode of a new entry with permission bits of its own, which nobody else shares.
    pub(super) fn own_mode(mode: u32) -> u32 {
        masked(mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_shares_what_it_may_change_and_others_nothing() {
        let bits = |mode, is_own_group| {
            let Sharing { file, directory } = Sharing::like(mode, is_own_group);
            (file, directory)
        };
        assert_eq!(bits(0o755, true), (0, 0));
        assert_eq!(bits(0o770, true), (0o060, 0o070));
        assert_eq!(bits(0o770, false), (0, 0), "it would be opened to another group");
        assert_eq!(bits(0o2775, false), (0o060, 0o070));
        assert_eq!(bits(0o777, true), (0o060, 0o070), "nothing for everybody");
    }
}
