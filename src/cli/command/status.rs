//! `urepo status`: compare all known collections.

mod access;
mod counts;
mod fault;
mod groups;
mod machine;
mod report;
mod settings;
mod tally;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;

use urepo::collection::{Collection, CollectionError, Discrepancy, Names};
use urepo::holdings::{self, Holdings, JudgedHolding, Survey, holdings};
use urepo::identity::RepositoryName;
use urepo::item::States;

use crate::cli::context::{Context, put_back};
use crate::cli::did::Did;
use crate::cli::failure::{Failure, go_on};
use crate::cli::known::{Known, Missing};
use crate::cli::printer::Verbosity;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::{Done, escape};

use fault::Fault;
use groups::Groups;
use tally::Tally;

/// Show what needs attention, in all known collections
///
/// On a terminal, the collections come first, then the items that need attention: those with one fault together, at most 20
/// without -v, and below them what to type. In a pipe each item is a line: a word for its fault, its identifier, its title and
/// the fault, with tabs between them. An item with several faults is named once, with the gravest.
///
/// An Original should have as many current Copies in other collections as `copies = N` in the `urepo.toml` of its own collection
/// says: 1 in a new collection, none where it says nothing. A collection of the settings that is away has what it had when
/// `status` or `copy --all` last saw it. A collection of --with should have all. These are faults, too: an item that is missing
/// by the ledger of its collection, or that others got from there; an item.toml that cannot be read, or was changed by hand; an
/// item that was changed in two places, or has two Originals; one that is older than what another collection has, as after a
/// backup was put back; a move that was not finished; a Copy whose Original is in none of the collections, unless the item was
/// deleted. ITEM may be in any of the collections; `urepo show ITEM` lists those that have it.
///
/// The collections are those named in the settings, the one of -c or around the current directory, and those
/// of --with. Only sidecars are compared; `urepo verify` reads the files. The exit code is 0 without faults, 20 if an item is
/// missing or its item.toml is damaged, 23 if an item has two Originals or was changed in two places, and 3 with other faults or
/// if a collection could not be read. With --quiet only faults are printed.
///
/// --counts, --machine, --settings and --access show something else instead, each of the collection in use. The counts are
/// of items, files and bytes, by state, prefix, year and ending of a file's name; "repeated" are items whose files equal,
/// byte for byte, those of another item. They come from the index, a private cache that is built on first use. The order of
/// precedence of the settings is: the command line, UREPO_* variables, the `urepo.toml` of the collection, the file of the
/// user, the file of the machine.
#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    /// Compare with this collection as well, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION", conflicts_with = "View")]
    with: Vec<OsString>,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    view: View,
    #[cfg(feature = "serve")]
    #[command(flatten)]
    access: access::Access,
}

/// Views of the collection in use, in place of the comparison.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct View {
    /// Count items, files and bytes by state, prefix, year and format
    #[arg(long)]
    counts: bool,
    /// Show the identifier distributors, the clock and temporary files
    #[arg(long)]
    machine: bool,
    /// Show each setting and where it comes from
    #[arg(long)]
    settings: bool,
}

impl Status {
    /// Whether it shows something instead of judging the collections.
    pub(crate) fn is_answer(&self) -> bool {
        let View { counts, machine, settings } = self.view;
        counts || machine || settings
    }

    pub(crate) fn run(&self, context: &Context) -> Done {
        #[cfg(feature = "serve")]
        if self.access.is_requested() {
            self.refuse_selection("--access", self.selection.is_empty())?;
            return self.access.run(context);
        }
        let names = self.selection.filter(context);
        match self.view {
            View { counts: true, .. } => {
                let is_whole =
                    !self.selection.names_items() && self.selection.flags.state.is_none();
                self.refuse_selection("--counts", is_whole && !names.has_dates())?;
                return counts::run(context, names.prefix.as_ref());
            }
            View { machine: true, .. } => {
                self.refuse_selection("--machine", self.selection.is_empty())?;
                return machine::run(context);
            }
            View { settings: true, .. } => {
                self.refuse_selection("--settings", self.selection.is_empty())?;
                return settings::run(context);
            }
            View { .. } => {}
        }
        let known = context.known(&self.with)?;
        let report = Report::reading(context, Did::Sound, self.selection.is_single());
        let mut run = StatusRun {
            context,
            known: &known,
            wanted: self.wanted(context, &known),
            tally: Tally::new(&known),
            groups: Groups::new(context, &known),
            report,
        };
        let is_whole = if self.selection.names_items() {
            run.items(&self.selection)?;
            false
        } else {
            run.all(&names, self.selection.flags.state)?
        };
        for named in self.with.iter().filter(|_| is_whole) {
            let path = context.collection_path(named);
            if let Some(at) = known.collections.iter().position(|it| it.path() == path) {
                run.tally.judge_lacking(at, &run.groups.called[at]);
            }
        }
        if !self.selection.names_items() {
            run.tell_away();
        }
        run.finish(is_whole)
    }

    /// Refuses a selection that a view of the whole collection cannot heed.
    fn refuse_selection(&self, view: &str, is_heeded: bool) -> Done {
        if is_heeded {
            return Ok(());
        }
        Err(Failure::usage(format!("`{view}` shows the whole collection, not single items"))
            .hint("leave the items out; `--counts` takes `--prefix`"))
    }

    /// How many Copies in sight the Originals of each collection should have. Where no second collection is known, nothing is
    /// missing that could be there; and one that is away has all that it had when it was last seen.
    fn wanted(&self, context: &Context, known: &Known) -> Vec<u32> {
        let is_alone = known.collections.len() == 1 && known.missing.is_empty();
        let wanted = |collection: &Collection| {
            let has_all = |missing: &&Missing| {
                let seen = context.last_seen(collection, &missing.path);
                seen.is_some_and(|seen| seen.lacking == 0)
            };
            let away = known.missing.iter().filter(has_all).count();
            collection.settings().copies.saturating_sub(u32::try_from(away).unwrap_or(u32::MAX))
        };
        known.collections.iter().map(|it| if is_alone { 0 } else { wanted(it) }).collect()
    }
}

/// The word for an item that is missing by a ledger.
const VANISHED: &str = "vanished";

/// A comparison of the known collections, and its result so far.
struct StatusRun<'a> {
    context: &'a Context,
    known: &'a Known,
    /// How many Copies in sight the Originals of each collection should have.
    wanted: Vec<u32>,
    tally: Tally,
    groups: Groups<'a>,
    report: Report<'a>,
}

impl StatusRun<'_> {
    /// Judges the items that were named.
    fn items(&mut self, selection: &Selection) -> Done {
        let (known, wanted) = (self.known, selection.flags.state);
        let find = |text: &str| known.resolve(text);
        let feed = selection.named(self.context, find)?.into_feed();
        feed(&mut |name| {
            let found = holdings(&name, &known.collections);
            if !found.all.iter().any(|it| is_of_state(it, wanted)) && wanted.is_some() {
                return ControlFlow::Continue(());
            }
            let missing = self.groups.missing(&name);
            if found.all.is_empty() && missing.is_empty() {
                return self.report.failed(name.as_str(), known.no_item(name.as_str()));
            }
            let fault = (!missing.is_empty()).then(|| Fault::vanished(&found, missing));
            let told = self.look_at(&found, fault, true);
            self.report.written(told)
        })?;
        let _ = self.report.unresolved();
        Ok(())
    }

    /// Judges all items of `names`. Returns whether it came to the end.
    fn all(&mut self, names: &Names, state: Option<States>) -> Result<bool, Failure> {
        let (context, known) = (self.context, self.known);
        for (at, collection) in known.collections.iter().enumerate() {
            if context.is_put_back(collection)? {
                context.printer.warning(&put_back(collection));
                let root = context.word_of(collection.path());
                context.printer.hint(&format!(
                    "`urepo -c {root} recover --restored` accepts a backup that was put back"
                ));
                let called = &self.groups.called[at];
                self.tally.unseen.push(format!("the ledger of `{called}` was cut or put back"));
            }
        }
        // A missing item has no state.
        let mut contradicted =
            if state.is_none() { self.contradicted(names)? } else { BTreeMap::new() };
        let survey = Survey {
            collections: &known.collections,
            names,
            jobs: context.config.jobs.value,
            interrupt: &context.interrupt,
        };
        let mut unwritten = None;
        let ended = survey.run(|report| {
            let written = match report {
                holdings::Report::Item(found)
                    if !found.all.iter().any(|it| is_of_state(it, state)) =>
                {
                    Ok(())
                }
                holdings::Report::Item(found) => {
                    let fault = contradicted.remove(&found.name).map(|(kind, at)| match kind {
                        VANISHED => Fault::vanished(&found, at),
                        kind => Fault::new(kind, at),
                    });
                    self.look_at(&found, fault, false)
                }
                holdings::Report::Unlisted { collection, error } => {
                    self.unlisted(collection, error);
                    Ok(())
                }
            };
            go_on(written, &mut unwritten)
        })?;
        unwritten.map_or(Ok(()), Err)?;
        for (name, (kind, at)) in contradicted {
            self.tally.count_absent();
            self.tell(&Holdings { name, all: Vec::new() }, &Fault::new(kind, at))?;
        }
        for (at, collection) in known.collections.iter().enumerate() {
            for name in collection.displaced(names)? {
                let path = collection.path().to_path_buf();
                self.unlisted(at, CollectionError::Displaced { name, path });
            }
        }
        let is_whole = ended.is_continue();
        if is_whole && names.is_all() && state.is_none() && self.tally.unseen.is_empty() {
            self.tally.each_pair(|[from, to], lacking| {
                let [from, to] = [from, to].map(|at| &known.collections[at]);
                context.note_seen(from, to.path(), lacking);
            });
        }
        Ok(is_whole)
    }

    /// The items that are missing by the ledger of a collection, or left it and are back.
    fn contradicted(
        &mut self,
        names: &Names,
    ) -> Result<BTreeMap<RepositoryName, (&'static str, Vec<usize>)>, Failure> {
        let mut found = BTreeMap::<_, (&'static str, Vec<usize>)>::new();
        for (at, collection) in self.known.collections.iter().enumerate() {
            let called = &self.groups.called[at];
            let visited = collection.visit_discrepancies(names, |discrepancy| {
                let (name, kind) = match discrepancy {
                    Discrepancy::Missing(name, ..) => (name, VANISHED),
                    Discrepancy::Returned(name, _) => (name, "returned"),
                    Discrepancy::NoLedger => {
                        self.context.printer.warning(&format!(
                            "`{called}` has no ledger, so that vanished items go unnoticed"
                        ));
                        return ControlFlow::Continue(());
                    }
                    _ => return ControlFlow::Continue(()),
                };
                let (first, places) = found.entry(name).or_insert((kind, Vec::new()));
                if kind == VANISHED && *first != kind {
                    (*first, *places) = (kind, Vec::new());
                }
                places.extend((kind == *first).then_some(at));
                ControlFlow::Continue(())
            });
            if let Err(error) = visited {
                self.unlisted(at, error);
            }
        }
        Ok(found)
    }

    /// Counts an item and reports its gravest fault; `known_fault` is one that its ledgers know. An item that was named may
    /// have a row in the table of remedies without a fault.
    fn look_at(&mut self, found: &Holdings, known_fault: Option<Fault>, is_named: bool) -> Done {
        self.tally.count(found);
        let concerns = found.concerns(|at| self.wanted[at]);
        let mut faults: Vec<_> =
            Fault::gravest(found, &concerns).into_iter().chain(known_fault).collect();
        if faults.is_empty() && is_named {
            let advice = self.groups.remedies(&found.name);
            faults.extend(advice.first().map(|advice| Fault::open(advice.row.sentence())));
        }
        faults.into_iter().min().map_or(Ok(()), |fault| self.tell(found, &fault))
    }

    /// Reports a fault: its record or, in a pipe, its line. A person sees all of one kind together, at the end.
    fn tell(&mut self, found: &Holdings, fault: &Fault) -> Done {
        let printer = &self.context.printer;
        self.tally.found(fault);
        // As it is spelt there.
        let name = found.all.first().map_or(&found.name, |it| &it.name);
        self.groups.add(name, fault);
        if printer.json {
            return printer.record(&report::record(self.known, &self.groups, name, fault));
        }
        let is_left_out = printer.verbosity == Verbosity::Quiet && fault.is_notice();
        if printer.stdout_is_terminal() || is_left_out {
            return Ok(());
        }
        let (beside, text) =
            (self.groups.beside(fault, found), fault.in_words(1, &self.groups.called));
        let fields = [fault.kind(), name.as_str(), &beside, &text];
        printer.line(&fields.map(escape::one_line).join("\t"))
    }

    /// Reports that the collection `at` is not known to its end.
    fn unlisted(&mut self, at: usize, error: impl Into<Failure>) {
        let reason = error.into().in_one_line();
        self.context.printer.error(&reason);
        self.tally.unlisted(at, &self.groups.called[at], reason);
    }

    /// Says of each collection that is away what it lacked when it was last seen. That is a fault if it lacked anything, or was
    /// never seen.
    fn tell_away(&mut self) {
        let (context, known) = (self.context, self.known);
        for Missing { name, path, .. } in &known.missing {
            let with_originals = known
                .collections
                .iter()
                .zip(&self.tally.collections)
                .filter(|(_, it)| it.originals > 0);
            let seen: Option<Vec<_>> =
                with_originals.map(|(collection, _)| context.last_seen(collection, path)).collect();
            let seen = seen.unwrap_or_default();
            let Some(date) = seen.iter().map(|it| it.date).min() else {
                self.tally.unseen.push(format!("`{name}` not opened"));
                continue;
            };
            let lacking: u64 = seen.iter().map(|it| it.lacking).sum();
            let text = format!("`{name}`: not seen since {date}, when it lacked {lacking}");
            if lacking > 0 {
                self.tally.unseen.push(text);
            } else {
                context.printer.note(&text);
            }
        }
    }

    /// Prints what is known only at the end: the collections, and for a person the items in groups.
    fn finish(self, is_whole: bool) -> Done {
        let StatusRun { context, known, tally, groups, mut report, .. } = self;
        let printer = &context.printer;
        if printer.json {
            for record in report::collections(known, &tally) {
                printer.record(&record)?;
            }
        } else {
            let is_drawn = printer.stdout_is_terminal();
            let mut lines = Vec::new();
            if printer.verbosity > Verbosity::Quiet && is_whole {
                lines = report::table(context, known, &tally, &groups.called);
            }
            if is_drawn {
                lines.extend(groups.lines(&tally));
            }
            lines.iter().try_for_each(|line| printer.line(line))?;
        }
        let is_piped = !printer.json && !printer.stdout_is_terminal();
        let hints = if is_piped { groups.hints(&tally) } else { Vec::new() };
        let partial = tally.judge(&hints).err();
        if partial.is_none() {
            for hint in &hints {
                printer.hint(hint);
            }
        }
        let closing = Some(tally.closing(known)).filter(|_| partial.is_none());
        report::fill(&mut report, known, &tally);
        report.finish(End { partial, closing, ..End::default() })
    }
}

/// Whether a holding is in one of the states, if any are asked for.
fn is_of_state(holding: &JudgedHolding, wanted: Option<States>) -> bool {
    wanted.is_none_or(|wanted| holding.record.as_ref().is_ok_and(|it| wanted.contains(it.state)))
}
