//! `urepo repair`: repair damaged, missing or unlisted files from good copies.

mod accept;
mod report;

use std::ffi::OsString;
use std::ops::ControlFlow;

use urepo::collection::{Collection, CollectionError, Names};
use urepo::identity::RepositoryName;
use urepo::repair::{LoggedItems, Options, Outcome, RepairError, Repairer, Unsealed};
use urepo::verify::{self, Code, Depth, Report, Scope, Severity};

use crate::cli::at_odds::items_at_odds;
use crate::cli::context::{Context, name_of_item};
use crate::cli::exit::Exit;
use crate::cli::explain::Explain;
use crate::cli::failure::Failure;
use crate::cli::select::{NameFlags, Selection};
use crate::cli::{Done, shell};
use report::RepairRun;

/// Repair damaged or missing items from good copies
///
/// Each item is verified, and its damage is repaired from the same item in other collections. A file is used
/// only if its digest is the one in the sidecar, and the item is replaced in one step. The old item stays in
/// the trash, with all its unlisted files, until `urepo purge`. A file without a good copy stays as it is. A lost or damaged sidecar becomes that of the copy with the
/// newest state that fits the files; values of the damaged one that differ are named.
///
/// A missing item that the ledger lists is brought back under its identifier, as the Original or a Copy as its custody
/// says. An Original that was put back from a backup while a Copy of it is newer gets the contents of that Copy. With --from, items
/// that are newer than the backup come back as well: the Copies there name this collection as the one with the Original.
///
/// A sidecar that you edited by hand does not match its seal, and nothing tells an edit from rot. --accept shows how the
/// edited values differ from the sealed sidecar in a collection of the settings, or else from the values in the log, and
/// asks. Then it seals the sidecar as it is, and the Copies are stale. Every file is read first and has to agree with the
/// sidecar. An item with other damage is refused: a date, IBIp or origin that differs from another collection, or that
/// contradicts the identifier, was not edited but has rotted.
///
/// Exits with 20 if damage is left.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it is typed")]
pub(crate) struct Repair {
    /// The items; every one that is damaged or missing unless given
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    #[command(flatten)]
    flags: NameFlags,
    /// A collection with good copies, by path or name; repeat it for several. The named collections of the
    /// settings unless given; these are always searched for the Original
    #[arg(long, value_name = "COLLECTION")]
    from: Vec<OsString>,
    /// Find damaged items without reading all files: only missing files and wrong sizes are found
    #[arg(long, conflicts_with = "items")]
    quick: bool,
    /// Take sidecars of Originals that were edited by hand as they are, and seal them: the edits are shown, and you are
    /// asked. Nothing is repaired
    #[arg(long, conflicts_with_all = ["from", "quick", "reseal"])]
    accept: bool,
    /// Do not ask before edits are accepted
    #[arg(short, long, requires = "accept")]
    yes: bool,
    /// Seal the present sidecar: its description is kept, even if it was damaged or differs from that of a copy; the payload
    /// has to agree with it. Where only payload is left, a new sidecar lists what lies there
    #[arg(long)]
    reseal: bool,
}

impl Repair {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let selection = Selection::new(self.items.clone(), self.flags.clone())?;
        if self.accept {
            return self.accept(context, &selection);
        }
        let collection = context.collection()?;
        let (donors, witnesses) = self.others(context, &collection)?;
        let (donors, witnesses): (Vec<_>, Vec<_>) =
            (donors.iter().collect(), witnesses.iter().collect());
        let progress = context.progress();
        let repairer = Repairer {
            collection: &collection,
            donors: &donors,
            witnesses: &witnesses,
            options: Options {
                unsealed: if self.reseal { Unsealed::Seal } else { Unsealed::Refuse },
            },
            logged: &LoggedItems::default(),
            caller: context.caller(&*progress),
        };
        let mut run = RepairRun::new(context, selection.is_single());
        let names = self.names(&repairer, context, &selection, &mut run)?;
        let logged = LoggedItems::of(&names);
        let repairer = Repairer { logged: &logged, ..repairer };
        let (mut writer, is_whole) = (None, !selection.names_items());
        for name in names {
            // An item without a trace here comes only from a collection that a person named.
            let done = if is_whole && self.from.is_empty() && !repairer.knows(&name)? {
                Ok(Outcome::Sound)
            } else if context.global.dry_run {
                repairer.examine(&name).map(|plan| match plan {
                    Some(plan) => Outcome::Repaired(Box::new(plan)),
                    None => Outcome::Sound,
                })
            } else {
                let writer = match &mut writer {
                    Some(writer) => writer,
                    none => none.insert(context.writer(&collection)?),
                };
                repairer.repair(&name, writer)
            };
            let done = match done {
                Err(RepairError::Interrupted) => break,
                // The table says what becomes of it.
                Err(RepairError::Collection(error)) if is_whole && error.is_absence() => {
                    Ok(Outcome::Sound)
                }
                done => done,
            };
            run.note(&name, done.map_err(|error| explained(error, &repairer)))?;
        }
        drop(progress);
        if let Some(writer) = writer {
            writer.finish()?;
        }
        run.finish()
    }

    /// The collections with good copies, and other known ones that may hold the Original.
    fn others(
        &self,
        context: &Context,
        own: &Collection,
    ) -> Result<(Vec<Collection>, Vec<Collection>), Failure> {
        let mut donors = Vec::new();
        for named in &self.from {
            let donor = context.open_named(named)?;
            if own.has_same_root(&donor)? {
                let message =
                    format!("`{}` is the collection that is to be repaired", named.display());
                return Err(Failure::new(Exit::Failure, message)
                    .hint("name another one that holds the same items"));
            }
            donors.push(donor);
        }
        let mut known = Vec::new();
        for (name, path) in &context.config.collections {
            match context.open(&path.value) {
                Ok(other) if own.has_same_root(&other)? => {}
                Ok(other) => known.push(other),
                Err(error) => context.printer.detail(&format!("left out {name}: {error}")),
            }
        }
        Ok(if self.from.is_empty() { (known, Vec::new()) } else { (donors, known) })
    }

    /// The requested items, or all damaged ones.
    fn names(
        &self,
        repairer: &Repairer<'_>,
        context: &Context,
        selection: &Selection,
        run: &mut RepairRun<'_>,
    ) -> Result<Vec<RepositoryName>, Failure> {
        if !selection.names_items() {
            let wanted = selection.filter(context);
            return self.damaged(repairer, context, &wanted, run);
        }
        // An item without a trace here, of which a donor says that it belongs here.
        let of_donor = |text: &str| -> Result<Option<RepositoryName>, Failure> {
            for donor in repairer.donors {
                let name = match donor.find(text) {
                    Ok(item) => item.name().clone(),
                    // An error is no absence.
                    Err(error) if error.disk().is_some() => return Err(error.into()),
                    Err(_) => continue,
                };
                if repairer.lacks(&name)? {
                    return Ok(Some(name));
                }
            }
            Ok(None)
        };
        let find = |text: &str| match name_of_item(repairer.collection, text) {
            // The writer puts it back before it is repaired.
            Err(CollectionError::Displaced { name, .. }) => Ok(name),
            Err(error @ CollectionError::NoSuchItem { .. }) => {
                of_donor(text)?.ok_or_else(|| absent(&error, repairer))
            }
            // A donor may have it nevertheless.
            Err(CollectionError::GivenUp { line, .. }) => Ok(line.id),
            found => found.map_err(|error| absent(&error, repairer)),
        };
        run.report.look_up(selection, find)
    }

    fn damaged(
        &self,
        repairer: &Repairer<'_>,
        context: &Context,
        names: &Names,
        run: &mut RepairRun<'_>,
    ) -> Result<Vec<RepositoryName>, Failure> {
        let is_displaced = || Ok::<_, Failure>(!repairer.collection.displaced(names)?.is_empty());
        if !context.global.dry_run && is_displaced()? {
            // The writer puts back what a killed run has displaced.
            context.writer(repairer.collection)?.finish()?;
        }
        // Where a collection was put back, its ledger was as well: the others show what was lost.
        let others = repairer.donors.iter().chain(repairer.witnesses);
        let all: Vec<_> = std::iter::once(repairer.collection).chain(others.copied()).collect();
        let mut at_odds = items_at_odds(context, &all, names)?;
        let depth = if self.quick { Depth::Quick } else { Depth::Full };
        let options = verify::Options { depth, jobs: context.config.jobs.value };
        let mut damaged = Vec::new();
        let summary = verify::verify(
            repairer.collection,
            Scope::All(names),
            options,
            repairer.caller.progress,
            repairer.caller.interrupt,
            |report| {
                match report {
                    Report::Item(item) => {
                        // Two spellings are two directories: nothing shows which is right. A link is as it was
                        // deposited.
                        let findings = item.findings.as_slice().iter();
                        let is_beyond =
                            |it: &Code| [Code::TwoSpellings, Code::LinkBroken].contains(it);
                        let mut own = findings.filter(|it| !is_beyond(&it.code));
                        let is_at_odds = at_odds.remove(&item.name);
                        if is_at_odds || own.any(|it| it.severity() > Severity::Notice) {
                            damaged.push(item.name);
                        } else {
                            let is_damage = item.findings.is_damage();
                            *if is_damage { &mut run.left } else { &mut run.sound } += 1;
                        }
                    }
                    Report::Tree(finding) => run.elsewhere(&finding),
                }
                ControlFlow::Continue(())
            },
        )?;
        damaged.extend(at_odds);
        Ok(if summary.interrupted { Vec::new() } else { damaged })
    }
}

/// An error of repairing, with what to do about an item that has gone meanwhile.
fn explained(error: RepairError, repairer: &Repairer<'_>) -> (Failure, bool) {
    let is_damage = error.is_damage();
    let failure = match error {
        RepairError::Collection(error) => absent(&error, repairer),
        error => error.into(),
    };
    (failure, is_damage)
}

/// An item that never was here is copied, not repaired, unless the table of remedies has a row.
fn absent(error: &CollectionError, repairer: &Repairer<'_>) -> Failure {
    let failure = error.explain();
    let CollectionError::NoSuchItem { name, .. } = error else { return failure };
    let holder = repairer.donors.iter().find_map(|donor| Some((donor, donor.find(name).ok()?)));
    let Some((donor, item)) = holder else { return failure };
    let (from, to) = (shell::word(donor.path()), shell::word(repairer.collection.path()));
    let hint = format!("`urepo -c {from} copy {} --to {to}` brings it here", item.name());
    failure.hint(hint).about(item.name())
}
