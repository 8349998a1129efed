//! The words of a search, as people type them.
//!
//! All words have to be in an item. A word is looked for in the description, the names of files, the path of the source and the
//! identifiers. `word*` is the beginning of a word, `not:word` must not occur. `key:words` stand in that key of the description,
//! whole and in this order; `key:=value` is its whole value; `key:` alone, any value. Some keys are none of the description:
//! `file:`, `origin:`, `sha256:`, `bytes:`. Dates and sizes take ranges: `date:1905..1915`, `bytes:1M..`.

use super::QueryError;
use super::fold;
use super::keys::is_key;

/// A word of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The key before the colon.
    pub key: Option<String>,
    /// The text after the key.
    pub text: String,
    /// Whether it must not be in an item.
    pub is_unwanted: bool,
    /// How the text is meant.
    pub form: Form,
}

/// How the text of a word is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Words, whole and in this order.
    Words,
    /// The same, the last of them only the beginning of a word.
    Beginning,
    /// The whole value of the key.
    Whole,
    /// Any value of the key.
    Any,
}

/// The prefix of an unwanted word.
const NOT: &str = "not:";

impl Word {
    /// The words of an argument: one, with the blanks in it, unless it has quotation marks.
    pub fn of_argument(text: &str) -> Result<Vec<Word>, QueryError> {
        if text.contains('"') {
            return Word::of_field(text);
        }
        let text = without_nul(text);
        Ok(Some(text.trim()).filter(|it| !it.is_empty()).map(Word::plain).into_iter().collect())
    }

    /// The words of a field of a form: quotation marks bind, and blanks part.
    pub fn of_field(text: &str) -> Result<Vec<Word>, QueryError> {
        let text = without_nul(text);
        let (mut words, mut rest) = (Vec::new(), text.trim_start());
        while !rest.is_empty() {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            // A quotation begins a word, or its value.
            let head = rest[..end]
                .find('"')
                .filter(|at| matches!(rest[..*at].chars().last(), None | Some('-' | ':' | '=')));
            let (word, after) = match head {
                Some(at) => {
                    let quoted = &rest[at + 1..];
                    let open = || QueryError::OpenQuote(quoted.to_owned());
                    let (content, after) = quoted.split_once('"').ok_or_else(open)?;
                    let (star, after) = match after.strip_prefix('*') {
                        Some(after) => ("*", after),
                        None => ("", after),
                    };
                    (Word::plain(&format!("{}{content}{star}", &rest[..at])), after)
                }
                None => (Word::plain(&rest[..end]), &rest[end..]),
            };
            words.push(word);
            rest = after.trim_start();
        }
        Ok(words)
    }

    /// A single word, without quotation marks of a field.
    fn plain(text: &str) -> Word {
        let (is_unwanted, text) = match text.strip_prefix(NOT).or_else(|| text.strip_prefix('-')) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (key, text) = match text.split_once(':') {
            Some((key, rest)) if is_key(key) => (Some(key.to_owned()), rest.trim()),
            _ => (None, text),
        };
        let (form, text) = match (text.strip_prefix('='), text.strip_suffix('*')) {
            (Some(whole), _) if key.is_some() => (Form::Whole, whole),
            // Any value begins with nothing.
            (_, Some("")) if key.as_ref().is_some_and(|key| key != "file") => (Form::Any, ""),
            (_, Some(beginning)) => (Form::Beginning, beginning),
            _ if text.is_empty() => (Form::Any, text),
            _ => (Form::Words, text),
        };
        Word { key, text: text.to_owned(), is_unwanted, form }
    }

    /// The expression of the full-text search in `column`, or in all of them; `None` for punctuation, which is in no text.
    pub(super) fn expression(&self, column: Option<&str>) -> Option<String> {
        let words = Some(fold::words(&self.text)).filter(|it| !it.is_empty())?;
        let star = if self.begins(&words) { "*" } else { "" };
        let within = column.map(|it| format!("{it} : ")).unwrap_or_default();
        let expression = format!("{within}\"{words}\"{star}");
        // A date may be the end of an identifier.
        let is_end = self.form == Form::Words && column.is_none() && words.contains(' ');
        if is_end && self.text.bytes().all(|it| it.is_ascii_graphic()) {
            let end = fold::end_of_name(&self.text);
            return Some(format!("({expression} OR names : \"{end}\")"));
        }
        Some(expression)
    }

    /// Whether the last of the folded `words` is only the beginning of one. A single letter of a script that parts no words is.
    fn begins(&self, words: &str) -> bool {
        self.form == Form::Beginning || fold::is_half_a_pair(words)
    }

    /// Whether one of the values of its key is meant.
    pub(super) fn is_in(&self, values: &[String]) -> bool {
        let Word { text, .. } = self;
        match self.form {
            Form::Words | Form::Beginning => {
                let words = fold::words(text);
                let begins = self.begins(&words);
                values.iter().any(|it| fold::has_words(it, &words, begins))
            }
            Form::Whole => {
                values.iter().any(|it| fold::plain(it.trim()) == fold::plain(text.trim()))
            }
            Form::Any => values.iter().any(|it| !it.trim().is_empty()),
        }
    }
}

/// An expression ends at a NUL, and no description has one.
fn without_nul(text: &str) -> String {
    text.replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: Vec<Word>) -> Vec<String> {
        let shown = |it: Word| {
            let not = if it.is_unwanted { "not " } else { "" };
            let key = it.key.map(|key| format!("{key} ")).unwrap_or_default();
            format!("{not}{key}{:?} {}", it.form, it.text)
        };
        words.into_iter().map(shown).collect()
    }

    #[test]
    fn an_argument_is_one_word_or_a_phrase() {
        for (text, expected) in [
            ("silva", "Words silva"),
            ("silv*", "Beginning silv"),
            ("field trip", "Words field trip"),
            ("x.caixa:Caixa 2", "x.caixa Words Caixa 2"),
            ("x.caixa:=2", "x.caixa Whole 2"),
            ("x.caixa:", "x.caixa Any "),
            ("-x.caixa:", "not x.caixa Any "),
            ("not:silva", "not Words silva"),
            ("not:title:3", "not title Words 3"),
            ("date:1905..1915", "date Words 1905..1915"),
            ("part_of:11.21.02.13", "part_of Words 11.21.02.13"),
            ("http://a.b/c", "Words http://a.b/c"),
            ("caixa:9", "Words caixa:9"),
            ("file:*.tif", "file Words *.tif"),
        ] {
            assert_eq!(read(Word::of_argument(text).unwrap()), [expected], "{text}");
        }
        assert_eq!(Word::of_argument(" "), Ok(Vec::new()));
    }

    #[test]
    fn in_a_field_quotation_marks_bind_and_blanks_part() {
        let field = |text| read(Word::of_field(text).unwrap());
        assert_eq!(field("deep  sea"), ["Words deep", "Words sea"]);
        assert_eq!(field("\"deep sea\" amazo*"), ["Words deep sea", "Beginning amazo"]);
        assert_eq!(
            field("title:rain Creator:\"da Silva\"* -\"a b\""),
            ["title Words rain", "Creator Beginning da Silva", "not Words a b"]
        );
        assert_eq!(field("x.caixa:=\"Caixa 2\""), ["x.caixa Whole Caixa 2"]);
        assert_eq!(field("5\"disk \"a\"b"), ["Words 5\"disk", "Words a", "Words b"]);
        assert_eq!(Word::of_field("\"deep"), Err(QueryError::OpenQuote("deep".into())));
        assert_eq!(
            Word::of_argument("x.shelf:\"A b\" c").map(read),
            Ok(vec!["x.shelf Words A b".to_owned(), "Words c".to_owned()])
        );
    }
}
