//! Donors that are out of date: put back from a backup after their Original had left, or older than others.

use std::fs;

use super::copy_tree;
use crate::support::World;

/// Were it believed, the only Original would become a Copy of an item that holds none.
#[test]
fn an_original_that_was_put_back_makes_no_copy_of_the_one_that_left() {
    for leave_copy in ["", "--leave-copy"] {
        let world = World::with_collection();
        let note = world.write("note.txt", "note");
        let name = world.run_args(["-c", "archive", "new", note.to_str().unwrap()]).line();
        world.run("init mirror --host mirror.example.org").succeeded();
        let item = |root: &str| world.path(root).join(&name);
        copy_tree(&item("archive"), &world.path("backup"));
        world.run(&format!("-c archive migrate {name} --to mirror {leave_copy}")).succeeded();
        let _ = fs::remove_dir_all(item("archive"));
        copy_tree(&world.path("backup"), &item("archive"));
        let sidecar = item("mirror").join("item.toml");
        for damage in ["", "lost"] {
            if damage == "lost" {
                fs::remove_file(&sidecar).unwrap();
            } else {
                let text = fs::read_to_string(&sidecar).unwrap();
                fs::write(&sidecar, text.replacen("state", "stat", 1)).unwrap();
            }
            let refused = world.run(&format!("-c mirror repair {name} --from archive"));
            assert_eq!(refused.code, 20, "{leave_copy} {damage}: {}", refused.stderr);
            assert!(refused.stderr.contains("has its last state"), "{}", refused.stderr);
        }
        assert_eq!(world.run("-c archive verify").code, 20, "{leave_copy}");
    }
}

/// The Original would lose its last description, and the collection that has it would be called wrong.
#[test]
fn an_older_copy_is_not_taken_while_a_known_collection_has_a_later_one() {
    let world = World::with_collection();
    let note = world.write("note.txt", "note");
    let name = world.run_args(["-c", "archive", "new", note.to_str().unwrap()]).line();
    for root in ["older", "later"] {
        world.run(&format!("init {root} --host {root}.example.org")).succeeded();
    }
    world.run(&format!("-c archive copy {name} --to older")).succeeded();
    world.run(&format!("-c archive meta set {name} title=Later")).succeeded();
    world.run(&format!("-c archive copy {name} --to later")).succeeded();
    world.write(
        ".config/urepo/config.toml",
        format!("[collections]\nlater = \"{}\"\n", world.path("later").display()),
    );
    // Dates are of seconds.
    let older = world.path("older").join(&name).join("item.toml");
    let text = fs::read_to_string(&older).unwrap();
    assert!(!text.contains("Later"), "{text}");
    let sidecar = world.path("archive").join(&name).join("item.toml");
    fs::remove_file(&sidecar).unwrap();
    let refused = world.run(&format!("-c archive repair {name} --from older"));
    assert_eq!(refused.code, 20, "{}", refused.stderr);
    assert!(refused.stderr.contains("has its last state"), "{}", refused.stderr);
    assert!(!sidecar.exists());
    world.run(&format!("-c archive repair {name} --from older --from later")).succeeded();
    assert!(fs::read_to_string(&sidecar).unwrap().contains("title = \"Later\""));
}
