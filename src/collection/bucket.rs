//! Where items in the making lie in a stage, and how they leave it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::disk::{Dir, PathError};
use crate::layout;

/// Directories of the stage for items, made as they are needed.
///
/// A file system is quicker with small directories, and threads do not wait for each other when each
/// has its own.
#[derive(Debug)]
pub(crate) struct Buckets {
    threads: Vec<Mutex<Filling>>,
    /// The buckets that items were taken out of, the last one first: items leave in the order in which they came,
    /// in turn from those of the threads.
    emptied: Mutex<VecDeque<(PathBuf, Dir)>>,
}

/// What one thread fills.
#[derive(Debug, Default)]
struct Filling {
    /// How many items it has begun.
    begun: usize,
    bucket: Option<(PathBuf, Dir)>,
}

/// Maximum number of buckets that are open while items leave.
const OPEN_BUCKETS: usize = 8;

/// Maximum number of items that share a directory of the stage.
const BUCKET_ITEMS: usize = 256;

impl Buckets {
    pub(crate) fn new(threads: usize) -> Buckets {
        let threads = (0..threads.max(1)).map(|_| Mutex::default()).collect();
        Buckets { threads, emptied: Mutex::default() }
    }

    /// Makes the directories of a new item. Returns where they are in the stage, and the item's, open.
    pub(crate) fn make_item(&self, stage: &Dir) -> Result<(PathBuf, Dir), PathError> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.threads.len();
        let mut filling = self.threads[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let number = filling.begun;
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
        let dir = bucket.open_dir(&item)?;
        dir.make_dir(layout::PAYLOAD)?;
        Ok((name.join(item), dir))
    }

    /// Moves `item` of the stage to the new name `leaf` in `year`.
    pub(crate) fn rename_new(
        &self,
        stage: &Dir,
        item: &Path,
        year: &Dir,
        leaf: &Path,
    ) -> Result<(), PathError> {
        let (Some(bucket), Some(number)) = (item.parent(), item.file_name()) else {
            return stage.rename_new(item, year, leaf);
        };
        let mut emptied = self.emptied.lock().unwrap_or_else(PoisonError::into_inner);
        let open = emptied.iter().position(|(name, _)| name == bucket);
        let dir = match open.and_then(|at| emptied.remove(at)) {
            Some((_, dir)) => dir,
            None => stage.open_dir(bucket)?,
        };
        emptied.truncate(OPEN_BUCKETS.min(self.threads.len()) - 1);
        emptied.push_front((bucket.to_path_buf(), dir));
        let (_, dir) = &emptied[0];
        dir.rename_new(Path::new(number), year, leaf)
    }
}
