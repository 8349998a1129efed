//! `urepo meta import`: correct the descriptions of many items by a document.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use urepo::amend::Amender;
use urepo::deposit::OnError;
use urepo::disk::resolved;
use urepo::export::metadata::{DocumentFormat, MetadataFormat};
use urepo::import::Format;
use urepo::import::described::{
    DescribedRows, DescriptionImport, DocumentKind, ItemFinder, RowOutcome, rows,
};

use super::export::{FORMATS, format_of};
use super::report::{AmendReporter, with_amender};
use crate::cli::Done;
use crate::cli::choice::one_of;
use crate::cli::command::table::{ReadingArgs, unknown_format};
use crate::cli::command::transfer::ON_ERROR;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::input::{Document, is_stdin, name_of};

/// Correct the descriptions of many items by a table, a bibliography or Dublin Core
///
/// The document is one that `urepo meta export` wrote, or one like it. A row names its item in the column
/// `identifier`, in any spelling, or by `path`, the source that the item was imported from. A column replaces
/// all values of its term: several columns of one name, or a list in TOML and JSON, are its values. A missing
/// column and an empty cell leave the term unchanged; with --clear-empty an empty cell removes the term. Rows
/// that agree with their items change nothing.
///
/// A relation changes at both ends if this collection holds both Originals. A row that contradicts the row of
/// the other end is refused. All rows are checked before anything is changed: an error in one row leaves all
/// items unchanged, except with --on-error continue. Several rows of one item are refused, and so are changes
/// of Copies.
///
/// BibTeX and Dublin Core have fewer terms than a description: only differences from the export of the item
/// are changed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo meta import descriptions.csv --dry-run
  urepo meta import list.csv --map Signatur=x.box --clear-empty
  urepo meta import --format bibtex - < library.bib")]
pub(super) struct Import {
    /// The document, or standard input (-)
    #[arg(id = "manifest", value_name = "FILE")]
    file: PathBuf,
    /// The format of the document [default: by its extension]
    #[arg(long, value_parser = one_of(&FORMATS))]
    format: Option<DocumentFormat>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// The directory above the paths of sources; that of FILE unless given
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// An empty cell, null or an empty list removes the values of its term
    #[arg(long)]
    clear_empty: bool,
    /// Treatment of the other rows if one is refused
    #[arg(long, value_name = "RULE", default_value = "stop", value_parser = one_of(&ON_ERROR))]
    on_error: OnError,
}

/// The document, which is read twice.
struct InputDocument<'a> {
    document: Document,
    path: &'a Path,
    kind: DocumentKind,
}

impl InputDocument<'_> {
    fn rows(&self) -> Result<DescribedRows, Failure> {
        let name = name_of(self.path);
        rows(self.document.lines()?, &name, &self.kind).map_err(|error| {
            let mut failure = Failure::from(error);
            failure.message = format!("`{name}`: {}", failure.message);
            failure
        })
    }
}

impl Import {
    pub(super) fn run(&self, context: &Context) -> Done {
        let source = InputDocument {
            kind: self.kind()?,
            document: context.document(&self.file)?,
            path: &self.file,
        };
        let collection = context.collection()?;
        let found = source.rows()?;
        let mut reporter = AmendReporter::new(context, &collection, false);
        reporter.names_unchanged = false;
        reporter.changed_items = Some(HashSet::new());
        let finder = ItemFinder::new(&collection, self.root(context)?);
        let is_dry = context.global.dry_run;
        let progress = context.progress();
        let caller = context.caller(&*progress);
        let amender = Amender { collection: &collection, writer: None, caller };
        let checking = DescriptionImport { finder: &finder, amender, clears: self.clear_empty };
        let checked = checking.check(found, &context.interrupt, &mut |outcome| match outcome {
            RowOutcome::Refused { .. } => self.told(&mut reporter, outcome),
            _ if is_dry => self.told(&mut reporter, outcome),
            _ => ControlFlow::Continue(()),
        });
        drop(progress);
        let stops = self.on_error == OnError::Stop && checked.refused() > 0;
        if is_dry || stops || context.interrupt.requested() {
            let refusal = stops.then(|| refused(checked.refused(), checked.rows, is_dry));
            return reporter.finish_with(Ok(()), refusal);
        }
        let again = source.rows()?;
        let done = with_amender(context, &collection, |amender| {
            let import =
                DescriptionImport { finder: &finder, amender: *amender, clears: self.clear_empty };
            let _ =
                import.carry_out(again, &checked, &mut |outcome| self.told(&mut reporter, outcome));
            Ok(())
        });
        reporter.finish(done)
    }

    fn told(&self, reporter: &mut AmendReporter<'_>, outcome: RowOutcome) -> ControlFlow<()> {
        match outcome {
            RowOutcome::Item(plan) => {
                let name = plan.name.clone();
                reporter.tell(&name, Ok(*plan))
            }
            RowOutcome::Unchanged(name) => reporter.unchanged(&name),
            RowOutcome::Refused { place, name, error } => {
                reporter.refused((&name_of(&self.file), place.as_ref()), name.as_ref(), error)
            }
        }
    }

    fn kind(&self) -> Result<DocumentKind, Failure> {
        let format = self.format.or_else(|| format_of(&self.file));
        let format = format.ok_or_else(|| unknown_format(&self.file))?;
        let table = |format| self.reading.options(format);
        Ok(match format {
            DocumentFormat::Csv => DocumentKind::Table(table(Format::Csv)?),
            DocumentFormat::Tsv => DocumentKind::Table(table(Format::Tsv)?),
            DocumentFormat::Toml => DocumentKind::Table(table(Format::Toml)?),
            DocumentFormat::Jsonl => DocumentKind::Table(table(Format::Jsonl)?),
            DocumentFormat::Json => DocumentKind::Json(table(Format::Jsonl)?),
            DocumentFormat::Foreign(MetadataFormat::Bibtex) => DocumentKind::Bibtex,
            DocumentFormat::Foreign(MetadataFormat::DublinCore) => DocumentKind::DublinCore,
            DocumentFormat::Foreign(_) => {
                return Err(Failure::usage("DataCite is not read back")
                    .hint("`urepo meta export --format jsonl` writes what `meta import` reads"));
            }
        })
    }

    /// The directory above the paths of sources.
    fn root(&self, context: &Context) -> Result<PathBuf, Failure> {
        let root = match &self.root {
            Some(root) => context.absolute(root),
            None if is_stdin(&self.file) => context.current.clone(),
            None => {
                context.absolute(&self.file).parent().map(Path::to_path_buf).unwrap_or_default()
            }
        };
        Ok(resolved(&root)?)
    }
}

/// The failure of refused rows, for which nothing was changed.
fn refused(refused: u64, rows: u64, is_dry: bool) -> Failure {
    let was = if is_dry { "would be" } else { "was" };
    Failure::new(
        Exit::Failure,
        format!("{refused} of {rows} rows cannot be used; nothing {was} changed"),
    )
    .hint("correct the rows named above, or `--on-error continue` carries out the other rows")
}
