//! `urepo show`: everything about an item, or one side of it.

mod document;
mod manifest;
mod path;
mod screen;

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;
use urepo::catalog::{Catalog, CatalogError, Hit};
use urepo::collection::{Collection, StoredItem};
use urepo::export::metadata::{DocumentFormat, MetadataFormat};
use urepo::index::Query;
use urepo::item::{Entry, PayloadPath, State, position};
use urepo::sidecar::{RELATION_KEYS, Seal, Sidecar};

use crate::cli::choice::{Choice, one_of};
use crate::cli::context::{Context, put_back};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{self, Item, Referrer};
use crate::cli::select::Selection;
use crate::cli::{Done, escape, remedy, shell};
use screen::Screen;

/// Show the metadata and files of items
///
/// ITEM is an identifier, an IBIp, a link or path that contains one, or the end of an identifier if it is
/// unambiguous.
///
/// -v names all files, and adds the path, exact times, the digest and the origin. Relations of other items to ITEM come from the
/// index, if there is one: `urepo list WORD` builds it. The collections that hold an ITEM are looked for where it is named: those of
/// the settings, and of --with. Of a deleted or moved item, the last title and size are shown, and who deleted it, or where it is.
///
/// --as prints the descriptions of any number of items as one document, instead. `urepo meta import` reads toml, jsonl, csv and
/// tsv back, and carries out your corrections. A table, csv or tsv, has a column `identifier` and a column for each term, for
/// each key of your own as x.KEY and for each kind of relation as relation.KIND; a term with several values has several
/// columns, in the other three a list. The items of a table are read twice, to find its columns first. The other formats have
/// fewer terms than the sidecar. --as manifest prints the digests of the files as `sha256sum -c` checks them: in the `doc` of
/// a single item, from the root of the collection for several.
///
/// --path prints the directory of each item instead, or the file of ITEM/FILE; `urepo resolve ITEM` prints the file that the
/// identifier opens.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    selection: Selection,
    /// Look for holdings of the item in this collection as well, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION", conflicts_with_all = ["path", "format"])]
    with: Vec<OsString>,
    /// Print where it is on the disk: the directory, or the file of ITEM/FILE
    #[arg(long, conflicts_with = "format")]
    path: bool,
    /// End each path with a NUL byte
    #[arg(short = '0', long, requires = "path")]
    null: bool,
    /// Print it in this format instead
    #[arg(long = "as", value_name = "FORMAT", value_parser = one_of(&FORMATS))]
    format: Option<Format>,
}

/// The output of `--as`.
#[derive(Clone, Copy, Debug)]
enum Format {
    Manifest,
    Document(DocumentFormat),
}

impl Format {
    const fn foreign(format: MetadataFormat) -> Format {
        Format::Document(DocumentFormat::Foreign(format))
    }
}

const FORMATS: [Choice<Format>; 13] = [
    ("abnt", "A reference by ABNT NBR 6023", Format::foreign(MetadataFormat::Abnt)),
    ("apa", "A reference by APA", Format::foreign(MetadataFormat::Apa)),
    ("bibtex|bib", "Entries for a bibliography", Format::foreign(MetadataFormat::Bibtex)),
    (
        "csl",
        "A reference in the JSON of CSL, for citation processors",
        Format::foreign(MetadataFormat::Csl),
    ),
    (
        "csv",
        "A table: commas, column names in the first line",
        Format::Document(DocumentFormat::Csv),
    ),
    ("datacite", "DataCite 4, in JSON", Format::foreign(MetadataFormat::Datacite)),
    ("json", "A list of objects", Format::Document(DocumentFormat::Json)),
    ("jsonl|ndjson", "One JSON object a line", Format::Document(DocumentFormat::Jsonl)),
    ("manifest", "Digests, for `sha256sum -c`", Format::Manifest),
    (
        "oai_dc|xml|dc",
        "Dublin Core in the XML of OAI-PMH",
        Format::foreign(MetadataFormat::DublinCore),
    ),
    ("ris", "Records of RIS, for programs of references", Format::foreign(MetadataFormat::Ris)),
    ("toml", "[[item]] tables", Format::Document(DocumentFormat::Toml)),
    ("tsv", "A table: tabs, column names in the first line", Format::Document(DocumentFormat::Tsv)),
];

impl Show {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("show ITEM…")?;
        match self.format {
            Some(Format::Manifest) => return manifest::run(context, &self.selection),
            Some(Format::Document(format)) => {
                return document::run(context, &self.selection, format);
            }
            None if self.path => {
                return path::run(context, &self.selection, if self.null { b'\0' } else { b'\n' });
            }
            None => {}
        }
        let collection = context.collection()?;
        let mut catalog = context.existing_catalog(&collection);
        for other in &self.with {
            context.open_named(other)?;
        }
        // All items have no neighbours looked at: that takes as long as `status`.
        let looks = self.selection.names_items() || !self.with.is_empty();
        let opened = looks.then(|| context.opened_in_sight());
        let in_sight = opened.as_ref().map(|opened| opened.in_sight(context));
        let screen = Screen {
            context,
            collection: &collection,
            in_sight: in_sight.as_ref(),
            names_depositors: self.selection.are_typed(),
        };
        let mut gap = "";
        if context.is_put_back(&collection)? {
            context.printer.warning(&put_back(&collection));
        }
        context.for_each_selected(&self.selection, "show ITEM…", |_, item| {
            let (sidecar, seal) = item.sidecar()?;
            let related = catalog.as_mut().map(|catalog| referrers(catalog, &sidecar));
            let related = related.transpose()?;
            let in_sight = in_sight.as_ref();
            let remedies = in_sight.map_or(Vec::new(), |it| it.in_use_alone(item.name(), &[]));
            let holdings = in_sight.and_then(|it| it.holdings(item.name()));
            let written = if context.printer.json {
                context.printer.record(&Item {
                    sealed: Some(seal == Seal::Intact),
                    entries: Some(
                        sidecar.files.iter().map(|it| records::Entry::new(None, it)).collect(),
                    ),
                    referenced_by: related.map(|related| referrer_records(&related)),
                    held_by: holdings.map(|all| {
                        all.iter().map(|(at, it)| records::Holding::of(at, it)).collect()
                    }),
                    remedies: remedies.clone(),
                    ..Item::described(item, &sidecar)
                })
            } else {
                let related = related.unwrap_or_default();
                let holdings = holdings.unwrap_or_default();
                let text = screen.text(item, &sidecar, &related, &holdings)?;
                context.printer.lines(&format!("{gap}{text}"))
            };
            written?;
            if seal != Seal::Intact {
                let more =
                    shell::pasted(&format!("`urepo repair {} --accept` shows it", item.name()));
                context.printer.warning(&format!(
                    "item.toml of `{}` was changed by hand or damaged; if you edited it, {more}",
                    item.name()
                ));
            }
            if !context.printer.json {
                for line in remedy::lines(&remedies) {
                    context.printer.hint(&line);
                }
            }
            gap = "\n";
            Ok(())
        })
    }
}

/// The same as records.
fn referrer_records(related: &[(&'static str, Hit)]) -> Vec<Referrer> {
    related.iter().map(|(key, hit)| Referrer::new(key, hit)).collect()
}

/// The items with relations to the item, each with the key of its relation.
fn referrers(
    catalog: &mut Catalog<'_>,
    sidecar: &Sidecar,
) -> Result<Vec<(&'static str, Hit)>, CatalogError> {
    let identifiers = sidecar.identifiers();
    let mut found = Vec::new();
    for key in RELATION_KEYS {
        catalog.find(&Query::default().related(&[key], &identifiers), |hit| {
            found.push((key, hit));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

/// The failure of asking for files of a tombstone or a stub.
pub(super) fn gone(collection: &Collection, item: &StoredItem, sidecar: &Sidecar) -> Failure {
    let name = item.name();
    if sidecar.state == State::Elsewhere {
        let message = format!("`{name}` has moved to another collection");
        return Failure::new(Exit::NoItem, message).elsewhere(name);
    }
    let failure = Failure::new(Exit::Deleted, format!("`{name}` is deleted"));
    match collection.kept_in_trash(name) {
        Ok(kept) if kept.is_empty() => failure
            .caused_by("its files are not in the trash")
            .hint(format!("`urepo status {name}` looks for a Copy in all known collections")),
        _ => failure.hint(format!("`urepo restore {name}` brings it back until it is purged")),
    }
}

/// The file that an item opens: `file`, or its target.
pub(super) fn file_of(
    item: &StoredItem,
    sidecar: &Sidecar,
    file: Option<&OsStr>,
) -> Result<PayloadPath, Failure> {
    let is_known = |path: &PayloadPath| position(&sidecar.files, path.as_path()).is_some();
    // Another Unicode form of a name is the same name: macOS types other forms than most systems write.
    let in_other_form = |path: &PayloadPath| {
        let wanted: String = path.as_path().to_str()?.nfc().collect();
        let is_it =
            |it: &&Entry| it.path.as_path().to_str().is_some_and(|it| it.nfc().eq(wanted.chars()));
        let mut found = sidecar.files.iter().filter(is_it);
        found.next().filter(|_| found.next().is_none()).map(|entry| entry.path.clone())
    };
    let path = match file {
        Some(typed) => {
            let as_it_is = PayloadPath::new(std::path::Path::new(typed));
            // Or spelt with escapes, as in the sidecar or by `show`. An unnecessary escape is part of a
            // literal name.
            let text_form = |text: &str| {
                PayloadPath::from_text(text).ok().filter(|path| path.to_text() == text)
            };
            let spellings = [
                typed.to_str().and_then(text_form),
                as_it_is.as_ref().ok().cloned(),
                typed.to_str().and_then(|text| text_form(&escape::printed(text))),
            ];
            match spellings.into_iter().flatten().find(is_known) {
                Some(path) => path,
                None => as_it_is.map_err(|error| Failure::of(Exit::Failure, &error))?,
            }
        }
        None => sidecar.target.clone().ok_or_else(|| {
            Failure::new(Exit::Failure, format!("`{}` has no target", item.name()))
                .hint(format!("name a file; `urepo show {}` lists them", item.name()))
        })?,
    };
    if !is_known(&path) {
        if let Some(path) = in_other_form(&path) {
            return Ok(path);
        }
        // An escape is not escaped again.
        let typed = file.and_then(OsStr::to_str).map_or_else(|| path.to_string(), str::to_owned);
        let message = format!("no file `{typed}` in `{}`", item.name());
        return Err(Failure::new(Exit::NoItem, message)
            .hint(format!("`urepo show -v {}` lists them", item.name())));
    }
    Ok(path)
}
