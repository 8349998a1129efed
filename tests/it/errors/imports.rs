//! Imports that are refused.

use super::*;

#[test]
fn of_manifests() {
    let world = world_with_file();
    let import = |text: &str, rest: &str, code| {
        world.write("list.csv", text);
        refuses(&world, &format!("-c archive import list.csv -n {rest}"), code)
    };
    import("path,Box\na.txt,A\n", "", 1).tells(str![[r#"
error: line 1: the column `Box` means nothing
hint: `--map Box=x.KEY` reads it, `x.KEY` as a key of your own; `--map Box=-` leaves it out

"#]]);
    import("path,relation.cites\na.txt,8JMKD3MGP8W/34PGRBS\n", "", 1).tells(str![[r#"
error: line 1: the column `relation.cites` means nothing
hint: `--map relation.cites=relation.x.KEY` reads it, `x.KEY` as a key of your own; `--map relation.cites=-` leaves it out; the kinds of relations are next_edition, previous_edition, translation.TAG, translation_of, metadata, metadata_of and part_of

"#]]);
    let two = "8JMKD3MGP8W/34PGRBS,8JMKD3MGP8W/34PGRBT";
    let header = "path,relation.metadata,relation.metadata";
    import(&format!("{header}\na.txt,{two}\n"), "", 3).tells(str![[r#"
error: line 2, column `relation.metadata` (C2): its `metadata` is `8JMKD3MGP8W/34PGRBS` already
hint: write each relation once, in one row
error: 1 of 1 source would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    import("file\na.txt\n", "--map file=shelf", 2).tells(str![[r#"
error: `file=shelf` means nothing to an import; expected COLUMN=TERM
hint: write `--map Author=creator`, `--map Box=x.box`, or `--map Notes=-`

"#]]);
    import("file\na.txt\n", "--map file=-", 1).tells(str![[r#"
error: line 1: there is no column `path`
hint: `--map COLUMN=path` says which column holds the path; `--as-files` deposits tables themselves

"#]]);
    import("path\nd/../a.txt\n", "", 3).tells(str![[r#"
error: line 2, column `path` (A2): the path `d/../a.txt` has `..` in it
hint: write the path without `..`
error: 1 of 1 source would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    import("path\na\0b\n", "", 3).tells(str![[r#"
error: line 2, column `path` (A2): the path `a\0b` has a NUL byte, as no file name has
hint: write the path without the NUL byte
error: 1 of 1 source would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    import("a.txt\0b.txt\0", "", 1).tells(str![[r#"
error: line 1: the column `a.txt\0b.txt\0` means nothing
hint: `urepo -c archive import -` reads a list of paths that are ended by NUL

"#]]);
    import("path\n../b.txt\nmissing.txt\n", "", 3).tells(str![[r#"
error: line 2, column `path` (A2): the path `../b.txt` leads out of the directory of the manifest
hint: `--root DIR` says what paths are beneath, also those that begin with it
error: line 3: `[WORLD]/missing.txt` was not imported: cannot find `[WORLD]/missing.txt`: there is nothing of this name
error: 2 of 2 sources would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    import("path,title\na.txt,#REF!\nb.txt,#¡VALOR!\n", "", 3).tells(str![[r#"
error: line 2, column `title` (B2): the value of `title` is `#REF!`, an error of a spreadsheet
hint: correct the spreadsheet; an apostrophe before it makes it text: `'#REF!`
error: line 3, column `title` (B3): the value of `title` is `#¡VALOR!`, an error of a spreadsheet
error: 2 of 2 sources would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    import("path,title\na.txt,=1+1\na.txt,A,B\n", "", 3).tells(str![[r#"
error: line 2, column `title` (B2): the value of `title` is a formula
hint: an apostrophe before it makes it text: `'=1+1`
error: line 3: it has 3 values, and there are 2 columns
error: 2 of 2 sources would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    import("path,identifier\na.txt,example.org/archive/9999/01.01.00.00\n", "", 3)
        .tells(str![[r#"
error: line 2: `[WORLD]/a.txt` was not imported: `example.org/archive/9999/01.01.00.00` may still be issued for another item: its date lies ahead, or less than a minute back
error: 1 of 1 source would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    refuses(&world, "-c archive import", 2).tells(str![[r#"
error: no source was given
hint: `urepo help import` says how it is used

"#]]);
}

#[test]
fn of_tables() {
    let world = world_with_file();
    let import = |text: &[u8], rest: &str, code| {
        world.write("list.csv", text);
        refuses(&world, &format!("-c archive import list.csv -n {rest}"), code)
    };
    refuses(&world, "-c archive import list.xlsx", 2).tells(str![[r#"
error: `list.xlsx` is the file of a spreadsheet program
hint: save it there as CSV, in UTF-8; `urepo -c archive import --as-files` deposits it

"#]]);
    refuses(&world, "-c archive import --delimiter ; SOURCE", 2).tells(str![[r#"
error: `--root`, `--update` and the options of tables belong to a table
hint: name the table: `urepo -c archive import list.csv`, or another name and `--format`

"#]]);
    import(b"box;shelf,row\n1;2,3\n", "", 1).tells(str![[r#"
error: line 1: its delimiter may be any of `;`, `,`
hint: say it, as in `--delimiter ';'`

"#]]);
    import(b"path;Titulo;Sprachen;Regal\na.txt;A;pt;1\n", "", 1).tells(str![[r#"
error: line 1: the columns `Sprachen`, `Regal` mean nothing
hint: did you mean `Sprache` for `Sprachen`? `--map Sprachen=language --map Regal=x.KEY` reads it, `x.KEY` as a key of your own; `--map Sprachen=-` leaves it out

"#]]);
    import(b"path;title;author\na.txt;A;B\n", "--map autoria=creator", 1).tells(str![[r#"
error: line 1: there is no column `autoria`, to which `--map` gives a meaning
hint: the columns of the table are `path`, `title`, `author`

"#]]);
    import(b"path;title;Verfasser\na.txt;A;B\n", "--map Verfaser=creator", 1).tells(str![[r#"
error: line 1: there is no column `Verfaser`, to which `--map` gives a meaning
hint: did you mean `Verfasser`?

"#]]);
    import(b"path;title\na.txt;Cora\xe7\xe3o\n", "", 3).tells(str![[r#"
error: line 2, column `title` (B2): `Cora\xe7\xe3o` is not UTF-8, and reads `Coração` in Windows-1252
hint: `--encoding windows-1252` reads it so
error: 1 of 1 source would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    import(b"id;path;state\n1;a.txt;x\n", "", 1).tells(str![[r#"
error: line 1: the columns `id`, `state` mean nothing
hint: did you mean `identifier` for `id`? `--map id=identifier --map state=x.KEY` reads it, `x.KEY` as a key of your own; `--map id=-` leaves it out

"#]]);
    import(b"path;date\na.txt;45231\na.txt;19110312\na.txt;x\n", "", 3).tells(str![[r#"
error: line 2, column `date` (B2): `date`: `45231` is not a date such as `1911-03-12`, `1911-03`, `1911~` or `1911/1912`
hint: format the column as text or as `YYYY-MM-DD` in the spreadsheet, and save the table again
error: line 3, column `date` (B3): `date`: `19110312` is not a date such as `1911-03-12`, `1911-03`, `1911~` or `1911/1912`
error: line 4, column `date` (B4): `date`: `x` is not a date such as `1911-03-12`, `1911-03`, `1911~` or `1911/1912`
error: 3 of 3 sources would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    import(b"p\0a\0t\0h\0", "", 1).tells(str![[r#"
error: line 1: it has NUL bytes, as UTF-16 has
hint: `--encoding utf-16le` reads it so

"#]]);
}

#[test]
fn of_bags() {
    let world = world_with_file();
    world.write("bag/bagit.txt", "BagIt-Version: 7.0\n");
    refuses(&world, "-c archive import bag -n", 3).tells(str![[r#"
error: `[WORLD]/bag` was not imported: it is not a valid bag: `bagit.txt` does not declare a bag of version 0.93 to 1.0 and its encoding
error: 1 of 1 source would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    world.write("bag/bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
    refuses(&world, "-c archive import bag -n", 3).tells(str![[r#"
error: `[WORLD]/bag` was not imported: it is not a valid bag: it has no directory `data`
error: 1 of 1 source would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
    refuses(&world, "-c archive import a.txt --bags -n", 3).tells(str![[r#"
error: `[WORLD]/a.txt` was not imported: it is not a valid bag: `bagit.txt` does not declare a bag of version 0.93 to 1.0 and its encoding
error: 1 of 1 source would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
}

/// A run that imports nothing because all of it counts as rejected is no success.
#[test]
fn sources_in_the_directory_of_rejected_sources() {
    let world = World::with_collection();
    world.write("srv/drop/1/a.txt", "alpha");
    world.write("srv/drop/list.csv", "path\n1\n");
    refuses(&world, "-c archive import srv/drop --reject-dir srv/drop", 2).tells(str![[r#"
error: `[WORLD]/srv/drop` lies in `[WORLD]/srv/drop`, the directory of rejected sources
hint: choose a directory beside it, or below it

"#]]);
    let lines = [
        "srv/drop --reject-dir srv",
        "srv/drop/1 --reject-dir srv/drop",
        "srv/drop/1/a.txt --reject-dir srv/drop",
        "srv/drop/list.csv --reject-dir srv/drop",
        "-n srv/drop --reject-dir srv/drop",
    ];
    for line in lines {
        let ran = refuses(&world, &format!("-c archive import {line}"), 2);
        assert!(ran.0.contains("the directory of rejected sources"), "{}", ran.0);
    }
    std::fs::create_dir(world.path("srv/drop/rejected")).unwrap();
    // As a shell writes `srv/drop/*`.
    let line = "-c archive import srv/drop/1 srv/drop/rejected --reject-dir srv/drop/rejected";
    let ran = world.run(line);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1), "{}", ran.stderr);
}

/// Another rule takes these sources.
#[test]
fn by_rules_of_links_and_names() {
    let world = World::with_collection();
    world.write("in/t/A", "1");
    world.write("in/t/a", "2");
    std::os::unix::fs::symlink("t/A", world.path("in/l")).unwrap();
    refuses(&world, "-c archive import in -n", 3).tells(str![[r#"
error: `[WORLD]/in/l` was not imported: it is a symbolic link
hint: `--links follow` deposits what it points to
error: `[WORLD]/in/t` was not imported: `A` and `a` in `[WORLD]/in/t` are one name on some file systems
hint: rename one; `--force twins` keeps both as they are
error: 2 of 2 sources would not be imported
hint: correct the sources named above and repeat: nothing is imported twice

"#]]);
}
