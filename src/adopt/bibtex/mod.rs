//! A small reader of BibTeX, for the `@reference.bib` of archives of the nineties.
//!
//! [`read`] splits a file into entries, [`to_text`] turns LaTeX into plain text, and [`plain`] does so for
//! file names and URLs. Nothing is refused: text that is not understood is returned unchanged. References in the form of
//! `refer` get the same fields.

mod latex;
mod reader;
mod refer;

pub(super) use latex::{names, plain, to_text};
pub(super) use reader::{Field, Library, Reference};

/// Splits `text` into entries, or into references in the form of refer.
pub(super) fn read(text: &str) -> Library {
    let library = reader::read(text);
    if library.references.is_empty() { refer::read(text).unwrap_or(library) } else { library }
}

/// The text of a file, which is UTF-8 or, in older files, Latin-1; and whether it was UTF-8.
pub(super) fn decode(bytes: &[u8]) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.trim_start_matches('\u{feff}').to_owned(), true),
        Err(_) => (bytes.iter().map(|byte| char::from(*byte)).collect(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a file and every field in it.
    fn digest_all(text: &str) -> usize {
        let library = read(text);
        let fields = library.references.iter().flat_map(|reference| &reference.fields);
        let values = fields.filter_map(|field| field.value.as_deref());
        values
            .map(|value| to_text(value).0.len() + plain(value).len() + names(value).len())
            .sum::<usize>()
            + library.unread.len()
    }

    proptest! {
        #[test]
        fn nothing_panics_on_any_text(text in "\\PC{0,200}") {
            digest_all(&text);
        }

        #[test]
        fn nothing_panics_on_what_looks_like_bibtex(
            pieces in proptest::collection::vec(
                prop::sample::select(vec![
                    "@article", "@string", "@comment", "{", "}", "(", ")", "\"", "#", "=", ",", "\\",
                    "\\'", "\\c", "\\\"", "~", "$", "--", " and ", "key", "title", "1999", "jan", "é",
                    "\n", " ", "\\i", "\\textit", "@", "%", "\u{301}",
                ]),
                0..80,
            )
        ) {
            digest_all(&pieces.concat());
        }

        #[test]
        fn nothing_panics_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            digest_all(&decode(&bytes).0);
        }

        #[test]
        fn plain_text_comes_through(text in "[A-Za-zà-ü0-9.,:;()/]{1,20}( [A-Za-zà-ü0-9]{1,9}){0,5}") {
            let entry = format!("@misc{{k, title = {{{text}}}}}");
            let library = read(&entry);
            let value = library.references[0].fields[0].value.clone().unwrap();
            prop_assert_eq!(to_text(&value), (text, true));
        }
    }

    #[test]
    fn hostile_files_take_no_time_and_no_memory() {
        let many = |text: &str, count: usize| text.repeat(count);
        for text in [
            many("{", 1 << 20),
            many("@a{", 1 << 18),
            many("\n@a{k,b={", 1 << 17),
            many("@a{k,b=\"", 1 << 17),
            many("@comment{", 1 << 17),
            format!("@a{{k, b = {{{}}}}}", many("\\'{", 1 << 14) + &many("}", 1 << 14)),
            (0..60).fold("@string{s0=\"xxxxxxxx\"}".to_owned(), |text, at| {
                text + &format!("@string{{s{}=s{at}#s{at}}}", at + 1)
            }) + "@misc{k, title = s60}",
        ] {
            digest_all(&text);
        }
    }

    #[test]
    fn old_files_are_latin_1() {
        assert_eq!(decode(b"S\xe3o"), ("São".to_owned(), false));
        assert_eq!(decode("\u{feff}São".as_bytes()), ("São".to_owned(), true));
    }
}
