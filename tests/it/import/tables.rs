//! Tables as spreadsheets of all countries write them.

use super::manifests::read_table;
use super::*;
use crate::support::{make_collection, scratch};

/// What becomes of the rows of a table, with the files of `names` beside it, and what the items say of themselves.
fn rows(
    options: TableOptions,
    text: impl AsRef<[u8]>,
    names: &[&str],
) -> (Vec<String>, Vec<Sidecar>) {
    let scratch = scratch();
    let root = scratch.path().join("sources");
    for name in names {
        write(&root, name, name);
    }
    write(&root, "list", text);
    let collection = make_collection(&scratch.path().join("archive"));
    let found = match read_table(&root, "list", options) {
        Ok(found) => found,
        Err(error) => return (vec![error.to_string()], Vec::new()),
    };
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let (events, _) = import(&collection, found, import_options(), &clock).unwrap();
    (words(&events), origins(&collection).into_iter().map(|it| it.1).collect())
}

fn csv() -> TableOptions {
    TableOptions::new(Format::Csv)
}

fn value(sidecar: &Sidecar, term: &str) -> String {
    sidecar.metadata.values(term).unwrap().join(" + ")
}

#[test]
fn their_delimiter_is_found() {
    for text in [
        "Ficheiro;Título;Assunto|\na;Cartas, 1911;mapas | cartas|\n",
        "\u{feff}Ficheiro,Título,Assunto|\r\na,\"Cartas, 1911\",mapas|cartas\r\n",
        "Ficheiro\tTítulo\tAssunto;\na\tCartas, 1911\tmapas;cartas\n",
        "Ficheiro|Título|Assunto;\na|Cartas, 1911|mapas;cartas\n",
        "sep=|\nFicheiro|Título|Assunto;\na|Cartas, 1911|mapas;cartas\n",
        "SEP=;\r\nFicheiro;Título;Assunto|\r\na;Cartas, 1911;mapas|cartas\r\n",
    ] {
        let (words, items) = rows(csv(), text, &["a"]);
        assert_eq!(words, ["a imported"], "{text}");
        assert_eq!(value(&items[0], "title"), "Cartas, 1911");
        assert_eq!(value(&items[0], "subject"), "mapas + cartas");
    }
    let ambiguous = rows(csv(), "box;shelf,row\n1;2,3\n", &[]).0;
    assert_eq!(ambiguous, ["line 1: its delimiter may be any of `;`, `,`"]);
    let options = TableOptions { delimiter: Some(b'!'), ..csv() };
    let (words, items) = rows(options, "sep=;\npath!title\na!A;B\n", &["a"]);
    assert_eq!((words, value(&items[0], "title")), (vec!["a imported".to_owned()], "A;B".into()));
}

#[test]
fn their_encoding_is_found_or_asked_for() {
    let text = "Ficheiro;Título\r\nação.txt;“Ação” – nº 1\r\n";
    let utf16 = |to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    };
    let windows: Vec<u8> = text
        .chars()
        .map(|c| match c {
            '“' => 0x93,
            '”' => 0x94,
            '–' => 0x96,
            c => u8::try_from(c).unwrap(),
        })
        .collect();
    let marked = [b"\xff\xfe".as_slice(), &utf16(u16::to_le_bytes)].concat();
    for (bytes, encoding) in [
        (text.as_bytes().to_vec(), None),
        (text.as_bytes().to_vec(), Some(Encoding::Utf8)),
        (marked, Some(Encoding::Windows1252)),
        (utf16(u16::to_le_bytes), Some(Encoding::Utf16Le)),
        (utf16(u16::to_be_bytes), Some(Encoding::Utf16Be)),
        (windows.clone(), Some(Encoding::Windows1252)),
    ] {
        let options = TableOptions { encoding, ..csv() };
        let (words, items) = rows(options, bytes, &["ação.txt"]);
        assert_eq!(words, ["ação.txt imported"], "{encoding:?}");
        assert_eq!(value(&items[0], "title"), "“Ação” – nº 1");
    }
    let told = |bytes: Vec<u8>| rows(csv(), bytes, &["ação.txt"]).0;
    let expected = "line 1, cell B1: `T\\xedtulo` is not UTF-8, and reads `Título` in Windows-1252";
    assert_eq!(told(windows), [expected]);
    assert_eq!(told(utf16(u16::to_le_bytes)), ["line 1: it has NUL bytes, as UTF-16 has"]);
}

/// Rows of empty cells, and cells beyond the table, are what spreadsheets add where somebody once typed.
#[test]
fn their_empty_cells_say_nothing() {
    let text = ";;;\n\npath;title;;\n;;\na;A;;\n\"\";;;\n;;;;;;;\nb;B;;;;\nc;C;extra;\nd;D\n;;;\n";
    let (words, items) = rows(csv(), text, &["a", "b", "c", "d"]);
    let expected = [
        "a imported",
        "b imported",
        "line 10: it has 2 values, and there are 4 columns",
        "line 9, cell C9: `extra` stands in a column without a name",
    ];
    assert_eq!(words, expected);
    assert_eq!(value(&items[1], "title"), "B");
}

#[test]
fn their_errors_name_the_cell() {
    let text = "path;title;language\n\na;\"two\nlines\";pt\nb;B;portugues\n";
    let (words, _) = rows(csv(), text, &["a", "b"]);
    // The fifth line is the fourth row: a blank one counts, and the third has two lines.
    assert_eq!(words[0], "a imported");
    assert!(words[1].starts_with("line 5, column `language` (C4): "), "{}", words[1]);
    let (words, _) = rows(csv(), "path;Titel;Regal;Fach\na;A;1;2\n", &["a"]);
    assert_eq!(words, ["line 1: the columns `Regal`, `Fach` mean nothing"]);
    let (words, _) = rows(csv(), "Título;Autor\nA;B\n", &["a"]);
    assert_eq!(words, ["line 1: there is no column `path`"]);
}

/// The same letters are other bytes on macOS: one file of that spelling is meant, two are not guessed between.
#[test]
fn their_paths_have_any_unicode_form() {
    let (composed, decomposed) = ("a\u{e7}\u{e3}o", "ac\u{327}a\u{303}o");
    let both = "a\u{e7}a\u{303}o";
    let table = format!("path\n{composed}/{composed}.txt\n");
    let file = format!("{decomposed}/{decomposed}.txt");
    let (words, items) = rows(csv(), &table, &[&file]);
    assert_eq!(words, [format!("{decomposed}.txt imported")]);
    assert_eq!(items.len(), 1);
    let table = format!("path\n{decomposed}\n{composed}\n");
    assert_eq!(
        rows(csv(), &table, &[composed]).0,
        [format!("{composed} imported"), format!("line 3: `{composed}` is on line 2 already")]
    );
    let (words, _) = rows(csv(), format!("path\n{both}\n"), &[composed, decomposed]);
    let expected = format!(
        "line 2, column `path` (A2): the path `{both}` may be any of several files, whose names differ in Unicode \
         form only"
    );
    assert_eq!(words, [expected]);
    // The exact name is meant where it is there.
    let (words, _) = rows(csv(), format!("path\n{composed}\n"), &[composed, decomposed]);
    assert_eq!(words, [format!("{composed} imported")]);
}

/// Made by `tests/spreadsheets/make.sh` in offices of three countries.
#[test]
fn of_spreadsheets_are_read_with_every_accent() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/spreadsheets/");
    let windows = Some(Encoding::Windows1252);
    for (name, encoding, files, first, second) in [
        (
            "pt-BR.csv",
            None,
            ["ação.txt", "carta.txt"],
            ["Coração: “São João”; às vezes", "Conceição, José", "Água, pão & limão", "1911"],
            ["À mãe", "Antônio Brandão", "nº 3 – 2ª via", "1911-03-12"],
        ),
        (
            "de.csv",
            windows,
            ["Größe.txt", "Brief.txt"],
            ["Straße „Ärger“; Öl", "Müller, Jürgen", "Übersicht, groß", "1911/1912"],
            ["Grüße", "Größ, Änne", "5 € – „neu“", "1911-03-12"],
        ),
        (
            "en.csv",
            None,
            ["café.txt", "letter.txt"],
            ["The “Café”, first edition", "O'Brien, Zoë", "naïve – 100 %", "1911~"],
            ["Dear Ægir", "Smith, J.", "two; parts", "1911-03-12"],
        ),
        (
            "en-utf-16.csv",
            None,
            ["café.txt", "letter.txt"],
            ["The “Café”, first edition", "O'Brien, Zoë", "naïve – 100 %", "1911~"],
            ["Dear Ægir", "Smith, J.", "two; parts", "1911-03-12"],
        ),
    ] {
        let text = std::fs::read(format!("{directory}{name}")).unwrap();
        let options = TableOptions { encoding, ..csv() };
        let (words, items) = rows(options, &text, &files);
        let mut expected = files.map(|file| format!("{file} imported"));
        expected.sort();
        assert_eq!(words, expected, "{name}");
        for (item, expected) in items.iter().zip([first, second]) {
            let terms = ["title", "creator", "description", "date"].map(|term| value(item, term));
            assert_eq!(terms, expected, "{name}");
        }
    }
}

/// The page of tables has the names of columns that are understood.
#[test]
fn of_names_are_documented() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tables.md"));
    let page = page.unwrap();
    for (column, synonyms) in urepo::import::COLUMN_SYNONYMS {
        let row = format!("| `{column}` | {} |", synonyms.join(", "));
        assert!(page.contains(&row), "{row}");
    }
}
