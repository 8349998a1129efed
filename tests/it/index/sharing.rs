//! Many use the index at once.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use urepo::catalog::{Catalog, CatalogError};
use urepo::collection::Collection;
use urepo::index::Query;
use urepo::wait::Waiter;

use super::support::{
    agrees, catalog, catalog_by, index_file, names, open, try_catalog, with_index,
};
use crate::support::{TestClock, World, deposit, options, request};

fn world() -> (World, PathBuf, Vec<PathBuf>) {
    let world = World::with_collection();
    let root = world.path("archive");
    let sources = (0..3).map(|at| world.write(&format!("in/{at}.txt"), at.to_string())).collect();
    (world, root, sources)
}

fn deposit_into(collection: &Collection, sources: &[PathBuf], clock: &TestClock) -> Vec<String> {
    let requests = sources.iter().map(request).collect();
    let (outcomes, summary) = deposit(collection, requests, options(), clock, |_| ()).unwrap();
    assert!(summary.fatal.is_none(), "{summary:?}");
    outcomes.into_iter().map(|it| it.result.unwrap().label.name.to_string()).collect()
}

/// Another process has the index, and keeps it: changes go on, and who asks says that it is locked.
#[test]
fn an_index_that_is_locked() {
    let (_world, root, sources) = world();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    deposit_into(&open(&root), &sources, &clock);
    with_index(&root);
    let other = Connection::open(index_file(&root)).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let impatient = open(&root).with_waiter(Waiter::default().up_to(Duration::ZERO));
    deposit_into(&impatient, &sources, &clock);
    let asked = try_catalog(&impatient, |_| ());
    let Err(CatalogError::Index(error)) = asked else { panic!("{asked:?}") };
    assert!(error.is_busy(), "{error:?}");
    drop(other);
    assert_eq!(agrees(&root, ""), Some(3));
}

/// Whoever is told of an item may change the collection at once.
#[test]
fn a_change_within_an_answer() {
    let (_world, root, sources) = world();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let collection = open(&root);
    deposit_into(&collection, &sources, &clock);
    with_index(&root);
    let told = try_catalog(&collection, |catalog| {
        let mut told = 0;
        let query = Query::default();
        let found = catalog.find(&query, |_| {
            told += 1;
            deposit_into(&collection, &sources[..1], &clock);
            Ok(ControlFlow::Continue(()))
        });
        found.unwrap();
        told
    });
    assert_eq!(told.unwrap(), 3);
    agrees(&root, "");
    assert_eq!(catalog(&root, |it| names(it, &Query::default())).len(), 6);
}

/// More than are taken from the index at a time, several in one second, and each once.
#[test]
fn many_answers() {
    let (world, root, _) = world();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let many: Vec<_> =
        (0..700).map(|at| world.write(&format!("many/{at}.txt"), (at % 7).to_string())).collect();
    let deposited: BTreeSet<_> = deposit_into(&open(&root), &many, &clock).into_iter().collect();
    with_index(&root);
    let in_order = |query: &Query| -> Vec<String> {
        let found = catalog(&root, |catalog| super::support::found(catalog, query));
        let mut dates: Vec<_> = found.iter().map(|found| found.name.instant()).collect();
        assert!(dates.is_sorted());
        dates.dedup();
        assert_eq!(dates.len(), found.len());
        found.into_iter().map(|found| found.name.to_string()).collect()
    };
    let all = in_order(&Query::default());
    assert_eq!((all.len(), all.into_iter().collect::<BTreeSet<_>>() == deposited), (700, true));
    assert_eq!(in_order(&Query::default().file("*.txt")).len(), 700);
    assert_eq!(in_order(&Query::default().digest(&urepo::digest::Digest::of(b"3"))).len(), 100);
}

#[test]
fn deposits_deletions_answers_and_rebuilding_at_once() {
    let (world, root, sources) = world();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    deposit_into(&open(&root), &sources, &clock);
    with_index(&root);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let depositing = scope.spawn(|| {
            let mut all = BTreeSet::new();
            for round in 0..25 {
                let count = if round % 5 == 0 { 20 } else { 1 };
                let many: Vec<_> = sources.iter().cycle().take(count).cloned().collect();
                all.extend(deposit_into(&open(&root), &many, &clock));
            }
            all
        });
        let deleting = scope.spawn(|| {
            for _ in 0..12 {
                let some = world.run("-c archive list --state Original").stdout;
                let Some(name) = some.split_whitespace().next() else { continue };
                world.run(&format!("-c archive delete --force last {name}"));
            }
        });
        let rebuilding = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let collection = open(&root);
                catalog_by(|context| Catalog::rebuild(&collection, context).map(drop)).unwrap();
            }
        });
        let asking = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                try_catalog(&open(&root), |catalog| {
                    catalog.counts(None).unwrap();
                    names(catalog, &Query::default().file("0.txt")).len()
                })
                .unwrap();
            }
        });
        let deposited = depositing.join().unwrap();
        deleting.join().unwrap();
        done.store(true, Ordering::Relaxed);
        rebuilding.join().unwrap();
        asking.join().unwrap();
        let found = catalog(&root, |it| names(it, &Query::default()));
        assert!(deposited.is_subset(&found));
    });
    agrees(&root, "");
}

/// All ask for an index that is not there yet: it is made once.
#[test]
fn the_first_question_by_several() {
    let (_world, root, sources) = world();
    deposit_into(&open(&root), &sources, &TestClock::at("2026-11-21T02:13:00Z"));
    let made = std::thread::scope(|scope| {
        let asking = (0..4).map(|_| {
            scope.spawn(|| try_catalog(&open(&root), |catalog| catalog.report().built).unwrap())
        });
        let asking: Vec<_> = asking.collect();
        asking.into_iter().map(|it| usize::from(it.join().unwrap())).sum::<usize>()
    });
    assert_eq!(made, 1);
    agrees(&root, "");
}
