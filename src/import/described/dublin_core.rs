//! Rows of Dublin Core in XML: an element `dc`, at any depth of the document, is a row.
//!
//! Entities cannot do harm: a document type is refused, and so is every reference except to single
//! characters. Depth and size are bounded.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

use super::foreign::{ForeignRow, ForeignValues};
use super::{Content, DescribedError, DescribedRow, RowItem, RowPlace};
use crate::correction::NewValues;
use crate::export::MetadataFormat;
use crate::export::metadata::ELEMENTS;
use crate::identity::Identifier;
use crate::sidecar::Sidecar;

/// Limit on the depth of a document.
const MAX_DEPTH: usize = 32;

/// The root of a description.
const ROOT: &str = "dc";

/// The rows of a document.
pub(super) fn rows(bytes: &[u8]) -> Result<Vec<DescribedRow>, DescribedError> {
    let rows = read(bytes)?.into_iter().map(|(line, values)| {
        let mut texts = values.get("identifier").into_iter().flatten();
        let identifier = texts.find_map(|text| Identifier::read(text).ok());
        DescribedRow {
            place: RowPlace::Line(line as u64),
            item: RowItem::Identifier(identifier),
            content: Content::Elements(values),
        }
    });
    Ok(rows.collect())
}

/// The changes that the elements in `after` make in the item of `sidecar`.
pub(super) fn new_values(
    after: &ForeignValues,
    sidecar: &Sidecar,
    clears: bool,
) -> Result<NewValues, DescribedError> {
    let written = MetadataFormat::DublinCore.render(sidecar);
    let mut before = read(&written)?.pop().map(|(_, values)| values).unwrap_or_default();
    let mut after = after.clone();
    // These elements also contain the identifiers of the item and of related ones, and a date.
    for (element, terms) in [
        ("identifier", &["identifier", "bibliographicCitation"][..]),
        ("relation", &["relation"]),
        ("date", &["issued", "date"]),
    ] {
        let mut held = Vec::new();
        for term in terms {
            held.extend(sidecar.metadata.values(term)?);
        }
        let others: Vec<_> = before.get(element).into_iter().flatten().cloned().collect();
        let others: Vec<_> = others.into_iter().filter(|text| !held.contains(text)).collect();
        for values in [&mut before, &mut after] {
            let Some(texts) = values.get_mut(element) else { continue };
            texts.retain(|text| !others.contains(text));
            if texts.is_empty() {
                values.remove(element);
            }
        }
    }
    // The first title is the main one.
    for values in [&mut before, &mut after] {
        let others = values.get_mut("title").map(|titles| titles.split_off(titles.len().min(1)));
        if let Some(others) = others.filter(|others| !others.is_empty()) {
            values.insert("alternative".to_owned(), others);
        }
    }
    // A present element has all of its values.
    let is_titled = after.contains_key("title") && before.contains_key("alternative");
    if is_titled && !after.contains_key("alternative") {
        after.insert("alternative".to_owned(), Vec::new());
    }
    ForeignRow { before: &before, after: &after, clears }.new_values(sidecar)
}

/// A description that is being read.
struct OpenElement {
    line: usize,
    depth: usize,
    values: ForeignValues,
    /// The present element, with its text so far.
    element: Option<(String, String)>,
}

/// The descriptions of a document: the line of each, and the values of its elements.
fn read(bytes: &[u8]) -> Result<Vec<(usize, ForeignValues)>, DescribedError> {
    let text = std::str::from_utf8(bytes).map_err(|_| DescribedError::NotUtf8)?;
    let mut reader = Reader::from_str(text);
    let (mut found, mut open, mut depth) = (Vec::new(), None::<OpenElement>, 0);
    let (mut line, mut counted) = (1, 0);
    loop {
        let at = usize::try_from(reader.buffer_position()).unwrap_or(text.len()).min(text.len());
        line += text.as_bytes()[counted..at].iter().filter(|byte| **byte == b'\n').count();
        counted = at;
        let syntax = |reason: String| DescribedError::Syntax { line, reason };
        let event = reader.read_event().map_err(|error| syntax(error.to_string()))?;
        match event {
            Event::Eof if depth > 0 => return Err(syntax("it ends within an element".to_owned())),
            Event::Eof => return Ok(found),
            Event::DocType(_) => return Err(syntax("a document type is not read".to_owned())),
            Event::Decl(declaration) => {
                let encoding = declaration.encoding().transpose();
                let encoding = encoding.map_err(|error| syntax(error.to_string()))?;
                let is_other = |it: &str| !["utf-8", "us-ascii"].contains(&&*it.to_lowercase());
                if encoding.is_some_and(|it| is_other(&it)) {
                    return Err(DescribedError::NotUtf8);
                }
            }
            Event::Start(start) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(syntax(format!("it is nested deeper than {MAX_DEPTH} elements")));
                }
                let name = name_of(start.local_name().as_ref());
                begin(&mut open, &name, line, depth).map_err(syntax)?;
            }
            Event::Empty(start) => {
                let name = name_of(start.local_name().as_ref());
                begin(&mut open, &name, line, depth + 1).map_err(syntax)?;
                end(&mut open, depth + 1, &mut found);
            }
            Event::End(_) => {
                end(&mut open, depth, &mut found);
                depth = depth.saturating_sub(1);
            }
            Event::Text(more) => push(&mut open, &more.xml10_content()).map_err(syntax)?,
            Event::CData(more) => push(&mut open, &more.xml10_content()).map_err(syntax)?,
            Event::GeneralRef(reference) => {
                let character = character(&reference).ok_or_else(|| {
                    let name = reference.xml10_content();
                    syntax(format!("`&{name};` is not a reference to a character"))
                })?;
                push(&mut open, &character.to_string()).map_err(syntax)?;
            }
            Event::Comment(_) | Event::PI(_) => {}
        }
    }
}

fn name_of(bytes: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(bytes.as_ref()).into_owned()
}

/// Begins an element at `depth`.
fn begin(
    open: &mut Option<OpenElement>,
    name: &str,
    line: usize,
    depth: usize,
) -> Result<(), String> {
    match open {
        None if name == ROOT => {
            *open = Some(OpenElement { line, depth, values: ForeignValues::new(), element: None });
            Ok(())
        }
        // Text around descriptions is not part of them.
        None => Ok(()),
        Some(OpenElement { element: Some((outer, _)), .. }) => {
            Err(format!("`{name}` stands within `{outer}`, which has a text"))
        }
        Some(OpenElement { element, .. }) => {
            let known = ELEMENTS.iter().find(|known| **known == name);
            let known =
                known.ok_or_else(|| format!("`{name}` is not an element of Dublin Core"))?;
            *element = Some(((*known).to_owned(), String::new()));
            Ok(())
        }
    }
}

/// Ends the element at `depth`.
fn end(open: &mut Option<OpenElement>, depth: usize, found: &mut Vec<(usize, ForeignValues)>) {
    if open.as_ref().is_some_and(|it| it.depth == depth) {
        found.extend(open.take().map(|it| (it.line, it.values)));
    } else if let Some(OpenElement { values, element, .. }) = open
        && let Some((name, text)) = element.take()
    {
        let text = text.trim();
        // An empty element means that there is no value.
        let values = values.entry(name).or_default();
        if !text.is_empty() {
            values.push(text.to_owned());
        }
    }
}

fn push(open: &mut Option<OpenElement>, more: &str) -> Result<(), String> {
    match open {
        Some(OpenElement { element: Some((_, text)), .. }) => text.push_str(more),
        Some(_) if !more.trim().is_empty() => return Err("a text stands between elements".into()),
        _ => {}
    }
    Ok(())
}

/// The character of a reference.
fn character(reference: &BytesRef<'_>) -> Option<char> {
    let name = reference.xml10_content();
    Some(match &*name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "apos" => '\'',
        "quot" => '"',
        name => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(number)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_read_at_any_depth() {
        let text = "<?xml version='1.0' encoding='UTF-8'?>\n<records><!-- two --><r>\n\
            <oai_dc:dc xmlns:oai_dc='x' xmlns:dc='y'><dc:title>A &amp; B&#x21;</dc:title>\n\
            <dc:creator><![CDATA[<Ana>]]></dc:creator><dc:subject/></oai_dc:dc></r>\n<dc/></records>";
        let found = read(text.as_bytes()).unwrap();
        let values = |pairs: &[(&str, &[&str])]| -> ForeignValues {
            let list = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect();
            pairs.iter().map(|(key, values)| ((*key).to_owned(), list(values))).collect()
        };
        let first: &[(&str, &[&str])] =
            &[("title", &["A & B!"]), ("creator", &["<Ana>"]), ("subject", &[])];
        assert_eq!(found, [(3, values(first)), (5, values(&[]))]);
    }

    #[test]
    fn hostile_documents_are_refused() {
        let deep = "<a>".repeat(MAX_DEPTH + 1);
        for (text, expected) in [
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><dc/>", "a document type is not read"),
            ("<dc>\n<title>&b;</title></dc>", "line 2: `&b;` is not a reference"),
            ("<dc><title>&#xD800;</title></dc>", "is not a reference to a character"),
            ("<dc><titel>A</titel></dc>", "`titel` is not an element"),
            ("<dc><title><b>A</b></title></dc>", "`b` stands within `title`"),
            ("<dc>A</dc>", "a text stands between"),
            ("<dc><title>A</title>", "it ends within an element"),
            ("<dc><title>A</creator></dc>", "line 1: "),
            (&deep, "it is nested deeper than 32"),
            ("<?xml version='1.0' encoding='latin1'?><dc/>", "it is not UTF-8"),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(read(b"<dc><title>\xff</title></dc>").is_err());
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(pieces in proptest::collection::vec(proptest::sample::select(vec![
            "<dc>", "</dc>", "<title>", "</title>", "<a/>", "&amp;", "&#1;", "&", ";", "<![CDATA[", "]]>",
            "<!--", "-->", "<?xml", "?>", "<!DOCTYPE", ">", "<", "x", "\n", "é", "\"", "=",
        ]), 0..40)) {
            let _ = read(pieces.concat().as_bytes());
        }
    }
}
