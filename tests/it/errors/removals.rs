//! Removals that are refused.

use super::*;

/// A second collection with a Copy of the item, and the Copy's directory.
fn with_copy(world: &World, name: &str) -> std::path::PathBuf {
    crate::support::make_collection(&world.path("other"));
    let copy = world.path("other").join(name);
    std::fs::create_dir_all(copy.join("doc")).unwrap();
    let item = world.path("archive").join(name);
    std::fs::copy(item.join("doc/a.txt"), copy.join("doc/a.txt")).unwrap();
    rewrite(&item, &copy, |sidecar| sidecar.state = urepo::item::State::Copy);
    copy
}

fn rewrite(from: &Path, to: &Path, change: impl FnOnce(&mut urepo::sidecar::Sidecar)) {
    let text = std::fs::read(from.join("item.toml")).unwrap();
    let (mut sidecar, _) = urepo::sidecar::Sidecar::read(&text).unwrap();
    change(&mut sidecar);
    std::fs::write(to.join("item.toml"), sidecar.to_text()).unwrap();
}

#[test]
fn of_the_last_one() {
    let (world, name) = world_with_item();
    refuses(&world, "-c archive delete 11.21.02.13", 23).tells(str![[r#"
error: no other collection is known to hold all files of `example.org/archive/2026/11.21.02.13`
hint: name one that does with `--with COLLECTION`, or delete it all the same with `--force last`

"#]]);
    let copy = with_copy(&world, name);
    std::fs::write(copy.join("doc/a.txt"), "b").unwrap();
    let line = "-c archive rm 11.21.02.13 --with other --with archive";
    refuses(&world, line, 23).tells(str![[r#"
error: no other collection is known to hold all files of `example.org/archive/2026/11.21.02.13`
caused by: `[WORLD]/other`: it is damaged there: bytes are not those deposited, `doc/a.txt`
hint: name another collection with `--with COLLECTION`, or delete it all the same with `--force last`

"#]]);
    refuses(&world, "-c archive delete 11.21.02.13 --with nowhere", 10).tells(str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
}

#[test]
fn of_what_is_deleted() {
    let (world, name) = world_with_item();
    let sidecar = std::fs::read(world.path("archive").join(name).join("item.toml")).unwrap();
    with_copy(&world, name);
    world.run("-c archive delete -q --force last 11.21.02.13").succeeded();
    refuses(&world, "-c archive delete 11.21.02.13", 22).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is deleted already
hint: `urepo -c archive show example.org/archive/2026/11.21.02.13` says when and why; `urepo -c archive restore example.org/archive/2026/11.21.02.13` brings it back until it is purged

"#]]);
    refuses(&world, "-c archive cat 11.21.02.13", 22).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is deleted
hint: `urepo -c archive restore example.org/archive/2026/11.21.02.13` brings it back until it is purged

"#]]);
    // A promotion there, after somebody believed that this collection was lost.
    crate::support::change_item(&world.path("other"), name, |sidecar| {
        let id = urepo::custody::CustodyId::from(*b"promoted");
        sidecar.custody = sidecar.custody.promoted("60cb", id, 1, &[]);
    });
    refuses(&world, "-c archive restore --from other 11.21.02.13", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the item was changed in `[WORLD]/other`, too
hint: the item was changed in two places: to keep that in [WORLD]/other: urepo -c [WORLD]/other promote example.org/archive/2026/11.21.02.13 --discard --with [WORLD]/archive

"#]]);
    refuses(&world, "-c archive purge -q", 2).tells(str![[r#"
error: would remove 1 entry of the trash, [..] B, permanently: add `--yes`

"#]]);
    let item = world.path("archive").join(name);
    let tombstone = std::fs::read(item.join("item.toml")).unwrap();
    std::fs::write(item.join("item.toml"), sidecar).unwrap();
    refuses(&world, "-c archive purge -y", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is Original and has no payload; it may be the one in the trash
hint: move `doc` from `.urepo/trash` back to where `urepo -c archive show --path example.org/archive/2026/11.21.02.13` says, and verify it

"#]]);
    std::fs::write(item.join("item.toml"), tombstone).unwrap();
    let trash = std::fs::read_dir(world.path("archive/.urepo/trash")).unwrap();
    let entry = trash.map(|entry| entry.unwrap().path()).next().unwrap();
    std::fs::write(entry.join("doc/a.txt"), "b").unwrap();
    refuses(&world, "-c archive restore 11.21.02.13", 20).tells(str![[r#"
error: what is in the trash of `example.org/archive/2026/11.21.02.13` is damaged: bytes are not those deposited, `doc/a.txt`
hint: `--force damaged` brings it back as it is; nothing was moved

"#]]);
    world.run("-c archive purge -q -y").succeeded();
    refuses(&world, "-c archive restore 11.21.02.13", 22).tells(str![[r#"
error: the files of `example.org/archive/2026/11.21.02.13` are not in the trash
hint: it was purged; name a collection that has a Copy with `--from`

"#]]);
    for command in ["cat 11.21.02.13", "show --path 11.21.02.13/a.txt"] {
        refuses(&world, &format!("-c archive {command}"), 22).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is deleted
caused by: its files are not in the trash
hint: `urepo -c archive status example.org/archive/2026/11.21.02.13` looks for a Copy in all known collections

"#]]);
    }
}

#[test]
fn of_several() {
    let (world, _) = world_with_item();
    let (requests, clock) =
        (vec![request(world.path("a.txt"))], TestClock::at("2026-11-21T02:14:00Z"));
    deposit(&open(&world), requests, options(), &clock, |_| ()).unwrap();
    let line = "-c archive delete --force last 11.21.02.13 11.21.02.14";
    refuses(&world, line, 2).tells(str![[r#"
to be deleted: example.org/archive/2026/11.21.02.13
to be deleted: example.org/archive/2026/11.21.02.14
error: would delete 2 items: add `--yes`

"#]]);
    refuses(&world, "-c archive delete -y 11.21.02.13 11.21.02.14", 3).tells(str![[r#"
error: no other collection is known to hold all files of `example.org/archive/2026/11.21.02.13`
hint: name one that does with `--with COLLECTION`, or delete it all the same with `--force last`
error: no other collection is known to hold all files of `example.org/archive/2026/11.21.02.14`
error: 2 of 2 items could not be deleted
hint: each is named above, with its reason

"#]]);
    refuses(&world, "-c archive delete --force all 11.21.02.13", 2).tells(str![[r#"
error: invalid value 'all' for '--force <RULE>'
hint: possible values: last, damaged, permanent

"#]]);
}
