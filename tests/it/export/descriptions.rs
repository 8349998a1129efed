//! Descriptions beside the files.

use super::*;

fn rendered(format: MetadataFormat, change: impl FnOnce(&mut Metadata)) -> String {
    let (world, name) = world_with_item();
    let collection = open(&world, &Watcher::default());
    let (mut sidecar, _) = collection.item(&name).unwrap().sidecar().unwrap();
    change(&mut sidecar.metadata);
    String::from_utf8(format.render(&sidecar)).unwrap()
}

#[track_caller]
fn same(actual: &str, expected: snapbox::data::Inline) {
    let assert = snapbox::Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    assert.normalize_paths(false).eq(actual, expected);
}

#[test]
fn in_dublin_core() {
    same(
        &rendered(MetadataFormat::DublinCore, |_| ()),
        str![[r#"
<?xml version="1.0" encoding="UTF-8"?>
<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/oai_dc/ http://www.openarchives.org/OAI/2.0/oai_dc.xsd">
  <dc:title>R&amp;D &lt;in&gt; {braces}</dc:title>
  <dc:creator>Silva, Ana</dc:creator>
  <dc:creator>Smith and Sons</dc:creator>
  <dc:description>50% of $5,
in two lines</dc:description>
  <dc:date>1999-12-31</dc:date>
  <dc:type>dataset</dc:type>
  <dc:identifier>example.org/archive/2026/11.21.02.13</dc:identifier>
  <dc:identifier>doi:10.1000/182</dc:identifier>
  <dc:language>en</dc:language>
  <dc:relation>https://example.org/other</dc:relation>
</oai_dc:dc>

"#]],
    );
}

#[test]
fn in_bibtex() {
    same(
        &rendered(MetadataFormat::Bibtex, |_| ()),
        str![[r#"
@misc{example.org+archive+2026+11.21.02.13,
  title = {{R\&D <in> \textbraceleft{}braces\textbraceright{}}},
  author = {Silva, Ana and {Smith and Sons}},
  year = {1999},
  date = {1999-12-31},
  abstract = {50\% of \$5, in two lines},
  language = {en},
  repository = {example.org/archive/2026/11.21.02.13}
}

"#]],
    );
}

#[test]
fn in_datacite() {
    same(
        &rendered(MetadataFormat::Datacite, |_| ()),
        str![[r#"
{
  "creators": [
    {
      "name": "Silva, Ana"
    },
    {
      "name": "Smith and Sons"
    }
  ],
  "dates": [
    {
      "date": "1999-12-31",
      "dateType": "Issued"
    },
    {
      "date": "2026-11-21T02:13:00Z",
      "dateType": "Submitted"
    }
  ],
  "descriptions": [
    {
      "description": "50% of $5,\nin two lines",
      "descriptionType": "Abstract"
    }
  ],
  "identifiers": [
    {
      "identifier": "10.1000/182",
      "identifierType": "DOI"
    },
    {
      "identifier": "example.org/archive/2026/11.21.02.13",
      "identifierType": "IBI"
    }
  ],
  "language": "en",
  "publicationYear": "1999",
  "publisher": {
    "name": ":unav"
  },
  "relatedIdentifiers": [
    {
      "relatedIdentifier": "https://example.org/other",
      "relatedIdentifierType": "URL",
      "relationType": "References"
    }
  ],
  "schemaVersion": "http://datacite.org/schema/kernel-4",
  "sizes": [
    "9 bytes",
    "2 files"
  ],
  "titles": [
    {
      "title": "R&D <in> {braces}"
    }
  ],
  "types": {
    "resourceTypeGeneral": "Dataset"
  }
}

"#]],
    );
}

/// What DataCite demands is there, even of an item of which nothing is said.
#[test]
fn in_datacite_of_nothing() {
    let text = rendered(MetadataFormat::Datacite, |metadata| *metadata = Metadata::default());
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["creators"][0]["name"], ":unav");
    assert_eq!(record["titles"][0]["title"], ":unav");
    assert_eq!(record["publisher"]["name"], ":unav");
    assert_eq!(record["publicationYear"], "2026");
    assert_eq!(record["types"]["resourceTypeGeneral"], "Other");
}
