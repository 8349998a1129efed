//! Verbs, and their three notations: modifiers, names and relations [resolution, Tables 8.2, 8.4, 9.5].

use std::fmt;
use std::str::FromStr;

use crate::identity::error::{Fault, ParseError};
use crate::identity::language::Language;

/// One step from an item to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// To the last edition.
    LastEdition,
    /// To the translation into a language; without one, into the language that the reader prefers.
    Translation(Option<Language>),
    /// To the metadata in a format; without one, in any format.
    Metadata(Option<FormatName>),
}

/// The name of a format of metadata, such as `oai_dc`: letters, digits, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatName(Box<str>);

/// The verbs of a persistent URL in the order in which they are applied, and whether the result is a list of
/// files.
///
/// The verbs are one of the 14 sequences of Table 8.2, or none: editions and translations, each at most
/// once, then metadata, then a translation of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Verbs {
    steps: Vec<Verb>,
    wants_file_list: bool,
}

const RELATION: &str = "relation";

/// The notation of a verb: its symbol in modifiers, its name, and its qualifier in relations.
type Spelling = [&'static str; 3];
const MODIFIER: usize = 0;
const NAME: usize = 1;
const QUALIFIER: usize = 2;
const LAST_EDITION: Spelling = ["!", "GetLastEdition", ".lastedition"];
const TRANSLATION: Spelling = ["+", "GetTranslation", ".translation"];
const METADATA: Spelling = [":", "GetMetadata", ".metadata"];

impl Verbs {
    /// The verb that asks for the list of files. It has no symbol, and its place does not matter.
    pub(super) const FILE_LIST: &'static str = "GetFileList";

    /// The steps, the first to be applied first.
    pub fn steps(&self) -> &[Verb] {
        &self.steps
    }

    /// Whether no step leads to another item.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether the list of files is wanted.
    pub fn wants_file_list(&self) -> bool {
        self.wants_file_list
    }

    /// The first `count` steps, without the list of files.
    #[must_use]
    pub fn before(&self, count: usize) -> Verbs {
        let steps = self.steps[..count.min(self.steps.len())].to_vec();
        Verbs { steps, wants_file_list: false }
    }

    /// The verbs without the steps in `range`.
    #[must_use]
    pub fn without(&self, range: std::ops::Range<usize>) -> Verbs {
        let mut verbs = self.clone();
        verbs.steps.drain(range);
        verbs
    }

    /// Whether this relation is one that `steps` request; where they leave the language open, any language is.
    pub fn is_requested_by(&self, steps: &[Verb]) -> bool {
        let is_one = |(own, step): (&Verb, &Verb)| match (own, step) {
            (Verb::Translation(_), Verb::Translation(None)) => true,
            (own, step) => own == step,
        };
        self.steps.len() == steps.len() && self.steps.iter().zip(steps).all(is_one)
    }

    /// With another step at the end, where the grammar allows it there.
    pub(crate) fn followed_by(&self, step: Verb) -> Option<Verbs> {
        let mut verbs = self.clone();
        verbs.push(step, 0, NAME).ok()?;
        Some(verbs)
    }

    /// As modifiers, such as `!:(oai_dc)`. The list of files has none.
    pub fn modifiers(&self) -> String {
        self.spelled(MODIFIER).collect()
    }

    /// As a relation, such as `.lastedition.metadata(oai_dc)`. The list of files has none.
    pub fn relation(&self) -> String {
        self.spelled(QUALIFIER).collect()
    }

    /// Reads a relation.
    pub fn of_relation(text: &str) -> Result<Verbs, ParseError> {
        let mut verbs = Verbs::default();
        match verbs.take(text, QUALIFIER).map_err(|fault| fault.within(RELATION, text))? {
            end if end < text.len() => {
                let expected = "expected the end of the relation";
                Err(ParseError::new(RELATION, text, end..text.len(), expected))
            }
            _ => Ok(verbs),
        }
    }

    /// Reads modifiers at the beginning of `text`, and returns the byte after them.
    pub(super) fn of_modifiers(text: &str) -> Result<(Verbs, usize), Fault> {
        let mut verbs = Verbs::default();
        let end = verbs.take(text, MODIFIER)?;
        Ok((verbs, end))
    }

    /// Adds the verbs in a notation at the beginning of `text`, and returns the byte after them.
    fn take(&mut self, text: &str, notation: usize) -> Result<usize, Fault> {
        let mut at = 0;
        while let Some((step, end)) = read_one(text, at, notation)? {
            self.push(step, at, notation)?;
            at = end;
        }
        Ok(at)
    }

    /// Adds the verb called `name`, with its parameter, unless it is one of the `first` steps.
    pub(super) fn add(&mut self, name: &str, first: usize) -> Result<(), Fault> {
        if name == Verbs::FILE_LIST {
            self.wants_file_list = true;
            return Ok(());
        }
        match read_one(name, 0, NAME)? {
            Some((step, end)) if end == name.len() => {
                if !self.steps[..first].contains(&step) {
                    self.push(step, 0, NAME)?;
                }
            }
            _ => {
                let expected =
                    "expected `GetLastEdition`, `GetTranslation`, `GetMetadata` or `GetFileList`";
                return Err(Fault::new(0..name.len(), expected));
            }
        }
        Ok(())
    }

    /// Adds a step, whose symbol is at the byte `at`.
    fn push(&mut self, step: Verb, at: usize, notation: usize) -> Result<(), Fault> {
        let metadata = self.steps.iter().position(|step| matches!(step, Verb::Metadata(_)));
        let is_like = |other: &Verb| other.spelling() == step.spelling();
        let is_allowed = match (metadata, &step) {
            (None, _) => !self.steps.iter().any(is_like),
            (Some(metadata), Verb::Translation(_)) => metadata + 1 == self.steps.len(),
            (Some(_), _) => false,
        };
        if is_allowed {
            self.steps.push(step);
            return Ok(());
        }
        let symbol = step.spelling()[notation];
        let separator = if notation == NAME { " " } else { "" };
        let before = self.spelled(notation).collect::<Vec<_>>().join(separator);
        let expected = format!("`{symbol}` cannot follow `{before}`");
        Err(Fault::new(at..at + symbol.len(), expected))
    }

    fn spelled(&self, notation: usize) -> impl Iterator<Item = String> {
        self.steps.iter().map(move |step| step.spelled(notation))
    }
}

impl Verb {
    fn spelling(&self) -> &'static Spelling {
        match self {
            Verb::LastEdition => &LAST_EDITION,
            Verb::Translation(_) => &TRANSLATION,
            Verb::Metadata(_) => &METADATA,
        }
    }

    fn spelled(&self, notation: usize) -> String {
        let symbol = self.spelling()[notation];
        match self {
            Verb::Translation(Some(language)) => format!("{symbol}({language})"),
            Verb::Metadata(Some(format)) => format!("{symbol}({format})"),
            _ => symbol.to_owned(),
        }
    }
}

/// The verb at the byte `at`, if there is one, and the byte after it.
fn read_one(text: &str, at: usize, notation: usize) -> Result<Option<(Verb, usize)>, Fault> {
    let begins = |spelling: &&Spelling| text[at..].starts_with(spelling[notation]);
    let all = [&LAST_EDITION, &TRANSLATION, &METADATA];
    let Some(spelling) = all.into_iter().find(begins) else { return Ok(None) };
    let start = at + spelling[notation].len();
    if spelling == &LAST_EDITION {
        return Ok(Some((Verb::LastEdition, start)));
    }
    let parameter = parameter(text, start)?;
    let end = start + parameter.map_or(0, |parameter| parameter.len() + 2);
    let verb = if spelling == &TRANSLATION {
        parameter.map(str::parse).transpose().map(Verb::Translation)
    } else {
        parameter.map(str::parse).transpose().map(Verb::Metadata)
    };
    let verb = verb.map_err(|error: ParseError| error.into_fault().shifted(start + 1))?;
    Ok(Some((verb, end)))
}

/// The text in parentheses at the byte `start`, if they begin there.
fn parameter(text: &str, start: usize) -> Result<Option<&str>, Fault> {
    let Some(rest) = text[start..].strip_prefix('(') else { return Ok(None) };
    match rest.find(')') {
        Some(length) => Ok(Some(&rest[..length])),
        None => Err(Fault::new(text.len()..text.len(), "expected `)`")),
    }
}

impl FormatName {
    /// The name as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for FormatName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<FormatName, ParseError> {
        let is_foreign = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-';
        let span = match text.find(is_foreign) {
            Some(at) => at..at + 1,
            None if text.is_empty() => 0..0,
            None => return Ok(FormatName(text.into())),
        };
        Err(ParseError::new("format of metadata", text, span, "expected a name such as `oai_dc`"))
    }
}

impl fmt::Display for FormatName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for Verbs {
    /// Prints the list of verbs for messages: names separated by spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = self.wants_file_list.then(|| Verbs::FILE_LIST.to_owned());
        f.write_str(&self.spelled(NAME).chain(list).collect::<Vec<_>>().join(" "))
    }
}

impl FromStr for Verbs {
    type Err = ParseError;

    /// Reads a list of verbs in the form of messages.
    fn from_str(text: &str) -> Result<Verbs, ParseError> {
        let mut verbs = Verbs::default();
        let mut start = 0;
        for name in text.split(' ').filter(|_| !text.is_empty()) {
            verbs
                .add(name, 0)
                .map_err(|fault| fault.shifted(start).within("list of verbs", text))?;
            start += name.len() + 1;
        }
        Ok(verbs)
    }
}
