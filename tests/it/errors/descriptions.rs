//! Descriptions that are not understood.

use super::*;

#[test]
fn that_are_not_understood() {
    let world = world_with_file();
    refuses(&world, "-c archive new a.txt --meta title", 2).tells(str![[r#"
error: `--meta title` has no `=`
hint: write `--meta key=value`, or `--meta @FILE`

"#]]);
    refuses(&world, "-c archive new a.txt --meta box=17", 2).tells(str![[r#"
error: `box` is not a term
hint: `x.box` is a key of your own; the terms are abstract, advisor, alternative, audience, bibliographicCitation, booktitle, contributor, coverage, creator, date, degree, description, edition, editor, event, extent, format, identifier, illustrator, institution, issued, journal, language, license, number, pages, place, provenance, publisher, recipient, relation, rights, series, source, subject, title, translator, type, version, volume

"#]]);
    refuses_args(&world, ["-c", "archive", "new", "a.txt", "--meta", "x.a b=17"], 2).tells(str![[
        r#"
error: `x.a b` has characters other than letters, digits, `-` and `_`
hint: name it in such letters, as in `x.shelf-mark`

"#
    ]]);
    let title = |text| ["-c", "archive", "new", "a.txt", "--title", text];
    refuses_args(&world, title(" "), 2).tells(str![[r#"
error: the text of `title` is empty
hint: leave it out; `urepo -c archive meta set ITEM KEY=` removes a key

"#]]);
    refuses_args(&world, title("a\u{7}"), 2).tells(str![[r#"
error: the text of `title` is longer than 64 KiB, or has control characters

"#]]);
    refuses(&world, "-c archive new a.txt --title a --meta title=b", 2).tells(str![[r#"
error: `title` is given twice

"#]]);
    refuses(&world, "-c archive new a.txt --meta date=12/03/1911", 2).tells(str![[r#"
error: `date`: `12/03/1911` is not a date such as `1911-03-12`, `1911-03`, `1911~` or `1911/1912`
hint: write it as year, month and day, as far as they are known: `1911-03-12`, `1911-03`, `1911`

"#]]);
    refuses(&world, "-c archive new a.txt --meta issued=45231", 2).tells(str![[r#"
error: `issued`: `45231` is not a date such as `1911-03-12`, `1911-03`, `1911~` or `1911/1912`
hint: write it as year, month and day, as far as they are known: `1911-03-12`, `1911-03`, `1911`

"#]]);
    refuses(&world, "-c archive new a.txt --meta date=yesterday", 2).tells(str![[r#"
error: `date`: `yesterday` is not a date such as `1911-03-12`, `1911-03`, `1911~` or `1911/1912`
hint: write it as year, month and day, as far as they are known: `1911-03-12`, `1911-03`, `1911`

"#]]);
    refuses(&world, "-c archive new a.txt --language Portuguese!", 2).tells(str![[r#"
error: `Portuguese!` is not a language tag; expected a tag such as `en` or `pt-BR`

"#]]);
    refuses(&world, "-c archive new a.txt --target b.txt", 1).tells(str![[r#"
error: the target `b.txt` is not a file of `a.txt`
hint: name a file as it will be below `doc/`

"#]]);
    refuses(&world, "-c archive new a.txt --target ../a.txt", 1).tells(str![[r#"
error: `../a.txt` is not a path below the payload
hint: a path below `doc/`, such as `img/map.png`

"#]]);
}

#[test]
fn in_files() {
    let world = world_with_file();
    let line = "-c archive new a.txt --meta @about.toml";
    refuses(&world, line, 1).tells(str![[r#"
error: cannot open `about.toml`
caused by: No such file or directory (os error 2)

"#]]);
    world.write("about.toml", "title = \"a\"\ncreator = [\n");
    refuses(&world, line, 1).tells(str![[r#"
error: cannot use the description `about.toml`
caused by: line 2: unclosed array, expected `]`
hint: it is a TOML table of terms, such as `title = "…"`

"#]]);
    world.write("about.toml", "titel = \"a\"\n");
    refuses(&world, line, 1).tells(str![[r#"
error: `titel` is not a term
hint: did you mean `title`? `x.titel` is a key of your own; the terms are abstract, advisor, alternative, audience, bibliographicCitation, booktitle, contributor, coverage, creator, date, degree, description, edition, editor, event, extent, format, identifier, illustrator, institution, issued, journal, language, license, number, pages, place, provenance, publisher, recipient, relation, rights, series, source, subject, title, translator, type, version, volume

"#]]);
    world.write("about.toml", "title = 7\n");
    refuses(&world, line, 1).tells(str![[r#"
error: `title` has a value that is neither a text nor a list of texts

"#]]);
    world.write("about.toml", b"title = \"\xff\"\n");
    refuses(&world, line, 1).tells(str![[r#"
error: cannot use the description `about.toml`
caused by: it is not UTF-8
hint: it is a TOML table of terms, such as `title = "…"`

"#]]);
    world.write("about.toml", "language = \"?\"\n");
    refuses(&world, line, 1).tells(str![[r#"
error: `?` is not a language tag; expected a tag such as `en` or `pt-BR`

"#]]);
}

#[test]
fn lists_of_paths_and_streams() {
    let world = world_with_file();
    refuses(&world, "-c archive new - -", 2).tells(str![[r#"
error: standard input can be read only once

"#]]);
    // A list of nothing asks for nothing.
    world.write("list", "");
    assert_eq!(world.run("-q -c archive import - < list").code, 0);
    refuses(&world, "-c archive new - a.txt", 2).tells(str![[r#"
error: standard input makes an item of its own
hint: add `--each`, or give `-` alone

"#]]);
    refuses(&world, "-c archive new - --stdin-name ../a.txt", 1).tells(str![[r#"
error: `../a.txt` is not a path below the payload
hint: a path below `doc/`, such as `img/map.png`

"#]]);
}
