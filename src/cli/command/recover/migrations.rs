//! `urepo recover`: interrupted migrations, and holdings that a person brings into line with another collection.

use urepo::collection::{Collection, Names};
use urepo::holdings::Sight;
use urepo::identity::RepositoryName;
use urepo::transfer::{
    Authority, Ending, Leaves, OpenMigration, Options, Outcome, Recovery, RunMode, StillOpen,
    Tombstones, Transfer, TransferError, Verb, interrupted,
};

use super::Recover;
use crate::cli::command::given_up;
use crate::cli::command::transfer::RESUME_BYTES;
use crate::cli::confirm::confirm_listed;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::failure::Failure;
use crate::cli::printer::Verbosity;
use crate::cli::records::Item;
use crate::cli::{Done, human};

impl Recover {
    /// Ends the interrupted migrations from `collection`. Returns how many have ended, and how many are still open.
    pub(super) fn end_migrations(
        &self,
        context: &Context,
        collection: &Collection,
    ) -> Result<(u64, u64), Failure> {
        let found = interrupted(collection)?;
        let (mut ended, mut open) = (0, found.unread.len() as u64);
        for error in found.unread {
            let reason = Failure::from(error).in_one_line();
            context.printer.warning(&format!("a migration may be open: {reason}"));
        }
        if found.items.is_empty() {
            return Ok((ended, open));
        }
        let known = context.known_besides(collection, &self.others)?;
        let others: Vec<_> = known.collections.iter().collect();
        let writer = context.writer(collection)?;
        let (giver, agent, waiter) = (collection, &context.agent, &context.waiter());
        let recovery = Recovery { giver, writer: &writer, others: &others, agent, waiter };
        for OpenMigration { name, receiver } in found.items {
            let ending = match recovery.end(&name) {
                Err(TransferError::Open { why, .. })
                    if self.withdraw && matches!(*why, StillOpen::OutOfSight { .. }) =>
                {
                    recovery.withdraw_unseen(&name)
                }
                ending => ending,
            };
            let printer = &context.printer;
            match ending {
                Ok(Ending::Nothing) => {}
                Ok(Ending::HandedOver) => {
                    ended += 1;
                    printer.note(&format!("finished the migration of {name} to {receiver}"));
                }
                Ok(Ending::Buried) => {
                    ended += 1;
                    printer.note(&format!("{name} was deleted since, and is recorded so here"));
                }
                Ok(Ending::Withdrawn) => {
                    ended += 1;
                    printer.note(&format!("withdrew the migration of {name} to {receiver}"));
                }
                Err(error) => {
                    open += 1;
                    let failure = Failure::from(error);
                    let reason = failure.in_one_line();
                    printer.warning(&format!("the migration of {name} is not finished: {reason}"));
                }
            }
        }
        writer.finish()?;
        Ok((ended, open))
    }

    /// Brings the holdings of `collection` that are behind those of the collections of `--with` into line, after a person has
    /// seen which, or says in a dry run which would be. Returns these, and how many could not be.
    pub(super) fn line_up(
        &self,
        context: &Context,
        collection: &Collection,
        others: &[Collection],
    ) -> Result<(Vec<RepositoryName>, u64), Failure> {
        let (mut done, mut failed) = (Vec::new(), 0);
        for other in others {
            let sides = (other, collection);
            let LinedUp { changed: mut behind, errors, fatal } =
                lined_up(context, sides, RunMode::Plan, &[])?;
            if let Some(error) = fatal {
                return Err(error.into());
            }
            for (name, what) in &mut behind {
                let read = |it: &Collection| Some(it.item(name).ok()?.sidecar().ok()?.0);
                if let (Some(lost), Some(kept)) = (read(collection), read(other))
                    && given_up::has_more(&lost, &kept)
                {
                    *what += &format!("; given up: {}", given_up::of_sidecar(&lost, &kept));
                }
            }
            failed += tell(context, errors).0;
            if behind.is_empty() {
                continue;
            }
            let root = context.word_of(other.path());
            if context.global.dry_run {
                for (name, what) in behind {
                    tell_lined_up(context, &root, &name, &what)?;
                    done.push(name);
                }
                continue;
            }
            let lines =
                behind.iter().map(|(name, what)| format!("older than in {root}: {name}: {what}"));
            let items = human::count(behind.len() as u64, "item");
            let question =
                format!("bring {items} into line with {root}? What is here goes to the trash");
            confirm_listed(context, self.yes, lines, &question)?;
            let names: Vec<_> = behind.into_iter().map(|(name, _)| name).collect();
            let LinedUp { changed, errors, fatal } =
                lined_up(context, sides, RunMode::Act, &names)?;
            for (name, what) in &changed {
                tell_lined_up(context, &root, name, what)?;
            }
            done.extend(changed.into_iter().map(|(name, _)| name));
            let (stay, unconfirmed) = tell(context, errors);
            failed += stay;
            if let Some(error) = fatal {
                let failure = Failure::from(error);
                let items = human::count(done.len() as u64 + unconfirmed, "item");
                let before = format!(
                    "brought {items} into line before it, of which the disk did not confirm {unconfirmed}"
                );
                let is_idle = done.is_empty() && unconfirmed == 0;
                return Err(if is_idle { failure } else { failure.caused_by(before) });
            }
        }
        Ok((done, failed))
    }
}

/// Reports an item that was brought into line with the collection called `root`, or would be.
fn tell_lined_up(context: &Context, root: &str, name: &RepositoryName, what: &str) -> Done {
    let (printer, dry_run) = (&context.printer, context.global.dry_run);
    if printer.json {
        printer.record(&Item { dry_run, ..Item::became(name, Did::LinedUp) })
    } else if dry_run || printer.verbosity > Verbosity::Quiet {
        let verb = Did::LinedUp.verb(dry_run);
        printer.line(&format!("{verb} {name} into line with {root}: {what}"))
    } else {
        Ok(())
    }
}

/// What was brought into line, and what was not.
struct LinedUp {
    changed: Vec<(RepositoryName, String)>,
    errors: Vec<(RepositoryName, TransferError)>,
    /// Why the run ended early. What was changed before stays changed.
    fatal: Option<TransferError>,
}

/// Brings holdings of `to` into line with those of `from`: the items `names`, or in a plan all of them.
fn lined_up(
    context: &Context,
    (from, to): (&Collection, &Collection),
    mode: RunMode,
    names: &[RepositoryName],
) -> Result<LinedUp, Failure> {
    let progress = context.progress();
    let options = Options {
        verb: Verb::Copy,
        leaves: Leaves::Copy,
        mode,
        state: None,
        tombstones: Tombstones::Bring,
        line_up: Some(Authority::Person),
        jobs: context.config.jobs.value,
        resume_bytes: RESUME_BYTES,
    };
    let writer = (mode == RunMode::Act).then(|| context.writer(to)).transpose()?;
    let caller = context.caller(&*progress);
    let sight = Sight::alone();
    let transfer = Transfer { from, to, writer, source_writer: None, options, sight, caller };
    let all = Names::default();
    let feed = match mode {
        RunMode::Plan => all.feed(from),
        RunMode::Act => super::super::transfer::feed_of(names),
    };
    let (mut changed, mut errors) = (Vec::new(), Vec::new());
    let mut summary = transfer.run(feed, |outcomes| {
        for Outcome { name, result } in outcomes {
            match result {
                Ok(done) if done.is_change() => {
                    let was = done.replaced.as_ref().map_or(String::new(), ToString::to_string);
                    changed.push((name, format!("{was} here, to be {}", done.state)));
                }
                Ok(_) => {}
                Err(error) => errors.push((name, error)),
            }
        }
        Ok(())
    });
    Ok(LinedUp { changed, errors, fatal: summary.fatal.take() })
}

/// Reports the errors. Returns how many items stay as they are, and how many were changed without the confirmation of the disk.
fn tell(context: &Context, errors: Vec<(RepositoryName, TransferError)>) -> (u64, u64) {
    let (mut stay, mut unconfirmed) = (0, 0);
    for (name, error) in errors {
        let failure = Failure::from(error);
        let (count, stays) = if failure.is_unconfirmed {
            (&mut unconfirmed, "")
        } else {
            (&mut stay, " stays as it is")
        };
        *count += 1;
        context.printer.warning(&format!("{name}{stays}: {}", failure.in_one_line()));
    }
    (stay, unconfirmed)
}
