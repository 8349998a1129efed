//! Splitting a BibTeX file into entries.

use std::collections::HashMap;

/// Limit on the length of a value with its macros; a longer value is dropped.
const MAX_VALUE_BYTES: usize = 64 * 1024;

/// Limit on pieces that are not understood: the rest of the file counts as one piece.
const MAX_UNREAD: usize = 16;

/// The months have names of their own.
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The contents of a file.
#[derive(Debug, Default)]
pub(in crate::adopt) struct Library {
    pub references: Vec<Reference>,
    /// Text that is not understood, unchanged.
    pub unread: Vec<String>,
}

/// One entry, such as `@book{key, title = {…}}`.
#[derive(Debug, Default)]
pub(in crate::adopt) struct Reference {
    /// `book`, as it is spelt.
    pub kind: String,
    pub key: String,
    pub fields: Vec<Field>,
}

/// One field of an entry.
#[derive(Debug)]
pub(in crate::adopt) struct Field {
    /// In lower case.
    pub name: String,
    /// Its LaTeX, pieces and macros joined; `None` if a macro is unknown.
    pub value: Option<String>,
    /// The whole field, unchanged.
    pub raw: String,
}

/// Splits `text` into entries. Text between entries is a comment, as everywhere in BibTeX.
pub(in crate::adopt) fn read(text: &str) -> Library {
    let mut library = Library::default();
    let mut macros = HashMap::new();
    let mut at = 0;
    while let Some(sign) = text[at..].find('@').map(|found| at + found) {
        let mut cursor = Cursor { text, at: sign + 1 };
        at = sign + 1;
        let Some((kind, close)) = cursor.opening() else { continue };
        let start = cursor.at;
        let outcome = match kind.to_ascii_lowercase().as_str() {
            "comment" | "preamble" => cursor.up_to(close).map(|_| ()).ok_or(start),
            "string" => {
                let mut defined = Reference::default();
                let read = cursor.fields(close, &macros, &mut defined);
                let pairs = defined.fields.into_iter();
                macros.extend(pairs.filter_map(|field| Some((field.name, field.value?))));
                read
            }
            _ => {
                let mut reference = Reference { kind: kind.to_owned(), ..Reference::default() };
                let read = cursor.entry(close, &macros, &mut reference);
                if read.is_ok() || !reference.fields.is_empty() {
                    library.references.push(reference);
                }
                read
            }
        };
        at = cursor.at;
        if let Err(start) = outcome {
            // A piece that is not understood ends at the next entry.
            let is_last = library.unread.len() == MAX_UNREAD;
            at = if is_last { text.len() } else { cursor.next_line_with_entry(start) };
            library.unread.push(text[start..at].to_owned());
        }
    }
    library
}

/// A place in the text.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        self.at = self.text.len() - self.rest().trim_start_matches(is_skipped).len();
    }

    fn skip_space(&mut self) {
        self.skip(char::is_whitespace);
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.rest().starts_with(wanted);
        self.at += if is_there { wanted.len_utf8() } else { 0 };
        is_there
    }

    fn word(&mut self) -> &'a str {
        let is_of_word = |c: char| !c.is_whitespace() && !"\"#%'(),={}@\\".contains(c);
        let rest = self.rest();
        self.skip(is_of_word);
        &rest[..rest.len() - self.rest().len()]
    }

    /// The kind of an entry, and its closing delimiter.
    fn opening(&mut self) -> Option<(&'a str, char)> {
        self.skip_space();
        let kind = self.word();
        self.skip_space();
        if kind.is_empty() {
            return None;
        }
        if self.take('{') {
            return Some((kind, '}'));
        }
        self.take('(').then_some((kind, ')'))
    }

    /// Reads an entry to its end; an error is the position at which the text cannot be understood.
    fn entry(
        &mut self,
        close: char,
        macros: &HashMap<String, String>,
        reference: &mut Reference,
    ) -> Result<(), usize> {
        let start = self.at;
        self.key(close).ok_or(start)?.clone_into(&mut reference.key);
        self.fields(close, macros, reference)
    }

    fn fields(
        &mut self,
        close: char,
        macros: &HashMap<String, String>,
        reference: &mut Reference,
    ) -> Result<(), usize> {
        loop {
            self.skip(|c| c.is_whitespace() || c == ',');
            let start = self.at;
            if self.take(close) {
                return Ok(());
            }
            reference.fields.push(self.field(macros).ok_or(start)?);
        }
    }

    /// The key of an entry, which may be missing. The closing delimiter is not consumed.
    fn key(&mut self, close: char) -> Option<&'a str> {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find([',', '{', '}', '=', '"', '@', '\n', close])?;
        self.at += end;
        let key = rest[..end].trim();
        match rest[end..].chars().next()? {
            ',' => Some(key),
            '\n' => {
                self.skip_space();
                (self.rest().starts_with(',') || self.rest().starts_with(close)).then_some(key)
            }
            next => (next == close).then_some(key),
        }
    }

    fn field(&mut self, macros: &HashMap<String, String>) -> Option<Field> {
        let start = self.at;
        let name = self.word().to_lowercase();
        self.skip_space();
        if name.is_empty() || !self.take('=') {
            return None;
        }
        let mut value = Some(String::new());
        loop {
            self.skip_space();
            let piece = self.piece(macros)?;
            value = match (value, piece) {
                (Some(text), Some(piece)) if text.len() + piece.len() <= MAX_VALUE_BYTES => {
                    Some(text + &piece)
                }
                _ => None,
            };
            let end = self.at;
            self.skip_space();
            if !self.take('#') {
                let raw = self.text[start..end].to_owned();
                return Some(Field { name, value, raw });
            }
        }
    }

    /// One piece of a value; the inner `None` is an unknown macro.
    #[expect(clippy::option_option, reason = "no piece, and a piece without text, are two things")]
    fn piece(&mut self, macros: &HashMap<String, String>) -> Option<Option<String>> {
        if self.take('{') {
            return self.up_to('}').map(|text| Some(text.to_owned()));
        }
        if self.take('"') {
            return self.up_to('"').map(|text| Some(text.to_owned()));
        }
        let word = self.word();
        if word.is_empty() {
            return None;
        }
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Some(word.to_owned()));
        }
        let name = word.to_lowercase();
        let month = MONTHS.iter().find(|month| **month == name);
        Some(macros.get(&name).cloned().or_else(|| month.map(|month| (*month).to_owned())))
    }

    /// The text up to `end` outside of braces; `end` is consumed.
    fn up_to(&mut self, end: char) -> Option<&'a str> {
        let rest = self.rest();
        let mut depth = 0_usize;
        let mut after_backslash = false;
        for (at, character) in rest.char_indices() {
            // Strictly, `\"` ends a quoted text, but people write it for an umlaut.
            let is_end = character == end && depth == 0 && !(end == '"' && after_backslash);
            if is_end {
                self.at += at + end.len_utf8();
                return Some(&rest[..at]);
            }
            match character {
                '{' => depth += 1,
                '}' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            after_backslash = character == '\\' && !after_backslash;
        }
        None
    }

    /// The next line that begins with an entry.
    fn next_line_with_entry(&self, from: usize) -> usize {
        let mut at = self.text[..from].len();
        while let Some(end) = self.text[at..].find('\n') {
            at += end + 1;
            if self.text[at..].trim_start_matches([' ', '\t']).starts_with('@') {
                return at;
            }
        }
        self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(String, Option<String>)> {
        let library = read(text);
        assert_eq!(library.unread, [""; 0], "{text}");
        let fields = library.references.into_iter().flat_map(|reference| reference.fields);
        fields.map(|field| (field.name, field.value)).collect()
    }

    fn one(text: &str) -> Option<String> {
        values(&format!("@misc{{k, a = {text}}}")).pop().unwrap().1
    }

    #[test]
    fn values_are_put_together() {
        for (text, value) in [
            ("{b}", Some("b")),
            ("\"b\"", Some("b")),
            ("1999", Some("1999")),
            ("jan", Some("jan")),
            ("JAN # \"~1\"", Some("jan~1")),
            ("{a {b {c}} d}", Some("a {b {c}} d")),
            ("\"a {\"}b{\"} c\"", Some("a {\"}b{\"} c")),
            ("\"M\\\"uller\"", Some("M\\\"uller")),
            ("{a} # {b} # 3", Some("ab3")),
            ("unknown # {b}", None),
        ] {
            assert_eq!(one(text).as_deref(), value, "{text}");
        }
        let text = "@string(inpe = {INPE}) @String{both = inpe # \"/\" # inpe}\n@misc{k, a=both,}";
        assert_eq!(values(text), [("a".to_owned(), Some("INPE/INPE".to_owned()))]);
    }

    #[test]
    fn entries_are_found_among_anything() {
        let text = "Mail me@home.org. @comment{ @misc{no, a={b}} } @preamble{\"x\"}\n\
            @Book ( key:1 , title = {A (b)} , ) @misc{, a=1} @thesis{only} % @";
        let library = read(text);
        let found: Vec<_> = library.references.iter().map(|it| (&*it.kind, &*it.key)).collect();
        assert_eq!(found, [("Book", "key:1"), ("misc", ""), ("thesis", "only")]);
        assert_eq!(library.unread, [""; 0]);
    }

    #[test]
    fn what_is_not_understood_is_handed_over_as_it_stands() {
        let text =
            "@misc{k, a = {b}, title {c}, d = 1}\n@misc{l, e = {never closed\n@book{m, f={g}}";
        let library = read(text);
        let names: Vec<_> = library
            .references
            .iter()
            .flat_map(|reference| &reference.fields)
            .map(|field| field.name.as_str())
            .collect();
        assert_eq!(names, ["a", "f"]);
        assert_eq!(library.unread, ["title {c}, d = 1}\n", "e = {never closed\n"]);
    }
}
