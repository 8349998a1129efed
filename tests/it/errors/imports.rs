//! Imports that are refused.

use super::*;

#[test]
fn of_manifests() {
    let world = world_with_file();
    let import = |text: &str, rest: &str, code| {
        world.write("list.csv", text);
        refuses(&world, &format!("-c archive import --manifest list.csv -n {rest}"), code)
    };
    import("path,Author\na.txt,A\n", "", 1).tells(str![[r#"
error: line 1: the column `Author` means nothing
hint: `--map Author=x.KEY` keeps it under a key of your own, `--map Author=-` leaves it out

"#]]);
    import("path,relation.cites\na.txt,8JMKD3MGP8W/34PGRBS\n", "", 1).tells(str![[r#"
error: line 1: the column `relation.cites` means nothing
hint: `--map relation.cites=relation.x.KEY` keeps it as a relation of your own; the kinds are next_edition, previous_edition, translation.TAG, translation_of, metadata, metadata_of and part_of

"#]]);
    let two = "8JMKD3MGP8W/34PGRBS,8JMKD3MGP8W/34PGRBT";
    let header = "path,relation.metadata,relation.metadata";
    import(&format!("{header}\na.txt,{two}\n"), "", 3).tells(str![[r#"
error: line 2: its `metadata` is `8JMKD3MGP8W/34PGRBS` already
would import nothing
error: 1 of 1 sources would not be imported
hint: repair what is named above and repeat: nothing is imported twice

"#]]);
    import("file\na.txt\n", "--map file=shelf", 2).tells(str![[r#"
error: `file=shelf` means nothing to an import; expected COLUMN=TERM
hint: write `--map Author=creator`, `--map Box=x.box`, or `--map Notes=-`

"#]]);
    import("file\na.txt\n", "--map file=-", 1).tells(str![[r#"
error: line 1: there is no column `path`
hint: `--map COLUMN=path` says which column holds the path

"#]]);
    import("path\n../b.txt\nmissing.txt\n", "", 3).tells(str![[r#"
error: line 2: the path `../b.txt` leads out of the directory of the manifest
error: line 3: `[WORLD]/missing.txt` was not imported: cannot find `[WORLD]/missing.txt`: there is nothing of this name
would import nothing
error: 2 of 2 sources would not be imported
hint: repair what is named above and repeat: nothing is imported twice

"#]]);
    import("path,title\na.txt,=1+1\na.txt,A,B\n", "", 3).tells(str![[r#"
error: line 2: the value of `title` is a formula
error: line 3: it has 3 values, and there are 2 columns
would import nothing
error: 2 of 2 sources would not be imported
hint: repair what is named above and repeat: nothing is imported twice

"#]]);
    import("path,identifier\na.txt,example.org/archive/9999/01.01.00.00\n", "", 3)
        .tells(str![[r#"
error: line 2: `[WORLD]/a.txt` was not imported: `example.org/archive/9999/01.01.00.00` has not been given yet: its date lies ahead
would import nothing
error: 1 of 1 sources would not be imported
hint: repair what is named above and repeat: nothing is imported twice

"#]]);
    refuses(&world, "-c archive import --manifest a.txt", 2).tells(str![[r#"
error: `a.txt` does not say its format
hint: add `--format csv`, or tsv, jsonl, toml

"#]]);
    refuses(&world, "-c archive import", 2).tells(str![[r#"
error: no source was given
hint: urepo import SOURCE…

"#]]);
}

#[test]
fn of_bags() {
    let world = world_with_file();
    world.write("bag/bagit.txt", "BagIt-Version: 7.0\n");
    refuses(&world, "-c archive import bag -n", 3).tells(str![[r#"
error: `[WORLD]/bag` was not imported: `[WORLD]/bag` is no valid bag: `bagit.txt` does not declare a bag of version 0.93 to 1.0 in UTF-8
would import nothing
error: 1 of 1 sources would not be imported
hint: repair what is named above and repeat: nothing is imported twice

"#]]);
    world.write("bag/bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
    refuses(&world, "-c archive import bag -n", 3).tells(str![[r#"
error: `[WORLD]/bag` was not imported: `[WORLD]/bag` is no valid bag: it has no directory `data`
would import nothing
error: 1 of 1 sources would not be imported
hint: repair what is named above and repeat: nothing is imported twice

"#]]);
    refuses(&world, "-c archive import a.txt --bags -n", 3).tells(str![[r#"
error: `[WORLD]/a.txt` was not imported: `[WORLD]/a.txt` is no valid bag: `bagit.txt` does not declare a bag of version 0.93 to 1.0 in UTF-8
would import nothing
error: 1 of 1 sources would not be imported
hint: repair what is named above and repeat: nothing is imported twice

"#]]);
}

#[test]
fn that_are_at_work_already() {
    use urepo::import::Ledger;
    let world = world_with_file();
    let collection = open(&world);
    let wait = std::time::Duration::ZERO;
    let agent = crate::support::agent();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let _ledger = Ledger::open(&collection, &agent, &waiter(&clock).up_to(wait)).unwrap();
    refuses(&world, "-c archive import a.txt --lock-wait 0", 11).tells(str![[r#"
error: another import into the collection `archive` is at work
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `--lock-wait 5m`; the lock ends with that process

"#]]);
}
