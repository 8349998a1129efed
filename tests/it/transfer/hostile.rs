//! Collections that are not what they say, and what was planted in them.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::Ordering;

use urepo::identity::RepositoryName;
use urepo::transfer::{Leaves, Step, TransferError, Verb};

use super::support::{Pair, State, edit, rewrite, step};
use crate::support::tree;

fn inode(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).unwrap().ino()
}

#[test]
fn a_copy_follows_its_original_when_that_is_handed_over() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let third = pair.third();
    pair.run_between(&pair.from(), &third, Verb::Copy, Leaves::Stub);
    pair.run(Verb::Migrate, Leaves::Copy);
    edit(&pair.to(), &name, "a.txt", b"the next edition");
    let outcomes = pair.run_between(&pair.to(), &third, Verb::Copy, Leaves::Stub);
    assert_eq!(step(&outcomes[0]), Step::Copy);
}

#[test]
fn rot_is_not_taken_over_by_a_refresh() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    let file = pair.to().item(&name).unwrap().payload_path().join("sub/b.bin");
    let times = std::fs::metadata(&file).unwrap().modified().unwrap();
    std::fs::write(&file, vec![8; 300_000]).unwrap();
    std::fs::File::open(&file).unwrap().set_modified(times).unwrap();
    pair.edit_source(&name, "a.txt", b"later");
    pair.run(Verb::Copy, Leaves::Stub);
    assert!(pair.is_clean());
}

#[test]
fn a_refresh_takes_nothing_from_outside() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    let payload = pair.to().item(&name).unwrap().payload_path();
    let outside = pair.root(1).with_file_name("outside");
    std::fs::rename(payload.join("sub"), &outside).unwrap();
    symlink(&outside, payload.join("sub")).unwrap();
    pair.edit_source(&name, "a.txt", b"later");
    pair.run(Verb::Copy, Leaves::Stub);
    assert!(pair.is_clean());
    let copied = pair.to().item(&name).unwrap().payload_path().join("sub/b.bin");
    assert_ne!(inode(&copied), inode(&outside.join("b.bin")));
}

/// Puts `doc/odd`, which has an empty directory and a link, outside of the item, and a link in its place.
fn move_outside(pair: &Pair, at: usize, name: &RepositoryName) {
    let collection = [pair.from(), pair.to()].into_iter().nth(at).unwrap();
    let odd = collection.item(name).unwrap().payload_path().join("odd");
    let outside = pair.root(at).with_file_name("outside");
    std::fs::rename(&odd, &outside).unwrap();
    symlink(&outside, &odd).unwrap();
}

fn deposit_odd(pair: &Pair) -> RepositoryName {
    let odd = pair.root(0).with_file_name("sources").join("dir/odd");
    std::fs::create_dir_all(odd.join("empty")).unwrap();
    symlink("../a.txt", odd.join("link")).unwrap();
    pair.deposit_tree()
}

#[test]
fn what_lies_behind_a_planted_link_is_no_proof_of_a_copy() {
    let pair = Pair::new();
    let name = deposit_odd(&pair);
    pair.run(Verb::Copy, Leaves::Stub);
    rewrite(&pair.from(), &name, |sidecar| {
        sidecar.state = State::Copy;
        sidecar.custody = urepo::custody::Custody::first(sidecar.custody.id(), "yonder");
    });
    move_outside(&pair, 1, &name);
    let outcome = pair.run(Verb::Migrate, Leaves::Stub).remove(0).result;
    assert!(matches!(outcome, Err(TransferError::NotProven { .. })), "{outcome:?}");
    assert_eq!(super::support::findings(&pair.from()), [""; 0], "the good Copy is still there");
}

#[test]
fn attributes_are_not_copied_from_outside_the_item() {
    let pair = Pair::new();
    let name = deposit_odd(&pair);
    move_outside(&pair, 0, &name);
    let outcome = pair.run(Verb::Copy, Leaves::Stub).remove(0).result;
    assert!(matches!(outcome, Err(TransferError::Damaged { .. })), "{outcome:?}");
}

#[test]
fn a_link_planted_among_half_copied_items_leads_nowhere() {
    let pair = Pair::new();
    pair.resume_bytes.store(1, Ordering::Relaxed);
    pair.deposit_tree();
    let outside = pair.root(1).with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("b.bin"), "mine").unwrap();
    // The name of the place is known to whoever has the source.
    let partial = pair.root(1).join(".urepo/partial");
    let places = (60..).find_map(|at| {
        let half = crate::support::Faults::new(pair.root(0), at, crate::support::Mode::Killed);
        let (from, to) = pair.watched(std::sync::Arc::new(half))?;
        let _ = pair.try_between(&from, &to, Verb::Copy, Leaves::Stub, |_| ());
        let place = std::fs::read_dir(&partial).ok()?.next()?.unwrap().path().join("doc");
        place.join("sub").exists().then_some(place)
    });
    let place = places.unwrap();
    std::fs::remove_dir_all(place.join("sub")).unwrap();
    symlink(&outside, place.join("sub")).unwrap();
    let outcome = pair.run(Verb::Copy, Leaves::Stub).remove(0).result;
    assert!(outcome.is_err(), "{outcome:?}");
    assert_eq!(tree(&outside), ["b.bin 4"]);
}

#[test]
fn a_sidecar_that_contradicts_itself_is_not_copied() {
    let pair = Pair::new();
    let name: RepositoryName = pair.deposit_tree();
    rewrite(&pair.from(), &name, |sidecar| sidecar.payload.files = i64::MAX.unsigned_abs());
    let outcome = pair.run(Verb::Copy, Leaves::Stub).remove(0).result;
    assert!(matches!(outcome, Err(TransferError::Damaged { .. })), "{outcome:?}");
}
