//! How written data becomes durable: in one call where that is known to work, else file by file.

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
        if self.syncs_at_once()? {
            return Ok(());
        }
        let (mut files, mut directories) = (Vec::new(), BTreeSet::new());
        for path in paths {
            let path = path.as_ref();
            directories.extend(path.ancestors().skip(1).map(Path::to_path_buf));
            match self.stat(path)? {
                Some(stamp) if stamp.kind == Kind::Directory => {
                    self.sync_files_of(path.to_path_buf(), &mut files, &mut directories)?;
                }
                // A link has nothing but its name, and a missing path has not even that.
                Some(stamp) if stamp.kind == Kind::File => files.push(path.to_path_buf()),
                _ => {}
            }
            if files.len() >= PATHS {
                self.sync_all_files(&mut files)?;
            }
        }
        self.sync_all_files(&mut files)?;
        self.sync_directories(&directories)
    }

    /// Syncs the directories at `paths`, with the names in them, and the names on the way there, but neither
    /// deeper entries nor the bytes of files.
    pub fn sync_names<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<(), PathError> {
        if self.syncs_at_once()? {
            return Ok(());
        }
        let mut directories = BTreeSet::new();
        for path in paths {
            directories.extend(path.as_ref().ancestors().map(Path::to_path_buf));
        }
        self.sync_directories(&directories)
    }

    /// Syncs the names in `dirs`, which are on the file system of this directory.
    pub fn sync_dirs<'a>(&self, dirs: impl IntoIterator<Item = &'a Dir>) -> Result<(), PathError> {
        if self.syncs_at_once()? {
            return Ok(());
        }
        dirs.into_iter().try_for_each(Dir::sync)
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

    /// Syncs the whole file system if one call is known to do that and to report failures. `false` if every
    /// file has to be synced by itself.
    ///
    /// The kernel does not pass the call to servers in user space, and its effect on a network file system is
    /// not known.
    fn syncs_at_once(&self) -> Result<bool, PathError> {
        if self.supports(Feature::SyncFileSystem).is_err() || !*REPORTS_ERRORS {
            return Ok(false);
        }
        let keeps_the_promise = SYNCED_AT_ONCE.contains(&self.file_system()?);
        if keeps_the_promise {
            let sync = || {
                self.step(Operation::SyncFileSystem, Path::new(""))
                    .and_then(|()| Ok(retry_on_intr(|| rustix::fs::syncfs(self.descriptor()))?))
                    .on("sync the file system of", self.path())
            };
            self.watcher().synced_names().sync_expected(self.descriptor(), sync)?;
        }
        Ok(keeps_the_promise)
    }

    /// Syncs the files below `tree` and adds its directories to `directories`. Of the files, some may be
    /// left in `files`, to be synced with others.
    fn sync_files_of(
        &self,
        tree: PathBuf,
        files: &mut Vec<PathBuf>,
        directories: &mut BTreeSet<PathBuf>,
    ) -> Result<(), PathError> {
        let mut pending = vec![tree];
        while let Some(path) = pending.pop() {
            for entry in self.open_dir(&path)?.entries()? {
                let entry = entry?;
                match entry.kind {
                    Kind::Directory => pending.push(path.join(entry.name)),
                    Kind::File => files.push(path.join(entry.name)),
                    Kind::Link | Kind::Special(_) => {}
                }
                if files.len() >= PATHS {
                    self.sync_all_files(files)?;
                }
            }
            directories.insert(path);
        }
        Ok(())
    }

    fn sync_all_files(&self, files: &mut Vec<PathBuf>) -> Result<(), PathError> {
        let synced = several_at_a_time(files, |path| self.open_file(path)?.sync());
        files.clear();
        synced
    }

    /// Syncs `directories`, the deepest first; each may be missing.
    fn sync_directories(&self, directories: &BTreeSet<PathBuf>) -> Result<(), PathError> {
        let depth = |path: &PathBuf| path.components().count();
        let mut deepest_first: Vec<_> = directories.iter().cloned().collect();
        deepest_first.sort_by_key(|path| std::cmp::Reverse(depth(path)));
        for level in deepest_first.chunk_by(|one, other| depth(one) == depth(other)) {
            several_at_a_time(level, |path| {
                self.open_dir_if_there(path)?.map_or(Ok(()), |dir| dir.sync())
            })?;
        }
        Ok(())
    }
}

/// Calls `sync` for each of `paths`, from several threads.
fn several_at_a_time(
    paths: &[PathBuf],
    sync: impl Fn(&Path) -> Result<(), PathError> + Sync,
) -> Result<(), PathError> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            sync(path)?;
        }
        Ok(())
    };
    if paths.len() < 2 {
        return work();
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..paths.len().min(AT_A_TIME)).map(|_| scope.spawn(work)).collect();
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
