//! Any description comes back from any document as it was.

use std::ops::ControlFlow;

use proptest::prelude::*;
use urepo::collection::UrlBase;
use urepo::export::metadata::{Document, DocumentFormat, Row, RowColumns};
use urepo::import::described::{DescriptionImport, ItemFinder, RowOutcome, rows};
use urepo::import::{Format, TableOptions};
use urepo::sidecar::Metadata;

use super::super::Archive;
use super::*;

/// What the rows of `document` would change in the only item, or why they would not.
fn differences(collection: &Collection, document: Vec<u8>, format: Format) -> Vec<String> {
    let (agent, clock) = (agent(), TestClock::at("2026-12-01T00:00:00Z"));
    let interrupt = Interrupt::default();
    let caller = caller(&agent, &clock, &interrupt);
    let finder = ItemFinder::new(collection, PathBuf::from("/"));
    let amender = Amender {
        collection,
        sight: urepo::holdings::Sight::alone(),
        writer: None,
        locks: None,
        caller,
    };
    let import = DescriptionImport { finder: &finder, amender, clears: true };
    let read = match rows(
        Box::new(std::io::Cursor::new(document)),
        "document",
        &TableOptions::new(format),
    ) {
        Ok(read) => read,
        Err(error) => return vec![error.to_string()],
    };
    let mut told = Vec::new();
    let checked = import.check(read, &interrupt, &mut |outcome| {
        match outcome {
            RowOutcome::Item(plan) => told.push(format!("{:?}", plan.changes)),
            RowOutcome::Unchanged(_) => {}
            RowOutcome::Refused { error, .. } => told.push(error.to_string()),
        }
        ControlFlow::Continue(())
    });
    assert_eq!(checked.rows, 1);
    told
}

const FORMATS: [(DocumentFormat, Format); 4] = [
    (DocumentFormat::Toml, Format::Toml),
    (DocumentFormat::Jsonl, Format::Jsonl),
    (DocumentFormat::Csv, Format::Csv),
    (DocumentFormat::Tsv, Format::Tsv),
];

fn value() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "B",
        "é",
        " ",
        "  ",
        ",",
        ";",
        "|",
        "\"",
        "'",
        "=",
        "@",
        "+",
        "-",
        "(",
        "\n",
        "\r\n",
        "\t",
        "{",
        "}",
        "\\",
        "&",
        "<",
        "%",
        "$",
        "~",
        " and ",
        "10.1234/x",
        "doi:",
        "http://",
        "1911",
        "example.org/a/2026/11.21.02.13",
        "\u{feff}",
        "\u{2028}",
        "sep=",
    ]);
    prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_description_comes_back(
        pairs in prop::collection::vec(
            (prop::sample::select(vec![
                "title", "alternative", "creator", "contributor", "subject", "identifier", "abstract",
                "description", "rights", "license", "publisher", "type", "bibliographicCitation", "relation",
                "editor", "pages", "version", "extent",
                "source", "x.box", "x.citationkey",
            ]), value()),
            0..10,
        ),
    ) {
        let archive = Archive::new();
        let mut metadata = Metadata::default();
        for (key, text) in pairs {
            // What a description does not take is not in it.
            let _ = metadata.add(key, &text);
        }
        change_item(&archive.world.path("archive"), &archive.name, |sidecar| {
            sidecar.metadata = metadata.clone();
        });
        let (sidecar, collection) = (archive.sidecar(), archive.open());
        for (format, read) in FORMATS {
            let mut columns = RowColumns::default();
            columns.add(&Row::of(&sidecar));
            for is_list in [true, false] {
                let (base, day) = (UrlBase::default(), "2026-11-29T12:00:00Z".parse().unwrap());
                let mut document = Document::new(format, columns.clone(), is_list, base, day);
                let mut bytes = document.head();
                bytes.extend(document.item(&sidecar).unwrap());
                bytes.extend(document.tail());
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let told = differences(&collection, bytes, read);
                prop_assert!(told.is_empty(), "{format:?}: {told:?}\n{text}");
            }
        }
    }
}
