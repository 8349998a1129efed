//! The places of drafts in a stage, and how items leave it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::disk::{Dir, PathError};

/// Directories of the stage for items, made as they are needed.
///
/// File systems are quicker with small directories, and threads with directories of their own do not wait for
/// each other.
#[derive(Debug)]
pub(in crate::collection) struct Buckets {
    threads: [Mutex<Filling>; THREADS],
    /// Number of threads that have begun an item.
    begun_by: AtomicUsize,
    /// Open buckets that items are leaving, the last used first. Items leave in the order in which they came, so the
    /// buckets of the threads take turns.
    leaving: Mutex<VecDeque<(PathBuf, Dir)>>,
}

/// The bucket of one thread.
#[derive(Debug, Default)]
struct Filling {
    /// Number of items that it has begun.
    begun: usize,
    bucket: Option<(PathBuf, Dir)>,
}

/// Threads beyond this number share their directories with others.
const THREADS: usize = 64;

/// Maximum number of buckets that are open while items leave.
const OPEN_BUCKETS: usize = 8;

/// Maximum number of items that share a directory of the stage.
const BUCKET_ITEMS: usize = 256;

impl Default for Buckets {
    fn default() -> Buckets {
        let threads = std::array::from_fn(|_| Mutex::default());
        Buckets { threads, begun_by: AtomicUsize::new(0), leaving: Mutex::default() }
    }
}

impl Buckets {
    /// Creates the directory of a new item, and calls `begin` with its parent and its name there. Returns its place in the stage,
    /// and the result of `begin`.
    pub(super) fn make_item<T>(
        &self,
        stage: &Dir,
        begin: impl FnOnce(&Dir, &Path) -> T,
    ) -> Result<(PathBuf, T), PathError> {
        let thread = rayon::current_thread_index().unwrap_or(0) % THREADS;
        let mut filling = self.threads[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let number = filling.begun;
        if number == 0 {
            self.begun_by.fetch_add(1, Ordering::Relaxed);
        }
        filling.begun += 1;
        let name = PathBuf::from(format!("{thread}-{}", number / BUCKET_ITEMS));
        let bucket = match filling.bucket.take() {
            Some((open, bucket)) if open == name => bucket,
            _ => {
                stage.make_dir(&name)?;
                stage.open_dir(&name)?
            }
        };
        let item = PathBuf::from(number.to_string());
        let (name, bucket) = filling.bucket.insert((name, bucket));
        bucket.make_dir(&item)?;
        let begun = begin(bucket, &item);
        Ok((name.join(item), begun))
    }

    /// Calls `act`, which moves `item` out of the stage, with the open directory of the item, and its name there.
    pub(super) fn take_out<E: From<PathError>>(
        &self,
        stage: &Dir,
        item: &Path,
        act: impl FnOnce(&Dir, &Path) -> Result<(), E>,
    ) -> Result<(), E> {
        let (Some(bucket), Some(number)) = (item.parent(), item.file_name()) else {
            return act(stage, item);
        };
        let mut leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        let open = leaving.iter().position(|(name, _)| name == bucket);
        let dir = match open.and_then(|at| leaving.remove(at)) {
            Some((_, dir)) => dir,
            None => stage.open_dir(bucket)?,
        };
        let threads = self.begun_by.load(Ordering::Relaxed);
        leaving.truncate(threads.clamp(1, OPEN_BUCKETS) - 1);
        leaving.push_front((bucket.to_path_buf(), dir));
        let (_, dir) = &leaving[0];
        act(dir, Path::new(number))
    }
}
