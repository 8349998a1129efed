//! The one form in which words are searched: the texts of items and those of people alike.
//!
//! Case and accents do not count, nor do the points of Hebrew and Arabic, and letters that other alphabets have not are spelt as
//! most people type them: `ł` is `l`, and `æ` is `ae`. A mark that makes another letter counts: kana with and without voice marks,
//! and the vowels of India and South-East Asia. In scripts that write long words or no blanks, each two neighbours are a token, so
//! that any two letters find a text.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::item::twins::fold;

/// Letters that no normal form takes apart.
const SPELT: [(char, &str); 9] = [
    ('ł', "l"),
    ('ø', "o"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ı', "i"),
    ('ħ', "h"),
];

/// The text without case and accents.
pub(super) fn plain(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let counts = |it: &char| !is_combining_mark(*it) || makes_another_letter(*it);
    let bare: String = text.nfkd().filter(counts).collect();
    let folded = fold(&bare);
    let mut plain = String::with_capacity(folded.len());
    for letter in folded.chars() {
        match SPELT.iter().find(|(known, _)| *known == letter) {
            Some((_, spelt)) => plain.push_str(spelt),
            None => plain.push(letter),
        }
    }
    plain
}

/// The words of a text, with a blank between two.
pub(super) fn words(text: &str) -> String {
    let plain = plain(text);
    let mut words = String::with_capacity(plain.len());
    for run in plain.split(|it: char| !it.is_alphanumeric() && !makes_another_letter(it)) {
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            let is_unparted = parts_no_words(first);
            let end = rest.find(|it| parts_no_words(it) != is_unparted).unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            if is_unparted {
                push_pairs(&mut words, part);
            } else {
                push(&mut words, part);
            }
            rest = after;
        }
    }
    words
}

fn push(words: &mut String, word: &str) {
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(word);
}

/// Each two neighbours, or a single letter.
fn push_pairs(words: &mut String, letters: &str) {
    let starts: Vec<_> = letters.char_indices().map(|(at, _)| at).chain([letters.len()]).collect();
    if let [_, _] = starts[..] {
        push(words, letters);
    }
    for pair in starts.windows(3) {
        push(words, &letters[pair[0]..pair[2]]);
    }
}

/// Whether a mark makes another letter: the voice marks of kana, and the signs of the scripts from Devanagari to Khmer.
fn makes_another_letter(mark: char) -> bool {
    matches!(mark, '\u{3099}' | '\u{309a}')
        || (matches!(mark, '\u{0900}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
            && is_combining_mark(mark))
}

/// Whether the script of a letter writes no blanks between words, or long words: Han, kana, Hangul, Thai, Lao, Burmese and Khmer.
fn parts_no_words(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{30ff}'
        | '\u{3130}'..='\u{318f}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// The end of an identifier as one token: a part of one, such as `2026`, is found by none of its own.
pub(super) fn end_of_name(text: &str) -> String {
    let text = text.trim_start_matches('/').to_ascii_lowercase();
    text.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { JOIN }).collect()
}

/// In place of dots and slashes, which part tokens.
const JOIN: char = '\u{e001}';

/// Whether the last of the folded `words` is a single letter of which texts have pairs.
pub(super) fn is_half_a_pair(words: &str) -> bool {
    let last = words.rsplit(' ').next().unwrap_or_default();
    let mut letters = last.chars();
    letters.next().is_some_and(parts_no_words) && letters.next().is_none()
}

/// Whether `text` has the folded words `wanted`, whole and in this order; the last of them may only begin so.
pub(super) fn has_words(text: &str, wanted: &str, begins: bool) -> bool {
    let text = words(text);
    if wanted.is_empty() {
        return false;
    }
    let ends = |rest: &str| begins || rest.is_empty() || rest.starts_with(' ');
    let mut rest = &*text;
    loop {
        if rest.strip_prefix(wanted).is_some_and(ends) {
            return true;
        }
        match rest.split_once(' ') {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_and_letters_of_other_alphabets_do_not_count() {
        for (text, expected) in [
            ("Relatório ANUAL", "relatorio anual"),
            ("relato\u{301}rio", "relatorio"),
            ("Łódź Øre Æsir Œuvre Straße", "lodz ore aesir oeuvre strasse"),
            ("ΣΟΦΟΣ σοφός", "σοφοσ σοφοσ"),
            ("ＦＵＬＬ　ｗｉｄｔｈ ①", "full width 1"),
            ("İstanbul ısı", "istanbul isi"),
            ("letter_1.tif (box/2)", "letter 1 tif box 2"),
            ("深海 生物", "深海 生物"),
            ("東京都の地図", "東京 京都 都の の地 地図"),
            ("第3巻", "第 3 巻"),
            ("서울시", "서울 울시"),
            ("パリ", "パリ"),
            ("バリ", "バリ"),
            ("की का", "की का"),
            ("שָׁלוֹם", "שלום"),
            ("!!! --", ""),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn words_are_whole_and_in_order() {
        for (text, wanted, expected) in [
            ("Box 1, folder 2", "Box 2", false),
            ("Box 1, folder 2", "box 1", true),
            ("Box 1, folder 2", "folder 2", true),
            ("Box 12", "box 1", false),
            ("170", "17", false),
            ("東京都の地図", "都の地", true),
            ("東京都の地図", "地都", false),
            ("anything", "!", false),
        ] {
            assert_eq!(has_words(text, &words(wanted), false), expected, "{text}: {wanted}");
        }
        assert!(has_words("Box 12", "box 1", true));
        assert!(is_half_a_pair("box 京") && !is_half_a_pair("京都") && !is_half_a_pair("b"));
    }
}
