//! A run that fails or is killed at any file operation is completed by the next.

use std::sync::Arc;

use urepo::amend::Amender;
use urepo::collection::Collection;
use urepo::disk::Watcher;
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::relation::{Correction, plan};
use urepo::sidecar::{Relation, RelationKind};

use crate::support::{
    Faults, Mode, System, TestClock, World, agent, between_users, caller, deposit, first_user,
    make_collection, options, recovered_whole, request, waiter, whole_items,
};

/// Makes the second item the next edition of the first.
fn link(root: &std::path::Path, names: &[RepositoryName], watcher: &Watcher) -> Option<()> {
    let collections = [Collection::open(root, watcher).ok()?];
    let to = names[1].clone().into();
    let correction = Correction {
        name: names[0].clone(),
        edits: Vec::new(),
        unlink: Vec::new(),
        link: vec![Relation { kind: RelationKind::NextEdition, to }],
    };
    let (agent, clock) = (agent(), TestClock::at("2026-12-01T00:00:00Z"));
    let interrupt = Interrupt::default();
    let caller = caller(&agent, &clock, &interrupt);
    let plan = plan(&collections, 0, &correction).ok()?;
    plan.check(&collections, caller).ok()?;
    let writer = collections[0].writer(&agent, &waiter(&clock)).ok()?;
    let amender = Amender {
        collection: &collections[0],
        sight: urepo::holdings::Sight::alone(),
        writer: Some(&writer),
        locks: None,
        caller,
    };
    let mut is_done = true;
    let _ = amender.amend_all(plan.amendments(0), &mut |_, result| {
        is_done &= result.is_ok();
        std::ops::ControlFlow::Continue(())
    });
    is_done.then_some(())
}

#[test]
fn a_repeated_run_completes_what_was_left() {
    for mode in [Mode::Killed, Mode::DISK, Mode::ANY] {
        for at in System::Own.points() {
            let world = World::new();
            let root = world.path("archive");
            let archive = make_collection(&root);
            let clock = TestClock::at("2026-11-21T02:13:00Z");
            let requests = ["one", "two"].map(|file| request(world.write(file, file)));
            deposit(&archive, requests.into(), options(), &clock, |_| ()).unwrap();
            let names: Vec<_> =
                whole_items(&archive).iter().map(|it| it.parse().unwrap()).collect();
            let held = || {
                let relations = |name| archive.item(name).unwrap().sidecar().unwrap().0.relations;
                [
                    relations(&names[0]).first(&RelationKind::NextEdition)
                        == Some(names[1].clone().into()),
                    relations(&names[1]).first(&RelationKind::PreviousEdition)
                        == Some(names[0].clone().into()),
                ]
            };
            let faults = Arc::new(Faults::new(&root, at, mode).of_changes());
            let done = first_user(|| link(&root, &names, &Watcher::new(Arc::clone(&faults) as _)));
            assert!(done.is_none() || held() == [true, true], "{mode:?} at {at}");
            link(&root, &names, &Watcher::default()).unwrap();
            assert_eq!(held(), [true, true], "{mode:?} at {at}");
            recovered_whole(&root, &format!("{mode:?} at {at}"));
            if faults.struck().is_none() {
                assert!(at > 5, "only {at} operations were made to fail");
                break;
            }
        }
    }
}

#[test]
fn between_two_users() {
    between_users(a_repeated_run_completes_what_was_left);
}
