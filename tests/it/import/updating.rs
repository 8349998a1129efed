//! Rows that were corrected after their items were made.

use std::fs;

use urepo::sidecar::Sidecar;

use crate::support::{Ran, World, change_item};

/// A manifest of three files that was imported.
struct Imported {
    world: World,
    names: Vec<String>,
}

impl Imported {
    fn new() -> Imported {
        let world = World::with_collection();
        for name in ["a", "b", "c"] {
            world.write(&format!("in/{name}"), name);
        }
        let mut imported = Imported { world, names: Vec::new() };
        imported.rows(["A", "B", "C"], "b");
        let ran = imported.import("");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let name = |line: &str| line.split('\t').next().unwrap().to_owned();
        imported.names = ran.stdout.lines().map(name).collect();
        imported
    }

    /// Writes the manifest with these titles, and the next edition of the first item.
    fn rows(&self, [a, b, c]: [&str; 3], next: &str) {
        let text = format!(
            "path,title,subject,relation.next_edition\na,{a},maps,row:{next}\nb,{b},,\nc,{c},,\n"
        );
        self.world.write("in/m.csv", text);
    }

    fn import(&self, more: &str) -> Ran {
        self.world.run(&format!("-c archive import in/m.csv {more}"))
    }

    fn text(&self, at: usize) -> String {
        let path = self.world.path("archive").join(&self.names[at]).join("item.toml");
        fs::read_to_string(path).unwrap()
    }

    fn texts(&self) -> Vec<String> {
        (0..3).map(|at| self.text(at)).collect()
    }

    fn sidecar(&self, at: usize) -> Sidecar {
        Sidecar::read(self.text(at).as_bytes()).unwrap().0
    }
}

#[test]
fn corrected_rows_are_counted_and_on_request_carried_out() {
    let imported = Imported::new();
    assert_eq!(imported.import("").stderr, "nothing to import; 3 there already\n");
    imported.rows(["A", "New", ""], "b");
    let before = imported.texts();
    let differing = "1 row differs from the description of an item imported before";
    for more in ["", "--dry-run"] {
        let ran = imported.import(more);
        assert!(ran.code == 0 && ran.stderr.contains("--update"), "{}", ran.stderr);
        assert!(ran.stderr.contains(differing), "{}", ran.stderr);
    }
    let planned = imported.import("--update --dry-run");
    let expected = format!("would change {}: title: \"B\" -> \"New\"\n", imported.names[1]);
    assert_eq!(planned.succeeded(), expected);
    assert_eq!(imported.texts(), before);
    let ran = imported.import("--update");
    assert_eq!(ran.succeeded(), planned.stdout.replace("would change", "changed"));
    assert!(ran.stderr.ends_with("changed 1 item; 2 there already\n"), "{}", ran.stderr);
    assert_eq!(imported.sidecar(1).metadata.title(), Some("New"));
    assert_eq!(imported.sidecar(2).metadata.title(), Some("C"), "an empty cell leaves it");
    assert_eq!(imported.text(0), before[0]);
    assert_eq!(imported.import("--update").stderr, "nothing to import; 3 there already\n");
}

/// A relation that is new in a row completes an item that is there: the run says so, before and after.
#[test]
fn relations_that_items_lack_are_set_and_reported() {
    let imported = Imported::new();
    let text = "path,title,language,relation.translation_of\na,A,,\nb,B,,\nc,C,pt,row:b\n";
    imported.world.write("in/m.csv", text);
    let before = imported.texts();
    // The description has no language yet, so the other end could not say which translation it is.
    let [b, c] = [1, 2].map(|at| imported.names[at].clone());
    for more in ["--dry-run", ""] {
        let ran = imported.import(more);
        let expected =
            format!("`{c}` cannot be a translation of `{b}` while its language is not known");
        assert!(ran.code == 3 && ran.stderr.contains(&expected), "{}", ran.stderr);
        assert_eq!(imported.texts(), before, "{more}");
    }
    let ran = imported.import("--update");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let related = |at: usize| imported.sidecar(at).relations.table().to_string();
    assert_eq!(related(1).lines().last().unwrap(), format!("pt = \"{c}\""));
    assert_eq!(related(2), format!("translation_of = \"{b}\"\n"));

    imported.world.write("in/m.csv", "path,relation.metadata\na,row:c\nb,\nc,\n");
    let change = format!("{}: relations.metadata: nothing -> \"{c}\"", imported.names[0]);
    let ran = imported.import("--dry-run");
    assert_eq!(ran.succeeded(), format!("would change {change}\n"));
    assert_eq!(ran.stderr, "would change 1 item; 2 there already; nothing was changed\n");
    let ran = imported.import("");
    assert_eq!(ran.succeeded(), format!("changed {change}\n"));
    assert_eq!(ran.stderr, "changed 1 item; 2 there already\n");
    assert_eq!(imported.import("").stderr, "nothing to import; 3 there already\n");
}

#[test]
fn relations_of_rows_are_replaced() {
    let imported = Imported::new();
    imported.rows(["A", "B", "C"], "c");
    // The item keeps its next edition until it is told to change it.
    assert_eq!(imported.import("").code, 3);
    let ran = imported.import("--update");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let related = |at: usize| imported.sidecar(at).relations.table().to_string();
    assert_eq!(related(0), format!("next_edition = \"{}\"\n", imported.names[2]));
    assert_eq!(related(1), "");
    assert_eq!(related(2), format!("previous_edition = \"{}\"\n", imported.names[0]));
}

/// What a row says of one end contradicts that of the other: nothing of both changes, whenever it is imported.
#[test]
fn rows_that_contradict_each_other_are_not_carried_out() {
    let imported = Imported::new();
    let [a, b, c] = [0, 1, 2].map(|at| imported.names[at].clone());
    let text = "path,title,relation.next_edition,relation.previous_edition\n\
        a,A,row:c,\nb,B,,row:a\nc,C,,\n";
    imported.world.write("in/m.csv", text);
    let before = imported.texts();
    for _ in 0..2 {
        let ran = imported.import("--update");
        assert_eq!((ran.code, imported.texts()), (3, before.clone()), "{}", ran.stderr);
        let expected = format!("it contradicts the row of `{b}` in `relation.previous_edition`");
        assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    }
    imported.world.write("in/m.csv", text.replace("row:a", ""));
    assert_eq!(imported.import("--update").code, 0);
    let related = |at: usize| imported.sidecar(at).relations.table().to_string();
    assert_eq!(related(0), format!("next_edition = \"{c}\"\n"));
    assert_eq!(related(2), format!("previous_edition = \"{a}\"\n"));
}

#[test]
fn a_source_of_several_items_is_not_updated() {
    let imported = Imported::new();
    imported.world.write("in/c", "another c");
    assert_eq!(imported.import("").code, 0);
    imported.rows(["A", "B", "New"], "b");
    let before = imported.texts();
    let ran = imported.import("--update");
    assert_eq!((ran.code, imported.texts()), (3, before), "{}", ran.stderr);
    assert!(ran.stderr.contains("2 items were made of"), "{}", ran.stderr);
}

/// A sheet that a spreadsheet has kept from computing means the text, and a pipe is read twice.
#[test]
fn guarded_cells_lose_their_apostrophe() {
    let imported = Imported::new();
    imported.world.write("in/m.csv", "path,title,x.n\na,A,'-5\n");
    let urepo = env!("CARGO_BIN_EXE_urepo");
    let script = format!(
        "mkfifo p && (cat in/m.csv > p &) && \
         {urepo} -c archive import p --format csv --root in --update"
    );
    assert!(imported.world.shell(&script).status().unwrap().success());
    assert_eq!(imported.sidecar(0).metadata.values("x.n").unwrap(), ["-5"]);
}

#[test]
fn only_originals_are_updated() {
    let imported = Imported::new();
    let root = imported.world.path("archive");
    change_item(&root, &imported.names[1], |sidecar| sidecar.state = urepo::item::State::Copy);
    let delete = format!("-c archive delete --yes --force last {}", imported.names[2]);
    imported.world.run(&delete).succeeded();
    let before = imported.texts();
    imported.rows(["A", "New", "New"], "b");
    let ran = imported.import("--update");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    for told in ["is a Copy here", "was deleted here", "; 1 not updated"] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    assert_eq!(imported.texts(), before);
    let records = imported.import("--update --json").stdout;
    assert_eq!(records.matches("\"did\":\"not_updated\"").count(), 1, "{records}");
}

#[test]
fn an_item_that_cannot_be_updated_fails() {
    let imported = Imported::new();
    imported.rows(["New", "New", "C"], "b");
    let path = imported.world.path("archive").join(&imported.names[0]).join("item.toml");
    let edited = imported.text(0).replace("maps", "seas");
    fs::write(&path, &edited).unwrap();
    let ran = imported.import("--update");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("not updated: item.toml of"), "{}", ran.stderr);
    assert_eq!(imported.text(0), edited);
    assert_eq!(imported.sidecar(1).metadata.title(), Some("New"));
}

/// A row is one source, whatever of it fails.
#[test]
fn a_row_whose_relations_fail_is_counted_once() {
    let imported = Imported::new();
    for (next, more, expected) in [
        ("nope", "", "was not related: the relation `next_edition` leads to"),
        ("nope", "", "error: 1 of 3 sources was not imported or related\n"),
        ("a", "--update", "error: 1 of 3 sources was not imported or updated\n"),
    ] {
        imported.rows(["A", "B", "C"], next);
        let ran = imported.import(more);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}
