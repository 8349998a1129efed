//! The prefix of a repository name: one identification subsystem.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::error::ParseError;
use super::folding;
use super::grammar::{self, PrefixShape};
use super::host::Host;
use super::serial::{as_text, by_order, displays};

/// The prefix of a repository name, such as `sid.inpe.br/mtc-m18@80`.
///
/// The spelling is kept. Comparing ignores case and a trailing dot of the subdomain, and nothing
/// else: `word`, `word.80`, `word@80` and `word.080` are different prefixes of one host and port.
/// The order is that of a sorted walk over the directories: by subdomain, then by word and port.
#[derive(Clone)]
pub struct Prefix {
    text: Box<str>,
    shape: PrefixShape,
}

/// The separator of the word and the port in a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Separator {
    /// `.`, the recommended one.
    Dot,
    /// `@`, used before August 2010.
    At,
}

impl Prefix {
    /// The prefix of the subsystem that `host` runs at `port` [Alg. 1].
    ///
    /// Port 80 is left out, others follow a dot. Port 0 is refused.
    pub fn new(host: &Host, port: u16) -> Result<Prefix, ParseError> {
        let (word, subdomain) = host.split();
        match port {
            80 => format!("{subdomain}/{word}"),
            _ => format!("{subdomain}/{word}.{port}"),
        }
        .parse()
    }

    /// A prefix whose parts were found before.
    pub(super) fn of(text: &str, shape: PrefixShape) -> Prefix {
        Prefix { text: text.into(), shape }
    }

    /// The prefix as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host, in lower case.
    pub fn host(&self) -> Host {
        self.shape.host(&self.text)
    }

    /// The port; 80 if none is written.
    pub fn port(&self) -> u16 {
        self.shape.port
    }

    /// The separator before the port; `None` if no port is written.
    pub fn separator(&self) -> Option<Separator> {
        self.shape.separator(&self.text)
    }

    /// The names of the two directories, without the trailing dot of the subdomain.
    pub fn path_components(&self) -> (String, String) {
        let [subdomain, slash_word] = self.pieces();
        (subdomain.to_owned(), slash_word[1..].to_owned())
    }

    /// The one spelling that all equal prefixes share: lower case, no trailing dot.
    pub fn folded(&self) -> String {
        self.pieces().concat().to_ascii_lowercase()
    }

    /// The one spelling that the prefixes of one subsystem share, those of one host and port:
    /// `word`, `word.80` and `word@80` are names of one distributor [section 4].
    pub fn subsystem(&self) -> String {
        Prefix::new(&self.host(), self.port()).map_or_else(|_| self.folded(), |it| it.folded())
    }

    fn pieces(&self) -> [&str; 2] {
        self.shape.pieces(&self.text)
    }
}

impl PrefixShape {
    /// The subdomain without a trailing dot, and `text` from the slash on.
    pub(super) fn pieces(self, text: &str) -> [&str; 2] {
        let (subdomain, rest) = text.split_at(usize::from(self.slash));
        [subdomain.strip_suffix('.').unwrap_or(subdomain), rest]
    }

    pub(super) fn host(self, text: &str) -> Host {
        let [subdomain, _] = self.pieces(text);
        Host::joined(&text[usize::from(self.slash) + 1..usize::from(self.word_end)], subdomain)
    }

    pub(super) fn separator(self, text: &str) -> Option<Separator> {
        match text.as_bytes().get(usize::from(self.word_end)) {
            Some(b'.') => Some(Separator::Dot),
            Some(b'@') => Some(Separator::At),
            _ => None,
        }
    }
}

impl FromStr for Prefix {
    type Err = ParseError;

    /// Reads a prefix that keeps to the grammar.
    fn from_str(text: &str) -> Result<Prefix, ParseError> {
        let shape = grammar::prefix(text).map_err(|fault| fault.within("prefix", text))?;
        Ok(Prefix::of(text, shape))
    }
}

impl Ord for Prefix {
    fn cmp(&self, other: &Prefix) -> Ordering {
        let ([subdomain, word], [other_subdomain, other_word]) = (self.pieces(), other.pieces());
        folding::compare(subdomain, other_subdomain)
            .then_with(|| folding::compare(word, other_word))
    }
}

impl Hash for Prefix {
    fn hash<H: Hasher>(&self, state: &mut H) {
        folding::hash(&self.pieces(), state);
    }
}

displays!(Prefix, text);
as_text!(Prefix, str::parse::<Prefix>);
by_order!(Prefix);
