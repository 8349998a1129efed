//! Items that others change at the same time, and many items in one run.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use urepo::collection::{CollectionError, Stopped};
use urepo::disk::{Operation, Watch};
use urepo::identity::RepositoryName;

use super::*;
use crate::support::{Trace, caller};

/// Changes the creator of the item when its lock is asked for, after the change of the title was planned.
struct Rival {
    archive: Archive,
    once: Once,
}

impl Watch for Rival {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Lock && path.ends_with(".urepo/change.lock") {
            self.once.call_once(|| {
                self.archive
                    .amend(|description| {
                        description.metadata.set("creator", &["Rival"]).unwrap();
                        Ok(())
                    })
                    .unwrap();
            });
        }
        Ok(())
    }
}

#[test]
fn both_of_two_changes_at_once_are_made() {
    let rival = Arc::new(Rival { archive: Archive::new(), once: Once::new() });
    let (root, name) = (rival.archive.world.path("archive"), rival.archive.name.parse().unwrap());
    let collection = Collection::open(&root, &Watcher::new(Arc::clone(&rival) as _)).unwrap();
    let amendment = Amendment { name, change: Box::new(entitled("Letter")) };
    amend(&collection, "2026-12-01T00:00:00Z", amendment).unwrap();
    let sidecar = rival.archive.sidecar();
    assert_eq!(sidecar.metadata.title(), Some("Letter"));
    assert_eq!(sidecar.metadata.values("creator").unwrap(), ["Rival"]);
    assert!(sidecar.changed() > instant("2026-12-01T00:00:00Z"));
}

#[test]
fn two_changes_of_one_item_in_a_run_both_count() {
    let archive = Archive::new();
    let name: RepositoryName = archive.name.parse().unwrap();
    let add = |creator: &'static str| Amendment {
        name: name.clone(),
        change: Box::new(move |description| {
            description.metadata.add("creator", creator).unwrap();
            Ok(())
        }),
    };
    run(&archive.open(), vec![add("One"), add("Two")]);
    assert_eq!(archive.sidecar().metadata.values("creator").unwrap(), ["One", "Two"]);
}

fn run(collection: &Collection, amendments: Vec<Amendment<'_>>) {
    let (agent, clock) = (agent(), TestClock::at("2026-12-01T00:00:00Z"));
    let writer = collection.writer(&agent, &waiter(&clock)).unwrap();
    let interrupt = Interrupt::default();
    let caller = caller(&agent, &clock, &interrupt);
    let amender = Amender {
        collection,
        sight: urepo::holdings::Sight::alone(),
        writer: Some(&writer),
        locks: None,
        caller,
    };
    let flow = amender.amend_all(amendments, &mut |_, result| {
        assert_eq!(result.unwrap().changes.len(), 1);
        ControlFlow::Continue(())
    });
    assert!(flow.is_continue());
}

/// Edits the sidecar by hand when its replacement is written: a person takes no lock.
struct Editor {
    sidecar: PathBuf,
    once: Once,
}

impl Watch for Editor {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let is_staged =
            path.file_name().is_some_and(|it| it.to_string_lossy().starts_with("change-"));
        if operation == Operation::Write && is_staged {
            self.once.call_once(|| {
                let text = std::fs::read_to_string(&self.sidecar).unwrap();
                std::fs::write(&self.sidecar, format!("# by hand\n{text}")).unwrap();
            });
        }
        Ok(())
    }
}

#[test]
fn what_a_person_writes_meanwhile_is_not_overwritten() {
    let archive = Archive::new();
    let editor = Arc::new(Editor { sidecar: archive.file(), once: Once::new() });
    let watcher = Watcher::new(Arc::clone(&editor) as _);
    let collection = Collection::open(&archive.world.path("archive"), &watcher).unwrap();
    let name = archive.name.parse().unwrap();
    let amendment = Amendment { name, change: Box::new(entitled("Letter")) };
    let error = amend(&collection, "2026-12-01T00:00:00Z", amendment).unwrap_err();
    assert!(editor.once.is_completed());
    assert!(matches!(error, AmendError::Outdated { .. }), "{error}");
    assert!(archive.text().starts_with("# by hand\n"));
    assert!(!archive.text().contains("Letter"));
    assert_eq!(archive.events().len(), 1);
}

/// The directory of an item fails when it is synced: the change is there and logged, and may not last.
#[test]
fn a_change_that_the_disk_does_not_confirm_is_logged_and_reported() {
    struct Failing(PathBuf);
    impl Watch for Failing {
        fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
            let fails = operation == Operation::SyncDirectory && path == self.0;
            if fails { Err(rustix::io::Errno::IO.into()) } else { Ok(()) }
        }
    }
    let archive = Archive::new();
    let item = archive.file().parent().unwrap().to_path_buf();
    let watcher = Watcher::new(Arc::new(Failing(item)) as _);
    let collection = Collection::open(&archive.world.path("archive"), &watcher).unwrap();
    let name = archive.name.parse().unwrap();
    let amendment = Amendment { name, change: Box::new(entitled("Letter")) };
    let error = amend(&collection, "2026-12-01T00:00:00Z", amendment).unwrap_err();
    let is_told = matches!(
        &error,
        AmendError::Collection(CollectionError::Stopped(Stopped::Unconfirmed {
            source: Some(_),
            ..
        }))
    );
    assert!(is_told, "{error}");
    assert_eq!(archive.sidecar().metadata.title(), Some("Letter"));
    assert_eq!(archive.events().len(), 2);
}

#[test]
fn many_items_take_few_syncs() {
    const ITEMS: usize = 60;
    let world = World::new();
    let archive = make_collection(&world.path("archive"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let files = (0..ITEMS).map(|number| world.write(&format!("{number}.txt"), "Dear all"));
    deposit(&archive, files.map(request).collect(), options(), &clock, |_| ()).unwrap();
    let names = whole_items(&archive);
    let trace = Arc::new(Trace::default());
    let watcher = Watcher::new(Arc::clone(&trace) as _);
    let archive = Collection::open(&world.path("archive"), &watcher).unwrap();
    let amendment = |name: &String| Amendment {
        name: name.parse().unwrap(),
        change: Box::new(entitled("Letter")),
    };
    run(&archive, names.iter().map(amendment).collect());
    let is_sync = |(operation, _): &&(Operation, PathBuf)| {
        matches!(
            operation,
            Operation::SyncFile | Operation::SyncDirectory | Operation::SyncFileSystem
        )
    };
    let syncs = trace.0.lock().unwrap().iter().filter(is_sync).count();
    assert!(syncs < ITEMS, "{syncs} syncs");
    assert_eq!(whole_items(&archive), names);
    for name in names {
        let (sidecar, _) = archive.item(&name.parse().unwrap()).unwrap().sidecar().unwrap();
        assert_eq!(sidecar.metadata.title(), Some("Letter"));
    }
}
