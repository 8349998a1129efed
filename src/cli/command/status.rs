//! `urepo status`: compare all known collections.

mod access;
mod counts;
mod items;
mod machine;
mod report;
mod settings;
mod tally;

use std::ffi::OsString;
use std::ops::ControlFlow;

use urepo::collection::{Collection, CollectionError, Discrepancy, Names};
use urepo::holdings::{self, Holdings, JudgedHolding, Survey, Weight};
use urepo::identity::RepositoryName;

use crate::cli::Done;
use crate::cli::context::{Context, put_back};
use crate::cli::failure::{Failure, go_on};
use crate::cli::in_sight::InSight;
use crate::cli::known::{Known, Missing};
use crate::cli::printer::Verbosity;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::{human, shell};

use tally::{Contradiction, Tally};

/// Compare all known collections: Copies that are missing or stale, second Originals
///
/// Prints a line for each fault, without --verbose only for the first five of each kind, then one for each
/// collection: its name, its path, the number of items in each state, and their bytes. An Original should
/// have as many current Copies in other collections as `copies = N` in the `urepo.toml` of its own collection
/// says: 1 in a new collection, none where it says nothing. A collection of the settings that is away has what it had when
/// `status` or `copy --all` last saw it. A collection of --with should have all. These are faults, too: a Copy whose Original is in none of the collections,
/// unless the item was deleted; an Original that another collection records as deleted; an item that is
/// missing by the ledger of its collection; an Original or a tombstone that left for another collection
/// and was put back by hand; and an item put back by hand in another state than recorded.
///
/// Of each ITEM, a line for each holding says its state, its standing among the other holdings, the collection, and the path. A
/// Copy is current, stale (older than its Original), different (other content of the same date), an orphan (its Original is in
/// none of the collections), or disputed (the item has two Originals). Then the remedies follow. ITEM may be in any of the
/// collections.
///
/// The collections are those named in the settings, the one of -c or around the current directory, and those
/// of --with. Only sidecars are compared; `urepo verify` reads the files. The exit code is 0 without faults,
/// 3 with faults or if a collection could not be read, and 23 if an item has two Originals. With --quiet only
/// faults are printed.
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
        counts || machine || settings || self.selection.names_items()
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
        if self.selection.names_items() {
            return items::run(context, &self.selection, &known);
        }
        let mut tally = Tally::new(&known);
        for collection in &known.collections {
            if context.is_put_back(collection)? {
                context.printer.warning(&put_back(collection));
                let root = shell::word(collection.path());
                context.printer.hint(&format!(
                    "`urepo -c {root} recover --restored` accepts a backup that was put back"
                ));
                let name = &collection.settings().name;
                tally.unseen.push(format!("`{name}` has a ledger that was put back"));
            }
        }
        let survey = Survey {
            collections: &known.collections,
            names: &names,
            jobs: context.config.jobs.value,
            interrupt: &context.interrupt,
        };
        let wanted = self.wanted(context, &known);
        let state = self.selection.flags.state;
        let is_of_state = |it: &JudgedHolding| {
            state.is_none_or(|wanted| it.record.as_ref().is_ok_and(|it| wanted.contains(it.state)))
        };
        let mut unwritten = None;
        let ended = survey.run(|report| {
            let written = match report {
                holdings::Report::Item(holdings) if !holdings.all.iter().any(is_of_state) => Ok(()),
                holdings::Report::Item(holdings) => {
                    look_at(context, &known, &mut tally, (&holdings, &wanted[..]))
                }
                holdings::Report::Unlisted { collection, error } => {
                    unlisted(context, &known, &mut tally, collection, error);
                    Ok(())
                }
            };
            go_on(written, &mut unwritten)
        })?;
        unwritten.map_or(Ok(()), Err)?;
        for (at, collection) in known.collections.iter().enumerate() {
            for name in collection.displaced(&names)? {
                let path = collection.path().to_path_buf();
                let error = CollectionError::Displaced { name, path };
                unlisted(context, &known, &mut tally, at, error);
            }
        }
        let is_whole = ended.is_continue();
        // A missing item has no state.
        if is_whole && state.is_none() {
            compare_ledgers(context, &known, &names, &mut tally)?;
        }
        if is_whole && names.is_all() && state.is_none() && tally.unseen.is_empty() {
            tally.each_pair(|[from, to], lacking| {
                let [from, to] = [from, to].map(|at| &known.collections[at]);
                context.note_seen(from, to.path(), lacking);
            });
        }
        for named in &self.with {
            let path = context.collection_path(named);
            let at = known.collections.iter().position(|it| it.path() == path);
            if let Some(at) = at {
                tally.judge_lacking(&known, at);
            }
        }
        tell_away(context, &known, &mut tally);
        finish(context, &known, &tally, is_whole)
    }
}

impl Status {
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

/// Says of each collection that is away what it lacked when it was last seen. That is a fault if it lacked anything, or was
/// never seen.
fn tell_away(context: &Context, known: &Known, tally: &mut Tally) {
    for Missing { name, path, .. } in &known.missing {
        let with_originals =
            known.collections.iter().zip(&tally.collections).filter(|(_, it)| it.originals > 0);
        let seen: Option<Vec<_>> =
            with_originals.map(|(collection, _)| context.last_seen(collection, path)).collect();
        let seen = seen.unwrap_or_default();
        let Some(date) = seen.iter().map(|it| it.date).min() else {
            tally.unseen.push(format!("`{name}` not opened"));
            continue;
        };
        let lacking: u64 = seen.iter().map(|it| it.lacking).sum();
        let text = format!("`{name}`: not seen since {date}, when it lacked {lacking}");
        if lacking > 0 {
            tally.unseen.push(text);
        } else {
            context.printer.note(&text);
        }
    }
}

/// Reports that the collection `at` is not known to its end.
fn unlisted(
    context: &Context,
    known: &Known,
    tally: &mut Tally,
    at: usize,
    error: impl Into<Failure>,
) {
    let reason = error.into().in_one_line();
    context.printer.error(&reason);
    tally.unlisted(known, at, reason);
}

/// Counts an item and reports its faults.
fn look_at(
    context: &Context,
    known: &Known,
    tally: &mut Tally,
    (holdings, wanted): (&Holdings, &[u32]),
) -> Done {
    let concerns = holdings.concerns(|at| wanted[at]);
    tally.count(holdings, &concerns);
    let verbosity = context.printer.verbosity;
    for concern in &concerns {
        if context.printer.json {
            context.printer.record(&report::record(known, holdings, concern))?;
        } else if tally.names_one(concern.kind(), verbosity)
            && (concern.weight() > Weight::Notice || verbosity > Verbosity::Quiet)
        {
            context.printer.line(&report::line(known, holdings, concern))?;
        }
    }
    Ok(())
}

/// Counts and reports items that contradict the ledger of the collection `at`.
fn report_contradiction(
    context: &Context,
    known: &Known,
    tally: &mut Tally,
    at: usize,
    name: &RepositoryName,
    what: Contradiction,
) -> Done {
    tally.contradicted(name, what);
    if context.printer.json {
        context.printer.record(&report::contradiction_record(known, at, name, what))
    } else if !tally.names_one(what.kind(), context.printer.verbosity) {
        Ok(())
    } else {
        let message = report::contradiction_message(known, at, what);
        context.printer.line(&format!("{message}: {name}"))
    }
}

/// Reports items that are missing from a collection by its ledger, and items that left it and are back.
fn compare_ledgers(context: &Context, known: &Known, names: &Names, tally: &mut Tally) -> Done {
    for (at, collection) in known.collections.iter().enumerate() {
        let mut unwritten = None;
        let visited = collection.visit_discrepancies(names, |found| {
            let (name, what) = match found {
                Discrepancy::Missing(name, ..) => (name, Contradiction::Vanished),
                Discrepancy::Returned(name, _) => (name, Contradiction::Returned),
                Discrepancy::NoLedger => {
                    let name = &collection.settings().name;
                    context.printer.warning(&format!(
                        "`{name}` has no ledger, so that vanished items go unnoticed"
                    ));
                    return ControlFlow::Continue(());
                }
                _ => return ControlFlow::Continue(()),
            };
            let written = report_contradiction(context, known, tally, at, &name, what);
            go_on(written, &mut unwritten)
        });
        unwritten.map_or(Ok(()), Err)?;
        if let Err(error) = visited {
            unlisted(context, known, tally, at, error);
        }
    }
    Ok(())
}

/// The collections come last: their counts are known only now.
fn finish(context: &Context, known: &Known, tally: &Tally, is_whole: bool) -> Done {
    let printer = &context.printer;
    if printer.json {
        for record in report::collections(known, tally) {
            printer.record(&record)?;
        }
    } else {
        if printer.verbosity <= Verbosity::Normal {
            tally.unnamed().try_for_each(|line| printer.line(&line))?;
        }
        if printer.verbosity > Verbosity::Quiet && is_whole {
            printer.lines(&report::table(known, tally))?;
        }
    }
    let own = context.collection().ok().map(|own| own.id().to_owned());
    let in_sight = InSight::of_all(context, own, known.roots(), &known.missing_names);
    let has_remedy = in_sight.report(&tally.concerned)?;
    let items = human::count(tally.items, "item");
    let partial = tally.judge(known, has_remedy).err();
    let closing = partial.is_none().then(|| match tally.notices {
        0 if known.collections.len() == 1 && known.missing.is_empty() => {
            format!("{items}, no second collection known: nothing has a Copy")
        }
        0 => format!("{items}: all as it should be"),
        notices => {
            let notices = human::count(notices, "notice");
            format!("{items}: {notices} above, nothing needs to be done")
        }
    });
    let mut report = Report::reading(context, "compared", false);
    report::fill(&mut report, known, tally);
    report.finish(End { partial, closing, ..End::default() })
}
