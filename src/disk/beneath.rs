//! Opening below a directory without ever leaving it.

use std::path::{Component, Path};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::watch::{Feature, Watcher};

/// Opens `path` below `root`, refusing `..`, absolute paths and links at every step.
///
/// One `openat2` where the kernel has it, else component by component.
pub(super) fn open_beneath(
    root: impl AsFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
    watcher: &Watcher,
) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    loop {
        let opened = watcher
            .supports(Feature::OpenBeneath)
            .and_then(|()| rustix::fs::openat2(&root, path, flags, mode, resolve));
        match opened {
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(Errno::NOSYS) => return open_by_component(root, path, flags, mode),
            outcome => return outcome,
        }
    }
}

/// The directory that a name lies in: the one given, or one opened on the way.
pub(super) enum Above<'a> {
    Given(BorrowedFd<'a>),
    Opened(OwnedFd),
}

impl AsFd for Above<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Above::Given(fd) => *fd,
            Above::Opened(fd) => fd.as_fd(),
        }
    }
}

/// Opens the directory that `path` lies in, as [`open_beneath`] does, and returns the last name.
///
/// System calls follow links in every component of a path but the last. So they get a single name.
pub(super) fn open_above<'a>(
    root: BorrowedFd<'a>,
    path: &'a Path,
    watcher: &Watcher,
) -> rustix::io::Result<(Above<'a>, &'a Path)> {
    let Some(name) = path.file_name() else {
        let is_root = path.components().all(|component| component == Component::CurDir);
        return if is_root { Ok((Above::Given(root), Path::new("."))) } else { Err(Errno::XDEV) };
    };
    let above = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => {
            let flags = OFlags::PATH | OFlags::DIRECTORY;
            Above::Opened(open_beneath(root, parent, flags, Mode::empty(), watcher)?)
        }
        _ => Above::Given(root),
    };
    Ok((above, Path::new(name)))
}

fn open_by_component(
    root: impl AsFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Errno::XDEV);
            }
        }
    }
    let Some((last, parents)) = names.split_last() else {
        return open_one(root, Path::new("."), flags, mode);
    };
    let directory = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut above: Option<OwnedFd> = None;
    for parent in parents {
        let fd = above.as_ref().map_or_else(|| root.as_fd(), AsFd::as_fd);
        above = Some(open_one(fd, Path::new(parent), directory, Mode::empty())?);
    }
    let fd = above.as_ref().map_or_else(|| root.as_fd(), AsFd::as_fd);
    open_one(fd, Path::new(last), flags, mode)
}

fn open_one(
    parent: impl AsFd,
    name: &Path,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    rustix::io::retry_on_intr(|| rustix::fs::openat(&parent, name, flags, mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Both ways of opening refuse the same paths.
    #[test]
    fn neither_way_leaves_the_root_or_follows_a_link() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("root");
        rustix::fs::mkdir(&root, Mode::RWXU).unwrap();
        rustix::fs::mkdir(root.join("inside"), Mode::RWXU).unwrap();
        rustix::fs::mkdir(scratch.path().join("outside"), Mode::RWXU).unwrap();
        symlink("../outside", root.join("climbing")).unwrap();
        symlink("inside", root.join("sideways")).unwrap();
        let fd = rustix::fs::open(&root, OFlags::DIRECTORY, Mode::empty()).unwrap();
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        for (path, opens) in [
            ("inside", true),
            (".", true),
            ("climbing", false),
            ("sideways", false),
            ("climbing/.", false),
            ("../outside", false),
            ("/", false),
        ] {
            let path = Path::new(path);
            let one_call = open_beneath(&fd, path, flags, Mode::empty(), &Watcher::default());
            let stepwise = open_by_component(&fd, path, flags, Mode::empty());
            assert_eq!(one_call.is_ok(), opens, "{path:?}: {one_call:?}");
            assert_eq!(stepwise.is_ok(), opens, "{path:?}: {stepwise:?}");
        }
    }
}
