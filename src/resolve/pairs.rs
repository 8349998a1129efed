//! Lists of pairs [resolution, Table 6.2].

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::identity::ParseError;

const KIND: &str = "list of pairs";
/// Limit on the length of a text.
const MOST_BYTES: usize = 256 * 1024;

/// A list of pairs, sorted by name, each with the words of its value.
///
/// `Display` writes one pair on each line, separated by CRLF, in the form of an Archive's answer.
///
/// ```
/// # use urepo::resolve::Pairs;
/// let pairs: Pairs = "b {x y}\n a 1 c {}".parse()?;
/// assert_eq!(pairs.get("b"), Some("x y"));
/// assert_eq!(pairs.to_string(), "a 1\r\nb {x y}\r\nc {}");
/// # Ok::<(), urepo::identity::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Values are words separated by spaces.
    pairs: BTreeMap<String, String>,
}

impl Pairs {
    /// Adds a pair. The characters of the name and of the value must be those of words.
    pub(crate) fn insert(&mut self, name: impl Into<String>, value: impl fmt::Display) {
        self.pairs.insert(name.into(), value.to_string());
    }

    /// The words of a value, separated by spaces.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.get(name).map(String::as_str)
    }

    /// All pairs, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Only the pairs whose names are `kept`.
    pub(super) fn retain(&mut self, mut kept: impl FnMut(&str) -> bool) {
        self.pairs.retain(|name, _| kept(name));
    }

    /// The pairs as lines without their ends.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.iter().map(|(name, value)| {
            let is_word = !value.is_empty() && !value.contains(' ');
            if is_word { format!("{name} {value}") } else { format!("{name} {{{value}}}") }
        })
    }
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().collect::<Vec<_>>().join("\r\n"))
    }
}

impl FromStr for Pairs {
    type Err = ParseError;

    /// Reads a list of pairs with any white space between its words, and braces around any number of words.
    fn from_str(text: &str) -> Result<Pairs, ParseError> {
        let fault = |span, expected: &'static str| ParseError::new(KIND, text, span, expected);
        if text.len() > MOST_BYTES {
            return Err(fault(MOST_BYTES..MOST_BYTES, "more than 256 KiB"));
        }
        if let Some((at, character)) = text.char_indices().find(|(_, c)| !belongs(*c)) {
            return Err(fault(at..at + character.len_utf8(), "expected printable ASCII"));
        }
        let mut pairs = Pairs::default();
        let mut tokens = Tokens { text, at: 0 };
        while let Some(name) = tokens.next() {
            let span = tokens.at - name.len()..tokens.at;
            if name == "{" || name == "}" {
                return Err(fault(span, "expected a name"));
            }
            let value = match tokens.next() {
                Some("{") => tokens.braced().map_err(|at| fault(at..at + 1, "expected `}`"))?,
                Some(word) if word != "}" => word.to_owned(),
                _ => return Err(fault(tokens.at..tokens.at, "expected a value")),
            };
            if pairs.get(name).is_some() {
                return Err(fault(span, "a second pair of this name"));
            }
            pairs.insert(name, value);
        }
        Ok(pairs)
    }
}

fn belongs(character: char) -> bool {
    matches!(character, ' '..='~' | '\t' | '\r' | '\n')
}

/// Words and braces, white space between them.
struct Tokens<'text> {
    text: &'text str,
    at: usize,
}

impl<'text> Tokens<'text> {
    fn next(&mut self) -> Option<&'text str> {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let ends = |c: char| c.is_ascii_whitespace() || c == '{' || c == '}';
        let length = match rest.find(ends) {
            None => rest.len(),
            // A brace is a token of its own.
            Some(0) => 1,
            Some(end) => end,
        };
        self.at = start + length;
        (length > 0).then(|| &rest[..length])
    }

    /// The words up to the closing brace, or the byte at which there is none.
    fn braced(&mut self) -> Result<String, usize> {
        let mut words = Vec::new();
        loop {
            match self.next() {
                Some("}") => return Ok(words.join(" ")),
                Some("{") => return Err(self.at - 1),
                Some(word) => words.push(word),
                None => return Err(self.text.len()),
            }
        }
    }
}
