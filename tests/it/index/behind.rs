//! What people change by hand: no answer is wrong, and `recover` makes the rest known.

use std::fs;
use std::path::{Path, PathBuf};

use urepo::index::Query;

use super::support::{agrees, catalog, copy_tree, index_file, names, settle, with_index};
use crate::support::World;

/// A collection with an index, its root, and the names of its three items.
fn world() -> (World, PathBuf, Vec<String>) {
    let world = World::with_collection();
    let root = world.path("archive");
    let mut names = Vec::new();
    for title in ["First report", "Second report", "A table"] {
        let source = world.write("source/data.txt", title);
        let source = source.to_str().unwrap();
        names.push(world.run_args(["-c", "archive", "new", source, "--title", title]).line());
    }
    agrees(&root, "");
    settle(&root);
    (world, root, names)
}

fn found(root: &Path, text: &str) -> usize {
    let query = Query::default().text(text).unwrap();
    catalog(root, |catalog| names(catalog, &query).len())
}

/// Edits the sidecar of the item `name`.
fn edit(root: &Path, name: &str, from: &str, to: &str) {
    let sidecar = root.join(name).join("item.toml");
    let text = fs::read_to_string(&sidecar).unwrap();
    fs::write(&sidecar, text.replace(from, to)).unwrap();
}

#[test]
fn an_edited_sidecar_is_no_wrong_hit() {
    let (world, root, items) = world();
    edit(&root, &items[0], "First", "Other");
    assert_eq!((found(&root, "first"), found(&root, "report")), (0, 2));
    // The hit was read again.
    assert_eq!(found(&root, "other"), 1);
    edit(&root, &items[1], "Second", "Third");
    assert_eq!(found(&root, "third"), 0, "nobody has looked at it");
    world.run("-c archive recover --index").succeeded();
    assert_eq!((found(&root, "third"), found(&root, "second")), (1, 0));
    agrees(&root, "");
}

#[test]
fn items_that_come_and_go_by_hand() {
    let (world, root, items) = world();
    fs::remove_dir_all(root.join(&items[1])).unwrap();
    assert_eq!((found(&root, "second"), found(&root, "report")), (0, 1));
    // An item that is replaced by another one, whose sidecar names another item.
    fs::remove_dir_all(root.join(&items[2])).unwrap();
    copy_tree(&root.join(&items[0]), &root.join(&items[2]));
    assert_eq!((found(&root, "table"), found(&root, "first")), (0, 1));
    // One that is copied in: unknown until it is recorded.
    let other = "example.org/archive/2020/01.02.03.04";
    copy_tree(&root.join(&items[0]), &root.join(other));
    edit(&root, other, &items[0], other);
    edit(&root, other, "First", "Old");
    let seal = root.join(other).join("item.toml");
    let text = fs::read_to_string(&seal).unwrap();
    fs::write(&seal, &text[..text.find("[seal]").unwrap()]).unwrap();
    assert_eq!(found(&root, "old"), 0);
    world.run("-c archive recover");
    assert_eq!(found(&root, "old"), 1);
    world.run("-c archive recover --index").succeeded();
    agrees(&root, "");
}

/// The ledger is another one, or an older one: the mark of the index is not in it.
#[test]
fn a_ledger_that_was_put_back() {
    let (world, root, items) = world();
    let ledger = root.join(".urepo/ledger/000001.jsonl");
    let old = fs::read(&ledger).unwrap();
    world.run(&format!("-c archive meta set {} title=Later", items[0])).succeeded();
    assert_eq!(agrees(&root, "followed"), Some(1));
    fs::write(&ledger, &old).unwrap();
    assert_eq!(agrees(&root, "put back"), None);
    // The same length, other lines.
    world.run(&format!("-c archive meta set {} title=Sooner", items[1]));
    agrees(&root, "");
}

#[test]
fn without_a_ledger() {
    let (_world, root, _) = world();
    fs::remove_dir_all(root.join(".urepo")).unwrap();
    assert_eq!(agrees(&root, "without a ledger"), None);
    assert_eq!(agrees(&root, "again"), None);
}

/// An index of an hour ago is put back, or one of a copy is used: it follows from where it is.
#[test]
fn an_old_index_that_is_put_back() {
    let (world, root, items) = world();
    let index = index_file(&root);
    let old = fs::read(&index).unwrap();
    world.run(&format!("-c archive delete --force last {}", items[2])).succeeded();
    assert_eq!(agrees(&root, ""), Some(1));
    fs::write(&index, old).unwrap();
    assert_eq!(agrees(&root, "put back"), Some(1));
}

#[test]
fn prefixes_in_another_case() {
    let (world, root, items) = world();
    let (lower, upper) = (root.join("example.org"), root.join("Example.Org"));
    fs::rename(&lower, &upper).unwrap();
    with_index(&root);
    assert_eq!(found(&root, "report"), 2);
    let title = format!("-c archive meta set {} title=Renamed", items[0]);
    world.run(&title).succeeded();
    assert_eq!((found(&root, "report"), found(&root, "renamed")), (1, 1));
    fs::rename(&upper, &lower).unwrap();
    world.run(&title.replace("Renamed", "Back")).succeeded();
    assert_eq!((found(&root, "renamed"), found(&root, "back")), (0, 1));
}
