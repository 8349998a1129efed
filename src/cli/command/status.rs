//! `urepo status`: are all Originals copied as they should be?

mod tally;
mod tell;

use std::ffi::OsString;
use std::ops::ControlFlow;

use urepo::collection::{CollectionError, Discrepancy, Names};
use urepo::holdings::{self, Holdings, Survey, Weight};
use urepo::identity::{Prefix, RepositoryName};

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::known::Known;
use crate::cli::printer::Verbosity;
use crate::cli::report::{End, Report};

use tally::{Contradiction, Tally};

/// Compare all known collections: Copies that are missing or stale, second Originals
///
/// Prints a line for whatever is not as it should be, of each kind for the first five unless --verbose is
/// given, then one for each collection: its name, its path, how many items it holds in which state, and
/// their bytes. An Original should have as many
/// current Copies in other collections as `copies = N` in the `urepo.toml` of its own asks for; none
/// unless it says so. A Copy whose Original is in none of the collections is a fault, unless the item
/// was deleted. So is an Original that another collection says is deleted. So are an item that a collection should hold by its inventory and does not, an
/// Original or a tombstone that left for another collection and was put back by hand, and an item
/// put back by hand in another state than recorded.
///
/// The collections are those named in the settings, the one of -c or around the current directory,
/// and those of --with. Sidecars are compared and no file is read: that is for `urepo verify`. The
/// exit code is 0 if all is as it should be, 3 if something is lacking or a collection could not be
/// looked into, and 23 if an item has two Originals. With --quiet only what is lacking is printed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo status
  urepo status --prefix example.org/archive
  urepo -q status || echo 'the Copies need a look'")]
pub(crate) struct Status {
    /// Compare with this collection as well, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    with: Vec<OsString>,
    /// Only identifiers of this prefix: subdomain/word[.port]
    #[arg(long)]
    prefix: Option<Prefix>,
}

impl Status {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let known = context.known(&self.with)?;
        let mut tally = Tally::new(&known);
        let names = Names::of(self.prefix.clone());
        let survey = Survey {
            collections: &known.collections,
            names: &names,
            jobs: context.config.jobs.value,
            interrupt: &context.interrupt,
        };
        let mut unwritten = None;
        let ended = survey.run(|report| {
            let written = match report {
                holdings::Report::Item(holdings) => look_at(context, &known, &mut tally, &holdings),
                holdings::Report::Unlisted { collection, error } => {
                    let reason = Failure::from(error).in_one_line();
                    context.printer.error(&reason);
                    tally.unlisted(&known, collection, reason);
                    Ok(())
                }
            };
            match written {
                Ok(()) => ControlFlow::Continue(()),
                Err(failure) => {
                    unwritten = Some(failure);
                    ControlFlow::Break(())
                }
            }
        })?;
        if let Some(failure) = unwritten {
            return Err(failure);
        }
        for (at, collection) in known.collections.iter().enumerate() {
            for name in collection.displaced(&names)? {
                let path = collection.path().to_path_buf();
                let reason = Failure::from(CollectionError::Displaced { name, path }).in_one_line();
                context.printer.error(&reason);
                tally.unlisted(&known, at, reason);
            }
        }
        let is_whole = ended.is_continue();
        if is_whole {
            compare_inventories(context, &known, &names, &mut tally)?;
        }
        finish(context, &known, &tally, is_whole)
    }
}

/// Counts an item and tells what is not as it should be with it.
fn look_at(context: &Context, known: &Known, tally: &mut Tally, holdings: &Holdings) -> Done {
    let concerns = holdings.concerns(|at| known.collections[at].settings().copies);
    tally.count(known, holdings, &concerns);
    let verbosity = context.printer.verbosity;
    for concern in &concerns {
        if context.printer.json {
            context.printer.record(&tell::record(known, holdings, concern))?;
        } else if tally.names_one(concern.kind(), verbosity)
            && (concern.weight() > Weight::Notice || verbosity > Verbosity::Quiet)
        {
            context.printer.line(&tell::line(known, holdings, concern))?;
        }
    }
    for holding in &holdings.all {
        let (at, name) = (holding.collection, &holding.name);
        let Ok(record) = &holding.record else { continue };
        match known.collections[at].contradicting_line(name, record.state) {
            Ok(Some(_)) => {
                report_contradiction(context, known, tally, at, name, Contradiction::State)?;
            }
            Ok(None) => {}
            Err(error) => {
                let reason = Failure::from(error).in_one_line();
                context.printer.error(&reason);
                tally.unlisted(known, at, reason);
            }
        }
    }
    Ok(())
}

/// Counts and reports what the inventory of the collection `at` contradicts.
fn report_contradiction(
    context: &Context,
    known: &Known,
    tally: &mut Tally,
    at: usize,
    name: &RepositoryName,
    what: Contradiction,
) -> Done {
    tally.contradicted(known, at, name, what);
    if context.printer.json {
        context.printer.record(&tell::contradiction_record(known, at, name, what))
    } else if !tally.names_one(what.kind(), context.printer.verbosity) {
        Ok(())
    } else {
        let message = tell::contradiction_message(known, at, what);
        context.printer.line(&format!("{message}: {name}"))
    }
}

/// Reports the items that are gone from a collection though they did not leave it by its inventory, and those
/// that left it and are back.
fn compare_inventories(context: &Context, known: &Known, names: &Names, tally: &mut Tally) -> Done {
    for (at, collection) in known.collections.iter().enumerate() {
        let mut written = Ok(());
        let visited = collection.visit_discrepancies(names, |found| {
            let (name, what) = match found {
                Discrepancy::Missing(name, ..) => (name, Contradiction::Vanished),
                Discrepancy::Returned(name, _) => (name, Contradiction::Returned),
                Discrepancy::NoInventory => {
                    let name = &collection.settings().name;
                    context.printer.warning(&format!(
                        "`{name}` has no inventory, so that vanished items go unnoticed"
                    ));
                    return ControlFlow::Continue(());
                }
                _ => return ControlFlow::Continue(()),
            };
            written = report_contradiction(context, known, tally, at, &name, what);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written?;
        if let Err(error) = visited {
            let reason = Failure::from(error).in_one_line();
            context.printer.error(&reason);
            tally.unlisted(known, at, reason);
        }
    }
    Ok(())
}

/// The collections come last: their counts are known only now.
fn finish(context: &Context, known: &Known, tally: &Tally, is_whole: bool) -> Done {
    let printer = &context.printer;
    if printer.json {
        for record in tell::collections(known, tally) {
            printer.record(&record)?;
        }
    } else {
        if printer.verbosity <= Verbosity::Normal {
            tally.unnamed().try_for_each(|line| printer.line(&line))?;
        }
        if printer.verbosity > Verbosity::Quiet && is_whole {
            printer.lines(&tell::table(known, tally))?;
        }
    }
    let items = human::count(tally.items, "item");
    let partial = tally.judge().err();
    let closing = partial.is_none().then(|| match tally.notices {
        0 if known.collections.len() == 1 => format!(
            "{items}: all as it should be in the one known collection; `--with COLLECTION` compares others"
        ),
        0 => format!("{items}: all as it should be"),
        notices => {
            let notices = human::count(notices, "notice");
            format!("{items}: {notices} above, nothing needs to be done")
        }
    });
    let mut report = Report::reading(context, "compared", false);
    tell::fill(&mut report, known, tally);
    report.finish(End { partial, closing, ..End::default() })
}
