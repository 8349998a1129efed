//! Changes of descriptions that are refused.

use super::*;

#[test]
fn keys_and_values() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt --title Alpha").line();
    let refuses = |line: &str, code| {
        let before = tree(&world.path("archive"));
        let refused = refuses(&world, &line.replace("NAME", &name), code);
        assert_eq!(tree(&world.path("archive")), before);
        refused
    };
    refuses("-c archive meta set NAME titel=Beta", 1).tells(str![[r#"
error: `titel` is no term of Dublin Core
hint: did you mean `title`? `x.titel` is a key of your own; the terms are abstract, alternative, audience, bibliographicCitation, contributor, coverage, creator, date, description, format, identifier, issued, language, license, provenance, publisher, relation, rights, source, subject, title, type

"#]]);
    refuses("-c archive meta add NAME title=Beta", 1).tells(str![[r#"
error: `example.org/archive/[..]` stays as it is
caused by: `title` is given twice
hint: it has one value, which `urepo meta set` replaces

"#]]);
    refuses("-c archive meta set NAME title=", 1).tells(str![[r#"
error: the text of `title` is empty, longer than 64 KiB, or has control characters

"#]]);
    refuses("-c archive meta set NAME language=Portuguese", 1).tells(str![[r#"
error: `Portuguese` is no language; expected a tag such as `en` or `pt-BR`

"#]]);
    refuses("-c archive meta set NAME transferable=no", 1).tells(str![[r#"
error: `no` is not a value of `transferable`; expected `true` or `false`

"#]]);
    refuses("-c archive meta set NAME target=b.txt", 1).tells(str![[r#"
error: `example.org/archive/[..]` has no file or link `b.txt`
hint: `urepo manifest example.org/archive/[..]` lists its files

"#]]);
    refuses("-c archive meta set NAME title", 2).tells(str![[r#"
error: `title` has no value
hint: `urepo meta set ITEM title=VALUE`; `urepo meta unset` removes a key

"#]]);
    refuses("-c archive meta set NAME", 2).tells(str![[r#"
error: no key was given
hint: `urepo meta set ITEM… KEY=VALUE…`

"#]]);
    refuses("-c archive meta set title=Beta", 2).tells(str![[r#"
error: no item was given
hint: `urepo meta set ITEM… KEY=VALUE…`, or `--all` for every item

"#]]);
    refuses("-c archive meta get NAME title=Beta", 2).tells(str![[r#"
error: `title=Beta` is a change
hint: `urepo meta set` makes it; `urepo meta get ITEM KEY` shows the value

"#]]);
    refuses("-c archive meta set --all NAME title=Beta", 2).tells(str![[r#"
error: `example.org/archive/[..]` cannot be used with `--all` and the like
hint: name the items, or leave them out and select them all

"#]]);
    refuses("-c archive meta set --all title=Beta", 2).tells(str![[r#"
error: nobody can be asked: stdin is no terminal
hint: `-y` answers yes beforehand

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
error: `example.org/archive/[..]` is a Copy here; only its Original is changed
hint: `urepo whereis example.org/archive/[..]` shows which collection holds the Original

"#]]);
    world.write(
        ".config/urepo/config.toml",
        format!("[collections]\nmain = {:?}\n", world.path("archive")),
    );
    refuses(&world, &line("mirror"), 23).tells(str![[r#"
error: `example.org/archive/[..]` is a Copy here; only its Original is changed
hint: change its Original: `urepo -c [WORLD]/archive meta get example.org/archive/[..]` shows it

"#]]);
    let sidecar = world.path("archive").join(&name).join("item.toml");
    let text = std::fs::read_to_string(&sidecar).unwrap();
    std::fs::write(&sidecar, text.replacen("Alpha", "Omega", 1)).unwrap();
    refuses(&world, &line("archive"), 20).tells(str![[r#"
error: the sidecar of `example.org/archive/[..]` is not as it was sealed
hint: `urepo meta accept example.org/archive/[..]` shows what was edited and accepts it; `urepo repair example.org/archive/[..]` repairs it from a copy

"#]]);
    std::fs::write(&sidecar, text).unwrap();
    world.run(&format!("-c archive delete {name} --force last")).succeeded();
    refuses(&world, &line("archive"), 22).tells(str![[r#"
error: `example.org/archive/[..]` is deleted
hint: `urepo show example.org/archive/[..]` says when and why; `urepo restore example.org/archive/[..]` brings it back

"#]]);
}
