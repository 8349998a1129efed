//! Errors of imports as failures.

use urepo::import::{BagError, COLUMN_SYNONYMS, Encoding, ImportError, MapError, RowFault};
use urepo::item::State;
use urepo::sidecar::MetadataError;

use super::{Explain, nearest};
use crate::cli::escape;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::input::was_interrupted;
use crate::cli::shell;

impl Explain for ImportError {
    fn explain(&self) -> Failure {
        match self {
            Self::Deposit(error) => error.explain(),
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::Row(row) => with_row_hint(Failure::of(Exit::Failure, self), &row.fault),
            Self::Bag { cause, .. } if matches!(**cause, BagError::Encoding { .. }) => {
                Failure::of(Exit::Failure, self).hint("ask for the bag with tag files in UTF-8")
            }
            Self::Bag { .. } => {
                Failure::of(Exit::Damage, self).hint("nothing of it was imported; fetch it again")
            }
            Self::NameExists { name } => {
                Failure::of(Exit::Conflict, self).hint(format!("`urepo show {name}` shows it"))
            }
            Self::NotYetIssued { .. } => Failure::of(Exit::Failure, self)
                .hint("leave `identifier` and `ibip` empty, and it gets an identifier of its own"),
            Self::RelationLost { .. } => Failure::of(Exit::Failure, self)
                .hint("correct that row and repeat: existing items stay, and are related"),
            Self::NoLanguage { .. } => Failure::of(Exit::Failure, self)
                .hint("give its row a `language`, and repeat with `--update`"),
            Self::TranslationLanguage { .. } => Failure::of(Exit::Failure, self)
                .hint("give its row a `language`, or add `--language TAG` for all of them"),
            Self::OwnLanguage { .. } => Failure::of(Exit::Failure, self).hint(
                "correct the `language` of the row or of that item, or leave the relation out",
            ),
            Self::Correction(error) => error.explain(),
            Self::SeveralItems { .. } => Failure::of(Exit::Conflict, self)
                .hint("`urepo meta import` takes the identifier of an item"),
            Self::Relate(error) => error.explain(),
            Self::Amend(error) => error.explain(),
            Self::NotOriginal { name, state: State::Deleted } => Failure::of(Exit::Conflict, self)
                .hint(format!(
                    "leave its relations out of the manifest; `urepo show {name}` shows the removal"
                )),
            Self::NotOriginal { name, .. } => Failure::of(Exit::Conflict, self).elsewhere(name),
            Self::NotAList { .. } => {
                Failure::of(Exit::Failure, self).hint("`find … -print0` writes such a list")
            }
            Self::RejectDirectory { .. } => {
                Failure::of(Exit::Failure, self).hint("choose a directory beside it")
            }
            Self::Read { source, .. } if was_interrupted(source) => {
                Failure::of(Exit::Interrupted, self)
            }
            Self::Read { .. } => Failure::of(Exit::Failure, self),
        }
    }
}

fn with_row_hint(failure: Failure, fault: &RowFault) -> Failure {
    match fault {
        RowFault::UnknownColumns(names) => failure.hint(for_unknown(names)),
        RowFault::AbsentColumns { columns, .. } if columns.is_empty() => failure,
        RowFault::AbsentColumns { mapped, columns } => failure.hint(for_absent(mapped, columns)),
        RowFault::Relation(_) => failure.hint("write each relation once, in one row"),
        RowFault::NoColumn("path") => {
            failure.hint("`--map COLUMN=path` says which column holds the path; `--as-files` deposits tables themselves")
        }
        RowFault::Outside(_) => {
            failure.hint("`--root DIR` says what paths are beneath, also those that begin with it")
        }
        // A link on the path decides where it leads.
        RowFault::Dots(_) => failure.hint("write the path without `..`"),
        RowFault::NulInPath(_) => failure.hint("write the path without the NUL byte"),
        RowFault::NotUtf8 { windows_1252: Some(_), .. } => {
            failure.hint("`--encoding windows-1252` reads it so").in_common("rows are not UTF-8")
        }
        RowFault::Formula(_) => failure.hint("an apostrophe before it makes it text: `'=1+1`"),
        RowFault::SheetError { .. } => {
            failure.hint("correct the spreadsheet; an apostrophe before it makes it text: `'#REF!`")
        }
        RowFault::Nul(encoding) => failure.hint(match encoding {
            Encoding::Utf16Be => "`--encoding utf-16be` reads it so",
            _ => "`--encoding utf-16le` reads it so",
        }),
        RowFault::Term(MetadataError::Date(..)) => failure.hint(
            "format the column as text or as `YYYY-MM-DD` in the spreadsheet, and save the table again",
        ),
        RowFault::Delimiter(_) => failure.hint("say it, as in `--delimiter ';'`"),
        RowFault::Unnamed(_) => failure.hint("give the column a name, or empty that cell"),
        RowFault::Ambiguous(_) => failure.hint("rename all of them but one"),
        RowFault::NotUtf8 { .. }
        | RowFault::TooLong
        | RowFault::OpenQuote
        | RowFault::CarriageReturn
        | RowFault::Values { .. }
        | RowFault::Syntax(_)
        | RowFault::NoColumn(_)
        | RowFault::GivenTwice(_)
        | RowFault::NoPath
        | RowFault::Twice { .. }
        | RowFault::Kind(_)
        | RowFault::Term(_)
        | RowFault::Condition(_)
        | RowFault::Identifier(_)
        | RowFault::Digest(_)
        | RowFault::Fraction(_) => failure,
    }
}

/// Columns of a table that a hint names.
const SHOWN_COLUMNS: usize = 20;

/// Unknown columns that a hint names.
const MOST_COLUMNS: usize = 5;

/// A hint for mapped columns that a table does not have: the nearest names that it has, or all of them.
fn for_absent(mapped: &[String], columns: &[String]) -> String {
    let known: Vec<_> = columns.iter().map(String::as_str).collect();
    let quoted = |name: &str| format!("`{}`", escape::one_line(name));
    let near = mapped.iter().filter_map(|name| nearest(name, &known));
    let near: Vec<_> = near.map(quoted).collect();
    if !near.is_empty() {
        return format!("did you mean {}?", near.join(", "));
    }
    let shown: Vec<_> = known.iter().take(SHOWN_COLUMNS).map(|name| quoted(name)).collect();
    let more = if known.len() > SHOWN_COLUMNS { ", …" } else { "" };
    format!("the columns of the table are {}{more}", shown.join(", "))
}

/// A hint for unknown columns: the nearest known name, or a key below `x`.
fn for_unknown(names: &[String]) -> String {
    if names.iter().any(|name| name.contains('\0')) {
        return "`urepo import -` reads a list of paths that are ended by NUL".to_owned();
    }
    let synonyms = COLUMN_SYNONYMS.iter().flat_map(|(_, synonyms)| synonyms.iter().copied());
    let known: Vec<&str> = ["path", "ibip", "sha256"]
        .into_iter()
        .chain(urepo::sidecar::TERMS)
        .chain(urepo::sidecar::Conditions::KEYS)
        .chain(synonyms)
        .collect();
    let mut near = Vec::new();
    let mut maps = Vec::new();
    for name in names.iter().take(MOST_COLUMNS) {
        // `list` calls it so.
        let is_id = name.eq_ignore_ascii_case("id");
        let found = nearest(name, &known).or(is_id.then_some("identifier"));
        near.extend(found.map(|found| format!("`{found}` for `{}`", escape::one_line(name))));
        let meaning = match found {
            Some(found) => COLUMN_SYNONYMS
                .iter()
                .find(|(_, synonyms)| synonyms.contains(&found))
                .map_or(found, |(column, _)| *column),
            None if name.starts_with("relation") => "relation.x.KEY",
            None => "x.KEY",
        };
        maps.push(format!("--map {}", shell::word(format!("{name}={meaning}"))));
    }
    let near = match near.as_slice() {
        [] => String::new(),
        near => format!("did you mean {}? ", near.join(", ")),
    };
    let kinds = if names.iter().any(|name| name.starts_with("relation")) {
        "; the kinds of relations are next_edition, previous_edition, translation.TAG, translation_of, metadata, \
         metadata_of and part_of"
    } else {
        ""
    };
    let own = if maps.iter().any(|map| map.contains("x.KEY")) {
        ", `x.KEY` as a key of your own"
    } else {
        ""
    };
    let out = shell::word(format!("{}=-", names.first().map_or("COLUMN", String::as_str)));
    format!("{near}`{}` reads it{own}; `--map {out}` leaves it out{kinds}", maps.join(" "))
}

impl Explain for MapError {
    fn explain(&self) -> Failure {
        Failure::of(Exit::Usage, self)
            .hint("write `--map Author=creator`, `--map Box=x.box`, or `--map Notes=-`")
    }
}
