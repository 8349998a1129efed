//! Dublin Core in the XML of OAI-PMH: fifteen elements, all of them repeatable.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use super::mapping::TERMS;
use super::work::Work;

/// The elements in the order of the schema.
const ELEMENTS: [&str; 15] = [
    "title",
    "creator",
    "subject",
    "description",
    "publisher",
    "contributor",
    "date",
    "type",
    "format",
    "identifier",
    "source",
    "language",
    "relation",
    "coverage",
    "rights",
];

const NAMESPACES: [(&str, &str); 4] = [
    ("xmlns:oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc/"),
    ("xmlns:dc", "http://purl.org/dc/elements/1.1/"),
    ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
    (
        "xsi:schemaLocation",
        "http://www.openarchives.org/OAI/2.0/oai_dc/ \
         http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
    ),
];

/// The text around several descriptions.
pub(super) const LIST_HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<descriptions>\n";
pub(super) const LIST_TAIL: &str = "</descriptions>\n";

/// A description without the declaration of XML, which occurs once in a document.
pub(super) fn bare(rendered: &[u8]) -> &[u8] {
    let end = rendered.windows(2).position(|two| two == b"?>").map_or(0, |at| at + 2);
    rendered[end..].trim_ascii_start()
}

pub(super) fn render(work: &Work<'_>) -> Vec<u8> {
    let mut text = write(work).expect("because memory takes everything that is written to it");
    text.push(b'\n');
    text
}

fn write(work: &Work<'_>) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut root = BytesStart::new("oai_dc:dc");
    for namespace in NAMESPACES {
        root.push_attribute(namespace);
    }
    writer.write_event(Event::Start(root))?;
    for element in ELEMENTS {
        for value in values(work, element) {
            let value: String = value.chars().map(sayable).collect();
            let name = format!("dc:{element}");
            writer.create_element(name.as_str()).write_text_content(BytesText::new(&value))?;
        }
    }
    writer.write_event(Event::End(BytesEnd::new("oai_dc:dc")))?;
    Ok(writer.into_inner())
}

fn values(work: &Work<'_>, element: &str) -> Vec<String> {
    let of_element = TERMS.iter().filter(|row| row.element == Some(element)).map(|row| row.term);
    match element {
        "creator" | "contributor" => {
            let people = of_element.flat_map(|term| work.people(term).names);
            people.map(|name| name.plain).collect()
        }
        "publisher" => work.publishers(),
        "identifier" => {
            let own = [work.sidecar.repository.to_string(), work.url.clone()].into_iter();
            let labels = work.sidecar.ibip.iter().map(ToString::to_string);
            own.chain(labels).chain(of_element.flat_map(|it| work.terms.values(it))).collect()
        }
        "source" => {
            let source = source(work).or_else(|| work.text("event")).into_iter();
            source.chain(work.terms.values("source")).collect()
        }
        "relation" => {
            let items = work.terms.related().map(|(_, relation)| relation.to.to_string());
            of_element.flat_map(|term| work.terms.values(term)).chain(items).collect()
        }
        _ => of_element.flat_map(|term| work.terms.values(term)).collect(),
    }
}

/// `Revista, v. 2, n. 3, p. 7-16`: where the work was published.
fn source(work: &Work<'_>) -> Option<String> {
    let mut text = work.container()?;
    let numbers = [
        ("v.", work.text("volume")),
        ("n.", work.text("number")),
        ("p.", work.pages().map(|pages| pages.text("-"))),
    ];
    for (word, number) in numbers {
        text += &number.map(|number| format!(", {word} {number}")).unwrap_or_default();
    }
    Some(text)
}

/// XML 1.0 cannot represent most control characters.
fn sayable(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => {
            character
        }
        _ => '\u{fffd}',
    }
}
