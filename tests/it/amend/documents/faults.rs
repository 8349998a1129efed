//! Imports that fail or are killed at any file operation.

use std::ops::ControlFlow;
use std::sync::Arc;

use urepo::import::Format;
use urepo::import::TableOptions;
use urepo::import::described::{DescriptionImport, ItemFinder, RowOutcome, rows};

use super::*;
use crate::support::{Faults, Mode, System, caller, recovered_whole};

/// Imports `table`; whether every row was carried out.
fn import(collection: &Collection, table: &str) -> bool {
    let (agent, clock) = (agent(), TestClock::at("2026-12-01T00:00:00Z"));
    let Ok(writer) = collection.writer(&agent, &waiter(&clock)) else { return false };
    let interrupt = Interrupt::default();
    let caller = caller(&agent, &clock, &interrupt);
    let finder = ItemFinder::new(collection, PathBuf::from("/"));
    let amender = Amender {
        collection,
        sight: urepo::holdings::Sight::alone(),
        writer: Some(&writer),
        locks: None,
        caller,
    };
    let import = DescriptionImport { finder: &finder, amender, clears: false };
    let kind = TableOptions::new(Format::Csv);
    let read = || rows(Box::new(std::io::Cursor::new(table.to_owned())), "table", &kind).unwrap();
    let mut is_whole = true;
    let mut report = |outcome| {
        is_whole &= !matches!(outcome, RowOutcome::Refused { .. });
        ControlFlow::Continue(())
    };
    let checked = import.check(read(), &interrupt, &mut report);
    let _ = import.carry_out(read(), &checked, &mut report);
    is_whole
}

#[test]
fn an_import_that_fails_anywhere_changes_items_or_not() {
    let prepared = Library::new();
    for mode in [Mode::Killed, Mode::DISK] {
        for at in System::Own.points() {
            let library = prepared.copy();
            let [a, b, c] = [0, 1, 2].map(|at| &library.names[at]);
            let table =
                format!("identifier,title,relation.next_edition\n{a},A,{c}\n{b},B,\n{c},C,\n");
            let (before, root) = (library.texts(), library.world.path("archive"));
            let faults = Arc::new(Faults::new(&root, at, mode).of_changes());
            let collection = Collection::open(&root, &Watcher::new(Arc::clone(&faults) as _));
            let is_whole = collection.is_ok_and(|it| import(&it, &table));
            let titles: Vec<_> = (0..3).map(|at| library.values(at, "title").concat()).collect();
            let is_changed = |at: usize| titles[at] == ["A", "B", "C"][at];
            let is_old = |at: usize| before[at].contains(&format!("{:?}", titles[at]));
            let old_or_new = (0..3).all(|item| is_changed(item) || item == 0 || is_old(item));
            assert!(old_or_new, "{mode:?} at {at}: {titles:?}");
            let is_done = (0..3).all(is_changed);
            assert!(is_done || !is_whole, "{mode:?} at {at}");
            let again = Collection::open(&root, &Watcher::default()).unwrap();
            assert!(import(&again, &table), "{mode:?} at {at}");
            let related = library.sidecar(0).relations.table().to_string();
            assert_eq!(related, format!("next_edition = \"{c}\"\n"), "{mode:?} at {at}");
            let related = library.sidecar(2).relations.table().to_string();
            assert_eq!(related, format!("previous_edition = \"{a}\"\n"), "{mode:?} at {at}");
            assert!(library.sidecar(1).relations.is_empty(), "{mode:?} at {at}");
            assert_eq!(library.values(1, "title"), ["B"]);
            recovered_whole(&root, &format!("{mode:?} at {at}"));
            if faults.struck().is_none() {
                assert!(at > 10, "only {at} operations were made to fail");
                break;
            }
        }
    }
}
