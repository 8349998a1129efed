//! Rows that are refused, and what happens to the others.

use super::*;

#[test]
fn one_bad_row_leaves_all_items_as_they_are() {
    let library = Library::new();
    let [a, b, c] = [0, 1, 2].map(|at| &library.names[at]);
    let before = library.texts();
    let table = format!("identifier,title,language\n{a},A,\n{b},B,?\n{c},C,en\n");
    library.world.write("t.csv", table);
    let ran = library.import("t.csv", "");
    assert_eq!((ran.code, library.texts()), (1, before.clone()), "{}", ran.stderr);
    for told in [
        "`t.csv`",
        "line 3",
        "`?` is not a language tag",
        "1 of 3 rows cannot be used; nothing was changed",
    ] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let library = Library::new();
    let a = &library.names[0];
    let gone = "example.org/archive/2009/02.16.17.46";
    let before = library.texts();
    for (file, text, expected) in [
        ("t.csv", format!("identifier,titulus\n{a},A\n"), "`titulus`"),
        ("t.csv", "title\nA\n".to_owned(), "there is no column `identifier`"),
        ("t.csv", format!("identifier,title\n{a},A\n{a},B\n"), "line 3: `"),
        ("t.csv", format!("identifier,title\n{gone},A\n"), "line 2: no item"),
        ("t.csv", format!("identifier,title\n{a},=1+1\n"), "is a formula"),
        ("t.csv", "identifier,title\n,A\n".to_owned(), "line 2: it names no item"),
        ("t.csv", format!("identifier,title,title\n{a},A,B\n"), "`title` is given twice"),
        (
            "t.csv",
            format!("identifier,relation.next_edition\n{a},{a}\n"),
            "cannot be related to itself",
        ),
        ("t.csv", format!("identifier,transferable\n{a},no\n"), "`no` is not a value"),
        ("t.jsonl", format!("{{\"identifier\": \"{a}\"}}\n{{\"identifier\": 1}}\n"), "line 2: "),
        ("t.jsonl", "[{]".to_owned(), "line 1: "),
        ("t.toml", format!("[[item]]\nidentifier = '{a}'\ntitulus = 'A'\n"), "`titulus`"),
    ] {
        library.world.write(file, &text);
        let ran = library.import(file, "");
        assert_eq!(ran.code, 1, "{text}\n{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{text}\n{}", ran.stderr);
        assert!(ran.stderr.contains(file), "{text}\n{}", ran.stderr);
        assert_eq!(library.texts(), before, "{text}");
    }
    assert_eq!(library.world.run("-c archive meta import t.ods").code, 2);
    assert_eq!(library.import("t.xml", "").code, 2);
    assert_eq!(library.import("t.xml", "--format bibtex").code, 2);
}

/// A Copy and a tombstone are not changed, and rows that are as they are do no harm.
#[test]
fn only_originals_are_changed() {
    let library = Library::new();
    library.print_into("d.csv");
    change_item(&library.world.path("archive"), &library.names[1], |sidecar| {
        sidecar.state = State::Copy;
        sidecar.origin.insert("collection".into(), "0123".into());
    });
    library.run(&format!("delete --yes --force last {}", library.names[2]));
    let before = library.texts();
    assert_eq!(library.import("d.csv", "").stderr, "nothing to change\n");
    library.correct("d.csv", "Two", "Zwei");
    library.correct("d.csv", "Three", "Drei");
    library.correct("d.csv", "Silva", "Souza");
    let ran = library.import("d.csv", "");
    assert_eq!((ran.code, library.texts()), (1, before), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("is not the Original here, which alone is changed"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("is deleted"), "{}", ran.stderr);
}
