//! `urepo verify`: compare collections with their sidecars, and with each other.

mod report;
mod summary;
mod targets;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use urepo::clock::Clock as _;
use urepo::collection::{Collection, Names};
use urepo::disk::PathError;
use urepo::identity::{Instant, Prefix, RepositoryName};
use urepo::layout;
use urepo::progress::{Progress, Scan, with_scan};
use urepo::verify::{
    self, Code, Comparison, Depth, Disagreement, Finding, Options, Place, RelationCheck, Rounds,
    Scope, Severity, Summary, compare, compare_items, note_damaged, verify, verify_in_rounds,
};

use crate::cli::Done;
use crate::cli::context::{Context, name_of_item};
use crate::cli::did::Did;
use crate::cli::failure::{Failure, go_on};
use crate::cli::human::parse_duration;
use crate::cli::report::Report;
use crate::cli::select::{Selection, SelectionFlags};
use crate::cli::twins::Twin;
use report::Reporter;
use summary::{Compared, Ending};
use targets::Targets;

/// Check items: structure, sidecars, and every byte against its digest
///
/// Prints one line for each finding: its severity, the item, the file, the fault and its code; in a pipe with tabs between them.
/// -v adds digests, dates and other values. With damage the exit
/// code is 20. The severity of a place that you may not read is `unread`, because its state is unknown; if
/// there is no damage besides, the exit code is 3. The codes never change their meaning; urepo(7) lists them.
///
/// --prefix, --since and --until select a part of the collection; items that vanished from it are found, too.
///
/// Several collections are verified one after the other and then compared, by their sidecars: each item
/// should have one Original, and its Copies should agree with it. Copies without an Original in the given
/// collections are reported.
///
/// Links to other items are read on the way: symbolic links, and the relative links in HTML and Markdown files of at most
/// 16 MiB. A link that leaves its item and is broken is a warning (U507).
///
/// Items named together with collections are verified in each collection that has them, and compared. An item
/// that is in none of them is an error.
///
/// Nothing is repaired. --time-limit verifies a collection that is too large for one night in rounds: .urepo/round says
/// how far the last run came, and which items were damaged. These are verified in each run, until they are whole. You may
/// delete the file; if it cannot be written, the next run begins where this one did.
#[derive(Debug, clap::Args)]
#[command(mut_arg("state", |state| state.hide(true)))]
pub(crate) struct Verify {
    /// Items, collections, or items and the collections to verify them in. A collection is a root or a
    /// name in the settings. All of the collection unless given
    #[arg(value_name = "ITEM|COLLECTION")]
    targets: Vec<String>,
    /// Check only that the files exist and have the right sizes, without reading them or their links
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    flags: SelectionFlags,
    /// Start no more items after this time, such as 5h; the next run continues, until the round is
    /// complete
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with_all = ["quick", "since", "until", "dry_run"])]
    time_limit: Option<Duration>,
}

impl Verify {
    pub(crate) fn run(&self, context: &Context) -> Done {
        if self.flags.state.is_some() {
            return Err(Failure::usage("`--state` cannot be used with `verify`")
                .caused_by("an item that is damaged or gone has no state that could be trusted")
                .hint("leave it out, and select items by `--prefix`, `--since` or `--until`"));
        }
        let mut targets = targets::of(context, &self.targets)?;
        let items = std::mem::take(&mut targets.items);
        let selection = Selection::new(items, self.flags.clone())?;
        if selection.names_items() {
            return self.run_on_items(context, &targets, &selection);
        }
        let report = Report::reading(context, Did::Sound, false);
        self.run_on(context, &targets, (&selection, None), report)
    }

    fn run_on_items(&self, context: &Context, targets: &Targets, selection: &Selection) -> Done {
        self.refuse_with_items()?;
        let mut report = Report::reading(context, Did::Sound, selection.is_single());
        let names = report.look_up(selection, |text| targets.find(text))?;
        self.run_on(context, targets, (selection, Some(names)), report)
    }

    /// Options for whole collections have no meaning for single items.
    fn refuse_with_items(&self) -> Done {
        match self.time_limit {
            Some(_) => Err(Failure::usage("`--time-limit` cannot be used with items")
                .hint("items that are named are always verified, all of them")),
            None => Ok(()),
        }
    }

    fn run_on(
        &self,
        context: &Context,
        targets: &Targets,
        (selection, items): (&Selection, Option<Vec<RepositoryName>>),
        report: Report<'_>,
    ) -> Done {
        let progress = context.progress();
        let mut ending = Ending::new(context, targets);
        let run = VerifyRun {
            verify: self,
            context,
            roots: &targets.roots,
            names: selection.filter(context),
            called: match &targets.roots[..] {
                [_] => Vec::new(),
                several => several.iter().map(|it| context.called(it, several)).collect(),
            },
            first: OnceCell::new(),
            seen: RefCell::default(),
            damaged: RefCell::default(),
            put_back: RefCell::default(),
            unread: RefCell::default(),
            relations: RefCell::default(),
        };
        let has_names = items.is_some();
        if let Some(names) = items {
            run.items(&names, &*progress, &mut ending)?;
        } else if self.time_limit.is_some() {
            // The skipped items cannot be known beforehand.
            run.all(&*progress, &mut ending)?;
        } else {
            run.all_measured(&*progress, &mut ending)?;
        }
        drop(progress);
        if context.interrupt.requested() && !has_names {
            ending.listed = run.count();
        }
        ending.seen = run.seen.into_inner();
        (ending.damaged, ending.put_back) = (run.damaged.into_inner(), run.put_back.into_inner());
        ending.finish(report)
    }
}

/// How long a stopped run may go on.
const MOMENT: Duration = Duration::from_millis(300);

struct VerifyRun<'a> {
    verify: &'a Verify,
    context: &'a Context,
    roots: &'a [Collection],
    names: Names,
    /// What people call the roots, if there are several.
    called: Vec<String>,
    /// The prefix of the first item that has a finding.
    first: OnceCell<Prefix>,
    /// The codes of the findings.
    seen: RefCell<BTreeSet<Code>>,
    /// The items that are damaged, or behind, with the ids of the collections where their payload is.
    damaged: RefCell<BTreeMap<RepositoryName, Vec<String>>>,
    /// The roots whose ledger was put back.
    put_back: RefCell<BTreeSet<usize>>,
    /// The roots with the items, and the places outside items, that could not be read.
    unread: RefCell<BTreeSet<(usize, PathBuf)>>,
    /// The relations of the items.
    relations: RefCell<RelationCheck>,
}

impl VerifyRun<'_> {
    fn options(&self) -> Options {
        let depth = if self.verify.quick { Depth::Quick } else { Depth::Full };
        Options { depth, jobs: self.context.config.jobs.value }
    }

    /// Verifies the items `names` in each root that should have them, then compares them.
    fn items(
        &self,
        names: &[RepositoryName],
        progress: &dyn Progress,
        ending: &mut Ending<'_>,
    ) -> Done {
        let held = |root: &Collection| {
            let is_here = |name: &&RepositoryName| {
                // A single collection reports why the item is absent. A vanished item is damage.
                self.roots.len() == 1
                    || name_of_item(root, name.as_str())
                        .map_or_else(|it| !it.is_absence(), |_| true)
            };
            names.iter().filter(is_here).cloned().collect::<Vec<_>>()
        };
        let held: Vec<_> = self.roots.iter().map(held).collect();
        progress.announce(held.iter().map(|names| names.len() as u64).sum());
        for (at, names) in held.iter().enumerate() {
            let scope = Scope::Items(Box::new(names.iter().cloned()));
            let summary = self.listening(at, |report| {
                let interrupt = &self.context.interrupt;
                verify(&self.roots[at], scope, self.options(), progress, interrupt, report)
            })?;
            ending.add(at, summary);
            if summary.interrupted {
                return Ok(());
            }
        }
        // Holdings of one item have the same relations, or are not the same, which comparing them reports.
        let mut roots = HashMap::new();
        for (at, names) in held.iter().enumerate() {
            for name in names {
                roots.entry(name).or_insert(at);
            }
        }
        let first = |name| Some((*roots.get(name)?, name));
        ending.add_relations(self.relations_of(names.iter().filter_map(first))?);
        if self.roots.len() > 1 && !self.context.interrupt.requested() {
            ending.compared = Some(Compared::Yes(self.compare(Some(names))?));
        }
        Ok(())
    }

    /// Verifies each root while a scan finds the totals of all.
    fn all_measured(&self, progress: &dyn Progress, ending: &mut Ending<'_>) -> Done {
        let (names, roots) = (&self.names, self.roots);
        let scan = |scan: &Scan<'_>| roots.iter().try_for_each(|root| names.measure(root, scan));
        with_scan(progress, Some(scan), |progress| self.all(progress, ending))
    }

    /// Verifies each root, then compares them.
    fn all(&self, progress: &dyn Progress, ending: &mut Ending<'_>) -> Done {
        let begun = self.context.clock.now();
        for (at, root) in self.roots.iter().enumerate() {
            // Each root has its share of the remaining time, so none waits forever.
            let shares = u32::try_from(self.roots.len() - at).unwrap_or(u32::MAX);
            let time_limit = self.time_left(begun).map(|left| left / shares);
            let rounds = Rounds { clock: &self.context.clock, time_limit };
            let summary = self.listening(at, |report| {
                let interrupt = &self.context.interrupt;
                let (names, options) = (&self.names, self.options());
                if self.context.global.dry_run {
                    return verify(root, Scope::All(names), options, progress, interrupt, report);
                }
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
        if !self.verify.quick && !self.context.global.dry_run && self.names.is_all() {
            let read = ending.read_whole().map(|at| &self.roots[at]);
            read.for_each(|root| self.context.note_seen(root, root.path(), 0));
        }
        if self.roots.len() > 1 {
            ending.compared = Some(match self.time_left(begun) {
                Some(Duration::ZERO) => Compared::NoTime,
                _ => Compared::Yes(self.compare(None)?),
            });
        }
        Ok(())
    }

    /// The number of items in all roots, unless counting them takes longer than a person waits for a run to stop.
    fn count(&self) -> Option<u64> {
        let begun = self.context.clock.now();
        let (mut items, mut is_late) = (0, false);
        for root in self.roots {
            let counted = root.visit_names(&self.names, |_| {
                items += 1;
                if items % 1000 == 0 {
                    let passed = self.context.clock.now().duration_since(begun);
                    is_late = passed.is_none_or(|passed| passed > MOMENT);
                }
                let flow = if is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
                Ok::<_, PathError>(flow)
            });
            counted.ok().filter(|()| !is_late)?;
        }
        Some(items)
    }

    /// The rest of the time limit, if there is one.
    fn time_left(&self, begun: Instant) -> Option<Duration> {
        let limit = self.verify.time_limit?;
        let passed = self.context.clock.now().duration_since(begun).unwrap_or_default();
        Some(limit.saturating_sub(passed))
    }

    /// Reports faults in relations between the items of all roots. Returns their number.
    fn relations(&self) -> Result<(ControlFlow<()>, u64), Failure> {
        let roots: Vec<_> = self.roots.iter().collect();
        let interrupt = &self.context.interrupt;
        self.disagreements(|report| {
            self.relations.take().finish(&roots, &self.names, interrupt, report)
        })
    }

    /// The same for some items, each with its root.
    fn relations_of<'n>(
        &self,
        mut items: impl Iterator<Item = (usize, &'n RepositoryName)>,
    ) -> Result<(ControlFlow<()>, u64), Failure> {
        let roots: Vec<_> = self.roots.iter().collect();
        self.disagreements(|report| {
            items.try_for_each(|(at, name)| RelationCheck::of_item(&roots, at, name, &mut *report))
        })
    }

    /// Prints the contradictions that `act` reports. Returns their number.
    fn disagreements<T>(
        &self,
        act: impl FnOnce(&mut dyn FnMut(Disagreement) -> ControlFlow<()>) -> T,
    ) -> Result<(T, u64), Failure> {
        let (mut unwritten, mut count) = (None, 0);
        let done = act(&mut |disagreement| {
            self.see(std::slice::from_ref(&disagreement.finding));
            let code = disagreement.finding.code;
            let is_odd = disagreement.has_remedy;
            let is_damage = code.severity() == Severity::Damage;
            if let Some(name) = disagreement.name.as_ref().filter(|_| is_odd || is_damage) {
                self.damaged.borrow_mut().entry(name.clone()).or_default();
            }
            count += 1;
            let reporter = self.reporter(disagreement.root);
            go_on(reporter.disagreement(&disagreement), &mut unwritten)
        });
        unwritten.map_or(Ok((done, count)), Err)
    }

    fn see(&self, found: &[Finding]) {
        self.seen.borrow_mut().extend(found.iter().map(|found| found.code));
    }

    /// Compares the holdings of `names`, or of all selected items, in the roots.
    fn compare(&self, names: Option<&[RepositoryName]>) -> Result<Comparison, Failure> {
        let roots: Vec<_> = self.roots.iter().collect();
        let interrupt = &self.context.interrupt;
        let mut told_before = 0;
        let (compared, _) = self.disagreements(|report| {
            let report = |told: Disagreement| {
                // One fault is one finding.
                if self.is_unread_again(told.root, told.name.as_ref(), &told.finding) {
                    told_before += 1;
                    return ControlFlow::Continue(());
                }
                report(told)
            };
            match names {
                Some(names) => compare_items(&roots, names, interrupt, report),
                None => compare(&roots, &self.names, interrupt, report),
            }
        })?;
        self.hint_at_new_ids()?;
        let compared = compared?;
        Ok(Comparison { damage: compared.damage - told_before, ..compared })
    }

    /// Whether `found` says that something cannot be read of which another finding said so.
    fn is_unread_again(&self, root: usize, name: Option<&RepositoryName>, found: &Finding) -> bool {
        let path = name.map_or_else(|| found.place.to_path(), layout::item_directory);
        found.code == Code::Unreadable && !self.unread.borrow_mut().insert((root, path))
    }

    /// Names the way to compare copies of a whole collection that both went on: one becomes another collection.
    fn hint_at_new_ids(&self) -> Done {
        for (at, root) in self.roots.iter().enumerate() {
            let twin = self.roots[..at].iter().find(|before| before.id() == root.id());
            let Some(twin) = twin.filter(|_| !self.context.printer.json) else { continue };
            if !twin.has_same_root(root)? && Twin::of(twin, root)? == Twin::Apart {
                let root = self.context.word_of(root.path());
                self.context.printer.hint(&format!(
                    "`urepo -c {root} recover --new-id` makes another collection of `{root}`"
                ));
            }
        }
        Ok(())
    }

    /// Runs `act` with a listener that prints the reports about a root.
    fn listening(
        &self,
        root: usize,
        act: impl FnOnce(
            &mut dyn FnMut(verify::Report) -> ControlFlow<()>,
        ) -> Result<Summary, PathError>,
    ) -> Result<Summary, Failure> {
        let reporter = self.reporter(root);
        let (mut unwritten, mut damaged) = (None, Vec::new());
        let ended = act(&mut |report| {
            let found = match &report {
                verify::Report::Item(item) => item.findings.as_slice(),
                verify::Report::Tree(found) => std::slice::from_ref(found),
            };
            self.see(found);
            let name = match &report {
                verify::Report::Item(item) => Some(&item.name),
                verify::Report::Tree(_) => None,
            };
            for found in found {
                self.is_unread_again(root, name, found);
            }
            if found.iter().any(|found| found.code == Code::LedgerPutBack) {
                self.put_back.borrow_mut().insert(root);
            }
            if let verify::Report::Tree(found) = &report
                && let (Code::ItemReturned, Place::Tree(path)) = (found.code, &found.place)
                && let Ok(name) = path.to_string_lossy().parse()
            {
                self.damaged.borrow_mut().entry(name).or_default();
            }
            if let verify::Report::Item(item) = &report {
                self.relations.borrow_mut().note(item);
                // No damage, but the table has a row.
                if item.findings.is_seen_damage() || found.iter().any(|it| it.code.is_open()) {
                    let is_payload =
                        |it: &Finding| it.is_seen_damage() && it.code.number() / 100 == 2;
                    let mut noted = self.damaged.borrow_mut();
                    let at = noted.entry(item.name.clone()).or_default();
                    let id = self.roots[root].id().to_owned();
                    at.extend(found.iter().any(is_payload).then_some(id));
                }
                damaged.extend(item.findings.is_damage().then(|| item.name.clone()));
            }
            go_on(reporter.report(&report), &mut unwritten)
        });
        if !self.context.global.dry_run {
            note_damaged(&self.roots[root], &damaged);
        }
        let summary = ended?;
        unwritten.map_or(Ok(summary), Err)
    }

    fn reporter(&self, root: usize) -> Reporter<'_> {
        Reporter {
            printer: &self.context.printer,
            root: &self.roots[root],
            called: self.called.get(root).map(String::as_str),
            first: &self.first,
        }
    }
}
