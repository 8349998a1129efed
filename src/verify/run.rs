//! Many items at a time, reported in the order of their names.
//!
//! One thread lists the names and puts batches of them into a queue of limited length; a pool of
//! threads verifies items; the calling thread takes the batches in their order and waits for the
//! answer to each. So memory is bounded, and whichever side goes away, even by a panic, the others
//! find their channel closed and end. No thread of the pool ever waits for another.
//!
//! Items come in batches, because waking a thread for a small item costs as much as verifying it.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};

use super::answer::{FeedEvent, JobResult, Unverified};
use super::ibips::Ibips;
use super::links::LinkCheck;
use super::lister::Lister;
use super::rounds::{RoundRecord, SkipPolicy};
use super::work::Work;
use super::{Code, Context, Depth, ItemReport, Options, Report, Rounds, Scope, Summary};
use crate::collection::{Collection, Names};
use crate::disk::{IoContext, PathError, open_at_most};
use crate::flow::{MOST_REQUESTS, drive, request_threads};
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Limit on batches in flight: one for each thread, however many wait for the disk.
const UNDER_WAY: usize = MOST_REQUESTS;

/// Verifies the `scope` of `collection` and calls `report`, on this thread, for each item in order and for
/// every other finding.
///
/// `report` returns whether to go on. An error means that no threads can be started, or that the process ran
/// short of descriptors or memory; anything else is a finding.
pub fn verify(
    collection: &Collection,
    scope: Scope<'_>,
    options: Options,
    progress: &dyn Progress,
    interrupt: &Interrupt,
    report: impl FnMut(Report) -> ControlFlow<()>,
) -> Result<Summary, PathError> {
    let context = context_of(collection, options, progress, interrupt);
    run(collection, scope, options.jobs, &context, Keeping::default(), report)
}

/// The context and the records of a run.
#[derive(Default)]
struct Keeping<'a, 'r> {
    choice: SkipPolicy,
    record: Option<&'a mut RoundRecord<'r>>,
}

/// The same for the items of these `names`, less those that were verified in this round, and as long as there is time;
/// notes how far the round came.
///
/// Only a run that reads every byte does so, and only for names without dates.
pub fn verify_in_rounds(
    collection: &Collection,
    names: &Names,
    options: Options,
    rounds: &Rounds<'_>,
    progress: &dyn Progress,
    interrupt: &Interrupt,
    report: impl FnMut(Report) -> ControlFlow<()>,
) -> Result<Summary, PathError> {
    let mut context = context_of(collection, options, progress, interrupt);
    context.now = Some(rounds.clock.now());
    let scope = Scope::All(names);
    if options.depth == Depth::Quick || names.has_dates() {
        return run(collection, scope, options.jobs, &context, Keeping::default(), report);
    }
    context.deadline = rounds.deadline();
    let (choice, mut record) = rounds.begin(collection, names);
    let keeping = Keeping { choice, record: Some(&mut record) };
    let ended = run(collection, scope, options.jobs, &context, keeping, report);
    let is_cut_short = |summary: &Summary| summary.interrupted || summary.out_of_time;
    let round = record.finish(ended.as_ref().map_or(true, is_cut_short));
    Ok(Summary { round, ..ended? })
}

/// The context of a run, which checks the links of what it reads.
fn context_of<'a>(
    collection: &'a Collection,
    options: Options,
    progress: &'a dyn Progress,
    interrupt: &'a Interrupt,
) -> Context<'a> {
    let links = (options.depth != Depth::Quick).then(|| LinkCheck::new(collection));
    Context { links, ..Context::of_run(options, progress, interrupt) }
}

fn run(
    collection: &Collection,
    scope: Scope<'_>,
    jobs: usize,
    context: &Context<'_>,
    keeping: Keeping<'_, '_>,
    report: impl FnMut(Report) -> ControlFlow<()>,
) -> Result<Summary, PathError> {
    let Keeping { choice, record } = keeping;
    let work = Work { collection, context, is_ledger_told: AtomicBool::default() };
    let (queue, answers) = mpsc::sync_channel(UNDER_WAY);
    let (summary, ibips) = (Summary::default(), Ibips::default());
    let mut collector = Collector { summary, context, record, ibips, shortage: None, report };
    let all = match &scope {
        Scope::All(names) => Some((*names).clone()),
        Scope::Items(_) => None,
    };
    let collect = || {
        let _abandon = AbandonOnDrop(&context.abandoned);
        if collector.collect(answers).is_break()
            || all.is_some_and(|names| collector.compare_ibips(collection, &names).is_break())
        {
            collector.summary.interrupted = true;
        }
    };
    // Without reading files, there is nothing to compute.
    let threads = match context.depth {
        Depth::Quick => request_threads(jobs, open_at_most(MOST_REQUESTS)),
        Depth::Full | Depth::FromDisk => jobs,
    };
    let driven = drive(
        threads,
        |tasks| {
            let queue = queue;
            Lister::new(&work, tasks, &queue, choice).feed(scope);
        },
        collect,
    );
    driven.on("start threads to verify", collection.path())?;
    collector.shortage.map_or(Ok(collector.summary), Err)
}

/// Makes the threads stop when the answers are no longer wanted.
struct AbandonOnDrop<'a>(&'a Interrupt);

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        self.0.request();
    }
}

struct Collector<'a, 'r, R> {
    summary: Summary,
    context: &'a Context<'a>,
    record: Option<&'a mut RoundRecord<'r>>,
    ibips: Ibips,
    /// A shortage of descriptors or memory in this process, which is not damage.
    shortage: Option<PathError>,
    report: R,
}

impl<R: FnMut(Report) -> ControlFlow<()>> Collector<'_, '_, R> {
    /// Takes all answers, or stops.
    fn collect(&mut self, answers: Receiver<FeedEvent>) -> ControlFlow<()> {
        for answer in answers {
            match answer {
                FeedEvent::Found(finding) => self.tell(Report::Tree(finding))?,
                FeedEvent::Compared(report) => self.tell(report)?,
                FeedEvent::Unlisted(finding) => {
                    self.summary.unlisted = true;
                    self.tell(Report::Tree(finding))?;
                }
                FeedEvent::Skipped => self.summary.skipped += 1,
                FeedEvent::Awaited(items, answers) => {
                    let mut items = items.iter();
                    for (told, _) in answers.into_iter().flatten().zip(&mut items) {
                        self.take(told)?;
                    }
                    // No answer comes when a thread has panicked, which the end of the scope passes on.
                    if items.len() > 0 {
                        return ControlFlow::Break(());
                    }
                }
                FeedEvent::Interrupted => return ControlFlow::Break(()),
                FeedEvent::OutOfTime => self.summary.out_of_time = true,
            }
        }
        ControlFlow::Continue(())
    }

    fn take(&mut self, told: JobResult) -> ControlFlow<()> {
        match told {
            Ok(report) => return self.verified(report),
            Err(Unverified::OutOfTime) => self.summary.out_of_time = true,
            Err(Unverified::Stopped) => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn verified(&mut self, told: Report) -> ControlFlow<()> {
        self.check_shortage(&told)?;
        if let Report::Item(item) = &told {
            if let Some(ibip) = &item.ibip {
                self.ibips.note(ibip);
            }
            self.context.progress.finish_item(item.name.as_str());
            if let Some(record) = &mut self.record {
                record.verified(&item.name, !is_clean(item));
                // Other threads verify items behind the first one for which there was no time.
                if !self.summary.out_of_time {
                    record.advance(&item.name);
                }
            }
        }
        self.tell(told)
    }

    /// Reports the verified items that share an `IBIp`.
    fn compare_ibips(&mut self, collection: &Collection, names: &Names) -> ControlFlow<()> {
        let ibips = std::mem::take(&mut self.ibips);
        let findings = ibips.findings(collection, names);
        findings.into_iter().try_for_each(|finding| self.tell(Report::Tree(finding)))
    }

    fn check_shortage(&mut self, told: &Report) -> ControlFlow<()> {
        let checked = match told {
            Report::Item(item) => item.findings.check_shortage(),
            Report::Tree(finding) => finding.check_shortage(),
        };
        let Err(error) = checked else { return ControlFlow::Continue(()) };
        self.shortage.get_or_insert(error);
        ControlFlow::Break(())
    }

    fn tell(&mut self, told: Report) -> ControlFlow<()> {
        self.check_shortage(&told)?;
        self.summary.count(&told);
        (self.report)(told)
    }
}

fn is_clean(item: &ItemReport) -> bool {
    let is_gone = item.findings.as_slice().iter().any(|found| found.code == Code::ItemGone);
    !item.findings.is_damage() && !is_gone
}
