//! How written data becomes durable: few files one by one; many in one call where that is known to work, else one by one too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::retry_on_intr;

use super::watch::{Feature, Operation};
use super::{Dir, IoContext, Kind, PathError, magic};

/// Files that are synced at a time: a server is slow to answer, and answers several at once.
const AT_A_TIME: usize = 8;

/// Files and directories whose paths are held at a time.
const PATHS: usize = 4096;

/// Limit on the files and directories that are synced one by one where one call could sync everything: that call also waits
/// for what other programs write to the file system.
const FEW: usize = 16;

/// Limit on the bytes of these files. Of more, the kernel may already have failed to write a part, and a file that is opened
/// only now does not always learn of it.
const SMALL_BYTES: u64 = 8 * 1024 * 1024;

/// File systems on which one call syncs everything; tmpfs and ramfs are never durable.
const SYNCED_AT_ONCE: [i128; 6] =
    [magic::EXT, magic::XFS, magic::BTRFS, magic::F2FS, magic::TMPFS, magic::RAMFS];

/// Whether `syncfs` of this kernel reports failed writes.
static REPORTS_ERRORS: LazyLock<bool> =
    LazyLock::new(|| reports_errors(&rustix::system::uname().release().to_string_lossy()));

/// Whether a kernel of this release reports that: since Linux 5.8.
fn reports_errors(release: &str) -> bool {
    let mut numbers =
        release.split(|c: char| !c.is_ascii_digit()).map(|it| it.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0_u32);
    (next(), next()) >= (5, 8)
}

impl Dir {
    /// Syncs the files or whole trees at `paths`, and the names on the way there.
    ///
    /// Fails if any of the data could not be written since this directory was opened. Do not repeat a failed
    /// sync: the kernel may have dropped the bytes.
    pub fn sync_trees<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<(), PathError> {
        let mut one_by_one = OneByOne::beneath(self)?;
        for path in paths {
            let path = path.as_ref();
            one_by_one.directories.extend(path.ancestors().skip(1).map(Path::to_path_buf));
            match self.stat(path)? {
                Some(stamp) if stamp.kind == Kind::Directory => one_by_one.add_tree(path)?,
                // A link has nothing but its name, and a missing path has not even that.
                Some(stamp) if stamp.kind == Kind::File => one_by_one.add_file(path.into())?,
                _ => {}
            }
            if one_by_one.is_too_much() {
                return self.sync_file_system();
            }
        }
        one_by_one.sync()
    }

    /// Syncs the directories at `paths`, with the names in them, and the names on the way there, but neither
    /// deeper entries nor the bytes of files.
    pub fn sync_names<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<(), PathError> {
        let mut one_by_one = OneByOne::beneath(self)?;
        for path in paths {
            one_by_one.directories.extend(path.as_ref().ancestors().map(Path::to_path_buf));
            if one_by_one.is_too_much() {
                return self.sync_file_system();
            }
        }
        one_by_one.sync()
    }

    /// Syncs the names in `dirs`, which are on the file system of this directory.
    pub fn sync_dirs<'a>(&self, dirs: impl IntoIterator<Item = &'a Dir>) -> Result<(), PathError> {
        let dirs: Vec<_> = dirs.into_iter().collect();
        if dirs.len() > self.most_one_by_one()? {
            return self.sync_file_system();
        }
        several_at_a_time(&dirs, |dir| dir.sync())
    }

    /// Creates the directory if it is missing, and opens it for data that will be reported as durable.
    /// Another process may have created it a moment ago without having synced its name.
    pub fn ensure_lasting_dir(&self, name: &str) -> Result<Dir, PathError> {
        let dir = self.ensure_dir(name)?;
        self.watcher().synced_names().ensure(dir.descriptor(), || self.sync())?;
        Ok(dir)
    }

    /// Opens the directory `name`, if it exists. Once the whole file system has been synced, its name counts
    /// as durable ([`Dir::ensure_lasting_dir`]).
    pub(crate) fn expect_dir(&self, name: impl AsRef<Path>) -> Result<Option<Dir>, PathError> {
        let dir = self.open_dir_if_there(name)?;
        if let Some(dir) = &dir {
            self.watcher().synced_names().expect(dir.descriptor());
        }
        Ok(dir)
    }

    /// Limit on the files and directories that are synced one by one: few, if one call is known to sync the whole file system
    /// and to report failures.
    ///
    /// The kernel does not pass that call to servers in user space, and its effect on a network file system is
    /// not known.
    fn most_one_by_one(&self) -> Result<usize, PathError> {
        if self.supports(Feature::SyncFileSystem).is_err()
            || !*REPORTS_ERRORS
            || !SYNCED_AT_ONCE.contains(&self.file_system()?)
        {
            return Ok(usize::MAX);
        }
        Ok(self.watcher().few().unwrap_or(FEW))
    }

    fn sync_file_system(&self) -> Result<(), PathError> {
        let sync = || {
            self.step(Operation::SyncFileSystem, Path::new(""))
                .and_then(|()| Ok(retry_on_intr(|| rustix::fs::syncfs(self.descriptor()))?))
                .on("sync the file system of", self.path())
        };
        self.watcher().synced_names().sync_expected(self.descriptor(), sync)
    }
}

/// Files and directories that are synced one by one: the files, then the directories, the deepest first.
struct OneByOne<'d> {
    above: &'d Dir,
    /// Limit on both; [`usize::MAX`] where nothing else syncs them.
    most: usize,
    files: Vec<PathBuf>,
    directories: BTreeSet<PathBuf>,
    /// The bytes of the files, as far as they matter.
    bytes: u64,
}

impl OneByOne<'_> {
    /// None yet. All paths are relative to `above`.
    fn beneath(above: &Dir) -> Result<OneByOne<'_>, PathError> {
        let (most, files, directories) = (above.most_one_by_one()?, Vec::new(), BTreeSet::new());
        Ok(OneByOne { above, most, files, directories, bytes: 0 })
    }

    /// Whether one sync of the whole file system is better.
    fn is_too_much(&self) -> bool {
        self.files.len() + self.directories.len() > self.most || self.bytes > SMALL_BYTES
    }

    /// Adds a file. Where there may be many, those before it are synced.
    fn add_file(&mut self, path: PathBuf) -> Result<(), PathError> {
        if self.most < usize::MAX {
            self.bytes += self.above.stat(&path)?.map_or(0, |stat| stat.bytes);
        } else if self.files.len() >= PATHS {
            self.sync_files()?;
        }
        self.files.push(path);
        Ok(())
    }

    /// Adds the directories and files of `tree`, until it is too much.
    fn add_tree(&mut self, tree: &Path) -> Result<(), PathError> {
        let mut pending = vec![tree.to_path_buf()];
        while let Some(path) = pending.pop() {
            for entry in self.above.open_dir(&path)?.entries()? {
                let entry = entry?;
                match entry.kind {
                    Kind::Directory => pending.push(path.join(entry.name)),
                    Kind::File => self.add_file(path.join(entry.name))?,
                    Kind::Link | Kind::Special(_) => {}
                }
                if self.is_too_much() {
                    return Ok(());
                }
            }
            self.directories.insert(path);
        }
        Ok(())
    }

    fn sync(mut self) -> Result<(), PathError> {
        self.sync_files()?;
        let depth = |path: &PathBuf| path.components().count();
        let mut deepest_first: Vec<_> = std::mem::take(&mut self.directories).into_iter().collect();
        deepest_first.sort_by_key(|path| std::cmp::Reverse(depth(path)));
        for level in deepest_first.chunk_by(|one, other| depth(one) == depth(other)) {
            // Each may be missing.
            several_at_a_time(level, |path| {
                self.above.open_dir_if_there(path)?.map_or(Ok(()), |dir| dir.sync())
            })?;
        }
        Ok(())
    }

    fn sync_files(&mut self) -> Result<(), PathError> {
        let files = std::mem::take(&mut self.files);
        several_at_a_time(&files, |path| self.above.open_file(path)?.sync())
    }
}

/// Calls `sync` for each of `all`, from several threads.
fn several_at_a_time<T: Sync>(
    all: &[T],
    sync: impl Fn(&T) -> Result<(), PathError> + Sync,
) -> Result<(), PathError> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            sync(one)?;
        }
        Ok(())
    };
    if all.len() < 2 {
        return work();
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..all.len().min(AT_A_TIME)).map(|_| scope.spawn(work)).collect();
        let mut synced = Ok(());
        for thread in threads {
            let outcome = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            synced = synced.and(outcome);
        }
        synced
    })
}

#[cfg(test)]
mod tests {
    use super::reports_errors;

    #[test]
    fn syncfs_is_believed_since_linux_5_8() {
        for release in ["5.8.0-63-generic", "5.10", "5.8", "6.1.0-rc1+", "6", "10.0.1"] {
            assert!(reports_errors(release), "{release}");
        }
        let garbage = ["", ".", "linux", "v6.1", "-6.1", "99999999999.1"];
        for release in ["4.19", "4.19.0-27-amd64", "5.7.19", "5", "5.x8"].into_iter().chain(garbage)
        {
            assert!(!reports_errors(release), "{release}");
        }
    }
}
