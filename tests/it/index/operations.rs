//! The index follows every command of urepo.

use std::path::Path;

use super::support::{agrees, with_index};
use crate::support::World;

/// Two collections with an index each, and sources.
fn world() -> World {
    let world = World::new();
    for (name, ip) in [("archive", "192.0.2.7"), ("mirror", "192.0.2.8")] {
        let init = format!("init {name} --host {name}.example.org --ip {ip}");
        world.run(&init).succeeded();
        with_index(&world.path(name));
    }
    world.write("one/a.txt", "alpha");
    world.write("one/sub/B.TXT", "beta");
    world.write("two.csv", "1,2");
    for at in 0..40 {
        world.write(&format!("many/{at:02}.dat"), format!("{at}"));
    }
    world
}

/// Both indexes have what is there, by the ledger alone.
#[track_caller]
fn know(world: &World) {
    for name in ["archive", "mirror"] {
        assert!(agrees(&world.path(name), name).is_some(), "{name} was built");
    }
}

fn new(world: &World) -> Vec<String> {
    let one = world.run_args(["-c", "archive", "new", "one", "--title", "Annual report"]).line();
    let two = world.run_args(["-c", "archive", "new", "two.csv", "--title", "A table"]).line();
    vec![one, two]
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn new_ones() {
    let world = world();
    new(&world);
    know(&world);
    let few = world.run("-c archive new --each many/00.dat many/01.dat many/02.dat");
    assert_eq!(lines(few.succeeded()).len(), 3);
    know(&world);
    let mut line =
        vec!["-c".to_owned(), "archive".to_owned(), "new".to_owned(), "--each".to_owned()];
    line.extend((0..40).map(|at| format!("many/{at:02}.dat")));
    assert_eq!(lines(world.run_args(&line).succeeded()).len(), 40);
    know(&world);
    let none = world.run("-c archive new nothing-there");
    assert_ne!(none.code, 0);
    know(&world);
}

#[test]
fn imports_with_relations() {
    let world = world();
    let table = "path,title,relation.next_edition\na,First,row:b\nb,Second,\n";
    for name in ["a", "b"] {
        world.write(&format!("in/{name}"), name);
    }
    world.write("in.csv", table);
    world.run("-c archive import in.csv --root in").succeeded();
    know(&world);
    world.write("dir/x/1", "1");
    world.write("dir/y/2", "2");
    world.run("-c archive import dir").succeeded();
    know(&world);
    world.run("-c archive import many --each-file").succeeded();
    know(&world);
}

#[test]
fn what_is_adopted() {
    let world = world();
    for (at, day) in ["11", "12"].iter().enumerate() {
        let item = format!("col/sid.inpe.br/mtc-m18/2009/02.{day}.17.46");
        world.write(&format!("{item}/doc/{at}.pdf"), day);
    }
    world.run("init col --adopt --host mtc-m18.sid.inpe.br").succeeded();
    assert_eq!(agrees(&world.path("col"), ""), Some(0));
    for at in 0..20 {
        world.write(&format!("col/sid.inpe.br/mtc-m18/2010/01.01.00.{at:02}/doc/late.pdf"), "late");
    }
    world.run("init col --adopt").succeeded();
    assert_eq!(agrees(&world.path("col"), ""), Some(0));
}

#[test]
fn copies_and_their_refreshing() {
    let world = world();
    let names = new(&world);
    world.run(&format!("-c archive copy {} --to mirror", names[0])).succeeded();
    know(&world);
    world.run("-c archive import many --each-file").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    know(&world);
    relate(&world);
    world.run("-c mirror copy --all --from archive").succeeded();
    know(&world);
}

/// Changes two Originals by urepo itself.
fn relate(world: &World) {
    world.write("in/a", "a");
    world.write("in/b", "b");
    world.write("in.csv", "path,title,relation.next_edition\na,First,row:b\nb,Second,\n");
    world.run("-c archive import in.csv --root in").succeeded();
}

#[test]
fn migrations() {
    for (rest, copied) in [("", false), ("--leave-copy", false), ("", true), ("--leave-copy", true)]
    {
        let world = world();
        let names = new(&world);
        if copied {
            world.run(&format!("-c archive copy {} --to mirror", names[0])).succeeded();
        }
        world.run(&format!("-c archive migrate {} {rest} --to mirror", names[0])).succeeded();
        know(&world);
        world.run(&format!("-c archive migrate --all {rest} --to mirror")).succeeded();
        know(&world);
        world.run(&format!("-c mirror migrate --all {rest} --to archive")).succeeded();
        know(&world);
        world.run("-c archive import many --each-file").succeeded();
        world.run(&format!("-c archive migrate --all {rest} --to mirror")).succeeded();
        know(&world);
    }
}

#[test]
fn migrations_across_file_systems() {
    let world = world();
    let names = new(&world);
    let other = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = other.path().join("far");
    let far = root.to_str().unwrap();
    world.run(&format!("init {far} --host far.example.org")).succeeded();
    with_index(&root);
    for (name, rest) in names.iter().zip(["", "--leave-copy"]) {
        world.run(&format!("-c archive migrate {name} {rest} --to {far}")).succeeded();
        know(&world);
        agrees(&root, "");
        world.run(&format!("-c {far} migrate {name} {rest} --to archive")).succeeded();
        know(&world);
        agrees(&root, "");
    }
}

#[test]
fn removal_and_return() {
    let world = world();
    let names = new(&world);
    world.run(&format!("-c archive copy {} --to mirror", names[0])).succeeded();
    let delete = |root: &str, rest: &str| {
        world.run(&format!("-c {root} delete -y --force last {rest}")).succeeded();
        know(&world);
    };
    delete("archive", &names.join(" "));
    let restore = |root: &str, name: &str| {
        world.run(&format!("-c {root} restore {name}")).succeeded();
        know(&world);
    };
    restore("archive", &names[1]);
    world.run("-c archive purge -y").succeeded();
    know(&world);
    delete("mirror", &names[0]);
    restore("mirror", &names[0]);
}

#[test]
fn repairs() {
    let world = world();
    let names = new(&world);
    world.run("-c archive copy --all --to mirror").succeeded();
    let damaged = world.path(format!("archive/{}/doc/two.csv", names[1]));
    damage(&damaged);
    world.run("-c archive repair --from mirror").succeeded();
    know(&world);
    let sidecar = world.path(format!("archive/{}/item.toml", names[0]));
    std::fs::remove_file(sidecar).unwrap();
    world.run(&format!("-c archive repair {} --from mirror", names[0]));
    know(&world);
}

fn damage(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[0] ^= 1;
    std::fs::write(path, bytes).unwrap();
}
