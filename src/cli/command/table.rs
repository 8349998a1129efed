//! Options of commands that read a table.

use std::path::Path;

use urepo::disk::{Kind, Links, stat_of};
use urepo::import::{Columns, Encoding, Format, TableOptions, is_delimiter};

use crate::cli::choice::{Choice, one_of};
use crate::cli::failure::Failure;

/// Options of reading a table.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// The format of the table, unless its extension shows it
    #[arg(long, value_parser = one_of(&FORMATS))]
    format: Option<Format>,
    /// The character between values, or `tab`; found among ; , | and tab unless given
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// The encoding of a table without a byte order mark [default: utf-8]
    #[arg(long, value_name = "NAME", value_parser = one_of(&ENCODINGS))]
    encoding: Option<Encoding>,
    /// The meaning of a column: the name of another, or - for none; may be repeated
    #[arg(long, value_name = "COLUMN=TERM")]
    map: Vec<String>,
}

const FORMATS: [Choice<Format>; 4] = [
    ("csv", "Values between delimiters, with column names in the first line", Format::Csv),
    ("tsv", "Values between tabs, with column names in the first line", Format::Tsv),
    ("jsonl", "One JSON object a line", Format::Jsonl),
    ("toml", "One [[item]] a row", Format::Toml),
];

const ENCODINGS: [Choice<Encoding>; 4] = [
    ("utf-8", "UTF-8", Encoding::Utf8),
    ("utf-16le", "UTF-16, lower byte first, as Excel writes it", Encoding::Utf16Le),
    ("utf-16be", "UTF-16, higher byte first", Encoding::Utf16Be),
    (
        "windows-1252|latin-1",
        "Western European code page of Windows, of which Latin-1 is a part",
        Encoding::Windows1252,
    ),
];

impl TableArgs {
    /// Whether any of them was given.
    pub(crate) fn are_given(&self) -> bool {
        let TableArgs { format, delimiter, encoding, map } = self;
        format.is_some() || delimiter.is_some() || encoding.is_some() || !map.is_empty()
    }

    /// Whether a source is a table: a file with the ending of one, or whatever `--format` calls so.
    pub(crate) fn is_table(&self, path: &Path) -> bool {
        let has_ending = self.format.is_some() || Format::of(path).is_some();
        let is_directory =
            || stat_of(path, Links::Follow).is_ok_and(|it| it.kind == Kind::Directory);
        (has_ending || spreadsheet(path).is_some()) && !is_directory()
    }

    /// The options for the table at `path`.
    pub(crate) fn options(&self, path: &Path) -> Result<TableOptions, Failure> {
        let format = match self.format {
            Some(format) => format,
            None => Format::of(path).ok_or_else(|| unknown_format(path))?,
        };
        let mut columns = Columns::default();
        for text in &self.map {
            columns.map(text)?;
        }
        let TableArgs { delimiter, encoding, .. } = *self;
        Ok(TableOptions { format, delimiter, encoding, columns })
    }
}

/// The failure for a file in the format of a spreadsheet program, by its name.
fn spreadsheet(path: &Path) -> Option<Failure> {
    let extension = path.extension()?.to_ascii_lowercase();
    let message = format!("`{}` is the file of a spreadsheet program", path.display());
    ["ods", "xls", "xlsx"].iter().any(|it| extension == *it).then(|| Failure::usage(message))
}

/// The failure for a file name that does not show the format.
fn unknown_format(path: &Path) -> Failure {
    if let Some(failure) = spreadsheet(path) {
        return failure
            .hint("save it there as CSV, in UTF-8; `urepo import --as-files` deposits it");
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
