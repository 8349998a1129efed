//! Threads that read sidecars, once there are many to read.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::flow::{MOST_REQUESTS, request_threads};

/// Up to this number of items, one thread is faster.
const FEW: usize = 64;

/// A pool of threads that starts with the first large task.
pub(super) struct Pool {
    jobs: usize,
    pool: OnceLock<Option<ThreadPool>>,
}

impl Pool {
    pub(super) fn new(jobs: usize) -> Pool {
        Pool { jobs, pool: OnceLock::new() }
    }

    /// The same for system calls that wait for the disk and open nothing.
    pub(super) fn of_requests(jobs: usize) -> Pool {
        Pool::new(request_threads(jobs, MOST_REQUESTS))
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
