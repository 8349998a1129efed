//! What was changed by hand is not sealed as if it were true.

use super::{leaf, world_with_item};
use crate::support::World;

/// Changes the text of a sidecar and leaves its seal as it was.
fn edit(world: &World, root: &str, name: &str, from: &str, to: &str) {
    let path = world.path(root).join(name).join("item.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn a_copy_that_calls_itself_the_original_is_not_repaired_into_one() {
    let (world, name) = world_with_item();
    for root in ["mirror", "third"] {
        world.run(&format!("init {root} --host {root}.example.org")).succeeded();
        world.run(&format!("-c archive copy --all --to {root}")).succeeded();
    }
    edit(&world, "mirror", &name, "state = \"Copy\"", "state = \"Original\"");
    // Even another Copy shows what was sealed.
    world.run(&format!("-c mirror repair {name} --from third")).succeeded();
    let shown = world.run(&format!("-c mirror show {}", leaf(&name)));
    assert!(shown.succeeded().contains("held by    mirror  Copy"), "{}", shown.stdout);
    assert_eq!(world.run("verify archive mirror third").code, 0);
}

#[test]
fn a_tombstone_that_was_changed_is_not_revived() {
    let (world, name) = world_with_item();
    world.run(&format!("-c archive delete --force last {name}")).succeeded();
    edit(&world, "archive", &name, "transferable = true", "transferable = false");
    let ran = world.run(&format!("-c archive restore {name}"));
    assert_ne!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("was changed by hand or damaged"), "{}", ran.stderr);
}

#[test]
fn links_that_differ_are_seen_between_collections() {
    let world = World::with_collection();
    world.write("dir/a.txt", "alpha");
    std::os::unix::fs::symlink("a.txt", world.path("dir/link")).unwrap();
    let name = world.run("-c archive new dir").line();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    let item = world.path("mirror").join(&name);
    let text = std::fs::read(item.join("item.toml")).unwrap();
    let (mut sidecar, _) = urepo::sidecar::Sidecar::read(&text).unwrap();
    for entry in &mut sidecar.files {
        if let urepo::item::Content::Link { target } = &mut entry.content {
            *target = b"./a.txt".to_vec();
        }
    }
    std::fs::write(item.join("item.toml"), sidecar.to_text()).unwrap();
    std::fs::remove_file(item.join("doc/link")).unwrap();
    std::os::unix::fs::symlink("./a.txt", item.join("doc/link")).unwrap();
    let ran = world.run("verify archive mirror");
    assert_eq!(ran.code, 20, "{}", ran.stdout);
    assert!(ran.stdout.contains("U405"), "{}", ran.stdout);
}
