//! What is told of an item that has left, or that should be here and is not.

use super::*;
use crate::support::{append, copy_item, inventory_file, send_away};

fn with_mirror() -> (World, &'static str) {
    let (world, name) = world_with_item();
    world.run("init mirror --host mirror.example.org").succeeded();
    (world, name)
}

#[test]
fn an_item_that_migrated_away() {
    let (world, name) = with_mirror();
    send_away(&world.path("archive"), name);
    refuses(&world, &format!("-c archive show {name}"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo -c archive whereis example.org/archive/2026/11.21.02.13` looks for it in all known collections; `--with COLLECTION` adds one

"#]]);
    refuses(&world, "-c archive show 11.21.02.13", 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo -c archive whereis example.org/archive/2026/11.21.02.13` looks for it in all known collections; `--with COLLECTION` adds one

"#]]);
    refuses(&world, &format!("-c archive cat {name} a.txt"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo -c archive whereis example.org/archive/2026/11.21.02.13` looks for it in all known collections; `--with COLLECTION` adds one

"#]]);
    refuses(&world, &format!("-c archive path {name}"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo -c archive whereis example.org/archive/2026/11.21.02.13` looks for it in all known collections; `--with COLLECTION` adds one

"#]]);
    refuses(&world, &format!("-c archive copy {name} --to mirror"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo -c archive whereis example.org/archive/2026/11.21.02.13` looks for it in all known collections; `--with COLLECTION` adds one

"#]]);
    refuses(&world, &format!("-c archive export {name} --to out"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo -c archive whereis example.org/archive/2026/11.21.02.13` looks for it in all known collections; `--with COLLECTION` adds one

"#]]);
    refuses(&world, &format!("-c archive delete {name} --reason gone"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo -c archive whereis example.org/archive/2026/11.21.02.13` looks for it in all known collections; `--with COLLECTION` adds one

"#]]);
    refuses(&world, &format!("-c archive demote {name} --to-copy-of mirror -y"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo -c archive whereis example.org/archive/2026/11.21.02.13` looks for it in all known collections; `--with COLLECTION` adds one

"#]]);
    refuses(&world, &format!("-c archive promote {name} --lost 00000000000000000000000000000000 --reason fire -y"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo -c archive whereis example.org/archive/2026/11.21.02.13` looks for it in all known collections; `--with COLLECTION` adds one

"#]]);
    refuses(&world, &format!("-c archive whereis {name}"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in 1 known collection
caused by: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo config` shows which are known; `--with COLLECTION` adds one

"#]]);
    refuses(&world, &format!("-c archive repair {name} --from mirror"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it was migrated to the collection `mirror` (60cb73fd) on 2026-11-23T10:00:00Z
hint: `urepo -c archive whereis example.org/archive/2026/11.21.02.13` looks for it in all known collections; `--with COLLECTION` adds one

"#]]);
}

#[test]
fn an_item_that_vanished() {
    let (world, name) = with_mirror();
    std::fs::remove_dir_all(world.path("archive").join(name)).unwrap();
    refuses(&world, &format!("-c archive show {name}"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it should be here, and is missing
hint: `urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION` brings it back from a collection that has it

"#]]);
    refuses(&world, &format!("-c archive copy {name} --to mirror"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it should be here, and is missing
hint: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION` brings it back from a collection that has it

"#]]);
    refuses(&world, &format!("-c archive whereis {name}"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in 1 known collection
caused by: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it should be here, and is missing
hint: `urepo config` shows which are known; `--with COLLECTION` adds one

"#]]);
    let ran = world.run(&format!("-c archive verify {name}"));
    assert_eq!(ran.code, 20);
    same(
        &ran.stdout,
        str![[r#"
U108  damage   example.org/archive/2026/11.21.02.13  an item that should be here is gone: the Original was here, and urepo did not remove it

"#]],
    );
}

#[test]
fn an_item_that_may_have_left() {
    let (world, name) = with_mirror();
    std::fs::remove_dir_all(world.path("archive").join(name)).unwrap();
    append(&inventory_file(&world.path("archive"), name), "2026-11-23T10:00:00Z le\u{fffd}t\n");
    refuses(&world, &format!("-c archive show {name}"), 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it is missing, or it left: a line of the inventory after its last one is damaged
hint: `urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION` brings it back from a collection that has it

"#]]);
    let ran = world.run("-c archive verify");
    assert_eq!(ran.code, 20);
    same(
        &ran.stdout,
        str![[r#"
U309  warning  .urepo/inventory/example.org+archive+2026  a part of the inventory is damaged: 1 line is damaged
U111  damage   example.org/archive/2026/11.21.02.13  an item is gone, and a damaged line of the inventory may say where it went: the Original was here; why it is gone cannot be read

"#]],
    );
}

/// What the mirror has is a Copy, and no earlier run took the Original there.
#[test]
fn an_item_that_did_not_migrate_there() {
    for send in [false, true] {
        let (world, name) = with_mirror();
        copy_item(&world.path("archive"), &world.path("mirror"), name, |_| ());
        if send {
            send_away(&world.path("archive"), name);
        } else {
            std::fs::remove_dir_all(world.path("archive").join(name)).unwrap();
        }
        let ran = refuses(&world, &format!("-c archive migrate {name} --to mirror"), 21);
        let why = if send { "it was migrated to the collection" } else { "it should be here" };
        assert!(ran.0.contains(why), "{}", ran.0);
    }
}
