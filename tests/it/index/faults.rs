//! A change that fails or is killed at any operation: the index knows afterwards what is there, and the
//! change does as it would without one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use urepo::catalog::RefreshDepth;
use urepo::collection::Collection;
use urepo::disk::{Operation, Watch, Watcher};

use super::support::{agrees, agrees_after, copy_tree, settle, with_index};
use crate::support::{
    Faults, Mode, System, TestClock, World, between_users, deposit, first_user, make_collection,
    options, request, scratch,
};

/// Deposits so many files with the n-th operation failing, for every n or every `step`-th.
fn every_operation_of_a_deposit(items: usize, mode: Mode, system: System, step: usize) {
    let scratch = scratch();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let sources: Vec<_> = (0..items).map(|at| scratch.path().join(format!("{at}.txt"))).collect();
    for source in &sources {
        std::fs::write(source, source.to_str().unwrap()).unwrap();
    }
    let mut strikes = 0;
    for at in system.points().step_by(step) {
        let root = scratch.path().join("archive");
        let _ = std::fs::remove_dir_all(&root);
        make_collection(&root);
        deposit_into(&root, &Watcher::default(), &sources[..1], &clock);
        with_index(&root);
        let faults = Arc::new(Faults::new(&root, at, mode).on(system).of_changes());
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        first_user(|| deposit_into(&root, &watcher, &sources, &clock));
        let context = format!("{mode:?} {at} {:?}", faults.struck());
        agrees_after(&root, RefreshDepth::Directories, &context);
        // What was announced by a killed writer is withdrawn when its stage is gone.
        deposit_into(&root, &Watcher::default(), &sources[..1], &clock);
        agrees_after(&root, RefreshDepth::Directories, &context);
        let news = agrees_after(&root, RefreshDepth::Directories, &context);
        assert_eq!((news.built, news.read), (false, 0), "{context}");
        if faults.struck().is_none() {
            break;
        }
        strikes += 1;
    }
    let least = if mode == Mode::Killed { 3 } else { 10 };
    assert!(strikes > least, "only {strikes} operations were made to fail");
}

fn deposit_into(root: &Path, watcher: &Watcher, sources: &[PathBuf], clock: &TestClock) {
    if let Ok(collection) = Collection::open(root, watcher) {
        let _ =
            deposit(&collection, sources.iter().map(request).collect(), options(), clock, |_| ());
    }
}

#[test]
fn a_deposit_killed() {
    every_operation_of_a_deposit(2, Mode::Killed, System::Own, 1);
}

#[test]
fn a_deposit_of_many_killed() {
    every_operation_of_a_deposit(20, Mode::Killed, System::Own, 7);
}

#[test]
fn a_deposit_with_errors() {
    every_operation_of_a_deposit(2, Mode::ANY, System::Own, 1);
}

#[test]
fn a_deposit_on_a_network_file_system() {
    for mode in [Mode::Killed, Mode::ANY] {
        every_operation_of_a_deposit(2, mode, System::Network, 2);
    }
}

#[test]
fn between_two_users() {
    for mode in [Mode::Killed, Mode::ANY] {
        between_users(|| every_operation_of_a_deposit(2, mode, System::Own, 1));
    }
}

/// Does something at one moment of another's work.
struct Meanwhile<F> {
    act: std::sync::Mutex<Option<F>>,
    when: fn(Operation, &Path) -> bool,
}

impl<F: FnOnce() + Send> Watch for Meanwhile<F> {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if (self.when)(operation, path)
            && let Some(act) = self.act.lock().unwrap().take()
        {
            act();
        }
        Ok(())
    }
}

fn watch<F: FnOnce() + Send + 'static>(
    when: fn(Operation, &Path) -> bool,
    act: F,
) -> (Watcher, Arc<Meanwhile<F>>) {
    let meanwhile = Arc::new(Meanwhile { act: std::sync::Mutex::new(Some(act)), when });
    (Watcher::new(Arc::clone(&meanwhile) as _), meanwhile)
}

/// An item is being put in its place.
fn publishing(operation: Operation, path: &Path) -> bool {
    operation == Operation::Rename && path.components().any(|part| part.as_os_str() == "2026")
}

/// Others add an item in the moment of a short change, whose directory is not listed again: this is
/// what only a full look notices, or the next thing that they add.
#[test]
fn what_others_add_in_the_moment_of_a_change() {
    let world = World::with_collection();
    let root = world.path("archive");
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let source = world.write("a.txt", "alpha");
    deposit_into(&root, &Watcher::default(), std::slice::from_ref(&source), &clock);
    with_index(&root);
    let (from, to) = (
        root.join("example.org/archive/2026/11.21.02.13"),
        root.join("example.org/archive/2026/01.02.03.04"),
    );
    let (watcher, meanwhile) = watch(publishing, move || copy_tree(&from, &to));
    deposit_into(&root, &watcher, &[source], &clock);
    assert!(meanwhile.act.lock().unwrap().is_none(), "it has come to that");
    settle(&root);
    agrees_after(&root, RefreshDepth::Sidecars, "a full look");
    agrees(&root);
}

/// An index is made while a change is going on that had none to tell.
#[test]
fn an_index_made_in_the_moment_of_a_change() {
    let world = World::with_collection();
    let root = world.path("archive");
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let source = world.write("a.txt", "alpha");
    deposit_into(&root, &Watcher::default(), std::slice::from_ref(&source), &clock);
    let made = root.clone();
    let (watcher, meanwhile) = watch(publishing, move || with_index(&made));
    deposit_into(&root, &watcher, &[source], &clock);
    assert!(meanwhile.act.lock().unwrap().is_none());
    agrees(&root);
}

/// Whoever asks is told the truth, or that something could not be read; and who asks next, too.
#[test]
fn an_answer_with_errors() {
    use super::support::{items, names, try_catalog};
    use urepo::index::Query;
    let scratch = scratch();
    let source = scratch.path().join("a.txt");
    std::fs::write(&source, "alpha").unwrap();
    let template = scratch.path().join("template");
    make_collection(&template);
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    deposit_into(&template, &Watcher::default(), &[source.clone(), source], &clock);
    for (look, has_index) in [
        (RefreshDepth::Directories, true),
        (RefreshDepth::Sidecars, true),
        (RefreshDepth::Directories, false),
    ] {
        for mode in [Mode::Killed, Mode::OneOf(&[Errno::IO, Errno::MFILE])] {
            let mut strikes = 0;
            for at in System::Own.points() {
                let root = scratch.path().join("archive");
                let _ = std::fs::remove_dir_all(&root);
                copy_tree(&template, &root);
                if has_index {
                    with_index(&root);
                }
                // Noticed by its directory, and by itself.
                let item = root.join("example.org/archive/2026/11.21.02.13");
                copy_tree(&item, &root.join("example.org/archive/2026/01.02.03.04"));
                let text = std::fs::read_to_string(item.join("item.toml")).unwrap();
                std::fs::write(item.join("item.toml"), text + "# changed\n").unwrap();
                settle(&root);
                // Of all operations: those of the database itself lie between them.
                let faults = Arc::new(Faults::new(&root, at, mode));
                let opened = Collection::open(&root, &Watcher::new(Arc::clone(&faults) as _));
                let asked = opened.ok().map(|collection| {
                    try_catalog(&collection, look, |catalog| {
                        let query = Query::default();
                        let mut told = Vec::new();
                        let found = catalog.find(&query, |found| {
                            told.push((found.name.to_string(), found.state));
                            Ok(std::ops::ControlFlow::Continue(()))
                        });
                        found.is_ok().then_some((told, catalog.report().unreadable.is_empty()))
                    })
                });
                let context = format!("{look:?} {has_index} {mode:?} {at} {:?}", faults.struck());
                if let Some(Ok(Some((mut told, true)))) = asked {
                    let states = items(&root).into_iter();
                    let states = states.map(|(name, sidecar)| (name, sidecar.map(|it| it.state)));
                    told.sort();
                    assert_eq!(told, states.collect::<Vec<_>>(), "{context}");
                } else {
                    assert!(faults.struck().is_some(), "{asked:?} {context}");
                }
                crate::support::recovered_whole(&root, &context);
                let all = try_catalog(
                    &super::support::open(&root),
                    RefreshDepth::Directories,
                    |catalog| names(catalog, &Query::default()).len(),
                );
                assert_eq!(all.unwrap(), 3, "{context}");
                agrees_after(&root, RefreshDepth::Sidecars, &context);
                agrees_after(&root, RefreshDepth::Directories, &context);
                if faults.struck().is_none() {
                    break;
                }
                strikes += 1;
            }
            assert!(strikes > 10, "only {strikes}");
        }
    }
}
