//! Links in the text of a file: they begin with `../` and go to the end of the word, string or argument.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use crate::identity::decode_path;
use crate::item::PayloadPath;

/// The syntax of links in a kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup {
    /// HTML and Markdown: URLs, with escapes, and perhaps a fragment.
    Urls,
    /// LaTeX: paths, perhaps without the ending of the file, from the directory of the main file.
    Latex,
    /// Tcl: paths.
    Paths,
}

impl Markup {
    /// The syntax of links in the file `path`, by the ending of its name.
    pub(super) fn of(path: &PayloadPath) -> Option<Markup> {
        let ending = path.as_path().extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
        Some(match &*ending {
            "html" | "htm" | "xhtml" | "md" | "markdown" => Markup::Urls,
            "tex" | "ltx" | "cls" | "sty" | "bib" => Markup::Latex,
            "tcl" => Markup::Paths,
            _ => return None,
        })
    }

    /// Endings that a link may leave out.
    pub(super) fn endings(self) -> &'static [&'static str] {
        match self {
            Markup::Latex => &["", ".tex", ".bib", ".cls", ".sty", ".pdf", ".png", ".jpg", ".eps"],
            Markup::Urls | Markup::Paths => &[""],
        }
    }

    /// The path in a link.
    pub(super) fn path(self, link: &str) -> Cow<'_, [u8]> {
        if self != Markup::Urls {
            return link.as_bytes().into();
        }
        let path = link.split(['#', '?']).next().unwrap_or_default().replace("&amp;", "&");
        decode_path(&path).unwrap_or_else(|| path.into_bytes()).into()
    }
}

/// A link, and the number of its line, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextLink<'t> {
    pub(super) line: u64,
    pub(super) target: &'t str,
}

/// The links in `text` that begin with `../`.
pub(super) fn links(text: &str) -> impl Iterator<Item = TextLink<'_>> {
    text.lines()
        .zip(1..)
        .flat_map(|(text, line)| links_in_line(text).map(move |target| TextLink { line, target }))
}

fn links_in_line(line: &str) -> impl Iterator<Item = &str> {
    let mut end = 0;
    line.match_indices("../").filter_map(move |(at, _)| {
        let before = &line[..at];
        let start = if before.ends_with("./") && !before.ends_with("../") { at - 2 } else { at };
        let before = &line[..start];
        // This must not be the next `../` of the same link, nor the middle of a path.
        if start < end || before.ends_with(|c: char| c.is_alphanumeric() || "/._-~".contains(c)) {
            return None;
        }
        let closing: &[char] = match before.chars().next_back() {
            Some('"') => &['"'],
            Some('\'') => &['\''],
            Some('{') => &['}', ','],
            Some('<') => &['>'],
            Some('(') => &[')', ' ', '"'],
            _ => &[' ', '\t', '"', '\'', '>', ')', ']', '}', ';', ','],
        };
        let length = line[start..].find(closing).unwrap_or(line.len() - start);
        end = start + length;
        Some(&line[start..end])
    })
}

/// Whether a file can be read as text.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    !bytes.iter().take(8192).any(|byte| *byte == 0)
}

/// Where a link in the file `path` may start from: its directory, or for LaTeX and Tcl also `doc/`.
pub(super) fn bases(markup: Markup, path: &PayloadPath) -> Vec<PayloadPath> {
    let own = [path.clone()];
    let top = path.as_path().file_name().map(Path::new).map(PayloadPath::new);
    let top = top.and_then(Result::ok).filter(|top| markup != Markup::Urls && top != path);
    own.into_iter().chain(top).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_end_with_their_string_argument_or_word() {
        for (line, found) in [
            (
                r#"<a href="../../x/a b.html">a</a> <img src='../c.png'>"#,
                &["../../x/a b.html", "../c.png"][..],
            ),
            ("<a href=../x>y</a>", &["../x"]),
            (r"\input{../../../a} % \include{./../b}", &["../../../a", "./../b"]),
            (r"\bibliography{../a,../b}", &["../a", "../b"]),
            ("source ../../u.tcl; puts [glob ../x]", &["../../u.tcl", "../x"]),
            (
                "see [the class](../../a.cls \"title\") and <../b> or ![](../c.png)",
                &["../../a.cls", "../b", "../c.png"],
            ),
            ("[ref]: ../../d", &["../../d"]),
            ("http://example.org/a/../b and a/../c, ...", &[]),
            ("é{../é/ü}", &["../é/ü"]),
        ] {
            let links: Vec<_> = links_in_line(line).collect();
            assert_eq!(links, found, "{line}");
        }
    }

    #[test]
    fn urls_are_decoded_without_their_fragments() {
        assert_eq!(*Markup::Urls.path("../a%20b&amp;c?x#y"), *b"../a b&c");
        assert_eq!(*Markup::Urls.path("../100%"), *b"../100%");
        assert_eq!(*Markup::Latex.path("../a%20b#c"), *b"../a%20b#c");
    }

    #[test]
    fn lines_are_counted() {
        let links: Vec<_> = links("a\n\n{../b}\r\n").collect();
        assert_eq!(links, [TextLink { line: 3, target: "../b" }]);
    }
}
