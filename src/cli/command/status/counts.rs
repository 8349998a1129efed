//! `urepo status --counts`: items, files and bytes by state, prefix, year and ending.

use urepo::collection::Collection;
use urepo::identity::Prefix;
use urepo::index::{Count, Counts};
use urepo::item::State;

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::records::{Contents, OneCollection};
use crate::cli::table::{Cell, Grid};
use crate::cli::{Done, human, indexed};

/// The most formats that are listed.
const FORMATS: usize = 10;

/// Counts what the collection in use has, of one `prefix` if there is one.
pub(super) fn run(context: &Context, prefix: Option<&Prefix>) -> Done {
    let collection = context.collection()?;
    let mut catalog = context.catalog(&collection)?;
    let counts = catalog.counts(prefix)?;
    let report = catalog.report();
    let written = if context.printer.json {
        let exit = if report.unreadable.is_empty() { Exit::Success } else { Exit::Partial };
        context.printer.record(&record(&collection, &counts, exit))
    } else {
        let mut output = context.printer.output();
        for line in lines(&counts, context.printer.stdout_width()) {
            output.ended(&line, b'\n');
        }
        context.printer.send(&output)
    };
    written?;
    indexed::judge(report)
}

/// The formats, the most frequent first.
fn frequent(counts: &Counts) -> Vec<(&str, u64)> {
    let mut formats: Vec<_> =
        counts.formats.iter().map(|(format, count)| (format.as_str(), *count)).collect();
    formats.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    formats.truncate(FORMATS);
    formats
}

/// The lines: what is counted, and items, files and bytes of it.
fn lines(counts: &Counts, terminal: Option<usize>) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = |what: &str, value: &str, items: String, files: String, bytes: String| {
        let [items, files, bytes] = [items, files, bytes].map(Cell::number);
        rows.push(vec![Cell::whole(what), Cell::whole(value), items, files, bytes]);
    };
    let bytes = |bytes| terminal.map_or_else(|| u64::to_string(&bytes), |_| human::bytes(bytes));
    let mut held = |what: &str, value: &str, count: &Count| {
        row(what, value, count.items.to_string(), count.files.to_string(), bytes(count.bytes));
    };
    held("total", "", &counts.total);
    for (state, count) in &counts.states {
        held("state", &state.map_or("unreadable".to_owned(), |it| it.to_string()), count);
    }
    for (prefix, count) in &counts.prefixes {
        held("prefix", prefix, count);
    }
    for (year, count) in &counts.years {
        held("year", &year.to_string(), count);
    }
    for (format, files) in frequent(counts) {
        let format = if format.is_empty() { "none".to_owned() } else { format!(".{format}") };
        row("format", &format, String::new(), files.to_string(), String::new());
    }
    if counts.repeated > 0 {
        row("repeated", "", counts.repeated.to_string(), String::new(), String::new());
    }
    let headings = ["COUNTED", "VALUE", "ITEMS", "FILES", "SIZE"].map(str::to_owned);
    Grid::new(headings.into(), terminal).lines(rows)
}

fn record(collection: &Collection, counts: &Counts, exit: Exit) -> OneCollection {
    let state = |state: Option<State>| state.map_or("unreadable".to_owned(), |it| it.to_string());
    let endings = frequent(counts).into_iter();
    let contents = Contents {
        total: counts.total,
        by_state: counts.states.iter().map(|(it, held)| (state(*it), *held)).collect(),
        by_prefix: counts.prefixes.iter().map(|(it, held)| (it.clone(), *held)).collect(),
        by_year: counts.years.iter().map(|(it, held)| (it.to_string(), *held)).collect(),
        by_ending: endings.map(|(ending, files)| (ending.to_owned(), files)).collect(),
        repeated: counts.repeated,
    };
    let exit_code = Some(exit.code());
    OneCollection { contents: Some(contents), exit_code, ..collection.into() }
}
