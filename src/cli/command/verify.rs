//! `urepo verify`: is the collection what its sidecars say it is, and do several agree?

mod ending;
mod targets;
mod tell;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use urepo::clock::Clock as _;
use urepo::collection::{Collection, Names};
use urepo::disk::PathError;
use urepo::identity::{Instant, RepositoryName};
use urepo::progress::{Announced, Progress};
use urepo::verify::{
    self, Code, Depth, Disagreement, Options, RelationCheck, Rounds, Scope, Summary, compare,
    verify, verify_in_rounds,
};

use super::transfer::SetOnDrop;
use crate::cli::Done;
use crate::cli::context::{Context, name_of_item};
use crate::cli::failure::Failure;
use crate::cli::human::parse_duration;
use crate::cli::report::{End, Report};
use crate::cli::select::{Failures, Selection, SelectionFlags};
use ending::{Compared, Ending};
use targets::Target;
use tell::Teller;

/// Check items: structure, sidecars, and every byte against its digest
///
/// Prints one line a finding: its code, how much it matters, where it is and what is wrong. Damage
/// makes the exit code 20. The codes never change their meaning; urepo(1) lists them.
///
/// --prefix, --since and --until narrow that to a part of the collection: items that vanished from it are found,
/// too. Runs with dates take no note of when items were verified.
///
/// Several collections are verified one after the other and then compared, by their sidecars: there
/// is one Original of each item, and its Copies are like it. The Copies that have no Original in the
/// collections given are reported.
///
/// Nothing is repaired, and nothing is written but the dates, in .urepo/verified, at which items were
/// found whole: a collection that is too large for a night is verified in rounds by --time-limit. A
/// damaged item has no date and is verified each time. The dates may be removed; where they cannot be
/// written, or while another run writes them, items are verified all the same.
#[derive(Debug, clap::Args)]
#[command(mut_arg("state", |state| state.hide(true)), after_long_help = "\
Examples:
  urepo verify
  urepo verify --quick
  urepo verify 11.21.02.13
  urepo verify archive mirror
  urepo verify --since yesterday
  urepo verify --time-limit 5h
  urepo verify --older-than 30d
  urepo -q verify || echo 'the archive needs a look'")]
pub(crate) struct Verify {
    /// Items; or collections, by their roots or names in the settings. All of the collection unless
    /// given
    #[arg(value_name = "ITEM|COLLECTION")]
    targets: Vec<String>,
    /// Do not read the files: only that they are there, with their sizes
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    flags: SelectionFlags,
    /// Skip what was verified more recently than so long ago, such as 30d
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with_all = ["quick", "since", "until"])]
    older_than: Option<Duration>,
    /// Begin no more items after so long, such as 5h; the next run goes on, until the round is
    /// complete
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with_all = ["quick", "since", "until"])]
    time_limit: Option<Duration>,
}

impl Verify {
    pub(crate) fn run(&self, context: &Context) -> Done {
        if self.flags.state.is_some() {
            return Err(Failure::usage("`--state` cannot be used with `verify`")
                .caused_by("an item that is damaged or gone has no state that could be trusted")
                .hint("leave it out, and select items by `--prefix`, `--since` or `--until`"));
        }
        let (items, mut roots) = match targets::of(context, &self.targets)? {
            Target::Items(texts) => (texts.to_vec(), vec![context.collection()?]),
            Target::Roots(roots) => (Vec::new(), roots),
        };
        let selection = Selection::new(items, self.flags.clone())?;
        if !selection.names_items() {
            let report = Report::reading(context, "verified", false);
            return self.run_on(context, &roots, (&selection, None), report);
        }
        match roots.pop() {
            Some(root) if roots.is_empty() => self.run_on_items(context, root, &selection),
            _ => Err(Failure::usage("a list of items is about one collection").hint(
                "name one collection, or select items by `--prefix`, `--since` or `--until`",
            )),
        }
    }

    fn run_on_items(&self, context: &Context, root: Collection, selection: &Selection) -> Done {
        self.refuse_with_items()?;
        let mut report = Report::reading(context, "verified", selection.is_single());
        let failures = Failures::default();
        // What should be here and is not is damage, which the verification reports.
        let find = |text: &str| Ok(name_of_item(&root, text)?);
        let mut names = Vec::new();
        selection.named(context, &failures, find)?.into_feed()(&mut |name| {
            // A whole identifier was not looked up yet.
            if let Err(error) = name_of_item(&root, name.as_str()) {
                return report.failed(name.as_str(), error.into());
            }
            names.push(name);
            if context.interrupt.requested() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        let _ = report.unresolved(&failures);
        self.run_on(context, &[root], (selection, Some(names)), report)
    }

    /// What is about whole collections has no meaning for single items.
    fn refuse_with_items(&self) -> Done {
        let given = [
            ("--older-than", self.older_than.is_some()),
            ("--time-limit", self.time_limit.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(Failure::usage(format!("`{flag}` cannot be used with items"))
                .hint("items that are named are always verified, all of them")),
            None => Ok(()),
        }
    }

    fn run_on(
        &self,
        context: &Context,
        roots: &[Collection],
        (selection, items): (&Selection, Option<Vec<RepositoryName>>),
        report: Report<'_>,
    ) -> Done {
        if context.global.dry_run {
            context.printer.note("verify changes nothing; there is nothing to try dry");
            return report.finish(End::default());
        }
        let progress = context.progress();
        let mut ending = Ending::new(context, roots, self.older_than);
        let run = VerifyRun {
            verify: self,
            context,
            roots,
            names: selection.filter(context),
            seen: RefCell::default(),
            relations: RefCell::default(),
        };
        if let Some(names) = items {
            progress.announce(names.len() as u64);
            let scope = Scope::Items(Box::new(names.clone().into_iter()));
            let summary = run.listening(0, |report| {
                let interrupt = &context.interrupt;
                verify(&roots[0], scope, run.options(), &*progress, interrupt, report)
            })?;
            ending.add(0, summary);
            if !summary.interrupted {
                ending.add_relations(run.relations_of(&names)?);
            }
        } else if self.older_than.is_some() || self.time_limit.is_some() || !progress.is_shown() {
            // Nobody knows beforehand what will be left out.
            run.all(&*progress, &mut ending)?;
        } else {
            run.all_measured(&*progress, &mut ending)?;
        }
        drop(progress);
        ending.seen = run.seen.into_inner();
        ending.finish(report)
    }
}

struct VerifyRun<'a> {
    verify: &'a Verify,
    context: &'a Context,
    roots: &'a [Collection],
    names: Names,
    /// The codes of what was found.
    seen: RefCell<BTreeSet<Code>>,
    /// What leads from the items to others.
    relations: RefCell<RelationCheck>,
}

impl VerifyRun<'_> {
    fn options(&self) -> Options {
        let depth = if self.verify.quick { Depth::Quick } else { Depth::Full };
        Options { depth, jobs: self.context.config.jobs.value }
    }

    /// Verifies each root while all of them are measured, so that it is known how much is left.
    fn all_measured(&self, progress: &dyn Progress, ending: &mut Ending<'_>) -> Done {
        let is_over = AtomicBool::new(false);
        let (names, roots) = (&self.names, self.roots);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let go_on = || !is_over.load(Ordering::Relaxed);
                let measure = |root| names.measure(root, progress, go_on);
                if let Some(items) = roots.iter().map(measure).sum() {
                    progress.announce(items);
                }
            });
            let _over = SetOnDrop(&is_over);
            self.all(&Announced(progress), ending)
        })
    }

    /// Verifies each root, then compares them.
    fn all(&self, progress: &dyn Progress, ending: &mut Ending<'_>) -> Done {
        let begun = self.context.clock.now();
        for (at, root) in self.roots.iter().enumerate() {
            // Each root has its share of the time that is left: none waits for ever.
            let shares = u32::try_from(self.roots.len() - at).unwrap_or(u32::MAX);
            let rounds = Rounds {
                clock: &self.context.clock,
                agent: &self.context.agent,
                lock_wait: self.context.config.lock_wait.value,
                older_than: self.verify.older_than,
                time_limit: self.time_left(begun).map(|left| left / shares),
            };
            let summary = self.listening(at, |report| {
                let interrupt = &self.context.interrupt;
                let (names, options) = (&self.names, self.options());
                verify_in_rounds(root, names, options, &rounds, progress, interrupt, report)
            })?;
            ending.add(at, summary);
            if summary.interrupted {
                return Ok(());
            }
        }
        ending.add_relations(self.relations()?);
        if self.context.interrupt.requested() {
            return Ok(());
        }
        if self.roots.len() > 1 {
            ending.compared = Some(match self.time_left(begun) {
                Some(Duration::ZERO) => Compared::NoTime,
                _ => Compared::Yes(self.compare()?),
            });
        }
        Ok(())
    }

    /// What is left of the time limit, if there is one.
    fn time_left(&self, begun: Instant) -> Option<Duration> {
        let limit = self.verify.time_limit?;
        let passed = self.context.clock.now().duration_since(begun).unwrap_or_default();
        Some(limit.saturating_sub(passed))
    }

    /// Reports what is wrong with relations between the items of all roots. Returns their number.
    fn relations(&self) -> Result<(ControlFlow<()>, u64), Failure> {
        let roots: Vec<_> = self.roots.iter().collect();
        let interrupt = &self.context.interrupt;
        self.disagreements(|report| {
            self.relations.take().finish(&roots, &self.names, interrupt, report)
        })
    }

    /// The same for the items `names` of the one root.
    fn relations_of(&self, names: &[RepositoryName]) -> Result<(ControlFlow<()>, u64), Failure> {
        let roots: Vec<_> = self.roots.iter().collect();
        self.disagreements(|report| {
            names.iter().try_for_each(|name| RelationCheck::of_item(&roots, 0, name, &mut *report))
        })
    }

    /// Prints the disagreements that `act` reports. Returns their number.
    fn disagreements(
        &self,
        act: impl FnOnce(&mut dyn FnMut(Disagreement) -> ControlFlow<()>) -> ControlFlow<()>,
    ) -> Result<(ControlFlow<()>, u64), Failure> {
        let (mut unwritten, mut count) = (None, 0);
        let flow = act(&mut |disagreement| {
            self.seen.borrow_mut().insert(disagreement.finding.code);
            count += 1;
            let teller = self.teller(disagreement.root);
            go_on(teller.disagreement(&disagreement), &mut unwritten)
        });
        unwritten.map_or(Ok((flow, count)), Err)
    }

    fn compare(&self) -> Result<urepo::verify::Comparison, Failure> {
        let roots: Vec<_> = self.roots.iter().collect();
        let mut unwritten = None;
        let compared = compare(&roots, &self.names, &self.context.interrupt, |disagreement| {
            self.seen.borrow_mut().insert(disagreement.finding.code);
            let teller = self.teller(disagreement.root);
            go_on(teller.disagreement(&disagreement), &mut unwritten)
        })?;
        unwritten.map_or(Ok(compared), Err)
    }

    /// Runs `act` with a listener that prints what is reported of a root.
    fn listening(
        &self,
        root: usize,
        act: impl FnOnce(
            &mut dyn FnMut(verify::Report) -> ControlFlow<()>,
        ) -> Result<Summary, PathError>,
    ) -> Result<Summary, Failure> {
        let teller = self.teller(root);
        let mut unwritten = None;
        let summary = act(&mut |report| {
            let found = match &report {
                verify::Report::Item(item) => item.findings.as_slice(),
                verify::Report::Tree(found) => std::slice::from_ref(found),
            };
            self.seen.borrow_mut().extend(found.iter().map(|found| found.code));
            if let verify::Report::Item(item) = &report {
                self.relations.borrow_mut().note(item);
            }
            go_on(teller.report(&report), &mut unwritten)
        })?;
        unwritten.map_or(Ok(summary), Err)
    }

    fn teller(&self, root: usize) -> Teller<'_> {
        Teller {
            printer: &self.context.printer,
            root: &self.roots[root],
            is_one_of_several: self.roots.len() > 1,
        }
    }
}

/// Whether to go on, nobody being there to read.
fn go_on(written: Done, unwritten: &mut Option<Failure>) -> ControlFlow<()> {
    match written {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            *unwritten = Some(error);
            ControlFlow::Break(())
        }
    }
}
