//! What may move, who maintains Copies, and who knows where an item is.

use super::*;
use State::{Copy, Elsewhere, Original};

/// The title of the item in a collection.
fn title(archives: &Archives, root: &str) -> String {
    let sidecar = archives.sidecar(root).unwrap();
    sidecar.metadata.table()["title"].as_str().unwrap().to_owned()
}

/// 8.1, the maintenance of Copies.
#[test]
fn copies_are_maintained_only_by_copying_the_original() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to b");
    archives.done("-c a copy ITEM --to c");
    archives.refused("-c b meta set ITEM title=Forged", 23, "is not the Original here");
    archives.done("-c a meta set ITEM title=Epistle");
    archives.finds("U403", 0);
    // An older state never replaces a newer one.
    archives.done("-c b copy ITEM --from a");
    archives.refused("-c c copy ITEM --to b", 23, "newer state");
    assert_eq!(
        ["a", "b", "c"].map(|root| title(&archives, root)),
        ["Epistle", "Epistle", "Letter"]
    );
    // What was changed by hand in a Copy is damage, and never goes to the Original.
    let root = archives.world.path("c");
    change_item(&root, &archives.name, |sidecar| {
        let original = archives.sidecar("a").unwrap();
        (sidecar.timestamp, sidecar.custody) = (original.timestamp, original.custody);
        sidecar.metadata.set("title", &["Forged"]).unwrap();
    });
    archives.finds("U407", 20);
    archives.done("-c c copy ITEM --to a");
    assert_eq!(title(&archives, "a"), "Epistle");
}

/// S8, and S1 after each step.
#[test]
fn a_transferable_original_may_migrate() {
    let archives = Archives::new();
    let content = |root| archives.sidecar(root).map(|it| (it.files, it.payload, it.repository));
    let whole = content("a");
    // Into nothing, onto a Copy, with a Copy left behind, and back.
    archives.done("-c a migrate ITEM --to b");
    assert_eq!(archives.states(), [Some(Elsewhere), Some(Original), None]);
    archives.done("-c b copy ITEM --to c");
    archives.done("-c b migrate ITEM --to c");
    assert_eq!(archives.states(), [Some(Elsewhere), Some(Elsewhere), Some(Original)]);
    archives.done("-c c migrate ITEM --leave-copy --to a");
    assert_eq!(archives.states(), [Some(Original), Some(Elsewhere), Some(Copy)]);
    archives.verified();
    // To another file system and back.
    let far = tempfile::tempdir().unwrap();
    let far = far.path().join("far");
    let far = far.display();
    archives.done(&format!("init {far} --host far.example.org"));
    archives.done(&format!("-c a migrate ITEM --to {far}"));
    assert_eq!(archives.states(), [Some(Elsewhere), Some(Elsewhere), Some(Copy)]);
    archives.done(&format!("-c {far} migrate ITEM --to b"));
    assert_eq!(archives.states(), [Some(Elsewhere), Some(Original), Some(Copy)]);
    assert_eq!(content("b"), whole);
    // A Copy is not the Original: it may move as it likes, once it is not behind.
    archives.done("-c b copy ITEM --to c");
    archives.done("-c c migrate ITEM --to a");
    assert_eq!(archives.states(), [Some(Copy), Some(Original), Some(Elsewhere)]);
}

/// 8.1: an Original says where it was, also one that migrated by being renamed.
#[test]
fn copies_follow_an_original_that_migrated() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to c");
    archives.done("-c a migrate ITEM --to b");
    archives.done("-c b meta set ITEM title=Epistle");
    archives.done("-c c copy ITEM --from b");
    assert_eq!(title(&archives, "c"), "Epistle");
    archives.verified();
}

/// S8.
#[test]
fn a_non_transferable_original_must_stay() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to c");
    archives.done("-c a meta set ITEM transferable=false");
    let far = tempfile::tempdir().unwrap();
    let far = far.path().join("far").display().to_string();
    archives.done(&format!("init {far} --host far.example.org"));
    for to in ["b", "c", "b --leave-copy", &far] {
        archives.refused(&format!("-c a migrate ITEM --to {to}"), 23, "not transferable");
    }
    // It may be copied, and the mark travels.
    archives.done("-c a copy ITEM --to b");
    archives.done("-c c copy ITEM --from a");
    assert_eq!(archives.states(), [Some(Original), Some(Copy), Some(Copy)]);
    assert!(ROOTS.iter().all(|root| !archives.sidecar(root).unwrap().transferable));
    archives.verified();
}

/// S8: the service of an Archive is its example.
#[test]
fn the_archive_service_is_a_non_transferable_original() {
    let archives = Archives::new();
    archives.world.write("service.cgi", "#!/bin/sh\n");
    let service = archives.done("-c a new service.cgi --title Service").trim().to_owned();
    archives.done(&format!("-c a meta set {service} transferable=false"));
    // An Archive that hands over everything keeps its service, and says so.
    let ran = archives.run("-c a migrate --all --to b");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains(&service), "{}", ran.stderr);
    assert_eq!(archives.done("-c a list --state Original").trim(), service);
    assert_eq!(archives.states(), [Some(Elsewhere), Some(Original), None]);
    archives.verified();
}

/// `archiveserviceibi`: here the id of the collection.
#[test]
fn the_archive_of_an_item_is_known() {
    let archives = Archives::new();
    archives.done("-c a copy ITEM --to c");
    let archive_of = |root| archives.sidecar(root).unwrap().custody.holder().to_owned();
    assert_eq!((archive_of("a"), archive_of("c")), (archives.id("a"), archives.id("a")));
    archives.done("-c a migrate ITEM --to b");
    // The Archive that had it says where it went; its Copies follow.
    assert!(archives.done("-c a show ITEM").contains(&archives.id("b")[..6]));
    archives.done("-c c copy ITEM --from b");
    assert_eq!(archive_of("c"), archives.id("b"));
    let told = archives.done("-c c show ITEM --with a --with b --json");
    let original = told.lines().find(|line| line.contains("\"standing\":\"original\"")).unwrap();
    assert!(original.contains(&archives.id("b")[..6]), "{original}");
    archives.verified();
}
