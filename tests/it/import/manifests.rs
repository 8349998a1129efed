//! Manifests: what their rows say, and what is wrong with them, line by line.

use super::*;
use crate::support::{World, make_collection, scratch};

/// The rows of a manifest below `root`.
pub(super) fn read(
    root: &Path,
    name: &str,
    format: Format,
    columns: Columns,
) -> Result<Candidates, ImportError> {
    read_table(root, name, TableOptions { columns, ..TableOptions::new(format) })
}

/// The rows of a manifest below `root` that is read with these options.
pub(super) fn read_table(
    root: &Path,
    name: &str,
    table: TableOptions,
) -> Result<Candidates, ImportError> {
    let bytes = std::fs::read(root.join(name)).unwrap();
    let root = Arc::new(Dir::open(&resolved(root).unwrap(), Watcher::default()).unwrap());
    let reading = ManifestReader { table, root, links: Links::Keep };
    let reader = Box::new(std::io::Cursor::new(bytes));
    Ok(Box::new(Manifest::new(reader, name.to_owned(), reading)?))
}

/// What becomes of the rows of `text`, with some files beside it.
fn rows(format: Format, text: impl AsRef<[u8]>) -> (Vec<String>, Vec<(String, Sidecar)>) {
    let scratch = scratch();
    let root = scratch.path().join("sources");
    for name in ["a", "b", "c", "d/e", "ü \"q\", x"] {
        write(&root, name, name);
    }
    write(&root, "list", &text);
    let collection = make_collection(&scratch.path().join("archive"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let mut columns = Columns::default();
    // A mapped column has to be there.
    if String::from_utf8_lossy(text.as_ref()).contains("Author") {
        columns.map("Author=creator").unwrap();
    }
    columns.map("Notes=-").unwrap();
    let found = match read(&root, "list", format, columns) {
        Ok(found) => found,
        Err(error) => return (vec![error.to_string()], Vec::new()),
    };
    let (events, _) = import(&collection, found, import_options(), &clock).unwrap();
    (words(&events), origins(&collection))
}

#[test]
fn describe_items_in_every_format() {
    let sha = Digest::of(b"a");
    let csv = format!(
        "\u{feff}Path,sha256,title,Author,Author,x.box,Notes,relation.next_edition\r\n\
         a,{sha},\"A \"\"quoted\"\",\nlong title\",One,Two,17,=1+1,sid.inpe.br/mtc-m18/2009/02.16.17.46\r\n\
         \r\n\"ü \"\"q\"\", x\",,,,,,,\r\n"
    );
    // A formula in a column that is left out harms nobody, but is not looked for either.
    let csv = csv.replace("=1+1", "nothing");
    let jsonl = format!(
        "{{\"path\": \"a\", \"sha256\": \"{sha}\", \"title\": \"A \\\"quoted\\\",\\nlong title\", \
         \"Author\": [\"One\", \"Two\"], \"x\": {{\"box\": 17}}, \"language\": null, \
         \"relation\": {{\"next_edition\": \"sid.inpe.br/mtc-m18/2009/02.16.17.46\"}}}}\n\
         {{\"path\": \"ü \\\"q\\\", x\"}}"
    );
    let toml = format!(
        "[[item]]\npath = 'a'\nsha256 = '{sha}'\ntitle = \"A \\\"quoted\\\",\\nlong title\"\n\
         Author = ['One', 'Two']\nx.box = 17\n\
         relation.next_edition = 'sid.inpe.br/mtc-m18/2009/02.16.17.46'\n\
         [[item]]\npath = 'ü \"q\", x'\n"
    );
    let tsv = format!(
        "path\tsha256\ttitle\tAuthor\tAuthor\tx.box\trelation.next_edition\n\
         a\t{sha}\t\"A \"\"quoted\"\",\nlong title\"\tOne\tTwo\t17\tsid.inpe.br/mtc-m18/2009/02.16.17.46\n\
         \"ü \"\"q\"\", x\"\t\t\t\t\t\t\n"
    );
    let texts =
        [(Format::Csv, csv), (Format::Jsonl, jsonl), (Format::Toml, toml), (Format::Tsv, tsv)];
    for (format, text) in texts {
        let (words, items) = rows(format, &text);
        assert_eq!(words, ["a imported", "ü \"q\", x imported"], "{format:?}");
        let sidecar = &items[0].1;
        let expected = "title = \"A \\\"quoted\\\",\\nlong title\"\ncreator = ['One', 'Two']\n\
                        [x]\nbox = '17'";
        assert_eq!(*sidecar.metadata.table(), expected.parse().unwrap(), "{format:?}");
        let relations = "next_edition = 'sid.inpe.br/mtc-m18/2009/02.16.17.46'".parse().unwrap();
        assert_eq!(*sidecar.relations.table(), relations, "{format:?}");
    }
}

#[test]
fn keep_names_that_items_have() {
    let name = "SID.inpe.br/mtc-m18/2009/02.16.17.46";
    let text = format!(
        "path,identifier,ibip\na,{name},8JMKD3MGP8W/34PGRBS\nb,{name},\n\
         c,example.org/archive/9999/01.01.00.00,\nd,not a name,\n"
    );
    let (words, items) = rows(Format::Csv, text);
    assert_eq!(words[0], "a imported");
    assert_eq!(words[1], "line 3: `sid.inpe.br/mtc-m18/2009/02.16.17.46` is on line 2 already");
    let ahead = "line 4: `example.org/archive/9999/01.01.00.00` may still be issued";
    assert!(words[2].starts_with(ahead), "{}", words[2]);
    assert!(
        words[3].starts_with("line 5, column `identifier` (B5): invalid repository name"),
        "{}",
        words[3]
    );
    assert_eq!(items.len(), 1);
    let sidecar = &items[0].1;
    assert_eq!(sidecar.ibip.as_ref().unwrap().to_string(), "8JMKD3MGP8W/34PGRBS");
    assert_eq!(sidecar.created.to_string(), "2009-02-16T17:46:00Z");
    assert_eq!(sidecar.state, urepo::item::State::Original);
}

/// An opaque name stands for one item: of two rows the second is refused, and so is a row with the IBIp of an item
/// that is there.
#[test]
fn give_no_opaque_name_twice() {
    let scratch = scratch();
    let root = scratch.path().join("sources");
    for name in ["a", "b", "c"] {
        write(&root, name, name);
    }
    let ibip = "8JMKD3MGP8W/34PGRBS";
    let row =
        |file: &str, word: &str| format!("{file},sid.inpe.br/{word}/2009/02.16.17.46,{ibip}\n");
    let collection = make_collection(&scratch.path().join("archive"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let run = |rows: String| {
        write(&root, "list", format!("path,identifier,ibip\n{rows}"));
        let found = read(&root, "list", Format::Csv, Columns::default()).unwrap();
        words(&import(&collection, found, import_options(), &clock).unwrap().0)
    };
    let expected = format!("line 3: `{ibip}` is on line 2 already");
    assert_eq!(
        run(row("a", "mtc-m18") + &row("b", "mtc-m19")),
        ["a imported".to_owned(), expected]
    );
    let expected =
        format!("line 2: `{ibip}` is the IBIp of `sid.inpe.br/mtc-m18/2009/02.16.17.46` already");
    assert_eq!(run(row("c", "mtc-m19")), [expected]);
    assert_eq!(run(row("a", "mtc-m18")), ["a there"]);
}

#[test]
fn of_one_line_have_one_name_each() {
    let name = "sid.inpe.br/mtc-m18/2009/02.16.17.46";
    let row = |path: &str| format!("{{ path = '{path}', identifier = '{name}' }}");
    let (words, items) = rows(Format::Toml, format!("item = [{}, {}]\n", row("a"), row("b")));
    assert_eq!(words, ["a imported".to_owned(), format!("line 1: `{name}` is on line 1 already")]);
    assert_eq!(items.len(), 1);
}

#[test]
fn are_refused_row_by_row() {
    let long = "x".repeat(10 * 1024 * 1024);
    let wrong = Digest::of(b"other");
    let mut text = format!(
        "path,title,sha256\na,A,{wrong}\n../a,up,\n/etc/hostname,absolute,\nmissing,M,\nb,too,many,values\n\
         c,=cmd|'/c calc'!A1,\nc,\"bell \u{7}\",\nc,C,nonsense\n,nothing,\n{long},long,\nb,\"open\nb,B,\nb,again,\n"
    )
    .into_bytes();
    text.extend_from_slice(b"c,\xff,\nd,last,");
    let (words, items) = rows(Format::Csv, text);
    let expected = [
        "b imported",
        "d imported",
        "line 10: it has no path",
        "line 11: it is longer than 1 MiB; `--rejects` leaves it out",
        "line 12: a quote begins on it and does not end",
        "line 14: `b` is on line 13 already",
        "line 15, column `title` (B15): `\\xff` is not UTF-8, and reads `ÿ` in Windows-1252",
        "line 2: the bytes of `a` do not have the SHA-256 that was given",
        "line 3, column `path` (A3): the path `../a` leads out of the directory of the manifest",
        "line 4, column `path` (A4): the path `/etc/hostname` leads out of the directory of the manifest",
        "line 6: it has 4 values, and there are 3 columns",
        "line 7, column `title` (B7): the value of `title` is a formula",
        "line 8, column `title` (B8): the text of `title` is longer than 64 KiB, or has control characters",
        "line 9, column `sha256` (C9): expected a SHA-256 digest of 64 hexadecimal digits",
    ];
    let (missing, words): (Vec<_>, Vec<_>) =
        words.into_iter().partition(|word| word.starts_with("line 5: "));
    assert_eq!(words, expected);
    assert!(missing[0].contains("missing"), "{missing:?}");
    assert_eq!(items.len(), 2);
}

#[test]
fn are_refused_as_a_whole_if_their_columns_are_not_understood() {
    for (text, expected) in [
        ("", "line 1: there is no column `path`"),
        ("title\na\n", "line 1: there is no column `path`"),
        ("\npath,box\na,17\n", "line 2: the column `box` means nothing"),
        ("path,\"open\na\n", "line 1: a quote begins on it and does not end"),
        // As programs of old wrote it: all rows are one line, and none may get lost.
        (
            "path,title\ra,A\rb,B\r",
            "line 1: it has a carriage return before its end; lines end with LF or CRLF",
        ),
    ] {
        assert_eq!(rows(Format::Csv, text).0, [expected]);
    }
    let (words, items) = rows(Format::Csv, "path\r\na\rb\r\nc\r\n");
    let expected = "line 2: it has a carriage return before its end; lines end with LF or CRLF";
    assert_eq!((words, items.len()), (vec!["c imported".to_owned(), expected.to_owned()], 1));
    let (words, _) = rows(Format::Toml, "[[item]]\npath = 'a'\n[[item]]\npath = \n");
    assert!(words[0].starts_with("line 4: it cannot be read"), "{words:?}");
    let (words, _) = rows(Format::Jsonl, "{\"path\": \"a\", \"box\": 1}\n[1]\n{\"path\": 7,\n");
    assert_eq!(words[0], "line 1: the column `box` means nothing");
    assert!(words[1].starts_with("line 2: it cannot be read"), "{words:?}");
    assert!(words[2].starts_with("line 3: it cannot be read"), "{words:?}");
}

#[test]
fn name_sources_beneath_their_directory_in_any_spelling() {
    let (words, _) = rows(Format::Csv, "path\nd//e\n././a\nd/./e\n");
    assert_eq!(words, ["a imported", "e imported", "line 4: `d/e` is on line 2 already"]);
    let world = World::with_collection();
    let path = resolved(&world.write("in/a", "a")).unwrap();
    world.write("in/m.csv", format!("path\n{}\n", path.display()));
    world.run("-c archive import in/m.csv").succeeded();
}

/// `--map` of a column that no record has is an order that cannot be carried out.
#[test]
fn that_lack_a_mapped_column_are_refused() {
    let scratch = scratch();
    let root = scratch.path().join("sources");
    write(&root, "a", "a");
    let mapped = |format, text: &str, mapping: &str| {
        write(&root, "list", text);
        let mut columns = Columns::default();
        columns.map(mapping).unwrap();
        let errors = |rows: Candidates| {
            rows.filter_map(Result::err).map(|it| it.error.to_string()).collect()
        };
        read(&root, "list", format, columns).map_or_else(|error| vec![error.to_string()], errors)
    };
    let absent = ["line 1: there is no column `Schöpfer`, to which `--map` gives a meaning"];
    let none: [&str; 0] = [];
    for (format, text) in [
        (Format::Csv, "path;title\na;A\n"),
        (Format::Tsv, "path\ttitle\na\tA\n"),
        (Format::Jsonl, "{\"path\": \"a\"}\n"),
        (Format::Toml, "[[item]]\npath = 'a'\n"),
    ] {
        assert_eq!(mapped(format, text, "Schöpfer=creator"), absent, "{text}");
        assert_eq!(mapped(format, text, "Schöpfer=-"), none, "{text}");
    }
    // Case and Unicode form do not count, and one of the records is enough.
    let some = "{\"path\": \"a\"}\n{\"path\": \"a/b\", \"scho\u{308}pfer\": \"B\"}\n";
    assert_eq!(mapped(Format::Jsonl, some, "Schöpfer=creator"), none);
    assert_eq!(mapped(Format::Csv, "Path,SCHÖPFER\na,B\n", "Schöpfer=creator"), none);
}
