//! `urepo stats`: how much a collection holds.

use urepo::catalog::RefreshDepth;
use urepo::collection::Collection;
use urepo::index::{Count, Counts};
use urepo::item::State;

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::records::{self, Format};
use crate::cli::{Done, escape, human};

/// Count items, files and bytes by state, prefix, year and format
///
/// Files and bytes are those of Originals and Copies; deleted items have none. A format is the ending
/// of a file's name. "Repeated" are items whose files are, byte for byte, those of another one.
///
/// It answers from the index (`urepo index`), which is made the first time.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo stats
  urepo stats --formats 3 --json")]
pub(crate) struct Stats {
    /// Tell of N formats, the most frequent ones
    #[arg(long, value_name = "N", default_value_t = 10)]
    formats: usize,
}

impl Stats {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let mut catalog = context.catalog(&collection, RefreshDepth::Directories)?;
        let counts = catalog.counts()?;
        let report = catalog.report();
        let written = if context.printer.json {
            let exit = if report.unreadable.is_empty() { Exit::Success } else { Exit::Partial };
            context.printer.record(&self.record(&collection, &counts, exit))
        } else {
            context.printer.lines(&self.table(&counts))
        };
        written?;
        super::index::judge(report)
    }

    /// The formats, the most frequent first.
    fn frequent<'a>(&self, counts: &'a Counts) -> Vec<(&'a str, u64)> {
        let mut formats: Vec<_> =
            counts.formats.iter().map(|(format, count)| (format.as_str(), *count)).collect();
        formats.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        formats.truncate(self.formats);
        formats
    }

    fn table(&self, counts: &Counts) -> String {
        let mut text = String::new();
        let mut line = |what: &str, count: &Count| {
            text += &format!(
                "{what:<32} {:>9} items {:>9} files {:>10}\n",
                count.items,
                count.files,
                human::bytes(count.bytes)
            );
        };
        line("total", &counts.total);
        for (state, count) in &counts.states {
            let state = state.map_or("unreadable".to_owned(), |state| state.to_string());
            line(&format!("  {state}"), count);
        }
        for (prefix, count) in &counts.prefixes {
            line(&escape::one_line(prefix), count);
        }
        for (year, count) in &counts.years {
            line(&year.to_string(), count);
        }
        if counts.repeated > 0 {
            text += &format!("{:<32} {:>9} items\n", "repeated", counts.repeated);
        }
        for (format, files) in self.frequent(counts) {
            let format = match format {
                "" => "no ending".to_owned(),
                format => format!(".{format}"),
            };
            text += &format!("{format:<32} {:>9}       {files:>9} files\n", "");
        }
        text
    }

    fn record<'a>(
        &self,
        collection: &Collection,
        counts: &'a Counts,
        exit: Exit,
    ) -> records::Stats<'a> {
        let state =
            |state: Option<State>| state.map_or("unreadable".to_owned(), |it| it.to_string());
        let formats = self.frequent(counts).into_iter();
        records::Stats {
            place: collection.into(),
            total: (&counts.total).into(),
            states: counts.states.iter().map(|(it, held)| (state(*it), held.into())).collect(),
            prefixes: counts.prefixes.iter().map(|(it, held)| (it.as_str(), held.into())).collect(),
            years: counts.years.iter().map(|(it, held)| (it.to_string(), held.into())).collect(),
            repeated: counts.repeated,
            formats: formats.map(|(ending, files)| Format { ending, files }).collect(),
            exit_code: exit.code(),
        }
    }
}
