//! The threads of a run.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Flow;

/// Requests to the disk in flight for each job, and in total.
const REQUESTS: usize = 8;
pub(crate) const MOST_REQUESTS: usize = 64;

/// The number of threads that wait for the disk where `jobs` threads would compute: a disk answers several
/// requests at once. At most `most`, unless there are more jobs; one job stays one.
pub(crate) fn request_threads(jobs: usize, most: usize) -> usize {
    if jobs > 1 { jobs.max(jobs.saturating_mul(REQUESTS).min(most)) } else { jobs }
}

/// Runs `feed`, which hands tasks to a pool of `jobs` threads, beside `collect`, on the calling thread.
///
/// An error means that no threads can be started.
pub(crate) fn drive<'scope, F: Send, T>(
    jobs: usize,
    feed: impl FnOnce(&rayon::Scope<'scope>) -> F + Send,
    collect: impl FnOnce() -> T,
) -> io::Result<(F, T)> {
    run(jobs, (), feed, collect)
}

impl<R: Send> Flow<R> {
    /// [`drive`]s a flow: either side ends when the other does, even after a panic.
    pub(crate) fn drive<'scope, F: Send, T>(
        &self,
        jobs: usize,
        feed: impl FnOnce(&rayon::Scope<'scope>) -> F + Send,
        collect: impl FnOnce() -> T,
    ) -> io::Result<(F, T)> {
        run(jobs, EndOnDrop(self), feed, || {
            let _stop = StopOnDrop(self);
            collect()
        })
    }
}

/// The same; `end` is dropped once the last task has ended.
fn run<'scope, F: Send, T>(
    jobs: usize,
    end: impl Send,
    feed: impl FnOnce(&rayon::Scope<'scope>) -> F + Send,
    collect: impl FnOnce() -> T,
) -> io::Result<(F, T)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(io::Error::other)?;
    let feed = || {
        let _end = end;
        pool.in_place_scope(feed)
    };
    std::thread::scope(|threads| {
        let feeding = std::thread::Builder::new().spawn_scoped(threads, feed)?;
        let collected = collect();
        let fed = feeding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((fed, collected))
    })
}

/// Ends the publishing side when nothing more will be staged.
struct EndOnDrop<'a, R>(&'a Flow<R>);

impl<R> Drop for EndOnDrop<'_, R> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Ends the staging side when nobody takes its results.
struct StopOnDrop<'a, R>(&'a Flow<R>);

impl<R> Drop for StopOnDrop<'_, R> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Calls `work` with each of `shares` of a job, on as many threads as are free. The last one to end passes the
/// job on to `end`.
///
/// A job whose `work` has panicked is incomplete and never passed on.
pub(crate) fn spread<'scope, J: Send + Sync + 'scope, S: Send + 'scope>(
    job: J,
    shares: Vec<S>,
    scope: &rayon::Scope<'scope>,
    work: impl Fn(&J, S) + Copy + Send + 'scope,
    end: impl FnOnce(J, &rayon::Scope<'scope>) + Copy + Send + 'scope,
) {
    let spread = Arc::new(Spread { job, left: AtomicUsize::new(shares.len()) });
    let run = move |spread: Arc<Spread<J>>, share: Option<S>, scope: &rayon::Scope<'scope>| {
        if let Some(share) = share {
            work(&spread.job, share);
            spread.left.fetch_sub(1, Ordering::AcqRel);
        }
        if let Some(Spread { job, left }) = Arc::into_inner(spread)
            && left.into_inner() == 0
        {
            end(job, scope);
        }
    };
    let mut shares = shares.into_iter();
    let own = shares.next();
    for share in shares {
        let spread = Arc::clone(&spread);
        scope.spawn(move |scope| run(spread, Some(share), scope));
    }
    run(spread, own, scope);
}

/// A job that several threads work on.
struct Spread<J> {
    job: J,
    /// Shares in progress.
    left: AtomicUsize,
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn ended(shares: Vec<usize>, broken: usize) -> Option<Vec<usize>> {
        let (done, ended) = (Mutex::new(Vec::new()), Mutex::new(None));
        let work = |done: &Mutex<Vec<usize>>, share| {
            assert_ne!(share, broken, "a share that panics");
            done.lock().unwrap().push(share);
        };
        let end = |done: Mutex<Vec<usize>>, _: &rayon::Scope<'_>| {
            *ended.lock().unwrap() = Some(done.into_inner().unwrap());
        };
        let run = std::panic::AssertUnwindSafe(|| {
            drive(2, |scope| spread(done, shares, scope, work, end), || ()).unwrap();
        });
        let _ = std::panic::catch_unwind(run);
        let mut ended = ended.into_inner().unwrap()?;
        ended.sort_unstable();
        Some(ended)
    }

    #[test]
    fn a_job_ends_once_all_of_it_is_done() {
        assert_eq!(ended((0..100).collect(), 100), Some((0..100).collect()));
        assert_eq!(ended(Vec::new(), 0), Some(Vec::new()));
        assert_eq!(ended((0..100).collect(), 50), None, "an incomplete job");
    }
}
