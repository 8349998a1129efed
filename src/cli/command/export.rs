//! `urepo export`: write items for people without urepo.

use std::io::{BufWriter, Write};
use std::path::Path;

use urepo::export::{
    BagLinks, Destination, ExportError, Exporter, Format, MetadataFormat, NameFeed, NamedBy,
    Options, Outcome, RunMode, Summary, Tombstones,
};
use urepo::progress::{Scan, with_scan};

use crate::cli::Done;
use crate::cli::choice::{Choice, one_of};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::printer::Printer;
use crate::cli::select::Selection;

mod report;

use report::Reporter;

/// Bytes that are buffered for a stream before they are written.
const STREAM_BYTES: usize = 128 * 1024;

/// Write items out as directories, tar or bags
///
/// Each item becomes one directory, or with --format tar one file, in DIR, which is created if missing. Its
/// name is the identifier, with + for the slashes: example.org+archive+2026+11.21.02.13. The paths are
/// printed. Nothing is ever replaced: an item that is there already is counted and left as it is. An item appears whole, and on the disk, or not at all: every byte
/// is compared with the digest in the sidecar while it is written.
///
/// --name source reverses `urepo new`: report.pdf comes back as DIR/report.pdf, the directory album as
/// DIR/album, with their times, modes and links. The name is the last component of the source that the
/// sidecar records. An item from standard input or of several paths has no source and gets its identifier as
/// name, and so does one whose source has no usable name. Of two items with the same name the first is
/// exported; a directory whose only entry is a file of the same name comes back as this file.
///
/// A directory or tar contains the payload itself. With --as, the payload is in doc, with item.toml (the unchanged sidecar),
/// dc.xml, item.bib and others beside it. A bag (BagIt 1.0) has the payload in
/// data and the rest in metadata, always with item.toml, which alone has the times, modes and empty
/// directories.
///
/// With --to - all items go to standard output as one tar stream. If an item turns out to be damaged after
/// its beginning was written, the stream stops there, and tar reports a missing end.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    #[command(flatten)]
    selection: Selection,
    /// The directory that gets the exports, or standard output (-)
    #[arg(long, value_name = "DIR|-", required = true)]
    to: std::path::PathBuf,
    /// The form of each exported item: a directory, or on standard output tar, unless given
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&FORMATS))]
    format: Option<Format>,
    /// Write the description in this format beside the payload, which is then in `doc`; may be repeated
    #[arg(long = "as", value_name = "FORMAT", value_parser = one_of(&DESCRIPTIONS))]
    descriptions: Vec<Option<MetadataFormat>>,
    /// The names of the exported items
    #[arg(long, value_name = "RULE", default_value = "id", value_parser = one_of(&NAMES))]
    name: NamedBy,
    /// Treatment of links in a bag, which cannot contain them; without this flag, an item with links is refused
    #[arg(long, value_name = "RULE", value_parser = one_of(&BAG_LINKS))]
    links: Option<BagLinks>,
}

const FORMATS: [Choice<Format>; 3] = [
    ("dir", "A directory, with the payload as it is", Format::Plain),
    ("tar", "A tar file, or stream", Format::Tar),
    (
        "bag",
        "A bag of BagIt 1.0; of 0.97 where a name has a percent sign, which many readers take only there",
        Format::Bag,
    ),
];

const NAMES: [Choice<NamedBy>; 2] = [
    ("id", "Its identifier, with + for the slashes", NamedBy::Identifier),
    (
        "source",
        "The old name of the file or directory that was deposited; its identifier if there is none",
        NamedBy::Source,
    ),
];

/// The formats of descriptions; the sidecar itself is in none of the foreign ones.
const DESCRIPTIONS: [Choice<Option<MetadataFormat>>; 8] = [
    ("toml", "The sidecar, unchanged", None),
    ("oai_dc|dc", "Dublin Core in XML, as OAI-PMH has it", Some(MetadataFormat::DublinCore)),
    ("bibtex", "An entry for a bibliography", Some(MetadataFormat::Bibtex)),
    ("datacite", "DataCite 4 in JSON", Some(MetadataFormat::Datacite)),
    ("abnt", "A reference by ABNT NBR 6023", Some(MetadataFormat::Abnt)),
    ("apa", "A reference by APA", Some(MetadataFormat::Apa)),
    ("ris", "A record of RIS, for programs of references", Some(MetadataFormat::Ris)),
    ("csl", "A reference in the JSON of CSL, for citation processors", Some(MetadataFormat::Csl)),
];

const BAG_LINKS: [Choice<BagLinks>; 2] = [
    ("follow", "The files that they lead to, in the item, stand in their place", BagLinks::Follow),
    ("skip", "They are left out", BagLinks::Skip),
];

impl Export {
    fn format(&self) -> Format {
        let default = if self.is_stream() { Format::Tar } else { Format::Plain };
        self.format.unwrap_or(default)
    }

    /// Whether the items go to stdout.
    pub(crate) fn is_stream(&self) -> bool {
        self.to == Path::new("-")
    }

    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("export ITEM… --to DIR")?;
        let is_stream = self.is_stream();
        self.check(context, is_stream)?;
        let collection = context.collection()?;
        let feed = self.selection.of(context, &collection)?.with_payload().into_feed();
        let progress = context.progress();
        if self.selection.is_single() {
            progress.announce(1);
        }
        let options = self.options(context);
        let is_read = options.mode == RunMode::Act;
        let listing = self.selection.listing(context).filter(|_| is_read);
        let scan =
            listing.as_ref().map(|listing| |scan: &Scan<'_>| listing.measure(&collection, scan));
        let reported = (is_stream, self.name);
        let mut reporter = Reporter::new(context, self.selection.is_single(), reported);
        let summary = with_scan(&*progress, scan, |progress| {
            let caller = context.caller(progress);
            let exporter = Exporter { collection: &collection, options, caller };
            self.export(context, &exporter, feed, &mut |outcomes| reporter.report_all(outcomes))
        });
        drop(progress);
        reporter.finish(summary)
    }

    fn export(
        &self,
        context: &Context,
        exporter: &Exporter<'_>,
        feed: Box<NameFeed<'_>>,
        report: &mut dyn FnMut(Vec<Outcome>) -> Result<(), ExportError>,
    ) -> Summary {
        if self.is_stream() {
            let mut output = BufWriter::with_capacity(STREAM_BYTES, Stdout(&context.printer));
            return exporter.to_stream(&mut output, feed, report);
        }
        let path = if self.to == Path::new(".") {
            context.current.clone()
        } else {
            context.absolute(&self.to)
        };
        let watcher = context.watcher();
        let destination = Destination { path: &path, format: self.format(), watcher: &watcher };
        exporter.to_directory(&destination, feed, report)
    }

    /// Refuses options that contradict each other.
    fn check(&self, context: &Context, is_stream: bool) -> Done {
        let is_bag = self.format() == Format::Bag;
        if is_stream && self.format() != Format::Tar {
            return Err(Failure::usage("only tar goes to standard output")
                .hint("leave `--format` out, or name a directory with `--to DIR`"));
        }
        if is_stream && context.printer.json {
            return Err(Failure::usage("standard output cannot have both the stream and JSON")
                .hint("name a directory with `--to DIR`"));
        }
        if is_stream && !context.global.dry_run && context.printer.stdout_is_terminal() {
            return Err(Failure::usage("a tar stream is nothing for a terminal")
                .hint("add `| tar -x`, `> FILE`, or `--to DIR`"));
        }
        if self.links.is_some() && !is_bag {
            return Err(Failure::usage("`--links` is about bags; others keep links as they are")
                .hint("leave it out, or add `--format bag`"));
        }
        Ok(())
    }

    fn options(&self, context: &Context) -> Options {
        let mut metadata: Vec<_> = self.descriptions.iter().copied().flatten().collect();
        metadata.sort_unstable();
        metadata.dedup();
        Options {
            sidecar: self.descriptions.contains(&None),
            metadata,
            links: self.links.unwrap_or(BagLinks::Refuse),
            named_by: self.name,
            state: self.selection.flags.state,
            tombstones: if self.selection.names_items() && self.selection.flags.state.is_none() {
                Tombstones::Refuse
            } else {
                Tombstones::Pass
            },
            mode: context.run_mode(),
        }
    }
}

/// Standard output as a stream of bytes.
struct Stdout<'a>(&'a Printer);

impl Write for Stdout<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.0.payload(bytes).map(|()| bytes.len());
        written.map_err(Failure::into_io_error)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
