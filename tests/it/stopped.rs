//! The words of a group that a failure stopped: each item that was changed is named as changed, and each that was not reached
//! as not changed.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;
use urepo::amend::{Amender, Amendment};
use urepo::collection::Collection;
use urepo::custody::Discard;
use urepo::disk::{Operation, Watch, Watcher};
use urepo::holdings::Sight;
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::promotion::{Loss, Registrar};
use urepo::removal::{DamageRule, LastRule, Order, PermanentRule, Remover, Restoration};

use crate::support::{
    TestClock, World, agent, caller, copy_item, deposit, make_collection, options, recovered_whole,
    request, waiter, whole_items,
};

const ITEMS: usize = 3;

/// The outcome of each item in words: nothing if all went well.
type Words = Vec<(RepositoryName, Option<String>)>;

/// A disk that takes no line of the ledger.
struct NoLines;

impl Watch for NoLines {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let is_ledger = path.to_string_lossy().contains("/.urepo/ledger/");
        if is_ledger && operation == Operation::Write { Err(Errno::IO.into()) } else { Ok(()) }
    }
}

/// An archive with some items, and a mirror with their Copies.
fn archive_and_mirror() -> (World, Vec<RepositoryName>) {
    let world = World::new();
    let [archive, mirror] = ["archive", "mirror"].map(|root| make_collection(&world.path(root)));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let files = (0..ITEMS).map(|number| world.write(&format!("{number}.txt"), "Dear all"));
    deposit(&archive, files.map(request).collect(), options(), &clock, |_| ()).unwrap();
    let names = whole_items(&archive);
    for name in &names {
        copy_item(archive.path(), mirror.path(), name, |_| ());
    }
    drop((archive, mirror));
    for root in ["archive", "mirror"] {
        recovered_whole(&world.path(root), root);
    }
    let names = names.iter().map(|name| name.parse().unwrap()).collect();
    (world, names)
}

fn amend(collection: &Collection, names: &[RepositoryName]) -> Words {
    let (agent, clock) = (agent(), TestClock::at("2026-12-01T00:00:00Z"));
    let (writer, interrupt) =
        (collection.writer(&agent, &waiter(&clock)).unwrap(), Interrupt::default());
    let caller = caller(&agent, &clock, &interrupt);
    let amender = Amender {
        collection,
        sight: urepo::holdings::Sight::alone(),
        writer: Some(&writer),
        locks: None,
        caller,
    };
    let amendment = |name: &RepositoryName| Amendment {
        name: name.clone(),
        change: Box::new(|description| {
            description.metadata.set("title", &["Letter"]).unwrap();
            Ok(())
        }),
    };
    let mut words = Words::new();
    let _ = amender.amend_all(names.iter().map(amendment), &mut |name, result| {
        words.push((name.clone(), result.err().map(|error| error.to_string())));
        ControlFlow::Continue(())
    });
    words
}

fn promote(collection: &Collection, names: &[RepositoryName], lost: &str) -> Words {
    let (agent, clock) = (agent(), TestClock::at("2026-12-01T00:00:00Z"));
    let (writer, interrupt) =
        (collection.writer(&agent, &waiter(&clock)).unwrap(), Interrupt::default());
    let caller = caller(&agent, &clock, &interrupt);
    let registrar = Registrar { collection, writer: Some(&writer), caller };
    let lost = [lost.to_owned()];
    let loss = Loss {
        collections: &lost,
        reason: "fire",
        sight: Sight::alone(),
        discard: Discard::Refuse,
    };
    let mut words = Words::new();
    let _ = registrar.promote_all(names, &loss, &mut |name, result| {
        words.push((name.clone(), result.err().map(|error| error.to_string())));
        ControlFlow::Continue(())
    });
    words
}

fn remove(collection: &Collection, names: &[RepositoryName], is_deletion: bool) -> Words {
    let (agent, clock) = (agent(), TestClock::at("2026-12-01T00:00:00Z"));
    let (writer, interrupt) =
        (collection.writer(&agent, &waiter(&clock)).unwrap(), Interrupt::default());
    let remover = Remover { collection, writer, caller: caller(&agent, &clock, &interrupt) };
    let order = Order {
        by: "ann@vault".into(),
        reason: None,
        sight: Sight::alone(),
        last: LastRule::Remove,
        damage: DamageRule::Refuse,
        permanent: PermanentRule::Refuse,
    };
    let restoration = Restoration { sight: Sight::alone(), damage: DamageRule::Refuse };
    let mut words = Words::new();
    if is_deletion {
        remover.delete(names, &order, &mut |name, result| {
            words.push((name.clone(), result.err().map(|error| error.to_string())));
            ControlFlow::Continue(())
        });
    } else {
        remover.restore(names, &restoration, &mut |name, result| {
            words.push((name.clone(), result.err().map(|error| error.to_string())));
            ControlFlow::Continue(())
        });
    }
    words
}

/// Each item is named, and was changed; the next writer adds the lines.
fn check_unconfirmed(root: &Path, names: &[RepositoryName], words: &Words) {
    assert_eq!(
        words.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        names.iter().collect::<Vec<_>>()
    );
    for (name, words) in words {
        let right = format!("`{name}` was changed, but the disk did not confirm it");
        assert_eq!(words.as_ref(), Some(&right));
    }
    recovered_whole(root, "unconfirmed");
}

#[test]
fn changed_items_without_lines_are_named_as_changed() {
    let (world, names) = archive_and_mirror();
    let (archive, mirror) = (world.path("archive"), world.path("mirror"));
    let open = |root: &Path| Collection::open(root, &Watcher::new(Arc::new(NoLines))).unwrap();
    let id = open(&archive).id().to_owned();
    check_unconfirmed(&archive, &names, &amend(&open(&archive), &names));
    check_unconfirmed(&mirror, &names, &promote(&open(&mirror), &names, &id));
    check_unconfirmed(&archive, &names, &remove(&open(&archive), &names, true));
    check_unconfirmed(&archive, &names, &remove(&open(&archive), &names, false));
}

/// A disk that has room for one sidecar.
#[derive(Default)]
struct RoomForOne(AtomicUsize);

impl Watch for RoomForOne {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let leaf = path.file_name().unwrap_or_default().to_string_lossy();
        let is_sidecar = operation == Operation::CreateFile && leaf.starts_with("change-");
        if is_sidecar && self.0.fetch_add(1, Ordering::Relaxed) > 0 {
            return Err(Errno::NOSPC.into());
        }
        Ok(())
    }
}

#[test]
fn items_that_were_not_reached_are_named_as_not_changed() {
    let (world, names) = archive_and_mirror();
    let watcher = Watcher::new(Arc::new(RoomForOne::default()));
    let collection = Collection::open(&world.path("archive"), &watcher).unwrap();
    let words = amend(&collection, &names);
    let title = |name| {
        collection.item(name).unwrap().sidecar().unwrap().0.metadata.title().map(str::to_owned)
    };
    let [(first, None), (second, Some(full)), (third, Some(unreached))] = &words[..] else {
        panic!("{words:?}")
    };
    assert_eq!([first, second, third].map(title), [Some("Letter".to_owned()), None, None]);
    assert!(full.contains("change-"), "{full}");
    let right = format!("`{third}` was not changed, because of the failure before it");
    assert_eq!(*unreached, right);
    recovered_whole(&world.path("archive"), "full");
}
