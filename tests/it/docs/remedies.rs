//! The table of remedies in the pages is that of the program.

use std::collections::BTreeSet;

use urepo::custody::remedy::Row;

use super::page;
use crate::remedies::commands;

/// The words of a page for a collection that has to be mounted, and for a row without a remedy.
const WORDS: [[&str; 2]; 2] = [["mount it; ", "nothing here: "], ["monte-o; ", "nada aqui: "]];

#[test]
fn the_table_of_remedies_stands_in_the_pages() {
    let commands = commands();
    for (path, has_sentences, [mount, nothing]) in [
        ("docs/decisions/0010-custody.md", true, WORDS[0]),
        ("docs/guide.md", true, WORDS[0]),
        ("docs/pt-BR/guia.md", false, WORDS[1]),
    ] {
        let text = page(path);
        let is_row = |line: &&str| Row::all().iter().any(|row| begins(line, row.number()));
        let written: Vec<_> = text.lines().filter(is_row).collect();
        assert_eq!(written.len(), Row::all().len(), "{path}");
        for (line, row) in written.iter().zip(Row::all()) {
            assert!(begins(line, row.number()), "{path}: {line}");
            let state = format!("| {} | {} |", row.number(), row.sentence());
            assert!(!has_sentences || line.starts_with(&state), "{path}: {line}");
            let remedy = line.split(" | ").nth(2).unwrap();
            let words = typed(remedy);
            match commands.get(row) {
                Some(row) => assert_eq!(words, row.typed, "{path}: {line}"),
                None => assert_eq!(words.len(), 0, "{path}: {line}"),
            }
            let waits = commands.get(row).is_some_and(|row| row.waits);
            assert_eq!(remedy.starts_with(mount), waits, "{path}: {line}");
            let is_silent = !commands.contains_key(row);
            assert_eq!(remedy.starts_with(nothing), is_silent, "{path}: {line}");
        }
    }
}

/// The commands in a cell of the table, in English and without their collection.
fn typed(cell: &str) -> BTreeSet<String> {
    let commands = cell.split('`').filter_map(|it| it.strip_prefix("urepo "));
    let english = |it: &str| {
        let words = [("ACERVO", "COLLECTION"), ("DETENTOR", "HOLDER"), ("BOM", "GOOD")];
        let text = words.iter().fold(it.to_owned(), |text, (own, other)| text.replace(own, other));
        text.trim_start_matches("-c GOOD ").to_owned()
    };
    commands.map(english).collect()
}

fn begins(line: &str, number: &str) -> bool {
    line.starts_with(&format!("| {number} | "))
}
