//! Items that are not in order.

use super::*;

#[test]
fn that_are_damaged() {
    let world = with_mirror();
    let file = world.path("archive").join(NAME).join("doc/a.txt");
    std::fs::write(&file, "b").unwrap();
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: sha256 3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d, in the sidecar ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13 --with [WORLD]/mirror

"#]]);
    std::fs::write(&file, "longer").unwrap();
    refuses(&world, "-c archive copy --all --to mirror", 3).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: 6 B, in the sidecar 1 B
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13 --with [WORLD]/mirror
error: 1 of 1 item could not be copied
hint: each is named above, with its reason

"#]]);
    std::fs::remove_file(&file).unwrap();
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: it is missing
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13 --with [WORLD]/mirror

"#]]);
    symlink("/etc/passwd", &file).unwrap();
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: a link stands for it
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13 --with [WORLD]/mirror

"#]]);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: it is not a file
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13 --with [WORLD]/mirror

"#]]);
}

#[test]
fn whose_sidecar_is_not_as_it_was() {
    let world = with_mirror();
    let sidecar = world.path("archive").join(NAME).join("item.toml");
    let text = std::fs::read_to_string(&sidecar).unwrap();
    std::fs::write(&sidecar, format!("# by hand\n{text}")).unwrap();
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml` is damaged: it was changed after it was sealed
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    let unsealed = text.split("[seal]").next().unwrap();
    std::fs::write(&sidecar, unsealed).unwrap();
    refuses(&world, "-c archive migrate 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml` is damaged: it has no seal
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    std::fs::write(&sidecar, "format = ?").unwrap();
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml` is damaged: line 1, column 10: string values must be quoted, expected literal string
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    std::fs::remove_file(&sidecar).unwrap();
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml` is damaged: it is missing
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
}

#[test]
fn whose_copies_are_damaged() {
    let world = with_copy(|_| ());
    std::fs::write(world.path("mirror").join(NAME).join("item.toml"), "format = 1").unwrap();
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/mirror/example.org/archive/2026/11.21.02.13/item.toml` is damaged: line 1, column 1: missing field `state`
hint: the item is missing or damaged here, and another collection has it: urepo -c [WORLD]/mirror repair example.org/archive/2026/11.21.02.13 --from [WORLD]/archive

"#]]);
}

#[test]
fn that_are_not_there() {
    let world = with_mirror();
    let line = "-c archive copy example.org/archive/2009/02.16.17.46 --to mirror";
    refuses(&world, line, 21).tells(str![[r#"
error: no item `example.org/archive/2009/02.16.17.46` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers

"#]]);
    refuses(&world, "-c archive migrate nonsense 02.16 --to mirror", 3).tells(str![[r#"
error: no item `nonsense` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers
error: no item `02.16` in `[WORLD]/archive`
error: 2 of 2 items could not be migrated
hint: each is named above, with its reason

"#]]);
    refuses(&world, "-c archive copy --to mirror", 2).tells(str![[r#"
error: no item was given
hint: `urepo -c archive copy ITEM… --to COLLECTION`, or `--all` for every item

"#]]);
    refuses(&world, "-c archive copy --items-from list --to mirror", 2).tells(str![[r#"
error: unexpected argument '--items-from' found
hint: `-` reads a list on standard input

"#]]);
}

#[test]
fn that_another_process_has_locked() {
    let world = with_mirror();
    let collection = open(&world);
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let locks = lock_changes([&collection], &agent(), &waiter(&clock).up_to(PATIENT)).unwrap();
    let line = "UREPO_LOCK_WAIT=0 -c archive migrate 11.21.02.13 --to mirror";
    refuses(&world, line, 11).tells(str![[r#"
error: the collection `archive` is locked
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `UREPO_LOCK_WAIT=5m`; the lock ends with that process

"#]]);
    let line = "UREPO_LOCK_WAIT=0 -c archive migrate --all --to mirror";
    refuses(&world, line, 11).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: not transferred, because of another failure
error: the collection `archive` is locked
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `UREPO_LOCK_WAIT=5m`; the lock ends with that process

"#]]);
    drop(locks);
}
