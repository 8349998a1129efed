//! An inventory that cannot be read: nothing is known of what is missing.

use super::*;

fn without_inventory(world: &World) -> Watcher {
    on(Operation::Open, &world.root().join(".urepo/inventory"), || {
        Err(rustix::io::Errno::ACCESS.into())
    })
}

/// An item that is asked for and not there is neither called lost nor said to have left.
#[test]
fn an_item_that_the_inventory_cannot_be_asked_for() {
    let world = World::with_item();
    let collection = world.open(&without_inventory(&world));
    let name: RepositoryName = "sid.inpe.br/mtc-m18/2011/01.01.00.00".parse().unwrap();
    let options = Options { depth: Depth::Full, jobs: 1 };
    let told = run(&collection, Scope::Items(Box::new(std::iter::once(name))), options);
    assert_eq!(told.codes(), found([(Code::Unreadable, "")]));
    assert!(told.details()[0].contains("Permission denied"), "{:?}", told.details());
    assert!(!told.summary.is_damage() && told.summary.unread_items == 1);
}

#[test]
fn a_whole_collection_names_the_inventory() {
    let world = World::with_item();
    let told = world.run_watched(Depth::Full, &without_inventory(&world));
    assert_eq!(told.codes(), found([(Code::Unreadable, ".urepo/inventory")]));
    assert!(!told.summary.is_damage() && told.summary.unread_places == 1);
}
