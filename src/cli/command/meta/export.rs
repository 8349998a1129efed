//! `urepo meta export`: write the descriptions of items into one document.

use std::ops::ControlFlow;
use std::path::PathBuf;

use urepo::collection::Collection;
use urepo::collection::discover::check_outside;
use urepo::disk::NewFile;
use urepo::export::metadata::{Document, DocumentFormat, MetadataFormat, Row, RowColumns};
use urepo::identity::RepositoryName;
use urepo::sidecar::Sidecar;

use crate::cli::choice::{Choice, one_of};
use crate::cli::command::table::spreadsheet;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::input::is_stdin;
use crate::cli::records::Item;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::{Done, human};

/// Write the descriptions of items into one document
///
/// `urepo meta import` reads toml, jsonl, csv and tsv back, and carries out your corrections. A table, csv or tsv,
/// has a column `identifier` and a column for each term, for each key of your own as x.KEY and for each kind of
/// relation as relation.KIND; a term with several values has several columns. In TOML, JSON and JSON Lines a
/// term with several values is a list. The other formats have fewer terms than the sidecar.
///
/// For a table, the items are read twice, to find its columns first. Items that are named by FILE or one by
/// one are kept in memory until then.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo meta export 11.21.02.13
  urepo meta export --all --output descriptions.csv
  urepo meta export --all --format bibtex > library.bib")]
pub(super) struct Export {
    #[command(flatten)]
    selection: Selection,
    /// The format of the document [default: by the extension of the output, else toml for one item, and csv]
    #[arg(long, value_parser = one_of(&FORMATS))]
    format: Option<DocumentFormat>,
    /// Write into the new file FILE instead of standard output (-)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The formats of documents.
const FORMATS: [Choice<DocumentFormat>; 8] = [
    ("toml", "[[item]] tables", DocumentFormat::Toml),
    ("json", "A list of objects", DocumentFormat::Json),
    ("jsonl|ndjson", "One JSON object a line", DocumentFormat::Jsonl),
    ("csv", "Commas, with column names in the first line", DocumentFormat::Csv),
    ("tsv", "Tabs, with column names in the first line", DocumentFormat::Tsv),
    ("bibtex|bib", "Entries for a bibliography", DocumentFormat::Foreign(MetadataFormat::Bibtex)),
    (
        "oai_dc|xml|dc",
        "Dublin Core in the XML of OAI-PMH",
        DocumentFormat::Foreign(MetadataFormat::DublinCore),
    ),
    ("datacite", "DataCite 4, in JSON", DocumentFormat::Foreign(MetadataFormat::Datacite)),
];

/// The format that the extension of `path` means.
fn format_of(path: &std::path::Path) -> Option<DocumentFormat> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let known = if extension == "tab" { "tsv" } else { &extension };
    FORMATS.iter().find(|(names, ..)| names.split('|').any(|name| name == known)).map(|it| it.2)
}

/// The destination of the document.
enum Sink<'a> {
    Stdout(&'a Context),
    File(NewFile),
    /// A file that is not written.
    Planned,
}

impl Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> Done {
        match self {
            Sink::Stdout(context) => context.printer.exact(bytes),
            Sink::File(file) => Ok(file.write_all(bytes)?),
            Sink::Planned => Ok(()),
        }
    }
}

impl Export {
    pub(super) fn run(&self, context: &Context) -> Done {
        self.selection.check("meta export ITEM…")?;
        let output = self.output.as_deref().filter(|path| !is_stdin(path));
        if context.printer.json && output.is_none() {
            return Err(Failure::usage("the document and JSON records cannot both go to stdout")
                .hint(
                    "add `--output FILE`, or `urepo meta get ITEM --json` for values as records",
                ));
        }
        let is_list = !self.selection.is_single();
        let usual = if is_list { DocumentFormat::Csv } else { DocumentFormat::Toml };
        let named = self.format.or_else(|| format_of(output?));
        if let (None, Some(failure)) = (named, output.and_then(spreadsheet)) {
            return Err(failure.hint(
                "such programs read CSV: `--output FILE.csv`; the other formats are toml, json, jsonl, tsv, bibtex, \
                 oai_dc and datacite",
            ));
        }
        let format = named.unwrap_or(usual);
        let collection = context.collection()?;
        let mut sink = match output {
            None => Sink::Stdout(context),
            Some(path) => {
                let path = context.absolute(path);
                check_outside(&path)?;
                let file = NewFile::new(&path, &context.watcher())?;
                if context.global.dry_run { Sink::Planned } else { Sink::File(file) }
            }
        };
        let names = if format.is_table() {
            self.selection.of(context, &collection)?.into_names()?
        } else {
            None
        };
        let mut columns = RowColumns::default();
        let feed = |take: &mut dyn FnMut(RepositoryName) -> ControlFlow<()>| -> Done {
            if let Some(names) = &names {
                let _ = names.iter().cloned().try_for_each(take);
                return Ok(());
            }
            let selected = self.selection.of(context, &collection)?;
            Ok(selected.into_feed()(take)?)
        };
        if format.is_table() {
            feed(&mut |name| {
                // An item that cannot be read is reported when it would be written.
                if let Ok(Some(sidecar)) = self.described(&collection, &name) {
                    columns.add(&Row::of(&sidecar));
                }
                context.interrupt.flow()
            })?;
        }
        let mut report = match sink {
            Sink::Planned => Report::new(context, "written", !is_list),
            Sink::Stdout(_) | Sink::File(_) => Report::reading(context, "written", !is_list),
        };
        let is_dry = report.is_dry();
        let mut document =
            Document::new(format, columns, is_list, collection.settings().archive.cited_base());
        sink.write(&document.head())?;
        let fed = feed(&mut |name| {
            context.interrupt.flow()?;
            let described = self.described(&collection, &name).and_then(|found| {
                let Some(sidecar) = found else { return Ok(None) };
                let bytes = document.item(&sidecar).map_err(|error| {
                    Failure::new(Exit::Failure, format!("`{name}` is not in the table"))
                        .caused_by(error.to_string())
                        .hint("`--format jsonl` has room for it")
                })?;
                Ok(Some(bytes))
            });
            match described {
                Ok(None) => ControlFlow::Continue(()),
                Ok(Some(bytes)) => {
                    let told = sink.write(&bytes).and_then(|()| told(context, &name, is_dry));
                    report.succeeded(told)
                }
                Err(failure) => report.failed(name.as_str(), failure),
            }
        });
        if let Err(failure) = fed {
            report.fatal(failure);
        }
        let written = report.summary.counts.items;
        if !context.interrupt.requested() {
            sink.write(&document.tail())?;
            // A document without its only item is not written.
            if let (Sink::File(file), true) = (sink, is_list || written > 0) {
                file.finish()?;
            }
        }
        let to_file = output.filter(|_| is_list);
        let closing = to_file.map(|path| {
            let wrote = if is_dry { "would write" } else { "wrote" };
            format!("{wrote} {} into `{}`", human::count(written, "description"), path.display())
        });
        report.finish(End { closing, ..End::default() })
    }

    /// The sidecar of an item; `None` for a tombstone that was not requested.
    fn described(
        &self,
        collection: &Collection,
        name: &RepositoryName,
    ) -> Result<Option<Sidecar>, Failure> {
        let (sidecar, _) = collection.named_item(name)?.sidecar()?;
        if !sidecar.state.has_payload() {
            if self.selection.names_items() {
                return Err(urepo::amend::AmendError::Deleted { name: name.clone() }.into());
            }
            return Ok(None);
        }
        Ok(Some(sidecar))
    }
}

fn told(context: &Context, name: &RepositoryName, dry_run: bool) -> Done {
    if !context.printer.json {
        return Ok(());
    }
    context.printer.record(&Item { dry_run, ..Item::became(name, "exported") })
}
