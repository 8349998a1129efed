//! `copy`, `migrate`, `refresh` and `recover` as they are typed: what is selected, what is told, with
//! which exit code.

mod codes;
mod selection;
mod telling;

use std::path::Path;

use urepo::collection::{Collection, Subsystem};
use urepo::disk::Watcher;
use urepo::identity::SECOND;
use urepo::item::State;
use urepo::sidecar::Sidecar;

use crate::support::{Ran, World, change_item, init, staged};

/// The collection `archive` with `items` items of one file each, their names, and an empty `mirror`.
fn archive_and_mirror(items: usize) -> (World, Vec<String>) {
    let world = World::with_collection();
    make(&world, "mirror");
    let names = (0..items).map(|at| {
        world.write(&format!("{at}.txt"), format!("file {at}"));
        world.run(&format!("-c archive new {at}.txt")).line()
    });
    let names = names.collect();
    (world, names)
}

/// Makes a collection whose host is of its name.
fn make(world: &World, name: &str) -> Collection {
    let subsystem = Subsystem::new(format!("{name}.example.org").parse().unwrap());
    init(&world.path(name), name, subsystem, &Watcher::default()).unwrap()
}

/// What a collection says of an item.
fn sidecar(world: &World, root: &str, name: &str) -> Option<Sidecar> {
    let path = world.path(root).join(name).join("item.toml");
    let bytes = std::fs::read(path).ok()?;
    Some(Sidecar::read(&bytes).unwrap().0)
}

/// The states of an item in `archive` and `mirror`.
fn states(world: &World, name: &str) -> [Option<State>; 2] {
    ["archive", "mirror"].map(|root| sidecar(world, root, name).map(|sidecar| sidecar.state))
}

/// The Original of an item is a second later than all its Copies.
fn update(world: &World, root: &str, name: &str) {
    change_item(&world.path(root), name, |sidecar| {
        sidecar.timestamp = sidecar.timestamp.checked_add(SECOND).unwrap();
        sidecar.custody = sidecar.custody.amended(urepo::custody::CustodyId::from(*b"amended!"));
    });
}

/// The names that a collection lists.
#[track_caller]
fn listed(world: &World, root: &str) -> Vec<String> {
    world.run(&format!("-c {root} list")).succeeded().lines().map(str::to_owned).collect()
}

/// Both collections are in order, and no run has left anything.
#[track_caller]
fn is_clean(world: &World) {
    for root in ["archive", "mirror"] {
        let ran = world.run(&format!("-c {root} verify"));
        assert_eq!(ran.code, 0, "{root}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(staged(&world.path(root)), [""; 0]);
        assert_eq!(journals(&world.path(root)), [""; 0]);
    }
}

/// The records of hand-overs that are not finished.
fn journals(root: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root.join(".urepo/journal")) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Compares exit code, answer and what was said.
#[track_caller]
fn tells(ran: &Ran, code: i32, stdout: &str, stderr: &str) {
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (code, stdout, stderr));
}
