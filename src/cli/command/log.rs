//! `urepo log`: what happened to items.

use urepo::collection::{Event, EventKind};
use urepo::identity::{Instant, RepositoryName};

use super::list::parse_time;
use crate::cli::context::Context;
use crate::cli::each::Stop;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::{Done, escape};

/// Show what happened to items: who did it, and when
///
/// The log is a convenience: what an item is stands in its sidecar alone, and an event that could not
/// be written was left out. It lies in `.urepo/log`, one JSON object a line, a file a month; the names
/// of the events are those of PREMIS. Of every change both collections keep a line.
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
        // What was migrated or purged is in the log and nowhere else here.
        let named = |text: &String| -> Result<RepositoryName, Failure> {
            match text.parse() {
                Ok(name) => Ok(name),
                Err(_) => Ok(collection.find_with_trash(text)?),
            }
        };
        let names = self.items.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        let mut told = 0_u64;
        collection.visit_events(self.since, |event| {
            if context.interrupt.requested() {
                return Err(Stop::Failure(Failure::told(Exit::Interrupted)));
            }
            if !names.is_empty() && !names.contains(&event.id) {
                return Ok(());
            }
            told += 1;
            tell(context, &event).map_err(Stop::Failure)
        })?;
        if told == 0 && !context.printer.json {
            context.printer.note("no such event");
        }
        Ok(())
    }
}

fn tell(context: &Context, event: &Event) -> Done {
    if context.printer.json {
        let mut record = serde_json::json!({ "type": "event", "version": 1 });
        let fields = serde_json::to_value(event).unwrap_or_default();
        crate::cli::record::extend(&mut record, fields);
        return context.printer.record(&record);
    }
    let Event { date, event: kind, id, command, machine, .. } = event;
    let kind = word(*kind);
    let mut line = format!("{date}  {kind:<12}  {id}  {command} on {machine}");
    for (what, collection) in [("from", &event.from), ("to", &event.to)] {
        if let Some(collection) = collection {
            line += &format!("  {what} {}", &collection.get(..8).unwrap_or(collection));
        }
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
        EventKind::Promotion => "promotion",
        EventKind::Demotion => "demotion",
        EventKind::Recovery => "recovery",
    }
}
