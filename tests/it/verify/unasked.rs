//! A ledger that cannot be read: nothing is known of what is missing.

use super::*;

fn without_ledger(world: &World) -> Watcher {
    on(Operation::Open, &world.root().join(".urepo/ledger"), || {
        Err(rustix::io::Errno::ACCESS.into())
    })
}

/// An item that is asked for and not there is neither called lost nor said to have left.
#[test]
fn an_item_that_the_ledger_cannot_be_asked_for() {
    let world = World::with_item();
    let collection = world.open(&without_ledger(&world));
    let name: RepositoryName = "sid.inpe.br/mtc-m18/2011/01.01.00.00".parse().unwrap();
    let options = Options { depth: Depth::Full, jobs: 1 };
    let told = run(&collection, Scope::Items(Box::new(std::iter::once(name))), options);
    assert_eq!(told.codes(), found([(Code::Unreadable, "")]));
    assert!(told.details()[0].contains("Permission denied"), "{:?}", told.details());
    assert!(!told.summary.is_damage() && told.summary.unread_items == 1);
}

#[test]
fn a_whole_collection_names_the_ledger() {
    let world = World::with_item();
    let told = world.run_watched(Depth::Full, &without_ledger(&world));
    assert_eq!(told.codes(), found([(Code::Unreadable, ".urepo/ledger")]));
    assert!(!told.summary.is_damage() && told.summary.unread_places == 1);
}
