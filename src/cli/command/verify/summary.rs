//! The end of a run: counts, the start of the next run, the exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use urepo::collection::Collection;
use urepo::identity::RepositoryName;
use urepo::layout;
use urepo::verify::{Code, Comparison, Round, Severity, Summary};

use super::targets::Targets;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::in_sight::InSight;
use crate::cli::printer::Verbosity;
use crate::cli::records::OneCollection;
use crate::cli::report::{End, Report};
use crate::cli::{Done, human, shell};

/// The result of comparing several roots.
pub(super) enum Compared {
    Yes(Comparison),
    NoTime,
}

/// The combined results of all roots.
pub(super) struct Ending<'a> {
    context: &'a Context,
    roots: &'a [Collection],
    /// Whether the command line names them.
    names_roots: bool,
    each: Vec<(usize, Summary)>,
    total: Summary,
    pub compared: Option<Compared>,
    /// The number of items in all roots, if a signal ended the run and it was counted.
    pub listed: Option<u64>,
    /// The codes of the findings.
    pub seen: BTreeSet<Code>,
    /// The items that are damaged, or behind, with the ids of the collections where their payload is.
    pub damaged: BTreeMap<RepositoryName, Vec<String>>,
    /// The roots whose ledger was put back.
    pub put_back: BTreeSet<usize>,
}

impl<'a> Ending<'a> {
    pub(super) fn new(context: &'a Context, targets: &'a Targets) -> Ending<'a> {
        Ending {
            context,
            roots: &targets.roots,
            names_roots: targets.names_roots,
            each: Vec::new(),
            total: Summary::default(),
            compared: None,
            listed: None,
            seen: BTreeSet::new(),
            damaged: BTreeMap::new(),
            put_back: BTreeSet::new(),
        }
    }

    /// Adds the result of verifying a root.
    pub(super) fn add(&mut self, root: usize, summary: Summary) {
        self.each.push((root, summary));
        self.total += summary;
    }

    /// The roots that were read to their ends.
    pub(super) fn read_whole(&self) -> impl Iterator<Item = usize> + '_ {
        self.each.iter().filter(|(_, it)| is_complete(it)).map(|(root, _)| *root)
    }

    /// Adds the findings about relations between items, unless stopped.
    pub(super) fn add_relations(&mut self, (flow, warnings): (ControlFlow<()>, u64)) {
        self.total.warnings += warnings;
        self.total.interrupted |= flow.is_break();
    }

    pub(super) fn finish(&self, mut report: Report<'_>) -> Done {
        let printer = &self.context.printer;
        let failed = report.errors();
        if printer.json && self.roots.len() > 1 {
            for (root, summary) in &self.each {
                printer.record(&OneCollection {
                    counts: Some(counts(summary).into_iter().collect()),
                    complete: Some(is_complete(summary)),
                    round: summary.round.map(round),
                    ..OneCollection::from(&self.roots[*root])
                })?;
            }
        }
        self.fill(&mut report);
        let items = human::count(self.total.items, "item");
        let steps = self.remedies()?;
        let fault = self.fault(&steps);
        if fault.is_none() {
            for step in &steps {
                printer.hint(step);
            }
        }
        let is_sound = fault.is_none() && (failed == 0 || self.total.items > 0);
        let (damage, partial) = if self.is_damaged() { (fault, None) } else { (None, fault) };
        let done = report.finish(End {
            done: Some(format!("{items} verified")),
            left: self.listed.map(|all| all.saturating_sub(self.total.items + self.total.skipped)),
            damage,
            partial,
            closing: is_sound.then(|| self.success_message()),
            ..End::default()
        });
        if !printer.json {
            let notes = self.each.iter().filter_map(|(root, it)| self.next_run_note(*root, it));
            notes.for_each(|note| printer.note(&note));
            if self.seen.contains(&Code::LedgerBroken) {
                let hint = "`urepo recover --accept-loss` accepts damaged lines of the ledger";
                printer.note(&self.pasted(hint));
            }
            if self.seen.contains(&Code::OneSidedRelation) {
                printer.note(&self.pasted("repeat `urepo meta set` to complete the relation"));
            }
            if matches!(self.compared, Some(Compared::NoTime)) {
                printer.note("there was no time left to compare the collections");
            }
        }
        done
    }

    /// What mends the damaged items, by all collections in sight, in lines; with JSON a record of each, instead.
    fn remedies(&self) -> Result<Vec<String>, Failure> {
        let printer = &self.context.printer;
        let is_silent =
            printer.verbosity == Verbosity::Quiet && !printer.json && !self.is_damaged();
        if self.damaged.is_empty() && self.put_back.is_empty() || is_silent {
            return Ok(Vec::new());
        }
        let known = self.context.reachable();
        let in_use = match self.roots {
            [only] if !self.names_roots => Some(only.id().to_owned()),
            _ => None,
        };
        let collections = self.roots.iter().chain(known.roots());
        let in_sight = InSight::of_all(self.context, in_use, collections, &known.missing_names);
        let mut steps: Vec<_> =
            self.put_back.iter().map(|root| in_sight.accepted_ledger(&self.roots[*root])).collect();
        steps.extend(in_sight.steps(&self.damaged)?);
        Ok(steps)
    }

    fn comparison(&self) -> Comparison {
        match self.compared {
            Some(Compared::Yes(comparison)) => comparison,
            Some(Compared::NoTime) | None => Comparison::default(),
        }
    }

    /// The closing error: damage, or else the places that could not be read.
    fn fault(&self, steps: &[String]) -> Option<Failure> {
        let total = &self.total;
        let disagreements = self.comparison().damage;
        let exit = if self.is_damaged() { Exit::Damage } else { Exit::Partial };
        let mut facts = Vec::new();
        let places = |number| format!("{} outside the items", human::count(number, "place"));
        for (count, number, what) in [
            (total.damaged_items, total.tree_damage, "damaged"),
            (total.unread_items, total.unread_places, "could not be read"),
        ] {
            if count > 0 {
                facts.push(format!("{count} of {} {what}", human::count(total.items, "item")));
            }
            if number > 0 {
                let verb = if count > 0 { "" } else { what };
                facts.push(format!("{} {verb}", places(number)).trim_end().to_owned());
            }
        }
        if disagreements > 0 {
            let contradictions = human::count(disagreements, "contradiction");
            facts.push(format!("{contradictions} between the collections"));
        }
        let message = facts.join(", and ");
        (!facts.is_empty()).then(|| {
            let failure = Failure::new(exit, message);
            let usual = steps.is_empty().then(|| self.hint_without_remedy());
            let hint = self.hint().or(usual).map(|hint| self.pasted(hint));
            failure.hint(steps.iter().cloned().chain(hint).collect::<Vec<_>>().join("\n"))
        })
    }

    /// Whether there is damage, and not only something that this user may not read.
    fn is_damaged(&self) -> bool {
        self.total.is_damage() || self.comparison().damage > 0
    }

    /// `hint` for the roots that the command line names instead of `-c`.
    fn pasted(&self, hint: &str) -> String {
        match self.roots {
            _ if !self.names_roots => shell::pasted(hint),
            [root] => shell::pasted_in(hint, &self.context.word_of(root.path())),
            _ => shell::pasted_in(hint, "COLLECTION"),
        }
    }

    /// Hints outside the table of remedies: for edits by hand, and for paths that this user may not read.
    fn hint(&self) -> Option<&'static str> {
        let is_only = |code: Code| {
            let damage = || self.seen.iter().filter(|it| it.severity() == Severity::Damage);
            damage().all(|it| *it == code) && damage().next().is_some()
        };
        if is_only(Code::SealBroken) {
            Some(
                "if you edited the sidecar, `urepo repair ITEM --accept` shows the change and takes it",
            )
        } else if is_only(Code::Unreadable) && self.total.damaged_items == 0 {
            Some(
                "make the paths named above readable, and repeat the command: their state is unknown",
            )
        } else {
            None
        }
    }

    /// The hint where the table has no row.
    fn hint_without_remedy(&self) -> &'static str {
        // Only an adoption leaves items without lines.
        if self.seen.contains(&Code::SidecarMissing) {
            "`urepo init ROOT --adopt` finishes an adoption that was interrupted"
        } else if self.total.damaged_items > 0 {
            "`urepo repair ITEM --from COLLECTION` repairs it from a good copy; nothing here was changed"
        } else if self.total.tree_damage > 0 {
            "urepo(7) says what the codes mean; nothing here was changed"
        } else {
            "`urepo show ITEM` shows what each of them has"
        }
    }

    fn success_message(&self) -> String {
        let Summary { items, files, bytes, skipped, .. } = self.total;
        let mut text = format!(
            "verified {}, {}, {}",
            human::count(items, "item"),
            human::count(files, "file"),
            human::bytes(bytes)
        );
        if let Some(Compared::Yes(comparison)) = self.compared {
            let names = human::count(comparison.names, "identifier");
            text += &format!(", and compared {names} in {} collections", self.roots.len());
        }
        text += ": no damage";
        if skipped > 0 {
            let items = human::count(skipped, "item");
            text += &format!("; {items} skipped, verified earlier in this round");
        }
        text
    }

    /// The note on where the next run continues, if this one had a time limit.
    fn next_run_note(&self, root: usize, summary: &Summary) -> Option<String> {
        let root = &self.roots[root];
        let text = match summary.round? {
            // An interrupted run reports that itself.
            _ if summary.interrupted => return None,
            Round::Complete => "the round is complete; the next run begins another".to_owned(),
            Round::Open => "time is up; the next run continues from here".to_owned(),
            Round::Lost => {
                let note = root.path().join(layout::OWN).join(layout::ROUND);
                let note = note.display();
                format!(
                    "time is up; `{note}` cannot be written: the next run begins where this one did"
                )
            }
        };
        match self.roots {
            [_] => Some(text),
            _ => Some(format!("{}: {text}", root.path().display())),
        }
    }

    /// Fills in the last record.
    fn fill(&self, report: &mut Report<'_>) {
        let Comparison { names, damage, warnings, interrupted } = self.comparison();
        if let [root] = self.roots {
            report.summary.place = Some(root.into());
        }
        let is_compared = matches!(self.compared, Some(Compared::Yes(_))) && !interrupted;
        let total = &self.total;
        report.summary.round = total.round.map(round);
        report.summary.complete =
            Some(is_complete(total) && (is_compared || self.roots.len() == 1));
        let sum = &mut report.summary.counts;
        (sum.items, sum.skipped) = (total.items, Some(total.skipped));
        (sum.files, sum.bytes) = (Some(total.files), Some(total.bytes));
        sum.others = counts(total)
            .into_iter()
            .filter(|(what, _)| !["items", "skipped", "files", "bytes"].contains(what))
            .map(|(what, number)| (what.to_owned(), number))
            .collect();
        report.count("warnings", total.warnings + warnings);
        report.count("collections", self.roots.len() as u64);
        if is_compared {
            report.count("compared", names);
            report.count("contradictions", damage);
        }
    }
}

/// Whether neither a signal nor a time limit ended it.
fn is_complete(summary: &Summary) -> bool {
    !summary.interrupted && !summary.out_of_time
}

fn round(round: Round) -> &'static str {
    match round {
        Round::Complete => "complete",
        Round::Open => "open",
        Round::Lost => "lost",
    }
}

fn counts(summary: &Summary) -> [(&'static str, u64); 10] {
    [
        ("items", summary.items),
        ("skipped", summary.skipped),
        ("files", summary.files),
        ("bytes", summary.bytes),
        ("damaged", summary.damaged_items),
        ("damaged_places", summary.tree_damage),
        ("unread", summary.unread_items),
        ("unread_places", summary.unread_places),
        ("warnings", summary.warnings),
        ("notices", summary.notices),
    ]
}
