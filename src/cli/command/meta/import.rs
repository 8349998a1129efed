//! `urepo meta import`: correct the descriptions of many items by a document.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use urepo::amend::Amender;
use urepo::disk::resolved;
use urepo::holdings::Sight;
use urepo::import::TableOptions;
use urepo::import::described::{DescribedRows, DescriptionImport, ItemFinder, RowOutcome, rows};

use super::report::{AmendReporter, with_amender};
use crate::cli::Done;
use crate::cli::command::table::TableArgs;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::input::{Document, is_stdin, name_of};

/// Correct the descriptions of many items by a table
///
/// The table is CSV, TSV, TOML or JSON Lines, one that `urepo show --as` printed, or one like it. A row names its item in the column
/// `identifier`, in any spelling, or by `path`, the source that the item was imported from. A column replaces
/// all values of its term: several columns of one name, or a list in TOML and JSON Lines, are its values. A missing
/// column and an empty cell leave the term unchanged; with --clear-empty an empty cell removes the term. Rows
/// that agree with their items change nothing.
///
/// A relation changes at both ends if this collection holds both Originals. A row that contradicts the row of
/// the other end is refused. All rows are checked before anything is changed: an error in one row leaves all
/// items unchanged. Several rows of one item are refused, and so are changes
/// of Copies.
#[derive(Debug, clap::Args)]
pub(super) struct Import {
    /// The table, or standard input (-)
    #[arg(id = "manifest", value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    table: TableArgs,
    /// The directory above the paths of sources; that of FILE unless given
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// An empty cell, null or an empty list removes the values of its term
    #[arg(long)]
    clear_empty: bool,
}

/// The document, which is read twice.
struct InputDocument<'a> {
    document: Document,
    path: &'a Path,
    options: TableOptions,
}

impl InputDocument<'_> {
    fn rows(&self) -> Result<DescribedRows, Failure> {
        let name = name_of(self.path);
        rows(self.document.lines()?, &name, &self.options).map_err(|error| {
            let mut failure = Failure::from(error);
            failure.message = format!("`{name}`: {}", failure.message);
            failure
        })
    }
}

impl Import {
    pub(super) fn run(&self, context: &Context) -> Done {
        let source = InputDocument {
            options: self.table.options(&self.file)?,
            document: context.document(&self.file)?,
            path: &self.file,
        };
        let collection = context.collection()?;
        let found = source.rows()?;
        let mut reporter = AmendReporter::new(context, false);
        reporter.names_unchanged = false;
        reporter.changed_items = Some(HashSet::new());
        let finder = ItemFinder::new(&collection, self.root(context)?);
        let is_dry = context.global.dry_run;
        let progress = context.progress();
        let caller = context.caller(&*progress);
        let neighbours = context.neighbours(&collection);
        let sight = &Sight::of_many(&neighbours);
        let amender = Amender { collection: &collection, sight, writer: None, locks: None, caller };
        let checking = DescriptionImport { finder: &finder, amender, clears: self.clear_empty };
        let checked = checking.check(found, &context.interrupt, &mut |outcome| match outcome {
            RowOutcome::Refused { .. } => self.told(&mut reporter, outcome),
            _ if is_dry => self.told(&mut reporter, outcome),
            _ => ControlFlow::Continue(()),
        });
        drop(progress);
        let stops = checked.refused() > 0;
        if is_dry || stops || context.interrupt.requested() {
            let refusal = stops.then(|| refused(checked.refused(), checked.rows, is_dry));
            return reporter.finish_with(Ok(()), refusal);
        }
        let again = source.rows()?;
        let done = with_amender(context, &collection, false, |amender| {
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
            RowOutcome::Refused { line, name, error } => {
                reporter.refused((&name_of(&self.file), line), name.as_ref(), error)
            }
        }
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
    .hint("correct the rows named above, or take them out")
}
