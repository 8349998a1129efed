//! Two users of one group: what a suite does first, one of them does; what comes after, the other.

use std::cell::RefCell;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// Two users and the group that both are in.
pub(crate) const ANNA: u32 = 65534;
pub(crate) const BEN: u32 = 65533;
pub(crate) const GROUP: u32 = 65533;

/// The mode of a directory that the group shares.
const SHARED: u32 = 0o2775;

thread_local! {
    /// The directory that both share, in a suite between two users.
    static COMMON: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Runs a suite of faults as Ben, but for what [`first_user`] does as Anna.
pub(crate) fn between_users(suite: impl FnOnce() + Send) {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can become other users");
        return;
    }
    // Root removes it, with whatever is closed to both.
    let common = super::scratch();
    chown(common.path(), None, Some(GROUP)).unwrap();
    std::fs::set_permissions(common.path(), Permissions::from_mode(SHARED)).unwrap();
    // The rest of this process stays as it is: users are those of threads and of what they start.
    let run = || {
        COMMON.set(Some(common.path().to_path_buf()));
        leave_out_umask();
        become_user(BEN);
        suite();
    };
    let ended = std::thread::scope(|threads| threads.spawn(run).join());
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// Gives this thread, and those that it starts, a umask of its own, which withholds nothing from the group. The program
/// takes its umask from the kernel (`disk::take_umask`); the tests beside this one need theirs.
fn leave_out_umask() {
    #[expect(deprecated, reason = "its successor is unsafe only for flags that close descriptors")]
    rustix::thread::unshare(rustix::thread::UnshareFlags::FS).unwrap();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o002));
}

/// Does what a fault ends: between two users, as Anna, whose left-overs Ben meets.
pub(crate) fn first_user<T>(act: impl FnOnce() -> T) -> T {
    if common().is_none() {
        return act();
    }
    become_user(ANNA);
    let done = act();
    become_user(BEN);
    done
}

/// The directory that both share, between two users.
pub(super) fn common() -> Option<PathBuf> {
    COMMON.with_borrow(Clone::clone)
}

/// Opens a directory, and those in it, to the group, between two users.
pub(crate) fn share(directory: &Path) {
    for entry in walkdir::WalkDir::new(directory).into_iter().filter(|_| common().is_some()) {
        let entry = entry.unwrap();
        if entry.file_type().is_dir() {
            std::fs::set_permissions(entry.path(), Permissions::from_mode(SHARED)).unwrap();
        }
    }
}

/// Makes this thread one of `user`, who is in the group by its membership alone, and may become root again.
fn become_user(user: u32) {
    let root = Uid::ROOT;
    set_thread_res_uid(root, root, root).unwrap();
    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
    set_thread_groups(&[Gid::from_raw(GROUP)]).unwrap();
    set_thread_res_gid(gid, gid, gid).unwrap();
    set_thread_res_uid(uid, uid, root).unwrap();
}
