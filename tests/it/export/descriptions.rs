//! Descriptions beside the files.

use super::*;

const RELATIONS: [(&str, &str); 9] = [
    ("next_edition", "example.org/archive/2026/11.21.02.14"),
    ("previous_edition", "8JMKD3MGP8W/35MMLL8"),
    ("translation.pt", "example.org/archive/2026/11.21.02.15"),
    ("translation_of", "example.org/archive/2026/11.21.02.16"),
    ("metadata", "example.org/archive/2026/11.21.02.17"),
    ("metadata_of", "example.org/archive/2026/11.21.02.18"),
    ("part_of", "example.org/archive/2026/11.21.02.19"),
    ("part_of", "example.org/archive/2026/11.21.02.20"),
    ("x.review", "83LX3pFwXQZeBBx/65ij"),
];

fn rendered(format: MetadataFormat, change: impl FnOnce(&mut Metadata)) -> String {
    let (world, name) = world_with_item();
    let collection = open(&world, &Watcher::default());
    let (mut sidecar, _) = collection.item(&name).unwrap().sidecar().unwrap();
    for (kind, to) in RELATIONS {
        sidecar.relations.add(&kind.parse().unwrap(), &to.parse().unwrap(), None).unwrap();
    }
    change(&mut sidecar.metadata);
    let day = "2026-11-29T12:00:00Z".parse().unwrap();
    String::from_utf8(format.render(&sidecar, &UrlBase::default(), day)).unwrap()
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
  <dc:identifier>http://urlib.net/example.org/archive/2026/11.21.02.13</dc:identifier>
  <dc:identifier>doi:10.1000/182</dc:identifier>
  <dc:language>en</dc:language>
  <dc:relation>https://example.org/other</dc:relation>
  <dc:relation>example.org/archive/2026/11.21.02.17</dc:relation>
  <dc:relation>example.org/archive/2026/11.21.02.18</dc:relation>
  <dc:relation>example.org/archive/2026/11.21.02.14</dc:relation>
  <dc:relation>example.org/archive/2026/11.21.02.19</dc:relation>
  <dc:relation>example.org/archive/2026/11.21.02.20</dc:relation>
  <dc:relation>8JMKD3MGP8W/35MMLL8</dc:relation>
  <dc:relation>example.org/archive/2026/11.21.02.15</dc:relation>
  <dc:relation>example.org/archive/2026/11.21.02.16</dc:relation>
  <dc:relation>83LX3pFwXQZeBBx/65ij</dc:relation>
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
  doi = {10.1000/182},
  nextedition = {example.org/archive/2026/11.21.02.14},
  previousedition = {8JMKD3MGP8W/35MMLL8},
  translation = {pt example.org/archive/2026/11.21.02.15},
  translationof = {example.org/archive/2026/11.21.02.16},
  metadatarepository = {example.org/archive/2026/11.21.02.17},
  metadataof = {example.org/archive/2026/11.21.02.18},
  nexthigherunit = {example.org/archive/2026/11.21.02.19 example.org/archive/2026/11.21.02.20},
  related = {83LX3pFwXQZeBBx/65ij},
  url = {http://urlib.net/example.org/archive/2026/11.21.02.13},
  repository = {example.org/archive/2026/11.21.02.13},
  entrysubtype = {dataset}
}

"#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a whole record")]
fn in_datacite() {
    same(
        &rendered(MetadataFormat::Datacite, |_| ()),
        str![[r#"
{
  "alternateIdentifiers": [
    {
      "alternateIdentifier": "example.org/archive/2026/11.21.02.13",
      "alternateIdentifierType": "IBI"
    }
  ],
  "creators": [
    {
      "familyName": "Silva",
      "givenName": "Ana",
      "name": "Silva, Ana",
      "nameType": "Personal"
    },
    {
      "name": "Smith and Sons",
      "nameType": "Organizational"
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
  "doi": "10.1000/182",
  "language": "en",
  "publicationYear": "1999",
  "publisher": {
    "name": ":unav"
  },
  "relatedIdentifiers": [
    {
      "relatedIdentifier": "http://urlib.net/example.org/archive/2026/11.21.02.17",
      "relatedIdentifierType": "URL",
      "relationType": "HasMetadata"
    },
    {
      "relatedIdentifier": "http://urlib.net/example.org/archive/2026/11.21.02.18",
      "relatedIdentifierType": "URL",
      "relationType": "IsMetadataFor"
    },
    {
      "relatedIdentifier": "http://urlib.net/example.org/archive/2026/11.21.02.14",
      "relatedIdentifierType": "URL",
      "relationType": "IsPreviousVersionOf"
    },
    {
      "relatedIdentifier": "http://urlib.net/example.org/archive/2026/11.21.02.19",
      "relatedIdentifierType": "URL",
      "relationType": "IsPartOf"
    },
    {
      "relatedIdentifier": "http://urlib.net/example.org/archive/2026/11.21.02.20",
      "relatedIdentifierType": "URL",
      "relationType": "IsPartOf"
    },
    {
      "relatedIdentifier": "http://urlib.net/8JMKD3MGP8W/35MMLL8",
      "relatedIdentifierType": "URL",
      "relationType": "IsNewVersionOf"
    },
    {
      "relatedIdentifier": "http://urlib.net/example.org/archive/2026/11.21.02.15",
      "relatedIdentifierType": "URL",
      "relationType": "HasTranslation"
    },
    {
      "relatedIdentifier": "http://urlib.net/example.org/archive/2026/11.21.02.16",
      "relatedIdentifierType": "URL",
      "relationType": "IsTranslationOf"
    },
    {
      "relatedIdentifier": "http://urlib.net/83LX3pFwXQZeBBx/65ij",
      "relatedIdentifierType": "URL",
      "relationType": "References"
    },
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
  },
  "url": "http://urlib.net/example.org/archive/2026/11.21.02.13"
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
    assert_eq!(record["publicationYear"], "0000", "the deposit dates no work");
    assert_eq!(record["types"]["resourceTypeGeneral"], "Other");
}

/// Dates are those of ISO 8601, with the date as typed where that says more.
#[test]
fn in_datacite_with_odd_dates() {
    let text = rendered(MetadataFormat::Datacite, |metadata| {
        *metadata = Metadata::default();
        metadata.add("date", "1900~").unwrap();
        metadata.add("issued", "187X").unwrap();
        metadata.add("identifier", "10.1000/1").unwrap();
        metadata.add("identifier", "10.1000/2").unwrap();
        metadata.add("identifier", "isbn:85-1").unwrap();
    });
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    let dates: Vec<_> = record["dates"].as_array().unwrap().iter().map(|it| &it["date"]).collect();
    assert_eq!(dates, ["1870/1879", "1900", "2026-11-21T02:13:00Z"]);
    assert_eq!(record["dates"][0]["dateInformation"], "187X");
    assert_eq!(record["publicationYear"], "0000", "a decade is not a year");
    assert_eq!(record["doi"], "10.1000/1");
    let others = record["alternateIdentifiers"].as_array().unwrap();
    let others: Vec<_> =
        others.iter().map(|it| it["alternateIdentifierType"].as_str().unwrap()).collect();
    assert_eq!(others, ["IBI", "DOI", "Other"]);
}

/// A description as a reference by ABNT and by APA.
fn references(terms: &[(&str, &str)]) -> [String; 2] {
    [MetadataFormat::Abnt, MetadataFormat::Apa].map(|format| {
        rendered(format, |metadata| {
            *metadata = Metadata::default();
            for (term, text) in terms {
                metadata.add(term, text).unwrap();
            }
        })
    })
}

const URL: &str = "http://urlib.net/example.org/archive/2026/11.21.02.13";

/// The end of a reference by ABNT, and the place of publication that nobody knows.
const END: &str = "Disponível em: http://urlib.net/example.org/archive/2026/11.21.02.13. Acesso em: 29 nov. 2026.";
const UNKNOWN: &str = "[S. l.: s. n.], [s. d.].";

#[test]
fn in_references() {
    let [abnt, apa] = references(&[
        ("creator", "Silva, Ana Maria"),
        ("creator", "Sartre, Jean-Paul"),
        ("creator", "Instituto Nacional"),
        ("title", "Preservação da\nmemória"),
        ("publisher", "INPE"),
        ("date", "2009-02"),
        ("identifier", "doi:10.1000/182"),
    ]);
    assert_eq!(
        abnt,
        format!(
            "SILVA, Ana Maria; SARTRE, Jean-Paul; INSTITUTO NACIONAL. Preservação da memória. \
             [S. l.]: INPE, 2009. DOI: https://doi.org/10.1000/182. {END}\n"
        )
    );
    assert_eq!(
        apa,
        "Silva, A. M., Sartre, J.-P., & Instituto Nacional. (2009). Preservação da memória. INPE. \
         https://doi.org/10.1000/182\n"
    );
    let [abnt, apa] = references(&[("title", "What is an item?")]);
    assert_eq!(abnt, format!("WHAT is an item? {UNKNOWN} {END}\n"));
    assert_eq!(apa, format!("What is an item? (n.d.). {URL}\n"));
    let [abnt, apa] = references(&[]);
    assert_eq!(abnt, format!("[Sem título]. {UNKNOWN} {END}\n"));
    assert_eq!(apa, format!("[Untitled]. (n.d.). {URL}\n"));
}

#[test]
fn in_references_with_many_authors() {
    let many: Vec<_> = (b'A'..=b'V').map(|it| format!("{}a, Bo", it as char)).collect();
    let many: Vec<_> = many.iter().map(|name| ("creator", name.as_str())).collect();
    let [abnt, apa] = references(&many[..4]);
    assert!(abnt.starts_with("AA, Bo et al. [Sem título]. "), "{abnt}");
    assert!(apa.starts_with("Aa, B., Ba, B., Ca, B., & Da, B. (n.d.). "), "{apa}");
    let [_, apa] = references(&many[..20]);
    assert!(apa.contains("Sa, B., & Ta, B. (n.d.)"), "{apa}");
    let [_, apa] = references(&many);
    assert!(apa.contains("Ra, B., Sa, B., … Va, B. (n.d.)"), "{apa}");
}

/// `et al.` stands for people, and is none.
#[test]
fn in_references_with_others() {
    let terms = [("creator", "Łoś, Jan"), ("creator", "e outros"), ("date", "-0044")];
    let [abnt, apa] = references(&terms);
    assert!(
        abnt.starts_with("ŁOŚ, Jan et al. [Sem título]. [S. l.: s. n.], 45 a.C. Disp"),
        "{abnt}"
    );
    assert!(apa.starts_with("Łoś, J., et al. (45 B.C.E.). [Untitled]. "), "{apa}");
    let in_format = |format| {
        rendered(format, |metadata| {
            *metadata = Metadata::default();
            for (term, text) in [("creator", "Łoś, Jan"), ("creator", "et al."), ("date", "1911~")]
            {
                metadata.add(term, text).unwrap();
            }
        })
    };
    let bibtex = in_format(MetadataFormat::Bibtex);
    assert!(bibtex.contains("  author = {Łoś, Jan and others},\n"), "{bibtex}");
    assert!(bibtex.contains("  year = {ca. 1911},\n  date = {1911~},\n"), "{bibtex}");
    let record: serde_json::Value =
        serde_json::from_str(&in_format(MetadataFormat::Datacite)).unwrap();
    assert_eq!(record["creators"][1]["name"], ":etal");
    assert_eq!(record["publicationYear"], "1911");
    let dublin_core = in_format(MetadataFormat::DublinCore);
    assert!(!dublin_core.contains("et al"), "{dublin_core}");
    assert!(dublin_core.contains("<dc:date>1911~</dc:date>"), "{dublin_core}");
}

#[test]
fn persistent_urls_begin_as_the_collection_says() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    let settings = world.path("archive/urepo.toml");
    append(&settings, "[archive]\nurl_base = \"https://id.example.org/\"\n");
    let run = |line: &str| world.run(&format!("-c archive {line}")).succeeded().to_owned();
    let formats = "--as abnt --as apa --as datacite";
    run(&format!("export {name} --to out {formats}"));
    let item = std::fs::read_dir(world.path("out")).unwrap().next().unwrap().unwrap().path();
    let exported = |file: &str| std::fs::read_to_string(item.join(file)).unwrap();
    for text in [
        exported("abnt.txt"),
        exported("apa.txt"),
        exported("datacite.json"),
        run(&format!("show {name} --as datacite")),
        run(&format!("resolve {name}:(apa)")),
        run(&format!("resolve --json {name}:(apa)")),
    ] {
        assert!(text.contains(&format!("https://id.example.org/{name}")), "{text}");
    }
    let text = std::fs::read_to_string(&settings).unwrap().replace("https:", "gopher:");
    std::fs::write(&settings, text).unwrap();
    let ran = world.run("-c archive list");
    assert!(ran.stderr.contains("such as `http://urlib.net/`"), "{}", ran.stderr);
}
