//! The lock file of one prefix as bytes: the memory of the distributor.
//!
//! The file has a fixed size and two slots, each of which holds one [`MemoryRecord`] as lines of ASCII.
//! Records are written to the two slots in turn, so an interrupted write spoils only the slot of the record
//! *before* the last one:
//!
//! ```text
//! urepo-memory 1
//! prefix sid.inpe.br/mtc-m19
//! sequence 12
//! last 1287588480000000000
//! granularity auto
//! host 4c1f6f0a2b7d4e0f9a4be3d5c2a1908f
//! (spaces)
//! sha256 (64 hexadecimal digits over all that precedes in this slot)
//! ```
//!
//! `last -` means that no date has been issued yet. A new memory has records in both slots, so a slot without
//! one always means that a record was lost.
//!
//! The checksum is at the end of the slot, not of the text: the beginning of a new record before the rest of
//! an old one is never valid. A later format has to keep the first word, the size of the slots and the
//! checksum, so that this program recognizes it ([`SlotError::OtherFormat`]) and does not take an older
//! record beside it for the last.

use std::fmt;
use std::str::FromStr;

use super::granularity::Setting;
use crate::digest::Digest;
use crate::identity::{Instant, SECOND};

/// The size of a slot.
pub const SLOT: usize = 768;

/// The size of the file. The slots begin at its start and at its middle.
pub const FILE: usize = 2 * STRIDE;

/// From the beginning of a slot to that of the other.
///
/// A disk with sectors of 4096 bytes rewrites a whole sector for each write, even if it reports smaller ones.
/// A power cut during the write may destroy that sector, so no two slots share one.
const STRIDE: usize = 4096;

/// The part of a slot before the line of its checksum.
const BODY: usize = SLOT - "sha256 ".len() - 64 - 1;

/// The first line of a record, without its version.
const TAG: &str = "urepo-memory ";

/// The version of the format that this module reads and writes.
const VERSION: &str = "1";

/// Stands for `last` before the first label.
const NO_DATE: &str = "-";

/// The longest prefix: a host name of 253 characters, a separator and a port, with some room.
pub const PREFIX: usize = 260;

/// The longest name of a host.
pub const NAME: usize = 40;

/// The longest text of a record, with `last` as wide as an `i128` can be, and one line end after
/// the padding.
const LONGEST: usize = "urepo-memory 1\n".len()
    + "prefix \n".len()
    + PREFIX
    + "sequence 18446744073709551615\n".len()
    + "last -170141183460469231731687303715884105728\n".len()
    + "granularity 0.000000001\n".len()
    + "host \n".len()
    + NAME
    + "\n".len();

const _: () = assert!(LONGEST <= BODY, "every record fits its slot");

/// The contents of the memory of one prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRecord {
    /// The prefix whose memory this is, or that of the IBIps.
    pub prefix: Token<PREFIX>,
    /// The number of this record, from 1. A file with the number 0 or [`u64::MAX`] is not believed.
    pub sequence: u64,
    /// The date of the last label, within the range of [`Instant::from_seconds`]; `None` before the
    /// first one.
    pub last: Option<Instant>,
    /// The setting under which that label was issued.
    pub granularity: Setting,
    /// The machine on which it was written.
    pub host: Token<NAME>,
}

/// A word of 1 to `MAX` printable ASCII characters, none of them a space.
///
/// No other character can occur in a line of the file, so no value can break its form. `-` means unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token<const MAX: usize>(String);

impl<const MAX: usize> Token<MAX> {
    /// Makes a token of foreign text, such as a host id: characters that do not belong become `-`,
    /// and the end is cut off. Two texts may give one token.
    pub fn sanitised(text: &str) -> Token<MAX> {
        let word: String = text
            .trim()
            .chars()
            .take(MAX)
            .map(|character| if character.is_ascii_graphic() { character } else { '-' })
            .collect();
        if word.is_empty() { Token::default() } else { Token(word) }
    }

    /// The token as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The token for an unknown value: `-`.
impl<const MAX: usize> Default for Token<MAX> {
    fn default() -> Token<MAX> {
        Token(String::from("-"))
    }
}

/// Takes a valid text unchanged, and refuses any other.
impl<const MAX: usize> FromStr for Token<MAX> {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Token<MAX>, TokenError> {
        let fits = (1..=MAX).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Token(text.to_owned()))
        } else {
            Err(TokenError { longest: MAX })
        }
    }
}

impl<const MAX: usize> fmt::Display for Token<MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// A text that is not a [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to {longest} printable ASCII characters without spaces")]
pub struct TokenError {
    /// The length allowed.
    pub longest: usize,
}

/// Why a slot gives no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    /// Nothing was ever written there.
    #[error("the slot is empty")]
    Empty,
    /// A whole record that this version of the program does not know how to read.
    #[error("the slot was written by another version of urepo")]
    OtherFormat,
    /// A write was interrupted, or another program changed the file.
    #[error("the slot is damaged")]
    Damaged {
        /// The first thing found wrong.
        #[source]
        why: Damage,
    },
}

/// The damage of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The file ends before the slot does, or is too long.
    #[error("it does not have its {SLOT} bytes")]
    Size,
    /// The checksum is not that of the bytes.
    #[error("its checksum does not match")]
    Checksum,
    /// The checksum matches, but it is not a record of this program.
    #[error("its line `{line}` is missing or wrong")]
    Line {
        /// The word that begins the line.
        line: &'static str,
    },
    /// The checksum matches, yet the record goes on after its last line.
    #[error("it has more lines than a record")]
    MoreLines,
    /// A whole record that belongs in the other slot.
    #[error("its record belongs in the other slot")]
    Misplaced,
}

/// The contents of a whole lock file.
#[expect(clippy::large_enum_variant, reason = "one value lives at a time, and not for long")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The file is empty or blank: this memory was never written.
    Fresh,
    /// A record was found.
    Valid {
        /// The valid record with the larger sequence number.
        record: MemoryRecord,
        /// The other slot: the record before, or why there is none.
        ///
        /// A damaged one is most likely an interrupted write whose label was never used. But it may also be a
        /// later record that has rotted.
        other: Result<MemoryRecord, SlotError>,
    },
    /// A slot was written by a later version of the program; only that version can read the last date.
    OtherFormat,
    /// The file has content but no readable record: the memory is lost, not fresh.
    Damaged {
        /// The state of the first and the second slot.
        slots: [SlotError; 2],
    },
}

/// The bytes of a new lock file, before its first record: blank.
pub fn blank() -> [u8; FILE] {
    let mut file = [b' '; FILE];
    for line in file.chunks_exact_mut(128) {
        line[127] = b'\n';
    }
    file
}

/// The offset of the record after number `sequence`: that of the older one. Zero means no record yet.
pub const fn offset_for_next(sequence: u64) -> usize {
    if sequence.is_multiple_of(2) { 0 } else { STRIDE }
}

/// Reads a whole lock file.
pub fn read(file: &[u8]) -> Contents {
    if is_blank(file) {
        return Contents::Fresh;
    }
    match (decode_at(file, 0), decode_at(file, STRIDE)) {
        (Err(SlotError::OtherFormat), _) | (_, Err(SlotError::OtherFormat)) => {
            Contents::OtherFormat
        }
        (Ok(first), Ok(second)) if first.sequence < second.sequence => {
            Contents::Valid { record: second, other: Ok(first) }
        }
        (Ok(record), other) | (other, Ok(record)) => Contents::Valid { record, other },
        (Err(first), Err(second)) => Contents::Damaged { slots: [first, second] },
    }
}

/// Reads the slot at `offset`, whose records have every other sequence number.
fn decode_at(file: &[u8], offset: usize) -> Result<MemoryRecord, SlotError> {
    let rest = file.get(offset..).unwrap_or_default();
    let record = decode(rest.get(..SLOT).unwrap_or(rest))?;
    if offset_for_next(record.sequence - 1) == offset {
        Ok(record)
    } else {
        Err(SlotError::Damaged { why: Damage::Misplaced })
    }
}

/// Writes a record as the bytes of its slot.
pub fn encode(record: &MemoryRecord) -> [u8; SLOT] {
    let MemoryRecord { prefix, sequence, last, granularity, host } = record;
    let last = last.map_or_else(|| NO_DATE.to_owned(), |last| last.nanoseconds().to_string());
    let text = format!(
        "{TAG}{VERSION}\nprefix {prefix}\nsequence {sequence}\nlast {last}\n\
         granularity {granularity}\nhost {host}\n",
    );
    let mut slot = [b' '; SLOT];
    let (body, seal) = slot.split_at_mut(BODY);
    body[..text.len()].copy_from_slice(text.as_bytes());
    body[BODY - 1] = b'\n';
    seal.copy_from_slice(checksum_line(body).as_bytes());
    slot
}

/// Reads the bytes of one slot, which may be any bytes.
pub fn decode(slot: &[u8]) -> Result<MemoryRecord, SlotError> {
    if is_blank(slot) {
        return Err(SlotError::Empty);
    }
    if slot.len() != SLOT {
        return Err(SlotError::Damaged { why: Damage::Size });
    }
    let (body, seal) = slot.split_at(BODY);
    if seal != checksum_line(body).as_bytes() {
        return Err(SlotError::Damaged { why: Damage::Checksum });
    }
    let mut lines = str::from_utf8(body).unwrap_or_default().split('\n');
    match lines.next().and_then(|line| line.strip_prefix(TAG)) {
        Some(VERSION) => parse(lines).map_err(|why| SlotError::Damaged { why }),
        Some(_) => Err(SlotError::OtherFormat),
        None => Err(SlotError::Damaged { why: Damage::Line { line: TAG.trim_ascii_end() } }),
    }
}

/// Reads the lines of a record after the first.
fn parse<'a>(mut lines: impl Iterator<Item = &'a str>) -> Result<MemoryRecord, Damage> {
    let record = MemoryRecord {
        prefix: field(lines.next(), "prefix")?,
        sequence: field(lines.next(), "sequence")?,
        last: match field::<String>(lines.next(), "last")?.as_str() {
            NO_DATE => None,
            text => {
                let nanoseconds = text.parse().map_err(|_| Damage::Line { line: "last" })?;
                Some(Instant::from_nanoseconds(nanoseconds))
            }
        },
        granularity: field(lines.next(), "granularity")?,
        host: field(lines.next(), "host")?,
    };
    if !lines.all(|line| is_blank(line.as_bytes())) {
        return Err(Damage::MoreLines);
    }
    if matches!(record.sequence, 0 | u64::MAX) {
        return Err(Damage::Line { line: "sequence" });
    }
    let seconds = record.last.map_or(0, |last| last.nanoseconds().div_euclid(SECOND));
    if i64::try_from(seconds).is_err() {
        return Err(Damage::Line { line: "last" });
    }
    Ok(record)
}

/// Reads the value of a line that begins with a given word.
fn field<T: FromStr>(line: Option<&str>, name: &'static str) -> Result<T, Damage> {
    line.and_then(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
        .ok_or(Damage::Line { line: name })
}

/// The last line of a slot.
fn checksum_line(body: &[u8]) -> String {
    format!("sha256 {}\n", Digest::of(body))
}

/// Whether the slot was never written: a file system may return zeros for it.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 0 | b' ' | b'\n'))
}
