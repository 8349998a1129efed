//! Threads that read sidecars, once there are many to read.

use std::cell::OnceCell;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Up to this number of items, one thread is faster.
const FEW: usize = 64;

/// Requests to the disk under way for each job, and in all.
const REQUESTS: usize = 8;
const MOST_REQUESTS: usize = 64;

/// A pool of threads that starts with the first large task.
pub(super) struct Pool {
    jobs: usize,
    pool: OnceCell<Option<ThreadPool>>,
}

impl Pool {
    pub(super) fn new(jobs: usize) -> Pool {
        Pool { jobs, pool: OnceCell::new() }
    }

    /// The same for system calls that wait for the disk and open nothing: a disk answers several requests at once.
    /// One job stays one.
    pub(super) fn of_requests(jobs: usize) -> Pool {
        Pool::new(if jobs > 1 {
            jobs.max(jobs.saturating_mul(REQUESTS).min(MOST_REQUESTS))
        } else {
            jobs
        })
    }

    /// The threads for `items`; `None` if they are so few that one thread is faster, or if threads cannot be
    /// had.
    pub(super) fn for_many(&self, items: usize) -> Option<&ThreadPool> {
        if items <= FEW || self.jobs <= 1 {
            return None;
        }
        let start = || ThreadPoolBuilder::new().num_threads(self.jobs).build().ok();
        self.pool.get_or_init(start).as_ref()
    }
}
