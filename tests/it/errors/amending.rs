//! Changes of descriptions that are refused.

use super::*;

#[test]
fn keys_and_values() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt --title Alpha --meta x.box=1 --meta x.row=2").line();
    let refuses = |line: &str, code| {
        let before = tree(&world.path("archive"));
        let refused = refuses(&world, &line.replace("NAME", &name), code);
        assert_eq!(tree(&world.path("archive")), before);
        refused
    };
    refuses("-c archive meta set NAME titel=Beta", 2).tells(str![[r#"
error: `titel` is not a term
hint: did you mean `title`? `x.titel` is a key of your own; the terms are abstract, advisor, alternative, audience, bibliographicCitation, booktitle, contributor, coverage, creator, date, degree, description, edition, editor, event, extent, format, identifier, illustrator, institution, issued, journal, language, license, number, pages, place, provenance, publisher, recipient, relation, rights, series, source, subject, title, translator, type, version, volume

"#]]);
    for line in ["-c archive meta set NAME titel=", "-c archive meta set NAME titel-=Beta"] {
        refuses(line, 2).tells(str![[r#"
error: `titel` is not a term
hint: did you mean `title`?[..]

"#]]);
    }
    refuses("-c archive meta set NAME title+=Beta", 1).tells(str![[r#"
error: `example.org/archive/[..]` stays as it is
caused by: `title` is given twice
hint: it has one value, which `urepo -c archive meta set` replaces

"#]]);
    refuses("-c archive meta set NAME title+=", 2).tells(str![[r#"
error: the text of `title` is empty
hint: leave it out; `urepo -c archive meta set ITEM KEY=` removes a key

"#]]);
    refuses("-c archive meta set NAME language=Portuguese", 2).tells(str![[r#"
error: `Portuguese` is not a language tag; expected a tag such as `en` or `pt-BR`

"#]]);
    refuses("-c archive meta set NAME transferable=no", 2).tells(str![[r#"
error: `no` is not a value of `transferable`; expected `true` or `false`

"#]]);
    refuses("-c archive meta set NAME target=b.txt", 1).tells(str![[r#"
error: `example.org/archive/[..]` has no file or link `b.txt`
hint: `urepo -c archive show example.org/archive/[..] --as manifest` lists its files

"#]]);
    refuses("-c archive meta set NAME title-=", 2).tells(str![[r#"
error: `title-=` says no value
hint: `title=` removes all values

"#]]);
    refuses("-c archive meta set NAME", 2).tells(str![[r#"
error: no key was given
hint: `urepo -c archive meta set ITEM… KEY=VALUE…`; `KEY+=`, `KEY-=` and `KEY=` add and remove

"#]]);
    refuses("-c archive meta set title=Beta", 2).tells(str![[r#"
error: no item was given
hint: `urepo -c archive meta set ITEM… KEY=VALUE…`, or `--all` for every item

"#]]);
    refuses("-c archive meta set --all NAME title=Beta", 2).tells(str![[r#"
error: `example.org/archive/[..]` cannot be used with `--all` and the like
hint: name the items, or leave them out and select them all

"#]]);
    refuses("-c archive meta set nope title=Beta", 21).tells(str![[r#"
error: no item `nope` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers

"#]]);
    refuses("-c archive meta set nope title=", 21).tells(str![[r#"
error: no item `nope` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers

"#]]);
    refuses("-c archive meta set NAME x=", 1).tells(str![[r#"
error: `example.org/archive/[..]` stays as it is
caused by: `x` is not a key; the keys of your own are `x.box`, `x.row`
hint: name them: `x.box x.row`

"#]]);
    refuses("-c archive meta set --all title=Beta", 2).tells(str![[r#"
error: would change 1 Original in `[WORLD]/archive`: add `--yes`

"#]]);
}

#[test]
fn items_that_stay_as_they_are() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt --title Alpha").line();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    let line = |root: &str| format!("-c {root} meta set {name} title=Beta");
    refuses(&world, &line("mirror"), 23).tells(str![[r#"
error: `example.org/archive/[..]` is not the Original here, which alone is changed
hint: the Original belongs to a collection not in sight, id [..]…: name it in the settings, below `[collections]`

"#]]);
    world.write(
        ".config/urepo/config.toml",
        format!("[collections]\nmain = {:?}\n", world.path("archive")),
    );
    refuses(&world, &line("mirror"), 23).tells(str![[r#"
error: `example.org/archive/[..]` is not the Original here, which alone is changed
hint: `urepo -c main show example.org/archive/[..]` shows its Original

"#]]);
    let sidecar = world.path("archive").join(&name).join("item.toml");
    let text = std::fs::read_to_string(&sidecar).unwrap();
    std::fs::write(&sidecar, text.replacen("Alpha", "Omega", 1)).unwrap();
    refuses(&world, &line("archive"), 20).tells(str![[r#"
error: item.toml of `example.org/archive/[..]` was changed by hand or damaged
hint: `urepo -c archive repair example.org/archive/[..] --accept` shows what was edited and takes it; `urepo -c archive repair example.org/archive/[..]` repairs it from a copy

"#]]);
    std::fs::write(&sidecar, text).unwrap();
    world.run(&format!("-c archive delete {name} --force last")).succeeded();
    refuses(&world, &line("archive"), 22).tells(str![[r#"
error: `example.org/archive/[..]` is deleted
hint: `urepo -c archive show example.org/archive/[..]` says when and why; `urepo -c archive restore example.org/archive/[..]` brings it back

"#]]);
}

#[test]
fn documents() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt --title Alpha").line();
    let refuses = |file: &str, text: &str| {
        world.write(file, text.replace("NAME", &name));
        let before = tree(&world.path("archive"));
        let refused = refuses(&world, &format!("-c archive meta import {file}"), 1);
        assert_eq!(tree(&world.path("archive")), before);
        refused
    };
    refuses("t.csv", "identifier,titulus\nNAME,Beta\n").tells(str![[r#"
error: `t.csv`: line 1: the column `titulus` means nothing
hint: `--map titulus=x.KEY` reads it, `x.KEY` as a key of your own; `--map titulus=-` leaves it out

"#]]);
    refuses("t.csv", "title\nBeta\n").tells(str![[r#"
error: `t.csv`: line 1: there is no column `identifier`

"#]]);
    refuses("t.csv", "identifier,title,language\nNAME,Beta,?\n").tells(str![[r#"
error: `t.csv`, line 2: `[..]` stays as it is
caused by: `?` is not a language tag; expected a tag such as `en` or `pt-BR`
error: 1 of 1 rows cannot be used; nothing was changed
hint: correct the rows named above, or take them out

"#]]);
    refuses("t.csv", "identifier,title\nexample.org/archive/2009/02.16.17.46,Beta\n").tells(str![
        [r#"
error: `t.csv`, line 2: no item `example.org/archive/2009/02.16.17.46` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers
error: 1 of 1 rows cannot be used; nothing was changed
hint: correct the rows named above, or take them out

"#]
    ]);
    refuses("t.csv", "identifier,title\nNAME,Beta\nNAME,Gamma\n").tells(str![[r#"
error: `t.csv`, line 3: `example.org/archive/[..]` has an earlier row, line 2
hint: put all that changes in an item into one row
error: 1 of 2 rows cannot be used; nothing was changed
hint: correct the rows named above, or take them out

"#]]);
    refuses("t.csv", "path,title\nmissing.txt,Beta\n").tells(str![[r#"
error: `t.csv`, line 2: no item here was imported from `missing.txt`
hint: name the item by its identifier, in a column `identifier`
error: 1 of 1 rows cannot be used; nothing was changed
hint: correct the rows named above, or take them out

"#]]);
    refuses("t.jsonl", "{\"identifier\": \"NAME\", \"title\": {\"a\": 1}}\n").tells(str![[r#"
error: `t.jsonl`: line 1: the column `title.a` means nothing
hint: did you mean `title` for `title.a`? `--map title.a=title` reads it; `--map title.a=-` leaves it out
error: 1 of 1 rows cannot be used; nothing was changed
hint: correct the rows named above, or take them out

"#]]);
}
