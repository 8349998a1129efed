//! The fault in a text, and its place.

use std::borrow::Cow;
use std::ops::Range;

use super::escape;

/// A text that is not of the expected kind.
///
/// `Display` is one line that names the kind of thing and the text. The position of the fault and the
/// expected characters are separate; [`ParseError::excerpt`] shows them. Everything shown is escaped: a
/// hostile text cannot steer a terminal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid {kind} `{}`", escape::Window::new(text, span).shown)]
pub struct ParseError {
    kind: &'static str,
    text: Box<str>,
    /// Within `text` and on character boundaries.
    span: Range<usize>,
    expected: Cow<'static, str>,
}

impl ParseError {
    /// An error in `text`, taken for a `kind`, at the bytes `span`.
    ///
    /// A span that leaves the text or cuts a character is widened or clamped to fit.
    pub(crate) fn new(
        kind: &'static str,
        text: &str,
        span: Range<usize>,
        expected: impl Into<Cow<'static, str>>,
    ) -> ParseError {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = span.end.clamp(start, text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        ParseError { kind, text: text.into(), span: start..end, expected: expected.into() }
    }

    /// The fault alone, for a text of which this one is a part.
    pub(super) fn into_fault(self) -> Fault {
        Fault { span: self.span, expected: self.expected }
    }

    /// The expected kind, such as `repository name`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The text as it was given, unescaped.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the text that are at fault; empty if something is missing.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Where the fault begins, in characters; the first is 1.
    pub fn column(&self) -> usize {
        self.text[..self.span.start].chars().count() + 1
    }

    /// Why the text is refused, such as `February 2009 has no day 30`.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Two lines, indented by two spaces: the text, and carets under the fault with the reason.
    ///
    /// ```
    /// # use urepo::identity::RepositoryName;
    /// let error = "sid.inpe.br/mtc-m18@80/2009/02.30.17.46".parse::<RepositoryName>().unwrap_err();
    /// let text = "  sid.inpe.br/mtc-m18@80/2009/02.30.17.46";
    /// let carets = "                                 ^^ February 2009 has no day 30";
    /// assert_eq!(error.excerpt(), format!("{text}\n{carets}"));
    /// ```
    pub fn excerpt(&self) -> String {
        let window = escape::Window::new(&self.text, &self.span);
        let indent = " ".repeat(window.before);
        let carets = "^".repeat(window.under.max(1));
        format!("  {}\n  {indent}{carets} {}", window.shown, self.expected)
    }
}

/// A fault found while reading, before the whole text is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    span: Range<usize>,
    expected: Cow<'static, str>,
}

impl Fault {
    pub(super) fn new(span: Range<usize>, expected: impl Into<Cow<'static, str>>) -> Fault {
        Fault { span, expected: expected.into() }
    }

    /// The same fault in a longer text, where the text read begins at `offset`.
    pub(super) fn shifted(self, offset: usize) -> Fault {
        Fault { span: self.span.start + offset..self.span.end + offset, ..self }
    }

    /// The same fault, of another part of the text.
    pub(super) fn at(self, span: Range<usize>) -> Fault {
        Fault { span, ..self }
    }

    pub(super) fn within(self, kind: &'static str, text: &str) -> ParseError {
        ParseError::new(kind, text, self.span, self.expected)
    }
}
