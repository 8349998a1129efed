//! Encodings of tables: every text is read as UTF-8, whatever it was saved as.

use std::io::{self, BufRead, BufReader, Cursor, Read};

/// How the characters of a table are written as bytes. A byte order mark takes precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, the lower byte first.
    Utf16Le,
    /// UTF-16, the higher byte first.
    Utf16Be,
    /// ISO 8859-1.
    Latin1,
    /// Code page 1252 of Windows, which has quotation marks and dashes besides Latin-1.
    Windows1252,
}

/// Bytes 0x80 to 0x9F of code page 1252. The five unassigned ones are control characters, as in the WHATWG's table.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The mark of UTF-8, without its meaning as an order of bytes.
pub(super) const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes that are decoded at a time.
const PIECE_BYTES: usize = 16 * 1024;

/// A text as UTF-8.
pub(super) struct DecodedText {
    pub reader: Box<dyn BufRead + Send>,
    /// Whether its bytes are other ones than those of the file.
    pub is_converted: bool,
}

/// The text that `reader` gives, without a byte order mark.
///
/// Bytes of UTF-8 pass unchecked, so that a wrong row is refused alone. `Err` in the result is the encoding that a text
/// with NUL bytes seems to have.
pub(super) fn decoded(
    mut reader: Box<dyn BufRead + Send>,
    asked: Option<Encoding>,
) -> io::Result<Result<DecodedText, Encoding>> {
    let mut head = Vec::with_capacity(4);
    Read::by_ref(&mut reader).take(4).read_to_end(&mut head)?;
    let (mark, encoding) = match head.as_slice() {
        [0xef, 0xbb, 0xbf, ..] => (3, Encoding::Utf8),
        [0xff, 0xfe, ..] => (2, Encoding::Utf16Le),
        [0xfe, 0xff, ..] => (2, Encoding::Utf16Be),
        [0, byte, ..] if *byte != 0 && asked.is_none() => return Ok(Err(Encoding::Utf16Be)),
        [byte, 0, ..] if *byte != 0 && asked.is_none() => return Ok(Err(Encoding::Utf16Le)),
        _ => (0, asked.unwrap_or(Encoding::Utf8)),
    };
    let rest = Cursor::new(head.split_off(mark)).chain(reader);
    Ok(Ok(if encoding == Encoding::Utf8 {
        DecodedText { reader: Box::new(rest), is_converted: false }
    } else {
        let decoder = Decoder::new(Box::new(rest), encoding);
        DecodedText { reader: Box::new(BufReader::new(decoder)), is_converted: true }
    }))
}

/// The characters that `bytes` are in code page 1252.
pub(super) fn from_windows_1252(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| windows_1252(*byte)).collect()
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Turns the bytes of an encoding into those of UTF-8, piece by piece.
///
/// Half a surrogate pair becomes bytes that UTF-8 does not have: the row that has it is refused, not the table.
struct Decoder {
    reader: Box<dyn BufRead + Send>,
    encoding: Encoding,
    /// The first byte of a unit of UTF-16, and the first unit of a pair.
    byte: Option<u8>,
    high: Option<u16>,
    decoded: Vec<u8>,
    given: usize,
}

impl Decoder {
    fn new(reader: Box<dyn BufRead + Send>, encoding: Encoding) -> Decoder {
        Decoder { reader, encoding, byte: None, high: None, decoded: Vec::new(), given: 0 }
    }

    /// Decodes the next piece; `false` at the end.
    fn refill(&mut self) -> io::Result<bool> {
        self.decoded.clear();
        self.given = 0;
        let buffer = self.reader.fill_buf()?;
        let piece = buffer[..buffer.len().min(PIECE_BYTES)].to_vec();
        self.reader.consume(piece.len());
        for byte in &piece {
            match self.encoding {
                Encoding::Utf8 => self.decoded.push(*byte),
                Encoding::Latin1 => self.push(char::from(*byte)),
                Encoding::Windows1252 => self.push(windows_1252(*byte)),
                Encoding::Utf16Le | Encoding::Utf16Be => self.push_byte(*byte),
            }
        }
        if piece.is_empty() {
            if let Some(high) = self.high.take() {
                self.push_lone(high);
            }
            if self.byte.take().is_some() {
                self.decoded.push(0xff);
            }
        }
        Ok(!piece.is_empty() || !self.decoded.is_empty())
    }

    fn push(&mut self, character: char) {
        self.decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn push_byte(&mut self, byte: u8) {
        let Some(first) = self.byte.take() else {
            self.byte = Some(byte);
            return;
        };
        let unit = match self.encoding {
            Encoding::Utf16Be => u16::from_be_bytes([first, byte]),
            _ => u16::from_le_bytes([first, byte]),
        };
        if let Some(high) = self.high.take() {
            if let Some(Ok(character)) = char::decode_utf16([high, unit]).next() {
                return self.push(character);
            }
            self.push_lone(high);
        }
        match char::from_u32(u32::from(unit)) {
            Some(character) => self.push(character),
            None if unit < 0xdc00 => self.high = Some(unit),
            None => self.push_lone(unit),
        }
    }

    fn push_lone(&mut self, unit: u16) {
        let [high, low] = unit.to_be_bytes();
        let middle = 0x80 | ((high & 0x0f) << 2) | (low >> 6);
        self.decoded.extend([0xe0 | (high >> 4), middle, 0x80 | (low & 0x3f)]);
    }
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.decoded.len() {
            if !self.refill()? {
                return Ok(0);
            }
        }
        let waiting = &self.decoded[self.given..];
        let length = waiting.len().min(buffer.len());
        buffer[..length].copy_from_slice(&waiting[..length]);
        self.given += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: Vec<u8>, asked: Option<Encoding>) -> Vec<u8> {
        // Small pieces: a unit may lie across two of them.
        let reader = BufReader::with_capacity(3, Cursor::new(bytes));
        let mut text = decoded(Box::new(reader), asked).unwrap().ok().unwrap();
        let mut read = Vec::new();
        text.reader.read_to_end(&mut read).unwrap();
        read
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn a_mark_wins_over_what_was_asked_for() {
        let text = "ação — “x” 𝄞";
        let marked = format!("\u{feff}{text}");
        let asked = Some(Encoding::Windows1252);
        assert_eq!(read(marked.clone().into_bytes(), asked), text.as_bytes());
        assert_eq!(read(utf16(&marked, u16::to_le_bytes), asked), text.as_bytes());
        assert_eq!(read(utf16(&marked, u16::to_be_bytes), asked), text.as_bytes());
        assert_eq!(read(b"a\xe7\xe3o \x97 \x93".to_vec(), asked), "ação — “".as_bytes());
        assert_eq!(read(b"\xe7\x97".to_vec(), Some(Encoding::Latin1)), "ç\u{97}".as_bytes());
        assert_eq!(read(b"\xe7".to_vec(), None), b"\xe7", "for its row to be refused");
    }

    #[test]
    fn halves_of_pairs_are_not_text() {
        for units in [&[0xd834][..], &[0xd834, 0x61], &[0xdd1e, 0x61]] {
            let bytes = units.iter().flat_map(|unit| u16::to_le_bytes(*unit)).collect();
            let read = read(bytes, Some(Encoding::Utf16Le));
            assert!(std::str::from_utf8(&read).is_err(), "{units:x?}");
        }
        let odd = read(b"a\0b".to_vec(), Some(Encoding::Utf16Le));
        assert_eq!(odd, b"a\xff");
        let found = |bytes: &'static [u8]| decoded(Box::new(bytes), None).unwrap().err();
        assert_eq!(found(b"p\0a\0"), Some(Encoding::Utf16Le));
        assert_eq!(found(b"\0p\0a"), Some(Encoding::Utf16Be));
        assert_eq!(found(b"pa"), None);
    }

    proptest! {
        #[test]
        fn every_text_is_read_back(text: String) {
            let le = read(utf16(&text, u16::to_le_bytes), Some(Encoding::Utf16Le));
            let be = read(utf16(&text, u16::to_be_bytes), Some(Encoding::Utf16Be));
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            prop_assert_eq!(&le, text.as_bytes());
            prop_assert_eq!(&be, text.as_bytes());
        }
    }
}
