//! The grammar of the uniform repository name [Table 6.1], rule by rule.
//!
//! ```abnf
//! repository = prefix "/" suffix
//! prefix     = subdomain "/" word [("." / "@") port]
//! subdomain  = *(word ".") last-word ["."]
//! word       = ALNUM / (ALNUM *(ALNUM / "-") ALNUM)
//! last-word  = ALPHA / (ALPHA *(ALNUM / "-") ALNUM)
//! port       = 1*DIGIT                                   ; 1 to 65535
//! suffix     = year "/" month "." day "." hour "." minute ["." second]
//! year       = 4*DIGIT                                   ; at most 9
//! month, day, hour, minute = 2DIGIT                      ; in the calendar
//! second     = 2DIGIT ["." 1*DIGIT]
//! ```
//!
//! A word has no dots, so in the second directory the first `.` or `@` begins the port. Each of the four
//! parts must be valid as the name of a directory, hence the limit of 255 bytes a part; that alone bounds the
//! fraction.
//!
//! Nothing is allocated unless there is a fault or an oddity.

use super::cursor::{Cursor, Moment};
use super::error::Fault;
use super::escape;
use super::oddity::Oddity;

/// How close to the grammar a name must be.
#[derive(Clone, Copy)]
pub(super) enum Rules {
    /// The grammar, and the limits of RFC 1034.
    Strict,
    /// Also the departures that [`Oddity`] lists.
    AsFound,
}

/// The positions of the parts of a prefix.
#[derive(Clone, Copy)]
pub(super) struct PrefixShape {
    /// The `/` after the subdomain.
    pub(super) slash: u16,
    /// The separator before the port, or the end.
    pub(super) word_end: u16,
    /// 80 if there is none.
    pub(super) port: u16,
}

/// The positions of the parts of a repository name, and its date.
#[derive(Clone, Copy)]
pub(super) struct NameShape {
    pub(super) prefix: PrefixShape,
    /// The `/` before the year, and the one after it.
    pub(super) prefix_end: u16,
    pub(super) year_end: u16,
    /// POSIX seconds, without the fraction.
    pub(super) seconds: i64,
}

/// The longest name of a directory on ordinary file systems.
const PART: usize = 255;
const LABEL: usize = 63;
const HOST: usize = 253;
/// The byte of `month.day.hour.minute.second.fraction` at which the fraction begins.
const FRACTION: usize = 15;

/// `repository`, with the oddities met under [`Rules::AsFound`].
pub(super) fn repository(text: &str, rules: Rules) -> Result<(NameShape, Vec<Oddity>), Fault> {
    let [slash, prefix_end, year_end] =
        slashes(text, "subdomain/word/year/month.day.hour.minute[.second]")?;
    let mut host = HostReader { text, rules, oddities: Vec::new() };
    let prefix = host.prefix(slash, prefix_end)?;
    let seconds = suffix(text, prefix_end + 1, year_end)?;
    let shape =
        NameShape { prefix, prefix_end: offset(prefix_end), year_end: offset(year_end), seconds };
    Ok((shape, host.oddities))
}

/// `prefix` alone.
pub(super) fn prefix(text: &str) -> Result<PrefixShape, Fault> {
    let [slash] = slashes(text, "subdomain/word[.port]")?;
    HostReader { text, rules: Rules::Strict, oddities: Vec::new() }.prefix(slash, text.len())
}

/// A host name, without a trailing dot: `word "." subdomain`.
pub(super) fn host(text: &str) -> Result<(), Fault> {
    let mut host = HostReader { text, rules: Rules::Strict, oddities: Vec::new() };
    if text.len() > HOST {
        host.odd(Oddity::LongHost(text.len()), 0, text.len())?;
    }
    let Some(dot) = text.find('.') else {
        let expected =
            "a host of one word has no subdomain; expected one such as `mtc.sid.inpe.br`";
        return Err(Fault::new(0..text.len(), expected));
    };
    host.word(0, dot)?;
    host.subdomain(dot + 1, text.len())
}

/// `suffix` alone, to POSIX seconds and the digits of the fraction.
pub(super) fn bare_suffix(text: &str) -> Result<(i64, &str), Fault> {
    let [year_end] = slashes(text, "year/month.day.hour.minute[.second]")?;
    let seconds = suffix(text, 0, year_end)?;
    Ok((seconds, fraction(&text[year_end + 1..])))
}

/// `IBIp = word "/" word` [section 7], to the place of its slash.
pub(super) fn ibip(text: &str) -> Result<usize, Fault> {
    let [slash] = slashes(text, "prefix/suffix")?;
    ibip_word(text, 0, slash)?;
    ibip_word(text, slash + 1, text.len())?;
    Ok(slash)
}

/// `word` of an `IBIp`: `2` to `9` and the letters without I, O, V, Y and Z, in any case.
pub(super) fn ibip_word(text: &str, start: usize, end: usize) -> Result<(), Fault> {
    const WANTED: &str = "digit 2 to 9 or letter other than I, O, V, Y, Z";
    if start == end {
        return Err(Fault::new(start..end, "an empty word"));
    }
    short(start, end)?;
    let foreign_byte = text.as_bytes()[start..end].iter().position(|byte| {
        !matches!(byte.to_ascii_uppercase(),
            b'2'..=b'9' | b'A'..=b'H' | b'J'..=b'N' | b'P'..=b'U' | b'W' | b'X')
    });
    match foreign_byte {
        Some(at) => Err(foreign(text, start + at, WANTED)),
        None => Ok(()),
    }
}

/// `prefix "/" suffix` of a label from before 2009, to the place of its slash.
///
/// The coding of the prefix is unknown: any letters and digits will do.
pub(super) fn legacy(text: &str) -> Result<usize, Fault> {
    let [slash] = slashes(text, "prefix/suffix")?;
    let (prefix, suffix) = (&text[..slash], &text[slash + 1..]);
    if prefix.is_empty() || suffix.is_empty() {
        let empty = if prefix.is_empty() { 0 } else { text.len() };
        return Err(Fault::new(empty..empty, "an empty word"));
    }
    if let Some(at) = prefix.bytes().position(|byte| !byte.is_ascii_alphanumeric()) {
        return Err(foreign(text, at, "letter or digit"));
    }
    let foreign_byte = suffix.bytes().position(|byte| {
        !matches!(byte, b'2'..=b'9' | b'a'..=b'k' | b'm'..=b'z' | b'A'..=b'H' | b'J'..=b'N' | b'P'..=b'V')
    });
    match foreign_byte {
        Some(at) => {
            Err(foreign(text, slash + 1 + at, "digit 2 to 9 or letter other than l, I, O, W to Z"))
        }
        None => Ok(slash),
    }
}

/// Whether `year` and `leaf` are the two directories of a suffix.
pub(super) fn are_suffix(year: &str, leaf: &str) -> bool {
    let mut cursor = Cursor::new(year, 0);
    // Most other directories can be excluded by their length, without building an error.
    (4..=PART).contains(&year.len())
        && (11..=PART).contains(&leaf.len())
        && cursor
            .year()
            .is_ok_and(|year_read| cursor.end().is_ok() && leaf_seconds(leaf, 0, year_read).is_ok())
}

/// The digits of the fraction in `month.day.hour.minute[.second[.fraction]]`; none is the empty
/// text.
pub(super) fn fraction(leaf: &str) -> &str {
    leaf.get(FRACTION..).unwrap_or("")
}

/// The places of the `N` slashes of `text`, which `pattern` describes.
fn slashes<const N: usize>(text: &str, pattern: &'static str) -> Result<[usize; N], Fault> {
    let mut found = [0; N];
    let mut count = 0;
    let mut part = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte != b'/' {
            continue;
        }
        if count == N {
            return Err(Fault::new(
                at..text.len(),
                format!("expected nothing more after {pattern}"),
            ));
        }
        short(part, at)?;
        found[count] = at;
        count += 1;
        part = at + 1;
    }
    if count < N {
        let (parts, all) = (count + 1, N + 1);
        let noun = if parts == 1 { "part" } else { "parts" };
        let expected = format!("{parts} {noun} where {all} are expected: {pattern}");
        return Err(Fault::new(0..text.len(), expected));
    }
    short(part, text.len())?;
    Ok(found)
}

fn short(from: usize, to: usize) -> Result<(), Fault> {
    if to - from <= PART {
        return Ok(());
    }
    Err(Fault::new(from..to, format!("part of {} bytes; at most {PART}", to - from)))
}

/// An offset into a name of at most four parts of at most 255 bytes.
fn offset(at: usize) -> u16 {
    u16::try_from(at).expect("because `slashes` keeps names under 1,024 bytes")
}

/// `suffix`, from `start` to the end, with its slash at `year_end`.
fn suffix(text: &str, start: usize, year_end: usize) -> Result<i64, Fault> {
    let mut cursor = Cursor::new(text, start);
    let year = cursor.year()?;
    if cursor.position() != year_end {
        return Err(cursor.unexpected("a year is of digits only"));
    }
    leaf_seconds(text, year_end + 1, year)
}

/// `month "." day "." hour "." minute ["." second]` of a year, from `start` to the end.
fn leaf_seconds(text: &str, start: usize, year: i64) -> Result<i64, Fault> {
    let mut cursor = Cursor::new(text, start);
    let month = cursor.two_digits("month")?;
    cursor.sign(b'.', "day")?;
    let day = cursor.two_digits("day")?;
    cursor.sign(b'.', "hour")?;
    let hour = cursor.two_digits("hour")?;
    cursor.sign(b'.', "minute")?;
    let minute = cursor.two_digits("minute")?;
    let mut second = None;
    if cursor.peek() == Some(b'.') {
        cursor.skip();
        second = Some(cursor.two_digits("second")?);
        if cursor.peek() == Some(b'.') {
            cursor.skip();
            cursor.fraction()?;
        }
    }
    cursor.end()?;
    Moment { year, month, day, hour, minute, second }.seconds()
}

/// Reads the rules that make up the host, and keeps or refuses the oddities met.
struct HostReader<'text> {
    text: &'text str,
    rules: Rules,
    oddities: Vec<Oddity>,
}

impl HostReader<'_> {
    /// `prefix`, up to `end`, with its slash at `slash`.
    fn prefix(&mut self, slash: usize, end: usize) -> Result<PrefixShape, Fault> {
        let bytes = self.text.as_bytes();
        let dotted = slash > 1 && bytes[slash - 1] == b'.';
        let subdomain_end = slash - usize::from(dotted);
        self.subdomain(0, subdomain_end)?;
        let word_end = bytes[slash + 1..end]
            .iter()
            .position(|byte| matches!(byte, b'.' | b'@'))
            .map_or(end, |at| slash + 1 + at);
        self.word(slash + 1, word_end)?;
        // The dot between word and subdomain counts, like the slash here; a trailing one does not.
        let length = subdomain_end + word_end - slash;
        if length > HOST {
            self.odd(Oddity::LongHost(length), 0, word_end)?;
        }
        let port = if word_end == end { 80 } else { port(self.text, word_end + 1, end)? };
        Ok(PrefixShape { slash: offset(slash), word_end: offset(word_end), port })
    }

    /// `subdomain`, its trailing dot left out.
    fn subdomain(&mut self, start: usize, end: usize) -> Result<(), Fault> {
        let mut from = start;
        while let Some(length) = self.text[from..end].find('.') {
            self.word(from, from + length)?;
            from += length + 1;
        }
        self.word(from, end)?;
        if !self.text.as_bytes()[from].is_ascii_alphabetic() {
            self.odd(Oddity::LastWordBegin, from, end)?;
        }
        Ok(())
    }

    /// `word`, never empty.
    fn word(&mut self, start: usize, end: usize) -> Result<(), Fault> {
        let word = &self.text[start..end];
        if word.is_empty() {
            let character = self.text[start..].chars().next().map_or(0, char::len_utf8);
            return Err(Fault::new(
                start..start + character,
                "an empty word; expected a letter or digit",
            ));
        }
        for (index, byte) in word.bytes().enumerate() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' => {}
                b'_' => self.odd(Oddity::Underscore, start + index, start + index + 1)?,
                _ => return Err(foreign(self.text, start + index, "letter, digit or hyphen")),
            }
        }
        if word.starts_with('-') {
            self.odd(Oddity::HyphenAtEdge, start, start + 1)?;
        } else if word.ends_with('-') {
            self.odd(Oddity::HyphenAtEdge, end - 1, end)?;
        }
        if word.len() > LABEL {
            self.odd(Oddity::LongLabel(word.len()), start, end)?;
        }
        Ok(())
    }

    fn odd(&mut self, oddity: Oddity, start: usize, end: usize) -> Result<(), Fault> {
        match self.rules {
            Rules::Strict => Err(Fault::new(start..end, oddity.to_string())),
            Rules::AsFound => {
                if !self.oddities.contains(&oddity) {
                    self.oddities.push(oddity);
                }
                Ok(())
            }
        }
    }
}

/// `port`. Leading zeros are digits like others: they are kept and count nothing.
pub(super) fn port(text: &str, start: usize, end: usize) -> Result<u16, Fault> {
    let digits = &text[start..end];
    if let Some(at) = digits.bytes().position(|byte| !byte.is_ascii_digit()) {
        return Err(foreign(text, start + at, "digit of the port"));
    }
    if digits.is_empty() {
        return Err(Fault::new(start - 1..start, "expected a port after the separator"));
    }
    match digits.trim_start_matches('0').parse() {
        Ok(port) => Ok(port),
        Err(_) if digits.bytes().all(|digit| digit == b'0') => {
            Err(Fault::new(start..end, "port 0 does not exist; ports are 1 to 65535"))
        }
        Err(_) => Err(Fault::new(start..end, format!("port {digits} is over 65535"))),
    }
}

/// The character at `at` stands where a `wanted` must.
fn foreign(text: &str, at: usize, wanted: &str) -> Fault {
    let character = text[at..].chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    let shown = escape::shown(character);
    let expected = format!("`{shown}` where a {wanted} is expected");
    Fault::new(at..at + character.len_utf8(), expected)
}
