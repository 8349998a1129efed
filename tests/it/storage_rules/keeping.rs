//! What an Archive and all Archives together may hold.

use super::*;
use State::{Copy, Deleted, Elsewhere, Original};

/// S5, in both forms of an IBI.
#[test]
fn an_archive_has_no_two_items_of_one_ibi() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to b");
    // Another spelling of the name is the same item: there is nothing to copy or to migrate.
    let before = archives.trees();
    archives.done(&format!("-c b copy {} --to a", archives.name.to_uppercase()));
    assert_eq!(archives.trees(), before);
    // A second item with the IBIp of the first.
    archives.world.write("note.txt", "Note");
    let second = archives.done("-c a new note.txt").trim().to_owned();
    let ibip = archives.sidecar("a").unwrap().ibip;
    assert!(ibip.is_some());
    let root = archives.world.path("a");
    change_item(&root, &second, |sidecar| sidecar.ibip = ibip);
    archives.finds("U307", 20);
    // The name a second time, in capitals.
    let archives = Archives::new();
    let twin =
        archives.world.path("a").join(archives.name.replace("example.org/a", "example.org/A"));
    std::fs::create_dir_all(&twin).unwrap();
    copy_tree(&archives.item("a"), &twin);
    archives.finds("U302", 20);
    for name in [archives.name.clone(), archives.name.replace("example.org/a", "example.org/A")] {
        archives.done(&format!("-c a copy {name} --to b"));
        assert_eq!(archives.done("-c b list").lines().count(), 1);
    }
}

/// S6.
#[test]
fn copies_keep_the_ibi_of_their_original() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to b");
    archives.done("-c b copy ITEM --to c");
    let ibi = |root| {
        let sidecar = archives.sidecar(root).unwrap();
        (sidecar.repository.to_string(), sidecar.ibip.unwrap().to_string(), sidecar.created)
    };
    assert_eq!(ibi("b"), ibi("a"));
    assert_eq!(ibi("c"), ibi("a"));
    // Either form leads to them.
    for root in ROOTS {
        let found = archives.done(&format!("-c {root} show --path {}", ibi("a").1));
        assert_eq!(found.trim(), format!("[WORLD]/{root}/{}", archives.name));
    }
}

/// S1.
#[test]
fn the_original_is_in_one_archive_only() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to c");
    archives.clone_by_hand("a", "b");
    // What is copied by hand is a Copy, whatever its sidecar says.
    archives.done("verify a b c");
    let told = archives.done("-c a show ITEM --with b");
    assert_eq!(told.matches("  Original\n").count(), 1, "{told}");
    archives.refused("-c b meta set ITEM title=Two", 23, "is not the Original here");
}

/// S6.
#[test]
fn copies_may_be_in_many_archives() {
    let archives = Archives::new();
    for root in ["b", "c"] {
        archives.done(&format!("-c a copy ITEM --to {root}"));
    }
    assert_eq!(archives.states(), [Some(Original), Some(Copy), Some(Copy)]);
    archives.verified();
    let told = archives.done("-c a show ITEM --with b --with c");
    assert_eq!(told.matches("  Copy, up to date\n").count(), 2, "{told}");
}

/// S5 and S7.
#[test]
fn an_archive_holds_an_ibi_as_original_or_as_copy_and_never_as_both() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to b");
    let before = archives.trees();
    archives.done("-c b copy ITEM --to a");
    assert_eq!(archives.trees(), before);
    // What migrates onto its Copy replaces it; what is copied back is an Original no more.
    archives.done("-c a migrate ITEM --to b");
    assert_eq!(archives.states(), [Some(Elsewhere), Some(Original), None]);
    archives.done("-c b migrate ITEM --leave-copy --to a");
    assert_eq!(archives.states(), [Some(Original), Some(Copy), None]);
    for root in ["a", "b"] {
        let listed = archives.done(&format!("-c {root} list"));
        assert_eq!(listed.lines().collect::<Vec<_>>(), [archives.name.as_str()]);
    }
}

/// S2 and S3: what is lost is reported, and a Copy takes its place.
#[test]
fn every_item_has_an_original_in_one_archive() {
    let archives = Archives::new();
    for root in ["b", "c"] {
        archives.done(&format!("-c a copy ITEM --to {root}"));
    }
    // The last one that is known is not deleted by accident.
    let world = &archives.world;
    std::fs::write(archives.item("b").join("doc/letter.txt"), "rotten!!").unwrap();
    assert_ne!(archives.run("-c a delete ITEM --reason old -y --with b").code, 0);
    assert_eq!(archives.states()[0], Some(Original));
    archives.done("-c b repair ITEM --from a");
    // A site burns down.
    std::fs::rename(world.path("a"), world.path("lost")).unwrap();
    assert!(archives.done("verify b c").contains("U402"));
    archives.done("-c b promote ITEM --lost a --reason fire --with c -y");
    archives.refused("-c c promote ITEM --lost a --reason fire --with b -y", 23, "given up");
    assert_eq!(archives.states(), [None, Some(Original), Some(Copy)]);
    archives.done("-c c copy --all --from b");
    assert_eq!(archives.done("verify b c"), "");
}

/// S4.
#[test]
fn no_copy_is_without_an_original_and_each_has_exactly_one() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to c");
    let told = archives.done("verify b c");
    assert!(
        told.contains("U402") && told.contains("Copy") || told.contains("its Original"),
        "{told}"
    );
    archives.verified();
    // A Copy of a Copy has the same Original: not the Copy that it was read from.
    archives.done("-c c copy ITEM --to b");
    for root in ["b", "c"] {
        assert_eq!(archives.sidecar(root).unwrap().custody.holder(), archives.id("a"), "{root}");
    }
}

/// S7 and S9.
#[test]
fn the_state_is_one_of_three_values() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to b");
    archives.done("-c a copy ITEM --to c");
    archives.done("-c a migrate ITEM --leave-copy --to b");
    archives.done("-c b delete ITEM --reason old -y --with c");
    assert_eq!(archives.states(), [Some(Copy), Some(Deleted), Some(Copy)]);
    for (root, held) in [("a", "Copy"), ("b", "Deleted"), ("c", "Copy")] {
        for state in ["Original", "Copy", "Deleted"] {
            let listed = archives.done(&format!("-c {root} list --state {state}"));
            assert_eq!(!listed.is_empty(), state == held, "{root} {state}");
        }
    }
    archives.refused("-c a list --state Lent", 2, "Lent");
    // A sidecar with a fourth one is damaged, whatever its seal says.
    let path = archives.item("c").join("item.toml");
    let text = std::fs::read_to_string(&path).unwrap().replace("\"Copy\"", "\"Lent\"");
    let (body, _) = text.split_once("\n[seal]").unwrap();
    let seal = urepo::digest::Digest::of(format!("{body}\n").as_bytes());
    std::fs::write(&path, format!("{body}\n[seal]\nsha256 = \"{seal}\"\n")).unwrap();
    archives.finds("U102", 20);
}

/// S9.
#[test]
fn a_deleted_item_is_outside_the_relation_and_is_reported() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to b");
    archives.done("-c a delete ITEM --reason withdrawn -y --with b");
    assert_eq!(archives.states(), [Some(Deleted), Some(Copy), None]);
    assert!(!archives.item("a").join("doc").exists());
    let shown = archives.done("-c a show ITEM");
    assert!(shown.contains("\ndeleted  ") && shown.contains("withdrawn"), "{shown}");
    let told = archives.done("-c b status ITEM --with a");
    assert!(told.starts_with("left\t"), "{told}");
    assert!(archives.done("verify a b").contains("U403"));
    for line in ["-c a copy ITEM --to c", "-c a migrate ITEM --to c", "-c a delete ITEM -y"] {
        archives.refused(line, 22, "deleted");
    }
    // What the Archive says is Deleted does not come back unasked.
    archives.refused("-c b copy ITEM --to a", 23, "newer state");
}
