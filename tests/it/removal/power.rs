//! A power cut: each step is on the disk before the next one relies on it, and all before it is told.

use super::*;
use crate::power::Disk;
use crate::support::Trace;

/// What is written while `act` is done: the names that are moved, each with what is not on the disk
/// at that moment, and what is not at the end. Stages, locks and empty entries may be lost.
fn moves(
    world: &World,
    act: impl FnOnce(&Collection) -> Result<(), RemovalError>,
) -> (Vec<(String, Vec<PathBuf>)>, Vec<PathBuf>) {
    let root = world.root("archive");
    let trace = Arc::new(Trace::default());
    let collection = Collection::open(&root, &Watcher::new(Arc::clone(&trace) as _)).unwrap();
    act(&collection).unwrap();
    let mut disk = Disk::default();
    let mut moves = Vec::new();
    let matters = |path: &&PathBuf| {
        // The event log is a convenience, and not worth a sync.
        !["staging", "log"].iter().any(|name| path.iter().any(|level| level == *name))
            && !path.ends_with(".urepo/lock")
            && !path.ends_with(".urepo/change.lock")
            && !path.ends_with(".urepo")
    };
    let lost = |disk: &Disk| disk.volatile.iter().filter(matters).cloned().collect::<Vec<_>>();
    for (operation, path) in trace.0.lock().unwrap().iter() {
        if *operation == Operation::Rename {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // Of an entry of the trash, only its mark counts.
            let name = name.split_once('~').map_or(name.clone(), |(_, hex)| {
                format!("trash{}", hex.find('.').map_or("", |at| &hex[at..]))
            });
            moves.push((name, lost(&disk)));
        }
        disk.apply(*operation, path);
    }
    (moves, lost(&disk))
}

#[track_caller]
fn in_order(found: (Vec<(String, Vec<PathBuf>)>, Vec<PathBuf>), expected: &[&str]) {
    let (moves, lost) = found;
    let names: Vec<_> = moves.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, expected);
    // A draft is synced once it is in the trash, before it is swapped with the item.
    for (name, lost) in moves.into_iter().filter(|(name, _)| name != "trash") {
        assert!(lost.is_empty(), "{lost:?} is not on the disk before {name} is moved");
    }
    assert!(lost.is_empty(), "{lost:?} is not on the disk at the end");
}

#[test]
fn a_tombstone_is_on_the_disk_before_the_item_goes() {
    let world = World::new();
    let found = moves(&world, |archive| delete(archive, &world.name, &forced()).map(|_| ()));
    in_order(found, &["trash", leaf(&world)]);
}

#[test]
fn the_new_sidecar_is_on_the_disk_before_the_tombstone_goes() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let found = moves(&world, |archive| {
        remover(archive, &later(), |it| restore(it, &world.name, &alone())).map(|_| ())
    });
    in_order(found, &["item.toml", leaf(&world)]);
}

fn leaf(world: &World) -> &str {
    world.name.components()[3]
}

#[test]
fn what_is_purged_is_condemned_first() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let found = moves(&world, |archive| purge(archive, &Wanted::default()).map(|_| ()));
    in_order(found, &["trash.purge"]);
}
