//! Rows of records, one on each line: in columns that fit a terminal, separated by tabs in a pipe, or as
//! JSON. `list` and `log` print through this.

use std::ops::ControlFlow;

use serde_json::Value;

use super::Done;
use super::context::Context;
use super::failure::Failure;
use super::printer::Printer;

use column::Column;
pub(crate) use grid::{Cell, Grid, cut, cut_start};
pub(crate) use keys::{EVENTS, HIT_KEYS, ITEMS, Keys, Record};
use sort::{Order, SortValue};

mod column;
mod grid;
mod keys;
mod sort;

/// Options of printing rows. The keys are those of the records of `--json`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TableArgs {
    /// Print these columns: keys of the records of --json, or terms, such as id,bytes,title
    #[arg(
        long,
        value_name = "KEY,…",
        value_delimiter = ',',
        conflicts_with = "json",
        help_heading = "Output"
    )]
    columns: Vec<String>,
    /// Sort by these keys; with a minus before it, in descending order
    #[arg(
        long,
        value_name = "KEY,…",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Output"
    )]
    sort: Vec<String>,
    /// Print no more than N lines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Output")]
    limit: Option<u64>,
    /// End each line with a NUL byte; without --columns it is the identifier alone
    #[arg(short = '0', long, conflicts_with = "json", help_heading = "Output")]
    null: bool,
}

/// Number of rows that are laid out and written together.
const PAGE: usize = 512;

/// Prints rows.
pub(crate) struct Table<'a> {
    printer: &'a Printer,
    form: Form,
    order: Vec<Order>,
    limit: Option<u64>,
    end: u8,
    page: Vec<Printed>,
    sorted: Vec<(Vec<SortValue>, Printed)>,
    grid: Grid,
    /// Number of rows that were printed, or will be.
    rows: u64,
}

/// The printed part of a record.
enum Form {
    Record,
    Columns(Vec<Column>),
}

/// A printed row.
enum Printed {
    Record(Value),
    Cells(Vec<Cell>),
}

impl<'a> Table<'a> {
    /// Rows with these `keys`; `default` are the default columns.
    pub(crate) fn new(
        context: &'a Context,
        args: &TableArgs,
        keys: &'static Keys,
        default: &[&str],
    ) -> Result<Table<'a>, Failure> {
        let column = |text: &str| Column::parse(text, keys, "--columns");
        let columns: Vec<_> = match &args.columns[..] {
            [] if args.null => vec!["id"],
            [] => default.to_vec(),
            columns => columns.iter().map(String::as_str).collect(),
        };
        let form = if context.printer.json {
            Form::Record
        } else {
            Form::Columns(columns.into_iter().map(column).collect::<Result<_, _>>()?)
        };
        let is_usual = args.columns.is_empty() && !args.null;
        let headings = match &form {
            Form::Columns(columns) => columns.iter().map(Column::heading).collect(),
            Form::Record => Vec::new(),
        };
        let grid = Grid::new(headings, context.printer.stdout_width().filter(|_| !args.null));
        Ok(Table {
            printer: &context.printer,
            form,
            order: args.sort.iter().map(|it| Order::parse(it, keys)).collect::<Result<_, _>>()?,
            limit: args.limit,
            end: if args.null { b'\0' } else { b'\n' },
            page: Vec::new(),
            sorted: Vec::new(),
            grid: if is_usual { grid } else { grid.with_whole_identifiers() },
            rows: 0,
        })
    }

    /// Whether every key for printing or sorting is one of `keys`.
    pub(crate) fn needs_only(&self, keys: &[&str]) -> bool {
        let Form::Columns(columns) = &self.form else { return false };
        columns.iter().all(|column| keys.contains(&column.key()))
            && self.order.iter().all(|order| keys.contains(&order.key()))
    }

    /// Prints a row, or keeps it for its turn. Breaks after the last wanted one.
    pub(crate) fn row(&mut self, record: &dyn Record) -> Result<ControlFlow<()>, Failure> {
        if self.is_full() {
            return Ok(ControlFlow::Break(()));
        }
        self.rows += 1;
        let printed = match &self.form {
            Form::Record => Printed::Record(record.to_json()),
            Form::Columns(columns) => Printed::Cells(
                columns.iter().map(|it| it.cell(record, self.grid.is_drawn())).collect(),
            ),
        };
        if self.order.is_empty() {
            self.page.push(printed);
            if self.page.len() >= PAGE {
                self.flush()?;
            }
        } else {
            self.sorted.push((self.order.iter().map(|it| it.value(record)).collect(), printed));
            self.keep_wanted();
        }
        Ok(if self.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Sorted rows cannot be printed before the last one is known.
    fn is_full(&self) -> bool {
        self.order.is_empty() && self.limit.is_some_and(|limit| self.rows >= limit)
    }

    /// Drops unwanted rows, once their number equals that of the wanted ones.
    fn keep_wanted(&mut self) {
        let Some(limit) = self.limit.and_then(|limit| usize::try_from(limit).ok()) else { return };
        if self.sorted.len() > limit.saturating_mul(2).saturating_add(PAGE) {
            self.sort();
            self.cut_to(limit);
        }
    }

    fn cut_to(&mut self, limit: usize) {
        self.sorted.truncate(limit);
    }

    fn sort(&mut self) {
        let order = &self.order;
        self.sorted.sort_by(|(a, _), (b, _)| {
            let compared =
                order.iter().zip(a.iter().zip(b)).map(|(order, (a, b))| order.compare(a, b));
            compared.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
    }

    /// Writes the waiting rows, before something else is written.
    pub(crate) fn flush(&mut self) -> Done {
        let page = std::mem::take(&mut self.page);
        let mut output = self.printer.output();
        let mut cells = Vec::new();
        for printed in page {
            match printed {
                Printed::Record(record) => output.record(&record),
                Printed::Cells(row) => cells.push(row),
            }
        }
        for line in self.grid.lines(cells) {
            output.ended(&line, self.end);
        }
        self.printer.send(&output)
    }

    /// Prints the rest, and returns the number of rows.
    pub(crate) fn finish(&mut self) -> Result<u64, Failure> {
        self.sort();
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        if !self.order.is_empty() {
            self.cut_to(limit);
            self.rows = self.sorted.len() as u64;
        }
        for (_, printed) in std::mem::take(&mut self.sorted) {
            self.page.push(printed);
            if self.page.len() >= PAGE {
                self.flush()?;
            }
        }
        self.flush()?;
        Ok(self.rows)
    }
}
