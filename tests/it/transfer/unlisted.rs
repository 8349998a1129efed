//! Files that no sidecar lists survive the item around them: in the trash, named by plan and run.

use std::path::{Path, PathBuf};

use urepo::identity::RepositoryName;
use urepo::transfer::{Leaves, Step, Verb};

use super::support::{Pair, State, step};

/// What people leave in the directory of an item.
const EXTRAS: [&str; 4] =
    ["service/userBase", "not_sent/draft.txt", "doc/sub/only.txt", "doc/new/deep/only.txt"];
/// The same as a plan names it: a directory that the sidecar does not know is one thing.
const NAMED: [&str; 4] = ["doc/new", "doc/sub/only.txt", "not_sent", "service"];

fn directory(root: &Path, name: &RepositoryName) -> PathBuf {
    root.join(urepo::layout::item_directory(name))
}

/// Leaves extras in the item, each with a text of its own; returns how a plan names them.
fn leave(root: &Path, name: &RepositoryName, side: &str) -> Vec<PathBuf> {
    let item = directory(root, name);
    for extra in EXTRAS {
        let path = item.join(extra);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{side} {extra}")).unwrap();
    }
    NAMED.iter().map(|named| item.join(named)).collect()
}

/// The extras in the trash at `root`, by the paths they had.
fn in_trash(root: &Path, side: &str) -> Vec<&'static str> {
    let trash: Vec<_> = walkdir::WalkDir::new(root.join(".urepo/trash"))
        .into_iter()
        .filter_map(|entry| Some(entry.ok()?.into_path()))
        .filter(|path| path.is_file())
        .collect();
    let kept = |extra: &str| {
        let text = format!("{side} {extra}");
        trash
            .iter()
            .any(|path| path.ends_with(extra) && std::fs::read(path).unwrap() == text.as_bytes())
    };
    EXTRAS.into_iter().filter(|extra| kept(extra)).collect()
}

/// Plans, runs, and compares what both say with what is in the trash on both sides.
#[track_caller]
fn check(pair: &Pair, name: &RepositoryName, verb: Verb, rules: Leaves, sides: [bool; 2]) -> Step {
    let mut expected = Vec::new();
    for (at, side) in ["source", "destination"].into_iter().enumerate() {
        if sides[at] {
            expected.extend(leave(pair.root(at), name, side));
        }
    }
    let named = |outcomes: Vec<urepo::transfer::Outcome>| {
        outcomes.into_iter().flat_map(|it| it.result.unwrap().unlisted).collect::<Vec<_>>()
    };
    let mut planned = named(pair.plan(verb, rules));
    planned.sort();
    expected.sort();
    assert_eq!(planned, expected);
    let outcomes = pair.run(verb, rules);
    let done = step(&outcomes[0]);
    let mut told = named(outcomes);
    told.sort();
    assert_eq!(told, expected);
    for (at, side) in ["source", "destination"].into_iter().enumerate() {
        let kept: &[&str] = if sides[at] { &EXTRAS } else { &[] };
        assert_eq!(in_trash(pair.root(at), side), kept, "{side}");
    }
    assert!(pair.is_clean());
    done
}

#[test]
fn of_an_original_that_migrates_across_file_systems() {
    let pair = Pair::across();
    let name = pair.deposit_tree();
    let done = check(&pair, &name, Verb::Migrate, Leaves::Stub, [true, false]);
    assert_eq!(done, Step::HandOver);
}

#[test]
fn of_an_original_that_migrates_onto_its_copy_and_of_that_copy() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    let done = check(&pair, &name, Verb::Migrate, Leaves::Stub, [true, true]);
    assert_eq!(done, Step::HandOver);
}

#[test]
fn of_a_copy_that_goes_because_the_destination_has_it() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let third = pair.third();
    pair.run(Verb::Copy, Leaves::Stub);
    pair.run_between(&pair.from(), &third, Verb::Copy, Leaves::Stub);
    let expected = leave(pair.root(1), &name, "source");
    let outcomes = pair.run_between(&pair.to(), &third, Verb::Migrate, Leaves::Stub);
    let done = outcomes.into_iter().next().unwrap().result.unwrap();
    assert_eq!(done.step, Step::MoveCopy);
    assert_eq!(done.unlisted, expected);
    assert_eq!(in_trash(pair.root(1), "source"), EXTRAS);
}

#[test]
fn of_a_copy_that_moves_across_file_systems() {
    let pair = Pair::across();
    let name = pair.deposit_tree();
    let third = pair.third();
    pair.run_between(&pair.from(), &third, Verb::Copy, Leaves::Stub);
    let expected = leave(third.path(), &name, "source");
    let outcomes = pair.run_between(&third, &pair.to(), Verb::Migrate, Leaves::Stub);
    let done = outcomes.into_iter().next().unwrap().result.unwrap();
    assert_eq!((done.step, done.unlisted), (Step::MoveCopy, expected));
    assert_eq!(in_trash(third.path(), "source"), EXTRAS);
}

#[test]
fn of_a_copy_that_is_refreshed() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    pair.edit_source(&name, "a.txt", b"changed");
    let done = check(&pair, &name, Verb::Copy, Leaves::Stub, [false, true]);
    assert_eq!(done, Step::Copy);
}

#[test]
fn beside_a_tombstone_that_is_revived() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    super::support::rewrite(&pair.to(), &name, |sidecar| sidecar.state = State::Deleted);
    std::fs::remove_dir_all(directory(pair.root(1), &name).join("doc")).unwrap();
    let stray = directory(pair.root(1), &name).join("service");
    std::fs::create_dir(&stray).unwrap();
    std::fs::write(stray.join("userBase"), "destination service/userBase").unwrap();
    let rules = Leaves::Stub;
    let planned = pair.plan(Verb::Copy, rules).remove(0).result.unwrap();
    assert_eq!(planned.unlisted, [stray]);
    let done = pair.run(Verb::Copy, rules).remove(0).result.unwrap();
    assert_eq!((done.step, done.unlisted), (planned.step, planned.unlisted));
    assert_eq!(in_trash(pair.root(1), "destination"), ["service/userBase"]);
}

#[test]
fn of_an_item_that_leaves() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let expected = leave(pair.root(0), &name, "source");
    let planned = pair.plan(Verb::Migrate, Leaves::Stub).remove(0).result.unwrap();
    assert_eq!(planned.unlisted, expected);
    let done = pair.run(Verb::Migrate, Leaves::Stub).remove(0).result.unwrap();
    assert_eq!(done.unlisted, expected);
    assert_eq!(in_trash(pair.root(0), "source"), EXTRAS);
    let there = directory(pair.root(1), &name);
    assert!(EXTRAS.iter().all(|extra| !there.join(extra).exists()));
}

/// A file that was edited in a Copy is not the one that its sidecar lists.
#[test]
fn with_the_name_of_a_listed_one() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Leaves::Stub);
    pair.edit_source(&name, "a.txt", b"changed");
    let mine = directory(pair.root(1), &name).join("doc/a.txt");
    std::fs::write(&mine, "b").unwrap();
    // Touched only: another time, the same bytes.
    let touched = directory(pair.root(1), &name).join("doc/sub/b.bin");
    std::fs::File::options()
        .append(true)
        .open(touched)
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_100_000_000))
        .unwrap();
    let done = pair.run(Verb::Copy, Leaves::Stub).remove(0).result.unwrap();
    assert_eq!(done.unlisted, [mine]);
    assert!(pair.is_clean());
    let trash = walkdir::WalkDir::new(pair.root(1).join(".urepo/trash")).into_iter();
    let kept: Vec<_> = trash
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.is_file())
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    assert!(kept.contains(&"b".to_owned()), "{kept:?}");
}
