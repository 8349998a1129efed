//! What a lost or doubtful sidecar becomes, and when nobody may decide that.

use std::fs;

use urepo::disk::Watcher;
use urepo::item::State;
use urepo::repair::{Options, Outcome, RecordedRule, RepairError, SidecarAction, Unsealed};
use urepo::sidecar::{Handover, Party};
use urepo::verify::Code;

use super::{Pair, as_state, copy_tree, flip, lose_sidecar, mended};
use crate::support::inventory_file;

#[test]
fn nothing_to_mend() {
    let pair = Pair::new();
    let before = super::everything(&pair.item("a"));
    assert_eq!(pair.repair(&["b"]).unwrap(), Outcome::Sound);
    assert_eq!(pair.repair(&[]).unwrap(), Outcome::Sound);
    assert_eq!(super::everything(&pair.item("a")), before);
    assert!(!pair.root("a").join(".urepo/trash").exists());
}

/// A Copy that names this collection as its origin tells that the Original was here.
#[test]
fn the_holder_of_the_original_gets_it_back() {
    let pair = Pair::new();
    let before = pair.sidecar("a");
    lose_sidecar(&pair, "a");
    let plan = mended(pair.repair(&["b"]));
    assert_eq!(plan.action, SidecarAction::Rebuild { from: 0, state: State::Original });
    assert_eq!(pair.sidecar("a"), before);
}

/// The payload is mended in the same step.
#[test]
fn sidecar_and_payload_are_mended_together() {
    let pair = Pair::new();
    let before = pair.sidecar("a");
    lose_sidecar(&pair, "a");
    flip(&pair.item("a").join("doc/a.txt"));
    fs::write(pair.item("a").join("doc/added"), "?").unwrap();
    mended(pair.repair(&["b"]));
    assert_eq!((pair.codes(), pair.sidecar("a")), (vec![], before));
}

#[test]
fn there_is_never_a_second_original() {
    let pair = Pair::new();
    pair.change("b", |sidecar| {
        sidecar.state = State::Original;
        sidecar.origin.clear();
    });
    let holder = pair.open("b").id().to_owned();
    lose_sidecar(&pair, "a");
    let error = pair.refuses(&["b"], as_state(State::Original));
    assert!(matches!(error, RepairError::SecondOriginal { .. }), "{error}");
    mended(pair.repair(&["b"]));
    let sidecar = pair.sidecar("a");
    assert_eq!(sidecar.state, State::Copy);
    assert_eq!(sidecar.origin["collection"].as_str(), Some(&*holder));
    // Nor when a sidecar without an intact seal says so.
    pair.edit("a", "\"Copy\"", "\"Original\"");
    assert_eq!(pair.codes(), [Code::SealBroken]);
    mended(pair.repair(&["b"]));
    assert_eq!(pair.sidecar("a"), sidecar);
}

/// A copy of the whole collection, made by hand, has its id: it tells everything.
#[test]
fn a_backup_of_the_collection_has_the_same_state() {
    let pair = Pair::new();
    let before = pair.sidecar("a");
    copy_tree(&pair.root("a"), &pair.root("backup"));
    lose_sidecar(&pair, "a");
    let plan = mended(pair.repair(&["backup"]));
    assert_eq!(plan.action, SidecarAction::Rebuild { from: 0, state: State::Original });
    assert_eq!(pair.sidecar("a"), before);
}

#[test]
fn a_state_that_nothing_tells_is_asked_for() {
    let pair = Pair::new();
    pair.change("b", |sidecar| {
        sidecar.origin.insert("collection".into(), "another".into());
    });
    lose_sidecar(&pair, "a");
    let error = pair.refuses(&["b"], Options::default());
    assert!(matches!(error, RepairError::StateUnknown { .. }), "{error}");
    mended(pair.repair_with(&["b"], as_state(State::Copy), &Watcher::default()));
    let sidecar = pair.sidecar("a");
    assert_eq!(sidecar.state, State::Copy);
    assert_eq!(sidecar.origin["collection"].as_str(), Some("another"));
    lose_sidecar(&pair, "a");
    // The inventory says Copy since then.
    let options = Options { recorded: RecordedRule::Overrule, ..as_state(State::Original) };
    mended(pair.repair_with(&["b"], options, &Watcher::default()));
    let sidecar = pair.sidecar("a");
    assert_eq!((sidecar.state, sidecar.origin.get("collection")), (State::Original, None));
}

/// Deleted items come back only when somebody says so.
#[test]
fn a_tombstone_is_not_brought_to_life() {
    let pair = Pair::new();
    pair.change("a", |sidecar| sidecar.state = State::Deleted);
    fs::remove_dir_all(pair.item("a").join("doc")).unwrap();
    assert_eq!(pair.repair(&["b"]).unwrap(), Outcome::Sound);
    // Sealed anew it is still deleted.
    pair.record("became", "Deleted");
    pair.edit("a", "transferable", "# by hand\ntransferable");
    mended(pair.repair(&["b"]));
    assert_eq!((pair.codes(), pair.sidecar("a").state), (vec![], State::Deleted));
    // With another record of the payload than any copy has, nothing is built in its place; nor does the old
    // seal prove anything, since the copy has changed as well.
    pair.change("b", |sidecar| sidecar.transferable = false);
    pair.edit("a", "path = \"a.txt\"", "path = \"z.txt\"");
    let error = pair.refuses(&["b"], Options::default());
    assert!(matches!(error, RepairError::Deleted { .. }), "{error}");
    lose_sidecar(&pair, "a");
    let error = pair.refuses(&["b"], Options::default());
    assert!(matches!(error, RepairError::Deleted { .. }), "the inventory knows: {error}");
    fs::remove_file(inventory_file(&pair.root("a"), pair.name.as_str())).unwrap();
    let error = pair.refuses(&["b"], Options::default());
    assert!(matches!(error, RepairError::PerhapsDeleted { .. }), "{error}");
    mended(pair.repair_with(&["b"], as_state(State::Original), &Watcher::default()));
    assert_eq!((pair.codes(), pair.sidecar("a").state), (vec![], State::Original));
}

/// A deleted item is no donor.
#[test]
fn a_tombstone_is_no_donor() {
    let pair = Pair::new();
    pair.change("b", |sidecar| sidecar.state = State::Deleted);
    flip(&pair.item("a").join("doc/a.txt"));
    let error = pair.refuses(&["b"], Options::default());
    assert!(matches!(error, RepairError::Lost { .. }), "{error}");
}

#[test]
fn nobody_decides_while_the_original_is_handed_over() {
    let pair = Pair::new();
    let party = Party::From(pair.open("a").id().to_owned());
    pair.change("b", |sidecar| {
        sidecar.handover = Some(Handover { token: "t".into(), party });
    });
    lose_sidecar(&pair, "a");
    let error = pair.refuses(&["b"], as_state(State::Original));
    assert!(matches!(error, RepairError::Handover { .. }), "{error}");
}

#[test]
fn the_record_of_a_later_urepo_is_left_alone() {
    let pair = Pair::new();
    pair.edit("a", "format = 1", "format = 2");
    flip(&pair.item("a").join("doc/a.txt"));
    let error = pair.refuses(&["b"], Options::default());
    assert!(matches!(error, RepairError::LaterFormat { .. }), "{error}");
}

#[test]
fn without_a_sealed_copy_a_lost_sidecar_is_not_guessed() {
    let pair = Pair::new();
    lose_sidecar(&pair, "a");
    pair.edit("b", "A report", "B report");
    for donors in [&["b"][..], &[]] {
        let error = pair.refuses(donors, as_state(State::Original));
        assert!(matches!(error, RepairError::NoRecord { .. }), "{error}");
    }
}

/// A seal that is broken is renewed on the word of the payload alone only if somebody says so.
#[test]
fn a_broken_seal_without_a_copy() {
    let pair = Pair::new();
    pair.edit("a", "A report", "My report");
    let error = pair.refuses(&[], Options::default());
    assert!(matches!(error, RepairError::Unconfirmed { .. }), "{error}");
    let reseal = Options { unsealed: Unsealed::Seal, ..Options::default() };
    // Not while the payload says otherwise.
    flip(&pair.item("a").join("doc/a.txt"));
    let error = pair.refuses(&[], reseal);
    assert!(matches!(error, RepairError::NoRecord { .. }), "{error}");
    flip(&pair.item("a").join("doc/a.txt"));
    let plan = mended(pair.repair_with(&[], reseal, &Watcher::default()));
    assert!(matches!(plan.action, SidecarAction::Reseal { confirmed_by: None, .. }));
    assert_eq!((pair.codes(), pair.sidecar("a").metadata.title()), (vec![], Some("My report")));
}

/// What was sealed is found with the text of a Copy, whatever rot has struck.
#[test]
fn rot_in_a_sidecar_is_undone_where_the_old_seal_proves_it() {
    for (sound, rotten) in [
        ("A report", "A repost"),
        ("timestamp = 2026", "timestamp = 2036"),
        ("state = \"Original\"", "state = \"Copy\""),
        ("transferable = true", "transferable = false"),
        ("bytes = 5", "bytes = 6"),
    ] {
        let pair = Pair::new();
        let path = pair.item("a").join("item.toml");
        let before = fs::read(&path).unwrap();
        pair.edit("a", sound, rotten);
        let plan = mended(pair.repair(&["b"]));
        assert_eq!(plan.action, SidecarAction::Restore { from: 0 }, "{rotten}");
        assert_eq!(fs::read(&path).unwrap(), before, "{rotten}");
        assert_eq!(pair.codes(), []);
    }
}

/// Comments and keys of other programs do not hide it.
#[test]
fn rot_in_a_sidecar_with_comments_is_undone_as_well() {
    let pair = Pair::new();
    pair.edit("a", "transferable", "# by hand\ntransferable");
    mended(pair.repair(&["b"]));
    let path = pair.item("a").join("item.toml");
    let before = fs::read(&path).unwrap();
    pair.edit("a", "A report", "A repost");
    mended(pair.repair(&["b"]));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn where_nothing_proves_a_description_nothing_is_changed() {
    let pair = Pair::new();
    pair.change("b", |sidecar| sidecar.transferable = false);
    pair.edit("a", "A report", "My report");
    let before = super::everything(&pair.item("a"));
    let error = pair.refuses(&["b"], Options::default());
    assert!(matches!(&error, RepairError::Unproven { .. }), "{error}");
    assert_eq!(super::everything(&pair.item("a")), before);
    // A person may say that it is right as it is, Copy or no Copy.
    let reseal = Options { unsealed: Unsealed::Seal, ..Options::default() };
    let plan = mended(pair.repair_with(&["b"], reseal, &Watcher::default()));
    let differs = ["transferable", "metadata"].map(str::to_owned).to_vec();
    assert_eq!(plan.action, SidecarAction::Reseal { confirmed_by: Some(0), differs });
    assert_eq!(pair.sidecar("a").metadata.title(), Some("My report"));
}

/// The Copies have to be behind it.
#[test]
fn what_is_sealed_as_it_is_is_later_than_any_copy() {
    let pair = Pair::new();
    let later = "2026-11-22T00:00:00.5Z".parse().unwrap();
    pair.change("b", |sidecar| sidecar.timestamp = later);
    pair.edit("a", "\ntimestamp = 2026", "\ntimestamp = 2016");
    let reseal = Options { unsealed: Unsealed::Seal, ..Options::default() };
    mended(pair.repair_with(&["b"], reseal, &Watcher::default()));
    assert!(pair.sidecar("a").timestamp > later);
}

/// Two copies of different editions: the payload on disk says which it is, or the Original does.
#[test]
fn copies_that_differ_are_not_chosen_from_by_chance() {
    let pair = Pair::new();
    pair.add_copy("c");
    let older = pair.item("c").join("doc/a.txt");
    fs::write(&older, "older").unwrap();
    pair.change("c", |sidecar| {
        let urepo::item::Content::File { digest, bytes, .. } = &mut sidecar.files[0].content else {
            panic!("a file");
        };
        (*digest, *bytes) = (urepo::digest::Digest::of(b"older"), 5);
        sidecar.payload = urepo::item::Totals::of(&sidecar.files);
    });
    let before = pair.sidecar("a");
    lose_sidecar(&pair, "a");
    mended(pair.repair(&["c", "b"]));
    assert_eq!(pair.sidecar("a"), before);
    lose_sidecar(&pair, "a");
    flip(&pair.item("a").join("doc/a.txt"));
    let error = pair.refuses(&["c", "b"], Options::default());
    assert!(matches!(error, RepairError::Disagreement { .. }), "{error}");
    mended(pair.repair(&["b"]));
    assert_eq!((pair.codes(), pair.sidecar("a")), (vec![], before));
}

#[test]
fn the_newest_description_is_taken() {
    let pair = Pair::new();
    pair.add_copy("c");
    let describe = |root: &str, title: &str, date: &str| {
        pair.change(root, |sidecar| {
            sidecar.metadata.set("title", &[title]).unwrap();
            sidecar.timestamp = date.parse().unwrap();
        });
    };
    let title = || pair.sidecar("a").metadata.title().unwrap().to_owned();
    describe("c", "New", "2030-01-01T00:00:00Z");
    for donors in [["b", "c"], ["c", "b"]] {
        lose_sidecar(&pair, "a");
        mended(pair.repair(&donors));
        assert_eq!(title(), "New");
        fs::remove_dir_all(pair.item("a")).unwrap();
        mended(pair.repair(&donors));
        assert_eq!(title(), "New");
    }
    describe("b", "Other", "2030-01-01T00:00:00Z");
    lose_sidecar(&pair, "a");
    let error = pair.refuses(&["b", "c"], Options::default());
    assert!(matches!(error, RepairError::Disagreement { .. }), "{error}");
    mended(pair.repair(&["c"]));
    assert_eq!(title(), "New");
}

/// What the old archives keep beside a payload belongs there; anything else does not, nor in another item.
#[test]
fn what_adopting_left_alone_stays() {
    let pair = Pair::new();
    let beside = [".reserved", "not_sent", "service"].map(|name| pair.item("a").join(name));
    for path in &beside {
        std::fs::create_dir(path).unwrap();
    }
    assert_eq!(pair.codes(), [Code::Stray]);
    pair.change("a", |sidecar| drop(sidecar.origin.insert("adopted".into(), "2026".into())));
    assert_eq!(pair.codes(), []);
    assert_eq!(pair.repair(&["b"]).unwrap(), Outcome::Sound);
    assert!(beside.iter().all(|path| path.is_dir()));

    std::fs::write(pair.item("a").join("notes"), "").unwrap();
    assert_eq!(pair.codes(), [Code::Stray]);
    let Outcome::Repaired(plan) = pair.repair(&["b"]).unwrap() else { panic!("it was mended") };
    let names = [".reserved", "not_sent", "notes", "service"].map(std::path::PathBuf::from);
    assert_eq!(plan.dropped, names);
    assert_eq!(pair.codes(), []);
}
