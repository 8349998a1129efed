//! Reading an identifier from a pasted text.

use std::net::SocketAddr;
use std::ops::Range;

use super::error::{Fault, ParseError};
use super::ibip::Ibip;
use super::ibip_prefix::{IbipPrefix, UNWRITTEN_PORT};
use super::identifier::Identifier;
use super::instant::Instant;
use super::name::RepositoryName;
use super::prefix::Prefix;
use super::scan;
use super::{grammar, rfc3339};

const KIND: &str = "identifier";
const EXPECTED: &str = "no identifier here; expected one such as \
                        sid.inpe.br/mtc-m18/2009/02.16.17.46 or 8JMKD3MGP8W/34PGRBS";

/// An identifier found in a text, and the rest of its word.
///
/// The text may be an identifier; a URL or path that leads to it (`http://urlib.net/…`,
/// `…/col/<name>/doc/<file>`, `/rep/…`, `/ibi-/…`, `goto-/…`); a reference (`ibi:…`,
/// `upn:<code>:…`, or with a report code at the end, `…-TDI`); all of them with punctuation
/// around, or in a sentence; or a host and a time, `mtc-m18.sid.inpe.br:8080 2009-02-16T17:46Z`; or an
/// address, its port, 800 unless given, and a time, `150.163.34.243:800 2009-02-16T17:46Z` [Alg. 5 to 7].
///
/// In each word of the text, the part before a `?` is read first, and the rest only if that has no
/// identifier. The first repository name wins (as found, with its oddities), else the first `IBIp` that was
/// made of an address, else the first pair of words that could be one ([`Ibip::has_separator`]), else a
/// likely label from before 2009. Different identifiers in two words of a sentence are refused, except a
/// repository name and an opaque label of the same date: the two forms of one item, as in `rep … ibip …`
/// [resolution, Table 9.4].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pasted<'text> {
    /// The identifier.
    pub identifier: Identifier,
    /// The other form of it, if the text has both.
    pub twin: Option<Identifier>,
    /// The rest of the same word: modifiers, a path, a question, without a report code and punctuation. It
    /// need not be well formed.
    pub rest: &'text str,
    /// The text after that: punctuation, and more of a sentence.
    pub after: &'text str,
}

impl<'text> Pasted<'text> {
    /// Reads the identifier in `text`.
    pub fn read(text: &'text str) -> Result<Pasted<'text>, ParseError> {
        if let Some(identifier) = host_and_time(text) {
            return Ok(Pasted { identifier: identifier?, twin: None, rest: "", after: "" });
        }
        let mut pasted: Option<Pasted<'text>> = None;
        let mut near_miss = None;
        for word in words(text) {
            match scan::find(&text[word.clone()]) {
                Ok(None) => {}
                Err(fault) => near_miss = near_miss.or(Some(fault.shifted(word.start))),
                Ok(Some(found)) => {
                    let end = word.start + found.end;
                    let rest = without_punctuation(&text[end..word.end]);
                    let after = &text[end + rest.len()..];
                    match &mut pasted {
                        None => {
                            let identifier = found.identifier;
                            pasted = Some(Pasted { identifier, twin: None, rest, after });
                        }
                        Some(first) if first.has(&found.identifier) => {}
                        Some(first) if first.may_have_twin(&found.identifier) => {
                            first.twin = Some(found.identifier);
                        }
                        Some(_) => {
                            let expected = "a second identifier; one is read at a time";
                            return Err(ParseError::new(KIND, text, word, expected));
                        }
                    }
                }
            }
        }
        pasted.ok_or_else(|| match near_miss {
            Some(fault) => fault.within("repository name", text),
            None => nothing_found(text),
        })
    }
}

impl Pasted<'_> {
    fn has(&self, identifier: &Identifier) -> bool {
        self.identifier == *identifier || self.twin.as_ref() == Some(identifier)
    }

    /// Whether `other` can be the other form of the identifier: the one is a repository name, the other a label
    /// of its date.
    fn may_have_twin(&self, other: &Identifier) -> bool {
        let ((Identifier::Repository(name), label) | (label, Identifier::Repository(name))) =
            (&self.identifier, other)
        else {
            return false;
        };
        let date = match label {
            Identifier::Repository(_) => return false,
            Identifier::Ibip(ibip) => ibip.instant(),
            Identifier::Legacy(label) => label.instant(),
        };
        self.twin.is_none() && date.is_ok_and(|date| date == name.instant())
    }
}

impl Identifier {
    /// Reads the identifier in a pasted text; see [`Pasted`].
    pub fn read(text: &str) -> Result<Identifier, ParseError> {
        Pasted::read(text).map(|pasted| pasted.identifier)
    }
}

/// The error of a text without an identifier: the first fault if the intended form is plain.
fn nothing_found(text: &str) -> ParseError {
    let span = trimmed(text);
    let word = &text[span.clone()];
    let error = match word.matches('/').count() {
        1 => word.parse::<Ibip>().err().filter(|_| begins_as_ibip(word)),
        3 if !word.contains("://") => RepositoryName::parse_as_found(word).err(),
        _ => None,
    };
    match error {
        Some(error) => {
            let kind = error.kind();
            error.into_fault().shifted(span.start).within(kind, text)
        }
        None => ParseError::new(KIND, text, span, EXPECTED),
    }
}

/// Whether the first of two words was made of an address.
fn begins_as_ibip(word: &str) -> bool {
    word.split('/')
        .next()
        .and_then(|prefix| prefix.parse::<IbipPrefix>().ok())
        .is_some_and(|prefix| prefix.endpoint().is_ok())
}

/// `host[:port] time` or `address:port time`, if the text has that form.
fn host_and_time(text: &str) -> Option<Result<Identifier, ParseError>> {
    let mut words = words(text);
    let endpoint = words.next()?;
    let time = words.next()?.start..trimmed(text).end;
    let digits = text[time.clone()].bytes().take_while(u8::is_ascii_digit).count();
    let is_date = digits >= 4 && text[time.start + digits..].starts_with('-');
    // `word 2009-x.org/…` is a word and a name whose subdomain begins with a number.
    if !is_date || text[endpoint.start..time.end].contains('/') {
        return None;
    }
    let word = &text[endpoint.clone()];
    // The port of the standard, where none is written.
    let alone = word.trim_matches(['[', ']']).parse();
    let alone = alone.map(|ip| SocketAddr::new(ip, UNWRITTEN_PORT));
    let identifier = match word.parse().or(alone) {
        Ok(address) => label_given_at(text, address, endpoint, time).map(Identifier::Ibip),
        Err(_) => name_given_at(text, endpoint, time).map(Identifier::Repository),
    };
    Some(identifier.map_err(|fault| fault.within(KIND, text)))
}

/// The label that the subsystem at `address` gave at `time`.
fn label_given_at(
    text: &str,
    address: SocketAddr,
    endpoint: Range<usize>,
    time: Range<usize>,
) -> Result<Ibip, Fault> {
    let date = instant_at(text, time.clone())?;
    let prefix = IbipPrefix::new(address.ip(), address.port())
        .map_err(|error| Fault::new(endpoint, error.expected().to_owned()))?;
    let none = || Fault::new(time, "labels are of dates from 1995-08-01 on");
    Ibip::new(&prefix, date).ok_or_else(none)
}

fn instant_at(text: &str, time: Range<usize>) -> Result<Instant, Fault> {
    rfc3339::read(&text[time.clone()]).map_err(|fault| fault.shifted(time.start))
}

/// The name that the subsystem at `endpoint` gave at `time`.
fn name_given_at(
    text: &str,
    endpoint: Range<usize>,
    time: Range<usize>,
) -> Result<RepositoryName, Fault> {
    let instant = instant_at(text, time.clone())?;
    let colon = text[endpoint.clone()].find(':').map(|at| endpoint.start + at);
    let port = match colon {
        Some(colon) => grammar::port(text, colon + 1, endpoint.end)?,
        None => 80,
    };
    let host_end = colon.unwrap_or(endpoint.end);
    let host = text[endpoint.start..host_end]
        .parse()
        .map_err(|error: ParseError| error.into_fault().shifted(endpoint.start))?;
    Prefix::new(&host, port)
        .and_then(|prefix| RepositoryName::new(&prefix, instant))
        .map_err(|error| Fault::new(endpoint.start..time.end, error.expected().to_owned()))
}

/// The words of a text, white space between them.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut next = 0;
    text.split_inclusive(char::is_whitespace).filter_map(move |word| {
        let start = next;
        next += word.len();
        let length = word.trim_end().len();
        (length > 0).then_some(start..start + length)
    })
}

/// The text without white space around.
fn trimmed(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..start + text.trim().len()
}

/// The text after an identifier, up to a quote or angle bracket, without the punctuation of the sentence
/// around it.
///
/// Closing brackets belong to the sentence unless they were opened here, as in `+(pt)`.
fn without_punctuation(rest: &str) -> &str {
    let mut rest = match rest.find(['"', '<', '>', '`', '“', '”', '«', '»']) {
        Some(end) => &rest[..end],
        None => rest,
    };
    let opened = rest.matches(['(', '[', '{']).count();
    let mut surplus = rest.matches([')', ']', '}']).count().saturating_sub(opened);
    loop {
        match rest.chars().next_back() {
            Some('.' | ',' | ';' | '\'' | '’') => {}
            Some(')' | ']' | '}') if surplus > 0 => surplus -= 1,
            _ => return rest,
        }
        // The character matched may be longer than a byte.
        let end = rest.char_indices().next_back().map_or(0, |(at, _)| at);
        rest = &rest[..end];
    }
}
