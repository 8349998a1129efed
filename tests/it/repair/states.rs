//! Which state an item gets whose sidecar does not match its seal: nothing raises a Copy to an Original unasked.

use urepo::disk::Watcher;
use urepo::item::State;
use urepo::repair::{Options, PartialRepair, RecordedRule, RepairError, SidecarAction, Unsealed};

use super::{Pair, as_state, copy_tree, lose_sidecar, mended};
use crate::support::{append, inventory_file, inventory_line};

const RESEAL: Options = Options {
    remainder: PartialRepair::Refuse,
    unsealed: Unsealed::Seal,
    state: None,
    recorded: RecordedRule::Believe,
};

/// A backup of `a` from the time when it held the Original, of another description than today's.
fn with_old_backup() -> Pair {
    let pair = Pair::new();
    copy_tree(&pair.root("a"), &pair.root("backup"));
    pair.change("backup", |sidecar| sidecar.transferable = false);
    pair
}

/// The Original goes to the collection `elsewhere`, and a Copy stays.
fn hand_over(pair: &Pair) {
    pair.change("a", |sidecar| {
        sidecar.state = State::Copy;
        sidecar.origin.insert("collection".into(), "elsewhere".into());
        sidecar.origin.insert("copied".into(), "2026".into());
    });
    pair.record("became", "Copy");
}

#[test]
fn a_backup_makes_no_original_of_what_became_a_copy() {
    for has_inventory in [true, false] {
        let pair = with_old_backup();
        hand_over(&pair);
        if !has_inventory {
            std::fs::remove_file(inventory_file(&pair.root("a"), pair.name.as_str())).unwrap();
        }
        pair.edit("a", "path = \"a.txt\"", "path = \"z.txt\"");
        let plan = mended(pair.repair(&["backup"]));
        assert_eq!(plan.action, SidecarAction::Rebuild { from: 0, state: State::Copy });
        let sidecar = pair.sidecar("a");
        assert_eq!((pair.codes(), sidecar.state), (vec![], State::Copy));
        assert_eq!(sidecar.made_of(), Some("elsewhere"));
        assert_eq!(sidecar.origin["copied"].as_str(), Some("2026"));
    }
}

/// Whatever a hand has written into the sidecar since.
#[test]
fn a_word_that_was_changed_makes_no_original_of_what_became_a_copy() {
    for donors in [&["b"][..], &[], &["backup"]] {
        let pair = with_old_backup();
        hand_over(&pair);
        pair.edit("a", "state = \"Copy\"", "state = \"Original\"");
        pair.edit("a", "A report", "My report");
        mended(pair.repair_with(donors, RESEAL, &Watcher::default()));
        assert_eq!((pair.codes(), pair.sidecar("a").state), (vec![], State::Copy), "{donors:?}");
    }
}

#[test]
fn a_backup_makes_no_original_of_what_left() {
    for lost in [false, true] {
        let pair = with_old_backup();
        pair.record("left", "migrated 60cb73fd mirror");
        if lost {
            lose_sidecar(&pair, "a");
        } else {
            pair.edit("a", "path = \"a.txt\"", "path = \"z.txt\"");
        }
        let error = pair.refuses(&["backup"], Options::default());
        assert!(matches!(error, RepairError::StateUnknown { .. }), "{error}");
        mended(pair.repair_with(&["backup"], as_state(State::Original), &Watcher::default()));
        assert_eq!((pair.codes(), pair.sidecar("a").state), (vec![], State::Original));
    }
}

/// Without the line of the inventory, nothing says that the Original did not leave after the backup.
#[test]
fn a_backup_makes_no_original_where_the_inventory_is_silent() {
    for lost in [false, true] {
        let pair = Pair::new();
        copy_tree(&pair.root("a"), &pair.root("backup"));
        std::fs::remove_file(inventory_file(&pair.root("a"), pair.name.as_str())).unwrap();
        if lost {
            lose_sidecar(&pair, "a");
        } else {
            let path = pair.item("a").join("item.toml");
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text.split("[seal]").next().unwrap()).unwrap();
        }
        let error = pair.refuses(&["backup"], Options::default());
        assert!(matches!(error, RepairError::StateUnknown { .. }), "{error}");
        mended(pair.repair_with(&["backup"], as_state(State::Original), &Watcher::default()));
        assert_eq!((pair.codes(), pair.sidecar("a").state), (vec![], State::Original));
    }
}

/// The only Original is not given up unnoticed either.
#[test]
fn an_original_that_calls_itself_a_copy_is_asked_about() {
    for state in [State::Copy, State::Original] {
        let pair = with_old_backup();
        pair.edit("a", "state = \"Original\"", "state = \"Copy\"");
        pair.edit("a", "A report", "My report");
        let error = pair.refuses(&["b"], RESEAL);
        assert!(matches!(error, RepairError::StateUnknown { .. }), "{error}");
        let options = Options { state: Some(state), ..RESEAL };
        mended(pair.repair_with(&["b"], options, &Watcher::default()));
        assert_eq!((pair.codes(), pair.sidecar("a").state), (vec![], state));
    }
}

/// A sidecar that says Original though the item was deleted brings nothing back.
#[test]
fn what_was_deleted_stays_deleted() {
    let pair = with_old_backup();
    pair.record("became", "Deleted");
    pair.edit("a", "A report", "My report");
    let error = pair.refuses(&["b", "backup"], RESEAL);
    assert!(matches!(error, RepairError::Deleted { .. }), "{error}");
}

/// A word that nothing bears out discards no payload.
#[test]
fn a_sidecar_that_calls_a_live_item_deleted_is_asked_about() {
    for has_inventory in [true, false] {
        for donors in [&["b"][..], &[]] {
            let pair = Pair::new();
            if !has_inventory {
                std::fs::remove_file(inventory_file(&pair.root("a"), pair.name.as_str())).unwrap();
            }
            pair.edit("a", "state = \"Original\"", "state = \"Deleted\"");
            let path = pair.item("a").join("item.toml");
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text.split("[seal]").next().unwrap()).unwrap();
            for options in [Options::default(), RESEAL] {
                let error = pair.refuses(donors, options);
                assert!(matches!(error, RepairError::StateUnknown { .. }), "{error}");
            }
            let options = Options { state: Some(State::Original), ..RESEAL };
            mended(pair.repair_with(donors, options, &Watcher::default()));
            assert_eq!((pair.codes(), pair.sidecar("a").state), (vec![], State::Original));
            assert!(pair.item("a").join("doc/a.txt").is_file());
        }
    }
}

/// How a Copy came to be is no part of an Original's sidecar.
#[test]
fn an_original_built_from_a_copy_says_nothing_of_a_copy() {
    let pair = Pair::new();
    let before = pair.sidecar("a");
    pair.change("b", |sidecar| {
        sidecar.origin.insert("copied".into(), "2026".into());
        sidecar.origin.insert("through".into(), "another".into());
    });
    lose_sidecar(&pair, "a");
    mended(pair.repair(&["b"]));
    assert_eq!(pair.sidecar("a"), before);
}

/// Nobody has sealed what it says, but it may be true.
#[test]
fn a_donor_that_may_hold_the_original_is_repaired_first() {
    let claim = |pair: &Pair| {
        pair.change("b", |sidecar| {
            sidecar.state = State::Original;
            sidecar.origin.clear();
        });
        pair.edit("b", "transferable", "# by hand\ntransferable");
    };
    let lose = |pair: &Pair| lose_sidecar(pair, "b");
    let plants: [&dyn Fn(&Pair); 2] = [&claim, &lose];
    for plant in plants {
        let pair = Pair::new();
        let before = pair.sidecar("a");
        pair.add_copy("c");
        plant(&pair);
        lose_sidecar(&pair, "a");
        for options in [Options::default(), as_state(State::Original)] {
            match pair.refuses(&["c", "b"], options) {
                RepairError::PerhapsElsewhere { root, .. } => assert_eq!(root, pair.root("b")),
                error => panic!("{error}"),
            }
        }
        mended(pair.repair(&["c"]));
        assert_eq!(pair.sidecar("a"), before);
    }
    let pair = Pair::new();
    let before = pair.sidecar("a");
    pair.add_copy("c");
    pair.edit("b", "transferable", "# by hand\ntransferable");
    lose_sidecar(&pair, "a");
    mended(pair.repair(&["c", "b"]));
    assert_eq!(pair.sidecar("a"), before);
}

/// An inventory that certainly says Copy is believed where the sidecar is lost.
#[test]
fn a_donor_that_is_a_copy_by_its_inventory_stands_in_no_way() {
    let pair = Pair::new();
    let before = pair.sidecar("a");
    pair.add_copy("c");
    let inventory = inventory_file(&pair.root("b"), pair.name.as_str());
    std::fs::create_dir_all(inventory.parent().unwrap()).unwrap();
    std::fs::copy(inventory_file(&pair.root("a"), pair.name.as_str()), &inventory).unwrap();
    lose_sidecar(&pair, "a");
    lose_sidecar(&pair, "b");
    let error = pair.refuses(&["c", "b"], Options::default());
    assert!(matches!(error, RepairError::PerhapsElsewhere { .. }), "{error}");
    let became = inventory_line("2026-11-23T10:00:00Z", &format!("became {} Copy", pair.name));
    append(&inventory, &became);
    mended(pair.repair(&["c", "b"]));
    assert_eq!(pair.sidecar("a"), before);
}

/// A word about many items raises no Copy that is certainly recorded as one; a word about this item does.
#[test]
fn a_certain_copy_is_not_overruled_unasked() {
    let pair = Pair::new();
    pair.record("became", "Copy");
    lose_sidecar(&pair, "a");
    let plan = mended(pair.repair_with(&["b"], as_state(State::Original), &Watcher::default()));
    assert_eq!((plan.state(), pair.sidecar("a").state), (State::Copy, State::Copy));
    lose_sidecar(&pair, "a");
    let options = Options { recorded: RecordedRule::Overrule, ..as_state(State::Original) };
    mended(pair.repair_with(&["b"], options, &Watcher::default()));
    assert_eq!(pair.sidecar("a").state, State::Original);
}

/// Without the collection of its Original a Copy could never be promoted.
#[test]
fn a_copy_is_one_of_the_original_that_left() {
    let pair = Pair::new();
    let id = "60cb73fd".repeat(4);
    pair.record("left", &format!("migrated {id} mirror"));
    lose_sidecar(&pair, "a");
    mended(pair.repair_with(&["b"], as_state(State::Copy), &Watcher::default()));
    let sidecar = pair.sidecar("a");
    assert_eq!((sidecar.state, sidecar.made_of()), (State::Copy, Some(&*id)));
}
