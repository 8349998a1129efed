//! `urepo purge`: removes the contents of the trash permanently.

use std::collections::HashSet;
use std::time::Duration;

use urepo::clock::Clock as _;
use urepo::identity::SECOND;
use urepo::removal::{PurgePlan, Purgeable, Purger, Unlogged, Wanted, purgeable};

use super::removal::named;
use crate::cli::confirm::confirm_listed;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::failure::Failure;
use crate::cli::records::{Item, Trash};
use crate::cli::report::{End, Report};
use crate::cli::select::{NameFlags, Selection};
use crate::cli::{Done, human};

/// Remove deleted and replaced items permanently
///
/// Until a purge, deleted items, and items as they were before a repair, stay in the trash of the collection.
/// The command lists the files to remove and asks; if it cannot ask, it needs --yes. Tombstones stay. --since and --until use the date in
/// the identifier, --older-than the time at which files went to this trash, whenever their Original was
/// deleted.
///
/// The freed room is the room on the disk, as `df` shows it: a file shared with another item or with the
/// repaired item frees nothing. A purge works without a free block or inode.
#[derive(Debug, clap::Args)]
pub(crate) struct Purge {
    /// The items; everything in the trash unless given
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    #[command(flatten)]
    flags: NameFlags,
    /// Only files that have been in the trash for more than TIME, such as 30d
    #[arg(long, value_name = "TIME", value_parser = human::parse_duration)]
    older_than: Option<Duration>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Purge {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let selection = Selection::new(self.items.clone(), self.flags.clone())?;
        let collection = context.collection()?;
        let mut report = Report::new(context, Did::Purged, selection.is_single());
        let names = named(&collection, &selection, &mut report)?;
        let among = selection.filter(context);
        let is_measured = context.global.dry_run || !self.yes;
        let wanted = Wanted { names, among, before: self.before(context), is_measured };
        let PurgePlan { entries, failed } = purgeable(&collection, &wanted)?;
        if !selection.names_items() {
            report = Report::new(context, Did::Purged, entries.len() + failed.len() == 1);
        }
        for error in failed {
            let _ = report.failed("", error.into());
        }
        // An item may have several entries, as of repairs.
        let mut names = HashSet::new();
        let mut is_repeated = |entry: &Purgeable| !names.insert(entry.name.folded());
        if context.global.dry_run {
            for entry in &entries {
                if report.outcome(record(entry), &line(entry), "").is_break() {
                    break;
                }
                if is_repeated(entry) {
                    report.add_again(Did::Purged);
                }
            }
            return finish(&Total::of(&entries), report);
        }
        if !entries.is_empty() && !self.yes {
            let lines =
                entries.iter().map(|entry| format!("to be purged: {}{}", entry.name, line(entry)));
            let total = Total::of(&entries);
            let (what, bytes) = (total.counted(), human::bytes(total.bytes));
            let question = format!("remove {what}, {bytes}, permanently?");
            confirm_listed(context, self.yes, lines, &question)?;
        }
        let mut done = Total::default();
        if !entries.is_empty() {
            let (agent, waiter) = (&context.agent, context.waiter());
            let mut purger = Purger::new(&collection, agent, waiter, &context.interrupt)?;
            purger.purge(&entries, &mut |entry, outcome| match outcome.map_err(Failure::from) {
                Ok(purged) => {
                    done.add(&purged);
                    report.add(Did::Purged, (purged.files, purged.bytes));
                    if is_repeated(&purged) {
                        report.add_again(Did::Purged);
                    }
                    let written = if context.printer.json {
                        context.printer.record(&record(&purged))
                    } else {
                        let Purgeable { name, .. } = &purged;
                        context.printer.detail(&format!("purged {name}{}", line(&purged)));
                        Ok(())
                    };
                    report.written(written)
                }
                Err(failure) => report.failed(entry.name.as_str(), failure),
            });
            if let Some(Unlogged { events, cause }) = purger.finish() {
                let events = human::count(events, "event");
                let path = collection.path().display();
                let cause = Failure::from(cause).in_one_line();
                let what = format!("{events} could not be written to the ledger of `{path}`");
                context.printer.warning(&format!("{what}: {cause}"));
            }
        }
        finish(&done, report)
    }

    fn before(&self, context: &Context) -> Option<urepo::identity::Instant> {
        let age = i128::try_from(self.older_than?.as_nanos()).ok()?;
        context.clock.now().checked_add(-age)
    }
}

/// Removed entries, their contents and the freed room.
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

    fn counted(&self) -> String {
        format!("{} of the trash", human::count(self.entries, "entry"))
    }

    fn add(&mut self, entry: &Purgeable) {
        self.entries += 1;
        self.bytes += entry.bytes;
        self.freed += entry.freed;
    }
}

fn line(entry: &Purgeable) -> String {
    let Purgeable { files, bytes, since, .. } = entry;
    let files = human::count(*files, "file");
    let since = since.floor(SECOND);
    format!(": {files}, {}, in the trash since {since}", human::bytes(*bytes))
}

fn record(entry: &Purgeable) -> Item<'static> {
    Item {
        files: Some(entry.files),
        bytes: Some(entry.bytes),
        trash: Some(Trash { since: entry.since.to_string(), freed: entry.freed }),
        ..Item::became(&entry.name, Did::Purged)
    }
}

fn finish(done: &Total, mut report: Report<'_>) -> Done {
    report.count("freed", done.freed);
    let would_be = if report.is_dry() { "would be " } else { "" };
    let freed = || format!("{} {would_be}freed", human::bytes(done.freed));
    let freed = (done.entries > 0).then(freed);
    report.finish(End { besides: freed.into_iter().collect(), ..End::default() })
}
