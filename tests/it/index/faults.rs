//! Errors while the index is read, built or follows the ledger: no answer is wrong, and the next one is right.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::Collection;
use urepo::disk::Watcher;
use urepo::index::Query;

use super::support::{
    agrees, cache, copy_tree, index_file, items, names, open, try_catalog, with_index,
};
use crate::support::{
    Faults, Mode, System, TestClock, deposit, make_collection, options, request, scratch,
};

fn deposit_into(root: &Path, source: &Path, clock: &TestClock) {
    let requests = vec![request(source.to_path_buf())];
    deposit(&open(root), requests, options(), clock, |_| ()).unwrap();
}

/// Whoever asks gets the truth, or an error, or a report of what could not be read; and so does who asks next.
#[test]
fn an_answer_with_errors() {
    let scratch = scratch();
    let source = scratch.path().join("a.txt");
    std::fs::write(&source, "alpha").unwrap();
    let (root, template) = (scratch.path().join("archive"), scratch.path().join("template"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    make_collection(&template);
    deposit_into(&template, &source, &clock);
    for has_index in [true, false] {
        for mode in [Mode::Killed, Mode::OneOf(&[Errno::IO, Errno::MFILE])] {
            let mut strikes = 0;
            for at in System::Own.points() {
                for left in [&root, &cache(&root)] {
                    let _ = std::fs::remove_dir_all(left);
                }
                copy_tree(&template, &root);
                if has_index {
                    with_index(&root);
                    // Noticed by its line, and by itself.
                    deposit_into(&root, &source, &clock);
                    let name = items(&root).into_keys().next().unwrap();
                    let sidecar = root.join(name).join("item.toml");
                    let text = std::fs::read_to_string(&sidecar).unwrap();
                    std::fs::write(&sidecar, text + "# changed\n").unwrap();
                }
                let faults = Arc::new(Faults::new(&root, at, mode));
                let opened = Collection::open(&root, &Watcher::new(Arc::clone(&faults) as _));
                let asked = opened.ok().map(|collection| {
                    try_catalog(&collection.with_cache(&cache(&root)), |catalog| {
                        let mut hits = Vec::new();
                        let found = catalog.find(&Query::default(), |found| {
                            hits.push((found.name.to_string(), found.state));
                            Ok(ControlFlow::Continue(()))
                        });
                        found.is_ok().then_some((hits, catalog.report().unreadable.is_empty()))
                    })
                });
                let context = format!("{has_index} {mode:?} {at} {:?}", faults.struck());
                if let Some(Ok(Some((mut hits, true)))) = asked {
                    let states = items(&root).into_iter();
                    let states = states.map(|(name, sidecar)| (name, sidecar.map(|it| it.state)));
                    hits.sort();
                    assert_eq!(hits, states.collect::<Vec<_>>(), "{context}");
                } else {
                    assert!(faults.struck().is_some(), "{asked:?} {context}");
                }
                let all = try_catalog(&open(&root), |it| names(it, &Query::default()).len());
                assert_eq!(all.unwrap(), items(&root).len(), "{context}");
                agrees(&root, &context);
                if faults.struck().is_none() {
                    break;
                }
                strikes += 1;
            }
            assert!(strikes > 10, "only {strikes}");
        }
    }
}

/// It is made from the sidecars, so no answer depends on its bytes.
#[test]
fn a_damaged_index_is_built_again() {
    const PAGE: usize = 4096;
    let scratch = scratch();
    let (root, clock) = (scratch.path().join("archive"), TestClock::at("2026-11-21T02:13:00Z"));
    make_collection(&root);
    for at in 0..40 {
        let source = scratch.path().join(format!("source {at}"));
        std::fs::write(&source, "alpha").unwrap();
        deposit_into(&root, &source, &clock);
    }
    with_index(&root);
    let file = index_file(&root);
    let whole = std::fs::read(&file).unwrap();
    let query = Query::default();
    let answer =
        || try_catalog(&open(&root), |it| (names(it, &query), format!("{:?}", it.counts(None))));
    let wanted = answer().unwrap();
    assert!(whole.len() > 4 * PAGE && wanted.0.len() == 40);
    for at in (0..whole.len()).step_by(PAGE) {
        for damage in [0, 0xff] {
            let mut bytes = whole.clone();
            bytes[at..at + PAGE].fill(damage);
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(answer().unwrap(), wanted, "{at} {damage}");
        }
    }
}
