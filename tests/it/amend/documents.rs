//! Descriptions leave in documents, and come back corrected.

mod faults;
mod properties;
mod refusals;

use super::*;
use crate::support::Ran;

/// An archive with three items, and what its program says.
struct Library {
    world: World,
    names: Vec<String>,
}

impl Library {
    fn new() -> Library {
        let world = World::new();
        let archive = make_collection(&world.path("archive"));
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let requests = ["a", "b", "c"].map(|name| request(world.write(name, name)));
        deposit(&archive, requests.into(), options(), &clock, |_| ()).unwrap();
        let library = Library { names: whole_items(&archive), world };
        library
            .set(0, "title='=One \"two\", three' creator='Silva, Ana' creator='B & C' language=pt");
        library.set(1, "title=Two 'abstract=A\nB' subject='a, b' subject=c x.box=7");
        library
            .set(2, "dc.title=Three issued=1911 rights=R access=closed access.allow=192.0.2.0/24");
        let [a, b, _] = [0, 1, 2].map(|at| &library.names[at]);
        library.run(&format!("meta set {a} next_edition={b}"));
        library
    }

    /// The same archive somewhere else.
    fn copy(&self) -> Library {
        let world = World::new();
        crate::support::copy_tree(&self.world.path("archive"), &world.path("archive"));
        Library { world, names: self.names.clone() }
    }

    fn set(&self, at: usize, keys: &str) {
        let urepo = env!("CARGO_BIN_EXE_urepo");
        let keys = keys.replace("dc.title", "title");
        let script = format!("{urepo} -q -c archive meta set {} {keys}", self.names[at]);
        assert!(self.world.shell(&script).status().unwrap().success(), "{script}");
    }

    #[track_caller]
    fn run(&self, line: &str) -> String {
        let ran = self.world.run(&format!("-c archive {line}"));
        ran.succeeded().to_owned() + &ran.stderr
    }

    /// Writes the descriptions of all items into `file`, in the format of its extension.
    fn print_into(&self, file: &str) {
        let format = file.rsplit_once('.').unwrap().1;
        self.world.write(file, self.run(&format!("show --all --as {format}")));
    }

    fn import(&self, file: &str, more: &str) -> Ran {
        self.world.run(&format!("-c archive meta import {file} {more}"))
    }

    fn text(&self, at: usize) -> String {
        let path = self.world.path("archive").join(&self.names[at]).join("item.toml");
        fs::read_to_string(path).unwrap()
    }

    fn texts(&self) -> Vec<String> {
        [0, 1, 2].map(|at| self.text(at)).into()
    }

    fn sidecar(&self, at: usize) -> Sidecar {
        Sidecar::read(self.text(at).as_bytes()).unwrap().0
    }

    fn values(&self, at: usize, key: &str) -> Vec<String> {
        self.sidecar(at).metadata.values(key).unwrap()
    }

    /// Replaces text in a document.
    #[track_caller]
    fn correct(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.world.path(file)).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(self.world.path(file), text.replacen(from, to, 1)).unwrap();
    }
}

/// The documents that come back, by their names.
const FILES: [&str; 4] = ["d.toml", "d.jsonl", "d.csv", "d.tsv"];

#[test]
fn what_comes_back_as_it_left_changes_nothing() {
    let library = Library::new();
    let before = library.texts();
    for file in FILES {
        library.print_into(file);
        let ran = library.import(file, "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, "nothing to change\n"), "{file}");
        let ran = library.import(file, "--clear-empty");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, "nothing to change\n"), "{file}");
        assert_eq!(library.texts(), before, "{file}");
    }
    let one = format!("show {} --as", library.names[2]);
    for format in ["toml", "jsonl", "csv", "tsv"] {
        library.world.write("one", library.world.run(&format!("-c archive {one} {format}")).stdout);
        let ran = library.import("one", &format!("--format {format}"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, "nothing to change\n"), "{format}");
    }
}

#[test]
fn what_is_corrected_in_a_document_is_all_that_changes() {
    for file in FILES {
        let library = Library::new();
        library.print_into(file);
        let before = library.texts();
        library.correct(file, "Two", "Zwei");
        library.correct(file, "Silva, Ana", "Souza, Ana");
        let planned = library.import(file, "--dry-run");
        assert!(planned.succeeded().contains("title: \"Two\" -> \"Zwei\""), "{}", planned.stdout);
        assert_eq!(library.texts(), before, "{file}");
        let ran = library.import(file, "");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.ends_with("changed 2 items; 1 unchanged\n"), "{}", ran.stderr);
        assert_eq!(library.text(2), before[2], "{file}");
        assert_eq!(library.values(1, "title"), ["Zwei"], "{file}");
        assert_eq!(library.values(0, "creator"), ["Souza, Ana", "B & C"], "{file}");
        for (at, from, to) in [(0, "Silva, Ana", "Souza, Ana"), (1, "Two", "Zwei")] {
            let date = |line: &&str| {
                !["timestamp", "described", "sha256", "id = ", "follows"]
                    .iter()
                    .any(|it| line.starts_with(it))
            };
            let expected = before[at].replacen(from, to, 1);
            let lines = |text: &str| text.lines().filter(date).collect::<Vec<_>>().join("\n");
            assert_eq!(lines(&library.text(at)), lines(&expected), "{file}");
        }
        assert_eq!(library.import(file, "").stderr, "nothing to change\n", "{file}");
    }
}

#[test]
fn columns_that_are_there_replace_and_empty_cells_leave() {
    let library = Library::new();
    let [a, b, _] = [0, 1, 2].map(|at| &library.names[at]);
    let table = format!(
        "IDENTIFIER;Título;subject|;x.box;publisher;relation.next_edition\n\
         {a};;maps|sea;;Press;\n{b};New;;;;\n"
    );
    library.world.write("t.csv", &table);
    assert!(library.import("t.csv", "").stderr.contains("changed 2 items"));
    assert_eq!(library.values(0, "subject"), ["maps", "sea"]);
    assert_eq!(library.values(0, "publisher"), ["Press"]);
    assert_eq!(library.values(0, "title"), ["=One \"two\", three"]);
    assert_eq!(library.values(1, "title"), ["New"]);
    assert_eq!(library.values(1, "subject"), ["a, b", "c"]);
    assert_eq!(library.values(1, "x.box"), ["7"]);
    assert!(library.import("t.csv", "--clear-empty").stderr.contains("changed 2 items"));
    assert_eq!(library.values(0, "title"), [""; 0]);
    assert_eq!(library.values(1, "subject"), [""; 0]);
    assert_eq!(library.values(1, "x.box"), [""; 0]);
    assert_eq!(library.values(1, "abstract"), ["A\nB"], "it has no column");
    assert!(library.sidecar(0).relations.is_empty() && library.sidecar(1).relations.is_empty());
    let list = format!("{{\"identifier\": \"{a}\", \"publisher\": [], \"title\": null}}\n");
    library.world.write("t.jsonl", list);
    assert_eq!(library.import("t.jsonl", "").stderr, "nothing to change\n");
    library.import("t.jsonl", "--clear-empty").succeeded();
    assert_eq!(library.values(0, "publisher"), [""; 0]);
}

#[test]
fn an_item_is_named_in_any_way() {
    let library = Library::new();
    let [a, _, c] = [0, 1, 2].map(|at| &library.names[at]);
    let end = a.rsplit_once('/').unwrap().1;
    let table = format!("identifier,title\n{end},A\nhttp://urlib.net/{c},C\n");
    library.world.write("t.csv", table);
    library.import("t.csv", "").succeeded();
    assert_eq!(
        (library.values(0, "title"), library.values(2, "title")),
        (vec!["A".into()], vec!["C".into()])
    );
    let aliased = "83LX3pFwXQZeBBx/65ij";
    library.set(1, &format!("identifier={aliased}"));
    library.run("recover --index");
    library.world.write("t.csv", format!("ibip,title\n{aliased},B\n"));
    library.import("t.csv", "").succeeded();
    assert_eq!(library.values(1, "title"), ["B"]);
    library.world.write("in/x", "x");
    library.world.write("in/y", "y");
    library.world.write("in/m.csv", "path,title\nx,X\ny,Y\n");
    let made = library.run("import in/m.csv");
    let x = made.lines().find(|line| line.ends_with("/x")).unwrap().split('\t').next().unwrap();
    library.world.write("in/m.csv", "path,title\nx,New\ny,Y\n");
    let ran = library.import("in/m.csv", "--dry-run");
    assert_eq!(ran.succeeded(), format!("would change {x}: title: \"X\" -> \"New\"\n"));
    // Another source of the same path: it is not clear which item is meant.
    library.world.write("in/x", "another x");
    library.run("import in");
    let ran = library.import("in/m.csv", "");
    assert!(ran.stderr.contains("line 2: 2 items were made of `x`"), "{}", ran.stderr);
}

#[test]
fn relations_change_at_both_ends() {
    let library = Library::new();
    let [a, b, c] = [0, 1, 2].map(|at| &library.names[at]);
    library.print_into("d.csv");
    // In the row of A alone: that of B says that it follows A.
    library.correct("d.csv", &format!(",{b},"), &format!(",{c},"));
    let before = library.texts();
    for _ in 0..2 {
        let ran = library.import("d.csv", "");
        assert_eq!(ran.code, 1);
        let expected = format!("it contradicts the row of `{b}` in `relation.previous_edition`");
        assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
        assert_eq!(library.texts(), before);
    }
    library.correct("d.csv", &format!(",{a}\n"), ",\n");
    let planned = library.import("d.csv", "--dry-run").stdout;
    assert_eq!(planned.lines().count(), 3, "{planned}");
    let ran = library.import("d.csv", "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let related = |at: usize| library.sidecar(at).relations.table().to_string();
    assert_eq!(related(0), format!("next_edition = \"{c}\"\n"));
    assert_eq!(related(1), "");
    assert_eq!(related(2), format!("previous_edition = \"{a}\"\n"));
    assert_eq!(library.import("d.csv", "").stderr, "nothing to change\n");
}

/// Two rows exchange their next editions, and what one removes makes room for the other.
#[test]
fn relations_of_several_rows_are_checked_together() {
    let library = Library::new();
    let [a, b, c] = [0, 1, 2].map(|at| &library.names[at]);
    let before = library.texts();
    let table = |rows: &[(&str, &str, &str)]| {
        let row = |(name, title, next): &(&str, &str, &str)| format!("{name},{title},{next}\n");
        let rows: String = rows.iter().map(row).collect();
        library.world.write("t.csv", format!("identifier,title,relation.next_edition\n{rows}"));
    };
    // B and C cannot both precede A, and no edition precedes itself.
    for rows in [
        [(b.as_str(), "New", a.as_str()), (c, "New", a), (a, "New", "")],
        [(b, "New", c), (c, "New", a), (a, "New", "")],
    ] {
        table(&rows);
        let ran = library.import("t.csv", "");
        assert_eq!((ran.code, library.texts()), (1, before.clone()), "{}", ran.stderr);
        assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
    }
    // A leaves B to C, in whatever order.
    table(&[(c, "Three", b), (a, "=One", "")]);
    library.correct("t.csv", ",=One,", ",One,");
    library.import("t.csv", "--clear-empty").succeeded();
    let related = |at: usize| library.sidecar(at).relations.table().to_string();
    assert_eq!(related(0), "");
    assert_eq!(related(1), format!("previous_edition = \"{c}\"\n"));
    assert_eq!(related(2), format!("next_edition = \"{b}\"\n"));
    assert_eq!(library.import("t.csv", "--clear-empty").stderr, "nothing to change\n");
}

#[test]
fn values_that_stay_keep_their_types_and_blanks() {
    let library = Library::new();
    let (root, name) = (library.world.path("archive"), &library.names[0]);
    change_item(&root, name, |sidecar| {
        let table = "title = [\"A\", \"B\"]\ncreator = [\" A \", \"\"]\nlanguage = \"PT_br\"\n\
            publisher = \"a\\u0001b\"\n[x]\nshelf = [3, 4]\n";
        let text = library.text(0);
        let start = text.find("[metadata]").unwrap();
        let end = text[start + 1..].find("\n[").map_or(text.len(), |at| start + 1 + at);
        let text = format!(
            "{}[metadata]\n{}{}",
            &text[..start],
            table.replace("[x]", "[metadata.x]"),
            &text[end..]
        );
        sidecar.metadata = Sidecar::read(text.as_bytes()).unwrap().0.metadata;
    });
    for file in FILES {
        library.print_into(file);
        let ran = library.import(file, "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, "nothing to change\n"), "{file}");
    }
    let table = format!("identifier,x.shelf,x.shelf,creator\n{name},3,5,A\n");
    library.world.write("t.csv", table);
    library.import("t.csv", "").succeeded();
    let held = library.sidecar(0).metadata;
    let expected: toml::Table = "shelf = [3, \"5\"]".parse().unwrap();
    assert_eq!(held.table()["x"].as_table(), Some(&expected));
    assert_eq!(held.values("creator").unwrap(), ["A"], "without blanks");
}

#[test]
fn a_document_comes_by_standard_input() {
    let library = Library::new();
    let urepo = env!("CARGO_BIN_EXE_urepo");
    let script = format!(
        "{urepo} -c archive show --all --as jsonl | sed s/Two/Zwei/ | \
         {urepo} -c archive meta import --format jsonl -"
    );
    assert!(library.world.shell(&script).status().unwrap().success());
    assert_eq!(library.values(1, "title"), ["Zwei"]);
    // A pipe with a name is read once.
    let script = format!(
        "mkfifo p && ({urepo} -c archive show --all --as jsonl | sed s/Zwei/Dois/ > p &) && \
         {urepo} -c archive meta import --format jsonl p"
    );
    assert!(library.world.shell(&script).status().unwrap().success());
    assert_eq!(library.values(1, "title"), ["Dois"]);
}

#[test]
fn numbers_keep_their_digits() {
    let library = Library::new();
    let [a, b, _] = [0, 1, 2].map(|at| &library.names[at]);
    let digits = "1234567890123456789012";
    let row = format!("{{\"identifier\": \"{a}\", \"x\": {{\"box\": [1.10, {digits}]}}}}");
    library.world.write("t.jsonl", row + "\n");
    library.import("t.jsonl", "").succeeded();
    assert_eq!(library.values(0, "x.box"), ["1.10", digits]);
    library.world.write(
        "t.jsonl",
        format!("{{\"identifier\": \"{b}\", \"title\": \"A\", \"title\": \"B\"}}\n"),
    );
    assert!(library.import("t.jsonl", "").stderr.contains("`title` is given twice"));
    library.world.write("t.toml", format!("[[item]]\nidentifier = '{b}'\nx.box = 1.10\n"));
    assert!(library.import("t.toml", "").stderr.contains("keeps its digits in quotes"));
}
