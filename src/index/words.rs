//! Search texts of people as expressions of the full-text search.
//!
//! All words have to occur, in any order and whatever their case and accents. `"two words"` occur in this
//! order, `word*` is the beginning of a word, `-word` must not occur, and `title:word` occurs in the title;
//! so do `creator`, `subject` and every other term.

use super::QueryError;

/// The expressions that must match, those that must not, and conditions on single terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub all_of: Vec<String>,
    pub none_of: Vec<String>,
    /// A term without a column of its own, and the text that its value contains.
    pub terms: Vec<(String, String)>,
}

impl Wanted {
    pub(super) fn read(text: &str) -> Result<Wanted, QueryError> {
        let mut wanted = Wanted::default();
        let text = without_nul(text);
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (word, after) = Word::take(rest)?;
            rest = after.trim_start();
            let (expression, column) = word.expression();
            if let (Some(term), None) = (&word.term, column) {
                if word.unwanted {
                    return Err(QueryError::UnwantedTerm(term.clone()));
                }
                wanted.terms.push((term.clone(), word.text));
            }
            // A word of punctuation alone is in no text.
            if !word_has_letters(&expression) {
                continue;
            }
            if word.unwanted { &mut wanted.none_of } else { &mut wanted.all_of }.push(expression);
        }
        Ok(wanted)
    }

    /// Adds that the value of `term` has to contain `text`.
    pub(super) fn add_term(&mut self, term: &str, text: &str) {
        let word = Word {
            term: Some(term.to_owned()),
            text: without_nul(text),
            unwanted: false,
            begins: false,
        };
        let (expression, column) = word.expression();
        if word_has_letters(&expression) {
            self.all_of.push(expression);
        }
        if column.is_none() {
            self.terms.push((term.to_owned(), text.to_owned()));
        }
    }
}

/// An expression ends at a NUL, and no description has one.
fn without_nul(text: &str) -> String {
    text.replace('\0', " ")
}

/// Whether the quoted part has a character of a word.
fn word_has_letters(expression: &str) -> bool {
    expression.split_once('"').is_some_and(|(_, text)| text.chars().any(char::is_alphanumeric))
}

/// One element of a search text.
struct Word {
    term: Option<String>,
    text: String,
    unwanted: bool,
    /// It is the beginning of a word.
    begins: bool,
}

impl Word {
    /// The first element of `text`, which does not begin with a space, and the rest.
    fn take(text: &str) -> Result<(Word, &str), QueryError> {
        let (unwanted, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (term, text) = match text.split_once(':') {
            Some((term, rest)) if is_term(term) && !rest.starts_with(char::is_whitespace) => {
                (Some(term.to_owned()), rest)
            }
            _ => (None, text),
        };
        let (content, rest) = if let Some(quoted) = text.strip_prefix('"') {
            quoted.split_once('"').ok_or_else(|| QueryError::OpenQuote(quoted.to_owned()))?
        } else {
            text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
        };
        let (content, begins) = match content.strip_suffix('*') {
            Some(content) => (content, true),
            None => (content, false),
        };
        let (begins, rest) = match rest.strip_prefix('*') {
            Some(rest) => (true, rest),
            None => (begins, rest),
        };
        Ok((Word { term, text: content.to_owned(), unwanted, begins }, rest))
    }

    /// The expression for the full-text search, with its column, if it is limited to one.
    fn expression(&self) -> (String, Option<&'static str>) {
        let quoted = format!("\"{}\"{}", self.text.replace('"', "\"\""), star(self.begins));
        let Some(term) = &self.term else { return (quoted, None) };
        let exact = ["title", "creator", "subject"]
            .into_iter()
            .find(|column| column.eq_ignore_ascii_case(term));
        let within = match term.to_ascii_lowercase().as_str() {
            "alternative" => "title",
            "contributor" => "creator",
            _ => exact.unwrap_or("other"),
        };
        (format!("{within} : {quoted}"), exact)
    }
}

fn star(begins: bool) -> &'static str {
    if begins { "*" } else { "" }
}

/// Whether `text` can be the name of a term: a URL has a colon too.
pub(super) fn is_term(text: &str) -> bool {
    let own = text.strip_prefix("x.");
    own.is_some_and(|own| !own.is_empty())
        || crate::sidecar::TERMS.iter().any(|term| term.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of(text: &str) -> Vec<String> {
        Wanted::read(text).unwrap().all_of
    }

    #[test]
    fn words_become_expressions_that_can_not_be_anything_else() {
        assert_eq!(all_of("deep  sea"), ["\"deep\"", "\"sea\""]);
        assert_eq!(all_of("\"deep sea\" amazo*"), ["\"deep sea\"", "\"amazo\"*"]);
        assert_eq!(
            all_of("title:rain Creator:\"da Silva\""),
            ["title : \"rain\"", "creator : \"da Silva\""]
        );
        assert_eq!(all_of("NEAR(a) OR b:c ' ^"), ["\"NEAR(a)\"", "\"OR\"", "\"b:c\""]);
        let wanted = Wanted::read("rain -snow publisher:INPE").unwrap();
        assert_eq!(wanted.none_of, ["\"snow\""]);
        assert_eq!(wanted.all_of, ["\"rain\"", "other : \"INPE\""]);
        assert_eq!(wanted.terms, [("publisher".to_owned(), "INPE".to_owned())]);
        assert_eq!(Wanted::read("\"deep"), Err(QueryError::OpenQuote("deep".into())));
        assert_eq!(Wanted::read("-publisher:x"), Err(QueryError::UnwantedTerm("publisher".into())));
        // A URL is no term, and a quote within a word stays in it.
        assert_eq!(all_of("http://a.b/c 5\"disk"), ["\"http://a.b/c\"", "\"5\"\"disk\""]);
    }
}
