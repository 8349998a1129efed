//! What was deleted is described by the trash, whatever has become of its tombstone.

use std::fs;

use crate::support::{Ran, World};

/// A world whose settings name `archive`, with an item that was described after `mirror` got a Copy of it, if there is one, and
/// that was deleted for a reason; and the item's name.
fn world(has_mirror: bool) -> (World, String) {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt --title First").line();
    let mut settings = format!("[collections]\narchive = '{}'\n", world.path("archive").display());
    if has_mirror {
        world.run("-q init mirror --host mirror.example.org").succeeded();
        world.run(&format!("-c archive copy {name} --to mirror")).succeeded();
        settings += &format!("mirror = '{}'\n", world.path("mirror").display());
    }
    world.write(".config/urepo/config.toml", settings);
    world.run(&format!("-c archive meta set {name} title=Precious")).succeeded();
    world.run(&format!("-c archive delete {name} --force last --reason because -y")).succeeded();
    (world, name)
}

/// The tombstone is as the deletion wrote it but for what no other place has, and the item comes back as it was.
#[track_caller]
fn comes_back(world: &World, name: &str, tombstone: &str) {
    let sidecar = world.path("archive").join(name).join("item.toml");
    let values = |text: &str| {
        let parsed: toml::Table = text.parse().unwrap();
        let keys = ["metadata", "payload", "file", "removal", "created", "timestamp"];
        keys.map(|key| parsed.get(key).cloned())
    };
    let text = fs::read_to_string(&sidecar).unwrap();
    assert_eq!(values(&text), values(tombstone), "{text}\n{tombstone}");
    is_restored(world, name);
}

/// The item comes back as it was.
#[track_caller]
fn is_restored(world: &World, name: &str) -> Ran {
    let ran = world.run(&format!("-c archive restore {name}"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(world.run(&format!("-c archive list {name} --columns title")).line(), "Precious");
    let payload = world.path("archive").join(name).join("doc/a.txt");
    assert_eq!(fs::read_to_string(payload).unwrap(), "alpha");
    world.run("verify archive").succeeded();
    ran
}

fn tombstone_of(world: &World, name: &str) -> String {
    fs::read_to_string(world.path("archive").join(name).join("item.toml")).unwrap()
}

/// A Copy that is older than the deletion says less than the trash.
#[test]
fn a_lost_tombstone_is_built_from_the_trash() {
    for has_mirror in [true, false] {
        let (world, name) = world(has_mirror);
        let tombstone = tombstone_of(&world, &name);
        fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
        world.run(&format!("-c archive repair {name}")).succeeded();
        let shown = world.run(&format!("-c archive show {name}")).stdout;
        assert!(shown.contains("because"), "{shown}");
        comes_back(&world, &name, &tombstone);
    }
}

/// The line of the deletion is not the last one any more.
#[test]
fn a_tombstone_that_is_lost_twice_keeps_its_reason() {
    let (world, name) = world(false);
    let tombstone = tombstone_of(&world, &name);
    for _ in 0..2 {
        fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
        world.run(&format!("-c archive repair {name}")).succeeded();
    }
    comes_back(&world, &name, &tombstone);
}

/// Rot does not get a seal: neither in the description, nor in what the payload is.
#[test]
fn a_rotten_tombstone_is_built_from_the_trash() {
    for (is, rots) in
        [("title = \"Precious\"", "title = \"Rotten\""), ("\nsha256 = \"", "\nsha256 = \"0000")]
    {
        let (world, name) = world(false);
        let tombstone = tombstone_of(&world, &name);
        let mut rotten = tombstone.replacen(is, rots, 1);
        if rots.ends_with("0000") {
            let at = rotten.find(rots).unwrap() + rots.len();
            rotten.replace_range(at..at + 4, "");
        }
        assert_ne!(rotten, tombstone);
        world.write(&format!("archive/{name}/item.toml"), rotten);
        assert_eq!(world.run("verify archive").code, 20);
        let ran = world.run(&format!("-c archive repair {name}"));
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        // The value that is taken back is named.
        assert_eq!(ran.stdout.contains("Rotten"), rots.contains("Rotten"), "{}", ran.stdout);
        world.run("verify archive").succeeded();
        comes_back(&world, &name, &tombstone);
    }
}

/// Nothing shows what a rotten tombstone was: a person looks at it.
#[test]
fn a_rotten_tombstone_without_another_source_is_left_to_a_person() {
    let (world, name) = world(false);
    world.run("-c archive purge --all -y").succeeded();
    let rotten = tombstone_of(&world, &name).replacen("Precious", "Rotten", 1);
    world.write(&format!("archive/{name}/item.toml"), rotten);
    let ran = world.run(&format!("-c archive repair {name}"));
    assert_eq!(ran.code, 20, "{}{}", ran.stdout, ran.stderr);
    let typed = format!("repair {name} --reseal");
    assert!(ran.stderr.contains(&typed), "{}", ran.stderr);
    assert!(tombstone_of(&world, &name).contains("Rotten"));
    world.run(&format!("-c archive {typed}")).succeeded();
    world.run("verify archive").succeeded();
}

/// An earlier version built tombstones from older states. What such a tombstone has otherwise is named.
#[test]
fn a_restoration_takes_the_description_from_the_trash() {
    for (is, was) in [("title = \"Precious\"", "title = \"Older\""), ("alpha", "alpha")] {
        let (world, name) = world(false);
        let text = tombstone_of(&world, &name).replacen(is, was, 1);
        let (text, keys) = if is == "alpha" {
            // Without its list of files.
            let at = text.find("[[file]]").unwrap();
            (text[..at].to_owned(), "target, files")
        } else {
            (text, "metadata.title")
        };
        world.write(&format!("archive/{name}/item.toml"), text);
        world.run(&format!("-c archive repair {name} --reseal")).succeeded();
        let ran = is_restored(&world, &name);
        let words = format!(", as it was deleted: its tombstone had another {keys}; it is");
        let told = ran.stdout + &ran.stderr;
        assert!(told.contains(&words), "{told}");
    }
}
