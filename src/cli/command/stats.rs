//! `urepo stats`: how much a collection holds.

use serde_json::{Value, json};
use urepo::catalog::Look;
use urepo::index::{Count, Counts};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::{Done, escape, human, record};

/// Tell how much the collection holds: by state, prefix, year and format
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
        let mut catalog = context.catalog(&collection, Look::Quick)?;
        let counts = catalog.counts()?;
        let news = catalog.news();
        let written = if context.printer.json {
            let exit = if news.unlisted.is_empty() { Exit::Success } else { Exit::Partial };
            let mut fields = self.record(&counts);
            record::add_path(&mut fields, "path", collection.path());
            record::extend(&mut fields, json!({ "id": collection.id(), "exit_code": exit.code() }));
            context.printer.record(&fields)
        } else {
            context.printer.lines(&self.table(&counts))
        };
        written?;
        super::index::judge(news)
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

    fn record(&self, counts: &Counts) -> Value {
        let count = |count: &Count| json!({ "items": count.items, "files": count.files, "bytes": count.bytes });
        let formats = self.frequent(counts).into_iter();
        json!({
            "type": "stats", "version": 1,
            "total": count(&counts.total),
            "states": counts.states.iter().map(|(state, held)| {
                let state = state.map_or("unreadable".to_owned(), |state| state.to_string());
                (state, count(held))
            }).collect::<serde_json::Map<_, _>>(),
            "prefixes": counts.prefixes.iter().map(|(prefix, held)| (prefix.clone(), count(held)))
                .collect::<serde_json::Map<_, _>>(),
            "years": counts.years.iter().map(|(year, held)| (year.to_string(), count(held)))
                .collect::<serde_json::Map<_, _>>(),
            "repeated": counts.repeated,
            "formats": formats.map(|(format, files)| json!({ "ending": format, "files": files }))
                .collect::<Vec<_>>(),
        })
    }
}
