//! An item that should be here and is not comes back as what it was.

use std::fs;
use std::sync::Arc;

use snapbox::str;
use urepo::collection::recover;
use urepo::custody::CustodyId;
use urepo::disk::Watcher;
use urepo::item::State;
use urepo::repair::{Damage, Options, Outcome, RepairError, SidecarAction};
use urepo::sidecar::Removal;

use super::{Pair, copy_tree, everything, flip, mended};
use crate::ledger::{check_ledger, missing};
use crate::support::{
    Faults, Mode, System, TestClock, World, agent, between_users, first_user, staged, waiter,
};

impl Pair {
    /// The collection `root` has the Original, as the sidecars and the ledger of `a` say.
    fn turn_to(&self, root: &str) {
        let id = self.open(root).id().to_owned();
        let custody = self.sidecar("a").custody.passed_to(&id, CustodyId::from(*b"received"));
        for at in ["a", "b", root] {
            let state = if at == root { State::Original } else { State::Copy };
            let custody = custody.clone();
            self.change(at, |sidecar| (sidecar.state, sidecar.custody) = (state, custody));
        }
        self.record(State::Copy, &custody, "2026-11-21T02:13:00Z");
    }

    fn vanish(&self) {
        fs::remove_dir_all(self.item("a")).unwrap();
    }

    #[track_caller]
    fn is_whole(&self, state: State) {
        assert_eq!((self.codes(), self.sidecar("a").state), (vec![], state));
        check_ledger(&self.root("a"), std::slice::from_ref(&self.name), "");
        let recorded = self.open("a").last_record(&self.name).unwrap().unwrap();
        assert_eq!(recorded.state(), Some(state));
    }
}

#[test]
fn an_original_comes_back_from_its_copy() {
    let pair = Pair::new();
    let before = pair.sidecar("a");
    fs::remove_dir_all(pair.root("a").join("example.org")).unwrap();
    let plan = pair.plan(&["b"]).unwrap();
    assert_eq!(plan.damage, Damage::Vanished);
    assert_eq!(
        plan.action,
        SidecarAction::Rebuild { from: Some(0), state: State::Original, changes: Vec::new() }
    );
    assert_eq!(mended(pair.repair(&["b"])), plan);
    assert_eq!(pair.sidecar("a"), before);
    pair.is_whole(State::Original);
    assert_eq!(pair.repair(&["b"]).unwrap(), Outcome::Sound);
}

/// The state follows from the custody: here and in the donor, another collection has the Original.
#[test]
fn a_copy_comes_back_as_a_copy() {
    let pair = Pair::new();
    pair.add_copy("c");
    pair.turn_to("c");
    pair.vanish();
    mended(pair.repair(&["b"]));
    pair.is_whole(State::Copy);
    assert_eq!(pair.sidecar("a").custody, pair.sidecar("b").custody);
}

/// An older backup is no donor of what the ledger knows to be newer.
#[test]
fn nothing_below_the_last_line_comes_back() {
    let pair = Pair::new();
    let newer = pair.sidecar("a").custody.amended(CustodyId::from(*b"amended!"));
    pair.record(State::Original, &newer, "2026-11-23T10:00:00Z");
    pair.vanish();
    let error = pair.repair(&["b"]).unwrap_err();
    assert!(matches!(error, RepairError::Outdated { .. }), "{error}");
    assert!(!pair.item("a").exists());
}

/// An Original that was put back gets the contents of its newer Copy: rule 4.
#[test]
fn an_original_that_was_put_back_comes_up() {
    let pair = Pair::new();
    let before = pair.sidecar("a");
    pair.change("b", |sidecar| {
        sidecar.metadata.add("creator", "Somebody").unwrap();
        sidecar.described = sidecar.timestamp.checked_add(urepo::identity::SECOND);
        sidecar.custody = sidecar.custody.amended(CustodyId::from(*b"amended!"));
    });
    mended(pair.repair(&["b"]));
    let after = pair.sidecar("a");
    assert_eq!((after.state, &after.metadata), (State::Original, &pair.sidecar("b").metadata));
    assert_eq!(after.custody, pair.sidecar("b").custody);
    assert_eq!(after.files, before.files);
    pair.is_whole(State::Original);
}

#[test]
fn a_deleted_item_comes_back_as_a_tombstone() {
    let pair = Pair::new();
    let gone =
        pair.sidecar("a").custody.passed_to(pair.open("a").id(), CustodyId::from(*b"deletion"));
    pair.record(State::Deleted, &gone, "2026-11-23T10:00:00Z");
    pair.vanish();
    // By the line alone.
    mended(pair.repair(&["b"]));
    pair.is_whole(State::Deleted);
    pair.vanish();
    let removal =
        Removal { by: "ana@vm".to_owned(), reason: None, was: State::Original, updated: None };
    pair.change("b", |sidecar| {
        sidecar.state = State::Deleted;
        sidecar.custody = gone.clone();
        sidecar.timestamp = "2026-11-23T10:00:00Z".parse().unwrap();
        sidecar.removal = Some(removal);
    });
    fs::remove_dir_all(pair.item("b").join("doc")).unwrap();
    mended(pair.repair(&["b"]));
    pair.is_whole(State::Deleted);
}

#[test]
fn a_file_that_no_donor_has_is_lost() {
    let pair = Pair::new();
    pair.vanish();
    flip(&pair.item("b").join("doc/a.txt"));
    assert_eq!(mended(pair.repair(&["b"])).lost().count(), 1);
    assert!(pair.item("a").join("doc/sub/b.bin").exists());
}

/// Whatever fails, there is no item, which is known to be missing, or the whole one, or one that lacks what was named.
#[test]
fn failures_at_any_operation() {
    every_operation(Mode::Killed, System::Own);
    every_operation(Mode::DISK, System::Own);
    for system in System::OTHERS {
        every_operation(Mode::Killed, system);
    }
}

#[test]
fn between_two_users() {
    between_users(|| every_operation(Mode::Killed, System::Own));
}

fn every_operation(mode: Mode, system: System) {
    let pair = Pair::new();
    let sidecar = pair.sidecar("a");
    pair.vanish();
    copy_tree(&pair.root("a"), &pair.root("template"));
    let donor = everything(&pair.root("b"));
    let mut strikes = 0;
    for at in system.points() {
        let faults = Arc::new(Faults::new(pair.scratch.path(), at, mode).on(system).of_changes());
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let outcome = first_user(|| pair.repair_with(&["b"], Options::default(), &watcher));
        let struck = faults.struck();
        let context = format!("{at}: {struck:?}: {:?}", outcome.as_ref().err());
        // A file that no donor gave at this moment is named, and comes with the next repair.
        if pair.item("a").exists() {
            assert!(super::faults::is_partial(&outcome) || pair.codes().is_empty(), "{context}");
            check_ledger(&pair.root("a"), &[], &context);
        } else {
            assert!(outcome.is_err(), "{context}");
            assert_eq!(missing(&pair.root("a")), std::slice::from_ref(&pair.name), "{context}");
        }
        let again = pair.repair(&["b"]);
        assert!(again.is_ok(), "{again:?}: {context}");
        assert_eq!((pair.codes(), pair.sidecar("a")), (vec![], sidecar.clone()), "{context}");
        let (agent, clock) = (agent(), TestClock::at("2026-11-22T00:00:00Z"));
        recover(&pair.open("a"), &agent, &waiter(&clock)).unwrap();
        assert_eq!(staged(&pair.root("a")), [""; 0], "{context}");
        check_ledger(&pair.root("a"), std::slice::from_ref(&pair.name), &context);
        assert_eq!(everything(&pair.root("b")), donor, "the donor was changed: {context}");
        if struck.is_none() {
            break;
        }
        strikes = at;
        fs::remove_dir_all(pair.root("a")).unwrap();
        copy_tree(&pair.root("template"), &pair.root("a"));
    }
    assert!(strikes > 10, "only {strikes} operations were made to fail");
}

/// Without names, all that vanished come back; a dry run says so.
#[test]
fn the_program_brings_back_what_vanished() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    fs::remove_dir_all(world.path("archive/example.org")).unwrap();
    let before = everything(&world.path("archive/.urepo/ledger"));
    super::program::tells(
        &world.run("-c archive repair --quick --from mirror --dry-run"),
        &name,
        0,
        str![[r#"
would restore [NAME]:
  build item.toml from [WORLD]/mirror as Original
  take doc/a.txt from [WORLD]/mirror

"#]],
    );
    assert_eq!(everything(&world.path("archive/.urepo/ledger")), before);
    assert!(!world.path("archive/example.org").exists());
    super::program::tells(
        &world.run("-c archive repair --quick --from mirror"),
        &name,
        0,
        str![[r#"
restored [NAME]: sidecar built from [WORLD]/mirror, state Original; 1 file from [WORLD]/mirror

"#]],
    );
    world.run("-c archive verify").succeeded();
    world.run("-c archive status --with mirror").succeeded();
    // By the end of its name as well.
    fs::remove_dir_all(world.path("archive/example.org")).unwrap();
    let end = name.rsplit('/').next().unwrap();
    let ran = world.run(&format!("-c archive repair {end} --from mirror --json"));
    assert!(ran.succeeded().contains("\"did\":\"restored\""), "{}", ran.stdout);
}
