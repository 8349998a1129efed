//! Encodings of tables: every text is converted to UTF-8.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use encoding_rs::DecoderResult;

/// The encoding of a table. A byte order mark takes precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, the lower byte first.
    Utf16Le,
    /// UTF-16, the higher byte first.
    Utf16Be,
    /// Code page 1252 of Windows: Latin-1 with quotation marks and dashes.
    Windows1252,
}

/// The byte order mark of UTF-8.
pub(super) const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// A text as UTF-8.
pub(super) struct DecodedText {
    pub reader: Box<dyn BufRead + Send>,
    /// Whether its bytes differ from those of the file.
    pub is_converted: bool,
}

/// The text from `reader`, without a byte order mark.
///
/// UTF-8 passes unchecked, so that only a wrong row is refused. The inner `Err` is the probable encoding of a
/// text with NUL bytes.
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
    let encoding = match encoding {
        Encoding::Utf8 => {
            return Ok(Ok(DecodedText { reader: Box::new(rest), is_converted: false }));
        }
        Encoding::Utf16Le => encoding_rs::UTF_16LE,
        Encoding::Utf16Be => encoding_rs::UTF_16BE,
        Encoding::Windows1252 => encoding_rs::WINDOWS_1252,
    };
    let decoder = Decoder::new(Box::new(rest), encoding);
    Ok(Ok(DecodedText { reader: Box::new(BufReader::new(decoder)), is_converted: true }))
}

/// Decodes `bytes` in code page 1252.
pub(super) fn from_windows_1252(bytes: &[u8]) -> String {
    encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned()
}

/// Half a surrogate pair in the form of UTF-8, which is invalid in every text.
const NOT_A_CHARACTER: [u8; 3] = [0xed, 0xa0, 0x80];

/// Converts bytes of an encoding to UTF-8, piece by piece.
///
/// An invalid sequence becomes bytes that are invalid in UTF-8: its row is refused, not the table.
struct Decoder {
    reader: Box<dyn BufRead + Send>,
    state: encoding_rs::Decoder,
    decoded: Vec<u8>,
    given: usize,
    is_at_end: bool,
}

impl Decoder {
    fn new(reader: Box<dyn BufRead + Send>, encoding: &'static encoding_rs::Encoding) -> Decoder {
        let state = encoding.new_decoder_without_bom_handling();
        Decoder { reader, state, decoded: Vec::new(), given: 0, is_at_end: false }
    }

    /// Decodes the next piece, which may end within a character.
    fn refill(&mut self) -> io::Result<()> {
        let mut piece = self.reader.fill_buf()?;
        self.is_at_end = piece.is_empty();
        let (length, mut end) = (piece.len(), 0);
        // A byte becomes three at most, and each call may add a character of the last piece.
        self.decoded.resize(3 * length + 16, 0);
        loop {
            let into = &mut self.decoded[end..];
            let (result, read, written) =
                self.state.decode_to_utf8_without_replacement(piece, into, self.is_at_end);
            piece = &piece[read..];
            end += written;
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    self.decoded.splice(end..end, NOT_A_CHARACTER);
                    end += NOT_A_CHARACTER.len();
                }
            }
            self.decoded.resize(end + 3 * piece.len() + 16, 0);
        }
        self.decoded.truncate(end);
        self.given = 0;
        self.reader.consume(length);
        Ok(())
    }
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.decoded.len() && !self.is_at_end {
            self.refill()?;
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
        assert_eq!(odd, [b"a", &NOT_A_CHARACTER[..]].concat());
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
