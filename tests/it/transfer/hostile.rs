//! Collections that are not what they say, and what was planted in them.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::Ordering;

use urepo::identity::RepositoryName;
use urepo::transfer::{
    PeerLookup, Refusal, Replaces, Rules, Step, TransferError, Verb, finish_pending,
};

use super::support::{Pair, State, copy_rules, edit, records, rewrite, step};
use crate::support::{agent, tree, waiter};

fn refusal(pair: &Pair, verb: Verb, rules: Rules) -> Refusal {
    match pair.run(verb, rules).remove(0).result {
        Err(TransferError::Refused { refusal, .. }) => refusal,
        other => panic!("{other:?}"),
    }
}

fn inode(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).unwrap().ino()
}

#[test]
fn what_only_calls_itself_the_original_refreshes_nothing() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    let third = pair.third();
    pair.run_between(&pair.to(), &third, Verb::Copy, Rules::default());
    rewrite(&third, &name, |sidecar| sidecar.state = State::Original);
    edit(&third, &name, "a.txt", b"forged");
    for (verb, rules) in [(Verb::Copy, copy_rules(true, false)), (Verb::Migrate, Rules::default())]
    {
        let outcome = pair.run_between(&third, &pair.to(), verb, rules).remove(0).result;
        let Err(TransferError::Refused { refusal, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(refusal, Refusal::OtherOriginal);
    }
}

#[test]
fn a_copy_follows_its_original_when_that_is_handed_over() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let third = pair.third();
    pair.run_between(&pair.from(), &third, Verb::Copy, Rules::default());
    pair.run(Verb::Migrate, Rules { leave_copy: true, ..Rules::default() });
    edit(&pair.to(), &name, "a.txt", b"the next edition");
    let outcomes = pair.run_between(&pair.to(), &third, Verb::Copy, copy_rules(true, false));
    assert_eq!(step(&outcomes[0]), Step::Copy(Replaces::Copy));
}

#[test]
fn files_beside_a_tombstone_are_not_lost_by_reviving() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    rewrite(&pair.to(), &name, |sidecar| sidecar.state = State::Deleted);
    assert_eq!(refusal(&pair, Verb::Copy, copy_rules(false, true)), Refusal::Unburied);
    assert!(pair.to().item(&name).unwrap().payload_path().join("a.txt").exists());
}

/// A path of which nobody can say what it is.
struct Unseen(std::path::PathBuf);

impl urepo::disk::Watch for Unseen {
    fn before(
        &self,
        operation: urepo::disk::Operation,
        path: &std::path::Path,
    ) -> std::io::Result<()> {
        if operation == urepo::disk::Operation::Inspect && path == self.0 {
            return Err(rustix::io::Errno::IO.into());
        }
        Ok(())
    }
}

/// Whether files lie beside a tombstone is asked of the disk; no answer is no answer.
#[test]
fn an_io_error_beside_a_tombstone_is_reported() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    rewrite(&pair.to(), &name, |sidecar| sidecar.state = State::Deleted);
    let doc = pair.to().item(&name).unwrap().payload_path();
    std::fs::remove_dir_all(&doc).unwrap();
    let (from, to) = pair.watched(std::sync::Arc::new(Unseen(doc))).unwrap();
    let outcome = pair.run_between(&from, &to, Verb::Copy, copy_rules(false, true)).remove(0);
    assert!(matches!(outcome.result, Err(TransferError::Disk(_))), "{:?}", outcome.result);
}

#[test]
fn a_newer_copy_is_not_dropped_for_an_older_one() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    rewrite(&pair.from(), &name, |sidecar| {
        sidecar.state = State::Copy;
        sidecar.timestamp = sidecar.timestamp.checked_add(urepo::identity::SECOND).unwrap();
    });
    assert_eq!(refusal(&pair, Verb::Migrate, Rules::default()), Refusal::OnlyFromOriginal);
}

#[test]
fn rot_is_not_taken_over_by_a_refresh() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    let file = pair.to().item(&name).unwrap().payload_path().join("sub/b.bin");
    let times = std::fs::metadata(&file).unwrap().modified().unwrap();
    std::fs::write(&file, vec![8; 300_000]).unwrap();
    std::fs::File::open(&file).unwrap().set_modified(times).unwrap();
    pair.edit_source(&name, "a.txt", b"later");
    pair.run(Verb::Copy, copy_rules(true, false));
    assert!(pair.is_clean());
}

#[test]
fn a_refresh_takes_nothing_from_outside() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    let payload = pair.to().item(&name).unwrap().payload_path();
    let outside = pair.root(1).with_file_name("outside");
    std::fs::rename(payload.join("sub"), &outside).unwrap();
    symlink(&outside, payload.join("sub")).unwrap();
    pair.edit_source(&name, "a.txt", b"later");
    pair.run(Verb::Copy, copy_rules(true, false));
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
    pair.run(Verb::Copy, Rules::default());
    rewrite(&pair.from(), &name, |sidecar| {
        sidecar.state = State::Copy;
        sidecar.origin.insert("copied".to_owned(), "2026-11-22T00:00:00Z".into());
    });
    move_outside(&pair, 1, &name);
    let outcome = pair.run(Verb::Migrate, Rules::default()).remove(0).result;
    assert!(matches!(outcome, Err(TransferError::NotProven { .. })), "{outcome:?}");
    assert_eq!(super::support::findings(&pair.from()), [""; 0], "the good Copy is still there");
}

#[test]
fn attributes_are_not_copied_from_outside_the_item() {
    let pair = Pair::new();
    let name = deposit_odd(&pair);
    move_outside(&pair, 0, &name);
    let outcome = pair.run(Verb::Copy, Rules::default()).remove(0).result;
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
        let _ = pair.try_between(&from, &to, Verb::Copy, Rules::default(), |_| ());
        let place = std::fs::read_dir(&partial).ok()?.next()?.unwrap().path().join("doc");
        place.join("sub").exists().then_some(place)
    });
    let place = places.unwrap();
    std::fs::remove_dir_all(place.join("sub")).unwrap();
    symlink(&outside, place.join("sub")).unwrap();
    let outcome = pair.run(Verb::Copy, Rules::default()).remove(0).result;
    assert!(outcome.is_err(), "{outcome:?}");
    assert_eq!(tree(&outside), ["b.bin 4"]);
}

fn plant_record(pair: &Pair, text: &str) {
    let journal = pair.root(0).join(".urepo/journal");
    std::fs::create_dir_all(&journal).unwrap();
    std::fs::write(journal.join("handover-x.toml"), text).unwrap();
}

#[test]
fn a_record_that_can_not_be_used_stops_nothing() {
    let pair = Pair::new();
    pair.deposit_tree();
    plant_record(&pair, "nonsense");
    let (from, to) = (pair.from(), pair.to());
    let finished = finish_pending(
        &from,
        PeerLookup { named: &[&to], ..PeerLookup::default() },
        &agent(),
        &waiter(&pair.clock),
    )
    .unwrap();
    assert!(matches!(finished[0].result, Err(TransferError::Journal { .. })), "{finished:?}");
    assert!(pair.run(Verb::Copy, Rules::default())[0].result.is_ok());
}

#[test]
fn a_record_leads_to_no_third_collection() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let third = pair.third();
    let before = tree(third.path());
    let (id, path) = ("0123456789abcdef", third.path().display());
    plant_record(
        &pair,
        &format!(
            "format = 1\ntoken = \"0\"\nto = \"{id}\"\nto_path = \"{path}\"\nleave_copy = false\n\
         items = [\"{name}\"]\n"
        ),
    );
    let (from, to) = (pair.from(), pair.to());
    let finished = finish_pending(
        &from,
        PeerLookup { named: &[&to], ..PeerLookup::default() },
        &agent(),
        &waiter(&pair.clock),
    )
    .unwrap();
    assert!(matches!(finished[0].result, Err(TransferError::OtherReceiver { .. })), "{finished:?}");
    assert_eq!(tree(third.path()), before);
}

#[test]
fn two_originals_are_no_hand_over_that_had_not_begun() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    pair.run(Verb::Copy, Rules::default());
    rewrite(&pair.to(), &name, |sidecar| sidecar.state = State::Original);
    let id = pair.to().id().to_owned();
    plant_record(
        &pair,
        &format!(
            "format = 1\ntoken = \"0\"\nto = \"{id}\"\nto_path = \"/\"\nleave_copy = false\n\
         items = [\"{name}\"]\n"
        ),
    );
    let (from, to) = (pair.from(), pair.to());
    let finished = finish_pending(
        &from,
        PeerLookup { named: &[&to], ..PeerLookup::default() },
        &agent(),
        &waiter(&pair.clock),
    )
    .unwrap();
    assert!(matches!(&finished[0].result, Err(TransferError::Refused { .. })), "{finished:?}");
    assert_eq!(records(pair.root(0)).len(), 1, "it stays");
}

#[test]
fn a_sidecar_that_contradicts_itself_is_not_copied() {
    let pair = Pair::new();
    let name: RepositoryName = pair.deposit_tree();
    rewrite(&pair.from(), &name, |sidecar| sidecar.payload.files = i64::MAX.unsigned_abs());
    let outcome = pair.run(Verb::Copy, Rules::default()).remove(0).result;
    assert!(matches!(outcome, Err(TransferError::Damaged { .. })), "{outcome:?}");
}
