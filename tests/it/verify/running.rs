//! Runs over many items.

use super::*;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{NAME}.{:02}.{at:09}", at % 60)).collect()
}

fn many(count: usize) -> (World, Vec<String>) {
    let world = World::new();
    let mut names = names(count);
    for name in &names {
        world.small_item(name);
    }
    names.sort();
    (world, names)
}

#[test]
fn reports_come_in_the_order_of_names_whatever_the_threads_do() {
    let (world, names) = many(700);
    // One large item in the middle takes longer than those around it.
    let large = world.path(&names[300]).join("doc/large");
    fs::write(&large, vec![1; 8 << 20]).unwrap();
    world.seal(&names[300], |_| {});
    let collection = world.open(&Watcher::default());
    for jobs in [1, 2, 8] {
        let options = Options { depth: Depth::Full, jobs };
        let told = run(&collection, Scope::All(&Names::default()), options);
        assert_eq!(told.codes(), []);
        let found: Vec<_> = told.items.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(found, names);
    }
}

/// Far more items than may be in progress, so that every channel is full when the end comes.
#[test]
fn it_ends_whoever_goes_away() {
    let (world, _) = many(1000);
    let collection = world.open(&Watcher::default());
    let options = Options { depth: Depth::Full, jobs: 2 };
    let interrupt = Interrupt::default();
    let mut count = 0;
    let names = Names::default();
    let summary = verify(&collection, Scope::All(&names), options, &NoProgress, &interrupt, |_| {
        count += 1;
        if count == 20 {
            interrupt.request();
        }
        ControlFlow::Continue(())
    });
    let summary = summary.unwrap();
    assert!(summary.interrupted && (20..1000).contains(&count), "{count}");
    assert_eq!(summary.items, count, "what was reported is what was counted");

    let go_on = Interrupt::default();
    let scope = Scope::All(&names);
    let summary =
        verify(&collection, scope, options, &NoProgress, &go_on, |_| ControlFlow::Break(()));
    assert_eq!((summary.unwrap().items, go_on.requested()), (1, false));

    let panicking = panics(|| {
        let scope = Scope::All(&names);
        verify(&collection, scope, options, &NoProgress, &go_on, |_| panic!("nobody listens"))
            .unwrap();
    });
    assert!(panicking);
}

#[test]
fn a_panic_of_a_worker_is_passed_on() {
    let (world, names) = many(1000);
    let fatal = world.path(&names[100]).join("doc/report.pdf");
    let watcher = on(Operation::Read, &fatal, || panic!("a bug in a worker"));
    let collection = world.open(&watcher);
    let outcome = panics(|| {
        let options = Options { depth: Depth::Full, jobs: 2 };
        run(&collection, Scope::All(&Names::default()), options);
    });
    assert!(outcome);
}

fn panics(act: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)).is_err()
}

/// What `delete` does, between the reading of the sidecar and that of the payload.
#[test]
fn an_item_deleted_meanwhile_is_looked_at_again() {
    let world = World::with_item();
    let tombstone = {
        let other = World::with_item();
        let own = world.open(&Watcher::default()).id().to_owned();
        other.seal(NAME, |sidecar| {
            sidecar.state = State::Deleted;
            sidecar.custody = Custody::first(CustodyId::from([1; 8]), &own);
        });
        fs::read(other.in_item("item.toml")).unwrap()
    };
    let (doc, staged) = (world.in_item("doc"), world.in_item("item.toml.new"));
    let sidecar = world.in_item("item.toml");
    let delete = on(Operation::Open, &doc.clone(), move || {
        if doc.exists() {
            fs::write(&staged, &tombstone).unwrap();
            fs::rename(&staged, &sidecar).unwrap();
            fs::remove_dir_all(&doc).unwrap();
        }
        Ok(())
    });
    let collection = world.open(&delete);
    let options = Options { depth: Depth::Full, jobs: 1 };
    let told = run(&collection, Scope::All(&Names::default()), options);
    assert_eq!(told.codes(), []);
    assert_eq!(told.items[0].state, Some(State::Deleted));
}

#[test]
fn an_interrupted_item_has_no_report() {
    let world = World::with_item();
    let collection = world.open(&Watcher::default());
    let item = collection.item(&NAME.parse().unwrap()).unwrap();
    let interrupt = Interrupt::default();
    let report = verify_item(&item, Depth::Full, &NoProgress, &interrupt).unwrap();
    assert_eq!((report.files, report.bytes), (2, 300_008));
    interrupt.request();
    assert!(verify_item(&item, Depth::Full, &NoProgress, &interrupt).is_none());
}
