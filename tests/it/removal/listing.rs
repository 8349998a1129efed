//! Listings of the trash: how often, and how old each entry is.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use urepo::collection::{Collection, TrashContents};
use urepo::disk::{Operation, Watcher};
use urepo::identity::Instant;
use urepo::removal::{Wanted, purgeable};

use super::{World, alone, delete, forced, later, remover, restore};
use crate::support::{TestClock, Trace, deposit, options, request};

#[test]
fn bringing_many_back_lists_the_trash_once() {
    let world = World::new();
    let clock = TestClock::at("2026-11-22T02:13:00Z");
    let requests = (0..6).map(|_| request(world.root("source"))).collect();
    let (outcomes, _) =
        deposit(&world.open("archive"), requests, options(), &clock, |_| ()).unwrap();
    let names: Vec<_> =
        outcomes.iter().map(|it| it.result.as_ref().unwrap().label.name.clone()).collect();
    for name in &names {
        delete(&world.open("archive"), name, &forced()).unwrap();
    }
    let trace = Arc::new(Trace::default());
    let watcher = Watcher::new(Arc::clone(&trace) as _);
    let collection = Collection::open(&world.root("archive"), &watcher).unwrap();
    remover(&collection, &later(), |remover| {
        remover.restore(&names, &alone(), &mut |_, outcome| {
            outcome.unwrap();
            ControlFlow::Continue(())
        });
        Ok(())
    })
    .unwrap();
    let lists =
        |it: &&(Operation, PathBuf)| it.0 == Operation::List && it.1.ends_with(".urepo/trash");
    // Taking the writer's place lists it too, once.
    assert!(trace.0.lock().unwrap().iter().filter(lists).count() <= 2);
}

/// What others delete meanwhile is found all the same.
#[test]
fn what_others_have_just_deleted_comes_back() {
    let world = World::new();
    let collection = world.open("archive");
    for _ in 0..2 {
        // By others: this one has listed the trash before, when something else was in it.
        delete(&world.open("archive"), &world.name, &forced()).unwrap();
        remover(&collection, &later(), |remover| restore(remover, &world.name, &alone())).unwrap();
    }
}

/// What a repair has just replaced is as young as that, however old the tombstone is.
#[test]
fn the_age_of_what_was_replaced_is_its_own() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let replaced: Instant = "2030-01-01T00:00:00Z".parse().unwrap();
    let text = world.name.as_str().replace('/', "+");
    let hex = format!("{:012x}01234567", replaced.nanoseconds() / urepo::identity::MILLISECOND);
    let entry = world.root(&format!("archive/.urepo/trash/{text}~{hex}"));
    std::fs::create_dir_all(entry.join("doc")).unwrap();
    let held = |before: Instant| -> Vec<TrashContents> {
        let wanted = Wanted { before: Some(before), ..Wanted::default() };
        let plan = purgeable(&world.open("archive"), &wanted).unwrap();
        plan.entries.iter().map(|entry| entry.held).collect()
    };
    assert_eq!(held(replaced), [TrashContents::Item]);
    assert_eq!(held(replaced.checked_add(1).unwrap()).len(), 2);
}
