//! Oddities of items that are adopted nevertheless.

use std::fmt;

use crate::identity::{Ibip, Instant, Oddity, RepositoryName};
use crate::item::twins::Twins;

/// A remark about an adopted item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The name departs from the grammar, and is kept.
    OddName(Oddity),
    /// Two names of the payload are the same name on some file systems.
    Twins(Twins),
    /// The number of names in the payload that are not UTF-8, or have control characters.
    OddFileNames(u64),
    /// The number of links that lead out of the item, and to no other one.
    OutwardLinks(u64),
    /// The number of files with permission bits that no sidecar keeps.
    SpecialModes(u64),
    /// The payload is empty.
    Empty,
    /// The description cannot be read.
    Unread {
        /// Where it is, in the item.
        path: &'static str,
        /// Why.
        reason: String,
    },
    /// The description is not UTF-8 and was taken for Latin-1.
    Latin1,
    /// This part of the description is not understood, and is kept unchanged.
    NotUnderstood(Vec<String>),
    /// The description has several entries, and none names this item.
    Several(usize),
    /// The description is of another item.
    OfAnother(RepositoryName),
    /// A text that should be an identifier is not one.
    NoIdentifier {
        /// The field.
        field: String,
        /// The text of the field.
        text: String,
    },
    /// The IBIp has another date than the name; it is kept unchanged.
    OtherDate(Ibip),
    /// Its last change is dated more than a day in the future.
    FutureDate(Instant),
    /// One reference says Original, another one Copy.
    TwoStates,
    /// A reference gives a state that is neither Original nor Copy, or the record of the service is not
    /// understood.
    UnclearState,
    /// The file that the bare identifier should open is missing.
    NoTarget(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::OddName(oddity) => write!(f, "its identifier is odd, and is kept: {oddity}"),
            Note::Twins(Twins { first, second }) => {
                write!(f, "`{first}` and `{second}` are one name on some file systems")
            }
            Note::OddFileNames(count) => {
                write!(f, "file names that are not UTF-8 or have control characters, kept: {count}")
            }
            Note::OutwardLinks(count) => {
                write!(f, "links that lead out of it, kept as they are: {count}; `urepo verify` lists the broken ones")
            }
            Note::SpecialModes(count) => {
                write!(f, "files whose special permission bits are not recorded: {count}")
            }
            Note::Empty => f.write_str("its `doc` is empty"),
            Note::Unread { path, reason } => write!(f, "`{path}` was not read: {reason}"),
            Note::Latin1 => f.write_str("its BibTeX is not UTF-8, and was taken for Latin-1"),
            Note::NotUnderstood(what) => {
                write!(
                    f,
                    "not understood in its BibTeX, and kept as it stands: {}",
                    what.join(", ")
                )
            }
            Note::Several(count) => {
                write!(f, "its BibTeX has {count} entries, and none names it: none was taken")
            }
            Note::OfAnother(name) => write!(f, "its BibTeX is of `{name}`, and was not taken"),
            Note::NoIdentifier { field, text } => {
                write!(f, "`{field}` in its BibTeX is not an identifier: `{text}`")
            }
            Note::OtherDate(ibip) => {
                write!(f, "`{ibip}` has another date than the identifier, and is kept")
            }
            Note::FutureDate(date) => write!(f, "its last change is dated {date}, in the future"),
            Note::TwoStates => f.write_str(
                "its BibTeX calls it both original and copy: it counts as a Copy unless `--state` decides",
            ),
            Note::UnclearState => f.write_str(
                "its BibTeX leaves open whether it is original or copy: it counts as a Copy unless `--state` decides",
            ),
            Note::NoTarget(target) => write!(f, "its target `{target}` is not in the payload"),
        }
    }
}
