//! `urepo recover`: clear up after killed runs.

mod id;
mod ledger;
mod left;
mod loss;
mod migrations;

use std::ffi::OsString;

use urepo::catalog::Catalog;
use urepo::collection::{
    Collection, CollectionError, Issuer, Life, Recovered, left_overs, recover,
};
use urepo::disk::LockError;
use urepo::distributor::{ClockTrust, DistributorError, Notice};
use urepo::identity::{Identifier, RepositoryName};
use urepo::transfer::interrupted;

use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::report::{End, Report};
use crate::cli::{Done, human, indexed};

/// Clean up after interrupted runs, and bring distributors up to date
///
/// Temporary files of a killed run were never part of the collection. The next run that writes removes them:
/// the bytes at once, the rest when no other process is writing. On a network file system everything waits
/// for that. This command removes them now, and fails while other processes are writing. Interrupted
/// migrations are ended first, by a look at the other collections: an item that the receiver has, whole, leaves here;
/// otherwise the Original stays here. A receiver that cannot be opened leaves the migration open; `--withdraw` keeps the
/// Original here nevertheless. You can repeat or kill the command at any time.
///
/// An item whose last change is not in the ledger gets its line. One that does not follow its line, or was given up as lost,
/// may have been copied in by hand: it gets its line after you agreed. Items that other commands bring up are left, with those
/// commands; the exit code is 3 if one of them is damaged, and nothing else was to be done.
///
/// After a backup was restored in place, the ledger may be older or newer than the items. `--accept-loss`
/// makes it agree with them: what nothing in sight has is listed, and given up after you agreed, so that `urepo verify` no
/// longer reports it as damage; changed states are recorded; and lines of the ledger that are damaged or missing are
/// accepted, so that they are a warning from then on. Each change is a line of output and an event of the log. With ITEM, it
/// is about what is lost of these items alone: the item, its newest state where an older one is left, or what was changed after
/// an interrupted migration. `--yes` needs each item by name.
///
/// `--restored` records the items that came after the ledger that was put back. What does not follow its line is left, and the
/// exit code is 3, unless `--yes` records it as well.
///
/// A lost `urepo.toml` is written again, with the id of the ledger, or of the collection that the Originals name; so is an `id`
/// in it that is not that of the ledger. A copy of a whole collection has the id of its original: `--new-id` gives it one of its
/// own, so that its items are Copies.
///
/// With `--with`, items that are behind those of another collection are brought into line, Originals as well: after this
/// collection was put back from a backup, or after another one was promoted. The present state moves to the trash. New
/// identifiers are then also later than those of that collection.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Recover {
    /// A backup was put back, or the collection moved to this machine: raise the memories above the present and
    /// issue identifiers here
    #[arg(long)]
    restored: bool,
    /// Give up what nothing in sight has, and accept damage to the ledger
    #[arg(long)]
    accept_loss: bool,
    /// What is lost of these items alone is given up
    #[arg(value_name = "ITEM", requires = "accept_loss")]
    items: Vec<OsString>,
    /// Bring items that are behind those of this collection into line, and raise the memories above its identifiers; by
    /// path or name; may be repeated
    #[arg(long = "with", value_name = "COLLECTION")]
    others: Vec<OsString>,
    /// Keep Originals here whose receiver cannot be opened: should it have them after all, it gives way
    #[arg(long)]
    withdraw: bool,
    /// Make another collection of this one, which is a copy of a whole collection: its Originals become Copies
    #[arg(long)]
    new_id: bool,
    /// Rebuild the index from the sidecars, after items or sidecars were changed by hand
    #[arg(long)]
    index: bool,
    /// Do not ask before missing items are given up, and items brought into line
    #[arg(short = 'y', long)]
    yes: bool,
}

impl Recover {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let Some((collection, settled)) = self.identified(context)? else { return Ok(()) };
        let mirrors = self.mirrors(context, &collection)?;
        if !self.items.is_empty() {
            return self.accept_losses(context, &collection);
        }
        let mut report = Report::new(context, Did::Finished, false);
        let (losses, undecided) = if self.accept_loss {
            self.accept_all_losses(context, &collection, &mut report)?
        } else {
            (Vec::new(), 0)
        };
        let given_up = losses.len() as u64;
        if context.global.dry_run {
            self.plan(context, (&collection, &mirrors), losses)?;
            return still_undecided(undecided).map_or(Ok(()), Err);
        }
        let (mut finished, mut pending) = self.end_migrations(context, &collection)?;
        let (lined_up, failed) = self.line_up(context, &collection, &mirrors)?;
        (finished, pending) = (finished + lined_up.len() as u64, pending + failed);
        let corrected = self.accept_loss.then(|| ledger::correct(context, &collection));
        let corrected = corrected.transpose()?;
        let accepted = self.restored.then(|| ledger::restored(&collection)).transpose()?;
        let Recovered { removed, failed, recorded, foreign } =
            recover(&collection, &context.agent, &context.waiter())?;
        let kept = failed.len() as u64;
        for error in failed {
            context.printer.warning(&Failure::from(error).in_one_line());
        }
        if let Some(accepted) = accepted {
            collection.accept_ledger(&context.agent, &context.clock)?;
            ledger::tell_restored(context, &collection, &accepted, mirrors.is_empty())?;
        }
        let (notices, is_behind) = self.raise_memories(context, &collection, &mirrors)?;
        let done = given_up + finished + (recorded + foreign.len()) as u64;
        // Of a backup that was put back, what nothing proves is left to a person.
        let unproven = if self.restored && !self.yes {
            ledger::leave(context, &foreign)
        } else {
            ledger::take_in(context, &collection, foreign, self.yes)?;
            0
        };
        for found in &removed {
            context.printer.detail(&match &found.holder {
                Some(holder) => format!("removed the stage of {holder}"),
                None => format!("removed `{}`", found.path.display()),
            });
        }
        let (left, damaged) = left::report(context, &collection, &mirrors, (&[], &mut report))?;
        let counts = [given_up, finished - lined_up.len() as u64, lined_up.len() as u64];
        let mut closing = in_words(counts, recorded as u64);
        report.count("recorded", recorded as u64);
        match removed.len() as u64 {
            0 if kept > 0 => closing.push("nothing was removed".to_owned()),
            0 => {}
            count => closing.push(format!("removed {}", human::count(count, "temporary file"))),
        }
        report.summary.counts.items = finished;
        report.summary.counts.failed += pending + undecided;
        report.count("removed", removed.len() as u64);
        report.count("kept", kept);
        report.summary.messages = Some(notices.iter().map(ToString::to_string).collect());
        if let Some(corrected) = corrected {
            closing.push(ledger::closing(&corrected));
            report.count("corrected", corrected.added.len() as u64);
            report.count("damaged_lines", corrected.damaged);
        }
        let mut unread = None;
        if self.index {
            let (read, judged) = build_index(context, &collection)?;
            closing.push(format!("built the index: {}", human::count(read, "item")));
            report.count("indexed", read);
            unread = judged;
        }
        report.count("left", left);
        if self.restored {
            closing.push("accepted the ledger, and raised the memories".to_owned());
        }
        // What is missing since a backup was put back is not known here.
        let put_back = context.check_ledger(&collection).err();
        if closing.is_empty() && !settled && put_back.is_none() && left + report.errors() == 0 {
            closing.push(NOTHING.to_owned());
        }
        let mut partial = still_pending(pending, kept)
            .or_else(|| is_behind.then(behind))
            .or_else(|| self.unproven(unproven))
            .or_else(|| still_undecided(undecided))
            .or(put_back)
            .or(unread);
        // The next commands are named above.
        match left_over(left) {
            Some(text) if partial.is_none() && damaged > 0 && self.is_idle(done) => {
                partial = Some(Failure::new(Exit::Partial, text));
            }
            text => closing.extend(text),
        }
        report.finish(End {
            partial,
            is_silent: closing.is_empty(),
            closing: Some(closing.join("\n")),
            ..End::default()
        })
    }
}

impl Recover {
    /// The collections of `--with`.
    fn mirrors(
        &self,
        context: &Context,
        collection: &Collection,
    ) -> Result<Vec<Collection>, Failure> {
        let mirrors = self.others.iter().map(|other| context.open_named(other));
        let mut mirrors = mirrors.collect::<Result<Vec<_>, _>>()?;
        let is_copy =
            |it: &&Collection| it.id() == collection.id() && it.path() != collection.path();
        if let Some(copy) = mirrors.iter().find(is_copy) {
            let message = format!("`{}` has the id of this collection", copy.path().display());
            return Err(Failure::new(Exit::Conflict, message)
                .caused_by("one of the two is a copy of the other, as a whole")
                .hint("`urepo recover --new-id` in one of them makes another collection of it"));
        }
        mirrors.retain(|other| other.id() != collection.id());
        Ok(mirrors)
    }

    /// Gives up all that is lost, once a person has seen the list. Returns these items, and the number of those that stay because
    /// they cannot be read everywhere, or are in a backup.
    fn accept_all_losses(
        &self,
        context: &Context,
        collection: &Collection,
        report: &mut Report<'_>,
    ) -> Result<(Vec<RepositoryName>, u64), Failure> {
        let known = context.known_besides(collection, &self.others)?;
        if !context.global.dry_run {
            collection.rebuild(&context.agent, &context.waiter())?;
        }
        let (losses, undecided) = self.all_losses(context, collection, &known)?;
        self.agree(context, &losses)?;
        let given_up = self.give_up(context, (collection, &known.collections), losses, report)?;
        Ok((given_up, undecided))
    }

    /// Says what the run would do.
    fn plan(
        &self,
        context: &Context,
        (collection, mirrors): (&Collection, &[Collection]),
        losses: Vec<RepositoryName>,
    ) -> Done {
        let (mut unproven, mut has_plan) = (0, !losses.is_empty());
        if self.accept_loss {
            ledger::tell_plan(context, collection)?;
        } else if self.restored && !self.yes {
            unproven = ledger::leave(context, &ledger::foreign(collection)?);
        } else {
            // Those that `--restored` accepts follow.
            has_plan |= ledger::tell_added(context, collection, !self.restored)? > 0;
        }
        if self.restored {
            let accepted = ledger::restored(collection)?;
            ledger::tell_restored(context, collection, &accepted, mirrors.is_empty())?;
            has_plan = true;
        }
        let (mut planned, _) = self.line_up(context, collection, mirrors)?;
        planned.extend(losses);
        has_plan |= unproven > 0 || !planned.is_empty();
        let left = tell_plan(context, collection, (mirrors, self.index), (planned, has_plan))?;
        let put_back = || (!self.restored).then(|| context.check_ledger(collection).err())?;
        self.unproven(unproven).or_else(put_back).or(left).map_or(Ok(()), Err)
    }

    /// Whether the run did nothing, and was not to do something after which other commands go on.
    fn is_idle(&self, done: u64) -> bool {
        let goes_on = self.restored || self.withdraw || self.new_id || self.index;
        done == 0 && !goes_on
    }

    /// The failure of a run that left `count` items without their lines.
    fn unproven(&self, count: u64) -> Option<Failure> {
        let message =
            format!("{} without a line that anything proves", human::count(count, "item"));
        let failure = Failure::new(Exit::Partial, message);
        (count > 0).then(|| {
            failure.hint("if they belong here, `urepo recover --restored -y` records them")
        })
    }

    /// Raises the memories, so that new names are later than all that are known. Returns the notices, and whether a memory is out
    /// of reach and was not raised.
    fn raise_memories(
        &self,
        context: &Context,
        collection: &Collection,
        mirrors: &[Collection],
    ) -> Result<(Vec<Notice>, bool), Failure> {
        let options = context.care_options(ClockTrust::Judge);
        let issuer = Issuer::new(collection, &context.agent, &context.clock, &options);
        let raise = if self.restored { Issuer::restored } else { Issuer::catch_up };
        match issuer.and_then(|issuer| raise(&issuer, mirrors)) {
            Ok(notices) => {
                context.warn_of(&notices);
                Ok((notices, false))
            }
            Err(error) => {
                let is_behind = is_out_of_reach(&error);
                let failure = Failure::from(error);
                // Everything else is done, and an unusable memory issues no identifiers anyway.
                if self.restored || !mirrors.is_empty() || failure.exit != Exit::Failure {
                    return Err(failure);
                }
                context.printer.warning(&failure.in_one_line());
                Ok((Vec::new(), is_behind))
            }
        }
    }

    /// The items that were named. A missing one is named in full.
    fn named(&self, collection: &Collection) -> Result<Vec<RepositoryName>, Failure> {
        let name = |text: &OsString| {
            let text = text.to_string_lossy();
            match Identifier::read(&text) {
                Ok(Identifier::Repository(name)) => Ok(name),
                _ => Ok(collection.find(&text)?.name().clone()),
            }
        };
        self.items.iter().map(name).collect()
    }
}

/// The closing line where nothing was changed, and nothing is left.
const NOTHING: &str = "there is nothing to do";

/// The line on what other commands end.
fn left_over(left: u64) -> Option<String> {
    let items = human::count(left, "item");
    (left > 0).then(|| format!("left {items} as {}", if left == 1 { "it is" } else { "they are" }))
}

/// Whether a memory could not be read or written. One that must not be used, such as a copied one, need not
/// be raised.
fn is_out_of_reach(error: &CollectionError) -> bool {
    use DistributorError::{Disk, Lock};
    let CollectionError::Distributor(error) = error else {
        return matches!(error, CollectionError::Disk(_));
    };
    matches!(error, Disk(_) | Lock(LockError::Disk(_)))
}

fn behind() -> Failure {
    Failure::new(Exit::Partial, "the memory of a distributor could not be brought up to date")
        .hint("repeat the command when the memory that is named above can be read and written")
}

/// The lines about items: of how many something was given up, how many migrations ended, how many items were brought into line,
/// and how many lines of the ledger were added.
fn in_words([given_up, ended, lined_up]: [u64; 3], recorded: u64) -> Vec<String> {
    let items = |count| human::count(count, "item");
    let lines = [
        (given_up, format!("gave up what is lost of {}", items(given_up))),
        (ended, format!("ended {}", human::count(ended, "migration"))),
        (lined_up, format!("brought {} into line", items(lined_up))),
        (recorded, format!("recorded {}, whose lines the ledger lacked", items(recorded))),
    ];
    lines.into_iter().filter(|(count, _)| *count > 0).map(|(_, line)| line).collect()
}

fn still_undecided(count: u64) -> Option<Failure> {
    let items = human::count(count, "item");
    let stay = if count == 1 { "stays as it is" } else { "stay as they are" };
    (count > 0).then(|| Failure::new(Exit::Partial, format!("{items} named above {stay}")))
}

/// Rebuilds the index. Returns the number of items, and a failure if some could not be read.
fn build_index(
    context: &Context,
    collection: &Collection,
) -> Result<(u64, Option<Failure>), Failure> {
    let catalog = context.catalog_by(|refresh| Catalog::rebuild(collection, refresh))?;
    let built = catalog.report();
    if built.temporary {
        return Err(Failure::new(Exit::Failure, "the index cannot be kept")
            .hint("`urepo list WORD` answers all the same, and takes longer"));
    }
    Ok((built.read, indexed::judge(built).err()))
}

/// Reports the plan.
fn tell_plan(
    context: &Context,
    collection: &Collection,
    (mirrors, builds_index): (&[Collection], bool),
    (mut planned, has_plan): (Vec<RepositoryName>, bool),
) -> Result<Option<Failure>, Failure> {
    let printer = &context.printer;
    let (migrations, left) = (interrupted(collection)?.items, left_overs(collection)?);
    let removed = left.iter().filter(|found| found.life != Life::AtWork).count();
    planned.extend(migrations.iter().map(|open| open.name.clone()));
    let mut report = Report::new(context, Did::Finished, false);
    let (remaining, damaged) = left::report(context, collection, mirrors, (&planned, &mut report))?;
    if printer.json {
        report.summary.counts.items = migrations.len() as u64;
        report.count("removed", removed as u64);
        report.count("left", remaining);
        return report.finish(End { is_silent: true, ..End::default() }).map(|()| None);
    }
    let migrations = migrations.into_iter().map(|open| {
        format!("would finish or withdraw the migration of {} to {}", open.name, open.receiver)
    });
    let left_overs = left.into_iter().map(|found| {
        let path = found.path.display();
        let holder = found.holder.map_or(String::new(), |holder| format!(", of {holder}"));
        match found.life {
            Life::Ended => format!("would remove {path}{holder}"),
            Life::AtWork => format!("would not remove {path}{holder}: that run is at work"),
            Life::Unknown => format!("would remove {path}{holder}, unless that run is at work"),
        }
    });
    let paths: Vec<_> = mirrors.iter().map(|it| format!("`{}`", it.path().display())).collect();
    let raised = (!paths.is_empty()).then(|| {
        let paths = paths.join(", ");
        format!(
            "would raise the memories to the newest identifiers in {paths}, unless they are later"
        )
    });
    let index = builds_index.then(|| "would build the index".to_owned());
    let lines = migrations.chain(left_overs).chain(raised).chain(index);
    let lines: Vec<_> = lines.collect();
    let left = left_over(remaining).map(|line| line.replace("left", "would leave"));
    let note = |line: &str| printer.note(line);
    let is_idle = lines.is_empty() && !has_plan;
    if is_idle && remaining + report.errors() == 0 {
        printer.note(NOTHING);
    }
    lines.iter().try_for_each(|line| printer.line(line))?;
    if report.errors() > 0 {
        left.as_deref().into_iter().for_each(note);
        return report.finish(End::default()).map(|()| None);
    }
    // As the run, which then did nothing, ends.
    if damaged > 0 && is_idle {
        return Ok(left.map(|line| Failure::new(Exit::Partial, line)));
    }
    left.as_deref().into_iter().for_each(note);
    Ok(None)
}

fn still_pending(pending: u64, kept: u64) -> Option<Failure> {
    let (message, hint) = if pending > 0 {
        let items = human::count(pending, "item");
        (
            format!("interrupted changes to {items} could not be completed"),
            "repeat the command when the items named above are repaired or reachable",
        )
    } else if kept > 0 {
        (
            format!("{} could not be removed or put back", human::count(kept, "leftover")),
            "what belongs to another user is removed when that user runs `urepo recover`",
        )
    } else {
        return None;
    };
    Some(Failure::new(Exit::Partial, message).hint(hint))
}
