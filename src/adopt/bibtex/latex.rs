//! LaTeX as plain text: accents, symbols, dashes and quotes.

use unicode_normalization::UnicodeNormalization;

/// Limit on nested accents.
const MAX_DEPTH: usize = 8;

/// `raw` as plain text on one line, and whether all of it was understood.
///
/// Of a command that is not known, the text in its braces stays: most commands only say how their text looks. A name that
/// is glued to its text, as in `\\mkbibquoteIntention`, would be neither the text nor the command.
pub(in crate::adopt) fn to_text(raw: &str) -> (String, bool) {
    let reader = LatexReader::of(raw, 0);
    let composed: String = reader.text.nfc().collect();
    let words: Vec<_> = composed.split_whitespace().collect();
    match (words.join(" "), reader.is_whole) {
        // A text of unknown commands alone is better than none.
        (text, false) if text.is_empty() => (raw.trim().to_owned(), false),
        read => read,
    }
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
    /// The reader at the end of `raw`, which is `depth` groups deep.
    fn of(raw: &'a str, depth: usize) -> LatexReader<'a> {
        let text = String::with_capacity(raw.len());
        let mut reader = LatexReader { rest: raw, text, is_whole: true };
        reader.read(depth);
        reader
    }

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
                (_, Some(mark)) => self.accented(mark, depth),
                ('&' | '%' | '$' | '#' | '_' | '{' | '}', _) => self.text.push(first),
                ('-' | '/' | '@', _) => {}
                ('\\' | ',' | ';' | ':' | '!', _) => self.text.push(' '),
                (space, _) if space.is_whitespace() => self.text.push(' '),
                _ => self.unknown(depth),
            }
            return;
        }
        let after = self.rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let name = &self.rest[..self.rest.len() - after.len()];
        self.rest = after;
        if let Some(mark) = accent(name) {
            return self.accented(mark, depth);
        }
        if let Some(symbol) = symbol(name) {
            self.text.push_str(symbol);
            self.rest = self.rest.trim_start();
        } else if STYLES.contains(&name) {
            self.rest = self.rest.trim_start();
        } else {
            self.unknown(depth);
        }
    }

    /// Takes the text of the groups of an unknown command, whose name was read, without its options in brackets.
    fn unknown(&mut self, depth: usize) {
        self.is_whole = false;
        self.rest = self.rest.strip_prefix('*').unwrap_or(self.rest);
        if self.rest.starts_with('[')
            && let Some((_, after)) = self.rest.split_once(']')
            && after.starts_with('{')
        {
            self.rest = after;
        }
        // Deeper groups are read without a new reader: only their braces go.
        while depth < MAX_DEPTH && self.rest.starts_with('{') {
            let Some(group) = self.argument() else { return };
            let inner = LatexReader::of(group, depth + 1);
            self.text.push_str(&inner.text);
            // `\href{ADDRESS}{TEXT}` is two texts.
            if self.rest.starts_with('{') && !inner.text.is_empty() {
                self.text.push(' ');
            }
        }
    }

    /// Puts the accent `mark` on the next letter, group, or command such as `\i`.
    fn accented(&mut self, mark: char, depth: usize) {
        let argument = if depth < MAX_DEPTH { self.argument() } else { None };
        let Some(argument) = argument else {
            self.is_whole = false;
            return;
        };
        let inner = LatexReader::of(argument, depth + 1);
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
                // There is no letter below the accent.
                self.is_whole = false;
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
        "textquotedblleft" | "grqq" => "“",
        "textquotedblright" => "”",
        "textordfeminine" => "ª",
        "textordmasculine" => "º",
        "textdegree" => "°",
        "textregistered" => "®",
        "textbackslash" => "\\",
        "textasciitilde" => "~",
        "textunderscore" => "_",
        "slash" => "/",
        "textasciicircum" => "^",
        "textbraceleft" => "{",
        "textbraceright" => "}",
        "textbar" => "|",
        "textless" => "<",
        "textgreater" => ">",
        "texttrademark" => "™",
        "texteuro" | "euro" => "€",
        "textmu" => "µ",
        "guillemotleft" | "guillemetleft" | "flqq" => "«",
        "guillemotright" | "guillemetright" | "frqq" => "»",
        "quotedblbase" | "glqq" => "„",
        "DH" => "Ð",
        "DJ" => "Đ",
        "dj" => "đ",
        "NG" => "Ŋ",
        "ng" => "ŋ",
        "BibTeX" => "BibTeX",
        "LaTeX" => "LaTeX",
        "TeX" => "TeX",
        _ => return None,
    })
}

/// Commands that only change how text looks.
const STYLES: [&str; 36] = [
    "emph",
    "textit",
    "textbf",
    "textsc",
    "textrm",
    "texttt",
    "textsf",
    "textsl",
    "textup",
    "text",
    "mbox",
    "hbox",
    "em",
    "it",
    "bf",
    "sc",
    "rm",
    "tt",
    "sf",
    "sl",
    "url",
    "noopsort",
    "relax",
    "protect",
    "textsubscript",
    "textsuperscript",
    "textnormal",
    "textmd",
    "underline",
    "uppercase",
    "lowercase",
    "autocap",
    "mkbibemph",
    "mkbibitalic",
    "mkbibbold",
    "mkbibparens",
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
            (
                "H\\textsubscript{2}O, CO\\textsubscript2, \\textbraceleft{}x\\textbraceright{}",
                "H2O, CO2, {x}",
            ),
        ] {
            assert_eq!(to_text(raw), (text.to_owned(), true), "{raw}");
        }
    }

    #[test]
    fn of_unknown_commands_the_text_stays() {
        for (raw, text) in [
            ("a \\frobnicate{b} c", "a b c"),
            ("\\mkbibquote{Begriff} und \\frob{}Anschauung", "Begriff und Anschauung"),
            (
                "\\href{https://example.org/}{Atlas} \\color[rgb]{red}{x}",
                "https://example.org/ Atlas red x",
            ),
            ("\\outer{\\inner{São \\'Ecole}}", "São École"),
            ("\\frobnicate*{b}[c]", "b[c]"),
            ("\\frobnicate", "\\frobnicate"),
            ("\\'", "\\'"),
            ("a \\*x", "a x"),
            ("a\\c{}", "a"),
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
