//! `new --remove-source`: the source goes only after the item is proven, and only what was deposited.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use urepo::collection::Collection;
use urepo::deposit::{Options, SourceRule};
use urepo::disk::{Operation, Watch, Watcher};

use super::open;
use crate::support::{
    TestClock, World, deposit, make_collection, options, request, tree, whole_items,
};

#[test]
fn takes_files_and_directories_away() {
    let world = World::with_collection();
    world.write("drop/a.txt", "alpha");
    world.write("drop/dir/b.txt", "beta");
    std::fs::create_dir(world.path("drop/dir/empty")).unwrap();
    std::os::unix::fs::symlink("b.txt", world.path("drop/dir/link")).unwrap();
    let ran = world.run("-c archive new --remove-source --each drop/a.txt drop/dir");
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2), "{}", ran.stderr);
    assert_eq!(tree(&world.path("drop")), [""; 0]);
    assert_eq!(whole_items(&open(&world)).len(), 2);
}

#[test]
fn takes_several_that_become_one_away() {
    let world = World::with_collection();
    world.write("drop/a.txt", "alpha");
    world.write("drop/dir/b.txt", "beta");
    world.run("-c archive new --remove-source drop/a.txt drop/dir").succeeded();
    assert_eq!(tree(&world.path("drop")), [""; 0]);
    assert_eq!(whole_items(&open(&world)).len(), 1);
}

#[test]
fn takes_nothing_away_that_was_not_deposited() {
    let world = World::with_collection();
    world.write("drop/a.txt", "alpha");
    world.write("twins/x", "1");
    world.write("twins/X", "2");
    let ran = world.run("-c archive new --remove-source --each drop/a.txt twins drop/missing");
    assert_eq!(ran.code, 3);
    assert_eq!(tree(&world.path("drop")), [""; 0]);
    assert_eq!(tree(&world.path("twins")).len(), 2);
    // A failure of the one item leaves all of it.
    world.write("drop/a.txt", "alpha");
    let ran = world.run("-c archive new --remove-source drop/a.txt twins");
    assert_eq!(ran.code, 1);
    assert_eq!(tree(&world.path("drop")).len(), 1);
}

/// With followed links, what they lead to is elsewhere and not ours to take away.
#[test]
fn leaves_what_links_lead_to() {
    let world = World::with_collection();
    world.write("elsewhere/a.txt", "alpha");
    world.write("drop/b.txt", "beta");
    std::os::unix::fs::symlink("../elsewhere", world.path("drop/link")).unwrap();
    std::os::unix::fs::symlink("../elsewhere/a.txt", world.path("drop/file")).unwrap();
    let ran = world.run("-q -c archive new --remove-source --links follow drop");
    // Not all that was asked for was done, which a script has to hear of.
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("was deposited but not removed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the sources of 1 item are still there"), "{}", ran.stderr);
    assert_eq!(tree(&world.path("elsewhere")), ["a.txt 5"]);
}

/// What was left out is in no item: no hint says that it can be removed.
#[test]
fn does_not_suggest_to_remove_what_was_left_out() {
    let world = World::with_collection();
    world.write("drop/1.txt", "one");
    world.write("drop/2.bak", "two");
    let ran = world.run("-q -c archive new --remove-source --exclude *.bak drop");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("2.bak` is not in the item: it was left out"), "{}", ran.stderr);
    assert!(
        ran.stderr.ends_with("\nhint: each is named above, with its reason\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(tree(&world.path("drop")), ["1.txt 3", "2.bak 3"]);
}

#[test]
fn says_that_others_are_deposited_if_there_are_any() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let hint = "hint: the other paths are deposited";
    let ran = world.run("-c archive new --each missing gone");
    assert!(ran.code == 3 && !ran.stderr.contains(hint), "{}", ran.stderr);
    let ran = world.run("-c archive new --each missing a.txt");
    assert!(ran.code == 3 && ran.stderr.contains(hint), "{}", ran.stderr);
}

/// `lock_wait` limits the wait, and a later import removes the source.
#[test]
fn leaves_the_source_while_the_collection_is_locked() {
    let world = World::with_collection();
    world.write("drop/a.txt", "alpha");
    world.run("-c archive import drop").succeeded();
    let lock = std::fs::File::open(world.path("archive/.urepo/change.lock")).unwrap();
    lock.lock().unwrap();
    let ran = world.run("UREPO_LOCK_WAIT=0s -c archive import --remove-source drop");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let reason = "the collection `archive` is locked: held by ";
    assert!(ran.stderr.contains(reason), "{}", ran.stderr);
    assert_eq!(tree(&world.path("drop")), ["a.txt 5"]);
    drop(lock);
    world.run("-c archive import --remove-source drop").succeeded();
    assert_eq!(tree(&world.path("drop")), [""; 0]);
}

/// Does something to the sources in the moment when an item is put in place.
struct Meddler {
    root: PathBuf,
    meddle: fn(&Path) -> io::Result<()>,
}

impl Watch for Meddler {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::Rename && path.starts_with(self.root.join("archive")) {
            (self.meddle)(&self.root.join("drop"))?;
        }
        Ok(())
    }
}

/// Deposits `drop` with `--remove-source`, meddled with, and gives what was told to be left.
fn meddled(meddle: fn(&Path) -> io::Result<()>) -> (World, Vec<String>) {
    let world = World::new();
    make_collection(&world.path("archive"));
    world.write("drop/a.txt", "alpha");
    world.write("drop/b.txt", "beta");
    let root = world.path("");
    let watcher = Watcher::new(Arc::new(Meddler { root: root.clone(), meddle }));
    let collection = Collection::open(&world.path("archive"), &watcher).unwrap();
    let options = Options { sources: SourceRule::Remove, ..options() };
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let requests = vec![request(world.path("drop"))];
    let (mut outcomes, _) = deposit(&collection, requests, options, &clock, |_| ()).unwrap();
    let left = outcomes.remove(0).result.unwrap().left;
    let root = root.display().to_string();
    (world, left.iter().map(|text| text.replace(&root, "")).collect())
}

#[test]
fn leaves_a_source_that_has_changed() {
    let (world, left) = meddled(|drop| std::fs::write(drop.join("a.txt"), "later"));
    assert_eq!(left, ["`drop/a.txt` has changed since it was deposited"]);
    assert_eq!(tree(&world.path("drop")), ["a.txt 5", "b.txt 4"]);
    assert_eq!(whole_items(&open(&world)).len(), 1);
}

#[test]
fn leaves_what_came_later() {
    let (world, left) = meddled(|drop| std::fs::write(drop.join("c.txt"), "gamma"));
    assert_eq!(left, ["`drop/c.txt` is not in the item: it was left out, or is new"]);
    assert_eq!(tree(&world.path("drop")), ["a.txt 5", "b.txt 4", "c.txt 5"]);
}

#[test]
fn leaves_everything_of_an_item_that_does_not_read_back() {
    let (world, left) = meddled(|drop| {
        let archive = drop.with_file_name("archive");
        let stages = walkdir::WalkDir::new(archive.join(".urepo/staging"));
        for entry in stages.into_iter().filter_map(Result::ok) {
            if entry.file_name() == "a.txt" {
                std::fs::write(entry.path(), "alphA")?;
            }
        }
        Ok(())
    });
    assert_eq!(
        left,
        [
            "the item does not read back as it was written: bytes are not those deposited, `doc/a.txt`"
        ]
    );
    assert_eq!(tree(&world.path("drop")), ["a.txt 5", "b.txt 4"]);
}
