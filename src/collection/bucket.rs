//! Where items in the making lie in a stage.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::disk::{Dir, PathError};
use crate::layout;

/// Directories of the stage for items, made as they are needed.
///
/// A file system is quicker with small directories, and threads do not wait for each other when each
/// has its own.
pub(crate) struct Buckets {
    /// How many items each thread has begun.
    begun: Vec<AtomicUsize>,
}

/// Maximum number of items that share a directory of the stage.
const BUCKET_ITEMS: usize = 256;

impl Buckets {
    pub(crate) fn new(threads: usize) -> Buckets {
        Buckets { begun: (0..threads.max(1)).map(|_| AtomicUsize::new(0)).collect() }
    }

    /// Makes the directories of a new item and says where they are in the stage.
    pub(crate) fn make_item(&self, stage: &Dir) -> Result<PathBuf, PathError> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.begun.len();
        let number = self.begun[thread].fetch_add(1, Ordering::Relaxed);
        let bucket = PathBuf::from(format!("{thread}-{}", number / BUCKET_ITEMS));
        if number.is_multiple_of(BUCKET_ITEMS) {
            stage.make_dir(&bucket)?;
        }
        let item = bucket.join(number.to_string());
        stage.make_dir(&item)?;
        stage.make_dir(item.join(layout::PAYLOAD))?;
        Ok(item)
    }
}
