//! Items that can not be exported, and orders that can not be meant.

use super::*;

#[test]
fn of_what_is_in_the_way() {
    let (world, _) = world_with_item();
    let place = "out/example.org+archive+2026+11.21.02.13";
    world.write(&format!("{place}/a.txt"), "somebody's");
    // An item that is there already is no failure; any file may have the name of a source.
    for line in ["", " -n"] {
        let ran = world.run(&format!("-c archive export 11.21.02.13 --to out{line}"));
        assert_eq!((ran.code, &*ran.stdout), (0, ""), "{}", ran.stderr);
        assert_eq!(ran.stderr, "nothing to export; 1 there already\n");
    }
    world.write("taken/a.txt", "somebody's");
    refuses(&world, "-c archive export 11.21.02.13 --name source --to taken", 23).tells(str![[
        r#"
error: `[WORLD]/taken/a.txt` is there already
hint: nothing is replaced; remove it, or name another directory with `--to`

"#
    ]]);
    // Another item of the same source.
    let requests = vec![request(world.path("a.txt"))];
    let clock = TestClock::at("2026-11-21T02:14:00Z");
    deposit(&open(&world), requests, options(), &clock, |_| ()).unwrap();
    let line = "-c archive export 11.21.02.13 11.21.02.14 --name source --to";
    let ran = world.run(&format!("{line} old"));
    snapbox::assert_data_eq!(
        ran.stderr,
        str![[r#"
error: `example.org/archive/2026/11.21.02.14` and `example.org/archive/2026/11.21.02.13` have the same name: `[WORLD]/old/a.txt`
hint: export example.org/archive/2026/11.21.02.14 without `--name source`: its identifier names it
exported 1 item, 1 file, 1 B
error: 1 of 2 items could not be exported
hint: each is named above, with its reason

"#]]
    );
    refuses(&world, "-c archive export 11.21.02.13 --to archive/out", 23).tells(str![[r#"
error: `[WORLD]/archive/out` lies in the collection `[WORLD]/archive`
hint: name a place outside of it: in a collection all is an item or urepo's own

"#]]);
    refuses(&world, "-c archive export 11.21.02.13 --to nowhere/out", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/nowhere`
caused by: No such file or directory (os error 2)

"#]]);
    refuses(&world, "-c archive export 11.21.02.13 --to a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/a.txt`
caused by: Not a directory (os error 20)

"#]]);
}

#[test]
fn of_what_is_damaged() {
    let (world, name) = world_with_item();
    let file = world.path("archive").join(name).join("doc/a.txt");
    std::fs::write(&file, "b").unwrap();
    refuses(&world, "-c archive export 11.21.02.13 --to out", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: sha256 3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d, in the sidecar ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13

"#]]);
    refuses(&world, "-c archive export 11.21.02.13 --to out --format bag", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: sha256 3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d, in the sidecar ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13

"#]]);
    std::fs::remove_file(&file).unwrap();
    refuses(&world, "-c archive export 11.21.02.13 --format tar --to -", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: it is missing
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13

"#]]);
    symlink("../../../../../../../../etc/hostname", &file).unwrap();
    refuses(&world, "-c archive export 11.21.02.13 --to out", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: a link is there, not a file
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13

"#]]);
}

/// A sidecar that would lead whoever unpacks it through a link.
#[test]
fn of_what_would_lead_astray() {
    let world = World::with_collection();
    world.write("source/dir/a.txt", "alpha");
    symlink("dir", world.path("source/link")).unwrap();
    let collection = open(&world);
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    deposit(&collection, vec![request(world.path("source"))], options(), &clock, |_| ()).unwrap();
    let name = "example.org/archive/2026/11.21.02.13";
    refuses(&world, "-c archive export 11.21.02.13 --to out --format bag", 1).tells(str![[r#"
error: `link` of `example.org/archive/2026/11.21.02.13` is a link, which a bag cannot hold
hint: `--links follow` puts the files that links lead to in their place, `--links skip` leaves links out; tar keeps them

"#]]);
    refuses(&world, "-c archive export 11.21.02.13 --to out --format bag --links follow", 1).tells(
        str![[r#"
error: the link `link` of `example.org/archive/2026/11.21.02.13` leads to no file of the item: `dir`
hint: `--links skip` leaves links out; tar keeps them

"#]],
    );
    crate::support::change_item(&world.path("archive"), name, |sidecar| {
        sidecar.files[0].path = urepo::item::PayloadPath::from_text("link/a.txt").unwrap();
        sidecar.files.sort_by(|a, b| a.path.cmp(&b.path));
        sidecar.payload = urepo::item::Totals::of(&sidecar.files);
    });
    refuses(&world, "-c archive export 11.21.02.13 --to out", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml` is damaged: `link/a.txt` cannot lie below `link`, which is not a directory
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13

"#]]);
}

#[test]
fn of_what_is_not_there() {
    let (world, _) = world_with_item();
    refuses(&world, "-c archive export 11.21.02.14 --to out", 21).tells(str![[r#"
error: no item `11.21.02.14` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers

"#]]);
    refuses(&world, "-c archive export 11.21.02.14 --format tar --to -", 21).tells(str![[r#"
error: no item `11.21.02.14` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers

"#]]);
    world.run("-c archive delete --force last 11.21.02.13").succeeded();
    refuses(&world, "-c archive export 11.21.02.13 --to out", 22).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is deleted
hint: `urepo -c archive restore example.org/archive/2026/11.21.02.13` brings it back until it is purged

"#]]);
}

#[test]
fn of_what_can_not_be_meant() {
    let (world, _) = world_with_item();
    let export = |more: &str| refuses(&world, &format!("-c archive export {more}"), 2);
    export("--to out").tells(str![[r#"
error: no item was given
hint: `urepo -c archive export ITEM… --to DIR`, or `--all` for every item

"#]]);
    export("11.21.02.13 --format dir --to -").tells(str![[r#"
error: only tar goes to standard output
hint: leave `--format` out, or name a directory with `--to DIR`

"#]]);
    export("11.21.02.13 --format tar --json --to -").tells(str![[r#"
{"error":{"causes":[],"code":2,"hint":"name a directory with `--to DIR`","message":"standard output cannot have both the stream and JSON"},"exit_code":2,"type":"error","version":1}

"#]]);
    export("11.21.02.13 --links skip --to out").tells(str![[r#"
error: `--links` is about bags; others keep links as they are
hint: leave it out, or add `--format bag`

"#]]);
}
