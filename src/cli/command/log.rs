//! `urepo log`: what happened to items.

use urepo::collection::{Collection, Event, EventKind};
use urepo::identity::{Instant, RepositoryName};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human::parse_time;
use crate::cli::records::LogEvent;
use crate::cli::report::{End, Report};
use crate::cli::{Done, escape, human};

/// Show what happened to items, when, and by whom
///
/// The log is a convenience: what an item is stands in its sidecar alone, and a command warns of an event
/// that it could not write. It lies in `.urepo/log`, one JSON object a line, a file a month; the names
/// of the events are those of PREMIS, and `purge` and `correction`. Of every change both collections keep a line.
///
/// With --json each event is a record with `date`, `event`, `id`, `outcome`, `command`, `user`, `user_id`,
/// `machine` and `process`; where it has them also `digest` and `digest_before` of the manifest, `from`,
/// `from_name`, `to` and `to_name` of other collections, `freed` bytes, a `note`, and `changes` of a description:
/// for each key its `key` and the values `before` and `after`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo log
  urepo log 11.21.02.13
  urepo log --since 2026-11-01 --json")]
pub(crate) struct Log {
    /// Only events of these items
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Only events at or after this time, such as 2026-01-31 or 2026-01-31T12:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Instant>,
}

impl Log {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let mut report = Report::reading(context, "found in the log", self.items.len() == 1);
        let mut meant = report.resolve(&self.items, |text| Meant::find(&collection, text));
        let mut told = 0_u64;
        let visited = collection.visit_events(self.since, |event| {
            if context.interrupt.requested() {
                return Err(Failure::told(Exit::Interrupted));
            }
            // Each is asked: one that is not here is known to be in the log once it is seen there.
            let asked = meant.iter_mut().filter_map(|it| it.is(&event.id).then_some(())).count();
            if !self.items.is_empty() && asked == 0 {
                return Ok(());
            }
            told += 1;
            tell(context, &event)
        });
        let resolved = meant.iter().filter(|it| it.absent.is_none()).count() as u64;
        let _ = meant
            .into_iter()
            .filter_map(|it| it.absent)
            .try_for_each(|(text, failure)| report.failed(&text, failure));
        match visited {
            Ok(0) => {}
            Ok(skipped) => {
                let lines = human::count(skipped, "line");
                let told = format!("passed over {lines} of the log, longer than any event");
                context.printer.warning(&told);
            }
            Err(stop) => report.fatal(stop),
        }
        report.count("events", told);
        report.summary.counts.items = resolved;
        let closing = (told == 0 && report.errors() == 0).then(|| "no such event".to_owned());
        let done = Some(human::count(told, "event"));
        report.finish(End { done, closing, ..End::default() })
    }
}

/// What a word of the command line means: an item, by its name or the end of it. One that was migrated or
/// purged may be in the log and nowhere else here.
struct Meant {
    name: String,
    /// That there is no such item, until one is seen in the log.
    absent: Option<(String, Failure)>,
}

impl Meant {
    fn find(collection: &Collection, text: &str) -> Result<Meant, Failure> {
        let (name, absent) = match collection.find_with_trash(text).map_err(Failure::from) {
            Ok(name) => (name.to_string(), None),
            Err(failure) if failure.exit != Exit::NoItem => return Err(failure),
            Err(failure) => (text.trim_matches('/').to_owned(), Some((text.to_owned(), failure))),
        };
        Ok(Meant { name: name.to_ascii_lowercase(), absent })
    }

    fn is(&mut self, name: &RepositoryName) -> bool {
        let folded = name.as_str().to_ascii_lowercase();
        let before = folded.strip_suffix(self.name.as_str());
        let is_meant = before.is_some_and(|it| it.is_empty() || it.ends_with('/'));
        if is_meant {
            self.absent = None;
        }
        is_meant
    }
}

fn tell(context: &Context, event: &Event) -> Done {
    if context.printer.json {
        return context.printer.record(&LogEvent { event });
    }
    let Event { date, event: kind, id, command, machine, .. } = event;
    let kind = word(*kind);
    let by = event.user.as_ref().map(|user| format!(" by {user}")).unwrap_or_default();
    let mut line = format!("{date}  {kind:<21}  {id}  {command}{by} on {machine}");
    for (what, id, name) in
        [("from", &event.from, &event.from_name), ("to", &event.to, &event.to_name)]
    {
        let Some(id) = id else { continue };
        let id = id.get(..8).unwrap_or(id);
        line += &match name {
            Some(name) => format!("  {what} {name} ({id})"),
            None => format!("  {what} {id}"),
        };
    }
    if let Some(freed) = event.freed {
        line += &format!("  {} freed", human::bytes(freed));
    }
    if !event.changes.is_empty() {
        let keys: Vec<_> = event.changes.iter().map(|change| change.key.as_str()).collect();
        line += &format!("  {}", keys.join(", "));
    }
    if let Some(note) = &event.note {
        line += &format!("  ({note})");
    }
    context.printer.line(&escape::one_line(&line))
}

fn word(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Ingestion => "ingestion",
        EventKind::Replication => "replication",
        EventKind::Modification => "modification",
        EventKind::Transfer => "transfer",
        EventKind::Deletion => "deletion",
        EventKind::Purge => "purge",
        EventKind::Promotion => "promotion",
        EventKind::Demotion => "demotion",
        EventKind::Recovery => "recovery",
        EventKind::Description => "metadata modification",
        EventKind::Correction => "correction",
    }
}
