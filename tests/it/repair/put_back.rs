//! Donors that were put back from a backup after their Original had left.

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
            world.run(&format!("-c mirror repair {name} --from archive")).succeeded();
            let text = fs::read_to_string(&sidecar).unwrap();
            assert!(text.contains("state = \"Original\""), "{leave_copy} {damage}: {text}");
        }
        world.run("-c mirror verify").succeeded();
        assert_eq!(world.run("-c archive verify").code, 20, "{leave_copy}");
    }
}
