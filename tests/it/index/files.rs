//! The file of the index: gone, damaged, of another version, or something else. That costs time, and nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use urepo::catalog::Catalog;
use urepo::index::Query;

use super::support::{
    agrees, cache, catalog_by, found, index_file, open, settle, try_catalog, with_index,
};
use crate::support::World;

/// A collection with an index that is behind.
fn world() -> (World, PathBuf) {
    let world = World::with_collection();
    let root = world.path("archive");
    let mut names = Vec::new();
    for (file, title) in [("a.txt", "First"), ("c.txt", "Second")] {
        world.write(file, title);
        names.push(world.run_args(["-c", "archive", "new", file, "--title", title]).line());
    }
    with_index(&root);
    world.run(&format!("-c archive delete --force last {}", names[0])).succeeded();
    settle(&root);
    (world, root)
}

/// Spoils the index: what is found is right all the same, and the index is used again.
fn spoil(how: impl Fn(&Path)) {
    let (world, root) = world();
    how(&index_file(&root));
    agrees(&root, "spoiled");
    world.write("b.txt", "new");
    world.run("-c archive new b.txt").line();
    assert_eq!(agrees(&root, "and changed"), Some(1));
}

#[test]
fn removed_truncated_or_garbage() {
    spoil(|index| fs::remove_file(index).unwrap());
    spoil(|index| fs::remove_dir_all(index.parent().unwrap()).unwrap());
    for length in [0, 10, 100, 4096, 10_000] {
        spoil(|index| {
            fs::OpenOptions::new().write(true).open(index).unwrap().set_len(length).unwrap();
        });
    }
    spoil(|index| fs::write(index, vec![0x5a; 20_000]).unwrap());
    spoil(|index| fs::write(index.with_extension("sqlite-journal"), vec![0x5a; 20_000]).unwrap());
}

#[test]
fn of_another_version() {
    for change in [
        "PRAGMA user_version = 99",
        "DELETE FROM about",
        "UPDATE about SET mark = 'nonsense'",
        "UPDATE about SET mark = 'urepo-ledger 1 0000000099 00000000000000000000 00'",
        "DROP TABLE item",
        "INSERT INTO unread VALUES ('../../etc'), ('example.org/archive/2026/01.01.00.00')",
    ] {
        spoil(|index| Connection::open(index).unwrap().execute_batch(change).unwrap());
    }
}

/// Damage in the middle cannot always be noticed. Nothing breaks, and a new index is right.
#[test]
fn damaged_in_the_middle() {
    let (world, root) = world();
    let index = index_file(&root);
    let whole = fs::read(&index).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut bytes = whole.clone();
        bytes[at..].iter_mut().take(90).for_each(|byte| *byte = byte.wrapping_mul(31) ^ 0xa5);
        fs::write(&index, bytes).unwrap();
        let _ = try_catalog(&open(&root), |catalog| {
            let query = Query::default().text("second").unwrap().file("*.txt");
            let _ = catalog.counts(None);
            let _ = catalog.find(&query, |_| Ok(std::ops::ControlFlow::Continue(())));
        });
        world.write("b.txt", at.to_string());
        world.run("-c archive new b.txt").line();
    }
    with_index(&root);
    agrees(&root, "");
}

/// Something else is where the index should be. Nothing is written through a link, nothing waits for a pipe.
#[test]
fn something_else_in_its_place() {
    let puts: [&dyn Fn(&Path); 4] = [
        &|path| fs::create_dir(path).unwrap(),
        &|path| symlink("/nowhere/at/all", path).unwrap(),
        &|path| {
            let outside = path.with_file_name("outside");
            fs::write(&outside, "precious").unwrap();
            symlink(outside, path).unwrap();
        },
        &|path| {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
        },
    ];
    for put in puts {
        let (_world, root) = world();
        let index = index_file(&root);
        fs::remove_file(&index).unwrap();
        put(&index);
        let is_temporary = try_catalog(&open(&root), |catalog| {
            assert_eq!(found(catalog, &Query::default()).len(), 2);
            catalog.report().temporary
        });
        assert!(is_temporary.unwrap());
        if let Ok(text) = fs::read(index.with_file_name("outside")) {
            assert_eq!(text, b"precious");
        }
    }
}

/// The directory of the indexes is private, and one that cannot be made costs a temporary index.
#[test]
fn the_place_of_the_indexes() {
    use std::os::unix::fs::PermissionsExt;
    let (world, root) = world();
    let mode = fs::metadata(cache(&root)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let nowhere = world.write("file", "no directory").join("urepo");
    let collection = open(&root).with_cache(&nowhere);
    let temporary = catalog_by(|context| {
        Catalog::open(&collection, context).map(|catalog| catalog.report().temporary)
    });
    assert!(temporary.unwrap());
}
