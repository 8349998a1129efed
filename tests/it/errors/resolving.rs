//! What is told of persistent URLs that lead nowhere.

use super::*;
use crate::resolve::{name, put};

/// Two collections of few items: an edition and a translation that are elsewhere, a circle, a tombstone.
fn with_relations() -> World {
    let world = World::with_collection();
    crate::support::make_collection(&world.path("mirror"));
    let items = [
        "language = 'en'\nrelations.next_edition = 'example.org/x/2026/01.01.00.09'",
        "relations.next_edition = 'example.org/x/2026/01.01.00.02'",
        "relations.next_edition = 'example.org/x/2026/01.01.00.01'",
        "state = 'Deleted'",
        "state = 'Copy'",
        "title = 'one'",
    ];
    for (number, row) in items.into_iter().enumerate() {
        put(&world.path("archive"), &name(number), &row.parse().unwrap());
    }
    put(&world.path("mirror"), &name(5), &"title = 'two'".parse().unwrap());
    world
}

/// Runs `urepo resolve` in the world of [`with_relations`].
#[track_caller]
fn resolve(world: &World, arguments: &[&str], code: i32) -> Told {
    let line = ["-c", "archive", "resolve", "--with", "mirror"];
    refuses_args(world, [&line[..], arguments].concat(), code)
}

#[test]
fn that_cannot_be_read() {
    let world = with_relations();
    let refuses = |rest: &str| resolve(&world, &[&format!("{}{rest}", name(0))], 1);
    refuses(":!").tells(str![[r#"
error: invalid persistent URL `example.org/x/2026/01.01.00.00:!`
  example.org/x/2026/01.01.00.00:!
                                 ^ `!` cannot follow `:`
hint: a persistent URL is an identifier, modifiers such as `!`, `+(pt)` and `:(oai_dc)`, and a path; put it in quotes

"#]]);
    refuses("+(por)").tells(str![[r#"
error: invalid persistent URL `example.org/x/2026/01.01.00.00+(por)`
  example.org/x/2026/01.01.00.00+(por)
                                  ^^^ expected a tag such as `pt` or `pt-BR`
hint: a persistent URL is an identifier, modifiers such as `!`, `+(pt)` and `:(oai_dc)`, and a path; put it in quotes

"#]]);
    refuses("?ibiurl.verblist=GetAll").tells(str![[r#"
error: invalid persistent URL `example.org/x/2026/01.01.00.00?ibiurl.verblist=GetAll`
  example.org/x/2026/01.01.00.00?ibiurl.verblist=GetAll
                                                 ^^^^^^ expected `GetLastEdition`, `GetTranslation`, `GetMetadata` or `GetFileList`
hint: a persistent URL is an identifier, modifiers such as `!`, `+(pt)` and `:(oai_dc)`, and a path; put it in quotes

"#]]);
    refuses("?ibiurl.requireditemstatus=Copy").tells(str![[r#"
error: invalid persistent URL `example.org/x/2026/01.01.00.00?ibiurl.requireditemstatus=Copy`
  example.org/x/2026/01.01.00.00?ibiurl.requireditemstatus=Copy
                                                           ^^^^ expected `Original`
hint: a persistent URL is an identifier, modifiers such as `!`, `+(pt)` and `:(oai_dc)`, and a path; put it in quotes

"#]]);
    resolve(&world, &["http://urlib.net/"], 1).tells(str![[r#"
error: invalid persistent URL `http://urlib.net/`
  http://urlib.net/
                   ^ expected an identifier such as sid.inpe.br/mtc-m18/2009/02.16.17.46 or 8JMKD3MGP8W/34PGRBS
hint: a persistent URL is an identifier, modifiers such as `!`, `+(pt)` and `:(oai_dc)`, and a path; put it in quotes

"#]]);
    crate::errors::refuses(&world, &format!("UREPO_LANGUAGES=pt;r=1 resolve {}", name(0)), 2)
        .tells(str![[r#"
error: the variable UREPO_LANGUAGES says `pt;r=1`
caused by: expected `q=` and 0 to 1

"#]]);
    resolve(&world, &["--pairs", &format!("{}?urlkey=12", name(0))], 2).tells(str![[r#"
error: `urlkey=` has a wrong value
caused by: expected one or two numbers of ten digits or more, with `-` between

"#]]);
}

#[test]
fn that_lead_nowhere() {
    let world = with_relations();
    let refuses = |number: usize, rest: &str, code| {
        resolve(&world, &[&format!("{}{rest}", name(number))], code)
    };
    refuses(9, "", 21).tells(str![[r#"
error: no item `example.org/x/2026/01.01.00.09` in 2 known collections
hint: `urepo status --settings` shows which are known; `--with COLLECTION` adds one

"#]]);
    refuses(0, "!", 21).tells(str![[r#"
error: the next edition of `example.org/x/2026/01.01.00.00` is `example.org/x/2026/01.01.00.09`, which is not here
hint: name the collection that holds it with `--with COLLECTION`

"#]]);
    refuses(0, "+(pt)", 21).tells(str![[r#"
error: `example.org/x/2026/01.01.00.00` has no translation into `pt`
hint: it is available in `+(en)`

"#]]);
    refuses(1, "+(pt)", 21).tells(str![[r#"
error: `example.org/x/2026/01.01.00.01` has no translation into `pt`
hint: `urepo -c archive show` prints the language and the relations of an item

"#]]);
    refuses(0, ":(marc)", 21).tells(str![[r#"
error: `example.org/x/2026/01.01.00.00` has no metadata in the format `marc`
hint: formats are `oai_dc`, `bibtex`, `datacite`, `abnt`, `apa`, `ris` and `csl`; `urepo -c archive resolve example.org/x/2026/01.01.00.00:` leads to any

"#]]);
    refuses(0, "/b.txt", 21).tells(str![[r#"
error: no file `b.txt` in `example.org/x/2026/01.01.00.00`
hint: `urepo -c archive resolve 'example.org/x/2026/01.01.00.00?ibiurl.verblist=GetFileList'` lists its files

"#]]);
    refuses(0, ":/b.txt", 21).tells(str![[r#"
error: the description of `example.org/x/2026/01.01.00.00` has no files
hint: `urepo -c archive resolve example.org/x/2026/01.01.00.00:` prints where the description is

"#]]);
    refuses(1, "!", 20).tells(str![[r#"
error: the editions of `example.org/x/2026/01.01.00.01` lead in a circle
hint: `urepo -c archive show example.org/x/2026/01.01.00.01` prints its relations

"#]]);
    refuses(3, "", 22).tells(str![[r#"
error: `example.org/x/2026/01.01.00.03` was deleted on 2026-11-21T00:00:00Z
hint: `urepo -c archive status example.org/x/2026/01.01.00.03` shows what is left of it

"#]]);
}

#[test]
fn that_want_the_original() {
    let world = with_relations();
    resolve(&world, &["--original", &name(4)], 21).tells(str![[r#"
error: no collection holds the Original of `example.org/x/2026/01.01.00.04`
hint: the ledger lacks the line of the last change: urepo -c archive recover

"#]]);
    resolve(&world, &["--original", &name(5)], 23).tells(str![[r#"
error: `example.org/x/2026/01.01.00.05` has two Originals
caused by: `[WORLD]/archive` and `[WORLD]/mirror` both say that they hold it
hint: the ledger lacks the line of the last change: urepo -c archive recover

"#]]);
}
