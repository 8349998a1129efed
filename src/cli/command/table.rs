//! Options of commands that read a table.

use std::path::Path;

use clap::ValueEnum;
use urepo::import::{Columns, Encoding, Format, TableOptions, is_delimiter};
use urepo::sidecar::edtf::DateOrder;

use crate::cli::failure::Failure;

/// How a table is read.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// The format of the table, if its extension does not say it
    #[arg(long)]
    format: Option<FormatName>,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// How the text of a table is read, whatever its format.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadingArgs {
    /// The character between values, or `tab`; found among ; , | and tab unless given
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// The encoding of a table without a byte order mark [default: utf-8]
    #[arg(long, value_name = "NAME")]
    encoding: Option<EncodingName>,
    /// The order of day and month in dates such as 31/12/2020, which are refused unless it is given
    #[arg(long, value_name = "ORDER")]
    date_order: Option<DateOrderName>,
    /// The meaning of a column: the name of another, or - for none; may be repeated
    #[arg(long, value_name = "COLUMN=TERM")]
    map: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatName {
    /// Values between delimiters, with column names in the first line
    Csv,
    /// Values between tabs, with column names in the first line
    Tsv,
    /// One JSON object a line
    Jsonl,
    /// One [[item]] a row
    Toml,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DateOrderName {
    /// The day first: 31/12/2020
    Dmy,
    /// The month first: 12/31/2020
    Mdy,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EncodingName {
    /// UTF-8
    #[value(name = "utf-8")]
    Utf8,
    /// UTF-16, lower byte first, as Excel writes it
    #[value(name = "utf-16le")]
    Utf16Le,
    /// UTF-16, higher byte first
    #[value(name = "utf-16be")]
    Utf16Be,
    /// Western European code page of Windows, of which Latin-1 is a part
    #[value(name = "windows-1252", alias = "latin-1")]
    Windows1252,
}

impl TableArgs {
    /// Whether any of them was given.
    pub(crate) fn are_given(&self) -> bool {
        let TableArgs { format, reading: ReadingArgs { delimiter, encoding, date_order, map } } =
            self;
        format.is_some()
            || date_order.is_some()
            || delimiter.is_some()
            || encoding.is_some()
            || !map.is_empty()
    }

    /// How the table at `path` is read.
    pub(crate) fn options(&self, path: &Path) -> Result<TableOptions, Failure> {
        let format = match self.format {
            Some(FormatName::Csv) => Format::Csv,
            Some(FormatName::Tsv) => Format::Tsv,
            Some(FormatName::Jsonl) => Format::Jsonl,
            Some(FormatName::Toml) => Format::Toml,
            None => Format::of(path).ok_or_else(|| unknown_format(path))?,
        };
        self.reading.options(format)
    }
}

impl ReadingArgs {
    /// How a table in this format is read.
    pub(crate) fn options(&self, format: Format) -> Result<TableOptions, Failure> {
        let mut columns = Columns::default();
        for text in &self.map {
            columns.map(text)?;
        }
        let encoding = self.encoding.map(|name| match name {
            EncodingName::Utf8 => Encoding::Utf8,
            EncodingName::Utf16Le => Encoding::Utf16Le,
            EncodingName::Utf16Be => Encoding::Utf16Be,
            EncodingName::Windows1252 => Encoding::Windows1252,
        });
        let date_order = self.date_order.map(|name| match name {
            DateOrderName::Dmy => DateOrder::DayFirst,
            DateOrderName::Mdy => DateOrder::MonthFirst,
        });
        Ok(TableOptions { format, delimiter: self.delimiter, encoding, date_order, columns })
    }
}

/// That the name of the file does not say its format.
pub(crate) fn unknown_format(path: &Path) -> Failure {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    if ["ods", "xls", "xlsx"].iter().any(|it| extension == *it) {
        return Failure::usage(format!(
            "`{}` is the file of a spreadsheet program",
            path.display()
        ))
        .hint("save it there as CSV, in UTF-8");
    }
    Failure::usage(format!("`{}` does not say its format", path.display()))
        .hint("add `--format csv`, or tsv, jsonl, toml")
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if matches!(text, "tab" | "\\t") => Ok(b'\t'),
        [byte] if is_delimiter(*byte) => Ok(*byte),
        _ => Err("expected one ASCII character other than a quote, or `tab`".to_owned()),
    }
}
