//! `urepo log`: what happened to items.

use urepo::collection::{Collection, Event, EventKind};
use urepo::identity::{Instant, RepositoryName};

use super::list::parse_time;
use crate::cli::context::Context;
use crate::cli::each::Stop;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::{Done, escape, human};

/// Show what happened to items: who did it, and when
///
/// The log is a convenience: what an item is stands in its sidecar alone, and a command warns of an event
/// that it could not write. It lies in `.urepo/log`, one JSON object a line, a file a month; the names
/// of the events are those of PREMIS, and `purge` and `correction`. Of every change both collections keep a line.
///
/// With --json each event is a record with `date`, `event`, `id`, `outcome`, `command`, `user`, `user_id`,
/// `machine` and `process`; where it has them also `digest` and `digest_before` of the manifest, `from`,
/// `from_name`, `to` and `to_name` of other collections, `freed` bytes, and a `note`.
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
        let mut meant = self
            .items
            .iter()
            .map(|text| Meant::find(&collection, text))
            .collect::<Result<Vec<_>, _>>()?;
        let mut told = 0_u64;
        collection.visit_events(self.since, |event| {
            if context.interrupt.requested() {
                return Err(Stop::Failure(Failure::told(Exit::Interrupted)));
            }
            // Each is asked: one that is not here is known to be in the log once it is seen there.
            let asked = meant.iter_mut().filter_map(|it| it.is(&event.id).then_some(())).count();
            if !self.items.is_empty() && asked == 0 {
                return Ok(());
            }
            told += 1;
            tell(context, &event).map_err(Stop::Failure)
        })?;
        if let Some(failure) = meant.into_iter().find_map(Meant::into_failure) {
            return Err(failure);
        }
        if told == 0 && !context.printer.json {
            context.printer.note("no such event");
        }
        Ok(())
    }
}

/// The items that a word of the command line means.
enum Meant {
    /// One item.
    Item(RepositoryName),
    /// Those whose names end so: what was migrated or purged may be in the log and nowhere else here.
    End {
        end: String,
        /// That there is no such item, until one is seen in the log.
        absent: Option<Failure>,
    },
}

impl Meant {
    fn find(collection: &Collection, text: &str) -> Result<Meant, Failure> {
        if let Ok(name) = text.parse() {
            return Ok(Meant::Item(name));
        }
        match collection.find_with_trash(text) {
            Ok(name) => Ok(Meant::Item(name)),
            Err(error) => {
                let failure = Failure::from(error);
                if failure.exit != Exit::NoItem {
                    return Err(failure);
                }
                let end = format!("/{}", text.trim_matches('/').to_ascii_lowercase());
                Ok(Meant::End { end, absent: Some(failure) })
            }
        }
    }

    fn is(&mut self, name: &RepositoryName) -> bool {
        match self {
            Meant::Item(item) => item == name,
            Meant::End { end, absent } => {
                let is_meant = name.as_str().to_ascii_lowercase().ends_with(end.as_str());
                if is_meant {
                    *absent = None;
                }
                is_meant
            }
        }
    }

    /// Why there is nothing to tell of it.
    fn into_failure(self) -> Option<Failure> {
        match self {
            Meant::Item(_) => None,
            Meant::End { absent, .. } => absent,
        }
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
    let by = event.user.as_ref().map(|user| format!(" by {user}")).unwrap_or_default();
    let mut line = format!("{date}  {kind:<12}  {id}  {command}{by} on {machine}");
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
        EventKind::Correction => "correction",
    }
}
