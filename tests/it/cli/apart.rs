//! Collections and what lies around them: no source is taken out of another one, and nothing is written into any.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{open, tree};
use crate::support::{World, whole_items};

/// A world with the collection `archive`, and `drop/box/other`, which has the item that is returned.
fn world_with_another() -> (World, String) {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    world.run("init other --host other.example.org").succeeded();
    let item = world.run("-c other new a.txt --title A").line();
    for dir in ["drop/box", "done", "rejected"] {
        fs::create_dir_all(world.path(dir)).unwrap();
    }
    fs::rename(world.path("other"), world.path("drop/box/other")).unwrap();
    (world, item)
}

/// The bytes of a deleted item may be nowhere else.
#[test]
fn the_source_of_a_deleted_item_stays() {
    let world = World::with_collection();
    world.write("drop/a/f", "the last copy");
    world.run("-c archive import drop/a").succeeded();
    let name = world.run("-c archive list").line();
    world.run(&format!("-c archive delete {name} --force last --reason test --yes")).succeeded();
    world.run(&format!("-c archive purge {name} --yes")).succeeded();
    let ran = world.run("-c archive import --remove-source drop/a");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("was deleted here"), "{}", ran.stderr);
    assert!(world.path("drop/a/f").exists());
}

#[test]
fn no_source_is_taken_out_of_another_collection() {
    let (world, item) = world_with_another();
    std::os::unix::fs::symlink("drop/box/other", world.path("link")).unwrap();
    let mut places = vec!["drop".to_owned(), "drop/box".to_owned()];
    for place in ["", "/example.org/other", "/ITEM", "/ITEM/doc", "/ITEM/doc/a.txt"] {
        places.push(format!("drop/box/other{place}").replace("ITEM", &item));
    }
    places.push(format!("link/{item}/doc/a.txt"));
    world.write("list", places.join("\0") + "\0");
    world.write("list.csv", format!("path\n{}\n", places.join("\n")));
    let commands = [
        "new --remove-source",
        "new --remove-source --links follow",
        "import --remove-source",
        "import --remove-source --links follow",
        "import --remove-source --each-file",
        "import --remove-source --links asis",
        // Nothing here is a bag: what cannot become an item would be moved.
        "import --reject-dir rejected --bags",
    ];
    let before = tree(&world.path("drop"));
    let refused = |line: &str| {
        for flag in ["-n", ""] {
            let ran = world.run(&format!("{flag} -c archive {line}"));
            let is_named = ran.stderr.contains("is not moved or removed: that would damage");
            assert!(ran.code != 0 && is_named, "{line}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(tree(&world.path("drop")), before, "{line}");
        }
    };
    for command in commands {
        for place in &places {
            refused(&format!("{command} {place}"));
        }
    }
    refused("import --remove-source - < list");
    for rule in ["--remove-source", "--reject-dir rejected --bags"] {
        refused(&format!("import list.csv {rule}"));
    }
    assert!(whole_items(&open(&world)).is_empty());
    // What stays where it is can be deposited, and what lies beside a collection can be taken.
    world.run("-c archive new drop/box/other").succeeded();
    world.write("drop/b.txt", "beta");
    world.write("drop/settings/urepo.toml", "no collection");
    let ran = world.run("-c archive import --remove-source drop");
    assert_eq!((ran.code, ran.stdout.lines().count()), (3, 2), "{}", ran.stderr);
    assert_eq!(tree(&world.path("drop")), before);
}

/// A directory that cannot be listed is moved to the rejected ones without another look at it.
#[test]
fn no_closed_directory_of_another_collection_is_moved_aside() {
    let (world, _) = world_with_another();
    let closed = world.path("drop/box/other/example.org");
    let chmod = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
    chmod(0o300);
    world.run_unprivileged("-c archive import drop/box/other/ --reject-dir rejected");
    chmod(0o755);
    assert!(closed.join("other").exists() && tree(&world.path("rejected")).is_empty());
}

#[test]
fn nothing_is_written_into_a_collection() {
    let (world, item) = world_with_another();
    let other = world.path("drop/box/other");
    fs::rename(&other, world.path("other")).unwrap();
    let own = world.run("-c archive new a.txt").line();
    world.write("in/b.txt", "beta");
    std::os::unix::fs::symlink(format!("other/{item}/doc"), world.path("link")).unwrap();
    let places = [
        "archive".to_owned(),
        "archive/.urepo".to_owned(),
        "archive/example.org".to_owned(),
        format!("archive/{own}"),
        format!("archive/{own}/doc"),
        format!("other/{item}/doc"),
        "link".to_owned(),
    ];
    let lines = [
        "-c archive import in --reject-dir PLACE",
        "-c archive import in missing --rejects PLACE/new",
        "-c archive export --all --to PLACE/new",
        "-c archive export --all --format bag --to PLACE",
        "generate man PLACE",
        "generate completions PLACE",
    ];
    let before = [tree(&world.path("archive")), tree(&world.path("other"))];
    let refused = |flag: &str, line: &str, place: &str| {
        // By the paths that a person types: from the directory around the place, and from the place itself.
        for (from, place) in [("", place), (place, ".")] {
            let line = line.replace("PLACE", place).replace("-c archive", "-c $W/archive");
            let line = line.replace("import in", "import $W/in").replace("init new", "init $W/new");
            let script = format!("W=$PWD; cd \"$W/{from}\"; \"$0\" {flag} {line}");
            let ran = world.finish(world.shell(&script));
            assert_eq!(ran.code, 23, "{script}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("lies in the collection"), "{script}: {}", ran.stderr);
        }
        let now = [tree(&world.path("archive")), tree(&world.path("other"))];
        assert_eq!(now, before, "{flag} {line} {place}");
    };
    for line in lines {
        for place in &places {
            refused("", line, place);
            refused("-n", line, place);
        }
    }
    assert!(tree(&world.path("in")) == ["b.txt 4"] && !world.path("new").exists());
}

/// An identifier is the same in each collection that has the item; a path is not.
#[test]
fn a_path_in_another_collection_means_no_item_of_this_one() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    world.run("init mirror --host mirror.example.org").succeeded();
    let name = world.run("-c archive new a.txt").line();
    world.run("-c archive copy --all --to mirror").succeeded();
    let path = world.path("archive").join(&name);
    let path = path.display();
    for command in ["delete --force last", "show", "cat", "purge", "log"] {
        let ran = world.run(&format!("-c mirror {command} {path}"));
        assert_eq!(ran.code, 21, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("is in another collection"), "{command}: {}", ran.stderr);
    }
    for path in [format!("archive/{name}"), format!("./mirror/../archive/{name}")] {
        let ran = world.run(&format!("-c mirror delete --force last {path}"));
        assert_eq!(ran.code, 21, "{path}: {}", ran.stderr);
        assert!(ran.stderr.contains("is in another collection"), "{path}: {}", ran.stderr);
    }
    world.run(&format!("-c mirror show mirror/{name}")).succeeded();
    std::os::unix::fs::symlink("archive", world.path("link")).unwrap();
    for root in ["archive", "link"] {
        world.run(&format!("-c {root} show {path}")).succeeded();
    }
    world.run(&format!("-c mirror show /mnt/elsewhere/{name}")).succeeded();
}
