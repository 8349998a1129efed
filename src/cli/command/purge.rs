//! `urepo purge`: what is in the trash goes for good.

use std::time::Duration;

use serde_json::json;
use urepo::clock::Clock as _;
use urepo::collection::Held;
use urepo::removal::{PurgePlan, Purgeable, Purger, Wanted, purgeable};

use super::delete::finish_removals;
use crate::cli::confirm::confirm;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::report::{End, Tally};
use crate::cli::{Done, human};

/// Remove the files of deleted items for good
///
/// Deleted items keep their files in the trash of the collection until this. It lists what would go and
/// asks; where it can not ask, it needs --yes. Tombstones stay.
///
/// What is freed is what the files take of the disk, as `df` shows it: a file that another item or the mended
/// item shares frees nothing. A purge needs no free block and no free inode.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo purge --dry-run
  urepo purge --older-than 30d --yes")]
pub(crate) struct Purge {
    /// The items; everything in the trash unless given
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Only what was deleted longer ago, such as 30d
    #[arg(long, value_name = "TIME", value_parser = human::parse_duration)]
    older_than: Option<Duration>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Purge {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let mut tally = Tally::new(context, self.items.len() == 1);
        let found = tally.meant(&self.items, |text| Ok(collection.find_with_trash(text)?));
        let names = (!self.items.is_empty()).then_some(found);
        let wanted = Wanted { names, before: self.before(context) };
        let PurgePlan { entries, failed } = purgeable(&collection, &wanted)?;
        if self.items.is_empty() {
            tally = Tally::new(context, entries.len() + failed.len() == 1);
        }
        for error in failed {
            let _ = tally.failed("", error.into());
        }
        if context.global.dry_run {
            for entry in &entries {
                tell(context, entry, "would purge")?;
            }
            return finish(context, &Total::of(&entries), tally);
        }
        if !entries.is_empty() && !self.yes {
            for entry in &entries {
                context.printer.note(&line(entry, "to be purged:"));
            }
            let Total { entries: count, bytes, .. } = Total::of(&entries);
            let entries = human::count(count, "deleted item");
            let question = format!("remove {entries}, {}, for good?", human::bytes(bytes));
            confirm(context, self.yes, &question)?;
        }
        let mut done = Total::default();
        if !entries.is_empty() {
            finish_removals(context, &collection)?;
            let (agent, waiter) = (&context.agent, context.waiter());
            let purger = Purger::new(&collection, agent, waiter, &context.interrupt)?;
            for entry in &entries {
                match purger.purge(entry).map_err(Failure::from) {
                    Ok(freed) => {
                        let mut purged = entry.clone();
                        purged.freed = freed;
                        done.add(&purged);
                        told(context, &purged)?;
                    }
                    Err(failure) => {
                        if tally.failed(entry.name.as_str(), failure).is_break() {
                            break;
                        }
                    }
                }
            }
            purger.finish();
        }
        finish(context, &done, tally)
    }

    fn before(&self, context: &Context) -> Option<urepo::identity::Instant> {
        let age = i128::try_from(self.older_than?.as_nanos()).ok()?;
        context.clock.now().checked_add(-age)
    }
}

/// Entries that went, what they held and what that frees.
#[derive(Default)]
struct Total {
    entries: u64,
    bytes: u64,
    freed: u64,
}

impl Total {
    fn of(entries: &[Purgeable]) -> Total {
        let mut total = Total::default();
        for entry in entries {
            total.add(entry);
        }
        total
    }

    fn add(&mut self, entry: &Purgeable) {
        self.entries += 1;
        self.bytes += entry.bytes;
        self.freed += entry.freed;
    }
}

fn held(entry: &Purgeable) -> &'static str {
    match entry.held {
        Held::Payload => "payload",
        Held::Copy => "copy",
        Held::SetAside => "item",
        Held::Replaced => "replaced",
        Held::Unlisted => "unlisted",
        Held::Remains => "remains",
    }
}

fn line(entry: &Purgeable, verb: &str) -> String {
    let Purgeable { name, files, bytes, since, .. } = entry;
    let what = match entry.held {
        Held::Copy => ", a Copy",
        Held::Remains => ", what is left of it",
        Held::Replaced => ", as it was before it was mended",
        Held::Unlisted => ", files that were not in its sidecar",
        Held::Payload | Held::SetAside => "",
    };
    let files = human::count(*files, "file");
    format!("{verb} {name}{what}: {files}, {}, deleted {since}", human::bytes(*bytes))
}

fn tell(context: &Context, entry: &Purgeable, verb: &str) -> Done {
    if context.printer.json {
        return record(context, entry);
    }
    context.printer.line(&line(entry, verb))
}

fn told(context: &Context, entry: &Purgeable) -> Done {
    if context.printer.json {
        return record(context, entry);
    }
    context.printer.detail(&line(entry, "purged"));
    Ok(())
}

fn record(context: &Context, entry: &Purgeable) -> Done {
    let kind = if context.global.dry_run { "plan" } else { "item" };
    let record = json!({
        "type": kind, "version": 1, "id": entry.name.as_str(), "ok": true, "action": "purge",
        "held": held(entry), "files": entry.files, "bytes": entry.bytes,
        "freed": entry.freed, "since": entry.since.to_string(),
    });
    context.printer.record(&record)
}

fn finish(context: &Context, done: &Total, tally: Tally<'_>) -> Done {
    let failed = tally.failed;
    let partial = (failed > 0).then(|| {
        let items = human::count(failed, "item");
        Failure::new(Exit::Partial, format!("{items} could not be purged"))
    });
    let counts = json!({
        "items": done.entries, "bytes": done.bytes, "freed": done.freed, "failed": failed,
    });
    let items = human::count(done.entries, "item");
    let (bytes, freed) = (human::bytes(done.bytes), human::bytes(done.freed));
    let closing = match (done.entries, context.global.dry_run) {
        (0, _) => "there is nothing to purge".to_owned(),
        (_, true) => format!("would purge {items}, {bytes}, and free {freed}"),
        (_, false) => format!("purged {items}, {bytes}; {freed} freed"),
    };
    let closing = (failed == 0).then_some(closing);
    tally.finish(End {
        done: format!("{items} purged"),
        partial,
        counts,
        closing,
        ..End::default()
    })
}
