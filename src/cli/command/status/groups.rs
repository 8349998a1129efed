//! The items of `urepo status`, in groups of one fault: for a person with titles, and the commands that mend them.

use std::collections::BTreeMap;

use urepo::clock::Clock as _;
use urepo::collection::Collection;
use urepo::holdings::{Holdings, JudgedHolding, holdings};
use urepo::identity::RepositoryName;

use super::fault::Fault;
use super::tally::Tally;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::in_sight::InSight;
use crate::cli::known::Known;
use crate::cli::printer::Verbosity;
use crate::cli::remedy::{self, Advice, CommandLine};
use crate::cli::{escape, human, shell};

/// Number of items of a group that are shown without `-v`.
const SHOWN: usize = 20;

/// The items with one fault.
#[derive(Default)]
struct Group {
    count: u64,
    names: Vec<RepositoryName>,
}

/// All that have a fault.
pub(super) struct Groups<'a> {
    context: &'a Context,
    known: &'a Known,
    in_sight: InSight<'a>,
    /// The names of the known collections in the settings.
    pub(super) called: Vec<String>,
    all: BTreeMap<Fault, Group>,
}

impl<'a> Groups<'a> {
    pub(super) fn new(context: &'a Context, known: &'a Known) -> Groups<'a> {
        let own = context.collection().ok().map(|own| own.id().to_owned());
        let called = |it: &Collection| context.called(it, &known.collections);
        Groups {
            context,
            known,
            in_sight: InSight::of_all(context, own, known.roots(), &known.missing_names),
            called: known.collections.iter().map(called).collect(),
            all: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, name: &RepositoryName, fault: &Fault) {
        let is_verbose = self.context.printer.verbosity > Verbosity::Normal;
        let group = self.all.entry(fault.clone()).or_default();
        group.count += 1;
        if is_verbose || group.names.len() < SHOWN {
            group.names.push(name.clone());
        }
    }

    /// The title of an item, as the first collection that can be read has it.
    fn title(&self, holdings: &Holdings) -> String {
        let read = |it: &JudgedHolding| {
            let (sidecar, _) =
                self.known.collections[it.collection].item(&it.name).ok()?.sidecar().ok()?;
            sidecar.metadata.title().map(str::to_owned)
        };
        holdings.all.iter().find_map(read).unwrap_or_default()
    }

    /// The title of an item, or why it cannot be read.
    pub(super) fn beside(&self, fault: &Fault, held: &Holdings) -> String {
        let reason = held.all.iter().find_map(|it| it.record.as_ref().err());
        match reason.filter(|_| fault.kind() == "unreadable") {
            Some(error) => Failure::of(Exit::Damage, error).in_one_line(),
            None => self.title(held),
        }
    }

    /// The remedy of an item.
    pub(super) fn remedies(&self, name: &RepositoryName) -> Vec<Advice> {
        self.in_sight.remedies(name, &[])
    }

    /// The collections where the item `name` is missing.
    pub(super) fn missing(&self, name: &RepositoryName) -> Vec<usize> {
        let is_missing = |at: &usize| self.in_sight.is_missing(name, &self.known.collections[*at]);
        (0..self.known.collections.len()).filter(is_missing).collect()
    }

    /// The groups in lines, the gravest first, without those that `-q` leaves out.
    pub(super) fn lines(&self, tally: &Tally) -> Vec<String> {
        let names: Vec<_> = self.all.values().flat_map(|group| &group.names).collect();
        let is_one_prefix = names.windows(2).all(|pair| pair[0].prefix() == pair[1].prefix());
        let mut lines = Vec::new();
        for (fault, group) in self.wanted() {
            lines.push(format!("{}: {}", fault.label(), fault.in_words(group.count, &self.called)));
            let held: Vec<_> =
                group.names.iter().map(|it| holdings(it, &self.known.collections)).collect();
            let rows = group.names.iter().zip(&held);
            let rows = rows.map(|(name, held)| {
                [
                    format!("  {}", human::identifier(name, is_one_prefix)),
                    escape::one_line(&self.beside(fault, held)),
                ]
            });
            let rows = human::columns(&rows.collect::<Vec<_>>(), 0..0);
            for (row, held) in rows.into_iter().zip(&held) {
                lines.push(row);
                if fault.kind() == "fork" {
                    lines.extend(self.changes(held));
                }
            }
            if let Some(more @ 1..) = group.count.checked_sub(group.names.len() as u64) {
                lines.push(format!("  and {more} more; -v names each"));
            }
            for (at, step) in self.steps(fault, group, tally).iter().enumerate() {
                lines.push(format!("  {} {step}", if at == 0 { "->" } else { "  " }));
            }
        }
        lines
    }

    /// The commands of the groups, each with what is wrong: for a pipe, whose lines have the items.
    pub(super) fn hints(&self, tally: &Tally) -> Vec<String> {
        let mut hints = Vec::new();
        for (fault, group) in self.wanted() {
            let steps = self.steps(fault, group, tally);
            hints.extend(steps.iter().map(|step| format!("{}: {step}", fault.label())));
        }
        hints
    }

    fn wanted(&self) -> impl Iterator<Item = (&Fault, &Group)> + '_ {
        let is_quiet = self.context.printer.verbosity == Verbosity::Quiet;
        self.all.iter().filter(move |(fault, _)| !is_quiet || !fault.is_notice())
    }

    /// What to type, by the table of remedies: one command for all items of the group, if there is one.
    fn steps(&self, fault: &Fault, group: &Group, tally: &Tally) -> Vec<String> {
        let root = |at: usize| self.context.word_of(self.known.collections[at].path());
        let run_in = |at: usize, command: &str| {
            let is_in_use = self.in_sight.is_in_use(&self.known.collections[at]);
            shell::command((!is_in_use).then(|| root(at)).as_deref(), command)
        };
        if fault.kind() == "few-copies" {
            let at = fault.at[0];
            let mut others = (0..self.known.collections.len()).filter(|it| *it != at);
            let to = match (others.next(), others.next()) {
                (Some(only), None) => root(only),
                _ => "COLLECTION".to_owned(),
            };
            return vec![run_in(at, &format!("copy --all --to {to}"))];
        }
        let advised: Vec<_> =
            group.names.iter().take(SHOWN).map(|name| (name, self.remedies(name))).collect();
        // Only a person knows that the Original of a Copy that is whole is lost.
        if fault.kind() == "orphan" && advised.iter().all(|(_, advice)| advice.is_empty()) {
            let which =
                if group.count == 1 { group.names[0].to_string() } else { "--all".to_owned() };
            let lost = match &self.known.missing_names[..] {
                [only] => only,
                _ => "COLLECTION",
            };
            let promote = format!("promote {which} --lost {lost}");
            return vec![
                format!("mount {lost}, or name the one with the Original by --with"),
                format!("if it is lost: {}", run_in(fault.at[0], &promote)),
            ];
        }
        let is_whole = |line: &CommandLine| {
            // What else `--all` would bring is not asked for.
            let from = line.other_root();
            let at_of = |path| self.known.collections.iter().position(|it| it.path() == path);
            let pair = from.and_then(at_of).zip(at_of(&line.at.path));
            pair.is_some_and(|(from, to)| tally.lacks([from, to]) == 0)
        };
        let steps = remedy::steps_of_each(&advised, is_whole);
        match fault.at.first() {
            Some(at) if steps.is_empty() => vec![run_in(*at, "verify --quick")],
            _ => steps,
        }
    }

    /// What was changed where, of an item that was changed in two places.
    fn changes(&self, held: &Holdings) -> Vec<String> {
        let records = held.all.iter().filter_map(|it| Some((it, it.record.as_ref().ok()?)));
        let records: Vec<_> = records.filter(|(_, it)| it.state.has_payload()).collect();
        let dates = || records.iter().map(|(_, it)| it.rule.changed);
        // Of one moment, neither is newer.
        let newest = dates().max().filter(|last| dates().filter(|date| date == last).count() == 1);
        let row = |(holding, record): &(&JudgedHolding, &urepo::holdings::HoldingRecord)| {
            let collection = &self.known.collections[holding.collection];
            let line = collection.last_record(&holding.name).ok().flatten();
            let (date, now) = (record.rule.changed, self.context.clock.now());
            let time = &human::minute(date)[11..];
            let change = line.as_ref().and_then(|it| it.changes.first());
            let change = change.and_then(|it| {
                let key = it.key.strip_prefix("metadata.").unwrap_or(&it.key);
                Some(format!("{key}: {}", it.after.as_ref()?))
            });
            let newer = if newest == Some(date) { "  newer" } else { "" };
            let by = line.and_then(|it| it.user).unwrap_or_default();
            [
                format!("    {}", self.called[holding.collection]),
                format!("{} {time}", human::day(date, now)),
                by,
                format!("{}{newer}", change.unwrap_or_else(|| "other contents".to_owned())),
            ]
        };
        human::columns(&records.iter().map(row).collect::<Vec<_>>(), 0..0)
    }
}
