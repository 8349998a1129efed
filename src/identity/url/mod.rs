//! Persistent URLs [resolution, Tables 8.1 to 8.5].
//!
//! ```abnf
//! persistent-URL = [base] IBI [modifiers] [path-absolute] ["?" question]
//! base      = ("http" / "https") "://" hostport "/" ["ibi/" / "rep/"] / "ibi:"
//! modifiers = ([u [t]] / [t [u]]) [m [t]]
//! u         = "!"                                          ; the last edition
//! t         = "+" ["(" language ["-" country] ")"]         ; the translation
//! m         = ":" ["(" format ")"]                         ; the metadata
//! format    = 1*(ALPHA / DIGIT / "_" / "-")
//! question  = "?" / [pair *("&" pair)]
//! pair      = name "=" value
//! verb-list = [verb *("+" verb)]                           ; in ibiurl.verblist
//! verb      = "GetLastEdition" / ("GetTranslation" ["(" language ["-" country] ")"])
//!           / ("GetMetadata" ["(" format ")"]) / "GetFileList"
//! ```
//!
//! The standard has the base `http://urlib.net/` only, the format `oai_dc` only, and languages in lower
//! case with countries in upper case. `??` at the end is the older form of `:`.

mod encoding;
mod reader;
mod verbs;

use std::fmt;
use std::str::FromStr;

pub use encoding::{decode_path, decode_value, encode_path, encode_value};
pub use verbs::{FormatName, Verb, Verbs};

use super::error::ParseError;
use super::identifier::Identifier;
use super::pasted::Pasted;
use super::scan;

const KIND: &str = "persistent URL";
/// The base of the standard's resolver.
const BASE: &str = "http://urlib.net/";
const STATUS: &str = "ibiurl.requireditemstatus";
const VERB_LIST: &str = "ibiurl.verblist";

/// A persistent URL: an item, and a request about it.
///
/// Modifiers and equivalent verbs of the question give equal values. `Display` prints the canonical form: the
/// base of the standard, an IBIp in upper case, modifiers instead of verbs, no pair that is not needed.
///
/// ```
/// # use urepo::identity::PersistentUrl;
/// let verbs = "http://urlib.net/8JMKD3MGP8W/35MMLL8\
///              ?ibiurl.verblist=GetLastEdition+GetMetadata(oai_dc)";
/// let url: PersistentUrl = verbs.parse()?;
/// assert_eq!(url.to_string(), "http://urlib.net/8JMKD3MGP8W/35MMLL8!:(oai_dc)");
/// assert_eq!(url, "8JMKD3MGP8W/35MMLL8!:(oai_dc)".parse()?);
/// assert_eq!("8jmkd3mgp8w/35mmll8!:(oai_dc)".parse::<PersistentUrl>()?.to_string(), url.to_string());
/// # Ok::<(), urepo::identity::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersistentUrl {
    /// The item.
    pub identifier: Identifier,
    /// The request.
    pub selection: Selection,
}

/// The request of a persistent URL about an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The verbs, of the modifiers and then of the question.
    pub verbs: Verbs,
    /// The path of a file, decoded, without the first `/`; empty if there is none.
    pub path: Vec<u8>,
    /// Whether a Copy is acceptable.
    pub status: RequiredStatus,
    /// The pairs of the question that are left to the item, as they were given.
    pub question: Vec<Box<str>>,
    /// The names of pairs that the resolver should interpret and does not know.
    pub unknown: Vec<Box<str>>,
}

/// The state of the item that a persistent URL requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequiredStatus {
    /// The Original or a Copy.
    #[default]
    Any,
    /// The Original only.
    Original,
}

impl PersistentUrl {
    /// Whether `text` begins with an identifier, however it goes on.
    pub fn begins(text: &str) -> bool {
        scan::begins(text).is_ok_and(|found| found.is_some())
    }
}

impl Selection {
    /// Reads the text after the identifier in a pasted text.
    pub fn of(pasted: &Pasted<'_>) -> Result<Selection, ParseError> {
        reader::selection(pasted.rest).map_err(|fault| fault.within(KIND, pasted.rest))
    }
}

impl FromStr for PersistentUrl {
    type Err = ParseError;

    /// Reads a persistent URL on any host, or without a base.
    fn from_str(text: &str) -> Result<PersistentUrl, ParseError> {
        reader::url(text).map_err(|fault| fault.within(KIND, text))
    }
}

impl fmt::Display for PersistentUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut identifier = self.identifier.to_string();
        // IBIps are written in upper case; labels from before 2009 may differ by case alone.
        if let Identifier::Ibip(_) = self.identifier {
            identifier.make_ascii_uppercase();
        }
        write!(f, "{BASE}{identifier}{}", self.selection)
    }
}

impl fmt::Display for Selection {
    /// Prints the text after the identifier.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.verbs.modifiers())?;
        if !self.path.is_empty() {
            write!(f, "/{}", encoding::encode_path(&self.path))?;
        }
        let mut separator = '?';
        let mut pair = |text: &str| {
            write!(f, "{separator}{text}")?;
            separator = '&';
            Ok(())
        };
        if self.status == RequiredStatus::Original {
            pair(&format!("{STATUS}=Original"))?;
        }
        if self.verbs.wants_file_list() {
            pair(&format!("{VERB_LIST}={}", Verbs::FILE_LIST))?;
        }
        self.question.iter().try_for_each(|text| pair(text))
    }
}
