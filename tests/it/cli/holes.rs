//! Holes of files, which are no part of their bytes.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::support::World;

/// Bytes that the files below `dir` take on the disk.
fn room_of(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| match entry.file_type().unwrap() {
            it if it.is_dir() => room_of(&entry.path()),
            it if it.is_file() => entry.metadata().unwrap().blocks() * 512,
            _ => 0,
        })
        .sum()
}

/// An image of a disk is mostly holes, and stays so in the collection, in its Copy and outside again.
#[test]
fn holes_stay_holes() {
    const LENGTH: u64 = 64 << 20;
    const MOST: u64 = 4 << 20;
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    for (name, at) in [("begin", 0), ("middle", LENGTH / 2 + 7), ("end", LENGTH - 3)] {
        let file = File::create(world.write(&format!("disks/{name}.img"), "")).unwrap();
        file.set_len(LENGTH).unwrap();
        file.write_all_at(b"abc", at).unwrap();
    }
    File::create(world.path("disks/nothing.img")).unwrap().set_len(LENGTH).unwrap();
    if room_of(&world.path("disks")) > MOST {
        return;
    }
    let item = world.run("-c archive new disks").line();
    world.run(&format!("-c archive copy {item} --to mirror")).succeeded();
    world.run(&format!("-c mirror export {item} --name source --to out")).succeeded();
    world.run(&format!("-c mirror export {item} --format bag --to bags")).succeeded();
    for place in [format!("archive/{item}"), format!("mirror/{item}"), "out".into(), "bags".into()]
    {
        assert!(room_of(&world.path(&place)) <= MOST, "{place}");
    }
    for name in ["begin", "middle", "end", "nothing"] {
        let read = |place: &str| std::fs::read(world.path(format!("{place}/{name}.img"))).unwrap();
        assert!(read("disks") == read("out/disks"), "{name}");
    }
    // A stream cannot say where it has holes.
    let script = "cat disks/middle.img | \"$0\" -c archive new - --stdin-name disk.img";
    let ran = world.finish(world.shell(script));
    assert!(room_of(&world.path(format!("archive/{}", ran.line()))) <= MOST, "{}", ran.stderr);
    assert_eq!(world.run("-c archive verify").code, 0);
    assert_eq!(world.run("-c mirror verify").code, 0);
}
