//! Copying a whole collection in which something was deleted.

use super::{leaf, world_with_item};

#[test]
fn all_items_are_not_those_that_are_deleted() {
    let (world, name) = world_with_item();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.write("b.txt", "beta");
    world.run("-c archive new b.txt").succeeded();
    world.run(&format!("-c archive delete --force last {}", leaf(&name))).succeeded();
    let ran = world.run("-c archive copy --all --to mirror");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr, "copied 1 item, 1 file, 4 B; recorded 1 deletion\n");
    // Asked for by name, or by its state, it is refused.
    for selection in [name.as_str(), "--state deleted"] {
        let ran = world.run(&format!("-c archive copy {selection} --to mirror"));
        assert!(ran.stderr.contains("it is deleted"), "{}", ran.stderr);
        assert_eq!(ran.code, if selection == name { 22 } else { 3 });
    }
}
