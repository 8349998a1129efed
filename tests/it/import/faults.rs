//! An import killed, or failing, at any file operation is taken up by the next: each source once.

use super::*;
use crate::support::{
    Faults, Mode, System, between_users, copy_tree, first_user, make_collection, recovered_whole,
    scratch, waiter,
};

const NAMED: &str = "sid.inpe.br/mtc-m18/2009/02.16.17.46";

fn make_sources(sources: &Path) {
    write(sources, "a.txt", "alpha");
    write(sources, "dir/b.txt", "beta");
    write(sources, "dir/sub/c.txt", vec![7; 200_000]);
    write(sources, "named.txt", "named");
    write(
        sources,
        "list.jsonl",
        format!(
            "{{\"path\": \"a.txt\", \"title\": \"A\", \"relation.next_edition\": \"row:dir\"}}\n\
         {{\"path\": \"dir\", \"relation.previous_edition\": \"row:a.txt\"}}\n\
         {{\"path\": \"named.txt\", \"identifier\": \"{NAMED}\"}}\n"
        ),
    );
}

fn rows(sources: &Path) -> Candidates {
    super::manifests::read(sources, "list.jsonl", Format::Jsonl, Columns::default()).unwrap()
}

/// Imports with faults; what was told until they struck.
fn run(root: &Path, sources: &Path, watcher: &Watcher) -> Vec<Event> {
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let mut events = Vec::new();
    let Ok(collection) = Collection::open(root, watcher) else { return events };
    let options = import_options();
    let ended = import_and_tell(&collection, rows(sources), options, &clock, &mut events);
    if ended.is_ok_and(|summary| summary.fatal.is_none())
        && let Ok(ledger) = KnownSources::open(&collection, Some(&agent()))
    {
        let mut tell = |_| Ok(());
        let _ = relate(
            (&ledger, urepo::holdings::Sight::alone()),
            rows(sources),
            Update::Act,
            (&agent(), &waiter(&clock)),
            &mut tell,
        );
    }
    events
}

fn every_operation(mode: Mode) {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    make_sources(&sources);
    let template = scratch.path().join("template");
    make_collection(&template);
    for at in System::Own.points() {
        let root = scratch.path().join(format!("archive-{at}"));
        copy_tree(&template, &root);
        let faults = Arc::new(Faults::new(&root, at, mode).of_changes());
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let told = first_user(|| run(&root, &sources, &watcher));
        let struck = faults.struck();
        let context = format!("{mode:?} {at} {struck:?}");
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        let whole = whole_items(&collection);
        for event in &told {
            if let Became::Item(deposited) = &event.became {
                let name = deposited.label.name.to_string();
                assert!(whole.contains(&name), "{name} was told and is not there: {context}");
            }
        }
        // The next run goes on, and the one after it finds nothing to do.
        run(&root, &sources, &Watcher::default());
        let items = origins(&collection);
        let mut found: Vec<_> = items.iter().map(|(source, _)| last(source)).collect();
        found.sort_unstable();
        assert_eq!(found, ["a.txt", "dir", "named.txt"], "each once: {context}");
        for (source, sidecar) in &items {
            let relation = match last(source) {
                "a.txt" => "next_edition",
                "dir" => "previous_edition",
                _ => {
                    assert_eq!(sidecar.repository.to_string(), NAMED, "{context}");
                    continue;
                }
            };
            assert!(sidecar.relations.table().contains_key(relation), "{source}: {context}");
        }
        let before = crate::support::tree(&root);
        let again = run(&root, &sources, &Watcher::default());
        let all_there = again.iter().all(|event| matches!(event.became, Became::There(_)));
        assert!(all_there && again.len() == 3, "{:?}: {context}", words(&again));
        assert_eq!(crate::support::tree(&root), before, "{context}");
        recovered_whole(&root, &context);
        std::fs::remove_dir_all(&root).unwrap();
        if struck.is_none() {
            assert!(at > 20);
            break;
        }
    }
}

#[test]
fn killed_at_any_operation() {
    every_operation(Mode::Killed);
}

#[test]
fn an_error_at_any_operation() {
    every_operation(Mode::DISK);
}

#[test]
fn between_two_users() {
    for mode in [Mode::Killed, Mode::DISK] {
        between_users(|| every_operation(mode));
    }
}
