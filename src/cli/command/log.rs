//! `urepo log`: show the events of items.

use serde_json::Value;
use urepo::clock::Clock as _;
use urepo::collection::{Collection, Event, LoggedChange};
use urepo::identity::{Prefix, RepositoryName};

use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{self, LogEvent};
use crate::cli::report::{End, Report};
use crate::cli::table::{EVENTS, Table, TableArgs};
use crate::cli::when::When;
use crate::cli::{Done, escape, human};

/// Show what happened to items, when, and by whom
///
/// The events are the lines of the ledger, in `.urepo/ledger`: one JSON object on each line. The names of
/// the events are those of PREMIS, and `purge`, `mint`, `registration`, `found` and `loss`. If an item moves, both collections keep a
/// line.
///
/// Prints the oldest event first: date, event, identifier and details, on a terminal the details on a line of their own. Those of
/// a correction have the old and the new value of each key.
///
/// With --json each event is a record with `date`, `event`, `id`, `holding`, `detail`, `command`, `user`, `user_id`,
/// `machine` and `process`; where it has them also `digest` and `digest_before` of the manifest, `from`,
/// `from_name`, `to` and `to_name` of other collections, `freed` bytes, a `note`, and `changes` of a description:
/// for each key its `key` and the values `before` and `after`.
#[derive(Debug, clap::Args)]
pub(crate) struct Log {
    /// Only events of these items
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Only events at or after this time: 2026, 2026-11, 2026-11-22, 2026-11-22T12:00:00Z, or an age: 7d, 12h
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    since: Option<When>,
    /// Only events before the end of this year, month, day or time
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    until: Option<When>,
    /// Only events of items of this prefix: subdomain/word[.port]
    #[arg(long)]
    prefix: Option<Prefix>,
}

/// The columns of a pipe.
const COLUMNS: [&str; 4] = ["date", "event", "id", "detail"];

impl Log {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let mut report = Report::reading(context, Did::Sound, self.items.len() == 1);
        let mut meant = report.resolve(&self.items, |text| Meant::find(&collection, text));
        let mut table = Table::new(context, &TableArgs::default(), &EVENTS, &COLUMNS)?;
        let is_drawn = context.printer.stdout_is_terminal() && !context.printer.json;
        let mut drawn = 0;
        let now = context.clock.now();
        let until = self.until.map(|it| it.end(now));
        let visited = collection.visit_events(self.since.map(|it| it.first(now)), |event| {
            if context.interrupt.requested() {
                return Err(Failure::told(Exit::Interrupted));
            }
            if until.is_some_and(|until| event.date >= until)
                || self.prefix.as_ref().is_some_and(|prefix| event.id.prefix() != *prefix)
            {
                return Ok(());
            }
            // Each collection is checked: an item that is not here counts as found once it is seen in the
            // log.
            let asked = meant.iter_mut().filter_map(|it| it.is(&event.id).then_some(())).count();
            if !self.items.is_empty() && asked == 0 {
                return Ok(());
            }
            let record = records::to_json(&LogEvent { event: &event, detail: detail(&event) });
            if is_drawn {
                drawn += 1;
                return context.printer.lines(&drawing(&record));
            }
            table.row(&record).map(drop)
        });
        let resolved = meant.iter().filter(|it| it.absent.is_none()).count() as u64;
        let _ = meant
            .into_iter()
            .filter_map(|it| it.absent)
            .try_for_each(|(text, failure)| report.failed(&text, failure));
        let told = table.finish()? + drawn;
        match visited {
            Ok(0) => {}
            Ok(skipped) => {
                let lines = human::count(skipped, "line");
                let told =
                    format!("passed over {lines} of the log: damaged, or of a later version");
                context.printer.warning(&told);
            }
            Err(stop) => report.fatal(stop),
        }
        report.count("events", told);
        report.summary.counts.items = resolved;
        let closing = (told == 0 && report.errors() == 0).then(|| "no matching events".to_owned());
        let done = Some(human::count(told, "event"));
        report.finish(End { done, closing, ..End::default() })
    }
}

/// The item of a word of the command line, by its name or the end of it. An item that was migrated or purged
/// may be only in the log.
struct Meant {
    name: String,
    /// The failure for an unknown item, unless it is seen in the log.
    absent: Option<(String, Failure)>,
}

impl Meant {
    fn find(collection: &Collection, text: &str) -> Result<Meant, Failure> {
        let (name, absent) = match collection.find(text).map_err(Failure::from) {
            Ok(item) => (item.name().to_string(), None),
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

/// An event on two lines: a terminal has no room for all on one.
fn drawing(event: &Value) -> String {
    let [date, kind, id, detail] =
        COLUMNS.map(|key| escape::one_line(event[key].as_str().unwrap_or_default()));
    let minute = date.split_once('T').and_then(|(day, time)| Some((day, time.get(..5)?)));
    let date = minute.map_or_else(|| date.clone(), |(day, time)| format!("{day} {time} UTC"));
    format!("{date}  {kind}  {id}\n  {detail}\n")
}

/// `title: "Anual" -> "Annual"`
fn change(LoggedChange { key, before, after }: &LoggedChange) -> String {
    let key = TABLES.iter().find_map(|it| key.strip_prefix(it)).unwrap_or(key);
    let [before, after] = [before, after]
        .map(|value| value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string));
    format!("{key}: {before} -> {after}")
}

/// The keys in them are known without them.
const TABLES: [&str; 2] = ["metadata.", "relations."];

/// The details of an event besides date, kind and item, in one line.
fn detail(event: &Event) -> String {
    let Event { command, machine, .. } = event;
    let by = event.user.as_ref().map(|user| format!(" by {user}")).unwrap_or_default();
    let mut line = command.strip_prefix("urepo ").unwrap_or(command).to_owned();
    // Two collections may have one name.
    let is_clear = event.from_name != event.to_name;
    for (what, id, name) in
        [("from", &event.from, &event.from_name), ("to", &event.to, &event.to_name)]
    {
        let Some(id) = id else { continue };
        let id = id.get(..8).unwrap_or(id);
        line += &match name {
            Some(name) if is_clear => format!(" {what} {name}"),
            Some(name) => format!(" {what} {name} ({id})"),
            None => format!(" {what} {id}"),
        };
    }
    if let Some(freed) = event.freed {
        line += &format!(", {} freed", human::bytes(freed));
    }
    if !event.changes.is_empty() {
        let changes: Vec<_> = event.changes.iter().map(change).collect();
        line += &format!(": {}", changes.join(", "));
    }
    // `repair (repaired)` says nothing.
    if let Some(note) =
        event.note.as_ref().filter(|note| !["repaired", "restored"].contains(&note.as_str()))
    {
        line += &format!(" ({note})");
    }
    line + &format!("{by} on {machine}")
}
