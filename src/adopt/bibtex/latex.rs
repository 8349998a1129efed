//! LaTeX as plain text: accents, symbols, dashes and quotes.

use unicode_normalization::UnicodeNormalization;

/// Limit on nested accents.
const MAX_DEPTH: usize = 8;

/// `raw` as plain text on one line, and whether all of it was understood. A command that is not known stays
/// unchanged.
pub(in crate::adopt) fn to_text(raw: &str) -> (String, bool) {
    let mut reader =
        LatexReader { rest: raw, text: String::with_capacity(raw.len()), is_whole: true };
    reader.read(0);
    let composed: String = reader.text.nfc().collect();
    let words: Vec<_> = composed.split_whitespace().collect();
    (words.join(" "), reader.is_whole)
}

/// Text that is not prose, such as a URL: without braces and escapes.
pub(in crate::adopt) fn plain(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut characters = raw.trim().chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '{' | '}' => {}
            '\\' if characters.peek().is_some_and(|next| "_%&#~$".contains(*next)) => {}
            _ => text.push(character),
        }
    }
    text
}

/// The names in a list, `One and Another`, still as LaTeX.
pub(in crate::adopt) fn names(raw: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let (mut depth, mut start, mut after_space) = (0_usize, 0, false);
    for (at, character) in raw.char_indices() {
        let begins_space = character.is_whitespace() && !after_space;
        after_space = character.is_whitespace();
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && at >= start && begins_space => {
                let after = raw[at..].trim_start();
                let word = after.get(..3).filter(|word| word.eq_ignore_ascii_case("and"));
                if word.is_some() && after[3..].starts_with(char::is_whitespace) {
                    names.push(&raw[start..at]);
                    start = raw.len() - after.len() + 3;
                }
            }
            _ => {}
        }
    }
    names.push(raw.get(start..).unwrap_or_default());
    names.into_iter().map(str::trim).filter(|name| !name.is_empty()).collect()
}

struct LatexReader<'a> {
    rest: &'a str,
    text: String,
    is_whole: bool,
}

impl<'a> LatexReader<'a> {
    fn read(&mut self, depth: usize) {
        while let Some(character) = self.next() {
            match character {
                '\\' => self.command(depth),
                '{' | '}' => {}
                '~' => self.text.push(' '),
                '-' => self.run('-', &["-", "–", "—"]),
                '`' => self.run('`', &["‘", "“"]),
                '\'' => self.run('\'', &["'", "”"]),
                '$' => self.formula(),
                _ => self.text.push(character),
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    /// A run of one to three equal characters, the first of which was read.
    fn run(&mut self, character: char, meanings: &[&str]) {
        let after = self.rest.trim_start_matches(character);
        let count = self.rest.len() - after.len();
        match meanings.get(count) {
            Some(meaning) => self.text.push_str(meaning),
            None => self.text.extend(std::iter::repeat_n(character, count + 1)),
        }
        self.rest = after;
    }

    /// A formula stays unchanged.
    fn formula(&mut self) {
        self.text.push('$');
        if let Some(end) = self.rest.find('$') {
            let (formula, after) = self.rest.split_at(end + 1);
            self.text.push_str(formula);
            self.rest = after;
        }
    }

    fn command(&mut self, depth: usize) {
        let Some(first) = self.rest.chars().next() else {
            self.text.push('\\');
            return;
        };
        if !first.is_ascii_alphabetic() {
            self.next();
            match (first, accent(&first.to_string())) {
                (_, Some(mark)) => self.accented(mark, depth, &first.to_string()),
                ('&' | '%' | '$' | '#' | '_' | '{' | '}', _) => self.text.push(first),
                ('-' | '/' | '@', _) => {}
                ('\\' | ',' | ';' | ':' | '!', _) => self.text.push(' '),
                (space, _) if space.is_whitespace() => self.text.push(' '),
                (unknown, _) => self.unknown(&unknown.to_string()),
            }
            return;
        }
        let after = self.rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let name = &self.rest[..self.rest.len() - after.len()];
        self.rest = after;
        if let Some(mark) = accent(name) {
            return self.accented(mark, depth, name);
        }
        if let Some(symbol) = symbol(name) {
            self.text.push_str(symbol);
            self.rest = self.rest.trim_start();
        } else if STYLES.contains(&name) {
            self.rest = self.rest.trim_start();
        } else {
            self.unknown(name);
        }
    }

    fn unknown(&mut self, name: &str) {
        self.is_whole = false;
        self.text.push('\\');
        self.text.push_str(name);
    }

    /// Puts the accent `mark` on the next letter, group, or command such as `\i`.
    fn accented(&mut self, mark: char, depth: usize, name: &str) {
        let argument = if depth < MAX_DEPTH { self.argument() } else { None };
        let Some(argument) = argument else { return self.unknown(name) };
        let mut inner = LatexReader { rest: argument, text: String::new(), is_whole: true };
        inner.read(depth + 1);
        self.is_whole &= inner.is_whole;
        let mut letters = inner.text.chars();
        match letters.next() {
            Some(letter) if !letter.is_whitespace() => {
                self.text.push(match letter {
                    'ı' => 'i',
                    'ȷ' => 'j',
                    letter => letter,
                });
                self.text.push(mark);
                self.text.push_str(letters.as_str());
            }
            _ => {
                self.unknown(name);
                self.text.push_str(&inner.text);
            }
        }
    }

    fn argument(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_start();
        let end = match self.rest.chars().next()? {
            '{' => end_of_group(self.rest)?,
            '\\' => {
                let name = &self.rest[1..];
                let letters = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
                match name.len() - letters.len() {
                    0 => 1 + name.chars().next().map_or(0, char::len_utf8),
                    letters => 1 + letters,
                }
            }
            '}' => return None,
            letter => letter.len_utf8(),
        };
        let (argument, after) = self.rest.split_at(end);
        self.rest = after;
        Some(argument)
    }
}

/// The end of the group at the beginning of `text`.
fn end_of_group(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(at + 1),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The combining character of an accent.
fn accent(name: &str) -> Option<char> {
    Some(match name {
        "`" => '\u{300}',
        "'" => '\u{301}',
        "^" => '\u{302}',
        "~" => '\u{303}',
        "=" => '\u{304}',
        "u" => '\u{306}',
        "." => '\u{307}',
        "\"" => '\u{308}',
        "r" => '\u{30a}',
        "H" => '\u{30b}',
        "v" => '\u{30c}',
        "d" => '\u{323}',
        "c" => '\u{327}',
        "k" => '\u{328}',
        "b" => '\u{331}',
        _ => return None,
    })
}

fn symbol(name: &str) -> Option<&'static str> {
    Some(match name {
        "i" => "ı",
        "j" => "ȷ",
        "ss" => "ß",
        "ae" => "æ",
        "AE" => "Æ",
        "oe" => "œ",
        "OE" => "Œ",
        "o" => "ø",
        "O" => "Ø",
        "l" => "ł",
        "L" => "Ł",
        "aa" => "å",
        "AA" => "Å",
        "dh" => "ð",
        "th" => "þ",
        "TH" => "Þ",
        "S" => "§",
        "P" => "¶",
        "copyright" => "©",
        "pounds" => "£",
        "ldots" | "dots" | "textellipsis" => "…",
        "textendash" => "–",
        "textemdash" => "—",
        "textquoteleft" => "‘",
        "textquoteright" => "’",
        "textquotedblleft" => "“",
        "textquotedblright" => "”",
        "textordfeminine" => "ª",
        "textordmasculine" => "º",
        "textdegree" => "°",
        "textregistered" => "®",
        "textbackslash" => "\\",
        "textasciitilde" => "~",
        "textunderscore" => "_",
        "slash" => "/",
        "LaTeX" => "LaTeX",
        "TeX" => "TeX",
        _ => return None,
    })
}

/// Commands that only change how text looks.
const STYLES: [&str; 24] = [
    "emph", "textit", "textbf", "textsc", "textrm", "texttt", "textsf", "textsl", "textup", "text",
    "mbox", "hbox", "em", "it", "bf", "sc", "rm", "tt", "sf", "sl", "url", "noopsort", "relax",
    "protect",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_symbols_and_dashes() {
        for (raw, text) in [
            ("Ger{\\^e}ncia de informa{\\c c}{\\~a}o", "Gerência de informação"),
            ("\\'{e} {\\'e} \\'e \\'\\i {\\'{\\i}}", "é é é í í"),
            ("S{\\~{a}}o Jos\\'e dos Campos", "São José dos Campos"),
            (
                "M\\\"uller, {\\AA}ngstr{\\\"o}m, {\\o}re, Stra{\\ss}e",
                "Müller, Ångström, øre, Straße",
            ),
            ("\\v{C}ech \\H{o} \\k a", "Čech ő ą"),
            ("pages 1--7 --- and a-b", "pages 1–7 — and a-b"),
            ("``quoted'' `one' it's", "“quoted” ‘one' it's"),
            ("A \\& B, 50\\%, \\$5, a\\_b, \\#1", "A & B, 50%, $5, a_b, #1"),
            ("The {INPE} \\emph{archive} of~{\\it all}", "The INPE archive of all"),
            ("two\n   lines\\\\ more", "two lines more"),
            ("$\\alpha_1$ rays", "$\\alpha_1$ rays"),
            ("2\\textordfeminine{} ed.", "2ª ed."),
            ("already é", "already é"),
        ] {
            assert_eq!(to_text(raw), (text.to_owned(), true), "{raw}");
        }
    }

    #[test]
    fn unknown_commands_stay_and_are_told() {
        for (raw, text) in [
            ("a \\frobnicate{b} c", "a \\frobnicateb c"),
            ("\\'", "\\'"),
            ("\\*x", "\\*x"),
            ("\\c{}", "\\c"),
        ] {
            assert_eq!(to_text(raw), (text.to_owned(), false), "{raw}");
        }
    }

    #[test]
    fn lists_of_names() {
        let raw = "Banon, Gerald Jean Francis and Banon, Lise\n AND {Barnes and Noble} and others";
        let expected =
            ["Banon, Gerald Jean Francis", "Banon, Lise", "{Barnes and Noble}", "others"];
        assert_eq!(names(raw), expected);
        assert_eq!(names("Anders and Brandy"), ["Anders", "Brandy"]);
        assert_eq!(names("Only"), ["Only"]);
        assert_eq!(names("  and  "), [""; 0]);
        assert_eq!(names(""), [""; 0]);
    }

    #[test]
    fn file_names_keep_their_characters() {
        assert_eq!(plain("{a\\_b--c~d}.pdf"), "a_b--c~d.pdf");
    }
}
