//! A process that runs short of descriptors or memory has found nothing out: that is no item's damage.

use rustix::io::Errno;
use urepo::collection::CollectionError;
use urepo::custody::{Custody, CustodyId};

use super::*;

const SHORTAGES: [Errno; 3] = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];

/// Whether `run` gets to its end; nothing fails in the last one.
fn fail_at_every_operation(root: &Path, mut run: impl FnMut(&Watcher, &str)) {
    for errno in SHORTAGES {
        for at in 1.. {
            let faults = Arc::new(Faults::new(root, at, Mode::Once(errno)));
            run(&Watcher::new(Arc::clone(&faults) as _), &format!("{errno:?} at {at}"));
            if faults.struck().is_none() {
                assert!(at > 10, "{errno:?}: nothing was reached");
                break;
            }
        }
    }
}

#[test]
fn it_is_an_error_of_the_run_and_never_damage() {
    let world = World::with_item();
    world.small_item("sid.inpe.br/mtc-m18/2009/02.16.17.47");
    let names = Names::default();
    let interrupt = Interrupt::default();
    let asked = || Box::new(std::iter::once(NAME.parse().unwrap()));
    let mut errors = 0;
    fail_at_every_operation(&world.root(), |watcher, case| {
        for depth in [Depth::Quick, Depth::Full] {
            for scope in [Scope::All(&names), Scope::Items(asked())] {
                let Ok(collection) = Collection::open(&world.root(), watcher) else { return };
                let options = Options { depth, jobs: 1 };
                let mut found = Vec::new();
                let ended =
                    verify(&collection, scope, options, &NoProgress, &interrupt, |report| {
                        match report {
                            Report::Item(item) => found.extend(item.findings.as_slice().to_vec()),
                            Report::Tree(finding) => found.push(finding),
                        }
                        ControlFlow::Continue(())
                    });
                found.retain(|finding| finding.severity() == Severity::Damage);
                assert_eq!(found, [], "{case}");
                match ended {
                    Ok(summary) => assert!(!summary.is_damage() && !summary.interrupted, "{case}"),
                    Err(error) => {
                        assert!(error.shortage().is_some(), "{case}: {error}");
                        errors += 1;
                    }
                }
            }
        }
    });
    assert!(errors > 30, "{errors}");
}

#[test]
fn an_item_that_can_not_be_read_for_it_is_not_called_damaged() {
    let world = World::with_item();
    let interrupt = Interrupt::default();
    fail_at_every_operation(&world.root(), |watcher, case| {
        let Ok(collection) = Collection::open(&world.root(), watcher) else { return };
        let Ok(item) = collection.item(&NAME.parse().unwrap()) else { return };
        match urepo::verify::prove(&item, Depth::Full, &NoProgress, &interrupt) {
            Ok(()) => {}
            Err(ProofError::Disk(error)) => assert!(error.shortage().is_some(), "{case}"),
            Err(error) => panic!("{case}: {error}"),
        }
    });
}

#[test]
fn an_original_that_can_not_be_read_for_it_is_not_missing() {
    let (one, other) = (World::with_item(), World::new());
    other.item(NAME);
    let holder = Collection::open(&one.root(), &Watcher::default()).unwrap().id().to_owned();
    let custody = Custody::first(CustodyId::from([1; 8]), &holder);
    one.seal(NAME, |sidecar| sidecar.custody = custody.clone());
    other.seal(NAME, |sidecar| {
        (sidecar.state, sidecar.custody) = (State::Copy, custody.clone());
    });
    let copies = Collection::open(&other.root(), &Watcher::default()).unwrap();
    fail_at_every_operation(&one.root(), |watcher, case| {
        let Ok(originals) = Collection::open(&one.root(), watcher) else { return };
        let roots = [&originals, &copies];
        let names = Names::default();
        let ended = compare(&roots, &names, &Interrupt::default(), |told| {
            panic!("{case}: {:?}", told.finding)
        });
        if let Err(error) = ended {
            assert!(error.shortage().is_some(), "{case}: {error}");
        }
    });
}

/// A sidecar that cannot be read may carry the label that is asked for.
#[test]
fn an_item_that_cannot_be_read_is_not_an_item_without_the_label() {
    const LABEL: &str = "8JMKD3MGP8W/34PGRBS";
    let world = World::with_item();
    world.seal(NAME, |sidecar| sidecar.ibip = Some(LABEL.parse().unwrap()));
    let found = world.open(&Watcher::default()).find(LABEL).unwrap();
    assert_eq!(found.name().as_str(), NAME);
    let fails = || Err(Errno::IO.into());
    let watcher = on(Operation::Read, &world.path(NAME).join("item.toml"), fails);
    let error = world.open(&watcher).find(LABEL).unwrap_err();
    assert!(matches!(error, CollectionError::Disk(_)), "{error}");
}
