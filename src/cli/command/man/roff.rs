//! Text for the `man` macros, free of warnings by `mandoc -Tlint`.

/// A page that is being written.
#[derive(Default)]
pub(super) struct Roff {
    text: String,
    /// A heading or a tag was just written: a paragraph break would have no effect.
    fresh: bool,
}

/// Lines of the source are broken at this width, so that changing a word changes little of the page.
const WIDTH: usize = 76;

impl Roff {
    pub(super) fn title(&mut self, name: &str, section: u8, date: &str, version: &str) {
        let name = name.to_uppercase();
        self.line(&format!(
            ".TH {name} {section} {date} \"urepo {version}\" \"Uniform repositories\""
        ));
        // Commands and options are not hyphenated: a reader may paste them.
        self.line(".nh");
    }

    pub(super) fn section(&mut self, heading: &str) {
        self.line(&format!(".SH \"{}\"", escape(&heading.to_uppercase())));
        self.fresh = true;
    }

    pub(super) fn subsection(&mut self, heading: &str) {
        self.line(&format!(".SS \"{}\"", escape(heading)));
        self.fresh = true;
    }

    /// A paragraph of prose: `code`, flags and pages of the manual in it are set in bold.
    pub(super) fn paragraph(&mut self, prose: &str) {
        if !self.fresh {
            self.line(".PP");
        }
        self.fill(&marked_up(prose));
    }

    /// A tag with its description, indented below it. `tag` is markup, `prose` is not.
    pub(super) fn tagged(&mut self, tag: &str, prose: &str) {
        self.line(".TP");
        self.line(tag);
        self.fill(&marked_up(prose));
    }

    pub(super) fn bullet(&mut self, prose: &str) {
        self.line(".IP \\(bu 2");
        self.fill(&marked_up(prose));
    }

    /// Indents the text up to [`Roff::outdent`] below the last tag.
    pub(super) fn indent(&mut self) {
        self.line(".RS");
    }

    pub(super) fn outdent(&mut self) {
        self.line(".RE");
    }

    /// Literal lines.
    pub(super) fn verbatim<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        self.line(".nf");
        for line in lines {
            self.line(&protected(&escape(line)));
        }
        self.line(".fi");
    }

    /// Marked up text, broken between words.
    pub(super) fn fill(&mut self, markup: &str) {
        let mut line = String::new();
        for word in markup.split_whitespace() {
            if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
                self.line(&protected(&line));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        self.line(&protected(&line));
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.text += line;
            self.text.push('\n');
        }
        self.fresh = false;
    }
}

pub(super) fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escape(text))
}

pub(super) fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", escape(text))
}

/// Characters with a meaning to roff. The backslash is last: it begins the others.
const ESCAPES: [(char, &str); 7] = [
    ('-', "\\-"),
    ('\'', "\\(aq"),
    ('"', "\\(dq"),
    ('`', "\\(ga"),
    ('^', "\\(ha"),
    ('~', "\\(ti"),
    ('\\', "\\e"),
];

/// Literal text.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match ESCAPES.iter().find(|(it, _)| *it == character) {
            Some((_, escape)) => escaped += escape,
            None if (' '..='}').contains(&character) => escaped.push(character),
            None => escaped += &format!("\\[u{:04X}]", u32::from(character)),
        }
    }
    escaped
}

/// The text of a line, without fonts.
pub(super) fn unescaped(line: &str) -> String {
    let mut text = line.to_owned();
    for font in ["\\fB", "\\fI", "\\fR", "\\&"] {
        text = text.replace(font, "");
    }
    while let Some((before, after)) = text.split_once("\\[u")
        && let Some((code, after)) = after.split_once(']')
    {
        let character = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
        text = format!("{before}{}{after}", character.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    for (character, escape) in ESCAPES {
        text = text.replace(escape, character.encode_utf8(&mut [0; 4]));
    }
    text
}

/// A full stop at the begin of a line is a macro to roff.
fn protected(line: &str) -> String {
    if line.starts_with('.') { format!("\\&{line}") } else { line.to_owned() }
}

/// Prose from comments and help: text in backticks becomes bold.
fn marked_up(prose: &str) -> String {
    let mut markup = String::new();
    for (at, part) in prose.split('`').enumerate() {
        match at % 2 {
            0 => markup += &flags_and_pages(part),
            _ => markup += &bold(part),
        }
    }
    markup
}

/// Sets `--flags` and `urepo-new(1)` in bold.
fn flags_and_pages(prose: &str) -> String {
    let mut markup = String::new();
    for piece in prose.split_inclusive([' ', '\n']) {
        let word = piece.trim_end_matches([' ', '\n']);
        let word = word.trim_end_matches(['.', ',', ';', ':']);
        let rest = &piece[word.len()..];
        let page = word.strip_suffix("(1)").or_else(|| word.strip_suffix("(5)"));
        if let Some(page) = page {
            markup += &format!("{}{}", bold(page), &word[page.len()..]);
        } else {
            let flag = word.trim_start_matches('(');
            let before = &word[..word.len() - flag.len()];
            let flag = if flag.contains('(') { flag } else { flag.trim_end_matches(')') };
            let is_flag = flag.len() > 2 && flag.starts_with("--");
            let after = &word[before.len() + flag.len()..];
            let flag = if is_flag { bold(flag) } else { escape(flag) };
            markup += &format!("{}{flag}{}", escape(before), escape(after));
        }
        // Line ends of the help are not kept.
        markup += &escape(&rest.replace('\n', " "));
    }
    markup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_roff_means_itself() {
        let mut page = Roff::default();
        page.paragraph("`.hidden` and a\\b's \"x\" … with (--each); see urepo-new(1).");
        assert_eq!(
            page.finish(),
            ".PP\n\\fB.hidden\\fR and a\\eb\\(aqs \\(dqx\\(dq \\[u2026] with \
             (\\fB\\-\\-each\\fR); see\n\\fBurepo\\-new\\fR(1).\n"
        );
        let mut page = Roff::default();
        page.section("examples");
        page.verbatim(["./run 'it'"]);
        assert_eq!(page.finish(), ".SH \"EXAMPLES\"\n.nf\n\\&./run \\(aqit\\(aq\n.fi\n");
    }
}
