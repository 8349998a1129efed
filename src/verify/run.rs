//! Many items at a time, reported in the order of their names.
//!
//! One thread lists the names and puts a ticket for each into a queue of limited length; a pool of
//! threads verifies items; the calling thread takes the tickets in their order and waits for the
//! answer to each. So memory is bounded, and whichever side goes away, even by a panic, the others
//! find their channel closed and end. No thread of the pool ever waits for another.

use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver};

use super::feed::Feed;
use super::work::Work;
use super::{Context, Finding, Options, Report, Scope, Summary};
use crate::collection::Collection;
use crate::disk::{IoContext, PathError};
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// So many items are verified, or wait for those before them to be reported, at a time.
const UNDER_WAY: usize = 256;

/// Verifies what `scope` says of `collection` and calls `report`, on this thread, for each item in
/// order and for what else is found.
///
/// `report` says whether to go on. The error is that no threads can be started; all else is a
/// finding.
pub fn verify(
    collection: &Collection,
    scope: Scope<'_>,
    options: Options,
    progress: &dyn Progress,
    interrupt: &Interrupt,
    mut report: impl FnMut(Report) -> ControlFlow<()>,
) -> Result<Summary, PathError> {
    let starting = "start threads to verify";
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs)
        .build()
        .map_err(std::io::Error::other)
        .on(starting, collection.path())?;
    let depth = options.depth;
    let context = Context { depth, progress, interrupt, abandoned: Interrupt::default() };
    let work = Work { collection, context: &context, threads: pool.current_num_threads() };
    let (queue, answers) = mpsc::sync_channel(UNDER_WAY);
    let mut summary = Summary::default();
    std::thread::scope(|threads| {
        std::thread::Builder::new()
            .spawn_scoped(threads, || {
                let queue = queue;
                pool.in_place_scope(|tasks| Feed::new(&work, tasks, &queue).feed(scope));
            })
            .on(starting, collection.path())?;
        let _abandon = AbandonOnDrop(&context.abandoned);
        collect(answers, &mut summary, progress, &mut report);
        Ok(summary)
    })
}

/// Lets the threads leave what they have begun when nobody takes the answers any more.
struct AbandonOnDrop<'a>(&'a Interrupt);

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// What the calling thread gets, in order.
pub(super) enum Answer {
    /// Something was found while listing.
    Found(Finding),
    /// The answer to a ticket: nothing if it was stopped.
    Awaited(Receiver<Option<Report>>),
    /// A part of the collection could not be listed.
    Unlisted(Finding),
    /// A stop was asked for.
    Interrupted,
}

fn collect(
    answers: Receiver<Answer>,
    summary: &mut Summary,
    progress: &dyn Progress,
    report: &mut impl FnMut(Report) -> ControlFlow<()>,
) {
    for answer in answers {
        let Some(told) = receive(answer, summary) else {
            summary.interrupted = true;
            return;
        };
        summary.count(&told);
        if let Report::Item(item) = &told {
            progress.finish_item(item.name.as_str());
        }
        if report(told).is_break() {
            summary.interrupted = true;
            return;
        }
    }
}

fn receive(answer: Answer, summary: &mut Summary) -> Option<Report> {
    match answer {
        Answer::Found(finding) => Some(Report::Tree(finding)),
        Answer::Unlisted(finding) => {
            summary.unlisted = true;
            Some(Report::Tree(finding))
        }
        // No answer will come when a thread has panicked, which the end of the scope passes on.
        Answer::Awaited(answer) => answer.recv().ok().flatten(),
        Answer::Interrupted => None,
    }
}
