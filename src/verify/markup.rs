//! The links that a reader of HTML or Markdown can follow, each with its line.
//!
//! A search of the text would find the links of comments, scripts and examples as well, and end `a(1).png` at the wrong
//! parenthesis. HTML is read tag by tag, as the tokenizer of its standard does; Markdown by CommonMark.

use std::ffi::OsStr;
use std::path::Path;

use pulldown_cmark::{Event, Parser, Tag};

/// The languages with links, by the ending of a file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup {
    Html,
    Markdown,
}

/// A link, with the number of its line from 1.
pub(super) type WrittenLink = (u64, String);

/// Attributes with one address.
const ADDRESSES: [&str; 12] = [
    "href",
    "src",
    "data",
    "poster",
    "cite",
    "action",
    "formaction",
    "background",
    "longdesc",
    "codebase",
    "xlink:href",
    "manifest",
];

/// Attributes with several addresses, each of which may have a size after it.
const SETS: [&str; 2] = ["srcset", "imagesrcset"];

/// Elements whose content has no tags.
const RAW: [&str; 8] =
    ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"];

impl Markup {
    /// The language of the file at `path`.
    pub(super) fn of(path: &Path) -> Option<Markup> {
        let ending = path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
        match ending.as_str() {
            "html" | "htm" | "xhtml" => Some(Markup::Html),
            "md" | "markdown" => Some(Markup::Markdown),
            _ => None,
        }
    }

    /// The relative links in `text` that climb: those with `..` in their paths.
    pub(super) fn links(self, text: &str) -> Vec<WrittenLink> {
        let mut found = Vec::new();
        match self {
            Markup::Html => html(text, 0, &mut found),
            Markup::Markdown => markdown(text, &mut found),
        }
        found.retain(|(_, link)| climbs(link));
        found.sort_by_key(|(at, _)| *at);
        let (mut line, mut counted) = (1, 0);
        let number = |(at, link): (usize, String)| {
            let at = at.min(text.len()).max(counted);
            line += text.as_bytes()[counted..at].iter().filter(|it| **it == b'\n').count() as u64;
            counted = at;
            (line, link)
        };
        found.into_iter().map(number).collect()
    }
}

/// Whether `link` is a path, and not a URL, that has `..` in it.
fn climbs(link: &str) -> bool {
    let path = link.split(['#', '?']).next().unwrap_or_default();
    let first = path.split('/').next().unwrap_or_default();
    !path.starts_with('/') && !first.contains(':') && path.split('/').any(|name| name == "..")
}

/// Adds the links of Markdown, each with its place in `text`.
fn markdown(text: &str, found: &mut Vec<(usize, String)>) {
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                found.push((range.start, dest_url.to_string()));
            }
            // A block of tags, which may have many lines, or one tag in a paragraph.
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                html(text.get(range.clone()).unwrap_or_default(), range.start, found);
            }
            _ => {}
        }
    }
}

/// Adds the links in the tags of `text`, which begins at `offset`.
fn html(text: &str, offset: usize, found: &mut Vec<(usize, String)>) {
    let mut at = 0;
    while let Some(open) = text[at..].find('<') {
        let start = at + open;
        let rest = &text[start..];
        at = start
            + if rest.starts_with("<!--") {
                after(rest, 4, "-->")
            } else if rest.starts_with("<![CDATA[") {
                after(rest, 9, "]]>")
            } else if rest.starts_with("<!") || rest.starts_with("<?") || rest.starts_with("</") {
                after(rest, 2, ">")
            } else if rest[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
                tag(rest, offset + start, found)
            } else {
                1
            };
    }
}

/// The end of the first `end` in `text` from `from` on, or of `text`.
fn after(text: &str, from: usize, end: &str) -> usize {
    text[from..].find(end).map_or(text.len(), |at| from + at + end.len())
}

/// Adds the links of the tag that `text` begins with, and returns the end of it, or of its content if that has no tags.
fn tag(text: &str, offset: usize, found: &mut Vec<(usize, String)>) -> usize {
    let ends_name = |c: char| c.is_ascii_whitespace() || c == '/' || c == '>';
    let name_end = text[1..].find(ends_name).map_or(text.len(), |end| 1 + end);
    let name = text[1..name_end].to_ascii_lowercase();
    let mut at = name_end;
    loop {
        at += text[at..].len()
            - text[at..].trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/').len();
        if at >= text.len() {
            return at;
        }
        if text[at..].starts_with('>') {
            at += 1;
            break;
        }
        // A stray `=` begins a name.
        let first = text[at..].chars().next().map_or(1, char::len_utf8);
        let ends = |c: char| ends_name(c) || c == '=';
        let end = text[at + first..].find(ends).map_or(text.len(), |end| at + first + end);
        let attribute = text[at..end].to_ascii_lowercase();
        let (value, start, next) = value(text, end);
        at = next;
        let value = unescaped(value);
        if ADDRESSES.contains(&attribute.as_str()) {
            found.push((offset + start, value.trim().to_owned()));
        } else if SETS.contains(&attribute.as_str()) {
            found.extend(set(&value).into_iter().map(|link| (offset + start, link)));
        }
    }
    if !RAW.contains(&name.as_str()) {
        return at;
    }
    let is_end = |end: &usize| {
        let closed = text.get(end + 2..end + 2 + name.len());
        closed.is_some_and(|closed| closed.eq_ignore_ascii_case(&name))
    };
    let mut ends = text[at..].match_indices("</").map(|(end, _)| at + end);
    ends.find(is_end).unwrap_or(text.len())
}

/// The value of an attribute whose name ends at `end`, its start, and the place after it.
fn value(text: &str, end: usize) -> (&str, usize, usize) {
    let blank = |at: usize| text[at..].len() - text[at..].trim_ascii_start().len();
    let equals = end + blank(end);
    if !text[equals..].starts_with('=') {
        return ("", end, end);
    }
    let start = equals + 1 + blank(equals + 1);
    let rest = &text[start..];
    if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
        let length = rest[1..].find(quote).unwrap_or(rest.len() - 1);
        return (&rest[1..=length], start + 1, (start + length + 2).min(text.len()));
    }
    let ends = |c: char| c.is_ascii_whitespace() || c == '>';
    let length = rest.find(ends).unwrap_or(rest.len());
    (&rest[..length], start, start + length)
}

/// The addresses of `srcset`: commas divide them after a blank or a size only, since an address may have commas itself.
fn set(value: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let length = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (link, after) = rest.split_at(length);
        let bare = link.trim_end_matches(',');
        if bare.is_empty() {
            return links;
        }
        links.push(bare.to_owned());
        let is_end = bare.len() < link.len();
        rest = if is_end { after } else { after.split_once(',').map_or("", |(_, rest)| rest) };
    }
}

/// A value without character references; one with references that XML does not know keeps them.
fn unescaped(value: &str) -> String {
    let known = quick_xml::escape::unescape(value).map(std::borrow::Cow::into_owned);
    known.unwrap_or_else(|_| value.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(markup: Markup, text: &str) -> Vec<String> {
        markup.links(text).into_iter().map(|(line, link)| format!("{line} {link}")).collect()
    }

    #[test]
    fn links_of_html_are_those_of_its_tags() {
        for (text, links) in [
            (
                "<a href=\"../../x/a b.html\">a</a> <img src='../c.png'>",
                &["1 ../../x/a b.html", "1 ../c.png"][..],
            ),
            ("<a href=../x>y</a><A\n  HREF = '../z'/>", &["1 ../x", "2 ../z"]),
            ("<a title='../no' data-x=../no href='../yes?a=1&amp;b#c'>", &["1 ../yes?a=1&b#c"]),
            (
                "<img alt=a>b srcset=../no> <img srcset='../a,b.png 1x, ../c(2).png 2x,../d'>",
                &["1 ../a,b.png", "1 ../c(2).png", "1 ../d"],
            ),
            (
                "<!-- <a href='../no'> --><!DOCTYPE x ../no><?x ../no?>\n<object data=../o>",
                &["2 ../o"],
            ),
            (
                "<script>'<a href=\"../no\">'</SCRIPT><style>a{b:url(../no)}</style><i cite=../q>",
                &["1 ../q"],
            ),
            ("<textarea><a href=../no></textarea><![CDATA[<a href=../no>]]>", &[]),
            (
                "&lt;a href=../no&gt; 1 <2 ../no <a href=http://x/../y> <a href=/../y> <a href=a/../b>",
                &["1 a/../b"],
            ),
            (
                "<video poster=../p.jpg><source src=\"./../v.webm\"></video><a href='../é%20ü'>",
                &["1 ../p.jpg", "1 ./../v.webm", "1 ../é%20ü"],
            ),
            ("<a href='../open", &["1 ../open"]),
            ("<a href=", &[]),
            ("<!-- ../no", &[]),
        ] {
            assert_eq!(found(Markup::Html, text), links, "{text}");
        }
    }

    #[test]
    fn links_of_markdown_are_those_of_commonmark() {
        for (text, links) in [
            (
                "see [the class](../../a.cls \"title\")\nor ![](./../c.png)",
                &["1 ../../a.cls", "2 ./../c.png"][..],
            ),
            ("[a][ref]\n\n[ref]: ../../d\n[unused]: ../no", &["1 ../../d"]),
            (
                "[x](../a(1).png) [y](<../b c.png>) [z](../d\\)e)",
                &["1 ../a(1).png", "1 ../b c.png", "1 ../d)e"],
            ),
            ("`[i](../no)` \\[e](../no) ``a ` [i](../no)``", &[]),
            ("~~~\n[c](../no)\n~~~\n\n    [i](../no)\n\n> [q](../q)", &["7 ../q"]),
            (
                "<!-- [c](../no)\n\n-->\n\n<div>\n<a\nhref=\"../h\">x</a></div>\n\na <img src=../i>",
                &["7 ../h", "9 ../i"],
            ),
            ("| [t](../t) |", &["1 ../t"]),
            ("../no and <../no>", &[]),
        ] {
            assert_eq!(found(Markup::Markdown, text), links, "{text}");
        }
    }

    #[test]
    fn the_language_is_known_by_the_ending() {
        let of = |name: &str| Markup::of(Path::new(name));
        assert_eq!([of("a.HTM"), of("a/b.xhtml")], [Some(Markup::Html); 2]);
        assert_eq!([of("README.md"), of("a.Markdown")], [Some(Markup::Markdown); 2]);
        assert_eq!([of("md"), of("a.txt")], [None; 2]);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[<>a-c=\"'/!\\-\\[\\](). \n&;é,`]*(script|srcset|href)?[<>a=\"'/ é.]*") {
            Markup::Html.links(&text);
            Markup::Markdown.links(&text);
        }
    }
}
