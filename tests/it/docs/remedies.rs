//! The table of remedies in the pages is that of the program.

use urepo::custody::remedy::Row;

use super::page;

#[test]
fn the_table_of_remedies_stands_in_the_pages() {
    for (path, has_sentences) in [
        ("docs/decisions/0010-custody.md", true),
        ("docs/guide.md", true),
        ("docs/pt-BR/guia.md", false),
    ] {
        let text = page(path);
        let is_row = |line: &&str| Row::all().iter().any(|row| begins(line, row.number()));
        let written: Vec<_> = text.lines().filter(is_row).collect();
        assert_eq!(written.len(), Row::all().len(), "{path}");
        for (line, row) in written.iter().zip(Row::all()) {
            assert!(begins(line, row.number()), "{path}: {line}");
            let state = format!("| {} | {} |", row.number(), row.sentence());
            assert!(!has_sentences || line.starts_with(&state), "{path}: {line}");
        }
    }
}

fn begins(line: &str, number: &str) -> bool {
    line.starts_with(&format!("| {number} | "))
}
